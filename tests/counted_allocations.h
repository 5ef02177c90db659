#pragma once
// What a test program takes by operator new, which counted_allocations.cpp replaces where it is linked in. Tables and
// states are mapped, and do not count.

#include <atomic>
#include <cstddef>

namespace firstlayer::testing {

extern std::atomic<std::size_t> allocations;

}  // namespace firstlayer::testing
