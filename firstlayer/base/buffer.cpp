#include "firstlayer/base/buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace firstlayer {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMapFrom = 2 * kHugePage;

std::size_t round_up(std::size_t value, std::size_t multiple) {
  if (value > SIZE_MAX - 2 * multiple) throw std::bad_alloc();
  return (value + multiple - 1) / multiple * multiple;
}

/// Maps one huge page more than asked, then gives back what lies outside the aligned part.
void* map_aligned(std::size_t bytes) {
  void* raw = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  auto begin = reinterpret_cast<std::uintptr_t>(raw);
  std::uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > begin) munmap(raw, aligned - begin);
  std::size_t tail = begin + kHugePage - aligned;
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

}  // namespace

Buffer::Buffer(std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes >= kMapFrom) {
    std::size_t mapped = round_up(bytes, kHugePage);
    data_ = Handle(map_aligned(mapped), Release{bytes, true});
    return;
  }
  std::size_t rounded = round_up(bytes, kAlignment);
  void* data = std::aligned_alloc(kAlignment, rounded);
  if (data == nullptr) throw std::bad_alloc();
  std::memset(data, 0, rounded);
  data_ = Handle(data, Release{bytes, false});
}

void Buffer::Release::operator()(void* data) const noexcept {
  if (mapped) {
    munmap(data, round_up(bytes, kHugePage));
  } else {
    std::free(data);
  }
}

}  // namespace firstlayer
