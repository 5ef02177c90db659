#include "firstlayer/encode/vocabulary_image.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

constexpr const char* kWhere = "build_vocabulary_image";

std::vector<std::string> token_strings(std::span<const std::uint8_t, 256> byte_order,
                                       std::span<const MergedPair> merges) {
  if (merges.size() >= (std::size_t{1} << kIdBits) - 256) {
    throw_invalid(kWhere, "at most 2,097,151 tokens", std::to_string(merges.size() + 256));
  }
  std::vector<std::string> tokens;
  tokens.reserve(256 + merges.size());
  for (std::uint8_t byte : byte_order) tokens.emplace_back(1, static_cast<char>(byte));
  for (const MergedPair& pair : merges) {
    if (std::max(pair.left, pair.right) >= tokens.size()) {
      throw_invalid(kWhere, "a merge of ids below its own, " + std::to_string(tokens.size()),
                    std::to_string(pair.left) + " and " + std::to_string(pair.right));
    }
    tokens.push_back(tokens[pair.left] + tokens[pair.right]);
  }
  return tokens;
}

std::array<TokenId, 256> ids_of_bytes(std::span<const std::uint8_t, 256> byte_order) {
  std::array<TokenId, 256> ids{};
  std::array<bool, 256> seen{};
  for (std::size_t id = 0; id < 256; ++id) {
    std::uint8_t byte = byte_order[id];
    if (seen[byte]) throw_invalid(kWhere, "each byte once", "byte " + std::to_string(byte) + " again");
    seen[byte] = true;
    ids[byte] = static_cast<TokenId>(id);
  }
  return ids;
}

std::vector<std::uint64_t> joined_bytes(const std::vector<std::string>& tokens) {
  std::vector<std::uint64_t> bits(256 * 256 / 64);
  for (const std::string& token : tokens) {
    for (std::size_t i = 1; i < token.size(); ++i) {
      unsigned pair = static_cast<unsigned char>(token[i - 1]) << 8 | static_cast<unsigned char>(token[i]);
      bits[pair / 64] |= std::uint64_t{1} << (pair % 64);
    }
  }
  return bits;
}

/// Less than half full, so that a pair that is not there is known after a slot or two.
std::vector<std::uint64_t> merge_table(std::span<const MergedPair> merges, std::uint64_t slots_log2) {
  std::vector<std::uint64_t> slots(std::size_t{1} << slots_log2, kEmptyMerge);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    std::uint64_t key = merge_key(merges[i].left, merges[i].right);
    std::size_t slot = merge_slot(key, slots_log2);
    while (slots[slot] != kEmptyMerge) {
      if (slots[slot] >> kIdBits == key) {
        throw_invalid(kWhere, "each pair once", "merge " + std::to_string(i) + " again");
      }
      slot = (slot + 1) & (slots.size() - 1);
    }
    slots[slot] = merge_entry(key, static_cast<TokenId>(256 + i));
  }
  return slots;
}

/// Appends `bytes` and fills up to a whole word; returns the word where they begin.
std::uint64_t append_section(std::vector<std::uint64_t>& image, const void* bytes, std::size_t count) {
  std::uint64_t begin = image.size();
  image.resize(image.size() + (count + 7) / 8);
  std::memcpy(image.data() + begin, bytes, count);
  return begin;
}

}  // namespace

std::vector<std::uint64_t> build_vocabulary_image(std::span<const std::uint8_t, 256> byte_order,
                                                  std::span<const MergedPair> merges) {
  std::vector<std::string> tokens = token_strings(byte_order, merges);
  std::array<TokenId, 256> byte_ids = ids_of_bytes(byte_order);
  std::vector<std::uint64_t> joins = joined_bytes(tokens);

  VocabularyHeader header{};
  header.tokens = tokens.size();
  header.merge_slots_log2 = std::bit_width(2 * merges.size() + 1);
  std::vector<std::uint64_t> slots = merge_table(merges, header.merge_slots_log2);

  std::string all;
  std::vector<std::uint32_t> ends;
  for (const std::string& token : tokens) {
    all += token;
    if (all.size() > UINT32_MAX) throw_invalid(kWhere, "less than 4 GiB of token bytes", std::to_string(all.size()));
    ends.push_back(static_cast<std::uint32_t>(all.size()));
    header.longest = std::max<std::uint64_t>(header.longest, token.size());
  }

  std::vector<std::uint64_t> image(sizeof(VocabularyHeader) / 8);
  header.bytes_begin = append_section(image, all.data(), all.size());
  header.ends_begin = append_section(image, ends.data(), ends.size() * sizeof(ends[0]));
  header.byte_ids_begin = append_section(image, byte_ids.data(), sizeof(byte_ids));
  header.joins_begin = append_section(image, joins.data(), joins.size() * sizeof(joins[0]));
  header.merges_begin = append_section(image, slots.data(), slots.size() * sizeof(slots[0]));
  std::memcpy(image.data(), &header, sizeof(header));
  return image;
}

}  // namespace firstlayer
