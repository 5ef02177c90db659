#pragma once
// Work on several threads. The threads are made on first use, wait without spinning, and survive a fork (a child makes
// its own).

#include <cstddef>
#include <functional>

namespace firstlayer {

/// The processors this process may run on (its affinity), at least 1.
unsigned hardware_threads();

/// Calls body(begin, end) on disjoint parts that cover [0, count), on at most `threads` threads, the caller's among
/// them; 0 means hardware_threads(). Returns when all are done; the first exception of a body is thrown again, and
/// parts not begun by then are left out. What a body computes must not depend on where the parts are cut. A call from
/// inside a body, or while another thread's call is running, runs on the calling thread alone. A child forked inside a
/// body must not return from it.
void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body);

}  // namespace firstlayer
