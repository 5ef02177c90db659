#pragma once
// The running example: The Verdict as GPT-2 ids.

#include <fstream>
#include <vector>

#include "firstlayer/base/token_id.h"

namespace firstlayer::testing {

/// The 5,145 ids that tiktoken gives for the text.
inline std::vector<TokenId> verdict_ids() {
  std::ifstream file(FIRSTLAYER_TEST_DATA "/feed/verdict_ids.txt");
  std::vector<TokenId> ids;
  for (TokenId id = 0; file >> id;) ids.push_back(id);
  return ids;
}

}  // namespace firstlayer::testing
