#pragma once
// Counts what a test program takes by operator new, which is replaced: to be included once in a program. Tables and
// states are mapped, and do not count.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace firstlayer::testing {

inline std::atomic<std::size_t> allocations = 0;

inline void* counted(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace firstlayer::testing

void* operator new(std::size_t bytes) { return firstlayer::testing::counted(bytes); }
void* operator new[](std::size_t bytes) { return firstlayer::testing::counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
