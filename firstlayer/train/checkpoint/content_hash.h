#pragma once
// A number that tells a damaged file from a whole one; it does not guard against intent. Internal to the library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace firstlayer {

/// FNV-1a on words of 8 bytes, the last one of each part filled up with zeros. Any change within one word changes it.
class ContentHash {
 public:
  void add(std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, std::min(sizeof(word), bytes.size() - i));
      hash_ = (hash_ ^ word) * 0x100000001B3;
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

}  // namespace firstlayer
