// Attention of a layer: projections, rotary positions, keys and values that are
// kept as state, and one softmax over the keys.
//
//   Tensor y = Attend(c, layer, tables, x);
//
// Keys and values of a causal model are state [batch, key heads, context,
// size], named "blk.3.key" and "blk.3.value", of the type f32, f16, bf16 or i8.
// State of i8 has a factor for each row, f32 [batch, key heads, context, 1],
// named "blk.3.key_scale" and "blk.3.value_scale". Each sequence has state of
// its own. The positions past … past + count - 1 are written, all others stay;
// the attention reads the written ones. KeepInState is the only function that
// knows how the state is written.
//
// Errors stay in the graph builder. Not thread-safe.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_ATTENTION_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_ATTENTION_H_

#include "frontends/language_models/layer_context.h"
#include "frontends/language_models/rotary.h"

namespace ember::language_models {

// Returns the attention's result for the normalised x[batch, tokens, width].
// `tables` is null if positions are learned. Appends to c.new_states.
Tensor Attend(LayerContext& c, const LayerOptions& layer,
              const RotaryTables* tables, Tensor x);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_ATTENTION_H_
