#include "firstlayer/lookup/check_input.h"

#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {

void check_input_options(std::string_view where, const InputOptions& options, const EmbeddingSizes& sizes,
                         const Shape<2>& ids) {
  const bool has_positions = sizes.context > 0;
  if (!has_positions && (options.positions || options.offset > 0)) {
    throw_invalid(where, "no positions where there is no position table",
                  options.positions ? "positions" : "offset = " + std::to_string(options.offset));
  }
  if (options.positions && options.offset > 0) {
    throw_invalid(where, "positions or an offset", "both, offset = " + std::to_string(options.offset));
  }
  if (options.positions && options.positions->shape() != ids) {
    throw_invalid(where, "a position for each id of shape (B, T) = " + shape_text(ids),
                  shape_text(options.positions->shape()));
  }
  const bool counted = has_positions && !options.positions;
  if (counted && (ids[1] > sizes.context || options.offset > sizes.context - ids[1])) {
    std::string received = "T = " + std::to_string(ids[1]);
    if (options.offset > 0) received += " from offset = " + std::to_string(options.offset);
    throw_out_of_range(where, "at most context = " + std::to_string(sizes.context) + " ids in a row",
                       received + "; truncate_rows() keeps the first of each row");
  }
  if (options.normalization) check_normalization(where, *options.normalization);
  const std::size_t count = element_count(Shape<3>{ids[0], ids[1], sizes.dim});
  if (options.dropout != nullptr && options.dropout->size() != count) {
    throw_invalid(where, "a dropout mask for B * T * d = " + std::to_string(count) + " numbers",
                  std::to_string(options.dropout->size()));
  }
}

}  // namespace firstlayer
