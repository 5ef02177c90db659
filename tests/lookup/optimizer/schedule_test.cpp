#include "firstlayer/lookup/optimizer/schedule.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/test_files.h"

namespace firstlayer {
namespace {

using testing::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// tools/make_optimizer_golden.py writes what torch.optim.lr_scheduler.LambdaLR makes of the published formulas.
TEST(Schedule, HasTheRatesOfTorchsScheduler) {
  const std::map<std::string, LearningRateSchedule> schedules = {
      {"constant", ConstantSchedule{.peak = 3e-4, .warmup = 5}},
      {"cosine", CosineSchedule{.peak = 3e-4, .minimum = 3e-5, .warmup = 5, .steps = 30}},
      {"wsd_sqrt", WsdSchedule{.peak = 3e-4, .minimum = 3e-5, .warmup = 5, .stable = 10, .decay = 15}},
      {"wsd_linear", WsdSchedule{.peak = 3e-4, .warmup = 5, .stable = 10, .decay = 15, .shape = Decay::kLinear}},
  };
  std::ifstream file(std::string(FIRSTLAYER_TEST_DATA) + "/lookup/schedules.txt");
  std::size_t compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string name;
    std::uint64_t step = 0;
    double expected = 0;
    words >> name >> step >> expected;
    EXPECT_NEAR(learning_rate(schedules.at(name), step), expected, 1e-15 * 3e-4) << line;
    ++compared;
  }
  EXPECT_EQ(compared, 4U * 35U);
}

TEST(Schedule, WarmsUpFromTheFirstStep) {
  EXPECT_EQ(learning_rate(ConstantSchedule{.peak = 1.0, .warmup = 4}, 1), 0.25);
  EXPECT_EQ(learning_rate(ConstantSchedule{.peak = 1.0, .warmup = 4}, 4), 1.0);
  EXPECT_EQ(learning_rate(ConstantSchedule{.peak = 1.0}, 1), 1.0);
}

TEST(Schedule, EndsAtTheMinimumAndStaysThere) {
  const CosineSchedule cosine{.peak = 1.0, .minimum = 0.1, .warmup = 2, .steps = 10};
  const WsdSchedule wsd{.peak = 1.0, .minimum = 0.1, .warmup = 2, .stable = 3, .decay = 5};
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t step : {std::uint64_t{10}, std::uint64_t{11}, kLast}) {
    EXPECT_EQ(learning_rate(cosine, step), 0.1);
    EXPECT_EQ(learning_rate(wsd, step), 0.1);
  }
  EXPECT_EQ(learning_rate(WsdSchedule{.peak = 1, .warmup = kLast, .stable = kLast, .decay = kLast}, kLast), 1.0);
}

TEST(Schedule, FallsFromThePeakOn) {
  const CosineSchedule cosine{.peak = 1.0, .minimum = 0.1, .warmup = 2, .steps = 100};
  for (const Decay shape : {Decay::kLinear, Decay::kOneMinusSqrt}) {
    const WsdSchedule wsd{.peak = 1.0, .minimum = 0.1, .warmup = 2, .stable = 0, .decay = 98, .shape = shape};
    for (std::uint64_t step = 2; step < 100; ++step) {
      EXPECT_GT(learning_rate(wsd, step), learning_rate(wsd, step + 1)) << step;
      EXPECT_GT(learning_rate(cosine, step), learning_rate(cosine, step + 1)) << step;
    }
  }
}

TEST(Schedule, RefusesImpossibleLengthsAndRates) {
  const auto refusal = [](const LearningRateSchedule& schedule, std::uint64_t step = 1) {
    return message_of<std::invalid_argument>([&] { learning_rate(schedule, step); });
  };
  EXPECT_EQ(refusal(ConstantSchedule{.peak = 1}, 0), "[learning_rate] expected a step from 1 up, received 0");
  EXPECT_EQ(refusal(ConstantSchedule{.peak = -1}),
            "[ConstantSchedule] expected a finite peak of at least 0, received -1");
  EXPECT_EQ(refusal(CosineSchedule{.peak = 1, .warmup = 5, .steps = 5}),
            "[CosineSchedule] expected more steps than the warm-up's 5, received 5");
  EXPECT_EQ(refusal(CosineSchedule{.peak = 1, .minimum = 2, .warmup = 0, .steps = 5}),
            "[CosineSchedule] expected a minimum of at most the peak 1, received 2");
  EXPECT_EQ(refusal(CosineSchedule{.peak = 1, .minimum = kNaN, .warmup = 0, .steps = 5}),
            "[CosineSchedule] expected a finite minimum of at least 0, received nan");
  EXPECT_EQ(refusal(WsdSchedule{.peak = 1, .warmup = 1, .stable = 1, .decay = 0}),
            "[WsdSchedule] expected a decay of at least one step, received 0");
}

}  // namespace
}  // namespace firstlayer
