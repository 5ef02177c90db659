#pragma once
// The step of skip-gram: dot products, what the loss makes of them, and the rows moved. Internal to the library.

#include <cstddef>
#include <span>

#include "firstlayer/base/token_id.h"
#include "firstlayer/train/skip_gram_steps.h"

namespace firstlayer::skip_gram {

/// Sums of products are taken in this many lanes on every processor; rows have whole lanes.
inline constexpr std::size_t kLanes = 16;

/// Both tables, row i at i * stride, aligned to 64 bytes. `stride` is a multiple of kLanes; beyond the width are zeros,
/// which stay zeros.
struct Tables {
  float* inputs;
  float* outputs;
  std::size_t stride;
};

/// What the margin y of a term makes of it; y is the dot product for a neighbour, and less the dot product for noise.
struct Margin {
  float slope;  ///< s(-y) = 1 / (1 + exp(y)): how strongly the term pulls; within 2^-21 of it
  float loss;   ///< -log s(y), within 2^-21 of it
};
Margin margin_reference(float y);

/// With v the input row and u each output row of a step, before it:
///   y = u . v for neighbours, -u . v for noise;  g = rate * s(-y), or less that for noise
///   u = u + g v, one row after the other;  v = v + sum of g u
/// which is the gradient of -log s(y), summed, times less the rate. A row that comes twice in a step counts the second
/// time, in v, as the first has left it. Returns the sum of all losses.
double run_reference(const Tables& tables, const StepList& list);

/// The same bits on the vectors of this processor, on the calling thread.
double run(const Tables& tables, const StepList& list);

/// The sum of all losses with the tables as they are, in double; nothing moves.
double loss_of(const Tables& tables, const StepList& list);

}  // namespace firstlayer::skip_gram
