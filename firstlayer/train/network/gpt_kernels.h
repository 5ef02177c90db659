#pragma once
// The two ways in which every part of the network is computed. Internal to the library.

#include "firstlayer/train/network/causal_attention.h"
#include "firstlayer/train/network/gelu.h"
#include "firstlayer/train/network/head_loss.h"
#include "firstlayer/train/network/layer_norm.h"
#include "firstlayer/train/network/linear.h"

namespace firstlayer {

struct GptKernels {
  void (*layer_norm)(const LayerNorm&);
  void (*layer_norm_again)(const LayerNorm&);
  void (*layer_norm_gradient)(const LayerNormGradient&);
  void (*linear)(const Linear&);
  void (*linear_input_gradient)(const LinearInputGradient&);
  void (*linear_weight_gradient)(const LinearWeightGradient&);
  void (*gelu)(const Gelu&);
  void (*gelu_gradient)(const GeluGradient&);
  void (*causal_attention)(const CausalAttention&);
  void (*causal_attention_gradient)(const CausalAttentionGradient&);
  void (*head_loss)(const HeadLoss&);
  void (*head_weight_gradient)(const HeadWeightGradient&);
  void (*head_logits)(const HeadLogits&);
};

inline constexpr GptKernels kPlainKernels = {layer_norm_reference,
                                             layer_norm_again_reference,
                                             layer_norm_gradient_reference,
                                             linear_reference,
                                             linear_input_gradient_reference,
                                             linear_weight_gradient_reference,
                                             gelu_reference,
                                             gelu_gradient_reference,
                                             causal_attention_reference,
                                             causal_attention_gradient_reference,
                                             head_loss_reference,
                                             head_weight_gradient_reference,
                                             head_logits_reference};

inline constexpr GptKernels kFastKernels = {layer_norm,
                                            layer_norm_again,
                                            layer_norm_gradient,
                                            linear,
                                            linear_input_gradient,
                                            linear_weight_gradient,
                                            gelu,
                                            gelu_gradient,
                                            causal_attention,
                                            causal_attention_gradient,
                                            head_loss,
                                            head_weight_gradient,
                                            head_logits};

}  // namespace firstlayer
