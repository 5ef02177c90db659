// A step allocates nothing once the first one has grown what it works in.

#include <gtest/gtest.h>

#include "firstlayer/lookup/optimizer/table_optimizer.h"
#include "tests/counted_allocations.h"
#include "tests/lookup/optimizer/optimizer_cases.h"

namespace firstlayer {
namespace {

using testing::allocations;

class Allocation : public ::testing::TestWithParam<testing::OptimizerCase> {};

TEST_P(Allocation, OfAStepIsNothingAfterTheFirst) {
  for (unsigned threads : {1U, 3U}) {
    testing::OptimizerStream stream;
    TableOptimizer optimizer(stream.table, GetParam().options, /*ledger=*/true);
    // More steps than any history holds.
    for (int step = 0; step < 5000; ++step) {
      if (step < 100) stream.next();
      const std::size_t before = allocations;
      optimizer.prepare(stream.groups, threads);
      if (GetParam().tied) {
        optimizer.step_dense(stream.dtable, stream.groups, stream.dout, threads);
      } else {
        optimizer.step(stream.groups, stream.dout, threads);
      }
      ASSERT_TRUE(step == 0 || allocations == before) << allocations - before << " in step " << step;
    }
  }
}

TEST_P(Allocation, OfAStepOfPositionsIsNothingAfterTheFirst) {
  for (unsigned threads : {1U, 3U}) {
    testing::OptimizerStream stream;
    stream.next();
    TableOptimizer optimizer(stream.table, GetParam().options);
    for (int step = 0; step < 100; ++step) {
      const std::size_t before = allocations;
      optimizer.step_positions(stream.dout, threads);
      ASSERT_TRUE(step == 0 || allocations == before) << allocations - before << " in step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Allocation, ::testing::ValuesIn(testing::optimizer_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace firstlayer
