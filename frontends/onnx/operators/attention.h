// Parts that the attention operators of ai.onnx and com.microsoft share:
// layouts of heads and rotary positions.
//
//   Tensor query = SplitHeads(c.Input(0), heads);
//   query = RotateHeads(query, cosine, sine, query.dim(3), false);
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_ATTENTION_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_ATTENTION_H_

#include <cstdint>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// Splits [batch, sequence, heads * size] into heads, [batch, heads, sequence,
// size].
Tensor SplitHeads(Tensor x, int64_t heads);
// Undoes SplitHeads.
Tensor MergeHeads(Tensor x);

// Rotates the first `rotated` elements of each head of x[batch, heads,
// sequence, size]. A pair is two neighbouring elements if `interleaved`;
// otherwise an element and the one that is rotated / 2 elements after it.
// cosine and sine broadcast against [batch, heads, sequence, rotated / 2].
Tensor RotateHeads(Tensor x, Tensor cosine, Tensor sine, const Dim& rotated,
                   bool interleaved);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_ATTENTION_H_
