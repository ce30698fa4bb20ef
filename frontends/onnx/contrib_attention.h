// What the attention operators of the com.microsoft domain are made of. All of
// it computes in f32 (f64 for f64 operands), as the engines that define these
// operators do on CPUs; heads are [batch, heads, sequence, size].
#ifndef EMBER_FRONTENDS_ONNX_CONTRIB_ATTENTION_H_
#define EMBER_FRONTENDS_ONNX_CONTRIB_ATTENTION_H_

#include "frontends/onnx/node_context.h"

namespace ember::onnx {

struct AttentionOperands {
  Tensor q, k, v;      // k and v may have fewer heads, which then serve several
  Tensor bias;         // added to the scores; may be absent
  Tensor sink;         // a score per head that takes part in the softmax only
  Tensor scale;        // of q k
  double softcap = 0;  // scores pass through softcap * tanh(· / softcap)
};

struct AttentionResults {
  Tensor y;
  Tensor scores;  // what the softmax is taken of
  Tensor probabilities;
};

AttentionResults Attend(const AttentionOperands& operands);

// 1 / sqrt(head size), or what attribute `scale` says instead.
Tensor AttentionScale(NodeContext& c, const Dim& head_size);

// Where the queries lie among the keys: query i is at position past + i.
struct AttentionExtents {
  Dim batch, queries, keys;
  Tensor past;  // i64, a scalar or [batch, 1, 1, 1]
};

// i64 positions along dim 3 (of the keys) or 2 (of the queries, past included).
Tensor KeyPositions(NodeContext& c, const AttentionExtents& extents);
Tensor QueryPositions(NodeContext& c, const AttentionExtents& extents);

// 0 where `kept`, else minus infinity.
Tensor BiasWhere(NodeContext& c, Tensor kept);
// `filter` where the mask says so: lengths (and starts) of the keys per batch,
// or 1 for each key that counts, with or without a dim of queries. Absent for a
// mask that says nothing.
Tensor MaskBias(NodeContext& c, Tensor mask, const AttentionExtents& extents,
                double filter);

// Sums of what may be absent.
Tensor AddOptional(Tensor a, Tensor b);

// A cache of keys or values with the fresh ones written at `past` (i64, a
// scalar or [batch, 1, 1, 1]), `length` long. The cache may be absent. What
// lies behind them is kept, or 0.
Tensor WriteToCache(Tensor cache, Tensor fresh, Tensor past, const Dim& length,
                    bool keep_rest);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_CONTRIB_ATTENTION_H_
