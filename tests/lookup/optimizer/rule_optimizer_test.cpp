#include "firstlayer/lookup/optimizer/rule_optimizer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/optimizer/lazy_adamw.h"
#include "firstlayer/lookup/optimizer/option_fields.h"
#include "tests/same_bits.h"

namespace firstlayer {
namespace {

using testing::difference;

constexpr Shape<2> kTable = {30, 21};

/// Options of kind `kind` drawn anew: zeros, where they are allowed, as often as other numbers.
OptimizerOptions random_options(std::uint32_t kind, Generator& generator) {
  const auto zero_or = [&](double most) {
    return generator.next_u32() % 2 == 0 ? 0.0 : most * (generator.next_u32() % 1000 + 1) / 1000;
  };
  const auto beta = [&] { return 0.999 * (generator.next_u32() % 1000) / 1000; };
  const double eps = 1e-8 + zero_or(1e-2);
  switch (kind) {
    case 0: {
      const double momentum = zero_or(1);
      const bool nesterov = momentum > 0 && generator.next_u32() % 2 == 0;
      return Sgd{0.1, momentum, nesterov ? 0 : zero_or(1.5), zero_or(0.2), nesterov};
    }
    case 1:
      return Adagrad{0.1, zero_or(0.1), zero_or(0.2), zero_or(1), eps};
    case 2:
      return RowwiseAdagrad{0.1, eps};
    case 3:
      return Adam{0.01, beta(), beta(), eps, zero_or(0.2)};
    case 4:
      return AdamW{0.01, beta(), beta(), eps, zero_or(0.5)};
    case 5:
      return SparseAdam{0.01, beta(), beta(), eps};
    default:
      return SparseAdamW{0.01, beta(), beta(), eps, zero_or(0.5)};
  }
}

/// A table under an optimizer, and batches (1, 5) for it.
struct Learning {
  template <class Make>
  explicit Learning(const Make& make) {
    generator.fill_normal(table.flat());
    optimizer = make(View<float, 2>(table), non_finite);
  }

  void step(double lr, unsigned threads = 1) {
    for (TokenId& id : ids.flat()) id = generator.next_u32() % static_cast<std::uint32_t>(kTable[0]);
    generator.fill_normal(dout.flat());
    groups.assign(ids, kTable[0]);
    optimizer->step(lr, groups, dout.flat().data(), threads);
  }

  void expect_equal(Learning& other) {
    optimizer->settle(1);
    other.optimizer->settle(1);
    EXPECT_EQ(difference(table.flat(), other.table.flat()), "");
    const std::vector<StateRows> mine = optimizer->state();
    const std::vector<StateRows> its = other.optimizer->state();
    ASSERT_EQ(mine.size(), its.size());
    for (std::size_t j = 0; j < mine.size(); ++j) {
      EXPECT_EQ(mine[j].name, its[j].name);
      for (std::size_t row = 0; row < kTable[0]; ++row) {
        const std::span<const float> expected(mine[j].data + row * mine[j].stride, mine[j].width);
        const std::span<const float> received(its[j].data + row * its[j].stride, its[j].width);
        EXPECT_EQ(difference(expected, received), "") << mine[j].name << " of row " << row;
      }
    }
  }

  Generator generator{5};
  Tensor<float, 2> table{kTable};
  NonFinite non_finite;
  Tensor<TokenId, 2> ids{{1, 5}};
  Tensor<float, 3> dout{{1, 5, kTable[1]}};
  RowGroups groups;
  std::unique_ptr<RowOptimizer> optimizer;
};

std::string text(const OptimizerOptions& options) {
  std::string text(optimizer_name(options));
  for (const auto& [name, value] : option_texts(options)) text.append(" ").append(name).append("=").append(value);
  return text;
}

TEST(RuleOptimizer, StepsThatWereMissedAreThoseOfEveryStepInItsTimeForAnyOptions) {
  Generator generator(6);
  for (std::uint32_t round = 0; round < 140; ++round) {
    const OptimizerOptions options = random_options(round % 7, generator);
    SCOPED_TRACE(text(options));
    check_options(options);
    const auto make = [&](View<float, 2> table, NonFinite& non_finite) {
      return std::make_unique<RuleOptimizer>(table, options, non_finite);
    };
    Learning lazy(make);
    Learning eager(make);
    for (int step = 0; step < 25; ++step) {
      const double lr = step % 9 == 4 ? 0 : 0.02 / (1 + step);
      lazy.step(lr, 1 + round % 3);
      eager.step(lr);
      eager.optimizer->settle(1);
    }
    lazy.expect_equal(eager);
  }
}

/// The gradient as PyTorch's dense optimizers get it: zero for rows that are not in the batch.
TEST(RuleOptimizer, AZeroGradientIsWhatRowsOutsideTheBatchHaveUnderDenseSemantics) {
  Generator generator(7);
  for (std::uint32_t round = 0; round < 40; ++round) {
    const std::uint32_t dense_kinds[] = {0, 1, 3, 4};
    const OptimizerOptions options = random_options(dense_kinds[round % 4], generator);
    SCOPED_TRACE(text(options));
    const auto make = [&](View<float, 2> table, NonFinite& non_finite) {
      return std::make_unique<RuleOptimizer>(table, options, non_finite);
    };
    Learning lazy(make);
    Learning dense(make);
    Tensor<float, 2> dtable(kTable);
    for (int step = 0; step < 15; ++step) {
      lazy.step(0.01);
      std::ranges::fill(dtable.flat(), 0.0F);
      add_rows(lookup_gradient(kTable, lazy.ids, lazy.dout, 1), dtable);
      dense.optimizer->step(0.01, dtable, nullptr, nullptr, 1);
    }
    lazy.expect_equal(dense);
  }
}

TEST(RuleOptimizer, SettlesWhenItsHistoryIsFull) {
  for (const OptimizerOptions& options :
       {OptimizerOptions(Sgd{.momentum = 0.9}), OptimizerOptions(Adam{.weight_decay = 0.1})}) {
    const auto make = [&](View<float, 2> table, NonFinite& non_finite) {
      return std::make_unique<RuleOptimizer>(table, options, non_finite);
    };
    Learning lazy(make);
    Learning eager(make);
    for (std::size_t step = 0; step < 2 * RuleOptimizer::kHistory + 3; ++step) {
      lazy.step(1e-3);
      eager.step(1e-3);
      if (step % 100 == 0) eager.optimizer->settle(1);
    }
    lazy.expect_equal(eager);
  }
}

// Two ways to the same numbers, written apart from each other.
TEST(RuleOptimizer, OfAdamWHasTheBitsOfLazyAdamW) {
  for (const AdamW& options : {AdamW{}, AdamW{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.3},
                               AdamW{.eps = 1e-3, .weight_decay = 0}}) {
    Learning rule([&](View<float, 2> table, NonFinite& non_finite) {
      return std::make_unique<RuleOptimizer>(table, options, non_finite);
    });
    Learning lazy([&](View<float, 2> table, NonFinite& non_finite) {
      return std::make_unique<LazyAdamW>(table, options, &non_finite);
    });
    for (int step = 0; step < 300; ++step) {
      rule.step(1e-3 * (1 + step % 5));
      lazy.step(1e-3 * (1 + step % 5));
    }
    rule.expect_equal(lazy);
  }
}

}  // namespace
}  // namespace firstlayer
