#pragma once
// Text that a network writes: the ids that follow a prompt, one after the other.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "firstlayer/base/token_id.h"
#include "firstlayer/train/generate/gpt_decoder.h"
#include "firstlayer/train/generate/sampler.h"

namespace firstlayer {

/// What happens when prompt and ids together have filled the context.
enum class ContextEnd {
  kStop,   ///< the text ends there
  kSlide,  ///< the network reads the last half of a context anew, as a text that begins there, and goes on
};

struct GenerateOptions {
  std::size_t tokens = 128;  ///< ids at most
  SamplerOptions sampler = {};
  std::uint64_t seed = 0;
  std::optional<TokenId> stop = {};  ///< an id that ends the text and is not part of it: <|endoftext|>
  std::size_t vocabulary = 0;        ///< only ids below this are taken; 0: all of the network's
  ContextEnd at_context_end = ContextEnd::kStop;
};

enum class GenerateEnd {
  kTokens,   ///< as many as were asked for
  kStop,     ///< the stop id came
  kContext,  ///< the context is full
  kTaker,    ///< take() wanted no more
};

/// Calls take(id) with each id that follows `prompt`, until it returns false. The decoder's text is cleared first. With
/// kSlide a prompt may be longer than the context, and its last ids are read. Throws std::invalid_argument for an empty
/// prompt or options out of range; std::out_of_range naming the prompt's length and the context, or an id that the
/// network does not have.
GenerateEnd generate(GptDecoder& decoder, std::span<const TokenId> prompt, const GenerateOptions& options,
                     const std::function<bool(TokenId)>& take);

}  // namespace firstlayer
