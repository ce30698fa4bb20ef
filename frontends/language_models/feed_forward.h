// The feed-forward layer of a language model: one, or a mixture of experts.
//
//   Tensor y = FeedForward(c, x);   // x is normalised
//
// The tensors decide its form: with ffn_gate, or with an ffn_up of twice the
// rows whose first half is the gate, the values are multiplied by the activated
// gate. With ffn_gate_inp the layer is a mixture: each token goes through the
// experts that its router's logits choose. The experts are a loop, as in
// ONNX's MoE: an iteration gathers the tokens of one expert, so that only
// chosen experts cost work. Shared experts see all tokens.
//
// Errors stay in the graph builder. Not thread-safe.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_FEED_FORWARD_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_FEED_FORWARD_H_

#include "frontends/language_models/layer_context.h"

namespace ember::language_models {

// Returns the layer's result for x[batch, sequence, width].
Tensor FeedForward(const LayerContext& c, Tensor x);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_FEED_FORWARD_H_
