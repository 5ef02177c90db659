#include "firstlayer/encode/piece_encoder.h"

#include <algorithm>
#include <cstring>

#include "firstlayer/encode/split.h"

namespace firstlayer {
namespace {

/// 4 MiB and 2 MiB: measured on 40 MB of English, larger tables miss less but cost more per probe.
constexpr unsigned kShortSetsLog2 = 15;
constexpr unsigned kLongSetsLog2 = 14;

/// Ids gathered before they are appended to the caller's vector.
constexpr std::size_t kScratch = 1 << 14;

}  // namespace

PieceEncoder::PieceEncoder(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), merger_(vocabulary), short_pieces_(kShortSetsLog2), long_pieces_(kLongSetsLog2) {}

template <class Cache>
std::size_t PieceEncoder::encode_piece(Cache& cache, std::string_view piece, const char* text_end, TokenId* out) {
  auto key = Cache::make_key(piece, text_end);
  std::size_t set = cache.set_of(key);
  if (const auto* line = cache.find(key, set)) {
    // A whole line's ids are copied, so out has room for as many; it is cheaper than a loop that stops in time.
    std::memcpy(out, line->ids.data(), sizeof(line->ids));
    return line->count;
  }
  std::size_t count = merger_.merge(piece, out);
  if (count <= Cache::Line::kIds) cache.insert(key, set, out, count);
  return count;
}

/// A piece too long for the caches goes in parts, cut where no token crosses: a sentence without spaces then consists
/// of parts that come again.
std::size_t PieceEncoder::encode_long_piece(std::string_view piece, const char* text_end, TokenId* out) {
  TokenId* const begin = out;
  for (std::size_t from = 0; from < piece.size();) {
    std::size_t to = from + 1;
    while (to < piece.size() &&
           vocabulary_.joins(static_cast<unsigned char>(piece[to - 1]), static_cast<unsigned char>(piece[to]))) {
      ++to;
    }
    std::string_view part = piece.substr(from, to - from);
    out += part.size() <= ShortCache::kLongestPiece ? encode_piece(short_pieces_, part, text_end, out)
                                                    : merger_.merge(part, out);
    from = to;
  }
  return static_cast<std::size_t>(out - begin);
}

void PieceEncoder::encode(std::string_view text, std::vector<TokenId>& ids) {
  constexpr std::size_t kSlack = ShortCache::Line::kIds;  // encode_piece writes whole lines
  scratch_.resize(std::max(scratch_.size(), kScratch));
  std::size_t filled = 0;
  auto flush = [&] {
    ids.insert(ids.end(), scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(filled));
    filled = 0;
  };
  const char* const end = text.data() + text.size();
  for (const char* begin = text.data(); begin < end;) {
    const char* next = next_piece_end(begin, end);
    std::string_view piece(begin, static_cast<std::size_t>(next - begin));
    begin = next;
    if (filled + piece.size() + kSlack > scratch_.size()) {
      flush();
      if (piece.size() + kSlack > scratch_.size()) scratch_.resize(piece.size() + kSlack);
    }
    TokenId* out = scratch_.data() + filled;
    if (piece.size() <= ShortCache::kLongestPiece) {
      filled += encode_piece(short_pieces_, piece, end, out);
    } else if (piece.size() <= LongCache::kLongestPiece) {
      filled += encode_piece(long_pieces_, piece, end, out);
    } else {
      filled += encode_long_piece(piece, end, out);
    }
  }
  flush();
  if (scratch_.size() > kScratch) {  // one giant piece must not hold its memory for ever
    scratch_.resize(kScratch);
    scratch_.shrink_to_fit();
  }
}

}  // namespace firstlayer
