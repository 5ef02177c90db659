#include "firstlayer/lookup/optimizer/option_fields.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

/// use(name, field) for every field of the options.
template <class Use>
void for_fields(Sgd& o, const Use& use) {
  use("lr", o.lr);
  use("momentum", o.momentum);
  use("dampening", o.dampening);
  use("weight_decay", o.weight_decay);
  use("nesterov", o.nesterov);
}

template <class Use>
void for_fields(Adagrad& o, const Use& use) {
  use("lr", o.lr);
  use("lr_decay", o.lr_decay);
  use("weight_decay", o.weight_decay);
  use("initial_accumulator_value", o.initial_accumulator_value);
  use("eps", o.eps);
}

template <class Use>
void for_fields(RowwiseAdagrad& o, const Use& use) {
  use("lr", o.lr);
  use("eps", o.eps);
}

template <class AdamLike, class Use>
void for_fields(AdamLike& o, const Use& use) {
  use("lr", o.lr);
  use("beta1", o.beta1);
  use("beta2", o.beta2);
  use("eps", o.eps);
  if constexpr (requires { o.weight_decay; }) use("weight_decay", o.weight_decay);
}

std::string text_of(double value) { return number_text(value); }
std::string text_of(bool value) { return value ? "true" : "false"; }

bool read_text(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
bool read_text(const std::string& text, bool& value) {
  value = text == "true";
  return value || text == "false";
}

class Checker {
 public:
  explicit Checker(std::string_view where) : where_(where) {}

  void operator()(std::string_view, bool) const {}
  void operator()(std::string_view name, double value) const {
    // What is used in a step is the float.
    if (!std::isfinite(static_cast<float>(value))) refuse(name, "finite in float32", value);
    if (name == "dampening") return;  // any, as in PyTorch
    if (value < 0) refuse(name, "at least 0", value);
    if ((name == "beta1" || name == "beta2") && value >= 1) refuse(name, "below 1", value);
  }

  void refuse(std::string_view name, std::string_view range, double value) const {
    throw_invalid(where_, std::string(name).append(" to be ").append(range), text_of(value));
  }

 private:
  std::string_view where_;
};

}  // namespace

std::string_view optimizer_name(const OptimizerOptions& options) {
  struct Name {
    std::string_view operator()(const Sgd&) { return "SGD"; }
    std::string_view operator()(const Adagrad&) { return "Adagrad"; }
    std::string_view operator()(const RowwiseAdagrad&) { return "RowwiseAdagrad"; }
    std::string_view operator()(const Adam&) { return "Adam"; }
    std::string_view operator()(const AdamW&) { return "AdamW"; }
    std::string_view operator()(const SparseAdam&) { return "SparseAdam"; }
    std::string_view operator()(const SparseAdamW&) { return "SparseAdamW"; }
  };
  return std::visit(Name{}, options);
}

void check_options(const OptimizerOptions& options) {
  const std::string_view where = optimizer_name(options);
  const Checker check(where);
  OptimizerOptions copy = options;
  std::visit([&](auto& o) { for_fields(o, check); }, copy);

  if (const auto* sgd = std::get_if<Sgd>(&options); sgd != nullptr && sgd->nesterov) {
    if (sgd->momentum == 0) check.refuse("momentum", "above 0 for Nesterov's", sgd->momentum);
    if (sgd->dampening != 0) check.refuse("dampening", "0 for Nesterov's momentum", sgd->dampening);
  }
  if (const auto* adam = std::get_if<SparseAdam>(&options); adam != nullptr) {
    if (adam->lr == 0) check.refuse("lr", "above 0", adam->lr);
    if (static_cast<float>(adam->eps) == 0) check.refuse("eps", "above 0 in float32", adam->eps);
  }
  // A zero gradient would give 0 / (sqrt(0) + 0), in PyTorch even for rows that are not used.
  if (const auto* adagrad = std::get_if<Adagrad>(&options); adagrad != nullptr) {
    if (static_cast<float>(adagrad->eps) == 0 && static_cast<float>(adagrad->initial_accumulator_value) == 0) {
      check.refuse("eps", "above 0 in float32 where initial_accumulator_value is 0", adagrad->eps);
    }
  }
  if (const auto* adagrad = std::get_if<RowwiseAdagrad>(&options); adagrad != nullptr) {
    if (static_cast<float>(adagrad->eps) == 0) check.refuse("eps", "above 0 in float32", adagrad->eps);
  }
}

std::map<std::string, std::string> option_texts(const OptimizerOptions& options) {
  std::map<std::string, std::string> texts;
  OptimizerOptions copy = options;
  const auto write = [&](const char* name, const auto& field) { texts[name] = text_of(field); };
  std::visit([&](auto& o) { for_fields(o, write); }, copy);
  return texts;
}

std::string read_option_texts(const std::map<std::string, std::string>& texts, OptimizerOptions& options) {
  std::string wrong;
  const auto read = [&](const char* name, auto& field) {
    const auto found = texts.find(name);
    if (wrong.empty() && (found == texts.end() || !read_text(found->second, field))) wrong = name;
  };
  std::visit([&](auto& o) { for_fields(o, read); }, options);
  return wrong;
}

std::string number_text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

double learning_rate_of(const OptimizerOptions& options) {
  return std::visit([](const auto& o) { return o.lr; }, options);
}

void set_learning_rate_of(OptimizerOptions& options, double lr) {
  std::visit([&](auto& o) { o.lr = lr; }, options);
}

}  // namespace firstlayer
