#include "firstlayer/lookup/optimizer/table_optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlayer/formats/safetensors.h"
#include "tests/lookup/optimizer/optimizer_cases.h"
#include "tests/same_bits.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::difference;
using testing::message_of;
using testing::OptimizerCase;
using testing::OptimizerStream;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// A stream whose table learns.
struct Learning {
  explicit Learning(const OptimizerCase& case_of, bool ledger = false)
      : each(case_of), optimizer(stream.table, case_of.options, ledger), rate(optimizer.learning_rate()) {}

  void step(unsigned threads = 1) {
    stream.next();
    take_step(threads);
  }

  void take_step(unsigned threads) {
    optimizer.set_learning_rate(rate * stream.rate_factor);
    if (each.tied) {
      optimizer.step_dense(stream.dtable, stream.groups, stream.dout, threads);
    } else {
      optimizer.step(stream.groups, stream.dout, threads);
    }
  }

  OptimizerCase each;
  OptimizerStream stream;
  TableOptimizer optimizer;
  double rate;
};

std::vector<float> floats(const SafetensorsFile& file, const std::string& name) {
  const StoredTensor* tensor = file.find(name);
  if (tensor == nullptr) throw std::runtime_error("no tensor " + name);
  std::vector<float> numbers(tensor->bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
  return numbers;
}

class TableOptimizerCase : public ::testing::TestWithParam<OptimizerCase> {
 protected:
  testing::TemporaryFolder folder_;
};

/// How far numbers may be from the golden ones, of the larger of them and 1: SparseAdam's square roots in PyTorch are
/// not always rounded correctly, which shows in the weights, and FBGEMM adds squares in another order.
double tolerance(const std::string& optimizer, const std::string& part) {
  if (optimizer == "sparse_adam" && part == "weight") return 0x1p-22;
  if (optimizer == "rowwise_adagrad") return 2e-6;
  return 0;
}

void expect_golden(double allowed, std::span<const float> expected, std::span<const float> received) {
  if (allowed == 0) {
    EXPECT_EQ(difference(expected, received), "");
    return;
  }
  ASSERT_EQ(expected.size(), received.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(expected[i], received[i], allowed * std::max(1.0F, std::fabs(expected[i]))) << "at " << i;
  }
}

TEST_P(TableOptimizerCase, HasTheTableAndStateOfItsModelAfter1And10And100Steps) {
  const auto golden = SafetensorsFile::open(std::string(FIRSTLAYER_TEST_DATA) + "/lookup/optimizers.safetensors");
  Learning learning(GetParam());
  for (int step = 1; step <= 100; ++step) {
    learning.step();
    if (step != 1 && step != 10 && step != 100) continue;
    const std::string prefix = GetParam().name + "/" + std::to_string(step) + "/";
    SCOPED_TRACE(prefix);
    learning.optimizer.save(folder_ / "state");
    const std::string& name = GetParam().name;
    expect_golden(tolerance(name, "weight"), floats(golden, prefix + "weight"), learning.stream.table.flat());
    const auto state = SafetensorsFile::open(folder_ / "state");
    std::set<std::string> names = {prefix + "weight"};
    for (const StoredTensor& part : state.tensors()) {
      expect_golden(tolerance(name, part.name), floats(golden, prefix + part.name), floats(state, part.name));
      names.insert(prefix + part.name);
    }
    for (const StoredTensor& tensor : golden.tensors()) {
      EXPECT_TRUE(!tensor.name.starts_with(prefix) || names.contains(tensor.name)) << "no " << tensor.name;
    }
  }
}

TEST_P(TableOptimizerCase, SavedAndRestoredGoesOnToTheBit) {
  Learning learning(GetParam());
  for (int step = 0; step < 30; ++step) learning.step();
  learning.optimizer.save(folder_ / "state");

  // The same batches; the optimizer is made with other options, which are those of the file afterwards.
  Learning restored(GetParam());
  for (int step = 0; step < 30; ++step) restored.stream.next();
  std::ranges::copy(learning.stream.table.flat(), restored.stream.table.flat().begin());
  OptimizerOptions others = GetParam().options;
  std::visit([](auto& o) { o.lr = 7; }, others);
  restored.optimizer = TableOptimizer(restored.stream.table, others);
  restored.optimizer.load(folder_ / "state");
  EXPECT_EQ(restored.optimizer.steps(), 30U);
  EXPECT_EQ(restored.optimizer.learning_rate(), learning.optimizer.learning_rate());

  for (int step = 0; step < 30; ++step) {
    learning.step();
    restored.step();
  }
  learning.optimizer.save(folder_ / "a");
  restored.optimizer.save(folder_ / "b");
  EXPECT_EQ(difference(learning.stream.table.flat(), restored.stream.table.flat()), "");
  EXPECT_EQ(testing::read_file(folder_ / "a"), testing::read_file(folder_ / "b"));
}

TEST_P(TableOptimizerCase, GivesTheSameFromACompactGradientAndOnThreeThreads) {
  Learning one(GetParam());
  Learning three(GetParam());
  Learning compact(GetParam());
  RowGradient gradient;
  for (int step = 0; step < 40; ++step) {
    one.step(1);
    three.step(3);
    compact.stream.next();
    compact.optimizer.set_learning_rate(compact.rate * compact.stream.rate_factor);
    lookup_gradient(compact.stream.groups, compact.stream.dout, gradient, 1);
    if (GetParam().tied) {
      add_rows(gradient, compact.stream.dtable);
      compact.optimizer.step_dense(compact.stream.dtable, 1);
    } else {
      compact.optimizer.step(gradient, 1);
    }
  }
  one.optimizer.settle(1);
  three.optimizer.settle(3);
  compact.optimizer.settle(1);
  EXPECT_EQ(difference(one.stream.table.flat(), three.stream.table.flat()), "");
  EXPECT_EQ(difference(one.stream.table.flat(), compact.stream.table.flat()), "");
}

/// Four of the rows have a gradient in each step.
TEST_P(TableOptimizerCase, GivesTheSameFromPositionsAsFromTheirSummedGradient) {
  Learning summed(GetParam());
  Learning one(GetParam(), /*ledger=*/true);
  Learning three(GetParam());
  RowGradient gradient;
  gradient.assign(std::vector<TokenId>{0, 1, 2, 3}, OptimizerStream::kTable[1]);
  for (int step = 0; step < 40; ++step) {
    for (Learning* each : {&summed, &one, &three}) {
      each->stream.next();
      each->optimizer.set_learning_rate(each->rate * each->stream.rate_factor);
    }
    position_gradient(summed.stream.dout, gradient.rows());
    summed.optimizer.step(gradient, 1);
    one.optimizer.step_positions(one.stream.dout, 1);
    three.optimizer.step_positions(three.stream.dout, 3);
  }
  for (Learning* each : {&summed, &one, &three}) each->optimizer.settle();
  EXPECT_EQ(difference(summed.stream.table.flat(), one.stream.table.flat()), "");
  EXPECT_EQ(difference(summed.stream.table.flat(), three.stream.table.flat()), "");
  EXPECT_EQ(one.optimizer.ledger()->row(3).touched, 40U);
  EXPECT_EQ(one.optimizer.ledger()->row(4).touched, 0U);
}

TEST_P(TableOptimizerCase, PreparedRowsAreThoseOfADenseStepAtEveryMoment) {
  Learning lazy(GetParam());
  Learning settled(GetParam());
  for (int step = 0; step < 50; ++step) {
    lazy.step();
    settled.step();
    settled.optimizer.settle();
    lazy.optimizer.prepare(lazy.stream.ids);
    for (const TokenId id : lazy.stream.groups.ids()) {
      EXPECT_EQ(difference(settled.stream.table.view()[id], lazy.stream.table.view()[id]), "") << "row " << id;
    }
  }
}

/// Rows 12 and up have no gradient in the first 20 steps.
TEST_P(TableOptimizerCase, MovesRowsWithoutAGradientUnderDenseSemanticsAlone) {
  Learning learning(GetParam(), /*ledger=*/true);
  for (int step = 0; step < 20; ++step) learning.step();
  learning.optimizer.settle();
  const OptimizerStream start;
  for (std::size_t row = 0; row < OptimizerStream::kTable[0]; ++row) {
    const RowRecord record = learning.optimizer.ledger()->row(row);
    const bool changed = difference(start.table.view()[row], learning.stream.table.view()[row]) != "";
    EXPECT_EQ(changed, record.moved + record.decayed > 0) << "row " << row;
    EXPECT_EQ(record.touched > 0, GetParam().tied || row < 12) << "row " << row;
  }
}

TEST_P(TableOptimizerCase, TakesAGradientThatIsNotFiniteForZeroAndNamesItsRow) {
  Learning with_nan(GetParam());
  Learning with_zero(GetParam());
  const auto last_step = [](Learning& learning, float at_3, float at_9) {
    for (std::size_t i = 0; i < 8; ++i) learning.stream.ids.flat()[i] = static_cast<TokenId>(5 + i);
    learning.stream.groups.assign(learning.stream.ids, OptimizerStream::kTable[0]);
    learning.stream.dout.view()(0, 0, 3) = at_3;
    learning.stream.dout.view()(0, 0, 9) = at_9;
    learning.stream.dtable.view()(5, 3) = 0.0F;
    learning.stream.dtable.view()(5, 9) = 0.0F;
    learning.take_step(1);
  };
  for (Learning* each : {&with_nan, &with_zero}) {
    for (int step = 0; step < 3; ++step) each->step();
    each->stream.next();
  }
  last_step(with_zero, 0.0F, 0.0F);
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { last_step(with_nan, kNaN, HUGE_VALF); }),
      (GetParam().tied ? std::string("[TableOptimizer::step_dense]") : std::string("[TableOptimizer::step]")) +
          " expected a finite gradient, received inf or NaN for row 5, column 3; the step was taken with zeros in "
          "place of numbers that are not finite");
  for (Learning* each : {&with_nan, &with_zero}) {
    EXPECT_EQ(each->optimizer.steps(), 4U);
    for (int step = 0; step < 3; ++step) each->step();
    each->optimizer.settle();
  }
  EXPECT_EQ(difference(with_zero.stream.table.flat(), with_nan.stream.table.flat()), "");
}

INSTANTIATE_TEST_SUITE_P(Each, TableOptimizerCase, ::testing::ValuesIn(testing::optimizer_cases()),
                         [](const auto& each) { return each.param.name; });

/// A table (4, 3) of zeros and a batch (1, 2) of ids 1 and 3.
class TableOptimizerErrors : public ::testing::Test {
 protected:
  TableOptimizerErrors() {
    ids_.flat()[0] = 1;
    ids_.flat()[1] = 3;
    groups_.assign(ids_, 4);
  }

  static std::string refusal(const OptimizerOptions& options) {
    Tensor<float, 2> table({4, 3});
    return message_of<std::invalid_argument>([&] { TableOptimizer(table, options); });
  }

  testing::TemporaryFolder folder_;
  Tensor<float, 2> table_{{4, 3}};
  Tensor<TokenId, 2> ids_{{1, 2}};
  Tensor<float, 3> dout_{{1, 2, 3}};
  RowGroups groups_;
};

TEST_F(TableOptimizerErrors, NameTheOptionThatIsOutOfRange) {
  EXPECT_EQ(refusal(Sgd{.lr = -0.1}), "[SGD] expected lr to be at least 0, received -0.1");
  EXPECT_EQ(refusal(Sgd{.momentum = -0.5}), "[SGD] expected momentum to be at least 0, received -0.5");
  EXPECT_EQ(refusal(Sgd{.weight_decay = kNaN}), "[SGD] expected weight_decay to be finite in float32, received nan");
  EXPECT_EQ(refusal(Sgd{.nesterov = true}), "[SGD] expected momentum to be above 0 for Nesterov's, received 0");
  EXPECT_EQ(refusal(Sgd{.momentum = 0.9, .dampening = 0.1, .nesterov = true}),
            "[SGD] expected dampening to be 0 for Nesterov's momentum, received 0.1");
  EXPECT_EQ(refusal(Adagrad{.lr_decay = -1}), "[Adagrad] expected lr_decay to be at least 0, received -1");
  EXPECT_EQ(refusal(Adagrad{.eps = 0}),
            "[Adagrad] expected eps to be above 0 in float32 where initial_accumulator_value is 0, received 0");
  EXPECT_EQ(refusal(RowwiseAdagrad{.eps = 0}), "[RowwiseAdagrad] expected eps to be above 0 in float32, received 0");
  EXPECT_EQ(refusal(Adam{.beta1 = 1}), "[Adam] expected beta1 to be below 1, received 1");
  EXPECT_EQ(refusal(AdamW{.beta2 = -0.1}), "[AdamW] expected beta2 to be at least 0, received -0.1");
  EXPECT_EQ(refusal(AdamW{.eps = -1}), "[AdamW] expected eps to be at least 0, received -1");
  EXPECT_EQ(refusal(SparseAdam{.lr = 0}), "[SparseAdam] expected lr to be above 0, received 0");
  EXPECT_EQ(refusal(SparseAdam{.eps = 0}), "[SparseAdam] expected eps to be above 0 in float32, received 0");
  EXPECT_EQ(refusal(SparseAdamW{.lr = 1e39}), "[SparseAdamW] expected lr to be finite in float32, received 1e+39");
}

TEST_F(TableOptimizerErrors, AreThrownBeforeAnythingChanges) {
  TableOptimizer optimizer(table_, Adam{.lr = 0.1, .beta1 = 0.999999, .weight_decay = 0.1});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.set_learning_rate(-1); }),
            "[Adam] expected lr to be at least 0, received -1");
  EXPECT_EQ(optimizer.learning_rate(), 0.1);
  Tensor<float, 3> narrow({1, 2, 2});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.step(groups_, narrow); }),
            "[TableOptimizer::step] expected dout of shape (B, T, d) = (1, 2, 3), received (1, 2, 2)");
  const RowGroups others(ids_, 5);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.step(others, dout_); }),
            "[TableOptimizer] expected groups of a vocabulary of V = 4, received 5");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.prepare(others); }),
            "[TableOptimizer] expected groups of a vocabulary of V = 4, received 5");
  ids_.flat()[1] = 4;
  EXPECT_EQ(message_of<std::out_of_range>([&] { optimizer.prepare(ids_); }),
            "[RowGroups] expected ids below V = 4, received 4 at (b=0, t=1)");
  RowGradient gradient;
  const TokenId beyond = 4;
  gradient.assign({&beyond, 1}, 3);
  EXPECT_EQ(message_of<std::out_of_range>([&] { optimizer.step(gradient); }),
            "[TableOptimizer::step] expected ids below V = 4, received 4");
  Tensor<float, 3> long_dout({1, 5, 3});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.step_positions(long_dout); }),
            "[TableOptimizer::step_positions] expected dout of shape (B, T, d) with T <= V and the d of the table "
            "(V, d) = (4, 3), received (1, 5, 3)");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.step_positions(narrow); }),
            "[TableOptimizer::step_positions] expected dout of shape (B, T, d) with T <= V and the d of the table "
            "(V, d) = (4, 3), received (1, 2, 2)");
  Tensor<float, 2> tall({5, 3});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.step_dense(tall); }),
            "[TableOptimizer::step_dense] expected dtable of the table's shape (4, 3), received (5, 3)");
  optimizer.set_learning_rate(1e37);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.step(groups_, dout_); }),
            "[TableOptimizer::step] expected a learning rate whose step is finite in float32, received 1e+37");
  EXPECT_EQ(optimizer.steps(), 0U);
  Tensor<float, 2> empty({0, 3});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { TableOptimizer(empty, Sgd{}); }),
            "[TableOptimizer] expected a table (V, d) with rows, received (0, 3)");
}

TEST_F(TableOptimizerErrors, NameThePositionWhoseGradientIsNotFinite) {
  for (const OptimizerOptions& options : {OptimizerOptions(AdamW{}), OptimizerOptions(Sgd{})}) {
    TableOptimizer optimizer(table_, options);
    dout_.view()(0, 1, 2) = kNaN;
    EXPECT_EQ(message_of<std::invalid_argument>([&] { optimizer.step_positions(dout_); }),
              "[TableOptimizer::step_positions] expected a finite gradient, received inf or NaN for row 1, column 2; "
              "the step was taken with zeros in place of numbers that are not finite");
    EXPECT_EQ(optimizer.steps(), 1U);
    EXPECT_EQ(table_.view()(1, 2), 0.0F);
  }
}

TEST_F(TableOptimizerErrors, NameBothOfAStateFileAndTheOptimizer) {
  TableOptimizer optimizer(table_, Sgd{.momentum = 0.9});
  optimizer.step(groups_, dout_);
  const std::filesystem::path path = folder_ / "state";
  optimizer.save(path);
  const std::string file = path.string() + ": ";
  TableOptimizer other(table_, SparseAdam{});
  EXPECT_EQ(message_of<FormatError>([&] { other.load(path); }),
            file +
                "expected the state of SparseAdam for a table (4, 3), received that of SGD for a table (4, 3); load "
                "it into an optimizer of that kind and shape");
  Tensor<float, 2> tall({5, 3});
  TableOptimizer of_tall(tall, Sgd{.momentum = 0.9});
  EXPECT_EQ(message_of<FormatError>([&] { of_tall.load(path); }),
            file +
                "expected the state of SGD for a table (5, 3), received that of SGD for a table (4, 3); load it into "
                "an optimizer of that kind and shape");
  EXPECT_EQ(of_tall.steps(), 0U);
  EXPECT_THROW(optimizer.load(folder_ / "none"), FileError);
}

TEST_F(TableOptimizerErrors, NameWhatAStateFileLacks) {
  TableOptimizer optimizer(table_, Sgd{.momentum = 0.9});
  const std::filesystem::path path = folder_ / "state";
  const std::string file = path.string() + ": ";
  const std::map<std::string, std::string> whole = {{"optimizer", "SGD"}, {"rows", "4"},         {"dim", "3"},
                                                    {"step", "2"},        {"lr", "0.5"},         {"momentum", "0.9"},
                                                    {"dampening", "0"},   {"weight_decay", "0"}, {"nesterov", "false"}};
  const auto problem = [&](const std::map<std::string, std::string>& metadata, std::vector<std::size_t> shape) {
    SafetensorsWriter writer(path, {{"momentum_buffer", Dtype::kF32, shape}}, metadata);
    const std::vector<float> zeros(*tensor_bytes(Dtype::kF32, shape) / sizeof(float));
    writer.append(std::as_bytes(std::span<const float>(zeros)));
    writer.commit();
    return message_of<FormatError>([&] { optimizer.load(path); });
  };
  const auto with = [&](const char* key, const char* text) {
    std::map<std::string, std::string> metadata = whole;
    if (text == nullptr) {
      metadata.erase(key);
    } else {
      metadata[key] = text;
    }
    return metadata;
  };
  EXPECT_EQ(problem(with("step", nullptr), {4, 3}),
            file + "expected the metadata \"step\" of an optimizer's state, received none");
  EXPECT_EQ(problem(with("step", "two"), {4, 3}), file + "expected a count as the metadata \"step\", received \"two\"");
  EXPECT_EQ(problem(with("momentum", "much"), {4, 3}), file + "expected a value of option momentum in the metadata");
  EXPECT_EQ(problem(with("nesterov", nullptr), {4, 3}), file + "expected a value of option nesterov in the metadata");
  EXPECT_EQ(problem(with("momentum", "-1"), {4, 3}),
            file + "an option in the metadata is out of range: [SGD] expected momentum to be at least 0, received -1");
  EXPECT_EQ(problem(whole, {4, 2}), file + "expected a tensor momentum_buffer of F32 (4, 3), received F32 (4, 2)");
  SafetensorsWriter(path, {}, whole).commit();
  EXPECT_EQ(message_of<FormatError>([&] { optimizer.load(path); }),
            file + "expected a tensor momentum_buffer of F32 (4, 3), received none");
  EXPECT_EQ(optimizer.steps(), 0U);
}

// Without momentum there is no buffer: what the state consists of is said by the file's options.
TEST_F(TableOptimizerErrors, AreNotThrownForAStateOfOtherParts) {
  TableOptimizer plain(table_, Sgd{});
  plain.step(groups_, dout_);
  plain.save(folder_ / "state");
  TableOptimizer optimizer(table_, Sgd{.momentum = 0.9});
  optimizer.load(folder_ / "state");
  EXPECT_EQ(std::get<Sgd>(optimizer.options()).momentum, 0);
  optimizer.step(groups_, dout_);
  EXPECT_EQ(optimizer.steps(), 2U);
}

}  // namespace
}  // namespace firstlayer
