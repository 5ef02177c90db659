#pragma once
// Ordinary text -> ids on one thread: split, then each piece from the cache or by merging.

#include <cstddef>
#include <string_view>
#include <vector>

#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/merge.h"
#include "firstlayer/encode/piece_cache.h"
#include "firstlayer/encode/vocabulary.h"

namespace firstlayer {

/// Holds the memory of the work, about 20 MiB when full, so keep one for each thread. encode_reference() defines the
/// ids.
class PieceEncoder {
 public:
  explicit PieceEncoder(const Vocabulary& vocabulary);

  /// Appends the ids of `text`, in which special tokens are ordinary text.
  void encode(std::string_view text, std::vector<TokenId>& ids);

 private:
  using ShortCache = PieceCache<2>;
  using LongCache = PieceCache<4>;

  /// A piece between being split off and being looked up; meanwhile its cache line is on its way.
  struct Pending {
    std::string_view piece;
    std::size_t set;
    ShortCache::Key key;
  };

  const char* split_batch(const char* begin, const char* end);
  void encode_batch(const char* text_end);
  template <class Cache>
  std::size_t encode_piece(Cache& cache, std::string_view piece, const typename Cache::Key& key, std::size_t set,
                           TokenId* out);
  std::size_t encode_long_piece(std::string_view piece, const char* text_end, TokenId* out);

  Vocabulary vocabulary_;
  Merger merger_;
  ShortCache short_pieces_;
  LongCache long_pieces_;
  std::vector<Pending> batch_;
  std::vector<TokenId> ids_;  ///< of the batch, the first count_
  std::size_t count_ = 0;
};

}  // namespace firstlayer
