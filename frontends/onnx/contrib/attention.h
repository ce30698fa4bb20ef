// Parts of the attention operators of the com.microsoft domain. They compute in
// f32 (f64 for f64 operands), as the engines that define these operators do on
// CPUs. Heads are [batch, heads, sequence, size].
#ifndef EMBER_FRONTENDS_ONNX_CONTRIB_ATTENTION_H_
#define EMBER_FRONTENDS_ONNX_CONTRIB_ATTENTION_H_

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

struct AttentionOperands {
  // Query, keys and values. k and v may have fewer heads than q; each of their
  // heads then serves several query heads.
  Tensor q, k, v;
  Tensor bias;  // Bias that is added to the scores; may be absent.
  // True for the keys that a query sees; may be absent. The scores of all other
  // keys become -inf, whatever they were.
  Tensor seen;
  // One further score per head, which adds to the denominator of the softmax
  // only; may be absent.
  Tensor sink;
  Tensor scale;  // Factor of the scores q kᵀ.
  // If not 0, each score s becomes softcap * tanh(s / softcap).
  double softcap = 0;
};

struct AttentionResults {
  Tensor y;
  // The scores (q kᵀ, scaled, biased and masked), before the softmax.
  Tensor scores;
  Tensor probabilities;
};

AttentionResults Attend(const AttentionOperands& operands);

// Returns the attribute `scale`, or 1 / sqrt(head size) if it is absent or 0.
Tensor AttentionScale(NodeContext& c, const Dim& head_size);

// Extents of an attention, and the position of the queries among the keys:
// query i is at position past + i.
struct AttentionExtents {
  Dim batch, queries, keys;
  // Number of keys before the first query, i64: a scalar or [batch, 1, 1, 1].
  Tensor past;
};

// Return the positions of the keys (KeyPositions, 0, 1, …, along dim 3) or of
// the queries (QueryPositions, `past` added, along dim 2) among all keys, as
// i64.
Tensor KeyPositions(NodeContext& c, const AttentionExtents& extents);
Tensor QueryPositions(NodeContext& c, const AttentionExtents& extents);

// Returns a bias that is `filter` for the keys that the mask hides. The mask
// holds lengths (and starts) of the keys per batch, or a flag per key that is 1
// for keys that count, with or without a dim of queries. The result is absent
// for a mask [batch, 1], which is the same for all keys.
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
