#include "firstlayer/base/threads.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// The thread sanitizer cannot follow threads that a forked child makes.
#if defined(__SANITIZE_THREAD__)
#define FORKS_WITH_THREADS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FORKS_WITH_THREADS 0
#endif
#endif
#ifndef FORKS_WITH_THREADS
#define FORKS_WITH_THREADS 1
#endif

namespace firstlayer {
namespace {

/// How often parallel_for visits each of `count` indices.
std::vector<int> visits(std::size_t count, unsigned threads) {
  std::vector<int> times(count);
  parallel_for(count, threads, [&](std::size_t begin, std::size_t end) {
    EXPECT_LT(begin, end);
    for (std::size_t i = begin; i < end; ++i) ++times[i];
  });
  return times;
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
    for (std::size_t count : {0U, 1U, 2U, 7U, 8U, 31U, 33U, 1000U}) {
      EXPECT_EQ(visits(count, threads), std::vector<int>(count, 1)) << count << " on " << threads;
    }
  }
}

TEST(ParallelFor, OneThreadGetsTheWholeRange) {
  int calls = 0;
  parallel_for(1000, 1, [&](std::size_t begin, std::size_t end) {
    ++calls;
    EXPECT_EQ(begin, 0U);
    EXPECT_EQ(end, 1000U);
  });
  EXPECT_EQ(calls, 1);
}

TEST(ParallelFor, WorksOnSeveralThreadsAtOnce) {
  // Each part waits for the other to begin, which only a second thread can do.
  std::atomic<int> begun = 0;
  parallel_for(2, 2, [&](std::size_t, std::size_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(ParallelFor, UsesNoMoreThreadsThanAsked) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  parallel_for(4, 4, [](std::size_t, std::size_t) {});  // the pool now has three threads
  parallel_for(1000, 2, [&](std::size_t, std::size_t) {
    const int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    --running;
  });
  EXPECT_LE(most, 2);
}

TEST(ParallelFor, ThrowsWhatABodyThrowsAndStaysUsable) {
  for (int round = 0; round < 20; ++round) {
    try {
      parallel_for(100, 4, [](std::size_t begin, std::size_t end) {
        if (begin <= 50 && 50 < end) throw std::out_of_range("index 50");
      });
      FAIL() << "nothing thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "index 50");
    }
    EXPECT_EQ(visits(100, 4), std::vector<int>(100, 1));
  }
  EXPECT_THROW(parallel_for(1, 1, [](std::size_t, std::size_t) { throw std::runtime_error("alone"); }),
               std::runtime_error);
}

TEST(ParallelFor, NestedCallsStayOnTheirThread) {
  std::vector<int> times(64);
  parallel_for(8, 4, [&](std::size_t outer_begin, std::size_t outer_end) {
    for (std::size_t outer = outer_begin; outer < outer_end; ++outer) {
      const auto thread = std::this_thread::get_id();
      parallel_for(8, 4, [&](std::size_t begin, std::size_t end) {
        EXPECT_EQ(std::this_thread::get_id(), thread);
        for (std::size_t i = begin; i < end; ++i) ++times[outer * 8 + i];
      });
    }
  });
  EXPECT_EQ(times, std::vector<int>(64, 1));
}

TEST(ParallelFor, ServesSeveralCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) right += visits(100, 3) == std::vector<int>(100, 1);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 200);
}

#if FORKS_WITH_THREADS

/// Runs `check` in a forked child; its exit status, 0 if the check held.
template <class Check>
int in_child(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(ParallelFor, WorksInAForkedChild) {
  visits(100, 4);  // the parent has threads
  EXPECT_EQ(in_child([] { return visits(1000, 4) == std::vector<int>(1000, 1); }), 0);
  EXPECT_EQ(visits(100, 4), std::vector<int>(100, 1)) << "the parent keeps its threads";
}

TEST(ParallelFor, WorksInAChildForkedWhileAnotherThreadIsInsideABody) {
  std::atomic<bool> inside = false;
  std::atomic<bool> forked = false;
  std::thread other([&] {
    parallel_for(2, 2, [&](std::size_t, std::size_t) {
      inside = true;
      while (!forked) std::this_thread::yield();
    });
  });
  while (!inside) std::this_thread::yield();
  const int status = in_child([] { return visits(1000, 4) == std::vector<int>(1000, 1); });
  forked = true;
  other.join();
  EXPECT_EQ(status, 0);
}

#endif  // FORKS_WITH_THREADS

TEST(HardwareThreads, CountsTheProcessorsThisThreadMayUse) {
  EXPECT_GE(hardware_threads(), 1U);
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(hardware_threads(), 1U);
  }).join();
}

}  // namespace
}  // namespace firstlayer
