#pragma once
// What embed shows: every arrow of the pipeline with its shape and first values, then the first windows.

#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/input_layer.h"
#include "cli/text_input.h"
#include "cli/window_reader.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/tokenizer.h"

namespace firstlayer::cli {

/// The pipeline's results so far as they are shown.
struct EmbedSample {
  TextSize text;
  std::vector<TokenId> first_ids;
  Tensor<TokenId, 2> inputs;          ///< (n, T), the first windows of the first batch
  Tensor<TokenId, 2> targets;         ///< (n, T)
  Tensor<float, 3> input_embeddings;  ///< (n, T, d)
};

/// Reads and computes at most a handful of windows.
EmbedSample take_sample(const TextSize& text, const IdSpool& ids, WindowReader& windows, const InputLayer& layer,
                        unsigned threads);

void print_report(const EmbedSample& sample, const WindowReader& windows, const InputLayer& layer,
                  const Tokenizer& tokenizer, const std::optional<std::string>& output, Console& console);

void print_json_report(const EmbedSample& sample, const WindowReader& windows, const InputLayer& layer,
                       const std::optional<std::string>& output, Console& console);

}  // namespace firstlayer::cli
