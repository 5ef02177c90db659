#pragma once
// Memory owned once: aligned for vector loads, in huge pages where it is large, zero at first.

#include <cstddef>
#include <memory>

namespace firstlayer {

/// `bytes` of zeroed memory, aligned to 64 bytes. From 4 MiB on it is mapped, aligned to 2 MiB and backed by huge
/// pages where the system grants them; its pages cost nothing until they are touched. Throws std::bad_alloc.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);

  void* data() noexcept { return data_.get(); }
  const void* data() const noexcept { return data_.get(); }
  std::size_t bytes() const noexcept { return data_.get_deleter().bytes; }

 private:
  struct Release {
    std::size_t bytes;
    bool mapped;
    void operator()(void* data) const noexcept;
  };
  using Handle = std::unique_ptr<void, Release>;

  Handle data_;
};

}  // namespace firstlayer
