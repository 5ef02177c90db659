#include "firstlayer/lookup/position/rotary.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "firstlayer/base/errors.h"
#include "firstlayer/base/threads.h"
#include "firstlayer/lookup/position/position_ids.h"

namespace firstlayer {
namespace {

/// A turn by the angle of the tables, or by its negative.
enum class Direction { kForward, kBack };

std::size_t checked_rotary_dim(const RotaryOptions& options) {
  const std::size_t rotary_dim = options.rotary_dim.value_or(options.head_dim);
  if (rotary_dim > options.head_dim) {
    throw_invalid("RotaryTable", "a rotary_dim of at most head_dim = " + std::to_string(options.head_dim),
                  std::to_string(rotary_dim));
  }
  return rotary_dim;
}

void check_angles(const RotaryFrequencies& frequencies, std::size_t context) {
  const double highest = std::ranges::max(frequencies.theta);
  if (!std::isfinite(highest * static_cast<double>(context))) {
    throw_invalid("RotaryTable", "frequencies with finite angles at every position below " + std::to_string(context),
                  std::to_string(highest));
  }
}

void check_width(std::string_view where, const Shape<4>& x, std::size_t head_dim) {
  if (x[3] == head_dim) return;
  throw_invalid(where, "vectors (B, heads, T, head_dim) of head_dim = " + std::to_string(head_dim), shape_text(x));
}

void check_offset(std::string_view where, const Shape<4>& x, std::size_t offset, std::size_t context) {
  if (offset <= context && x[2] <= context - offset) return;
  throw_out_of_range(where, "positions below context = " + std::to_string(context),
                     "offset = " + std::to_string(offset) + " and T = " + std::to_string(x[2]));
}

void check_places(std::string_view where, const Shape<4>& x, View<const TokenId, 2> positions, std::size_t context) {
  if (positions.shape() != Shape<2>{x[0], x[2]}) {
    throw_invalid(where,
                  "positions (B, T) = " + shape_text(Shape<2>{x[0], x[2]}) +
                      " for vectors (B, heads, T, head_dim) = " + shape_text(x),
                  shape_text(positions.shape()));
  }
  check_positions(where, positions, context);
}

/// The tables and what they are applied to.
struct Rotation {
  View<const float, 2> cosines;
  View<const float, 2> sines;
  RotaryPairing pairing;
  Direction direction;

  /// Turns the pairs of one query or key; what lies behind the pairs stays.
  void turn(std::span<float> head, std::size_t position) const {
    const std::size_t pairs = cosines.dim(1);
    if (pairing == RotaryPairing::kHalves) {
      turn_pairs(head.data(), head.data() + pairs, 1, position);
    } else {
      turn_pairs(head.data(), head.data() + 1, 2, position);
    }
  }

  /// Pair i is first[i * step] and second[i * step].
  void turn_pairs(float* first, float* second, std::size_t step, std::size_t position) const {
    const std::span<const float> cosine = cosines[position];
    const std::span<const float> sine = sines[position];
    const float sign = direction == Direction::kForward ? 1.0F : -1.0F;
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const float a = first[i * step];
      const float b = second[i * step];
      const float s = sign * sine[i];
      first[i * step] = a * cosine[i] - b * s;
      second[i * step] = b * cosine[i] + a * s;
    }
  }

  /// position_of(b, t) for every vector of x.
  template <class PositionOf>
  void apply(View<float, 4> x, unsigned threads, const PositionOf& position_of) const {
    const std::size_t heads = x.dim(1);
    parallel_for(x.dim(0) * heads, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t plane = begin; plane < end; ++plane) {
        const std::size_t b = plane / heads;
        const View<float, 2> vectors = x[b][plane % heads];
        for (std::size_t t = 0; t < vectors.dim(0); ++t) turn(vectors[t], position_of(b, t));
      }
    });
  }
};

}  // namespace

RotaryTable::RotaryTable(const RotaryOptions& options, std::size_t context)
    : pairing_(options.pairing),
      head_dim_(options.head_dim),
      frequencies_(rotary_frequencies(checked_rotary_dim(options), options.base, options.scaling, context)) {
  if (context == 0) throw_invalid("RotaryTable", "a context of at least 1", "0");
  check_angles(frequencies_, context);
  const std::size_t pairs = frequencies_.theta.size();
  cosines_ = Tensor<float, 2>({context, pairs});
  sines_ = Tensor<float, 2>({context, pairs});
  const View<float, 2> cosines = cosines_;
  const View<float, 2> sines = sines_;
  for (std::size_t t = 0; t < context; ++t) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(t) * frequencies_.theta[i];
      cosines(t, i) = static_cast<float>(std::cos(angle) * frequencies_.attention_factor);
      sines(t, i) = static_cast<float>(std::sin(angle) * frequencies_.attention_factor);
    }
  }
}

void RotaryTable::rotate(View<float, 4> x, std::size_t offset, unsigned threads) const {
  check_width("RotaryTable::rotate", x.shape(), head_dim_);
  check_offset("RotaryTable::rotate", x.shape(), offset, cosines_.dim(0));
  Rotation{cosines_, sines_, pairing_, Direction::kForward}.apply(
      x, threads, [&](std::size_t, std::size_t t) { return offset + t; });
}

void RotaryTable::rotate(View<float, 4> x, View<const TokenId, 2> positions, unsigned threads) const {
  check_width("RotaryTable::rotate", x.shape(), head_dim_);
  check_places("RotaryTable::rotate", x.shape(), positions, cosines_.dim(0));
  Rotation{cosines_, sines_, pairing_, Direction::kForward}.apply(
      x, threads, [&](std::size_t b, std::size_t t) { return positions(b, t); });
}

void RotaryTable::rotate_gradient(View<float, 4> dx, std::size_t offset, unsigned threads) const {
  check_width("RotaryTable::rotate_gradient", dx.shape(), head_dim_);
  check_offset("RotaryTable::rotate_gradient", dx.shape(), offset, cosines_.dim(0));
  Rotation{cosines_, sines_, pairing_, Direction::kBack}.apply(dx, threads,
                                                               [&](std::size_t, std::size_t t) { return offset + t; });
}

void RotaryTable::rotate_gradient(View<float, 4> dx, View<const TokenId, 2> positions, unsigned threads) const {
  check_width("RotaryTable::rotate_gradient", dx.shape(), head_dim_);
  check_places("RotaryTable::rotate_gradient", dx.shape(), positions, cosines_.dim(0));
  Rotation{cosines_, sines_, pairing_, Direction::kBack}.apply(
      dx, threads, [&](std::size_t b, std::size_t t) { return positions(b, t); });
}

}  // namespace firstlayer
