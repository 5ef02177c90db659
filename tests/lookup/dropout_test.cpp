#include "firstlayer/lookup/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/lookup/golden.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::GoldenCase;
using testing::message_of;

/// One stream for all cases: a draw too many or too few would show in every later one.
TEST(Dropout, HasTheBitsOfTorchForwardAndBack) {
  Generator generator(3);
  for (GoldenCase& golden : testing::golden_cases("dropout")) {
    SCOPED_TRACE(golden.name());
    const auto count = static_cast<std::size_t>(golden.number());
    const double p = golden.number();
    std::vector<float> x(count);
    generator.fill_normal(x);
    const DropoutMask mask(count, p, generator);
    std::vector<float> dout(count);
    generator.fill_normal(dout);

    const std::string out_hash = golden.word();
    const std::string gradient_hash = golden.word();
    for (unsigned threads : {1U, 3U}) {
      std::vector<float> out(count);
      mask.apply(x, out, threads);
      EXPECT_EQ(testing::sha256_of(out), out_hash);
      std::vector<float> in_place = dout;
      mask.apply(in_place, in_place, threads);
      EXPECT_EQ(testing::sha256_of(in_place), gradient_hash);
    }
  }
}

TEST(Dropout, MultipliesWhatItDropsByZero) {
  Generator generator(1);
  const DropoutMask all(3, 1.0, generator);
  const std::vector<float> in = {-1.0F, std::numeric_limits<float>::infinity(), 2.0F};
  std::vector<float> out(3);
  all.apply(in, out);
  EXPECT_TRUE(out[0] == 0.0F && std::signbit(out[0]));
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_TRUE(out[2] == 0.0F && !std::signbit(out[2]));
  EXPECT_EQ(generator.next_u32(), Generator(1).next_u32()) << "nothing is drawn where nothing is left to chance";
}

TEST(Dropout, KeepsWhatItSaysAndReusesItsMemory) {
  Generator generator(1);
  DropoutMask mask(1000, 0.5, generator);
  mask.draw(130, 0.25, generator);
  EXPECT_EQ(mask.size(), 130U);
  EXPECT_EQ(mask.scale(), 1.0F / 0.75F);
  std::vector<float> out(130);
  mask.apply(std::vector<float>(130, 1.0F), out);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], mask.keeps(i) ? mask.scale() : 0.0F) << i;
  DropoutMask().apply({}, {});
}

TEST(Dropout, RefusesWhatDoesNotFit) {
  Generator generator(1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { DropoutMask(3, 1.5, generator); }),
            "[DropoutMask] expected p from 0 to 1, received 1.500000");
  EXPECT_THROW(DropoutMask(3, -0.1, generator), std::invalid_argument);
  EXPECT_THROW(DropoutMask(3, std::nan(""), generator), std::invalid_argument);
  const DropoutMask mask(3, 0.5, generator);
  std::vector<float> two(2);
  std::vector<float> three(3);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { mask.apply(two, three); }),
            "[DropoutMask::apply] expected 3 numbers, as were drawn for, received 2 and room for 3");
  EXPECT_THROW(mask.apply(three, two), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
