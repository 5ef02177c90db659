#pragma once
// GPT-2's network for one text that grows: what earlier ids left in attention is kept, so that each new id is computed
// once (a key-value cache).

#include <cstddef>
#include <memory>
#include <span>

#include "firstlayer/base/token_id.h"
#include "firstlayer/train/network/gpt_parameters.h"

namespace firstlayer {

struct GptDecoderOptions {
  unsigned threads = 0;  ///< 0: all. The bits do not depend on it.
  /// Matrices and the token table are copied and rounded to bfloat16, to the nearest; sums are float32. Half the bytes
  /// are read for each id, and the parameters may go once the decoder is there.
  bool bf16 = false;
};

class GptDecoder {
 public:
  /// Works on `parameters`, which outlive this and do not move meanwhile, unless options.bf16 copies them. The cache
  /// takes 8 * layers * context * d bytes, touched as the text grows.
  explicit GptDecoder(const GptParameters& parameters, const GptDecoderOptions& options = {});
  ~GptDecoder();

  const GptConfig& config() const;

  /// Ids appended so far, at most the context.
  std::size_t length() const;

  /// The text goes on with these ids, from one to all that fit. Throws std::out_of_range naming an id that is not below
  /// V and its place, or the length and the context; std::invalid_argument for none. Nothing is appended then.
  void append(std::span<const TokenId> ids);

  /// (V,) of the token after the last id: those of GptNetwork for all ids so far, within 1e-5, where with bf16 its
  /// parameters are rounded, too. Valid until the next
  /// call. Throws std::invalid_argument before the first append().
  std::span<const float> logits();

  /// An empty text again.
  void clear();

 private:
  class Work;

  std::unique_ptr<Work> work_;
};

}  // namespace firstlayer
