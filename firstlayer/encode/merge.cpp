#include "firstlayer/encode/merge.h"

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

namespace firstlayer {
namespace {

/// Up to here scanning all pairs for the least costs less than keeping a heap of them.
constexpr std::size_t kShort = 48;

constexpr std::uint32_t kNoPart = ~std::uint32_t{0};

/// Memory for pieces up to here is kept for the next one; a giant's is given back.
constexpr std::size_t kKeptParts = std::size_t{1} << 16;

}  // namespace

std::size_t Merger::merge(std::string_view piece, TokenId* out) {
  TokenId* const begin = out;
  for (std::size_t from = 0; from < piece.size();) {
    std::size_t to = vocabulary_.uncrossed_place(piece, from);
    std::string_view part = piece.substr(from, to - from);
    out += part.size() <= kShort ? merge_short(part, out) : merge_long(part, out);
    from = to;
  }
  return static_cast<std::size_t>(out - begin);
}

std::size_t Merger::merge_short(std::string_view piece, TokenId* out) const {
  std::array<TokenId, kShort> merged;  // merged[i]: what out[i] and out[i + 1] merge to
  std::size_t count = piece.size();
  for (std::size_t i = 0; i < count; ++i) out[i] = vocabulary_.byte_token(static_cast<unsigned char>(piece[i]));
  for (std::size_t i = 0; i + 1 < count; ++i) merged[i] = vocabulary_.merged(out[i], out[i + 1]);
  while (count > 1) {
    auto* lowest = std::min_element(merged.begin(), merged.begin() + count - 1);
    if (*lowest == kNoToken) break;
    auto i = static_cast<std::size_t>(lowest - merged.begin());
    out[i] = *lowest;
    std::copy(out + i + 2, out + count, out + i + 1);
    std::copy(merged.begin() + i + 1, merged.begin() + count - 1, merged.begin() + i);
    --count;
    if (i + 1 < count) merged[i] = vocabulary_.merged(out[i], out[i + 1]);
    if (i > 0) merged[i - 1] = vocabulary_.merged(out[i - 1], out[i]);
  }
  return count;
}

/// Puts the merge of part `left` and the one after it on the heap, if there is one.
void Merger::offer(std::uint32_t left) {
  Part& part = parts_[left];
  part.merged = part.next == kNoPart ? kNoToken : vocabulary_.merged(part.id, parts_[part.next].id);
  if (part.merged == kNoToken) return;
  heap_.push_back(std::uint64_t{part.merged} << 32 | left);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

std::size_t Merger::merge_long(std::string_view piece, TokenId* out) {
  if (piece.size() >= kNoPart) throw std::length_error("[Merger::merge] expected a run below 4 GiB, received more");
  auto count = static_cast<std::uint32_t>(piece.size());
  parts_.resize(count);
  heap_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    TokenId id = vocabulary_.byte_token(static_cast<unsigned char>(piece[i]));
    parts_[i] = {id, i == 0 ? kNoPart : i - 1, i + 1 < count ? i + 1 : kNoPart, kNoToken};
  }
  for (std::uint32_t i = 0; i + 1 < count; ++i) offer(i);

  while (!heap_.empty()) {
    std::uint64_t top = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    auto left = static_cast<std::uint32_t>(top);
    Part& part = parts_[left];
    if (part.merged != top >> 32) continue;  // one of the two has changed since
    Part& gone = parts_[part.next];
    part.id = part.merged;
    gone.merged = kNoToken;
    part.next = gone.next;
    if (part.next != kNoPart) parts_[part.next].previous = left;
    offer(left);
    if (part.previous != kNoPart) offer(part.previous);
  }

  std::size_t ids = 0;
  for (std::uint32_t i = 0; i != kNoPart; i = parts_[i].next) out[ids++] = parts_[i].id;
  if (count > kKeptParts) {
    parts_ = {};
    heap_ = {};
  }
  return ids;
}

}  // namespace firstlayer
