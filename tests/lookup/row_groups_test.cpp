#include "firstlayer/lookup/row_groups.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "firstlayer/base/random.h"
#include "firstlayer/lookup/group_pieces.h"
#include "tests/test_files.h"

namespace firstlayer {
namespace {

template <class T>
std::vector<T> list(std::span<const T> values) {
  return {values.begin(), values.end()};
}

TEST(RowGroups, HoldThePlacesOfEachIdInAscendingOrder) {
  const std::vector<TokenId> ids = {5, 2, 5, 5, 0, 2};
  const RowGroups groups({ids, {2, 3}}, 6);
  EXPECT_EQ(list(groups.ids()), (std::vector<TokenId>{0, 2, 5}));
  EXPECT_EQ(list(groups.starts()), (std::vector<std::uint32_t>{0, 1, 3, 6}));
  EXPECT_EQ(list(groups.places()), (std::vector<std::uint32_t>{4, 1, 5, 0, 2, 3}));
  EXPECT_EQ(groups.count(2), 3U);
  EXPECT_EQ(groups.batch(), (Shape<2>{2, 3}));
}

TEST(RowGroups, EqualAMapOnRandomIdsWhateverTheyHeldBefore) {
  Generator generator(1);
  RowGroups groups;
  for (int round = 0; round < 200; ++round) {
    const std::size_t vocabulary = 1 + generator.next_u32() % 300;
    Tensor<TokenId, 2> ids({generator.next_u32() % 5, generator.next_u32() % 90});
    std::map<TokenId, std::vector<std::uint32_t>> expected;
    for (std::size_t place = 0; place < ids.size(); ++place) {
      ids.flat()[place] = generator.next_u32() % static_cast<std::uint32_t>(vocabulary);
      expected[ids.flat()[place]].push_back(static_cast<std::uint32_t>(place));
    }
    groups.assign(ids, vocabulary);
    ASSERT_EQ(groups.size(), expected.size());
    std::size_t u = 0;
    for (const auto& [id, places] : expected) {
      EXPECT_EQ(groups.ids()[u], id);
      EXPECT_EQ(list(groups.places().subspan(groups.starts()[u], groups.count(u))), places);
      ++u;
    }
  }
}

TEST(RowGroups, LeaveASkippedIdOut) {
  const std::vector<TokenId> ids = {1, 3, 1, 2};
  const RowGroups groups({ids, {1, 4}}, 4, 1);
  EXPECT_EQ(list(groups.ids()), (std::vector<TokenId>{2, 3}));
  EXPECT_EQ(list(groups.places()), (std::vector<std::uint32_t>{3, 1}));
}

TEST(RowGroups, TakeIdsOfEveryWidth) {
  Tensor<std::uint16_t, 2> narrow({1, 2});
  Tensor<std::int64_t, 2> wide({1, 2});
  narrow.flat()[1] = 65535;
  wide.flat()[1] = 65535;
  EXPECT_EQ(list(RowGroups(narrow, 65536).ids()), (std::vector<TokenId>{0, 65535}));
  EXPECT_EQ(list(RowGroups(wide, 65536).ids()), (std::vector<TokenId>{0, 65535}));
}

TEST(RowGroups, RefuseIdsThatAreNoRowsAndStayAsTheyWere) {
  Tensor<std::int64_t, 2> ids({2, 2});
  RowGroups groups(ids, 7);
  const auto message = [&](std::int64_t id) {
    ids.view()(1, 0) = id;
    return testing::message_of<std::out_of_range>([&] { groups.assign(ids, 7); });
  };
  EXPECT_EQ(message(7), "[RowGroups] expected ids below V = 7, received 7 at (b=1, t=0)");
  EXPECT_EQ(message(-1), "[RowGroups] expected ids below V = 7, received -1 at (b=1, t=0)");
  EXPECT_EQ(message(std::numeric_limits<std::int64_t>::min()),
            "[RowGroups] expected ids below V = 7, received -9223372036854775808 at (b=1, t=0)");
  EXPECT_EQ(message(std::int64_t{1} << 32), "[RowGroups] expected ids below V = 7, received 4294967296 at (b=1, t=0)");
  EXPECT_EQ(list(groups.ids()), (std::vector<TokenId>{0}));
  EXPECT_EQ(groups.count(0), 4U);
}

TEST(GroupPieces, CoverEveryColumnOnceWhereverTheyAreCut) {
  Generator generator(2);
  for (int round = 0; round < 200; ++round) {
    Tensor<TokenId, 2> ids({1, 1 + generator.next_u32() % 60});
    const std::uint32_t vocabulary = 1 + generator.next_u32() % 20;
    for (TokenId& id : ids.flat()) id = generator.next_u32() % vocabulary;
    const RowGroups groups(ids, vocabulary);
    const std::size_t dim = 1 + generator.next_u32() % 1000;
    const bool whole_rows = round % 2 == 0;
    const GroupPieces pieces(groups, dim, whole_rows);
    std::vector<int> visits(groups.size() * dim);
    for (std::size_t from = 0; from < pieces.work();) {
      const std::size_t to = std::min<std::size_t>(pieces.work(), from + 1 + generator.next_u32() % 100);
      pieces.visit(from, to, [&](std::size_t u, std::size_t begin, std::size_t end) {
        if (whole_rows) {
          EXPECT_TRUE(begin == 0 && end == dim);
        }
        for (std::size_t k = begin; k < end; ++k) ++visits[u * dim + k];
      });
      from = to;
    }
    EXPECT_TRUE(std::ranges::all_of(visits, [](int count) { return count == 1; })) << "round " << round;
  }
}

}  // namespace
}  // namespace firstlayer
