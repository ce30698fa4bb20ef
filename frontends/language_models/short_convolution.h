// The short convolution of LFM2: a gated convolution over the last positions,
// in layers without attention.
//
//   Tensor y = ShortConvolution(c, x);
//
// The values of the last positions are state, f32 [batch, options.convolution -
// 1, width], named "blk.3.convolution". Errors stay in the graph builder. Not
// thread-safe.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_SHORT_CONVOLUTION_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_SHORT_CONVOLUTION_H_

#include "frontends/language_models/layer_context.h"

namespace ember::language_models {

// Returns the result for the normalised x[batch, sequence, width]. Appends to
// c.new_states.
Tensor ShortConvolution(LayerContext& c, Tensor x);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_SHORT_CONVOLUTION_H_
