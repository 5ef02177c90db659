#pragma once
// The checks between the bytes of a file of word vectors and its rows. No file is opened here, so that any bytes can be
// tried.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "firstlayer/formats/word_vectors.h"

namespace firstlayer {

/// Reads a whole file's bytes. Throws FormatError for `path`.
WordVectorsIndex index_word_vectors(std::string_view file, const std::filesystem::path& path,
                                    std::optional<WordVectorsLayout> layout);

/// The numbers of a row of `file` into out (dim,). Throws FormatError for `path`.
void read_word_vector(std::string_view file, const std::filesystem::path& path, const WordVectorsIndex& index,
                      std::size_t row, std::span<float> out);

/// The number at the beginning of `text` up to white space, which becomes the rest; nothing if it is none that float32
/// can hold.
std::optional<float> take_number(std::string_view& text);

}  // namespace firstlayer
