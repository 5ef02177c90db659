#include "firstlayer/train/generate/generate.h"

#include <algorithm>
#include <string>
#include <vector>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

std::span<const TokenId> last_of(std::span<const TokenId> ids, std::size_t count) {
  return ids.last(std::min(ids.size(), count));
}

}  // namespace

GenerateEnd generate(GptDecoder& decoder, std::span<const TokenId> prompt, const GenerateOptions& options,
                     const std::function<bool(TokenId)>& take) {
  const std::size_t context = decoder.config().context;
  const bool slides = options.at_context_end == ContextEnd::kSlide;
  Sampler sampler(options.sampler, options.seed);
  if (options.vocabulary > decoder.config().vocabulary) {
    throw_invalid("generate", "a vocabulary of at most V = " + std::to_string(decoder.config().vocabulary),
                  std::to_string(options.vocabulary));
  }
  if (prompt.empty()) throw_invalid("generate", "a prompt of at least one id", "an empty one");
  if (!slides && prompt.size() > context) {
    throw_out_of_range("generate", "a prompt of at most context = " + std::to_string(context) + " ids",
                       std::to_string(prompt.size()));
  }
  const std::size_t vocabulary = options.vocabulary == 0 ? decoder.config().vocabulary : options.vocabulary;
  std::vector<TokenId> text(prompt.begin(), prompt.end());
  decoder.clear();
  decoder.append(last_of(text, context));
  for (std::size_t produced = 0; produced < options.tokens; ++produced) {
    if (decoder.length() == 0) decoder.append(last_of(text, std::max<std::size_t>(1, context / 2)));
    const TokenId next = sampler.sample(decoder.logits().first(vocabulary));
    if (next == options.stop) return GenerateEnd::kStop;
    text.push_back(next);
    if (!take(next)) return GenerateEnd::kTaker;
    if (produced + 1 == options.tokens) break;
    if (decoder.length() < context) {
      decoder.append({&next, 1});
    } else if (slides) {
      decoder.clear();
    } else {
      return GenerateEnd::kContext;
    }
  }
  return GenerateEnd::kTokens;
}

}  // namespace firstlayer
