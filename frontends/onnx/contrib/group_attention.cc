// com.microsoft: rotary positions, and attention of grouped queries with a
// cache of keys and values.
#include <cstdint>
#include <optional>
#include <string>

#include "frontends/onnx/contrib/attention.h"
#include "frontends/onnx/contrib/contrib.h"
#include "frontends/onnx/contrib/families.h"
#include "frontends/onnx/operators/attention.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

Tensor Wide(Tensor x) { return x ? Cast(x, ComputeType(x.dtype())) : x; }

// Gathers rows of a table (of cosines or sines) by position[batch, sequence].
// The result has a dim of 1 for the heads, so that it broadcasts against
// x[batch, heads, sequence, size].
Tensor PositionRows(Tensor table, Tensor position) {
  return Unsqueeze(Gather(Wide(table), position, 0), {1});
}

struct Rotary {
  Tensor cosine, sine;  // [positions, half]
  Tensor position;      // i64 [batch, sequence]
  bool interleaved = false;
};

Tensor Rotate(Tensor x, const Rotary& rotary) {
  const Dim rotated = rotary.cosine.dim(1) * Dim(2);
  return RotateHeads(x, PositionRows(rotary.cosine, rotary.position),
                     PositionRows(rotary.sine, rotary.position), rotated,
                     rotary.interleaved);
}

// Reads position ids as i64 [batch, sequence]. The operand has one id per
// token, or a single number, the position of the first token of all sequences.
Tensor ReadPositions(NodeContext& c, Tensor ids, const Dim& sequence) {
  Tensor position = Cast(ids, DType::kI64);
  if (ids.rank() == 2) return position;
  if (ids.rank() == 1 && ids.dim(0) == Dim(1)) {
    return Unsqueeze(IotaVector(c.builder(), sequence, DType::kI64) + position,
                     {0});
  }
  c.FailInvalid(
      "position ids: expected shape [1] or [batch, sequence], found " +
      graph::ShapeToString(ids.shape()));
  return c.Wrap(nullptr);
}

void ImportRotaryEmbedding(NodeContext& c) {
  if (!c.CheckRank(0, 3, 4) || !c.CheckRank(2, 2, 2) || !c.CheckRank(3, 2, 2))
    return;
  Tensor x = Wide(c.Input(0));
  const bool is_merged = x.rank() == 3;
  if (is_merged) {
    int64_t heads = c.Integer("num_heads", 0);
    const Dim size = c.Input(2).dim(1) * Dim(2);
    const Dim fitting = FloorDivide(x.dim(2), size);
    if (heads == 0 && fitting.is_constant()) heads = fitting.constant();
    if (heads < 1)
      return c.FailInvalid("attribute 'num_heads': expected at least 1");
    x = SplitHeads(x, heads);
  }
  Rotary rotary{.cosine = c.Input(2), .sine = c.Input(3)};
  rotary.position = ReadPositions(c, c.Input(1), x.dim(2));
  rotary.interleaved = c.Integer("interleaved", 0) != 0;
  if (!c.ok()) return;
  Tensor y = Rotate(x, rotary);
  if (is_merged) y = MergeHeads(y);
  c.SetOutput(0, Cast(y, c.Input(0).dtype()));
}

// Imports the rotation of queries and keys by x cos + x' sin. The operands x'
// (x with its halves exchanged) are inputs of the node.
void ImportGemmaRotaryEmbedding(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  const DType type = c.Input(1).dtype();
  Tensor sine = Unsqueeze(Cast(Sin(c.Input(0)), type), {1});
  Tensor cosine = Unsqueeze(Cast(Cos(c.Input(0)), type), {1});
  c.SetOutput(0, c.Input(1) * cosine + c.Input(2) * sine);
  c.SetOutput(1, c.Input(3) * cosine + c.Input(4) * sine);
}

struct GroupQueryOperands {
  Tensor q, k, v;
  Dim sequence;
  Tensor past;  // Number of cached keys of each sequence, i64 [batch].
};

// Returns false, with an error, for attributes and operands that are not
// supported.
bool CheckGroupQuery(NodeContext& c) {
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    if (c.String(name, "NONE") == "NONE") continue;
    c.FailUnsupported(std::string("attribute '") + name +
                      "': quantized caches are not supported");
    return false;
  }
  if (c.Integer("sliding_window_cache", 0) != 0) {
    c.FailUnsupported("attribute 'sliding_window_cache' is not supported");
    return false;
  }
  if (!CheckPresent(c, {5, 6}) || !c.CheckRank(0, 3, 3)) return false;
  for (int i : {3, 4}) {
    if (c.Input(i) && !c.CheckRank(i, 4, 4)) return false;
  }
  return true;
}

// Returns x with each head divided by its root mean square, times the weight.
Tensor NormalizeHeads(NodeContext& c, Tensor x, Tensor weight) {
  if (!weight) return x;
  Tensor square = Mean(x * x, {3}, true);
  return x / Sqrt(square + c.Float("qk_norm_epsilon", 1e-6)) * Wide(weight);
}

std::optional<GroupQueryOperands> ReadGroupQuery(NodeContext& c) {
  const int64_t heads = PositiveAttribute(c, "num_heads");
  const int64_t kv_heads = PositiveAttribute(c, "kv_num_heads");
  if (!c.ok()) return std::nullopt;
  if (heads % kv_heads != 0) {
    c.FailInvalid(
        "attribute 'num_heads': expected a multiple of 'kv_num_heads'");
    return std::nullopt;
  }
  GroupQueryOperands g;
  g.sequence = c.Input(0).dim(1);
  Tensor q = Wide(c.Input(0));
  if (c.Input(1)) {
    if (!CheckPresent(c, {2}) || !c.CheckRank(1, 3, 3) || !c.CheckRank(2, 3, 3))
      return std::nullopt;
    g.q = SplitHeads(q, heads);
    g.k = SplitHeads(Wide(c.Input(1)), kv_heads);
    g.v = SplitHeads(Wide(c.Input(2)), kv_heads);
  } else {
    const Dim size = FloorDivide(q.dim(2), Dim(heads + 2 * kv_heads));
    const Dim kv_size = size * Dim(kv_heads);
    const Dim q_size = size * Dim(heads);
    g.q = SplitHeads(SliceAxis(q, 2, Dim(0), q_size), heads);
    g.k = SplitHeads(SliceAxis(q, 2, q_size, kv_size), kv_heads);
    g.v = SplitHeads(SliceAxis(q, 2, q_size + kv_size, kv_size), kv_heads);
  }
  g.q = NormalizeHeads(c, g.q, c.Input(14));
  g.k = NormalizeHeads(c, g.k, c.Input(15));
  // `total` is the number of keys that count for each sequence. It may be less
  // than the number of given keys, as prompts may be padded at their end.
  Tensor total = Reshape(Cast(c.Input(5), DType::kI64), {q.dim(0)}) + 1;
  g.past = Maximum(total - DimScalar(c.builder(), g.sequence), 0);
  return g;
}

void RotateGroupQuery(NodeContext& c, GroupQueryOperands& g) {
  if (c.Integer("do_rotary", 0) == 0 || !CheckPresent(c, {7, 8})) return;
  if (!c.CheckRank(7, 2, 2) || !c.CheckRank(8, 2, 2)) return;
  Rotary rotary{.cosine = c.Input(7), .sine = c.Input(8)};
  rotary.interleaved = c.Integer("rotary_interleaved", 0) != 0;
  rotary.position =
      c.Input(9)
          ? ReadPositions(c, c.Input(9), g.sequence)
          : Unsqueeze(IotaVector(c.builder(), g.sequence, DType::kI64), {0}) +
                Unsqueeze(g.past, {1});
  if (!c.ok()) return;
  g.q = Rotate(g.q, rotary);
  g.k = Rotate(g.k, rotary);
}

// Returns the causal mask: true for the keys up to each query's own position,
// and within the window if there is one. Queries at positions after `last` are
// padding; they are treated as queries at `last`.
Tensor VisibleKeys(NodeContext& c, const AttentionExtents& extents,
                   Tensor last) {
  Tensor key = KeyPositions(c, extents);
  Tensor query = Minimum(QueryPositions(c, extents), last);
  Tensor visible = LessEqual(key, query);
  const int64_t window = c.Integer("local_window_size", -1);
  if (window <= 0) return visible;
  return And(visible, Less(query - static_cast<double>(window), key));
}

// Makes the program check the lengths in inputs 5 and 6: each length is from 0
// to below the number of keys, and the total length includes all fresh keys.
void CheckLengths(NodeContext& c, const GroupQueryOperands& g, const Dim& total,
                  const Dim& keys) {
  graph::GraphBuilder& builder = c.builder();
  Tensor last = Cast(c.Input(5), DType::kI64);
  last = Reshape(last, {ElementCount(last.shape())});
  const Tensor in_cache =
      And(LessEqual(0, Reduce(last, "minimum", {0}, false)),
          Less(Reduce(last, "maximum", {0}, false), DimScalar(builder, keys)));
  const Tensor is_counted =
      LessEqual(DimScalar(builder, g.sequence), DimScalar(builder, total));
  builder.Require(
      And(in_cache, is_counted).value(),
      "expected lengths (input 5) from 0 to below the number of keys, and a "
      "total sequence length (input 6) that is not below the number of "
      "queries");
}

void ImportGroupQueryAttention(NodeContext& c) {
  if (!CheckGroupQuery(c)) return;
  std::optional<GroupQueryOperands> g = ReadGroupQuery(c);
  const std::optional<Shape> total = c.Sizes(6, "total sequence length");
  if (!g || !total) return;
  if (total->size() != 1)
    return c.FailInvalid("total sequence length: expected a scalar");
  RotateGroupQuery(c, *g);
  if (!c.ok()) return;
  Tensor past_key = Wide(c.Input(3));
  Tensor past_value = Wide(c.Input(4));
  const Dim keys =
      past_key ? LargerOf(total->front(), past_key.dim(2)) : total->front();
  CheckLengths(c, *g, total->front(), keys);
  Tensor past = AlongAxis(g->past, 0, 4);
  g->k = WriteToCache(past_key, g->k, past, keys, false);
  g->v = WriteToCache(past_value, g->v, past, keys, false);
  const AttentionExtents extents{g->q.dim(0), g->sequence, keys, past};
  AttentionOperands o{.q = g->q, .k = g->k, .v = g->v, .sink = c.Input(11)};
  o.scale = AttentionScale(c, g->q.dim(3));
  o.softcap = c.Float("softcap", 0);
  // The attribute smooth_softmax is the same as a sink with score 0 for every
  // head.
  if (!o.sink && c.Integer("smooth_softmax", 0) == 1)
    o.sink = Broadcast(c.Scalar(0, DType::kF32), {g->q.dim(1)});
  Tensor last = Reshape(Cast(c.Input(5), DType::kI64), past.shape());
  Tensor visible = VisibleKeys(c, extents, last);
  o.seen = visible;
  if (c.Input(10)) o.bias = Wide(c.Input(10));
  if (!c.ok()) return;
  const AttentionResults results = Attend(o);
  const DType type = c.Input(0).dtype();
  c.SetOutput(0, Cast(MergeHeads(results.y), type));
  c.SetOutput(1, Cast(g->k, type));
  c.SetOutput(2, Cast(g->v, type));
  if (!c.WantsOutput(3)) return;
  Tensor scores = results.probabilities;
  if (c.Integer("qk_output", 0) == 1)
    scores = Select(visible, results.scores, results.scores.Like(0));
  c.SetOutput(3, Cast(scores, type));
}

constexpr OperatorRow kRows[] = {
    {"GemmaRotaryEmbedding", 1, 5, 5, ImportGemmaRotaryEmbedding, kMicrosoft},
    {"GroupQueryAttention", 1, 1, 16, ImportGroupQueryAttention, kMicrosoft},
    {"RotaryEmbedding", 1, 4, 4, ImportRotaryEmbedding, kMicrosoft},
};

}  // namespace

std::span<const OperatorRow> ContribGroupAttentionOperators() { return kRows; }

}  // namespace ember::onnx
