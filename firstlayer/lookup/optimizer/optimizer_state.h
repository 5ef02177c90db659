#pragma once
// An optimizer's state as a safetensors file. Internal to the library; TableOptimizer::save() and load() are its users.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "firstlayer/base/tensor.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/lookup/optimizer/row_optimizer.h"

namespace firstlayer {

/// Writes the state of a table (V, d) after `steps` steps. Throws FileError.
void save_optimizer_state(const std::filesystem::path& path, const OptimizerOptions& options, const Shape<2>& table,
                          std::uint64_t steps, const std::vector<StateRows>& state);

/// A file that save_optimizer_state() wrote.
class OptimizerStateFile {
 public:
  /// Opens it and reads what it is of. Throws FileError; FormatError unless that is the optimizer that `expected` are
  /// options of, and a table of that shape.
  OptimizerStateFile(const std::filesystem::path& path, const OptimizerOptions& expected, const Shape<2>& table);

  const OptimizerOptions& options() const noexcept { return options_; }
  std::uint64_t steps() const noexcept { return steps_; }
  /// Copies all parts. Throws FormatError, and nothing is written, if one is missing or of another type or shape.
  void copy_to(const std::vector<StateRows>& state) const;

 private:
  const std::string& metadata(const std::string& key) const;
  /// Throws FormatError unless the file has this part.
  void check_part(const StateRows& part) const;
  std::uint64_t read_count(const std::string& key) const;

  SafetensorsFile file_;
  std::size_t rows_;
  OptimizerOptions options_;
  std::uint64_t steps_ = 0;
};

}  // namespace firstlayer
