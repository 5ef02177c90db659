#pragma once
// Work on several threads. The threads are made on first use, wait without spinning, and survive a fork (a child makes
// its own).

#include <cstddef>
#include <memory>
#include <type_traits>

namespace firstlayer {

/// The processors this process may run on (its affinity), at least 1.
unsigned hardware_threads();

/// Something to call with (begin, end) that lives elsewhere: as std::function, but nothing is copied or allocated.
class PartBody {
 public:
  template <class Body>
  explicit PartBody(Body& body)
      : body_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* it, std::size_t begin, std::size_t end) { (*static_cast<Body*>(it))(begin, end); }) {}

  void operator()(std::size_t begin, std::size_t end) const { call_(body_, begin, end); }

 private:
  void* body_;
  void (*call_)(void*, std::size_t, std::size_t);
};

void run_parts(std::size_t count, unsigned threads, PartBody body);

/// Calls body(begin, end) on disjoint parts that cover [0, count), on at most `threads` threads, the caller's among
/// them; 0 means hardware_threads(). Returns when all are done; the first exception of a body is thrown again, and
/// parts not begun by then are left out. What a body computes must not depend on where the parts are cut. A call from
/// inside a body, or while another thread's call is running, runs on the calling thread alone. A child forked inside a
/// body must not return from it. Nothing is allocated once the threads are there.
template <class Body>
void parallel_for(std::size_t count, unsigned threads, Body&& body) {
  run_parts(count, threads, PartBody(body));
}

}  // namespace firstlayer
