#pragma once
// firstlayer: raw text in, the trainable (B, T, d) tensor out. The stages, in the order in which data meets them.

#include "firstlayer/base/errors.h"
#include "firstlayer/base/half.h"
#include "firstlayer/base/random.h"
#include "firstlayer/base/tensor.h"
#include "firstlayer/base/token_id.h"
#include "firstlayer/version.h"

// text -> ids
#include "firstlayer/encode/stream_encoder.h"
#include "firstlayer/encode/tokenizer.h"

// ids -> (inputs, targets), each (B, T)
#include "firstlayer/feed/batches.h"
#include "firstlayer/feed/windows.h"

// tensors on disk
#include "firstlayer/formats/npy.h"
#include "firstlayer/formats/safetensors.h"
#include "firstlayer/formats/stored_rows.h"
#include "firstlayer/formats/word_vectors.h"
#include "firstlayer/formats/word_vectors_writer.h"

// ids (B, T) -> (B, T, d), and the gradient back
#include "firstlayer/lookup/dropout.h"
#include "firstlayer/lookup/embedding.h"
#include "firstlayer/lookup/embedding_bag.h"
#include "firstlayer/lookup/embedding_table.h"
#include "firstlayer/lookup/gradient.h"
#include "firstlayer/lookup/id_view.h"
#include "firstlayer/lookup/input_embedding.h"
#include "firstlayer/lookup/input_gradient.h"
#include "firstlayer/lookup/normalize.h"
#include "firstlayer/lookup/optimizer/clip.h"
#include "firstlayer/lookup/optimizer/input_trainer.h"
#include "firstlayer/lookup/optimizer/ledger.h"
#include "firstlayer/lookup/optimizer/non_finite_gradient.h"
#include "firstlayer/lookup/optimizer/options.h"
#include "firstlayer/lookup/optimizer/schedule.h"
#include "firstlayer/lookup/optimizer/table_optimizer.h"
#include "firstlayer/lookup/row_groups.h"
#include "firstlayer/lookup/stored_table.h"

// where a token stands: what is added to its vector, and what acts later on queries, keys and scores
#include "firstlayer/lookup/position/alibi.h"
#include "firstlayer/lookup/position/position_ids.h"
#include "firstlayer/lookup/position/relative_bias.h"
#include "firstlayer/lookup/position/rotary.h"
#include "firstlayer/lookup/position/rotary_scaling.h"
#include "firstlayer/lookup/position/scheme.h"
#include "firstlayer/lookup/position/sinusoidal.h"

// tables that learn under a GPT-2
#include "firstlayer/train/checkpoint/gpt_checkpoint.h"
#include "firstlayer/train/checkpoint/token_table.h"
#include "firstlayer/train/checkpoint/training_checkpoint.h"
#include "firstlayer/train/generate/generate.h"
#include "firstlayer/train/generate/gpt_decoder.h"
#include "firstlayer/train/generate/sampler.h"
#include "firstlayer/train/generate/whole_characters.h"
#include "firstlayer/train/network/gpt_adamw.h"
#include "firstlayer/train/network/gpt_config.h"
#include "firstlayer/train/network/gpt_network.h"
#include "firstlayer/train/network/gpt_parameters.h"
#include "firstlayer/train/skip_gram.h"
#include "firstlayer/train/trainer/trainer.h"
#include "firstlayer/train/trainer/training_batches.h"
#include "firstlayer/train/word_vocabulary.h"

// what was computed, looked at
#include "firstlayer/view/analogy.h"
#include "firstlayer/view/attention.h"
#include "firstlayer/view/explain.h"
#include "firstlayer/view/families.h"
#include "firstlayer/view/moved_rows.h"
#include "firstlayer/view/neighbors.h"
#include "firstlayer/view/variant_ranks.h"
#include "firstlayer/view/word_lists.h"
#include "firstlayer/view/word_tests.h"
