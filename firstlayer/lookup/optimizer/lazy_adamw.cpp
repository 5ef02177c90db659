#include "firstlayer/lookup/optimizer/lazy_adamw.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>
#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {
namespace {

using adamw_kernels::RowKind;

/// What the moments (2, d) of a row say of it.
RowKind kind_of(std::span<const float> moments) {
  const auto is_zero = [](float x) { return std::bit_cast<std::uint32_t>(x) == 0; };
  if (std::all_of(moments.begin(), moments.end(), is_zero)) return RowKind::kUntouched;
  const auto middle = moments.begin() + static_cast<std::ptrdiff_t>(moments.size() / 2);
  const bool usual = std::all_of(moments.begin(), middle, [](float m) { return std::fabs(m) < 0x1p60F; }) &&
                     std::all_of(middle, moments.end(), [](float v) { return v < 0x1p80F; });
  return usual ? RowKind::kUsual : RowKind::kExtreme;
}

std::string number(double x) {
  std::ostringstream text;
  text << x;
  return text.str();
}

}  // namespace

LazyAdamW::LazyAdamW(View<float, 2> table, const AdamW& options, NonFinite* non_finite)
    : table_(table),
      rule_(options),
      non_finite_(non_finite),
      moments_({table.shape()[0], 2, table.shape()[1]}),
      taken_(table.shape()[0]),
      kinds_(table.shape()[0]) {
  history_.reserve(kHistory);
  // Written, so that the system finds the pages now and not in the first step, which would take a second.
  std::ranges::fill(moments_.flat(), 0.0F);
  for (std::atomic<RowKind>& kind : kinds_) kind = still_kind();
}

RowKind LazyAdamW::still_kind() const { return rule_.eps == 0 ? RowKind::kUsual : RowKind::kUntouched; }

adamw_kernels::Rows LazyAdamW::rows() {
  return {table_.data(), moments_.flat().data(), table_.shape()[0], table_.shape()[1],
          taken_.data(), kinds_.data(),          non_finite_};
}

const AdamWStep& LazyAdamW::begin_step(double lr, unsigned threads) {
  const AdamWStep step(rule_, lr, steps_ + 1);
  if (!(lr >= 0) || !std::isfinite(step.rate) || !std::isfinite(step.decay)) {
    throw_invalid("LazyAdamW::step", "a rate of 0 or more whose step is a finite number", "lr = " + number(lr));
  }
  if (history_.size() == kHistory) settle(threads);
  history_.push_back(step);
  ++steps_;
  return history_.back();
}

void LazyAdamW::end_step(std::size_t touched, unsigned threads) {
  // From here on it costs less to take the step on the other rows, which come from memory in order, than to come back
  // for each of them soon.
  constexpr double kDense = 0.45;
  if (static_cast<double>(touched) > kDense * static_cast<double>(table_.shape()[0])) settle(threads);
}

void LazyAdamW::step(double lr, const RowGroups& groups, const float* dout, unsigned threads) {
  prepare(groups.ids(), threads);
  const AdamWStep& step = begin_step(lr, threads);
  adamw_kernels::step_groups(rows(), rule_, step, steps_, groups, dout, nullptr, threads);
  end_step(groups.size(), threads);
}

void LazyAdamW::step(double lr, const RowGradient& gradient, unsigned threads) {
  prepare(gradient.ids(), threads);
  const AdamWStep& step = begin_step(lr, threads);
  adamw_kernels::step_rows(rows(), rule_, step, steps_, gradient.ids(), gradient.rows().data(), threads);
  end_step(gradient.ids().size(), threads);
}

void LazyAdamW::step(double lr, View<const float, 2> dtable, const RowGroups* groups, const float* dout,
                     unsigned threads) {
  settle(threads);
  const AdamWStep& step = begin_step(lr, threads);
  if (groups != nullptr) {
    adamw_kernels::step_groups(rows(), rule_, step, steps_, *groups, dout, dtable.data(), threads);
  }
  adamw_kernels::step_rest(rows(), rule_, step, steps_, dtable.data(), threads);
}

void LazyAdamW::step(double lr, std::span<const TokenId> positions, View<const float, 3> dout, unsigned threads) {
  prepare(positions, threads);
  const AdamWStep& step = begin_step(lr, threads);
  adamw_kernels::step_batch(rows(), rule_, step, steps_, dout.data(), dout.dim(0), positions.size(), threads);
  end_step(positions.size(), threads);
}

void LazyAdamW::prepare(std::span<const TokenId> ids, unsigned threads) {
  if (!history_.empty()) adamw_kernels::catch_up(rows(), rule_, {history_, settled_}, ids, threads);
}

void LazyAdamW::settle(unsigned threads) {
  if (history_.empty()) return;
  adamw_kernels::catch_up(rows(), rule_, {history_, settled_}, threads);
  history_.clear();
  settled_ = steps_;
}

std::vector<StateRows> LazyAdamW::state() {
  const std::size_t dim = table_.shape()[1];
  float* moments = moments_.flat().data();
  return {{"exp_avg", moments, dim, 2 * dim}, {"exp_avg_sq", moments + dim, dim, 2 * dim}};
}

void LazyAdamW::restored(std::uint64_t steps) {
  history_.clear();
  steps_ = settled_ = steps;
  std::fill(taken_.begin(), taken_.end(), steps);
  for (std::size_t row = 0; row < kinds_.size(); ++row) {
    const RowKind kind = kind_of(moments_.view()[row].flat());
    kinds_[row] = kind == RowKind::kUntouched ? still_kind() : kind;
  }
}

}  // namespace firstlayer
