#include "firstlayer/lookup/optimizer/input_trainer.h"

#include <numeric>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/lookup/check_lookup.h"

namespace firstlayer {
namespace {

constexpr std::string_view kModel = "model.safetensors";
constexpr std::string_view kTokenState = "wte.optimizer.safetensors";
constexpr std::string_view kPositionState = "wpe.optimizer.safetensors";

void save_tables(const std::filesystem::path& path, const InputEmbedding& embedding) {
  struct Named {
    std::string_view name;
    const Tensor<float, 2>& table;
  };
  std::vector<Named> tables = {{"wte.weight", embedding.token_table()}};
  if (embedding.has_positions()) tables.push_back({"wpe.weight", embedding.position_table()});
  std::vector<TensorSpec> specs;
  specs.reserve(tables.size());
  for (const Named& each : tables) {
    specs.push_back({std::string(each.name), Dtype::kF32, {each.table.dim(0), each.table.dim(1)}});
  }
  SafetensorsWriter writer(path, specs);
  for (const TensorSpec& spec : writer.tensors()) {
    for (const Named& each : tables) {
      if (each.name == spec.name) writer.append(std::as_bytes(each.table.flat()));
    }
  }
  writer.commit();
}

InputEmbedding load_tables(const std::filesystem::path& path) {
  const SafetensorsFile file = SafetensorsFile::open(path);
  const StoredTensor* tokens = file.find("wte.weight");
  if (tokens != nullptr && file.find("wpe.weight") == nullptr) return InputEmbedding(file.read_matrix(*tokens));
  return InputEmbedding::load_gpt2(path);
}

/// Takes the steps of both tables, whatever the first of them says of its gradient, so that they stay together.
template <class TokenStep, class PositionStep>
void step_both(const TokenStep& step_tokens, const PositionStep& step_positions) {
  std::optional<NonFiniteGradient> first;
  const auto take = [&](const char* table, const auto& step) {
    try {
      step();
    } catch (const NonFiniteGradient& error) {
      if (!first) first.emplace(std::string(table).append(": ").append(error.what()), error.row(), error.column());
    }
  };
  take("wte", step_tokens);
  take("wpe", step_positions);
  if (first) throw NonFiniteGradient(*first);
}

}  // namespace

InputTrainer::InputTrainer(InputEmbedding embedding, const InputTrainerOptions& options)
    : embedding_(std::move(embedding)) {
  if (!options.tokens && !options.positions) {
    throw_invalid("InputTrainer", "an optimizer for a table", "none");
  }
  if (options.positions && !embedding_.has_positions()) {
    throw_invalid("InputTrainer", "no optimizer for positions, since there is no position table", "one");
  }
  if (options.tokens) tokens_.emplace(embedding_.mutable_token_table(), *options.tokens, options.ledger);
  if (options.positions) positions_.emplace(embedding_.mutable_position_table(), *options.positions);
}

InputTrainer InputTrainer::load(const std::filesystem::path& folder, const InputTrainerOptions& options) {
  InputTrainer trainer(load_tables(folder / kModel), options);
  if (trainer.tokens_) trainer.tokens_->load(folder / kTokenState);
  if (trainer.positions_) trainer.positions_->load(folder / kPositionState);
  return trainer;
}

void InputTrainer::save(const std::filesystem::path& folder, unsigned threads) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw_file_error(folder, "make the folder", error.value());
  save_tables(folder / kModel, embedding(threads));
  if (tokens_) tokens_->save(folder / kTokenState, threads);
  if (positions_) positions_->save(folder / kPositionState, threads);
}

const InputEmbedding& InputTrainer::embedding(unsigned threads) {
  if (tokens_) tokens_->settle(threads);
  if (positions_) positions_->settle(threads);
  return embedding_;
}

void InputTrainer::set_learning_rate(double lr) {
  // The rate of the first is put back if the second refuses it.
  const double before = tokens_ ? tokens_->learning_rate() : 0;
  if (tokens_) tokens_->set_learning_rate(lr);
  try {
    if (positions_) positions_->set_learning_rate(lr);
  } catch (...) {
    if (tokens_) tokens_->set_learning_rate(before);
    throw;
  }
}

void InputTrainer::forward(IdView ids, View<float, 3> out, unsigned threads) {
  stage_ = Stage::kIdle;
  if (tokens_) {
    groups_.assign(ids, embedding_.sizes().vocabulary);
    tokens_->prepare(groups_, threads);
  }
  if (positions_) {
    places_.resize(std::min(ids.dim(1), embedding_.sizes().context));
    std::iota(places_.begin(), places_.end(), TokenId{0});
    positions_->prepare(IdView(places_, {1, places_.size()}), threads);
  }
  embedding_.forward(ids, out, threads);
  batch_ = ids.shape();
  stage_ = Stage::kForward;
}

void InputTrainer::backward_step(View<const float, 3> dout, unsigned threads) {
  expect_stage("InputTrainer::backward_step", Stage::kForward, "forward()");
  check_dout("InputTrainer::backward_step", batch_, embedding_.sizes().dim, dout);
  stage_ = Stage::kIdle;
  step_both(
      [&] {
        if (tokens_) tokens_->step(groups_, dout, threads);
      },
      [&] {
        if (positions_) positions_->step_positions(dout, threads);
      });
}

void InputTrainer::backward(View<const float, 3> dout, unsigned threads) {
  expect_stage("InputTrainer::backward", Stage::kForward, "forward()");
  check_dout("InputTrainer::backward", batch_, embedding_.sizes().dim, dout);
  if (tokens_) lookup_gradient(groups_, dout, dtokens_, threads);
  if (positions_) {
    dpositions_.assign(places_, embedding_.sizes().dim);
    position_gradient(dout, dpositions_.rows(), threads);
  }
  stage_ = Stage::kBackward;
}

std::vector<NamedGradient> InputTrainer::gradients() {
  expect_stage("InputTrainer::gradients", Stage::kBackward, "backward()");
  std::vector<NamedGradient> gradients;
  if (tokens_) gradients.push_back({"wte", dtokens_.rows().flat()});
  if (positions_) gradients.push_back({"wpe", dpositions_.rows().flat()});
  return gradients;
}

void InputTrainer::step(unsigned threads) {
  expect_stage("InputTrainer::step", Stage::kBackward, "backward()");
  stage_ = Stage::kIdle;
  step_both(
      [&] {
        if (tokens_) tokens_->step(dtokens_, threads);
      },
      [&] {
        if (positions_) positions_->step(dpositions_, threads);
      });
}

void InputTrainer::expect_stage(std::string_view where, Stage stage, std::string_view call) const {
  if (stage_ != stage) throw_invalid(where, std::string("a ").append(call).append(" since the last step"), "none");
}

}  // namespace firstlayer
