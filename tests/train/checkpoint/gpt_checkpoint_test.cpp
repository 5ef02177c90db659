#include "firstlayer/train/checkpoint/gpt_checkpoint.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "firstlayer/base/errors.h"
#include "firstlayer/formats/safetensors.h"
#include "tests/test_files.h"
#include "tests/train/checkpoint/small_network.h"

namespace firstlayer {
namespace {

namespace fs = std::filesystem;
using testing::kSmallNetwork;
using testing::logits_of;
using testing::message_of;
using testing::numbers_of;
using testing::small_parameters;
using testing::TemporaryFolder;

const fs::path kGolden = FIRSTLAYER_TEST_DATA "/train/checkpoint";

/// The largest difference from the logits that transformers computed from the same folder.
double difference_from_transformers(const GptParameters& parameters, const fs::path& folder) {
  const SafetensorsFile file = SafetensorsFile::open(folder / "logits.safetensors");
  std::vector<std::int64_t> ids(20);
  std::memcpy(ids.data(), file.find("ids")->bytes.data(), file.find("ids")->bytes.size());
  const std::vector<float> received = logits_of(parameters, View<const std::int64_t, 2>(ids, {2, 10}));
  std::vector<float> expected(received.size());
  EXPECT_EQ(file.find("logits")->bytes.size(), expected.size() * sizeof(float));
  std::memcpy(expected.data(), file.find("logits")->bytes.data(), file.find("logits")->bytes.size());
  double difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    difference = std::max<double>(difference, std::abs(expected[i] - received[i]));
  return difference;
}

TEST(LoadGpt, ATransformersFolderGivesTheLogitsOfTransformers) {
  for (const char* name : {"whole", "sharded", "untied"}) {
    const GptParameters parameters = load_gpt(kGolden / name);
    EXPECT_LT(difference_from_transformers(parameters, kGolden / name), 1e-4) << name;
  }
  EXPECT_FALSE(load_gpt(kGolden / "untied").config().tied);
  EXPECT_EQ(load_gpt(kGolden / "sharded").config().norm_eps, 1e-3);
}

TEST(LoadGpt, TakesTheFileOrTheIndexItself) {
  EXPECT_EQ(numbers_of(load_gpt(kGolden / "whole" / "model.safetensors")), numbers_of(load_gpt(kGolden / "whole")));
  EXPECT_EQ(numbers_of(load_gpt(kGolden / "sharded" / "model.safetensors.index.json")),
            numbers_of(load_gpt(kGolden / "sharded")));
}

TEST(LoadGpt, ReadsNanoGptsShape) {
  const GptParameters parameters = load_gpt(kGolden / "nanogpt.safetensors", {.heads = 4});
  EXPECT_TRUE(parameters.config().tied);
  EXPECT_EQ(numbers_of(parameters), numbers_of(load_gpt(kGolden / "whole")));
  EXPECT_NE(message_of<FormatError>([] { load_gpt(kGolden / "nanogpt.safetensors"); }).find("number of heads"),
            std::string::npos);
}

/// The golden file of that name with some tensors left out, added or changed.
using Change = std::function<void(std::vector<StoredTensor>&)>;
void write_changed(const fs::path& from, const fs::path& to, const Change& change) {
  const SafetensorsFile file = SafetensorsFile::open(from);
  std::vector<StoredTensor> tensors(file.tensors().begin(), file.tensors().end());
  change(tensors);
  std::vector<TensorSpec> specs;
  for (const StoredTensor& tensor : tensors) specs.push_back({tensor.name, tensor.dtype, tensor.shape});
  SafetensorsWriter writer(to, specs);
  for (const TensorSpec& spec : writer.tensors()) {
    writer.append(std::ranges::find(tensors, spec.name, &StoredTensor::name)->bytes);
  }
  writer.commit();
}

std::vector<StoredTensor>::iterator find(std::vector<StoredTensor>& tensors, const std::string& name) {
  return std::ranges::find(tensors, name, &StoredTensor::name);
}

TEST(LoadGpt, BiasesThatNanoGptLeavesOutAreZero) {
  TemporaryFolder folder;
  write_changed(kGolden / "nanogpt.safetensors", folder / "x.safetensors", [](auto& tensors) {
    std::erase_if(tensors, [](const StoredTensor& tensor) { return tensor.name.ends_with(".bias"); });
  });
  const GptParameters parameters = load_gpt(folder / "x.safetensors", {.heads = 4});
  EXPECT_EQ(parameters.at("ln_f.bias")[3], 0);
  EXPECT_EQ(parameters.at("h.1.mlp.c_fc.bias")[5], 0);
  EXPECT_EQ(parameters.at("h.1.mlp.c_fc.weight")[5], load_gpt(kGolden / "whole").at("h.1.mlp.c_fc.weight")[5]);
}

/// The words with which a folder with changed weights is refused; "" if it loads.
std::string words_for(const Change& change, const std::string& config = "") {
  TemporaryFolder folder;
  write_changed(kGolden / "whole" / "model.safetensors", folder / "model.safetensors", change);
  folder.write("config.json", config.empty() ? testing::read_file(kGolden / "whole" / "config.json") : config);
  try {
    load_gpt(folder.path());
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(LoadGpt, RefusesByNameWhatIsMissingTooManyOrOfAnotherShape) {
  const auto expect = [](const std::string& words, std::string_view part) {
    EXPECT_NE(words.find(part), std::string::npos) << words;
  };
  expect(words_for([](auto& tensors) { tensors.erase(find(tensors, "transformer.h.1.mlp.c_fc.bias")); }),
         "expected a tensor transformer.h.1.mlp.c_fc.bias");
  expect(words_for([](auto& tensors) {
           find(tensors, "transformer.h.0.ln_1.weight")->shape = {4, 4};
         }),
         "\"transformer.h.0.ln_1.weight\": expected shape (16,), received (4, 4)");
  expect(words_for([](auto& tensors) { find(tensors, "transformer.h.0.ln_1.weight")->dtype = Dtype::kI32; }), "I32");
  expect(words_for([](auto& tensors) { find(tensors, "transformer.wte.weight")->shape = {16, 61}; }), "config.json");
  expect(words_for([](auto& tensors) {
           StoredTensor more = *find(tensors, "transformer.h.0.ln_1.weight");
           more.name = "transformer.h.2.ln_1.weight";
           tensors.push_back(more);
         }),
         "expected the 2 blocks that config.json names, received 3");
  expect(
      words_for([](auto& tensors) { find(tensors, "transformer.h.0.ln_1.bias")->name = "transformer.h.0.ln_3.bias"; }),
      "ln_1.bias");
  expect(words_for([](auto& tensors) {
           StoredTensor more = *find(tensors, "transformer.h.0.ln_1.weight");
           more.name = "transformer.h.0.ln_cross_attn.weight";
           tensors.push_back(more);
         }),
         "ln_cross_attn");
}

TEST(LoadGpt, MasksAreNotWeights) {
  const std::vector<float> mask(100, 1.0F);
  EXPECT_EQ(
      words_for([&](auto& tensors) {
        tensors.push_back(
            {"transformer.h.0.attn.bias", Dtype::kF32, {1, 1, 10, 10}, std::as_bytes(std::span<const float>(mask))});
        tensors.push_back({"transformer.h.1.attn.masked_bias",
                           Dtype::kF32,
                           {},
                           std::as_bytes(std::span<const float>(mask)).first(4)});
      }),
      "");
}

TEST(LoadGpt, ATiedHeadThatIsStoredMustBeTheTokenTable) {
  const auto with_head = [](float number) {
    std::vector<float> head(61 * 16, number);
    return words_for([&](auto& tensors) {
      StoredTensor same = *find(tensors, "transformer.wte.weight");
      same.name = "lm_head.weight";
      if (number != 0) same.bytes = std::as_bytes(std::span<const float>(head));
      tensors.push_back(same);
    });
  };
  EXPECT_EQ(with_head(0), "");
  EXPECT_NE(with_head(1).find("tie_word_embeddings"), std::string::npos);
}

TEST(LoadGpt, AWildConfigurationCostsNoMemory) {
  const auto config = [](const std::string& layers, const std::string& dim) {
    return R"({"vocab_size": 61, "n_positions": 10, "n_head": 1, "n_layer": )" + layers + ", \"n_embd\": " + dim + "}";
  };
  const auto nothing = [](auto&) {};
  EXPECT_NE(words_for(nothing, config("1000000000000", "16")).find("blocks"), std::string::npos);
  EXPECT_NE(words_for(nothing, config("2", "4611686018427387904")).find("vocab_size, n_embd"), std::string::npos);
  EXPECT_NE(words_for([](auto& tensors) {
              StoredTensor wild = *find(tensors, "transformer.h.0.ln_1.weight");
              wild.name = "transformer.h.99999999999.ln_1.weight";
              tensors.push_back(wild);
            }).find("99999999999"),
            std::string::npos);
}

TEST(SaveGpt, WhatIsSavedIsLoadedToTheBit) {
  using enum PositionScheme;
  for (const PositionScheme position : {kLearned, kSinusoidal, kSinusoidalHalf, kRotary, kAlibi, kNone}) {
    TemporaryFolder folder;
    GptConfig config = kSmallNetwork;
    config.position = position;
    config.tied = position != kAlibi;
    const GptParameters parameters = small_parameters(config);
    save_gpt(folder / "new/model", parameters);
    const GptParameters loaded = load_gpt(folder / "new/model");
    EXPECT_EQ(loaded.config().position, position);
    EXPECT_EQ(loaded.config().tied, config.tied);
    EXPECT_EQ(numbers_of(loaded), numbers_of(parameters)) << scheme_name(position);
  }
}

TEST(SaveGpt, AFullDiskLeavesNoNewFolder) {
  TemporaryFolder folder;
  const GptParameters parameters = small_parameters();
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    bool refused = false;
    try {
      if (setrlimit(RLIMIT_FSIZE, &limit) == 0) save_gpt(folder / "new/", parameters);
    } catch (const FileError&) {
      refused = true;
    }
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(folder.names(), std::set<std::string>());
}

TEST(SaveGpt, WritesIntoAFolderThatIsThere) {
  TemporaryFolder folder;
  folder.write("notes.txt", "mine");
  for (const std::uint64_t seed : {1U, 2U}) save_gpt(folder.path(), small_parameters(kSmallNetwork, seed));
  EXPECT_EQ(folder.names(), (std::set<std::string>{"config.json", "model.safetensors", "notes.txt"}));
  EXPECT_EQ(numbers_of(load_gpt(folder.path())), numbers_of(small_parameters(kSmallNetwork, 2)));
}

TEST(SaveGpt, WritesTheVocabularyThatTheModelHas) {
  TemporaryFolder folder;
  save_gpt(folder / "small", small_parameters());
  EXPECT_FALSE(fs::exists(folder / "small/vocab.json"));
  save_gpt(folder / "gpt2", GptParameters({.vocabulary = 50304, .context = 2, .layers = 0, .heads = 1, .dim = 1}));
  EXPECT_TRUE(fs::exists(folder / "gpt2/vocab.json"));
  EXPECT_TRUE(fs::exists(folder / "gpt2/merges.txt"));
}

TEST(SaveGpt, PositionsThatSomebodyTrainedOnAreRefusedWithTheWayOut) {
  TemporaryFolder folder;
  GptConfig config = kSmallNetwork;
  config.position = PositionScheme::kNone;
  save_gpt(folder.path(), small_parameters(config));
  save_gpt(folder / "learned", small_parameters());
  fs::copy_file(folder / "learned/model.safetensors", folder / "model.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_NE(message_of<FormatError>([&] { load_gpt(folder.path()); }).find("remove \"firstlayer\""), std::string::npos);
}

TEST(LoadGpt, AFileCutShortIsRefused) {
  TemporaryFolder folder;
  save_gpt(folder.path(), small_parameters());
  fs::resize_file(folder / "model.safetensors", fs::file_size(folder / "model.safetensors") - 1);
  EXPECT_NE(message_of<FormatError>([&] { load_gpt(folder.path()); }).find("cut off"), std::string::npos);
}

}  // namespace
}  // namespace firstlayer
