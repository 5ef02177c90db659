#include "firstlayer/train/network/panels.h"

#include <gtest/gtest.h>

#include <vector>

namespace firstlayer {
namespace {

TEST(Panels, HoldThirtyTwoRowsSideBySide) {
  std::vector<float> numbers(2 * 3 * 32);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const Panels panels = {numbers.data(), 2, 3};
  EXPECT_EQ(panels.rows(), 64U);
  EXPECT_EQ(panels.size(), numbers.size());
  EXPECT_EQ(panels(0, 0), 0);
  EXPECT_EQ(panels(5, 2), 2 * 32 + 5);
  EXPECT_EQ(panels(33, 1), 3 * 32 + 32 + 1);
  EXPECT_EQ(panels_for(0), 0U);
  EXPECT_EQ(panels_for(32), 1U);
  EXPECT_EQ(panels_for(33), 2U);
}

TEST(Panels, ComeFromRowsAndGoBack) {
  for (const std::size_t count : {1U, 31U, 32U, 33U, 70U}) {
    const std::size_t features = 5;
    std::vector<float> rows(count * features);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i + 1);
    std::vector<float> numbers(panels_for(count) * kPanelRows * features, -1.0F);
    const Panels panels = {numbers.data(), panels_for(count), features};
    rows_to_panels(rows.data(), count, panels, 2);
    EXPECT_EQ(panels(count - 1, 3), rows[(count - 1) * features + 3]);
    if (count % kPanelRows != 0) {
      EXPECT_EQ(panels(count, 3), 0);
    }
    std::vector<float> back(rows.size());
    panels_to_rows(panels, count, back.data(), 2);
    EXPECT_EQ(back, rows);
  }
}

TEST(Panels, AreClearedFromARowOn) {
  std::vector<float> numbers(3 * 2 * 32, 1.0F);
  const Panels panels = {numbers.data(), 3, 2};
  clear_rows_from(40, panels);
  for (std::size_t row = 0; row < 96; ++row) {
    for (std::size_t f = 0; f < 2; ++f) EXPECT_EQ(panels(row, f), row < 40 ? 1 : 0) << row;
  }
  clear_rows_from(96, panels);
  EXPECT_EQ(panels(39, 1), 1);
}

}  // namespace
}  // namespace firstlayer
