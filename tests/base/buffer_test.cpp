#include "firstlayer/base/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace firstlayer {
namespace {

std::uintptr_t address(const Buffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); }

TEST(Buffer, IsZeroedAlignedAndWritableAtEverySize) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, 4 * kMiB - 1, 4 * kMiB,
                            4 * kMiB + 1, 6 * kMiB}) {
    Buffer buffer(bytes);
    ASSERT_EQ(buffer.bytes(), bytes);
    EXPECT_EQ(address(buffer) % 64, 0U) << bytes;
    const auto* data = static_cast<const unsigned char*>(buffer.data());
    EXPECT_TRUE(std::all_of(data, data + bytes, [](unsigned char value) { return value == 0; })) << bytes;
    std::memset(buffer.data(), 0xff, bytes);
  }
}

TEST(Buffer, LargeOnesAreAlignedToHugePages) {
  EXPECT_EQ(address(Buffer(std::size_t{4} << 20)) % (2U << 20), 0U);
  EXPECT_EQ(address(Buffer((std::size_t{9} << 20) + 1)) % (2U << 20), 0U);
}

TEST(Buffer, NoBytesIsNoMemory) {
  EXPECT_EQ(Buffer().data(), nullptr);
  EXPECT_EQ(Buffer().bytes(), 0U);
  EXPECT_EQ(Buffer(0).data(), nullptr);
  EXPECT_EQ(Buffer(0).bytes(), 0U);
}

TEST(Buffer, MoreThanTheMachineHasIsBadAlloc) {
  EXPECT_THROW(Buffer(SIZE_MAX), std::bad_alloc);
  EXPECT_THROW(Buffer(SIZE_MAX - 100), std::bad_alloc);
  EXPECT_THROW(Buffer(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_THROW(Buffer(SIZE_MAX - (std::size_t{6} << 20)), std::bad_alloc);
}

TEST(Buffer, MovesItsMemory) {
  for (std::size_t bytes : {std::size_t{100}, std::size_t{5} << 20}) {
    Buffer first(bytes);
    std::uintptr_t where = address(first);
    Buffer second(std::move(first));
    EXPECT_EQ(address(second), where);
    EXPECT_EQ(second.bytes(), bytes);
    Buffer third(7);
    third = std::move(second);
    EXPECT_EQ(address(third), where);
    EXPECT_EQ(third.bytes(), bytes);
  }
}

}  // namespace
}  // namespace firstlayer
