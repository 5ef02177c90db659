// Encoding any bytes: the fast path gives the ids of the reference, decoding gives the bytes back, and a text that
// arrives in two parts has the ids of the whole.

#include <string>
#include <string_view>
#include <vector>

#include "firstlayer/encode/encodings.h"
#include "firstlayer/encode/reference.h"
#include "firstlayer/encode/stream_encoder.h"
#include "firstlayer/encode/tokenizer.h"
#include "fuzz/fuzz.h"

namespace firstlayer {
namespace {

using fuzzing::require;

constexpr std::size_t kReferenceBytes = 2000;  // the reference is quadratic in a piece

void check(const Tokenizer& tokenizer, std::string_view text, std::size_t cut) {
  std::vector<TokenId> ids = tokenizer.encode_ordinary(text);
  require(tokenizer.decode(ids) == text, "decode(encode_ordinary(text)) is the text");
  if (text.size() <= kReferenceBytes) {
    require(ids == encode_reference(Vocabulary(encodings()[0].image), text), "the fast path is the reference");
  }

  SpecialRules rules{.allow_all = true, .allowed = {}, .others_are_text = false};
  std::vector<TokenId> whole = tokenizer.encode(text, rules);
  require(tokenizer.decode(whole) == text, "decode(encode(text)) is the text");
  StreamEncoder encoder(tokenizer, rules);
  std::vector<TokenId> in_parts;
  encoder.append(text.substr(0, cut), in_parts);
  encoder.append(text.substr(cut), in_parts);
  encoder.finish(in_parts);
  require(in_parts == whole, "a text in parts has the ids of the whole");
}

}  // namespace
}  // namespace firstlayer

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const firstlayer::Tokenizer tokenizer = firstlayer::Tokenizer::get_encoding("gpt2");
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // The bytes themselves say where to cut, so that a corpus file is plain text.
  std::size_t cut = 0;
  for (unsigned char byte : text) cut = cut * 31 + byte;
  firstlayer::check(tokenizer, text, size == 0 ? 0 : cut % (size + 1));
  return 0;
}
