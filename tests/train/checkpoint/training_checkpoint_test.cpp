#include "firstlayer/train/checkpoint/training_checkpoint.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <random>

#include "firstlayer/base/errors.h"
#include "firstlayer/train/checkpoint/gpt_checkpoint.h"
#include "tests/test_files.h"
#include "tests/train/checkpoint/small_network.h"

namespace firstlayer {
namespace {

namespace fs = std::filesystem;
using testing::kSmallNetwork;
using testing::message_of;
using testing::numbers_of;
using testing::random_step;
using testing::read_file;
using testing::small_parameters;
using testing::TemporaryFolder;

constexpr AdamW kOptions = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.95, .weight_decay = 0.1};

/// A run of some steps.
struct SmallRun {
  explicit SmallRun(std::uint64_t steps = 0, const GptConfig& config = kSmallNetwork)
      : parameters(small_parameters(config)), optimizer(parameters, kOptions) {
    for (std::uint64_t step = 1; step <= steps; ++step) random_step(optimizer, step);
  }

  std::vector<std::vector<float>> everything() const {
    return {numbers_of(parameters), numbers_of(optimizer.first_moments()), numbers_of(optimizer.second_moments())};
  }

  GptParameters parameters;
  GptAdamW optimizer;
};

TEST(TrainingCheckpoint, ARunThatIsTakenUpGoesOnToTheBit) {
  TemporaryFolder root;
  SmallRun run(3);
  run.optimizer.set_learning_rate(0.1 + 0.2);  // no short decimal
  const TrainingState state = {.seed = 7,
                               .history = {.losses = {4.125, 0.1 + 0.2, 3}, .held_out = {{1, 5.5}, {3, 0.7 + 0.1}}},
                               .notes = {{"data", "é.txt"}, {"lr", "0.001"}}};
  const fs::path path = save_training(root.path(), run.optimizer, state);
  EXPECT_EQ(path, root / "step-00000003");

  SmallRun other;
  const TrainingCheckpoint checkpoint(root.path());
  EXPECT_EQ(checkpoint.path(), path);
  EXPECT_EQ(checkpoint.step(), 3);
  EXPECT_EQ(checkpoint.state(), state);
  EXPECT_EQ(checkpoint.options().lr, 0.1 + 0.2);
  EXPECT_EQ(checkpoint.config().dim, 16);
  checkpoint.restore(other.parameters, other.optimizer);
  EXPECT_EQ(other.everything(), run.everything());
  EXPECT_EQ(other.optimizer.options().lr, 0.1 + 0.2);
  random_step(run.optimizer, 4);
  random_step(other.optimizer, 4);
  EXPECT_EQ(other.everything(), run.everything());
}

TEST(TrainingCheckpoint, IsAModelToOtherTools) {
  TemporaryFolder root;
  const SmallRun run(1);
  EXPECT_EQ(numbers_of(load_gpt(save_training(root.path(), run.optimizer, {}))), numbers_of(run.parameters));
}

TEST(TrainingCheckpoint, KeepsTheLastOnes) {
  TemporaryFolder root;
  SmallRun run;
  for (std::uint64_t step = 1; step <= 4; ++step) {
    random_step(run.optimizer, step);
    save_training(root.path(), run.optimizer, {}, 2);
  }
  EXPECT_EQ(root.names(), (std::set<std::string>{"step-00000003", "step-00000004"}));
  root.write("notes.txt", "mine");
  save_training(root.path(), run.optimizer, {}, 1);
  EXPECT_EQ(root.names(), (std::set<std::string>{"notes.txt", "step-00000004"}));
}

TEST(TrainingCheckpoint, RefusesARootWithALaterOne) {
  TemporaryFolder root;
  SmallRun run(4);
  const fs::path later = save_training(root.path(), run.optimizer, {});
  run.optimizer.set_steps(2);  // back from an older one
  EXPECT_EQ(message_of<std::invalid_argument>([&] { save_training(root.path(), run.optimizer, {}, 1); }),
            "[save_training] expected no checkpoint beyond step 2, received " + later.string() +
                "; remove it or choose another root");
  EXPECT_EQ(root.names(), std::set<std::string>{"step-00000004"});
}

TEST(TrainingCheckpoint, RefusesOtherFrozenTensors) {
  TemporaryFolder root;
  SmallRun run;
  run.optimizer.set_frozen("ln_f.bias");
  random_step(run.optimizer, 1);
  save_training(root.path(), run.optimizer, {});
  const TrainingCheckpoint checkpoint(root.path());
  SmallRun other;
  EXPECT_NE(message_of<FormatError>([&] {
              checkpoint.restore(other.parameters, other.optimizer);
            }).find("frozen tensors [\"transformer.ln_f.bias\"], received one with []"),
            std::string::npos);
  other.optimizer.set_frozen("ln_f.bias");
  checkpoint.restore(other.parameters, other.optimizer);
  EXPECT_EQ(other.everything(), run.everything());
}

TEST(TrainingCheckpoint, TheSameStepTakesThePlaceOfTheOld) {
  TemporaryFolder root;
  const SmallRun run(1);
  save_training(root.path(), run.optimizer, {.seed = 1});
  save_training(root.path(), run.optimizer, {.seed = 2});
  EXPECT_EQ(TrainingCheckpoint(root.path()).state().seed, 2);
  EXPECT_EQ(root.names(), (std::set<std::string>{"step-00000001"}));
}

TEST(TrainingCheckpoint, RefusesAnotherConfigurationAndOtherOptions) {
  TemporaryFolder root;
  const SmallRun run(1);
  save_training(root.path(), run.optimizer, {});
  const TrainingCheckpoint checkpoint(root.path());
  GptConfig wider = kSmallNetwork;
  wider.layers = 3;
  SmallRun other(0, wider);
  EXPECT_NE(message_of<FormatError>([&] {
              checkpoint.restore(other.parameters, other.optimizer);
            }).find("received another: layers = 2, here 3"),
            std::string::npos);
  GptParameters parameters = small_parameters(kSmallNetwork, 8);
  GptAdamW optimizer(parameters, AdamW{});
  const std::vector<float> before = numbers_of(parameters);
  EXPECT_NE(message_of<FormatError>([&] { checkpoint.restore(parameters, optimizer); }).find("\"beta2\":0.95"),
            std::string::npos);
  EXPECT_EQ(numbers_of(parameters), before);
  EXPECT_THROW(checkpoint.restore(other.parameters, optimizer), std::invalid_argument);
}

/// A checkpoint of one step, once `damage` has been done to its folder, must be refused with these words, and nothing
/// of a run may change.
template <class Damage>
void expect_refused(std::string_view part, const Damage& damage) {
  TemporaryFolder root;
  const SmallRun run(1);
  const fs::path path = save_training(root.path(), run.optimizer, {.history = {.losses = {3.5}}});
  damage(path);
  SmallRun other(2);
  const auto before = other.everything();
  const std::string words =
      message_of<FileError>([&] { TrainingCheckpoint(path).restore(other.parameters, other.optimizer); });
  EXPECT_NE(words.find(part), std::string::npos) << words;
  EXPECT_EQ(other.everything(), before);
}

void replace(const fs::path& path, std::string_view from, std::string_view to) {
  std::string text = read_file(path);
  ASSERT_NE(text.find(from), std::string::npos);
  text.replace(text.find(from), from.size(), to);
  std::ofstream(path, std::ios::binary) << text;
}

TEST(TrainingCheckpoint, RefusesWhatIsCutMissingDamagedOrOfAnotherVersion) {
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "history.safetensors"}) {
    expect_refused("bytes, received",
                   [&](const fs::path& path) { fs::resize_file(path / name, fs::file_size(path / name) - 8); });
    expect_refused(name, [&](const fs::path& path) { fs::remove(path / name); });
    expect_refused("the file is damaged", [&](const fs::path& path) {
      std::fstream file(path / name, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-6, std::ios::end);
      file.put('!');
    });
  }
  for (const char* name : {"training.json", "config.json"}) {
    expect_refused("JSON object", [&](const fs::path& path) { fs::resize_file(path / name, 40); });
    expect_refused(name, [&](const fs::path& path) { fs::remove(path / name); });
  }
  expect_refused("another version of firstlayer",
                 [](const fs::path& path) { replace(path / "training.json", "\"version\": 1", "\"version\": 2"); });
  expect_refused("\"firstlayer training checkpoint\"",
                 [](const fs::path& path) { replace(path / "training.json", "training checkpoint", "other"); });
}

TEST(TrainingCheckpoint, RefusesAFolderWithoutOne) {
  TemporaryFolder root;
  EXPECT_NE(message_of<FileError>([&] { TrainingCheckpoint none(root.path()); }).find("step-…"), std::string::npos);
  EXPECT_EQ(training_checkpoints(root / "gone"), std::vector<fs::path>());
  const SmallRun run(1);
  EXPECT_THROW(save_training(root.path(), run.optimizer, {.notes = {{"x", "\xff"}}}), std::invalid_argument);
  EXPECT_EQ(root.names(), std::set<std::string>());
}

/// The exit status of a child process that does this.
template <class Body>
pid_t in_child(const Body& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  bool right = false;
  try {
    right = body();
  } catch (...) {
  }
  _exit(right ? 0 : 1);
}

TEST(TrainingCheckpoint, AFullDiskIsAnErrorAndLeavesNothing) {
  TemporaryFolder root;
  const SmallRun run(1);
  const pid_t child = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{40000, 40000};  // the weights fit, the moments do not
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    const std::string words = message_of<FileError>([&] { save_training(root.path(), run.optimizer, {}); });
    return words.find("optimizer.safetensors: cannot write: File too large") != std::string::npos;
  });
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(root.names(), std::set<std::string>());
}

/// A folder in memory where there is one, so that a save takes a millisecond and kills meet every part of it.
class QuickFolder {
 public:
  QuickFolder() {
    if (quick()) setenv("TMPDIR", "/dev/shm", 1);
    folder_.emplace();
  }
  ~QuickFolder() { unsetenv("TMPDIR"); }

  static bool quick() { return access("/dev/shm", W_OK) == 0; }
  const fs::path& path() const { return folder_->path(); }

 private:
  std::optional<TemporaryFolder> folder_;
};

TEST(TrainingCheckpoint, AKillAtAnyMomentLeavesTheLastGoodOne) {
  const QuickFolder root;
  const useconds_t longest = QuickFolder::quick() ? 12000 : 150000;
  std::mt19937 random(1);
  std::uint64_t last = 0;
  for (int kill_number = 0; kill_number < 50; ++kill_number) {
    const pid_t child = in_child([&] {
      SmallRun run;
      if (last > 0) TrainingCheckpoint(root.path()).restore(run.parameters, run.optimizer);
      for (std::uint64_t step = run.optimizer.steps() + 1;; ++step) {
        random_step(run.optimizer, step);
        save_training(root.path(), run.optimizer, {.history = {.losses = std::vector<double>(step)}}, 2);
      }
      return true;
    });
    usleep(std::uniform_int_distribution<useconds_t>(0, longest)(random));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    if (training_checkpoints(root.path()).empty()) {
      ASSERT_EQ(last, 0);
      continue;
    }
    for (const fs::path& path : training_checkpoints(root.path())) {
      SmallRun run;
      const TrainingCheckpoint checkpoint(path);
      checkpoint.restore(run.parameters, run.optimizer);  // whole, by its hashes
      EXPECT_EQ(checkpoint.state().history.losses.size(), checkpoint.step());
    }
    const std::uint64_t step = TrainingCheckpoint(root.path()).step();
    EXPECT_GE(step, last);
    last = step;
  }
  EXPECT_GT(last, 0);
  SmallRun run;
  TrainingCheckpoint(root.path()).restore(run.parameters, run.optimizer);
  EXPECT_EQ(run.everything(), SmallRun(last).everything());
}

}  // namespace
}  // namespace firstlayer
