#include "firstlayer/lookup/optimizer/adamw_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/lookup/gradient_kernels.h"
#include "tests/every_target.h"
#include "tests/lookup/optimizer/adamw_dense.h"

namespace firstlayer::adamw_kernels {
namespace {

using testing::DenseAdamW;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// A table whose rows are at step `taken`, beside the same in plain form.
struct Table {
  Table(const AdamW& options, std::size_t count, std::size_t width, std::uint64_t steps_taken)
      : dim(width),
        p({count, width}),
        moments({count, 2, width}),
        taken(count, steps_taken),
        kinds(count),
        dense(options, p.flat()) {
    dense.steps = steps_taken;
  }

  /// Copies what p and moments hold to the plain form; the rows are of these kinds.
  void fix(RowKind kind) {
    dense.p.assign(p.flat().begin(), p.flat().end());
    for (std::size_t row = 0; row < taken.size(); ++row) {
      kinds[row] = kind;
      const std::span<const float> both = moments.view()[row].flat();
      std::copy_n(both.begin(), dim, dense.m.begin() + static_cast<std::ptrdiff_t>(row * dim));
      std::copy_n(both.begin() + static_cast<std::ptrdiff_t>(dim), dim,
                  dense.v.begin() + static_cast<std::ptrdiff_t>(row * dim));
    }
  }

  Rows rows() { return {p.flat().data(), moments.flat().data(), taken.size(), dim, taken.data(), kinds.data()}; }
  std::string difference() const { return dense.difference_from(p.flat(), moments.flat(), dim); }

  std::size_t dim;
  Tensor<float, 2> p;
  Tensor<float, 3> moments;
  std::vector<std::uint64_t> taken;
  std::vector<std::atomic<RowKind>> kinds;
  DenseAdamW dense;
};

struct Case {
  const char* name;
  AdamW options;
  double lr;
  float p_scale;
  float m_scale;  ///< sqrt(V) is of the same size
};

/// From updates that change every bit of P to such that change none.
const std::vector<Case> kCases = {
    {"early", {.weight_decay = 0.1}, 3e-4, 0.02F, 1e-4F},
    {"middle", {.weight_decay = 0.1}, 3e-7, 0.02F, 1e-4F},
    {"late", {.weight_decay = 0.1}, 1e-10, 0.02F, 1e-4F},
    {"no decay", {.weight_decay = 0}, 3e-8, 1, 1e-6F},
    {"strong decay", {.weight_decay = 5}, 0.05, 1, 1e-3F},
    {"tiny eps", {.eps = 1e-12}, 1e-6, 0.02F, 1e-12F},
    {"no eps", {.eps = 0}, 1e-6, 0.02F, 1e-4F},
    {"tiny parameters", {}, 1e-9, 1e-9F, 1e-4F},
    {"denormal moments", {}, 1e-3, 1, 1e-40F},
    {"no rate", {}, 0, 1, 1e-4F},
    {"GPT-3's betas", {.beta2 = 0.95}, 1e-6, 0.02F, 1e-4F},
    {"quick betas", {.beta1 = 0.5, .beta2 = 0.5}, 1e-5, 0.02F, 1e-4F},
    {"slow betas", {.beta1 = 0.99, .beta2 = 0.9999}, 1e-6, 0.02F, 1e-4F},
    {"no memory", {.beta1 = 0, .beta2 = 0}, 1e-3, 1, 1e-2F},
    {"growing parameters", {.weight_decay = 30}, 0.1, 1, 1e-4F},
};

/// The steps after `first`, with a rate that comes and goes.
std::vector<AdamWStep> some_steps(const AdamWRule& rule, double lr, std::uint64_t first, std::size_t count) {
  std::vector<AdamWStep> steps;
  for (std::size_t i = 1; i <= count; ++i) {
    steps.emplace_back(rule, lr * (1 + 0.5 * std::sin(static_cast<double>(i) / 7)), first + i);
  }
  return steps;
}

class AdamWKernels : public testing::OnTarget {};

void expect_catch_up(const Case& kind, std::size_t dim, std::uint64_t first, std::size_t count, Generator& generator) {
  SCOPED_TRACE(std::string(kind.name) + ", d = " + std::to_string(dim) + ", " + std::to_string(count) +
               " steps after " + std::to_string(first));
  AdamWRule rule(kind.options);
  const std::vector<AdamWStep> steps = some_steps(rule, kind.lr, first, count);
  Table table(kind.options, 3, dim, first);
  generator.fill_normal(table.p.flat(), 0, kind.p_scale);
  generator.fill_normal(table.moments.flat(), 0, kind.m_scale);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t k = dim; k < 2 * dim; ++k) {
      float& v = table.moments.view()[row].flat()[k];
      v *= v;
    }
  }
  table.p.flat()[0] = 0;
  table.p.flat()[dim / 2] = -0.0F;
  table.p.flat()[dim - 1] *= 1e-9F;
  table.moments.flat()[dim + dim / 3] = 0;  // V, with an M
  table.fix(RowKind::kUsual);
  const std::vector<float> p(table.p.flat().begin(), table.p.flat().end());
  const std::vector<float> moments(table.moments.flat().begin(), table.moments.flat().end());
  for (const AdamWStep& step : steps) {
    step_reference(rule, step, table.dense.p.data(), table.dense.m.data(), table.dense.v.data(), nullptr, 3 * dim);
  }
  for (unsigned threads : {1U, 3U}) {
    rule.divider_is_slow = threads == 3;
    std::ranges::copy(p, table.p.flat().begin());
    std::ranges::copy(moments, table.moments.flat().begin());
    table.taken.assign(3, first);
    catch_up(table.rows(), rule, {steps, first}, threads);
    EXPECT_EQ(table.difference(), "") << threads << " threads";
    EXPECT_EQ(table.taken, std::vector<std::uint64_t>(3, first + count));
  }
}

TEST_P(AdamWKernels, EqualTheReferenceInCatchingUp) {
  Generator generator(1);
  for (const Case& kind : kCases) {
    for (std::size_t dim : {1, 3, 17, 130}) {
      for (std::size_t count : {1, 2, 7, 40, 333}) expect_catch_up(kind, dim, 5, count, generator);
    }
    expect_catch_up(kind, 768, 1000, 60, generator);
    expect_catch_up(kind, 1100, 0, 30, generator);
  }
}

TEST_P(AdamWKernels, EqualTheReferenceWhereRootsAreHardToRound) {
  // Three roots in a million are not proven by multiplications. Where P is little but the updates, it shows their bits.
  Generator generator(4);
  expect_catch_up({"wide", {}, 0.1, 1e-9F, 1e-4F}, 400'000, 2000, 4, generator);
}

TEST_P(AdamWKernels, EqualTheReferenceOnExtremeMoments) {
  const AdamWRule rule({});
  const std::vector<AdamWStep> steps = some_steps(rule, 1e-3, 9, 50);
  const std::vector<float> values = {0, -0.0F, 1, 1e-45F, 1e30F, 3e38F, kInfinity, -kInfinity, kNaN};
  const std::size_t dim = values.size() * values.size() * values.size();
  Table table({}, 1, dim, 9);
  for (std::size_t k = 0; k < dim; ++k) {
    table.p.flat()[k] = values[k % 9];
    table.moments.flat()[k] = values[k / 9 % 9];
    table.moments.flat()[dim + k] = std::fabs(values[k / 81]);
  }
  table.fix(RowKind::kExtreme);
  for (const AdamWStep& step : steps) {
    step_reference(rule, step, table.dense.p.data(), table.dense.m.data(), table.dense.v.data(), nullptr, dim);
  }
  catch_up(table.rows(), rule, {steps, 9}, 1);
  EXPECT_EQ(table.difference(), "");
}

TEST_P(AdamWKernels, EqualTheReferenceOnUntouchedRows) {
  Generator generator(2);
  for (double weight_decay : {0.0, 0.1}) {
    const AdamW options{.weight_decay = weight_decay};
    const AdamWRule rule(options);
    const std::vector<AdamWStep> steps = some_steps(rule, 1e-3, 0, 70);
    Table table(options, 2, 77, 0);
    generator.fill_normal(table.p.flat());
    table.p.flat()[0] = -0.0F;
    table.p.flat()[1] = kInfinity;
    table.fix(RowKind::kUntouched);
    for (const AdamWStep& step : steps) {
      step_reference(rule, step, table.dense.p.data(), table.dense.m.data(), table.dense.v.data(), nullptr, 2 * 77);
    }
    const std::vector<TokenId> only = {1};
    catch_up(table.rows(), rule, {steps, 0}, only, 1);
    EXPECT_EQ(table.taken, (std::vector<std::uint64_t>{0, 70}));
    catch_up(table.rows(), rule, {steps, 0}, 1);
    EXPECT_EQ(table.difference(), "");
  }
}

/// The gradient of a table from groups of random ids, added to what `gradient` holds.
RowGroups random_groups(std::size_t vocabulary, std::size_t places, Generator& generator) {
  Tensor<TokenId, 2> ids({1, places});
  for (TokenId& id : ids.flat()) id = generator.next_u32() % static_cast<std::uint32_t>(vocabulary);
  return {ids, vocabulary};
}

TEST_P(AdamWKernels, EqualTheReferenceInSteps) {
  Generator generator(3);
  for (std::size_t dim : {1, 3, 17, 256, 300, 768}) {
    for (float scale : {1e-22F, 1e-4F, 1e20F, 1e21F, kInfinity}) {
      for (unsigned threads : {1U, 3U}) {
        SCOPED_TRACE("d = " + std::to_string(dim) + ", gradients " + std::to_string(scale));
        constexpr std::size_t kCount = 40;
        Table table({}, kCount, dim, 0);
        generator.fill_normal(table.p.flat());
        table.fix(RowKind::kUntouched);
        for (std::uint64_t t = 1; t <= 6; ++t) {
          const AdamWStep step(table.dense.rule, 1e-3, t);
          const RowGroups groups = random_groups(kCount, 50, generator);
          std::vector<float> dout(50 * dim);
          std::vector<float> dtable(kCount * dim);
          generator.fill_normal(dout);
          generator.fill_normal(dtable);
          for (float& x : dout) x *= scale;
          std::vector<float> sums(groups.size() * dim);
          gradient_kernels::sum_groups_reference(groups, dout.data(), dim, sums.data());
          const bool tied = t % 2 == 0;
          std::vector<float> gradient = tied ? dtable : std::vector<float>(kCount * dim);
          for (std::size_t u = 0; u < groups.size(); ++u) {
            for (std::size_t k = 0; k < dim; ++k) gradient[groups.ids()[u] * dim + k] += sums[u * dim + k];
          }
          table.dense.step(1e-3, gradient);
          if (t == 5) {
            step_rows(table.rows(), table.dense.rule, step, t, groups.ids(), sums.data(), threads);
          } else {
            step_groups(table.rows(), table.dense.rule, step, t, groups, dout.data(), tied ? dtable.data() : nullptr,
                        threads);
          }
          if (tied) {
            step_rest(table.rows(), table.dense.rule, step, t, dtable.data(), threads);
          } else {
            catch_up(table.rows(), table.dense.rule, {{&step, 1}, t - 1}, threads);
          }
          EXPECT_EQ(table.difference(), "") << "step " << t;
        }
      }
    }
  }
}

TEST_P(AdamWKernels, EqualTheReferenceInStepsByTheBatch) {
  Generator generator(5);
  for (std::size_t dim : {1, 3, 17, 256, 300, 768}) {
    for (std::size_t batch : {0, 1, 8, 40}) {
      for (unsigned threads : {1U, 3U}) {
        SCOPED_TRACE("d = " + std::to_string(dim) + ", B = " + std::to_string(batch));
        constexpr std::size_t kCount = 40;
        constexpr std::size_t kLength = 37;
        Table table({}, kCount, dim, 0);
        generator.fill_normal(table.p.flat());
        table.fix(RowKind::kUntouched);
        for (std::uint64_t t = 1; t <= 4; ++t) {
          const AdamWStep step(table.dense.rule, 1e-3, t);
          std::vector<float> dout(batch * kLength * dim);
          generator.fill_normal(dout);
          if (t == 2 && !dout.empty()) dout.back() = 1e30F;
          std::vector<float> gradient(kCount * dim);
          gradient_kernels::sum_batch_reference(dout.data(), batch, kLength * dim, gradient.data());
          table.dense.step(1e-3, gradient);
          step_batch(table.rows(), table.dense.rule, step, t, dout.data(), batch, kLength, threads);
          catch_up(table.rows(), table.dense.rule, {{&step, 1}, t - 1}, threads);
          EXPECT_EQ(table.difference(), "") << "step " << t;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, AdamWKernels, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

}  // namespace
}  // namespace firstlayer::adamw_kernels
