#include "firstlayer/lookup/embedding_table.h"

#include "firstlayer/base/errors.h"
#include "firstlayer/lookup/check_lookup.h"
#include "firstlayer/lookup/row_kernels.h"

namespace firstlayer {

Tensor<float, 2> random_table(std::size_t rows, std::size_t dim, Generator& generator, double std) {
  if (rows == 0 || dim == 0)
    throw_invalid("random_table", "rows and dim of at least 1", shape_text(Shape<2>{rows, dim}));
  Tensor<float, 2> table({rows, dim});
  generator.fill_normal(table.flat(), 0.0, std);
  return table;
}

void lookup_rows(View<const float, 2> table, IdView ids, View<float, 3> out, unsigned threads) {
  check_out("lookup_rows", ids.shape(), table.dim(1), out);
  const CheckedIds checked("lookup_rows", table.shape(), ids);
  row_kernels::run({table, nullptr, checked.view(), out}, threads);
}

}  // namespace firstlayer
