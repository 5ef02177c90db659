#include "firstlayer/lookup/optimizer/rule_kernels.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/group_pieces.h"
#include "firstlayer/lookup/optimizer/rule_optimizer.h"
#include "tests/every_target.h"
#include "tests/same_bits.h"

namespace firstlayer::rule_kernels {
namespace {

using testing::difference;

/// Every formula, with each of its branches.
const std::vector<OptimizerOptions>& every_rule() {
  static const std::vector<OptimizerOptions> each = {
      Sgd{.lr = 0.1},
      Sgd{.lr = 0.1, .weight_decay = 0.03},
      Sgd{.lr = 0.1, .momentum = 0.9, .dampening = 0.3},
      Sgd{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.03, .nesterov = true},
      Adagrad{.lr = 0.1},
      Adagrad{.lr = 0.1, .lr_decay = 0.01, .weight_decay = 0.03, .initial_accumulator_value = 0.1},
      RowwiseAdagrad{.lr = 0.1},
      Adam{.lr = 0.01, .weight_decay = 0.03},
      Adam{.lr = 0.01, .beta1 = 0.3, .weight_decay = 0.03},
      AdamW{.lr = 0.01},
      SparseAdam{.lr = 0.01},
      SparseAdamW{.lr = 0.01},
  };
  return each;
}

/// A table, its state and a gradient for some of its rows, all of them random; states that are squares are positive.
struct Problem {
  Problem(const OptimizerOptions& options, const Shape<3>& shape, std::size_t vocabulary, Generator& generator)
      : rule(make_rule(options)),
        scalars(step_scalars(options, 1 + generator.next_u32() % 3, 0.01)),
        ids({shape[0], shape[1]}),
        dout(shape),
        dtable({vocabulary, shape[2]}),
        table({vocabulary, shape[2]}),
        state(2 * vocabulary * shape[2]) {
    for (TokenId& id : ids.flat()) id = generator.next_u32() % static_cast<std::uint32_t>(vocabulary);
    generator.fill_normal(dout.flat());
    generator.fill_normal(dtable.flat());
    generator.fill_normal(table.flat());
    generator.fill_normal(state);
    const bool moments = std::visit(
        [](const auto& o) {
          return requires { o.beta2; };
        },
        options);
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (!moments || i / shape[2] % 2 == 1) state[i] *= state[i];
    }
    if (generator.next_u32() % 2 == 0) dout.flat()[generator.next_u32() % dout.size()] = kInf;
    groups.assign(ids, vocabulary);
  }

  static constexpr float kInf = std::numeric_limits<float>::infinity();

  Rule rule;
  StepScalars scalars;
  Tensor<TokenId, 2> ids;
  Tensor<float, 3> dout;
  Tensor<float, 2> dtable;
  Tensor<float, 2> table;
  std::vector<float> state;
  RowGroups groups;
};

/// The table and state that `work` leaves, starting from those of the problem.
struct Outcome {
  template <class Work>
  Outcome(const Problem& problem, const Work& work) : table(problem.table.shape()), state(problem.state) {
    std::ranges::copy(problem.table.flat(), table.flat().begin());
    NonFinite non_finite;
    work(Step{{problem.rule, table, state.data()}, problem.scalars, &non_finite});
    try {
      non_finite.throw_if_reported("test");
    } catch (const std::invalid_argument& error) {
      reported = error.what();
    }
  }

  void expect_equals(const Outcome& expected) const {
    EXPECT_EQ(difference(expected.table.flat(), table.flat()), "") << "in the table";
    EXPECT_EQ(difference(expected.state, state), "") << "in the state";
    EXPECT_EQ(expected.reported, reported);
  }

  Tensor<float, 2> table;
  std::vector<float> state;
  std::string reported;
};

class RuleKernels : public testing::OnTarget {
 protected:
  /// check(problem) for every rule and for shapes with and without whole vectors.
  template <class Check>
  static void for_problems(const Check& check) {
    Generator generator(3);
    for (std::size_t i = 0; i < every_rule().size(); ++i) {
      for (const Shape<3>& shape :
           std::vector<Shape<3>>{{1, 1, 1}, {2, 30, 16}, {3, 7, 17}, {2, 9, 1000}, {1, 40, 5}}) {
        for (std::size_t vocabulary : {1, 3, 40}) {
          SCOPED_TRACE("rule " + std::to_string(i) + ", " + shape_text(shape) + ", V = " + std::to_string(vocabulary));
          check(Problem(every_rule()[i], shape, vocabulary, generator));
        }
      }
    }
  }

  static std::vector<float> scratch(const Problem& problem, unsigned threads) {
    return std::vector<float>(scratch_floats(problem.rule, problem.table.dim(1), threads));
  }
};

TEST_P(RuleKernels, EqualTheReferenceFromGroups) {
  for_problems([](const Problem& problem) {
    const Outcome expected(problem, [&](const Step& step) {
      for (std::size_t u = 0; u < problem.groups.size(); ++u) {
        step_group_reference({step, problem.groups, problem.dout.flat().data()}, u, 0, problem.table.dim(1));
      }
    });
    for (unsigned threads : {1U, 3U}) {
      std::vector<float> memory = scratch(problem, threads);
      Outcome(problem, [&](const Step& step) {
        rule_kernels::step(GroupStep{step, problem.groups, problem.dout.flat().data()}, memory, threads);
      }).expect_equals(expected);
    }
  });
}

TEST_P(RuleKernels, EqualTheReferenceFromACompactGradient) {
  for_problems([](const Problem& problem) {
    const std::span<const TokenId> ids = problem.groups.ids();
    const float* gradient = problem.dout.flat().data();  // its first U rows
    const Outcome expected(problem, [&](const Step& step) {
      for (std::size_t u = 0; u < ids.size(); ++u) step_compact_row_reference({step, ids, gradient}, u);
    });
    for (unsigned threads : {1U, 3U}) {
      std::vector<float> memory = scratch(problem, threads);
      Outcome(problem, [&](const Step& step) {
        rule_kernels::step(CompactStep{step, ids, gradient}, memory, threads);
      }).expect_equals(expected);
    }
  });
}

TEST_P(RuleKernels, EqualTheReferenceFromADenseGradient) {
  for_problems([](const Problem& problem) {
    for (const RowGroups* groups : {static_cast<const RowGroups*>(nullptr), &problem.groups}) {
      const float* dtable = problem.dtable.flat().data();
      const float* dout = problem.dout.flat().data();
      const Outcome expected(problem, [&](const Step& step) {
        for (std::size_t row = 0; row < problem.table.dim(0); ++row) {
          step_dense_row_reference({step, dtable, groups, dout}, row);
        }
      });
      for (unsigned threads : {1U, 3U}) {
        std::vector<float> memory = scratch(problem, threads);
        Outcome(problem, [&](const Step& step) {
          rule_kernels::step(DenseStep{step, dtable, groups, dout}, memory, threads);
        }).expect_equals(expected);
      }
    }
  });
}

TEST_P(RuleKernels, EqualTheReferenceWhenRowsCatchUp) {
  for (const OptimizerOptions& options : every_rule()) {
    if (zero_gradient_effect(options) == ZeroGradient::kNothing) continue;
    std::vector<StepScalars> history;
    for (std::uint64_t step = 1; step <= 20; ++step) history.push_back(step_scalars(options, step, 0.01));
    Generator generator(4);
    for (std::size_t dim : {1, 17, 64, 300}) {
      const Problem problem(options, {1, 8, dim}, 12, generator);
      const std::vector<std::uint32_t> missing = {0, 20, 19, CatchUp::kFresh, 3, 4, 5, 6, 7, 0, 1, 2};
      std::vector<std::uint32_t> taken = missing;
      const Outcome expected(problem, [&](const Step& step) {
        for (std::size_t row = 0; row < taken.size(); ++row) {
          catch_up_row_reference({step.rows, history, taken.data()}, row);
        }
      });
      EXPECT_EQ(taken, (std::vector<std::uint32_t>{20, 20, 20, CatchUp::kFresh, 20, 20, 20, 20, 20, 20, 20, 20}));
      for (unsigned threads : {1U, 3U}) {
        std::vector<std::uint32_t> all = missing;
        Outcome(problem, [&](const Step& step) {
          catch_up_all({step.rows, history, all.data()}, threads);
        }).expect_equals(expected);
        EXPECT_EQ(all, taken);
        std::vector<std::uint32_t> some = missing;
        const std::vector<TokenId> rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
        Outcome(problem, [&](const Step& step) {
          catch_up({step.rows, history, some.data()}, rows, threads);
        }).expect_equals(expected);
        EXPECT_EQ(some, taken);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, RuleKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer::rule_kernels
