#include "firstlayer/lookup/check_lookup.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

// No table is as large as that here, only its shape.
constexpr Shape<2> kHuge = {std::size_t{1} << 33, 1};

TEST(CheckedIds, RefuseNegativeIdsHoweverLargeTheTable) {
  Tensor<std::int32_t, 2> ids({1, 2});
  ids.flat()[1] = -1;
  EXPECT_NE(testing::message_of<std::out_of_range>([&] {
              const CheckedIds checked("here", kHuge, ids);
            }).find("received -1 at (b=0, t=1)"),
            std::string::npos);
}

TEST(CheckedIds, RefuseIdsThatNoTokenIdHolds) {
  Tensor<std::int64_t, 2> ids({1, 2});
  ids.flat()[1] = std::int64_t{1} << 32;
  EXPECT_NE(testing::message_of<std::out_of_range>([&] {
              const CheckedIds checked("here", kHuge, ids);
            }).find("received 4294967296 at (b=0, t=1)"),
            std::string::npos);
  ids.flat()[1] = (std::int64_t{1} << 32) - 1;
  EXPECT_EQ(CheckedIds("here", kHuge, ids).view()(0, 1), 0xffffffffU);
}

// A copy would look into the memory of the original.
static_assert(!std::is_copy_constructible_v<CheckedIds>);

}  // namespace
}  // namespace firstlayer
