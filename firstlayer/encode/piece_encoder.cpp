#include "firstlayer/encode/piece_encoder.h"

#include <algorithm>
#include <cstring>

#include "firstlayer/encode/split.h"

namespace firstlayer {
namespace {

/// 16 MiB and 4 MiB, which hold the pieces that come again of most texts.
constexpr unsigned kShortSetsLog2 = 17;
constexpr unsigned kLongSetsLog2 = 14;

/// Pieces split off before the first of them is looked up: enough to hide the memory's latency, few enough for the
/// first-level cache.
constexpr std::size_t kBatch = 128;

/// Memory for the ids of a batch up to here is kept; that of one with a giant piece is given back.
constexpr std::size_t kKeptIds = std::size_t{1} << 16;

}  // namespace

PieceEncoder::PieceEncoder(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary), merger_(vocabulary), short_pieces_(kShortSetsLog2), long_pieces_(kLongSetsLog2) {
  batch_.reserve(kBatch);
}

void PieceEncoder::encode(std::string_view text, std::vector<TokenId>& ids) {
  const char* const end = text.data() + text.size();
  for (const char* begin = text.data(); begin < end;) {
    begin = split_batch(begin, end);
    encode_batch(end);
    ids.insert(ids.end(), ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(count_));
    if (ids_.size() > kKeptIds) ids_ = {};
  }
}

/// Splits off up to kBatch pieces; returns where the next one begins.
const char* PieceEncoder::split_batch(const char* begin, const char* end) {
  batch_.clear();
  while (begin < end && batch_.size() < kBatch) {
    const char* next = next_piece_end(begin, end);
    Pending pending{{begin, static_cast<std::size_t>(next - begin)}, 0, {}};
    if (pending.piece.size() <= ShortCache::kLongestPiece) {
      pending.key = ShortCache::make_key(pending.piece, end);
      pending.set = short_pieces_.set_of(pending.key);
      short_pieces_.prefetch(pending.set);
    }
    batch_.push_back(pending);
    begin = next;
  }
  return begin;
}

void PieceEncoder::encode_batch(const char* text_end) {
  const char* first = batch_.front().piece.data();
  const char* last = batch_.back().piece.data() + batch_.back().piece.size();
  std::size_t room =
      static_cast<std::size_t>(last - first) + LongCache::Entry::kIds;  // encode_piece writes whole entries
  if (ids_.size() < room) ids_.resize(room);
  TokenId* out = ids_.data();
  for (const Pending& pending : batch_) {
    std::string_view piece = pending.piece;
    if (piece.size() <= ShortCache::kLongestPiece) {
      out += encode_piece(short_pieces_, piece, pending.key, pending.set, out);
    } else if (piece.size() <= LongCache::kLongestPiece) {
      auto key = LongCache::make_key(piece, text_end);
      out += encode_piece(long_pieces_, piece, key, long_pieces_.set_of(key), out);
    } else {
      out += encode_long_piece(piece, text_end, out);
    }
  }
  count_ = static_cast<std::size_t>(out - ids_.data());
}

template <class Cache>
std::size_t PieceEncoder::encode_piece(Cache& cache, std::string_view piece, const typename Cache::Key& key,
                                       std::size_t set, TokenId* out) {
  if (const auto* entry = cache.find(key, set)) {
    // All of an entry's ids are copied, so out has room for as many; it is cheaper than a loop that stops in time.
    std::memcpy(out, entry->ids.data(), sizeof(entry->ids));
    return entry->count;
  }
  std::size_t count = merger_.merge(piece, out);
  if (count <= Cache::Entry::kIds) cache.insert(key, set, out, count);
  return count;
}

/// A piece too long for the caches goes in parts, cut where no token crosses: a sentence without spaces then consists
/// of parts that come again.
std::size_t PieceEncoder::encode_long_piece(std::string_view piece, const char* text_end, TokenId* out) {
  TokenId* const begin = out;
  for (std::size_t from = 0; from < piece.size();) {
    std::size_t to = vocabulary_.uncrossed_place(piece, from);
    std::string_view part = piece.substr(from, to - from);
    if (part.size() <= ShortCache::kLongestPiece) {
      auto key = ShortCache::make_key(part, text_end);
      out += encode_piece(short_pieces_, part, key, short_pieces_.set_of(key), out);
    } else {
      out += merger_.merge(part, out);
    }
    from = to;
  }
  return static_cast<std::size_t>(out - begin);
}

}  // namespace firstlayer
