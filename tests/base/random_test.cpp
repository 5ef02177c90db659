#include "firstlayer/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/permutation.h"
#include "firstlayer/base/tensor.h"
#include "tests/sha256.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;
using testing::sha256_hex;

TEST(Generator, IsTheMersenneTwister) {
  Generator generator(5489);  // the seed for which the C++ standard gives the 10,000th draw
  EXPECT_EQ(generator.next_u32(), 3499211612U);
  for (int draw = 2; draw < 10'000; ++draw) generator.next_u32();
  EXPECT_EQ(generator.next_u32(), 4123659995U);
}

TEST(Generator, Puts64BitsTogetherHighHalfFirst) {
  Generator halves(123);
  const std::uint64_t high = halves.next_u32();
  const std::uint64_t low = halves.next_u32();
  EXPECT_EQ(Generator(123).next_u64(), high << 32 | low);
}

TEST(Generator, UsesTheLow32BitsOfTheSeed) {
  EXPECT_EQ(Generator(std::uint64_t{5} + (std::uint64_t{1} << 32)).next_u32(), Generator(5).next_u32());
}

/// The 6 x 3 table of the lessons: torch.manual_seed(123); torch.nn.Embedding(6, 3).
TEST(Generator, DrawsTheToyTable) {
  Tensor<float, 2> table({6, 3});
  Generator(123).fill_normal(table.flat());
  const std::vector<std::uint32_t> bits = {0x3eacbbc9, 0xbe360b3b, 0xbe2d02e0, 0x3f6af29f, 0x3fca5d36, 0x3fa6887a,
                                           0x3fa33d12, 0xbe4dc6a6, 0xbe246ad5, 0xbecd8fd6, 0x3f77713c, 0xbf92f662,
                                           0xbf9455c8, 0x3ea6a423, 0xbf21aa56, 0xc035c276, 0xbf48ec26, 0xbfb46cdf};
  for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(table.flat()[i]), bits[i]) << i;
}

TEST(Generator, DrawsTheTableOfGpt2Small) {
  Tensor<float, 2> table({50257, 768});
  Generator(123).fill_normal(table.flat());
  EXPECT_EQ(sha256_hex(std::as_bytes(table.flat())),
            "99b85c97e338a1bfdb0129a0664e168e818194dfb40b92f42d89ed9d7132ea19");
}

TEST(Generator, CopiesForkTheStream) {
  Generator first(7);
  std::vector<float> odd(3);
  first.fill_normal(odd);  // leaves a spare value behind
  Generator second = first;
  std::vector<float> a(5);
  std::vector<float> b(5);
  first.fill_normal(a);
  second.fill_normal(b);
  EXPECT_EQ(a, b);
  EXPECT_EQ(first.next_u64(), second.next_u64());
}

TEST(Generator, DrawsNothingForNoValues) {
  Generator generator(1);
  generator.fill_normal({});
  generator.fill_uniform({}, -1.0, 1.0);
  EXPECT_EQ(generator.next_u32(), Generator(1).next_u32());
}

TEST(Generator, RefusesRangesThatAreNone) {
  Generator generator(1);
  std::vector<float> values(4);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { generator.fill_uniform(values, 1.0, 0.5); }),
            "[Generator::fill_uniform] expected finite low <= high, received 1.000000 and 0.500000");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { generator.fill_normal(values, 0.0, -1.0); }),
            "[Generator::fill_normal] expected finite mean and std >= 0, received 0.000000 and -1.000000");
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(generator.fill_normal(values, kNan, 1.0), std::invalid_argument);
  EXPECT_THROW(generator.fill_normal(values, 0.0, kNan), std::invalid_argument);
  EXPECT_THROW(generator.fill_uniform(values, -3e38, 3e38), std::invalid_argument);
  EXPECT_EQ(generator.next_u32(), Generator(1).next_u32()) << "a refused call must draw nothing";
}

// Worked by hand from the 64-bit draws of seed 123. PyTorch uses this shuffle from 214,748,364 elements on, too many
// for a test; tools/make_torch_golden.py large-permutation compares that size.
TEST(Permutation, OfManyIsFisherYatesInsideOut) {
  Generator draws(123);
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < 100; ++i) {
    const std::size_t place = draws.next_u64() % (i + 1);
    expected.push_back(i);
    std::swap(expected[place], expected[i]);
  }
  Generator generator(123);
  EXPECT_EQ(shuffle_many(100, generator), expected);
  EXPECT_EQ(generator.next_u32(), draws.next_u32());
}

/// tests/data/random/torch.txt is a script: each line is a draw and what PyTorch drew, on one generator for each seed.
class TorchScript {
 public:
  void run(std::istream& lines) {
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (line.starts_with('#')) continue;
      SCOPED_TRACE("line " + std::to_string(number) + ": " + line.substr(0, 60));
      std::istringstream words(line);
      std::string kind;
      words >> kind;
      step(kind, words);
      ++draws_;
      if (::testing::Test::HasFailure()) return;
    }
  }

  int draws() const { return draws_; }

 private:
  void step(const std::string& kind, std::istringstream& words) {
    if (kind == "seed") {
      std::int64_t seed = 0;
      words >> seed;
      generator_ = Generator(static_cast<std::uint64_t>(seed));
    } else if (kind == "normal" || kind == "uniform") {
      std::size_t count = 0;
      double first = 0.0;
      double second = 0.0;
      words >> count >> first >> second;
      std::vector<float> values(count);
      if (kind == "normal") {
        generator_.fill_normal(values, first, second);
      } else {
        generator_.fill_uniform(values, first, second);
      }
      expect_bits(values, words);
    } else if (kind == "permutation") {
      std::size_t count = 0;
      std::string expected;
      words >> count >> expected >> expected;
      const std::vector<std::size_t> order = generator_.permutation(count);
      EXPECT_EQ(sha256_hex(std::as_bytes(std::span(order))), expected);
    } else if (kind == "u64") {
      std::string expected;
      while (words >> expected) EXPECT_EQ(generator_.next_u64(), std::stoull(expected, nullptr, 16));
    } else {
      FAIL() << "unknown draw";
    }
  }

  static void expect_bits(const std::vector<float>& values, std::istringstream& words) {
    std::string expected;
    words >> expected;
    if (expected == "sha256") {
      words >> expected;
      EXPECT_EQ(sha256_hex(std::as_bytes(std::span(values))), expected);
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i, words >> expected) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::stoul(expected, nullptr, 16)) << "value " << i;
    }
  }

  Generator generator_{0};
  int draws_ = 0;
};

TEST(Generator, DrawsWhatPyTorchDraws) {
  std::ifstream lines(FIRSTLAYER_TEST_DATA "/random/torch.txt");
  TorchScript script;
  script.run(lines);
  EXPECT_EQ(script.draws(), 760);
}

}  // namespace
}  // namespace firstlayer
