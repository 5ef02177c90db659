#pragma once
// The work behind every lookup: rows of a table, picked by id, with or without the position's row added.
// Internal to the library; embedding_table.cpp and input_embedding.cpp check what comes in.

#include <cstddef>
#include <functional>
#include <span>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer::row_kernels {

/// Does what is left to do to row number `place` = b * T + t of the output, while it is in the cache.
using Finish = std::function<void(std::size_t place, std::span<float> row)>;

/// out[b, t] = table[ids[b, t]] * scale, plus positions[t] or positions[position_ids[b, t]] if there are any; each of
/// the two is rounded. Then `finish` has the row.
struct Job {
  View<const float, 2> table;  ///< (V, d)
  const float* positions;      ///< rows of d, or nullptr
  View<const TokenId, 2> ids;  ///< (B, T), each below V
  View<float, 3> out;          ///< (B, T, d)
  float scale = 1.0F;
  const TokenId* position_ids = nullptr;  ///< (B, T), or nullptr for t
  const Finish* finish = nullptr;
};

/// The readable definition, on one thread.
void run_reference(const Job& job);

/// The same bits on the vectors of this processor and on `threads` threads, 0: all. With `stream`, the output goes past
/// the caches to memory, unless there is a `finish`, which reads it.
void run(const Job& job, unsigned threads, bool stream);

/// Outputs of this many bytes or more are streamed: larger than half of the last-level cache of common processors, they
/// would be out of it again before they are read.
inline constexpr std::size_t kStreamBytes = std::size_t{16} << 20;

inline void run(const Job& job, unsigned threads) { run(job, threads, job.out.size() * sizeof(float) >= kStreamBytes); }

}  // namespace firstlayer::row_kernels
