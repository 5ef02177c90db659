// Text to ids and back, with GPT-2's vocabulary. It is compiled in: no file is read and nothing is fetched.

#include <iostream>

#include "firstlayer/firstlayer.h"

int main() {
  firstlayer::Tokenizer gpt2 = firstlayer::Tokenizer::get_encoding("gpt2");

  std::vector<firstlayer::TokenId> ids = gpt2.encode("Every effort moves you");
  for (firstlayer::TokenId id : ids) std::cout << id << " \"" << gpt2.token_bytes(id) << "\"\n";
  std::cout << gpt2.decode(ids) << '\n';

  // The text of a special token is refused unless the caller says what it is to be.
  try {
    gpt2.encode("one<|endoftext|>two");
  } catch (const firstlayer::SpecialTokenError& error) {
    std::cout << error.token() << " at byte " << error.position() << '\n';
  }
  std::cout << gpt2.encode("one<|endoftext|>two", {.allow_all = true}).size() << " ids\n";
}
