#include "firstlayer/lookup/position/scheme.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

TEST(PositionScheme, IsFoundByItsName) {
  std::set<std::string_view> names;
  for (const PositionScheme scheme : position_schemes()) {
    names.insert(scheme_name(scheme));
    EXPECT_EQ(find_scheme(scheme_name(scheme)), scheme);
  }
  EXPECT_EQ(names,
            (std::set<std::string_view>{"learned", "sinusoidal", "sinusoidal-half", "rotary", "alibi", "t5", "none"}));
}

TEST(PositionScheme, ActsOnTheEmbeddingOrLater) {
  EXPECT_EQ(position_role(PositionScheme::kLearned), PositionRole::kAdded);
  EXPECT_EQ(position_role(PositionScheme::kSinusoidal), PositionRole::kAdded);
  EXPECT_EQ(position_role(PositionScheme::kSinusoidalHalf), PositionRole::kAdded);
  EXPECT_EQ(position_role(PositionScheme::kRotary), PositionRole::kRotatesQueriesAndKeys);
  EXPECT_EQ(position_role(PositionScheme::kAlibi), PositionRole::kBiasesScores);
  EXPECT_EQ(position_role(PositionScheme::kT5), PositionRole::kBiasesScores);
  EXPECT_EQ(position_role(PositionScheme::kNone), PositionRole::kNone);
}

TEST(PositionScheme, RefusesAnotherNameAndListsThem) {
  EXPECT_EQ(
      testing::message_of<std::invalid_argument>([] { find_scheme("Rotary"); }),
      "[find_scheme] expected learned, sinusoidal, sinusoidal-half, rotary, alibi, t5, none, received \"Rotary\"");
}

TEST(PositionScheme, RefusesANumberThatIsNoScheme) {
  const auto scheme = static_cast<PositionScheme>(99);
  EXPECT_THROW(position_role(scheme), std::invalid_argument);
  EXPECT_THROW(scheme_name(scheme), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
