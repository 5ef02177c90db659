#pragma once
// What explain shows: each claim, what was measured on the text, and what follows from it.

#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/text_input.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/encode/tokenizer.h"
#include "firstlayer/view/explain.h"

namespace firstlayer::cli {

struct Explanation {
  TextSize text;
  std::vector<TokenId> ids;  ///< the first ones of the text, on which the claims were tried
  Shape<2> token_table;      ///< (V, d)
  Shape<2> position_table;   ///< (context, d)
  std::string origin;        ///< of the tables: "drawn from seed 123"
  std::vector<Evidence> evidence;
};

void print_explanation(const Explanation& explanation, const Tokenizer& tokenizer, Console& console);

void print_json_explanation(const Explanation& explanation, const Tokenizer& tokenizer, Console& console);

}  // namespace firstlayer::cli
