// Parts of the attention operators of the com.microsoft domain. They compute in
// f32 (f64 for f64 operands), as the engines that define these operators do on
// CPUs. Heads are [batch, heads, sequence, size].
#ifndef EMBER_FRONTENDS_ONNX_CONTRIB_ATTENTION_H_
#define EMBER_FRONTENDS_ONNX_CONTRIB_ATTENTION_H_

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

struct AttentionOperands {
  // k and v may have fewer heads; each then serves several query heads
  Tensor q, k, v;
  Tensor bias;         // added to the scores; may be absent
  Tensor sink;         // a score per head, which enters the softmax only
  Tensor scale;        // factor of q k
  double softcap = 0;  // scores pass through softcap * tanh(· / softcap)
};

struct AttentionResults {
  Tensor y;
  Tensor scores;  // the operand of the softmax
  Tensor probabilities;
};

AttentionResults Attend(const AttentionOperands& operands);

// Returns the attribute `scale`, or 1 / sqrt(head size) without it.
Tensor AttentionScale(NodeContext& c, const Dim& head_size);

// Position of the queries among the keys: query i is at position past + i.
struct AttentionExtents {
  Dim batch, queries, keys;
  Tensor past;  // i64, a scalar or [batch, 1, 1, 1]
};

// Return positions as i64: along dim 3 for keys, along dim 2 for queries (with
// the past added).
Tensor KeyPositions(NodeContext& c, const AttentionExtents& extents);
Tensor QueryPositions(NodeContext& c, const AttentionExtents& extents);

// Returns a bias that is 0 where `kept`, else minus infinity.
Tensor BiasWhere(NodeContext& c, Tensor kept);
// Returns a bias that is `filter` for the keys that the mask hides. The mask
// holds lengths (and starts) of the keys per batch, or a flag per key that is 1
// for keys that count, with or without a dim of queries. The result is absent
// if the mask hides nothing.
Tensor MaskBias(NodeContext& c, Tensor mask, const AttentionExtents& extents,
                double filter);

// Returns a + b, where either may be absent.
Tensor AddOptional(Tensor a, Tensor b);

// Returns a cache of keys or values of `length` positions, with the fresh ones
// written at `past` (i64, a scalar or [batch, 1, 1, 1]). The cache may be
// absent. Elements after the fresh ones are kept if `keep_rest`, else 0.
Tensor WriteToCache(Tensor cache, Tensor fresh, Tensor past, const Dim& length,
                    bool keep_rest);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_CONTRIB_ATTENTION_H_
