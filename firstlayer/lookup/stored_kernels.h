#pragma once
// Rows of fewer bits, picked by id and widened to float32. Internal to the library; stored_table.cpp checks what comes
// in.

#include <cstddef>
#include <cstdint>

#include "firstlayer/base/half.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer::stored_kernels {

/// out[b, t] = table[ids[b, t]] as floats, times scales[ids[b, t]] for 8-bit integers.
template <class Value>
struct Job {
  View<const Value, 2> table;  ///< (V, d)
  const float* scales;         ///< (V,), or nullptr for floating-point values
  View<const TokenId, 2> ids;  ///< (B, T), each below V
  View<float, 3> out;          ///< (B, T, d)
};

/// The readable definition, on one thread.
template <class Value>
void run_reference(const Job<Value>& job);

/// The same bits on the vectors of this processor and on `threads` threads, 0: all. With `stream`, the output goes past
/// the caches to memory.
void run(const Job<BFloat16>& job, unsigned threads, bool stream);
void run(const Job<Float16>& job, unsigned threads, bool stream);
void run(const Job<std::int8_t>& job, unsigned threads, bool stream);

}  // namespace firstlayer::stored_kernels
