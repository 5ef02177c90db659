#pragma once
// Pieces of work dealt out to threads, each of which has memory of its own to work in. Internal to the library.

#include <atomic>
#include <cstddef>

#include "firstlayer/base/threads.h"

namespace firstlayer {

/// Calls body(slot, i) for every i in [0, count), on `threads` threads; calls with the same slot, which is below
/// `threads`, never overlap. What a body computes must not depend on its slot.
template <class Body>
void deal(std::size_t count, unsigned threads, const Body& body) {
  std::atomic<std::size_t> next = 0;
  parallel_for(threads, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t slot = begin; slot < end; ++slot) {
      for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(slot, i);
    }
  });
}

}  // namespace firstlayer
