#include "firstlayer/lookup/one_hot.h"

#include <cstddef>

#include "firstlayer/lookup/check_lookup.h"

namespace firstlayer {

void one_hot_lookup(View<const float, 2> table, IdView ids, View<float, 3> out) {
  check_out("one_hot_lookup", ids.shape(), table.dim(1), out);
  const CheckedIds checked("one_hot_lookup", table.shape(), ids);
  const auto [V, d] = table.shape();
  const auto [B, T] = ids.shape();
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t k = 0; k < d; ++k) {
        float sum = 0.0F;
        for (std::size_t v = 0; v < V; ++v) {
          const float one_hot = v == checked.view()(b, t) ? 1.0F : 0.0F;
          sum += one_hot * table(v, k);
        }
        out(b, t, k) = sum;
      }
    }
  }
}

void one_hot_gradient(IdView ids, View<const float, 3> dout, View<float, 2> dtable) {
  check_dout("one_hot_gradient", ids.shape(), dtable.dim(1), dout);
  const CheckedIds checked("one_hot_gradient", dtable.shape(), ids);
  const auto [V, d] = dtable.shape();
  const auto [B, T] = ids.shape();
  for (std::size_t v = 0; v < V; ++v) {
    for (std::size_t k = 0; k < d; ++k) {
      float sum = 0.0F;
      for (std::size_t b = 0; b < B; ++b) {
        for (std::size_t t = 0; t < T; ++t) {
          const float one_hot = v == checked.view()(b, t) ? 1.0F : 0.0F;
          sum += one_hot * dout(b, t, k);
        }
      }
      dtable(v, k) = sum;
    }
  }
}

}  // namespace firstlayer
