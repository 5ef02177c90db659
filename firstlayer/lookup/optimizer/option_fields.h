#pragma once
// The options of an optimizer by name: checked, and as the text that state files hold. Internal to the library.

#include <map>
#include <string>
#include <string_view>

#include "firstlayer/lookup/optimizer/options.h"

namespace firstlayer {

/// "SGD", "Adagrad", "RowwiseAdagrad", "Adam", "AdamW", "SparseAdam" or "SparseAdamW".
std::string_view optimizer_name(const OptimizerOptions& options);

/// Throws std::invalid_argument unless PyTorch would take these options and no step has to divide zero by zero:
///   [SGD] expected momentum to be at least 0, received -0.5
void check_options(const OptimizerOptions& options);

/// {"lr": "0.001", "momentum": "0.9", …}: numbers in full, so that they come back to the bit.
std::map<std::string, std::string> option_texts(const OptimizerOptions& options);

/// Sets the options that `texts` has; the other way round. The key whose text is not a number, or is not there; "" if
/// all went well.
std::string read_option_texts(const std::map<std::string, std::string>& texts, OptimizerOptions& options);

/// The shortest text that reads back as the same number.
std::string number_text(double value);

double learning_rate_of(const OptimizerOptions& options);
void set_learning_rate_of(OptimizerOptions& options, double lr);

}  // namespace firstlayer
