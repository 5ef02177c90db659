#include "firstlayer/feed/windows.h"

#include <algorithm>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

/// Windows of a stream whose ids outnumber the context; without overflow for any sizes.
std::size_t count_windows(std::size_t ids, std::size_t context, std::size_t stride) {
  return (ids - context - 1) / stride + 1;
}

void check_plan(std::size_t ids, const WindowPlan& plan) {
  if (plan.context == 0 || plan.stride == 0) {
    throw_invalid("copy_windows", "a plan with context and stride of at least 1",
                  "context " + std::to_string(plan.context) + " and stride " + std::to_string(plan.stride));
  }
  const std::size_t fit = ids > plan.context ? count_windows(ids, plan.context, plan.stride) : 0;
  if (plan.count > fit) {
    throw_invalid("copy_windows", "ids for the " + std::to_string(plan.count) + " windows of the plan",
                  std::to_string(ids) + " ids, enough for " + std::to_string(fit));
  }
}

void check_shape(const char* name, const Matrix<TokenId>& received, const Shape<2>& expected) {
  if (received.shape() == expected) return;
  throw_invalid("copy_windows", std::string(name) + " of shape (B, T) = " + shape_text(expected),
                shape_text(received.shape()));
}

}  // namespace

WindowPlan plan_windows(std::size_t ids, std::size_t context, std::size_t stride) {
  if (context == 0) throw_invalid("plan_windows", "context of at least 1", "0");
  if (stride == 0) throw_invalid("plan_windows", "stride of at least 1", "0");
  if (ids <= context)
    throw_invalid("plan_windows", "more ids than context " + std::to_string(context), std::to_string(ids));
  return {context, stride, count_windows(ids, context, stride)};
}

void copy_windows(std::span<const TokenId> ids, const WindowPlan& plan, std::span<const std::size_t> windows,
                  Matrix<TokenId> inputs, Matrix<TokenId> targets) {
  check_plan(ids.size(), plan);
  const Shape<2> shape = {windows.size(), plan.context};
  check_shape("inputs", inputs, shape);
  check_shape("targets", targets, shape);
  for (std::size_t b = 0; b < windows.size(); ++b) {
    if (windows[b] >= plan.count) {
      throw_out_of_range("copy_windows", "windows below " + std::to_string(plan.count),
                         std::to_string(windows[b]) + " at b=" + std::to_string(b));
    }
  }
  for (std::size_t b = 0; b < windows.size(); ++b) {
    const TokenId* begin = ids.data() + windows[b] * plan.stride;
    std::copy_n(begin, plan.context, inputs[b].data());
    std::copy_n(begin + 1, plan.context, targets[b].data());
  }
}

Tensor<TokenId, 2> truncate_rows(View<const TokenId, 2> ids, std::size_t context) {
  if (context == 0) throw_invalid("truncate_rows", "context of at least 1", "0");
  const auto [rows, length] = ids.shape();
  Tensor<TokenId, 2> kept({rows, std::min(length, context)});
  for (std::size_t b = 0; b < rows; ++b) std::ranges::copy(ids[b].first(kept.dim(1)), kept.view()[b].begin());
  return kept;
}

}  // namespace firstlayer
