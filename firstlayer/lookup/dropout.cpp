#include "firstlayer/lookup/dropout.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"

namespace firstlayer {

void DropoutMask::draw(std::size_t count, double p, Generator& generator) {
  if (!(p >= 0.0 && p <= 1.0)) throw_invalid("DropoutMask", "p from 0 to 1", std::to_string(p));
  size_ = count;
  scale_ = p == 1.0 ? 0.0F : 1.0F / static_cast<float>(1.0 - p);
  kept_.assign((count + 63) / 64, p == 0.0 ? ~std::uint64_t{0} : 0);
  if (p == 0.0 || p == 1.0) return;
  // A double of 53 random bits is below 1 - p just where the bits, an integer, are below this.
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 53) - 1;
  const auto bound = static_cast<std::uint64_t>(std::ceil((1.0 - p) * 0x1p53));
  for (std::size_t i = 0; i < count; ++i) {
    kept_[i / 64] |= std::uint64_t{(generator.next_u64() & kMask) < bound} << i % 64;
  }
}

void DropoutMask::apply(std::span<const float> in, std::span<float> out, unsigned threads) const {
  if (in.size() != size_ || out.size() != size_) {
    throw_invalid("DropoutMask::apply", std::to_string(size_) + " numbers, as were drawn for",
                  std::to_string(in.size()) + " and room for " + std::to_string(out.size()));
  }
  constexpr std::size_t kPart = 1 << 12;  // numbers that are worth a visit of another thread
  parallel_for((size_ + kPart - 1) / kPart, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t first = begin * kPart;
    const std::size_t count = std::min(size_, end * kPart) - first;
    if (out.data() != in.data())
      std::ranges::copy(in.subspan(first, count), out.begin() + static_cast<std::ptrdiff_t>(first));
    apply_at(first, out.subspan(first, count));
  });
}

void DropoutMask::apply_at(std::size_t begin, std::span<float> row) const {
  const float factors[] = {0.0F, scale_};
  for (std::size_t k = 0; k < row.size(); ++k) row[k] *= factors[keeps(begin + k)];
}

}  // namespace firstlayer
