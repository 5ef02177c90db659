#pragma once
// The input tensor of a whole text into a file, some windows at a time, so that neither it nor the text is in memory.

#include <filesystem>

#include "cli/console.h"
#include "cli/input_layer.h"
#include "cli/window_reader.h"

namespace firstlayer::cli {

/// Writes input_embeddings (windows, T, d) float32 in batch order: to an .npy file alone, to a .safetensors file with
/// inputs and targets (windows, T) int64. Throws FileError; then the file is as it was before.
void write_embeddings(const std::filesystem::path& path, WindowReader& windows, const InputLayer& layer,
                      const Console& console);

}  // namespace firstlayer::cli
