#pragma once
// The work behind every lookup: rows of a table, picked by id, with or without the position's row added.
// Internal to the library; embedding_table.cpp and input_embedding.cpp check what comes in.

#include <cstddef>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer::row_kernels {

/// out[b, t] = table[ids[b, t]], plus positions[t] if there are any.
struct Job {
  View<const float, 2> table;  ///< (V, d)
  const float* positions;      ///< at least T rows of d, or nullptr
  View<const TokenId, 2> ids;  ///< (B, T), each below V
  View<float, 3> out;          ///< (B, T, d)
};

/// The readable definition, on one thread.
void run_reference(const Job& job);

/// The same bits on the vectors of this processor and on `threads` threads, 0: all. With `stream`, the output goes past
/// the caches to memory.
void run(const Job& job, unsigned threads, bool stream);

/// Outputs of this many bytes or more are streamed: larger than half of the last-level cache of common processors, they
/// would be out of it again before they are read.
inline constexpr std::size_t kStreamBytes = std::size_t{16} << 20;

inline void run(const Job& job, unsigned threads) { run(job, threads, job.out.size() * sizeof(float) >= kStreamBytes); }

}  // namespace firstlayer::row_kernels
