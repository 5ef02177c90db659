#include "firstlayer/lookup/position/check_scores.h"

#include <string>

#include "firstlayer/base/errors.h"

namespace firstlayer {

void check_scores(std::string_view where, std::size_t heads, std::size_t queries, std::size_t keys) {
  if (heads == 0 || queries == 0 || keys < queries) {
    throw_invalid(
        where, "at least 1 head, at least 1 query and no fewer keys than queries",
        std::to_string(heads) + " heads, " + std::to_string(queries) + " queries, " + std::to_string(keys) + " keys");
  }
}

}  // namespace firstlayer
