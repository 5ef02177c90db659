// The ids of the fast path are tiktoken's: tests/data/encode/gpt2.json, made by tools/make_encode_golden.py.

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "firstlayer/encode/tokenizer.h"
#include "tests/sha256.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

const nlohmann::json& golden() {
  static const nlohmann::json parsed = [] {
    return nlohmann::json::parse(testing::read_file(FIRSTLAYER_TEST_DATA "/encode/gpt2.json"));
  }();
  return parsed;
}

std::string utf8(char32_t c) {
  auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 63))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

void expect_summary(const std::string& text, const nlohmann::json& expected) {
  std::vector<TokenId> ids = Tokenizer::get_encoding("gpt2").encode_ordinary(text);
  EXPECT_EQ(ids.size(), expected["ids"].get<std::size_t>());
  EXPECT_EQ(testing::sha256_hex(std::as_bytes(std::span(ids))), expected["sha256"].get<std::string>());
  EXPECT_EQ(Tokenizer::get_encoding("gpt2").decode(ids), text);
}

TEST(EncodeGolden, TrickyTexts) {
  Tokenizer tokenizer = Tokenizer::get_encoding("gpt2");
  ASSERT_EQ(golden()["cases"].size(), 67U);
  for (const auto& golden_case : golden()["cases"]) {
    auto text = golden_case["text"].get<std::string>();
    EXPECT_EQ(tokenizer.encode_ordinary(text), golden_case["ids"].get<std::vector<TokenId>>()) << golden_case["name"];
  }
}

TEST(EncodeGolden, EveryCodePointInFiveContexts) {
  for (const auto& expected : golden()["code_points"]) {
    std::string context = replace_all(expected["context"].get<std::string>(), "{0}", "{}");
    SCOPED_TRACE(context);
    std::string text;
    for (char32_t c = 0; c < 0x110000; ++c) {
      if (c < 0xD800 || c >= 0xE000) text += replace_all(context, "{}", utf8(c));
    }
    expect_summary(text, expected);
  }
}

TEST(EncodeGolden, RandomMixesOfTrickySnippets) {
  auto snippets = golden()["snippets"].get<std::vector<std::string>>();
  for (const auto& expected : golden()["random"]) {
    auto state = expected["seed"].get<std::uint64_t>();
    SCOPED_TRACE(state);
    std::string text;
    for (int i = 0; i < expected["count"].get<int>(); ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      text += snippets[(state >> 33) % snippets.size()];
    }
    expect_summary(text, expected);
  }
}

TEST(EncodeGolden, LongRunsWithoutAPlaceToSplit) {
  for (const auto& expected : golden()["runs"]) {
    SCOPED_TRACE(expected["unit"]);
    std::string text;
    for (int i = 0; i < expected["count"].get<int>(); ++i) text += expected["unit"].get<std::string>();
    expect_summary(text, expected);
  }
}

TEST(EncodeGolden, TheVerdict) {
  std::string text = testing::read_file(FIRSTLAYER_TEST_DATA "/text/the-verdict.txt");
  std::vector<TokenId> ids = Tokenizer::get_encoding("gpt2").encode(text);
  ASSERT_EQ(ids.size(), 5145U);
  EXPECT_EQ(std::vector<TokenId>(ids.begin(), ids.begin() + 8),
            (std::vector<TokenId>{40, 367, 2885, 1464, 1807, 3619, 402, 271}));
}

}  // namespace
}  // namespace firstlayer
