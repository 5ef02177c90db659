#include "tests/counted_allocations.h"

#include <cstdlib>
#include <new>

namespace firstlayer::testing {

std::atomic<std::size_t> allocations = 0;

}  // namespace firstlayer::testing

namespace {

void* counted(std::size_t bytes) {
  ++firstlayer::testing::allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
