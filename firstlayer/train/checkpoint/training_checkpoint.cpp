#include "firstlayer/train/checkpoint/training_checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "firstlayer/base/atomic_file.h"
#include "firstlayer/base/errors.h"
#include "firstlayer/base/utf8.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/train/checkpoint/atomic_folder.h"
#include "firstlayer/train/checkpoint/content_hash.h"
#include "firstlayer/train/checkpoint/gpt_config_json.h"
#include "firstlayer/train/checkpoint/gpt_tensors.h"
#include "firstlayer/train/checkpoint/json_fields.h"

namespace firstlayer {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kFormat = "firstlayer training checkpoint";
constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kMoments = "optimizer.safetensors";
constexpr const char* kHistory = "history.safetensors";
constexpr const char* kTraining = "training.json";
constexpr std::string_view kStep = "step-";
constexpr std::string_view kFirst = ".exp_avg";
constexpr std::string_view kSecond = ".exp_avg_sq";
constexpr const char* kLosses = "losses";
constexpr const char* kHeldOutLoss = "held_out_loss";
constexpr const char* kHeldOutStep = "held_out_step";
constexpr std::string_view kGetAgain = "; take an older checkpoint";

/// The step in "step-00000100".
std::optional<std::uint64_t> step_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kStep) || name.size() == kStep.size()) return std::nullopt;
  std::uint64_t step = 0;
  const auto result = std::from_chars(name.data() + kStep.size(), name.data() + name.size(), step);
  if (result.ec != std::errc() || result.ptr != name.data() + name.size()) return std::nullopt;
  return step;
}

/// The moments of every tensor, under its name with PyTorch's behind it; their content_hash.
std::uint64_t write_moments(const fs::path& path, const GptAdamW& optimizer) {
  const GptLayout& layout = optimizer.parameters().layout();
  std::vector<TensorSpec> specs;
  for (const GptTensor& tensor : layout.tensors()) {
    for (const std::string_view moment : {kFirst, kSecond}) {
      specs.push_back({std::string(tensor.name).append(moment), Dtype::kF32, tensor.shape});
    }
  }
  SafetensorsWriter writer(path, std::move(specs));
  ContentHash hash;
  for (const TensorSpec& spec : writer.tensors()) {
    const bool second = spec.name.ends_with(kSecond);
    const std::string name = spec.name.substr(0, spec.name.size() - (second ? kSecond : kFirst).size());
    const auto numbers =
        std::as_bytes((second ? optimizer.second_moments() : optimizer.first_moments())[*layout.find(name)]);
    hash.add(numbers);
    writer.append(numbers);
  }
  writer.commit();
  return hash.value();
}

/// losses (n,), held_out_loss (m,) of float64 and held_out_step (m,) of 64-bit integers; their content_hash.
std::uint64_t write_history(const fs::path& path, const TrainingHistory& history) {
  std::vector<double> held_out;
  std::vector<std::uint64_t> steps;
  for (const HeldOutLoss& at : history.held_out) {
    held_out.push_back(at.loss);
    steps.push_back(at.step);
  }
  SafetensorsWriter writer(path, {{kLosses, Dtype::kF64, {history.losses.size()}},
                                  {kHeldOutLoss, Dtype::kF64, {held_out.size()}},
                                  {kHeldOutStep, Dtype::kU64, {steps.size()}}});
  ContentHash hash;
  for (const TensorSpec& spec : writer.tensors()) {
    const auto numbers = spec.name == kLosses        ? std::as_bytes(std::span(history.losses))
                         : spec.name == kHeldOutLoss ? std::as_bytes(std::span(held_out))
                                                     : std::as_bytes(std::span(steps));
    if (numbers.empty()) continue;  // it has no turn
    hash.add(numbers);
    writer.append(numbers);
  }
  writer.commit();
  return hash.value();
}

Json optimizer_json(const AdamW& options) {
  return {{"name", "adamw"},        {"lr", options.lr},   {"beta1", options.beta1},
          {"beta2", options.beta2}, {"eps", options.eps}, {"weight_decay", options.weight_decay}};
}

Json state_json(const TrainingState& state) {
  Json json = {{"seed", state.seed}, {"notes", Json::object()}};
  for (const auto& [name, text] : state.notes) {
    if (!is_valid_utf8(name) || !is_valid_utf8(text)) {
      throw_invalid("save_training", "notes in UTF-8", in_quotes(is_valid_utf8(name) ? text : name));
    }
    json["notes"][name] = text;
  }
  return json;
}

TrainingState read_state(const JsonFields& fields) {
  TrainingState state{.seed = fields.need_whole("seed")};
  const JsonFields notes = fields.need_object("notes");
  for (const std::string& name : notes.names()) state.notes[name] = notes.need_text(name);
  return state;
}

AdamW read_options(const JsonFields& fields) {
  if (fields.need_text("name") != "adamw") fields.refuse("name", "\"adamw\"");
  return {fields.need_number("lr"), fields.need_number("beta1"), fields.need_number("beta2"), fields.need_number("eps"),
          fields.need_number("weight_decay")};
}

fs::path newest(const fs::path& path) {
  if (fs::exists(path / kTraining) || step_of(path)) return path;
  const std::vector<fs::path> all = training_checkpoints(path);
  if (all.empty())
    throw FileError(path, "expected a training checkpoint, or a folder with step-… in it, received none");
  return all.back();
}

/// Opens a file of tensors whose content must have that hash.
SafetensorsFile open_whole(const fs::path& path, std::uint64_t hash) {
  SafetensorsFile file = SafetensorsFile::open(path);
  ContentHash content;
  for (const StoredTensor& tensor : file.tensors()) content.add(tensor.bytes);
  if (content.value() != hash) {
    throw FormatError(
        path, "expected the numbers that were written, received others: the file is damaged" + std::string(kGetAgain));
  }
  return file;
}

/// The tensor of that name, shape and float32.
const StoredTensor& need(const SafetensorsFile& file, const std::string& name, const std::vector<std::size_t>& shape) {
  const StoredTensor* stored = file.find(name);
  if (stored != nullptr && stored->dtype == Dtype::kF32 && stored->shape == shape) return *stored;
  throw FormatError(file.path(), "expected a tensor " + name + " of F32 " + shape_text(shape) + ", received " +
                                     (stored == nullptr ? "none" : shape_text(stored->shape)));
}

/// A list of numbers.
template <class T>
std::vector<T> read_list(const SafetensorsFile& file, const char* name) {
  const StoredTensor* stored = file.find(name);
  if (stored == nullptr || stored->dtype != kDtypeOf<T> || stored->shape.size() != 1) {
    throw FormatError(file.path(), "expected a list " + std::string(name) + " of " +
                                       std::string(dtype_name(kDtypeOf<T>)) + ", received " +
                                       (stored == nullptr ? "none" : shape_text(stored->shape)));
  }
  std::vector<T> list(stored->shape.front());
  if (!list.empty()) std::memcpy(list.data(), stored->bytes.data(), stored->bytes.size());
  return list;
}

TrainingHistory read_history(const SafetensorsFile& file) {
  TrainingHistory history{.losses = read_list<double>(file, kLosses)};
  const std::vector<double> losses = read_list<double>(file, kHeldOutLoss);
  const std::vector<std::uint64_t> steps = read_list<std::uint64_t>(file, kHeldOutStep);
  if (losses.size() != steps.size()) {
    throw FormatError(file.path(), "expected a held-out loss for each of " + std::to_string(steps.size()) +
                                       " steps, received " + std::to_string(losses.size()));
  }
  for (std::size_t i = 0; i < steps.size(); ++i) history.held_out.push_back({steps[i], losses[i]});
  return history;
}

/// A run that goes back to an older checkpoint writes to another root: here the next reader would take the later one.
void check_none_beyond(const fs::path& root, std::uint64_t step) {
  const std::vector<fs::path> all = training_checkpoints(root);
  if (all.empty() || *step_of(all.back()) <= step) return;
  throw_invalid("save_training", "no checkpoint beyond step " + std::to_string(step),
                all.back().string() + "; remove it or choose another root");
}

/// Every tensor of `to`, with `moment` behind its name.
void copy_all(const SafetensorsFile& file, std::string_view moment, GptParameters& to) {
  for (std::size_t i = 0; i < to.layout().tensors().size(); ++i) {
    const GptTensor& tensor = to.layout().tensors()[i];
    const StoredTensor& stored = need(file, std::string(tensor.name).append(moment), tensor.shape);
    std::memcpy(to[i].data(), stored.bytes.data(), stored.bytes.size());
  }
}

}  // namespace

fs::path save_training(const fs::path& root, const GptAdamW& optimizer, const TrainingState& state,
                       std::size_t keep_last) {
  std::error_code error;
  fs::create_directories(root, error);
  if (error) throw_file_error(root, "make the folder", error.value());
  check_none_beyond(root, optimizer.steps());
  AtomicFolder::remove_abandoned(root);

  char name[32];
  std::snprintf(name, sizeof(name), "step-%08llu", static_cast<unsigned long long>(optimizer.steps()));
  AtomicFolder folder(root / name);
  Json json = {{"format", kFormat}, {"version", kVersion}, {"step", optimizer.steps()}};
  json["optimizer"] = optimizer_json(optimizer.options());
  json["frozen"] = optimizer.frozen();
  json["state"] = state_json(state);
  write_whole(folder.path() / kConfig, gpt_config_json(optimizer.parameters().config()));
  const std::pair<const char*, std::uint64_t> hashes[] = {
      {kWeights, write_gpt_tensors(folder.path() / kWeights, optimizer.parameters(), {{"format", "pt"}})},
      {kMoments, write_moments(folder.path() / kMoments, optimizer)},
      {kHistory, write_history(folder.path() / kHistory, state.history)}};
  for (const auto& [file, hash] : hashes) {
    json["files"][file] = {{"bytes", fs::file_size(folder.path() / file)}, {"hash", hash}};
  }
  write_whole(folder.path() / kTraining, json.dump(2) + "\n");
  folder.commit();

  const std::vector<fs::path> all = training_checkpoints(root);
  if (keep_last > 0 && all.size() > keep_last) {
    for (const fs::path& old : std::span(all).first(all.size() - keep_last)) AtomicFolder::remove(old);
  }
  return root / name;
}

std::vector<fs::path> training_checkpoints(const fs::path& root) {
  std::vector<fs::path> all;
  if (!fs::is_directory(root)) return all;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (step_of(entry.path()) && entry.is_directory()) all.push_back(entry.path());
  }
  std::ranges::sort(all, {}, [](const fs::path& path) { return *step_of(path); });
  return all;
}

TrainingCheckpoint::TrainingCheckpoint(const fs::path& path) : path_(newest(path)) {
  const fs::path training = path_ / kTraining;
  const JsonFields fields(read_text_file(training), training);
  if (fields.need_text("format") != kFormat) fields.refuse("format", "\"" + std::string(kFormat) + "\"");
  if (fields.need_whole("version") != kVersion) {
    fields.refuse("version", std::to_string(kVersion), "it was written by another version of firstlayer");
  }
  step_ = fields.need_whole("step");
  options_ = read_options(fields.need_object("optimizer"));
  state_ = read_state(fields.need_object("state"));
  frozen_ = fields.need_texts("frozen");
  config_ = parse_gpt_config(read_text_file(path_ / kConfig), path_ / kConfig);
  const JsonFields files = fields.need_object("files");
  for (const char* name : {kWeights, kMoments, kHistory}) {
    const JsonFields file = files.need_object(name);
    files_[name] = {file.need_whole("bytes"), file.need_whole("hash")};
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path_ / name, error);
    if (error) throw_file_error(path_ / name, "read", error.value());
    if (bytes != files_[name].bytes) {
      throw FormatError(path_ / name, "expected " + std::to_string(files_[name].bytes) + " bytes, received " +
                                          std::to_string(bytes) + std::string(kGetAgain));
    }
  }
  state_.history = read_history(open_whole(path_ / kHistory, files_[kHistory].hash));
}

void TrainingCheckpoint::check_target(const GptParameters& parameters, const GptAdamW& optimizer) const {
  if (&optimizer.parameters() != &parameters) {
    throw_invalid("TrainingCheckpoint::restore", "the optimizer of these parameters", "another");
  }
  const std::string difference = config_difference(config_, parameters.config());
  if (!difference.empty())
    throw FormatError(path_, "expected a network of its configuration, received another: " + difference);
  const AdamW& here = optimizer.options();
  if (here.beta1 != options_.beta1 || here.beta2 != options_.beta2 || here.eps != options_.eps ||
      here.weight_decay != options_.weight_decay) {
    throw FormatError(path_, "expected an optimizer with the options " + optimizer_json(options_).dump() +
                                 ", received one with " + optimizer_json(here).dump());
  }
  if (optimizer.frozen() != frozen_) {
    throw FormatError(path_, "expected an optimizer with the frozen tensors " + Json(frozen_).dump() +
                                 ", received one with " + Json(optimizer.frozen()).dump());
  }
}

void TrainingCheckpoint::restore(GptParameters& parameters, GptAdamW& optimizer) const {
  check_target(parameters, optimizer);
  const SafetensorsFile weights = open_whole(path_ / kWeights, files_.at(kWeights).hash);
  const SafetensorsFile moments = open_whole(path_ / kMoments, files_.at(kMoments).hash);
  for (const GptTensor& tensor : parameters.layout().tensors()) {
    need(weights, tensor.name, tensor.shape);
    for (const std::string_view moment : {kFirst, kSecond}) {
      need(moments, std::string(tensor.name).append(moment), tensor.shape);
    }
  }
  optimizer.set_learning_rate(options_.lr);
  copy_all(weights, "", parameters);
  copy_all(moments, kFirst, optimizer.mutable_first_moments());
  copy_all(moments, kSecond, optimizer.mutable_second_moments());
  optimizer.set_steps(step_);
}

}  // namespace firstlayer
