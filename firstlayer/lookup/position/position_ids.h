#pragma once
// Which position each id of a batch stands at. Without more ado it is its place in the row; padding, a key-value cache,
// documents packed into one row and models that count from another number say otherwise.
//
// `offset` is added to every position: the ids already in the cache, or OPT's 2.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/lookup/id_view.h"

namespace firstlayer {

/// positions[b, t] = offset + t for ids of shape (B, T). Throws std::out_of_range if one does not fit 32 bits.
Tensor<TokenId, 2> consecutive_positions(const Shape<2>& ids, std::size_t offset = 0);

/// Positions (B, T) of ids (B, T) under an attention mask (B, P + T) of 1 for a token and 0 for padding, whose first P
/// columns are those of ids in a key-value cache: offset + the number of tokens before this one in its row, so that
/// left padding does not move a sentence. What is masked stands at `masked`: 0 in transformers 5 (generate()), 1 in
/// transformers 4; attention does not look at it, but the position must exist.
///   mask 0 0 1 1 1 -> 0 0 0 1 2
/// Throws std::invalid_argument for a mask of another shape or with another number, naming its (b, t);
/// std::out_of_range if a position does not fit 32 bits.
Tensor<TokenId, 2> masked_positions(View<const std::uint8_t, 2> mask, const Shape<2>& ids, std::size_t offset = 0,
                                    TokenId masked = 0);

/// Positions that start anew after each `end` id, which belongs to the document that it ends. A row starts at `offset`,
/// and so does each document in it.
///   ids 5 6 END 7 8 -> 0 1 2 0 1
/// Throws std::out_of_range if a position does not fit 32 bits.
Tensor<TokenId, 2> document_positions(IdView ids, TokenId end, std::size_t offset = 0);

/// Throws std::out_of_range naming the first position that is not below `context`, and its (b, t).
void check_positions(std::string_view where, View<const TokenId, 2> positions, std::size_t context);

}  // namespace firstlayer
