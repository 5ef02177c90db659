#include "firstlayer/view/byte_dots.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "firstlayer/base/random.h"

namespace firstlayer::byte_dots {
namespace {

/// Random rows of -127 .. 127 and queries of -limit .. limit, or only the two ends of it.
class RandomJob {
 public:
  RandomJob(std::size_t blocks, std::size_t quads, std::size_t count, int limit, bool ends, Generator& generator)
      : rows_(blocks * quads * kBlockBytes), queries_(count * quads * kQuad), shares_(count) {
    const auto draw = [&](int most) {
      if (ends) return generator.next_u32() % 2 == 0 ? -most : most;
      return static_cast<int>(generator.next_u32() % static_cast<unsigned>(2 * most + 1)) - most;
    };
    for (std::uint8_t& byte : rows_) byte = static_cast<std::uint8_t>(draw(kByteLimit) + kZero);
    for (std::int8_t& byte : queries_) byte = static_cast<std::int8_t>(draw(limit));
    for (std::size_t q = 0; q < count; ++q) {
      const auto begin = queries_.begin() + static_cast<std::ptrdiff_t>(q * quads * kQuad);
      shares_[q] = kZero * std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(quads * kQuad), 0);
    }
    job_ = {.rows = rows_.data(),
            .blocks = blocks,
            .quads = quads,
            .queries = queries_.data(),
            .zero_shares = shares_.data(),
            .count = count,
            .out = nullptr};
  }

  template <class Run>
  std::vector<std::int32_t> output(Run run) {
    std::vector<std::int32_t> out(job_.count * job_.blocks * kBlockRows + 16, -77);
    job_.out = out.data();
    run(job_);
    for (std::size_t i = out.size() - 16; i < out.size(); ++i) EXPECT_EQ(out[i], -77) << "written behind the end";
    return out;
  }

 private:
  std::vector<std::uint8_t> rows_;
  std::vector<std::int8_t> queries_;
  std::vector<std::int32_t> shares_;
  Job job_{};
};

TEST(ByteDots, TheReferenceFindsAValueWhereTheLayoutPutsIt) {
  std::vector<std::uint8_t> rows(2 * 2 * kBlockBytes, kZero);
  const std::size_t row = 16 + 3;
  const std::size_t column = 6;
  rows[(row / 16 * 2 + column / 4) * 64 + row % 16 * 4 + column % 4] = kZero + 5;
  std::vector<std::int8_t> query(8);
  query[column] = -3;
  const std::int32_t share = kZero * -3;
  std::vector<std::int32_t> out(32);
  run_reference({rows.data(), 2, 2, query.data(), &share, 1, out.data()});
  for (std::size_t r = 0; r < out.size(); ++r) EXPECT_EQ(out[r], r == row ? -15 : 0) << r;
}

TEST(ByteDots, TheLastKernelIsTheReference) { EXPECT_EQ(kernels().back().name, "reference"); }

TEST(ByteDots, KernelsEqualTheReferenceOnEveryShape) {
  Generator generator(1);
  for (const Kernel& kernel : kernels()) {
    for (const std::size_t blocks : {1U, 2U, 3U, 5U}) {
      for (const std::size_t quads : {1U, 2U, 7U, 40U}) {
        for (std::size_t count = 1; count <= kGroup; ++count) {
          for (const bool ends : {false, true}) {
            RandomJob job(blocks, quads, count, kernel.query_limit, ends, generator);
            EXPECT_EQ(job.output(kernel.run), job.output(run_reference))
                << kernel.name << ", " << blocks << " blocks, " << quads << " quads, " << count << " queries";
          }
        }
      }
    }
  }
}

TEST(ByteDots, TheWidestRowFits) {
  Generator generator(2);
  for (const Kernel& kernel : kernels()) {
    RandomJob job(1, kWidest / kQuad, 1, kernel.query_limit, true, generator);
    EXPECT_EQ(job.output(kernel.run), job.output(run_reference)) << kernel.name;
  }
}

}  // namespace
}  // namespace firstlayer::byte_dots
