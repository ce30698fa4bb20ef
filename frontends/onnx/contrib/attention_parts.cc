#include <cmath>
#include <limits>

#include "frontends/onnx/contrib/attention.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

// Splits the heads of x[batch, heads, …] into groups: [batch, groups, heads of
// each, …]. An x whose only head serves all heads gets one group of one head.
Tensor SplitGroups(Tensor x, const Dim& groups) {
  if (!x) return x;
  const bool is_shared = x.dim(1) == Dim(1);
  return Reshape(x, {x.dim(0), is_shared ? Dim(1) : groups,
                     is_shared ? Dim(1) : FloorDivide(x.dim(1), groups),
                     x.dim(2), x.dim(3)});
}

Tensor JoinGroups(Tensor x) {
  return Reshape(x, {x.dim(0), x.dim(1) * x.dim(2), x.dim(3), x.dim(4)});
}

// Returns exp(scores) / (sum exp(scores) + exp(sink)) along the last axis.
Tensor SoftmaxWithSink(Tensor scores, Tensor sink) {
  const int64_t axis = scores.rank() - 1;
  Tensor largest = Maximum(Reduce(scores, "maximum", {axis}, true), sink);
  Tensor powers = Exp(scores - largest);
  return powers / (Reduce(powers, "sum", {axis}, true) + Exp(sink - largest));
}

// Computes the attention by two contractions: `scores_by` is the einsum
// equation of the scores, `values_by` that of the result. The bias, `seen` and
// the sink broadcast to the scores.
AttentionResults AttendBy(const AttentionOperands& o, const char* scores_by,
                          const char* values_by) {
  AttentionResults results;
  Tensor scores = Contract(o.q, o.k, scores_by);
  scores = scores * Cast(o.scale, scores.dtype());
  if (o.softcap != 0) scores = Tanh(scores / o.softcap) * o.softcap;
  scores = AddOptional(scores, o.bias);
  if (o.seen) {
    scores = Select(o.seen, scores,
                    scores.Like(-std::numeric_limits<double>::infinity()));
  }
  results.scores = scores;
  results.probabilities =
      o.sink ? SoftmaxWithSink(results.scores, o.sink)
             : Softmax(results.scores, results.scores.rank() - 1);
  results.y = Contract(results.probabilities, o.v, values_by);
  return results;
}

// Gathers rows of data[batch, rows, …] by index[batch, n].
Tensor GatherRows(Tensor data, Tensor index) {
  return Apply("gather_nd", {data, Unsqueeze(index, {2})},
               {{"batch_dims", int64_t{1}}});
}

}  // namespace

AttentionResults Attend(const AttentionOperands& o) {
  AttentionOperands parts = o;
  if (o.sink) parts.sink = AlongAxis(Cast(o.sink, o.q.dtype()), 1, 4);
  const Dim& groups = o.k.dim(1);
  if (groups == o.q.dim(1))
    return AttendBy(parts, "bhqs,bhks->bhqk", "bhqk,bhks->bhqs");
  // The groups of query heads stay an axis of their own from the scores to the
  // result. A reshape between the two products would prevent their fusion with
  // the softmax into one dispatch.
  parts.q = SplitGroups(o.q, groups);
  parts.bias = SplitGroups(o.bias, groups);
  parts.seen = SplitGroups(o.seen, groups);
  parts.sink = SplitGroups(parts.sink, groups);
  const AttentionResults results =
      AttendBy(parts, "bhgqs,bhks->bhgqk", "bhgqk,bhks->bhgqs");
  return {JoinGroups(results.y), JoinGroups(results.scores),
          JoinGroups(results.probabilities)};
}

Tensor AttentionScale(NodeContext& c, const Dim& head_size) {
  const double given = c.Float("scale", 0);
  if (given != 0) return c.Scalar(given, DType::kF32);
  if (head_size.is_constant()) {
    return c.Scalar(1 / std::sqrt(static_cast<double>(head_size.constant())),
                    DType::kF32);
  }
  return Cast(1 / Sqrt(Cast(DimScalar(c.builder(), head_size), DType::kF64)),
              DType::kF32);
}

Tensor KeyPositions(NodeContext& c, const AttentionExtents& extents) {
  return AlongAxis(IotaVector(c.builder(), extents.keys, DType::kI64), 3, 4);
}

Tensor QueryPositions(NodeContext& c, const AttentionExtents& extents) {
  return AlongAxis(IotaVector(c.builder(), extents.queries, DType::kI64), 2,
                   4) +
         extents.past;
}

namespace {

// Returns true for the keys that a mask keeps, if the mask is the number of
// keys of each batch element. These lengths may be followed by the first keys
// to keep, or by offsets that are not needed here.
Tensor KeptByLength(NodeContext& c, Tensor mask, const AttentionExtents& e) {
  const Dim& count = mask.dim(0);
  Tensor numbers = Cast(mask, DType::kI64);
  auto part = [&](const Dim& start) {
    return AlongAxis(SliceAxis(numbers, 0, start, e.batch), 0, 4);
  };
  Tensor position = KeyPositions(c, e);
  const bool only_lengths =
      count == e.batch ||
      (count != e.batch * Dim(2) && count != e.batch * Dim(3) + Dim(2));
  if (only_lengths) return Less(position, AlongAxis(numbers, 0, 4));
  Tensor kept = Less(position, part(Dim(0)));
  if (count != e.batch * Dim(2)) return kept;
  return And(kept, LessEqual(part(e.batch), position));
}

// Returns the kept keys for a mask of flags: [batch, keys], [batch, queries,
// keys], or [batch, 1, all positions, all positions].
Tensor KeptByFlag(Tensor mask) {
  Tensor flags = NotEqual(Cast(mask, DType::kI32), 0);
  if (mask.rank() == 2) return Unsqueeze(flags, {1, 2});
  return mask.rank() == 3 ? Unsqueeze(flags, {1}) : flags;
}

// Cuts out the part of a mask over all positions that this call needs: the rows
// of its queries and the columns of its keys.
Tensor CutMask(NodeContext& c, Tensor mask, const AttentionExtents& e) {
  if (mask.rank() != 4) return mask;
  Tensor rows = Reshape(QueryPositions(c, e), {e.queries});
  return Gather(SliceAxis(mask, 3, Dim(0), e.keys), rows, 2);
}

}  // namespace

Tensor MaskBias(NodeContext& c, Tensor mask, const AttentionExtents& extents,
                double filter) {
  // A mask of one column has the same value for all keys, so it is ignored.
  if (mask.rank() == 2 && mask.dim(1) == Dim(1)) return Tensor();
  if (mask.rank() < 1 || mask.rank() > 4) {
    if (c.ok()) {
      c.FailInvalid("mask: expected rank 1 to 4, found " +
                    graph::ShapeToString(mask.shape()));
    }
    return mask;
  }
  Tensor kept = mask.rank() == 1 ? KeptByLength(c, mask, extents)
                                 : KeptByFlag(CutMask(c, mask, extents));
  return Select(kept, c.Scalar(0, DType::kF32), c.Scalar(filter, DType::kF32));
}

Tensor AddOptional(Tensor a, Tensor b) {
  if (!a) return b;
  return b ? a + b : a;
}

Tensor WriteToCache(Tensor cache, Tensor fresh, Tensor past, const Dim& length,
                    bool keep_rest) {
  const Dim cached = cache ? cache.dim(2) : Dim(0);
  Tensor all = cache ? Concat({cache, fresh}, 2) : fresh;
  graph::GraphBuilder& builder = fresh.builder();
  Tensor position = AlongAxis(IotaVector(builder, length, DType::kI64), 1, 2);
  if (past.rank() == 4) past = Reshape(past, {past.dim(0), Dim(1)});
  Tensor offset = position - past;
  Tensor is_fresh =
      And(LessEqual(0, offset), Less(offset, DimScalar(builder, fresh.dim(2))));
  Tensor source =
      Select(is_fresh, offset + DimScalar(builder, cached), position);
  // Positions that are not read, or that lie after the written ones, give
  // indices out of range. Clamping keeps the gather valid; its values are
  // replaced or unused there.
  source = Minimum(source, DimScalar(builder, all.dim(2) - Dim(1)));
  source = Broadcast(source, {all.dim(0), length});
  Tensor rows = GatherRows(Transpose(all, {0, 2, 1, 3}), source);
  Tensor y = Transpose(rows, {0, 2, 1, 3});
  if (keep_rest) return y;
  Tensor is_written = Less(offset, DimScalar(builder, fresh.dim(2)));
  is_written = Broadcast(is_written, {all.dim(0), length});
  return Select(Unsqueeze(is_written, {1, 3}), y, y.Like(0));
}

}  // namespace ember::onnx
