#pragma once
// Attention of every token to itself and to those before it, forward and back. Internal to the library.

#include <cstddef>

#include "firstlayer/train/network/panels.h"

namespace firstlayer {

/// For each head of width h, out = softmax(Q K^T / sqrt(h) + bias) V over the keys j <= i of the same row of the batch.
/// With ALiBi the bias is slope (j - i). Vaswani et al., "Attention Is All You Need", 2017, section 3.2. No memory
/// grows with T^2: what the way back needs of the scores is the logarithm of the sum of their exponentials.
struct CausalAttention {
  ConstPanels qkv;     ///< (rows, 3d): queries, keys, values, each of d = heads * h
  std::size_t batch;   ///< B; row b * T + t is place t of row b
  std::size_t length;  ///< T
  std::size_t heads;
  const float* slopes;  ///< (heads,), or nullptr without ALiBi
  Panels out;           ///< (rows, d)
  float* log_sums;      ///< (B, heads, T)
  float* scratch;       ///< causal_attention_scratch() floats for each thread
  unsigned threads;
};
void causal_attention(const CausalAttention& job);
void causal_attention_reference(const CausalAttention& job);

/// dqkv from dout; rows that fill up the last panel become 0.
struct CausalAttentionGradient {
  CausalAttention forward;  ///< as it was, with its results
  ConstPanels dout;         ///< (rows, d)
  Panels dqkv;              ///< (rows, 3d)
};
void causal_attention_gradient(const CausalAttentionGradient& job);
void causal_attention_gradient_reference(const CausalAttentionGradient& job);

/// Queries, keys, values, outputs and their gradients of one head of one row.
inline std::size_t causal_attention_scratch(std::size_t length, std::size_t head_dim) {
  return 8 * panels_for(length) * kPanelRows * head_dim;
}

}  // namespace firstlayer
