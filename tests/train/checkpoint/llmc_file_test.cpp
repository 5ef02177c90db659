#include "firstlayer/train/checkpoint/llmc_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/half.h"
#include "tests/test_files.h"
#include "tests/train/checkpoint/small_network.h"

namespace firstlayer {
namespace {

using testing::as_bytes;
using testing::kSmallNetwork;
using testing::message_of;
using testing::small_parameters;

constexpr std::size_t kPadded = 64;

/// What llm.c's write_model() writes, number for number.
class LlmcWriter {
 public:
  LlmcWriter(const GptParameters& parameters, std::int32_t version) : parameters_(parameters), version_(version) {}

  std::string write() {
    const GptConfig& c = parameters_.config();
    std::array<std::int32_t, 256> header{20240326, version_};
    const std::size_t sizes[] = {c.context, c.vocabulary, c.layers, c.heads, c.dim, kPadded};
    for (std::size_t i = 0; i < 6; ++i) header[2 + i] = static_cast<std::int32_t>(sizes[i]);
    file_.assign(reinterpret_cast<const char*>(header.data()), sizeof(header));
    const GptLayout& layout = parameters_.layout();
    add(parameters_[layout.token_table()]);
    add(std::vector<float>((kPadded - c.vocabulary) * c.dim, 9.0F));
    add(parameters_[*layout.position_table()]);
    for (std::size_t which = 0; which < kBlockTensors; ++which) {
      for (std::size_t layer = 0; layer < c.layers; ++layer) {
        add_tensor(layout.block(layer, static_cast<BlockTensor>(which)));
      }
    }
    add(parameters_[layout.last_norm_weight()]);
    add(parameters_[layout.last_norm_weight() + 1]);
    return file_;
  }

 private:
  void add(std::span<const float> numbers) {
    for (const float number : numbers) {
      const std::uint16_t half = BFloat16(number).bits;
      const char* bytes = version_ == 3 ? reinterpret_cast<const char*>(&number) : reinterpret_cast<const char*>(&half);
      file_.append(bytes, version_ == 3 ? sizeof(number) : sizeof(half));
    }
  }

  /// Matrices as torch.nn.Linear keeps them, (outputs, inputs).
  void add_tensor(std::size_t tensor) {
    const std::vector<std::size_t>& shape = parameters_.layout().tensors()[tensor].shape;
    if (shape.size() == 1) return add(parameters_[tensor]);
    std::vector<float> turned;
    for (std::size_t n = 0; n < shape[1]; ++n) {
      for (std::size_t k = 0; k < shape[0]; ++k) turned.push_back(parameters_.matrix(tensor)(k, n));
    }
    add(turned);
  }

  const GptParameters& parameters_;
  std::int32_t version_;
  std::string file_;
};

std::string file_of(std::int32_t version) { return LlmcWriter(small_parameters(), version).write(); }

/// The float32 file with number `place` of its header replaced.
std::string with_header(std::size_t place, std::int32_t number) {
  std::string file = file_of(3);
  std::memcpy(file.data() + place * sizeof(number), &number, sizeof(number));
  return file;
}

std::string words(const std::string& file) {
  return message_of<FormatError>([&] { parse_llmc(as_bytes(file), "m.bin"); });
}

TEST(LlmcFile, Float32IsReadToTheBit) {
  testing::TemporaryFolder folder;
  const GptParameters expected = small_parameters();
  const GptParameters read = load_llmc(folder.write("gpt2.bin", file_of(3)));
  EXPECT_EQ(read.config().vocabulary, 61);
  EXPECT_EQ(testing::numbers_of(read), testing::numbers_of(expected));
}

TEST(LlmcFile, BFloat16IsReadAsWritten) {
  testing::TemporaryFolder folder;
  std::vector<float> rounded = testing::numbers_of(small_parameters());
  for (float& number : rounded) number = static_cast<float>(BFloat16(number));
  EXPECT_EQ(testing::numbers_of(load_llmc(folder.write("gpt2.bin", file_of(5)))), rounded);
}

TEST(LlmcFile, RefusesOtherFiles) {
  EXPECT_EQ(words("short"), "m.bin: expected a header of 1024 bytes, received 5; the file was cut off, get it again");
  EXPECT_EQ(words(with_header(0, 7)), "m.bin: expected llm.c's number 20240326 at the start, received 7");
  EXPECT_EQ(words(with_header(1, 1)),
            "m.bin: expected version 3 (float32) or 5 (bfloat16), received 1; export it again with a newer llm.c");
  EXPECT_EQ(words(with_header(4, -2)), "m.bin: expected a size of 1 to 2^24 as layers, received -2");
  EXPECT_EQ(words(with_header(5, 3)), "m.bin: expected channels that are a multiple of heads, received 16 and 3");
  EXPECT_EQ(words(with_header(7, 60)), "m.bin: expected a padded vocabulary of at least 61, received 60");
}

TEST(LlmcFile, RefusesAFileCutShortOrTooLong) {
  const std::string whole = file_of(3);
  EXPECT_EQ(words(whole.substr(0, whole.size() - 1)).find("m.bin: expected 31104 bytes of weights after the header"),
            0);
  EXPECT_NE(words(whole.substr(0, whole.size() - 1)).find("cut off"), std::string::npos);
  EXPECT_EQ(words(whole + "x").find("cut off"), std::string::npos);
  std::string vast = whole;  // sizes whose bytes do not fit 64 bits
  for (std::size_t place : {2U, 3U, 4U, 6U, 7U}) {
    const std::int32_t most = 1 << 24;
    std::memcpy(vast.data() + place * sizeof(most), &most, sizeof(most));
  }
  EXPECT_NE(words(vast).find("more than 2^63 bytes"), std::string::npos);
}

}  // namespace
}  // namespace firstlayer
