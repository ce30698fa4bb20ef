// Rotary positions (Su et al., "RoFormer", 2021) and how they are stretched to
// longer contexts.
//
//   const RotaryTables tables = MakeRotaryTables(c, c.options.rotary);
//   q = Rotate(q, tables, Positions::kRotaryHalves);
//
// Errors stay in the graph builder. Not thread-safe.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_ROTARY_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_ROTARY_H_

#include <vector>

#include "frontends/language_models/layer_context.h"

namespace ember::language_models {

// The angle that each pair of elements is rotated by per position, and the
// factor of cosine and sine.
struct RotaryFrequencies {
  // The angles per position in radians: rotary.dims / 2 numbers.
  std::vector<float> frequencies;
  double magnitude = 1;
};
RotaryFrequencies FrequenciesOf(const RotaryOptions& rotary);

struct RotaryTables {
  // Cosine and sine of each new token's angles: [tokens, 1, rotary.dims / 2].
  Tensor cosine, sine;
};

// Makes the tables for the positions of the new tokens. A model's tensors of
// factors (rope_freqs, rope_factors_short, rope_factors_long) divide the
// frequencies; the long ones are used if the context is longer than the
// original one.
RotaryTables MakeRotaryTables(const LayerContext& c,
                              const RotaryOptions& rotary);

// Rotates the first elements of each head of x[batch, tokens, heads, size],
// as many as the tables have.
Tensor Rotate(Tensor x, const RotaryTables& tables, Positions positions);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_ROTARY_H_
