#pragma once
// tests/data/lookup/embedding.txt: what PyTorch made of numbers that the tests draw again.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "tests/sha256.h"

namespace firstlayer::testing {

/// One case: its settings and results, read from left to right.
class GoldenCase {
 public:
  GoldenCase(const std::string& line) : words_(line), line_(line.substr(0, 60)) {}

  const std::string& name() const { return line_; }  ///< for SCOPED_TRACE
  bool ended() { return (words_ >> std::ws).eof(); }

  std::string word() {
    std::string word;
    if (!(words_ >> word)) throw std::runtime_error("the line ends early: " + line_);
    return word;
  }
  double number() { return std::stod(word()); }
  bool flag() { return word() == "1"; }

  /// `count` float32 values that are written as words.
  std::vector<float> floats(std::size_t count) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(word(), nullptr, 16))));
    }
    return values;
  }

 private:
  std::istringstream words_;
  std::string line_;
};

/// The cases of one kind.
inline std::vector<GoldenCase> golden_cases(const std::string& kind) {
  std::ifstream file(FIRSTLAYER_TEST_DATA "/lookup/embedding.txt");
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kind + " ")) continue;
    cases.emplace_back(line);
    cases.back().word();
  }
  EXPECT_FALSE(cases.empty()) << "no " << kind << " in the golden file";
  return cases;
}

/// The ids of the golden cases.
inline std::vector<TokenId> golden_ids(std::size_t count, std::size_t vocabulary) {
  std::vector<TokenId> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<TokenId>((i * i * 31 + 7) % vocabulary);
  return ids;
}

inline std::string sha256_of(std::span<const float> values) { return sha256_hex(std::as_bytes(values)); }

/// Every value within `tolerance` times the larger of 1 and its magnitude.
inline void expect_near(std::span<const float> expected, std::span<const float> received, double tolerance) {
  ASSERT_EQ(expected.size(), received.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(expected[i], received[i], tolerance * std::max(1.0F, std::abs(expected[i]))) << "at " << i;
  }
}

}  // namespace firstlayer::testing
