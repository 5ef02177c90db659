#pragma once
// Ids in a file: 16-bit where the vocabulary fits, else 32-bit, little-endian.

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/id_spool.h"
#include "firstlayer/base/atomic_file.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer::cli {

class IdFileWriter {
 public:
  /// `path` ends in .npy (one array) or .bin (nothing but the ids, as nanoGPT keeps them).
  IdFileWriter(std::filesystem::path path, std::size_t vocabulary_size);

  void append(std::span<const TokenId> ids);

  /// Puts the file in place. An npy file has its length in front, so it is written only now. Throws FileError.
  void commit();

  std::string_view dtype() const noexcept { return narrow_ ? "uint16" : "uint32"; }

 private:
  std::span<const std::byte> stored(std::span<const TokenId> ids);

  std::filesystem::path path_;
  bool narrow_;
  std::optional<AtomicFile> file_;     ///< of a .bin
  std::optional<IdSpool> spool_;       ///< of an .npy
  std::vector<std::uint16_t> packed_;  ///< the ids being written, in 16 bits
};

/// All ids of a file: an .npy of integers on one axis, or a .bin of 16-bit ids. Throws FileError; FormatError for
/// another type or shape, or an id that is none.
std::vector<TokenId> read_id_file(const std::filesystem::path& path);

}  // namespace firstlayer::cli
