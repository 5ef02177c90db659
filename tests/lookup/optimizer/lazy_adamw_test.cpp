#include "firstlayer/lookup/optimizer/lazy_adamw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/gradient_kernels.h"
#include "tests/every_target.h"
#include "tests/lookup/optimizer/adamw_dense.h"
#include "tests/sha256.h"

namespace firstlayer {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

using Edit = std::function<void(std::size_t step, std::span<float> dout)>;

Tensor<float, 2> random_table(const Shape<2>& shape, float scale, Generator& generator) {
  Tensor<float, 2> table(shape);
  generator.fill_normal(table.flat());
  for (float& x : table.flat()) x *= scale;
  return table;
}

/// A table that learns lazily, beside one that takes each dense step.
class Training {
 public:
  Training(const AdamW& options, const Shape<2>& shape, float scale = 0.02F, unsigned threads = 1)
      : lr_(options.lr),
        threads_(threads),
        table_(random_table(shape, scale, generator_)),
        dense_(options, table_.flat()),
        lazy_(table_, options) {}

  /// `count` steps at a rate that warms up and falls; `edit` may change the gradients.
  void run(std::size_t count, const Edit& edit = {}) {
    for (std::size_t i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
      ++step_;
      draw();
      if (edit) edit(step_, dout_);
      lazy_.prepare(groups_.ids(), threads_);
      for (const TokenId id : groups_.ids()) {
        const auto expected = std::span(dense_.p).subspan(id * dim(), dim());
        EXPECT_EQ(testing::difference_but_nan(expected, table_.view()[id]), "") << "before step " << step_;
      }
      const double x = static_cast<double>(step_);
      const double lr = lr_ * std::min(x / 30, 1.0) * (0.1 + 1 / (1 + x / 200));
      dense_.step(lr, gradient());
      lazy_.step(lr, groups_, dout_.data(), threads_);
    }
  }

  /// A batch of ids, the low ones most, and its gradients.
  void draw() {
    for (TokenId& id : ids_.flat()) {
      const double u = static_cast<double>(generator_.next_u32()) * 0x1p-32;
      id = static_cast<TokenId>(static_cast<double>(table_.shape()[0]) * u * u * u * u);
    }
    groups_.assign(ids_, table_.shape()[0]);
    dout_.resize(kPlaces * dim());
    generator_.fill_normal(dout_, 0, 1e-3);
  }

  /// The dense gradient of the batch.
  std::vector<float> gradient() const {
    std::vector<float> sums(groups_.size() * dim());
    gradient_kernels::sum_groups_reference(groups_, dout_.data(), dim(), sums.data());
    std::vector<float> all(table_.size());
    for (std::size_t u = 0; u < groups_.size(); ++u) {
      std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(u * dim()), dim(),
                  all.begin() + static_cast<std::ptrdiff_t>(groups_.ids()[u] * dim()));
    }
    return all;
  }

  std::string settled_difference() {
    lazy_.settle(threads_);
    return dense_.difference_from(table_.flat(), {lazy_.state()[0].data, 2 * table_.size()}, dim());
  }

  std::size_t dim() const { return table_.shape()[1]; }

  static constexpr std::size_t kPlaces = 12;
  double lr_;
  unsigned threads_;
  std::size_t step_ = 0;
  Generator generator_{7};
  Tensor<float, 2> table_;
  Tensor<TokenId, 2> ids_{{1, kPlaces}};
  std::vector<float> dout_;
  RowGroups groups_;
  testing::DenseAdamW dense_;
  LazyAdamW lazy_;
};

class LazyAdamWTest : public testing::OnTarget {};

struct Setting {
  const char* name;
  AdamW options;
  float scale = 0.02F;
};

const std::vector<Setting> kSettings = {
    {"usual", {.lr = 3e-4, .weight_decay = 0.1}},
    {"no decay", {.lr = 3e-4, .weight_decay = 0}},
    {"wide", {.lr = 3e-4}, 1},
    {"tiny parameters", {.lr = 1e-3}, 1e-9F},
    {"tiny eps", {.lr = 3e-4, .eps = 1e-12}},
    {"no eps", {.lr = 3e-4, .eps = 0}},
    {"strong decay", {.lr = 0.05, .weight_decay = 5}},
    {"no rate", {.lr = 0}},
    {"no beta1", {.lr = 1e-4, .beta1 = 0}},
    {"GPT-3's betas", {.lr = 3e-4, .beta2 = 0.95, .weight_decay = 0.1}},
    {"quick beta2", {.lr = 1e-4, .beta2 = 0.5}},
    {"slow beta2", {.lr = 1e-4, .beta2 = 0.9999}},
};

TEST_P(LazyAdamWTest, EqualsDenseSteps) {
  for (const Setting& setting : kSettings) {
    for (const std::size_t dim : {1, 3, 17, 130}) {
      SCOPED_TRACE(std::string(setting.name) + ", d = " + std::to_string(dim));
      Training training(setting.options, {90, dim}, setting.scale, dim == 17 ? 3 : 1);
      for (const std::size_t more : {1, 60, 250}) {
        training.run(more);
        EXPECT_EQ(training.settled_difference(), "") << "after " << training.step_ << " steps";
      }
    }
  }
}

TEST_P(LazyAdamWTest, EqualsDenseStepsWithHostileGradients) {
  Training training({.lr = 1e-3, .weight_decay = 0.1}, {60, 140});
  training.run(1500, [](std::size_t step, std::span<float> dout) {
    const std::vector<float> values = {1e-22F, 1e-30F, 1e20F, 1e21F, 0, -0.0F, 1e-45F, 3e38F, 1e10F};
    if (step % 7 == 0) std::ranges::fill(dout, values[step / 7 % values.size()]);
    if (step % 500 == 100) dout[3] = kInfinity;
    if (step % 500 == 200) dout[200] = kNaN;
  });
  EXPECT_EQ(training.settled_difference(), "");
}

TEST_P(LazyAdamWTest, EqualsDenseStepsBeyondItsHistory) {
  Training training({.lr = 1e-3, .weight_decay = 0.1}, {30, 130}, 0.02F);
  training.run(20);
  // From here on only a few rows have gradients, so that others are thousands of steps behind.
  training.run(LazyAdamW::kHistory + 500, [&](std::size_t, std::span<float>) {
    for (TokenId& id : training.ids_.flat()) id %= 3;
    training.groups_.assign(training.ids_, 30);
  });
  EXPECT_EQ(training.settled_difference(), "");
}

TEST_P(LazyAdamWTest, TakesADenseGradientAndThatOfTheGroups) {
  for (const unsigned threads : {1U, 3U}) {
    Training training({.lr = 1e-3}, {40, 33}, 0.02F, threads);
    std::vector<float> dtable(40 * 33);
    const auto take = [&](bool with_groups) {
      training.draw();
      training.generator_.fill_normal(dtable, 0, 1e-3);
      std::vector<float> both = dtable;
      const std::vector<float> sums = training.gradient();
      for (std::size_t i = 0; with_groups && i < both.size(); ++i) both[i] += sums[i];
      training.dense_.step(1e-3, both);
      training.lazy_.step(1e-3, {dtable, {40, 33}}, with_groups ? &training.groups_ : nullptr,
                          with_groups ? training.dout_.data() : nullptr, threads);
      ++training.step_;
    };
    training.run(5);
    take(true);
    take(false);
    take(true);
    training.run(50);
    take(true);
    EXPECT_EQ(training.settled_difference(), "");
  }
}

TEST_P(LazyAdamWTest, TakesAGradientThatWasSummedBefore) {
  Training training({.lr = 1e-3}, {40, 33});
  for (int i = 0; i < 60; ++i) {
    training.draw();
    const std::vector<float> all = training.gradient();
    RowGradient gradient;
    gradient.assign(training.groups_.ids(), 33);
    for (std::size_t u = 0; u < gradient.ids().size(); ++u) {
      std::ranges::copy(std::span(all).subspan(gradient.ids()[u] * 33, 33), gradient.rows()[u].begin());
    }
    training.dense_.step(1e-3, all);
    training.lazy_.step(1e-3, gradient, 1);
  }
  EXPECT_EQ(training.settled_difference(), "");
}

INSTANTIATE_TEST_SUITE_P(OnEveryInstructionSet, LazyAdamWTest, ::testing::ValuesIn(testing::every_target()),
                         testing::target_name);

TEST(LazyAdamW, LeavesAllRowsCurrentWhereMostAreTouched) {
  Training training({.lr = 1e-3}, {4, 20});
  training.run(30);
  for (const TokenId id : {0, 1, 2, 3}) {
    EXPECT_EQ(testing::difference(std::span(training.dense_.p).subspan(id * 20, 20), training.table_.view()[id]), "");
  }
}

TEST(LazyAdamW, DoesNotMoveRowsThatItNeedNot) {
  Training training({.lr = 1e-3, .weight_decay = 0.1}, {1000, 20});
  const std::vector<float> before(training.table_.flat().begin(), training.table_.flat().end());
  training.run(3);
  std::size_t unchanged = 0;
  for (std::size_t row = 0; row < 1000; ++row) {
    unchanged += testing::difference(std::span(before).subspan(row * 20, 20), training.table_.view()[row]).empty();
  }
  EXPECT_GE(unchanged, 1000 - 3 * Training::kPlaces);
}

TEST(LazyAdamW, GoesOnFromARestoredState) {
  Training training({.lr = 1e-3}, {50, 20});
  training.run(70);
  EXPECT_EQ(training.settled_difference(), "");
  Tensor<float, 2> table({50, 20});
  std::ranges::copy(training.table_.flat(), table.flat().begin());
  LazyAdamW restored(table, {.lr = 1e-3});
  const auto from = training.lazy_.state();
  const auto to = restored.state();
  ASSERT_EQ(to.size(), 2);
  EXPECT_EQ(to[0].name, "exp_avg");
  EXPECT_EQ(to[1].name, "exp_avg_sq");
  for (std::size_t part = 0; part < 2; ++part) {
    for (std::size_t row = 0; row < 50; ++row) {
      std::copy_n(from[part].data + row * from[part].stride, from[part].width, to[part].data + row * to[part].stride);
    }
  }
  restored.restored(70);
  EXPECT_EQ(restored.steps(), 70);
  for (std::size_t step = 71; step <= 120; ++step) {
    training.draw();
    training.lazy_.step(1e-4, training.groups_, training.dout_.data(), 1);
    restored.step(1e-4, training.groups_, training.dout_.data(), 1);
  }
  training.lazy_.settle(1);
  restored.settle(1);
  EXPECT_EQ(testing::difference(training.table_.flat(), table.flat()), "");
  EXPECT_EQ(testing::difference({from[0].data, 2000}, {to[0].data, 2000}), "");
}

TEST(LazyAdamW, RefusesARateThatHasNoFiniteStep) {
  Training training({.weight_decay = 0.1}, {10, 4});
  training.run(3);
  for (const double lr : {-1e-3, static_cast<double>(kNaN), static_cast<double>(kInfinity), 1e39}) {
    try {
      training.lazy_.step(lr, training.groups_, training.dout_.data(), 1);
      ADD_FAILURE() << lr;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("[LazyAdamW::step] expected a rate"), std::string::npos);
    }
  }
  EXPECT_EQ(training.lazy_.steps(), 3);
  EXPECT_EQ(training.settled_difference(), "");
}

// tools/make_adamw_golden.py wrote the file.
TEST(LazyAdamW, HasTheBitsOfPyTorch) {
  std::ifstream file(FIRSTLAYER_TEST_DATA "/lookup/adamw.txt");
  const std::map<std::string, AdamW> settings = {
      {"adamw", {.weight_decay = 0.1}},
      {"adamw_no_decay", {.weight_decay = 0}},
      {"adam", {.weight_decay = 0}},
      {"gpt3_betas", {.beta2 = 0.95, .weight_decay = 0.1}},
      {"tiny_eps", {.eps = 1e-12, .weight_decay = 0.01}},
  };
  std::size_t lines = 0;
  std::string name;
  std::size_t dim = 0;
  std::size_t last = 0;
  std::string p;
  std::string m;
  std::string v;
  for (; file >> name >> dim >> last >> p >> m >> v; ++lines) {
    SCOPED_TRACE(name + ", d = " + std::to_string(dim) + ", step " + std::to_string(last));
    constexpr std::size_t kRows = 50;
    constexpr std::size_t kPlaces = 24;
    Generator generator(5);
    Tensor<float, 2> table = random_table({kRows, dim}, 0.0625F, generator);
    LazyAdamW lazy(table, settings.at(name));
    for (std::size_t step = 1; step <= last; ++step) {
      Tensor<TokenId, 2> ids({1, kPlaces});
      for (std::size_t i = 0; i < kPlaces; ++i) {
        const std::size_t x = (step * 31 + i * 17) % 97;
        ids.flat()[i] = static_cast<TokenId>(x * x * kRows / (97 * 97));
      }
      Tensor<float, 2> dout = random_table({kPlaces, dim}, 0x1p-10F, generator);
      const double t = static_cast<double>(step);
      lazy.step(1e-3 * std::min(t / 10, 1.0) * (1 - t / 200), RowGroups(ids, kRows), dout.flat().data(), 1);
    }
    lazy.settle(1);
    std::vector<float> both[2];
    for (std::size_t part = 0; part < 2; ++part) {
      const StateRows rows = lazy.state()[part];
      for (std::size_t row = 0; row < kRows; ++row) {
        both[part].insert(both[part].end(), rows.data + row * rows.stride, rows.data + row * rows.stride + dim);
      }
    }
    EXPECT_EQ(testing::sha256_hex(std::as_bytes(table.flat())), p);
    EXPECT_EQ(testing::sha256_hex(std::as_bytes(std::span(both[0]))), m);
    EXPECT_EQ(testing::sha256_hex(std::as_bytes(std::span(both[1]))), v);
  }
  EXPECT_EQ(lines, 30U);
}

}  // namespace
}  // namespace firstlayer
