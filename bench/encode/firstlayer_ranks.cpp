// Writes GPT-2's vocabulary to standard output as tiktoken stores it: a token in base64, a space and its rank on a
// line.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "firstlayer/encode/tokenizer.h"

namespace {

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) text += kDigits[group >> (18 - 6 * i) & 63];
  }
  for (std::size_t i = 0; i < (3 - bytes.size() % 3) % 3; ++i) text[text.size() - 1 - i] = '=';
  return text;
}

}  // namespace

int main() {
  const auto tokenizer = firstlayer::Tokenizer::get_encoding("gpt2");
  for (firstlayer::TokenId id = 0; id < tokenizer.end_of_text(); ++id) {
    std::printf("%s %u\n", to_base64(tokenizer.token_bytes(id)).c_str(), id);
  }
}
