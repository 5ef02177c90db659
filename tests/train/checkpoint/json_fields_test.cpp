#include "firstlayer/train/checkpoint/json_fields.h"

#include <gtest/gtest.h>

#include "firstlayer/base/errors.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

TEST(JsonFields, ReadsEachKind) {
  const JsonFields fields(R"({"n": 7, "x": 1e-5, "yes": true, "word": "é", "inner": {"n": 8}, "nothing": null,
                              "names": ["a", "b"], "none": []})",
                          "f");
  EXPECT_EQ(fields.whole("n"), 7);
  EXPECT_EQ(fields.number("x"), 1e-5);
  EXPECT_EQ(fields.number("n"), 7.0);
  EXPECT_EQ(fields.flag("yes"), true);
  EXPECT_EQ(fields.text("word"), "é");
  EXPECT_EQ(fields.need_object("inner").need_whole("n"), 8);
  EXPECT_EQ(fields.need_texts("names"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fields.need_texts("none"), std::vector<std::string>());
  EXPECT_EQ(fields.whole("nothing"), std::nullopt);
  EXPECT_EQ(fields.whole("missing"), std::nullopt);
  EXPECT_FALSE(fields.has("nothing"));
  EXPECT_EQ(fields.names(), (std::vector<std::string>{"inner", "n", "names", "none", "nothing", "word", "x", "yes"}));
}

TEST(JsonFields, RefusesAnotherKindByName) {
  const JsonFields fields(R"({"n": -7, "x": "1", "yes": 1, "word": 3, "inner": [1], "deep": {"n": 1.5}})", "f.json");
  EXPECT_EQ(message_of<FormatError>([&] { fields.whole("n"); }),
            "f.json: \"n\": expected a whole number below 2^64, received -7");
  EXPECT_EQ(message_of<FormatError>([&] { fields.number("x"); }), "f.json: \"x\": expected a number, received \"1\"");
  EXPECT_THROW(fields.flag("yes"), FormatError);
  EXPECT_THROW(fields.text("word"), FormatError);
  EXPECT_EQ(message_of<FormatError>([&] { fields.object("inner"); }),
            "f.json: \"inner\": expected an object, received array");
  EXPECT_EQ(message_of<FormatError>([&] { fields.need_texts("inner"); }),
            "f.json: \"inner\": expected a list of texts, received array");
  EXPECT_EQ(message_of<FormatError>([&] { fields.need_object("deep").need_whole("n"); }),
            "f.json: \"deep.n\": expected a whole number below 2^64, received 1.5");
  EXPECT_EQ(message_of<FormatError>([&] { fields.need_whole("gone"); }),
            "f.json: \"gone\": expected a whole number below 2^64, received none");
}

TEST(JsonFields, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "{", "{\"a\": \xff}", "null", "{} {}"}) {
    EXPECT_THROW(JsonFields(text, "f.json"), FormatError) << text;
  }
  EXPECT_EQ(
      message_of<FormatError>([] { JsonFields("{\"a\"", "f.json"); }),
      "f.json: expected a JSON object, received \"{\\\"a\\\"\"; the file is damaged or was cut off, get it again");
}

TEST(JsonFields, NumbersThatAreTooLargeAreRefused) {
  EXPECT_THROW(JsonFields(R"({"x": 1e999})", "f").number("x"), FormatError);
  EXPECT_THROW(JsonFields(R"({"x": 18446744073709551616})", "f").whole("x"), FormatError);
  EXPECT_EQ(JsonFields(R"({"x": 18446744073709551615})", "f").whole("x"), ~std::uint64_t{0});
}

}  // namespace
}  // namespace firstlayer
