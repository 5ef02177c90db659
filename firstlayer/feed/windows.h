#pragma once
// Which stretches of the id stream become rows of a batch. A window holds `context` ids and starts every `stride`; its
// target is the same stretch one id later.

#include <cstddef>
#include <span>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"

namespace firstlayer {

/// Window i covers ids [i * stride, i * stride + context).
struct WindowPlan {
  std::size_t context;  ///< T, ids in a window
  std::size_t stride;   ///< ids from one start to the next; equal to context, each id is an input once
  std::size_t count;    ///< windows whose target still fits in the stream
};

/// count = ceil((ids - context) / stride), the starts of Python's range(0, ids - context, stride).
///   plan_windows(5145, 4, 4).count == 1286
/// Throws std::invalid_argument if context or stride is 0, or no window fits:
///   [plan_windows] expected more ids than context 256, received 4
WindowPlan plan_windows(std::size_t ids, std::size_t context, std::size_t stride);

/// Copies windows[b] into row b of inputs and targets, both (B, T) with B = windows.size() and T = plan.context. The
/// caller owns all memory. Throws std::invalid_argument for another shape or a plan that does not fit the ids,
/// std::out_of_range naming b and the window if it is not in the plan; nothing is written then.
void copy_windows(std::span<const TokenId> ids, const WindowPlan& plan, std::span<const std::size_t> windows,
                  Matrix<TokenId> inputs, Matrix<TokenId> targets);

/// The first `context` ids of each row; (B, T) -> (B, min(T, context)), a copy. For rows that are longer than a
/// position table. Throws std::invalid_argument if context is 0.
Tensor<TokenId, 2> truncate_rows(View<const TokenId, 2> ids, std::size_t context);

}  // namespace firstlayer
