#include "firstlayer/lookup/one_hot.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/embedding_table.h"

namespace firstlayer {
namespace {

TEST(OneHotLookup, EqualsTheLookupForEveryId) {
  Generator generator(123);
  const Tensor<float, 2> table = random_table(50, 7, generator);
  Tensor<TokenId, 2> ids({5, 10});
  std::iota(ids.flat().begin(), ids.flat().end(), 0U);
  Tensor<float, 3> product({5, 10, 7});
  Tensor<float, 3> lookup({5, 10, 7});
  one_hot_lookup(table, ids, product);
  lookup_rows(table, ids, lookup);
  for (std::size_t i = 0; i < lookup.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(product.flat()[i]), std::bit_cast<std::uint32_t>(lookup.flat()[i])) << i;
  }
}

TEST(OneHotLookup, LosesTheSignOfZero) {
  const std::vector<float> values = {-0.0F, 1.0F};
  const std::vector<TokenId> ids = {0};
  Tensor<float, 3> out({1, 1, 1});
  one_hot_lookup({values, {2, 1}}, {ids, {1, 1}}, out);
  EXPECT_FALSE(std::signbit(out.flat()[0]));
}

TEST(OneHotLookup, RefusesWhatTheLookupRefuses) {
  const std::vector<float> values(6);
  const std::vector<TokenId> ids = {2};
  Tensor<float, 3> out({1, 1, 3});
  Tensor<float, 3> narrow({1, 1, 2});
  EXPECT_THROW(one_hot_lookup({values, {2, 3}}, {ids, {1, 1}}, out), std::out_of_range);
  EXPECT_THROW(one_hot_lookup({values, {2, 3}}, {ids, {1, 1}}, narrow), std::invalid_argument);
}

}  // namespace
}  // namespace firstlayer
