#include "firstlayer/base/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace firstlayer {
namespace {

/// Parts for each thread, so that one that starts late or is interrupted leaves its share to the others.
constexpr std::size_t kPartsPerThread = 4;

/// A larger request gets this many.
constexpr unsigned kMostThreads = 512;

/// Whether this thread is inside a body; a nested call then stays on it.
thread_local bool inside_body = false;

/// Threads that wait for one job at a time. There is one pool in a process and it is never destroyed: at exit its
/// threads are still waiting, and what they wait on must be there.
class Pool {
 public:
  /// False, and nothing is done, if another thread's job has the pool.
  bool try_run(std::size_t count, unsigned threads, const PartBody& body) {
    std::unique_lock lock(mutex_);
    if (body_ != nullptr) return false;
    add_workers(threads - 1);
    body_ = &body;
    count_ = count;
    parts_ = std::min(count, threads * kPartsPerThread);
    next_part_ = 0;
    helpers_wanted_ = std::min<std::size_t>(threads - 1, workers_);
    error_ = nullptr;
    for (std::size_t i = 0; i < helpers_wanted_; ++i) job_ready_.notify_one();

    run_parts(lock);
    helpers_wanted_ = 0;  // who has not begun need not
    job_done_.wait(lock, [this] { return running_ == 0; });
    body_ = nullptr;
    const std::exception_ptr error = std::exchange(error_, nullptr);
    lock.unlock();
    if (error) std::rethrow_exception(error);
    return true;
  }

 private:
  /// Starts threads until there are `wanted`, or the system refuses: then the job has fewer.
  void add_workers(std::size_t wanted) {
    try {
      for (; workers_ < wanted; ++workers_) std::thread([this] { work(); }).detach();
    } catch (const std::system_error&) {
    }
  }

  [[noreturn]] void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      job_ready_.wait(lock, [this] { return helpers_wanted_ > 0; });
      --helpers_wanted_;
      run_parts(lock);
      if (running_ == 0) job_done_.notify_one();
    }
  }

  /// Takes parts of the job until none is left. Called, and left, with the lock held.
  void run_parts(std::unique_lock<std::mutex>& lock) {
    ++running_;
    inside_body = true;
    while (next_part_ < parts_) {
      const std::size_t part = next_part_++;
      const std::size_t begin = boundary(part);
      const std::size_t end = boundary(part + 1);
      const PartBody body = *body_;
      lock.unlock();
      std::exception_ptr error;
      try {
        body(begin, end);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error) {
        if (!error_) error_ = error;
        next_part_ = parts_;  // the rest would be thrown away
      }
    }
    inside_body = false;
    --running_;
  }

  /// Where part `part` begins: the first count % parts parts are one longer.
  std::size_t boundary(std::size_t part) const { return part * (count_ / parts_) + std::min(part, count_ % parts_); }

  std::mutex mutex_;
  std::condition_variable job_ready_;
  std::condition_variable job_done_;
  std::size_t workers_ = 0;

  // The job, if body_ is set.
  const PartBody* body_ = nullptr;
  std::size_t count_ = 0;
  std::size_t parts_ = 0;
  std::size_t next_part_ = 0;
  std::size_t helpers_wanted_ = 0;  ///< workers that may still join
  std::size_t running_ = 0;         ///< threads inside run_parts(), the caller's among them
  std::exception_ptr error_;
};

alignas(Pool) std::byte pool_memory[sizeof(Pool)];

/// A forked child has the pool's memory but none of its threads, and perhaps a lock that nobody will open.
void renew_pool() { new (pool_memory) Pool; }

Pool& pool() {
  static Pool& instance = [&]() -> Pool& {
    renew_pool();
    pthread_atfork(nullptr, nullptr, renew_pool);
    return *std::launder(reinterpret_cast<Pool*>(pool_memory));
  }();
  return instance;
}

}  // namespace

unsigned hardware_threads() {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) {
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&processors)));
  }
  return std::max(1U, std::thread::hardware_concurrency());  // more processors than cpu_set_t has bits
}

void run_parts(std::size_t count, unsigned threads, PartBody body) {
  if (count == 0) return;
  if (threads == 0) threads = hardware_threads();
  threads = static_cast<unsigned>(std::min<std::size_t>({threads, kMostThreads, count}));
  if (threads > 1 && !inside_body && pool().try_run(count, threads, body)) return;
  body(0, count);
}

}  // namespace firstlayer
