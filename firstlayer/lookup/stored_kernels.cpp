// The widening of stored rows on vectors: operation for operation what half.h does to one number.

#include "firstlayer/lookup/stored_kernels.h"

#include <algorithm>

#include "firstlayer/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firstlayer/lookup/stored_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace firstlayer::stored_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Tag>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<Tag>> load_bits(Tag, const std::uint16_t* bits) {
  return hn::PromoteTo(hn::RebindToUnsigned<Tag>(), hn::LoadU(hn::Rebind<std::uint16_t, Tag>(), bits));
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> widen(Tag df, const BFloat16* values, float) {
  return hn::BitCast(df, hn::ShiftLeft<16>(load_bits(df, &values->bits)));
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> widen(Tag df, const Float16* values, float) {
  const hn::RebindToSigned<Tag> di;
  constexpr std::int32_t kRebias = (127 - 15) << 23;
  const auto bits = hn::BitCast(di, load_bits(df, &values->bits));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(di, 0x8000)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(di, 0x7fff)));
  const auto infinity = hn::Set(di, 0x7c00 << 13);

  const auto normal = hn::Add(magnitude, hn::Set(di, kRebias));
  const auto next_exponent = hn::BitCast(df, hn::Add(normal, hn::Set(di, 1 << 23)));
  const auto subnormal = hn::BitCast(di, hn::Sub(next_exponent, hn::Set(df, 0x1p-14F)));
  const auto quiet = hn::IfThenElseZero(hn::Gt(magnitude, infinity), hn::Set(di, 1 << 22));
  const auto special = hn::Or(hn::Add(normal, hn::Set(di, kRebias)), quiet);  // the exponent is all ones

  auto word = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x0400 << 13)), subnormal, normal);
  word = hn::IfThenElse(hn::Lt(magnitude, infinity), word, special);
  return hn::BitCast(df, hn::Or(word, sign));
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> widen(Tag df, const std::int8_t* values, float scale) {
  const auto wide = hn::PromoteTo(hn::RebindToSigned<Tag>(), hn::LoadU(hn::Rebind<std::int8_t, Tag>(), values));
  return hn::Mul(hn::ConvertTo(df, wide), hn::Set(df, scale));
}

/// The row `ahead` is fetched meanwhile.
template <bool kStream, class Value>
HWY_INLINE void write_row(const Value* row, const Value* ahead, float scale, float* HWY_RESTRICT out, std::size_t dim) {
  const hn::ScalableTag<float> df;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(df);
  constexpr std::size_t kLine = 64 / sizeof(Value);
  std::size_t k = 0;
  if constexpr (kStream) {  // streaming stores need an aligned address
    const auto aligned = [&] { return reinterpret_cast<std::uintptr_t>(out + k) % (lanes * sizeof(float)) == 0; };
    for (; k < dim && !aligned(); ++k) hn::StoreU(widen(one, row + k, scale), one, out + k);
  }
  while (k + lanes <= dim) {
    __builtin_prefetch(ahead + k, 0, 2);
    for (const std::size_t end = std::min(k + std::max(kLine, lanes), dim); k + lanes <= end; k += lanes) {
      const auto value = widen(df, row + k, scale);
      if constexpr (kStream) {
        hn::Stream(value, df, out + k);
      } else {
        hn::StoreU(value, df, out + k);
      }
    }
  }
  for (; k < dim; ++k) hn::StoreU(widen(one, row + k, scale), one, out + k);
}

template <bool kStream, class Value>
void write_places(const Job<Value>& job, std::size_t begin, std::size_t end) {
  constexpr std::size_t kAhead = 8;  // rows between a prefetch and its use
  const std::size_t dim = job.table.shape()[1];
  const TokenId* ids = job.ids.data();
  for (std::size_t place = begin; place < end; ++place) {
    const Value* row = job.table.data() + ids[place] * dim;
    const Value* ahead = job.table.data() + ids[std::min(place + kAhead, end - 1)] * dim;
    const float scale = job.scales == nullptr ? 1.0F : job.scales[ids[place]];
    write_row<kStream>(row, ahead, scale, job.out.data() + place * dim, dim);
  }
  if constexpr (kStream) hwy::FlushStream();
}

template <class Value>
void write_some(const Job<Value>& job, bool stream, std::size_t begin, std::size_t end) {
  (stream ? write_places<true, Value> : write_places<false, Value>)(job, begin, end);
}

void write_bfloat16(const Job<BFloat16>& job, bool stream, std::size_t begin, std::size_t end) {
  write_some(job, stream, begin, end);
}

void write_float16(const Job<Float16>& job, bool stream, std::size_t begin, std::size_t end) {
  write_some(job, stream, begin, end);
}

void write_int8(const Job<std::int8_t>& job, bool stream, std::size_t begin, std::size_t end) {
  write_some(job, stream, begin, end);
}

}  // namespace firstlayer::stored_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace firstlayer::stored_kernels {
namespace {

/// Calls write(begin, end) for the places of the job on several threads.
template <class Value, class Write>
void share(const Job<Value>& job, unsigned threads, Write write) {
  if (job.out.size() == 0) return;
  // Waking a thread costs more than it saves on less than this.
  constexpr std::size_t kBytesPerThread = std::size_t{256} << 10;
  if (threads == 0) threads = hardware_threads();
  const std::size_t worth = std::clamp<std::size_t>(job.out.size() * sizeof(float) / kBytesPerThread, 1, threads);
  parallel_for(job.ids.size(), static_cast<unsigned>(worth), write);
}

}  // namespace

HWY_EXPORT(write_bfloat16);
HWY_EXPORT(write_float16);
HWY_EXPORT(write_int8);

void run(const Job<BFloat16>& job, unsigned threads, bool stream) {
  share(job, threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(write_bfloat16)(job, stream, begin, end);
  });
}

void run(const Job<Float16>& job, unsigned threads, bool stream) {
  share(job, threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(write_float16)(job, stream, begin, end);
  });
}

void run(const Job<std::int8_t>& job, unsigned threads, bool stream) {
  share(job, threads, [&](std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(write_int8)(job, stream, begin, end);
  });
}

}  // namespace firstlayer::stored_kernels
#endif  // HWY_ONCE
