#include "firstlayer/lookup/optimizer/ledger.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

/// Rows 0 to 3 of which 1 has a gradient in steps 2 and 4, 2 in step 4, and the last of 5 steps reaches none.
RowLedger recorded(const OptimizerOptions& options) {
  RowLedger ledger(4, options, 0);
  const std::vector<std::vector<TokenId>> touched = {{}, {1}, {}, {1, 2}, {}};
  for (std::size_t step = 0; step < touched.size(); ++step) ledger.record(touched[step], step + 1);
  return ledger;
}

/// touched, decayed and moved of rows 0, 1 and 2.
std::vector<std::vector<std::uint64_t>> counts(const OptimizerOptions& options) {
  const RowLedger ledger = recorded(options);
  std::vector<std::vector<std::uint64_t>> rows;
  for (std::size_t row = 0; row < 3; ++row) {
    const RowRecord record = ledger.row(row);
    rows.push_back({record.touched, record.decayed, record.moved});
  }
  return rows;
}

using Counts = std::vector<std::vector<std::uint64_t>>;

TEST(RowLedger, CountsWhatAnOptimizerDoesToRows) {
  EXPECT_EQ(counts(Sgd{}), (Counts{{0, 0, 0}, {2, 0, 2}, {1, 0, 1}}));
  EXPECT_EQ(counts(SparseAdam{}), (Counts{{0, 0, 0}, {2, 0, 2}, {1, 0, 1}}));
  EXPECT_EQ(counts(SparseAdamW{}), (Counts{{0, 0, 0}, {2, 2, 2}, {1, 1, 1}}));
  EXPECT_EQ(counts(Sgd{.momentum = 0.9}), (Counts{{0, 0, 0}, {2, 0, 4}, {1, 0, 2}}));
  EXPECT_EQ(counts(Adam{}), (Counts{{0, 0, 0}, {2, 0, 4}, {1, 0, 2}}));
  EXPECT_EQ(counts(Adam{.weight_decay = 0.1}), (Counts{{0, 5, 5}, {2, 5, 5}, {1, 5, 5}}));
  EXPECT_EQ(counts(AdamW{}), (Counts{{0, 5, 0}, {2, 5, 4}, {1, 5, 2}}));
  EXPECT_EQ(counts(AdamW{.weight_decay = 0}), (Counts{{0, 0, 0}, {2, 0, 4}, {1, 0, 2}}));
}

TEST(RowLedger, KnowsTheFirstAndTheLastTouch) {
  const RowLedger ledger = recorded(Sgd{});
  EXPECT_EQ(ledger.row(0).first_touch, 0U);
  EXPECT_EQ(ledger.row(0).last_touch, 0U);
  EXPECT_EQ(ledger.row(1).first_touch, 2U);
  EXPECT_EQ(ledger.row(1).last_touch, 4U);
  EXPECT_EQ(ledger.row(2).first_touch, 4U);
}

TEST(RowLedger, SumsUpHowManyRowsAreSo) {
  const LedgerSummary summary = recorded(AdamW{}).summary();
  EXPECT_EQ(summary.rows, 4U);
  EXPECT_EQ(summary.touched, 2U);
  EXPECT_EQ(summary.decayed, 4U);
  EXPECT_EQ(summary.moved, 2U);
}

TEST(RowLedger, BeginsWhereTheOptimizerStands) {
  RowLedger ledger(2, AdamW{}, 100);
  const std::vector<TokenId> touched = {1};
  ledger.record(touched, 101);
  ledger.record_all(102);
  EXPECT_EQ(ledger.row(1).first_touch, 101U);
  EXPECT_EQ(ledger.row(1).touched, 2U);
  EXPECT_EQ(ledger.row(1).decayed, 2U);
  EXPECT_EQ(ledger.row(0).first_touch, 102U);
  EXPECT_EQ(ledger.row(0).moved, 1U);
}

TEST(RowLedger, RefusesARowThatIsNone) {
  EXPECT_EQ(testing::message_of<std::out_of_range>([] { recorded(Sgd{}).row(4); }),
            "[RowLedger::row] expected a row below V = 4, received 4");
}

}  // namespace
}  // namespace firstlayer
