#pragma once
// The checks between a safetensors file's bytes and its tensors. No file is opened here, so that any bytes can be
// tried.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/formats/safetensors.h"

namespace firstlayer {

/// The longest header that Hugging Face's library reads.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// The key that holds free text instead of a tensor.
inline constexpr std::string_view kMetadataKey = "__metadata__";

struct SafetensorsContent {
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;  ///< by offset; their bytes are inside `file`
};

/// Reads a whole file's bytes. Throws FormatError for `path`.
SafetensorsContent parse_safetensors(std::span<const std::byte> file, const std::filesystem::path& path);

}  // namespace firstlayer
