#pragma once
// Texts that try a tokenizer: mixes of scripts, spaces, contractions and broken UTF-8.

#include <cstddef>
#include <random>
#include <string>

namespace firstlayer::testing {

/// About `snippets` snippets; one kind of snippet in three is repeated, so that runs of all lengths occur.
inline std::string random_text(std::mt19937& random, std::size_t snippets) {
  static const std::string kSnippets[] = {
      " ",    "  ",  "\n",      "\t",      "\r\n", "\u00a0", "\u3000",   "'",        "'s",
      "'ll",  "'r",  "a",       "the",     " The", "é",      "ß",        "1",        "23",
      "²",    "٣",   "!",       "--",      "$",    "\u200b", "日本",     "。",       "中文",
      "한국", "ไทย", "हिन्दी",   "👩\u200d", "\xff", "\xc3",   "\xe2\x80", "\x80",     "\xed\xa0\x80",
      "x",    "_",   {1, '\0'}, "<|",      "|>",   "\u0130", "\u2028",   "\xf0\x9f", "ing",
      "zq",   "ab",  "\xf4\x90"};
  std::uniform_int_distribution<std::size_t> pick(0, std::size(kSnippets) - 1);
  std::uniform_int_distribution<std::size_t> repeats(1, 40);
  std::string text;
  for (std::size_t i = 0; i < snippets; ++i) {
    const std::string& snippet = kSnippets[pick(random)];
    std::size_t count = random() % 3 == 0 ? repeats(random) : 1;
    for (std::size_t n = 0; n < count; ++n) text += snippet;
  }
  return text;
}

}  // namespace firstlayer::testing
