#pragma once
// Any number of ids, written once and read in any order: in memory while they are few, then in a file without a name
// that is gone when the process is.

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "firstlayer/base/token_id.h"

namespace firstlayer::cli {

class IdSpool {
 public:
  /// `folder` takes the file, if one is needed.
  explicit IdSpool(std::filesystem::path folder);
  IdSpool(const IdSpool&) = delete;
  IdSpool& operator=(const IdSpool&) = delete;
  ~IdSpool();

  /// Throws FileError naming the folder.
  void append(std::span<const TokenId> ids);

  std::uint64_t size() const noexcept { return in_file_ + tail_.size(); }

  /// Fills `ids` with the ids from number `first` on. Throws FileError, std::out_of_range past the end.
  void read(std::uint64_t first, std::span<TokenId> ids) const;

 private:
  void spill();

  std::filesystem::path folder_;
  int file_ = -1;
  std::uint64_t in_file_ = 0;  ///< ids in the file
  std::vector<TokenId> tail_;  ///< the ids after them
};

}  // namespace firstlayer::cli
