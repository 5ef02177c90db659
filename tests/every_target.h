#pragma once
// Runs tests once on each instruction set that kernels were compiled for and this processor has.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hwy/highway.h"

namespace firstlayer::testing {

/// A test suite whose parameter is the instruction set that dispatch then chooses.
class OnTarget : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { choose(GetParam()); }
  void TearDown() override { choose(0); }

 private:
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

inline std::vector<std::int64_t> every_target() {
  std::vector<std::int64_t> each;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    each.push_back(rest & -rest);
  }
  return each;
}

inline std::string target_name(const ::testing::TestParamInfo<std::int64_t>& target) {
  return hwy::TargetName(target.param);
}

}  // namespace firstlayer::testing
