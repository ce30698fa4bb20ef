// Imports Attention and its companions: rotary positions and writes to a cache.
#include "frontends/onnx/operators/attention.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Operands {
  Tensor q, k, v;  // Query, keys and values, [batch, heads, sequence, size].
  Dim past{0};     // Number of past keys before the first query.
  bool heads_merged = false;
};

std::optional<Operands> ReadOperands(NodeContext& c) {
  Operands o{c.Input(0), c.Input(1), c.Input(2)};
  for (int i = 0; i < 3; ++i) {
    if (!c.CheckRank(i, 3, 4) || !c.CheckRank(i, o.q.rank(), o.q.rank()))
      return std::nullopt;
  }
  if (o.q.rank() == 3) {
    const int64_t q_heads = c.Integer("q_num_heads", 0);
    const int64_t kv_heads = c.Integer("kv_num_heads", 0);
    if (q_heads < 1 || kv_heads < 1) {
      c.FailInvalid(
          "attributes 'q_num_heads', 'kv_num_heads': expected at least 1");
      return std::nullopt;
    }
    o.q = SplitHeads(o.q, q_heads);
    o.k = SplitHeads(o.k, kv_heads);
    o.v = SplitHeads(o.v, kv_heads);
    o.heads_merged = true;
  }
  if (c.Input(4).present() != c.Input(5).present()) {
    c.FailInvalid(
        "past_key and past_value (inputs 4 and 5): expected both or neither, "
        "found one");
    return std::nullopt;
  }
  if (c.Input(4)) {
    if (!c.CheckRank(4, 4, 4) || !c.CheckRank(5, 4, 4)) return std::nullopt;
    o.past = c.Input(4).dim(2);
    o.k = Concat({c.Input(4), o.k}, 2);
    o.v = Concat({c.Input(5), o.v}, 2);
  }
  if (c.ok() && (o.k.dim(1) == Dim(0) || o.v.dim(1) == Dim(0))) {
    c.FailInvalid("expected at least one head of keys and values");
  }
  if (!c.ok()) return std::nullopt;
  return o;
}

// Repeats the heads of keys or values for grouped queries, where each key head
// serves several query heads.
Tensor RepeatHeads(Tensor x, const Dim& heads) {
  if (x.dim(1) == heads) return x;
  const Dim times = FloorDivide(heads, x.dim(1));
  Tensor repeated = Broadcast(Unsqueeze(x, {2}),
                              {x.dim(0), x.dim(1), times, x.dim(2), x.dim(3)});
  return Reshape(repeated, {x.dim(0), heads, x.dim(2), x.dim(3)});
}

Tensor MaskWhere(NodeContext& c, Tensor kept, DType type) {
  return Select(kept, c.Scalar(0, type), c.Scalar(kMinusInfinity, type));
}

// Returns the mask with `length` columns, one per key. A mask that is too short
// hides the keys after its end. If the number of columns depends on data, the
// program checks whether it is 1: a mask of one column applies to all keys.
Tensor LengthenedMask(Tensor mask, const Dim& length) {
  graph::GraphBuilder& builder = mask.builder();
  const int last = mask.rank() - 1;
  const Dim columns = mask.dim(last);
  if (builder.LeavesBroadcastOpen(columns, length)) {
    const Tensor column = IotaVector(builder, length, DType::kI64);
    const Tensor end = DimScalar(builder, columns - Dim(1));
    const Tensor hidden = And(Less(end, column), NotEqual(end, 0));
    return Select(hidden, mask.Like(kMinusInfinity),
                  Gather(mask, Minimum(column, end), last));
  }
  Shape high(mask.rank(), Dim(0));
  high.back() = length - columns;
  return Pad(mask, Shape(mask.rank(), Dim(0)), high, "constant",
             mask.Like(kMinusInfinity));
}

// The masks that hide keys from queries. Either is absent if it hides nothing.
struct Masks {
  // Numbers that are added to the scores: the operand mask, and -inf for keys
  // that are padding or outside of a window.
  Tensor bias;
  // The causal mask, bool, if no operand states the lengths of the sequences
  // (otherwise `bias` has it). It is a comparison of indices and not part of
  // the bias, so that a schedule can skip keys that no query of a tile sees.
  // Every query sees at least the first key.
  Tensor seen;
};

// Reads left_window_size or right_window_size: the number of keys on this side
// of its own position that a query sees; -1 if there is no limit.
int64_t ReadWindowSize(NodeContext& c, const char* name) {
  const int64_t size = c.Integer(name, -1);
  if (size < -1) {
    c.FailInvalid("attribute '" + std::string(name) +
                  "': expected -1 or a number of keys, found " +
                  std::to_string(size));
  }
  return size;
}

Masks ReadMasks(NodeContext& c, const Operands& o) {
  const DType type = o.q.dtype();
  const Dim& length = o.k.dim(2);
  Tensor bias, seen;
  auto add = [&](Tensor part) { bias = bias ? bias + part : part; };
  if (Tensor mask = c.Input(3)) {
    mask = mask.dtype() == DType::kBool ? MaskWhere(c, mask, type)
                                        : Cast(mask, type);
    // If the mask has fewer columns than there are keys, the keys after its end
    // are hidden.
    if (mask.rank() > 0 && mask.dim(-1) != length && mask.dim(-1) != Dim(1)) {
      mask = LengthenedMask(mask, length);
    }
    add(mask);
  }
  Tensor column = AlongAxis(IotaVector(c.builder(), length, DType::kI64), 3, 4);
  Tensor real_length = c.Input(6);  // per batch
  if (real_length) {
    real_length = AlongAxis(Cast(real_length, DType::kI64), 0, 4);
  }
  // The position of each query in the sequence of keys.
  const Tensor place =
      AlongAxis(IotaVector(c.builder(), o.q.dim(2), DType::kI64), 2, 4) +
      (real_length ? real_length - DimScalar(c.builder(), o.q.dim(2))
                   : DimScalar(c.builder(), o.past));
  if (c.Integer("is_causal", 0) != 0) {
    const Tensor before = LessEqual(column, place);
    if (real_length) {
      add(MaskWhere(c, before, type));
    } else {
      seen = before;
    }
  }
  // The window is added to the bias and not to `seen`, because it may hide all
  // keys from a query.
  const int64_t left = ReadWindowSize(c, "left_window_size");
  const int64_t right = ReadWindowSize(c, "right_window_size");
  if (left >= 0) {
    const Tensor first = place - static_cast<double>(left);
    add(MaskWhere(c, LessEqual(first, column), type));
  }
  if (right >= 0) {
    const Tensor last = place + static_cast<double>(right);
    add(MaskWhere(c, LessEqual(column, last), type));
  }
  if (real_length) add(MaskWhere(c, Less(column, real_length), type));
  return {bias, seen};
}

// Sets scores to -inf where `seen` is false.
Tensor HideUnseen(Tensor scores, Tensor seen) {
  return seen ? Select(seen, scores, scores.Like(kMinusInfinity)) : scores;
}

// Returns softmax(scores). A row whose keys are all masked gets probabilities
// of 0 instead of NaN.
Tensor Probabilities(NodeContext& c, Tensor scores, const Masks& masks) {
  const DType type = scores.dtype();
  const DType precision = c.TypeAttribute("softmax_precision").value_or(type);
  Tensor probabilities =
      Cast(Softmax(Cast(scores, precision), scores.rank() - 1), type);
  if (!masks.bias) return probabilities;
  const Tensor bias = HideUnseen(masks.bias, masks.seen);
  Tensor largest = Reduce(bias, "maximum", {bias.rank() - 1}, true);
  return Select(Equal(largest, largest.Like(kMinusInfinity)),
                probabilities.Like(0), probabilities);
}

// Returns the square root of the scale, f64[]. As in the specification, queries
// and keys are each multiplied by it, instead of the scores by the scale.
Tensor ScaleOfOperands(NodeContext& c, const Dim& size) {
  if (c.HasAttribute("scale") || size.is_constant()) {
    const double natural =
        size.is_constant() ? 1 / std::sqrt(static_cast<double>(size.constant()))
                           : 1;
    return c.Scalar(std::sqrt(c.Float("scale", natural)), DType::kF64);
  }
  return 1 / Sqrt(Sqrt(Cast(DimScalar(c.builder(), size), DType::kF64)));
}

void ImportAttention(NodeContext& c) {
  const std::optional<Operands> o = ReadOperands(c);
  if (!o) return;
  const Tensor scale = Cast(ScaleOfOperands(c, o->q.dim(3)), o->q.dtype());
  Tensor k = RepeatHeads(o->k, o->q.dim(1));
  Tensor v = RepeatHeads(o->v, o->q.dim(1));
  Tensor raw = Contract(o->q * scale, k * scale, "bhqs,bhks->bhqk");
  const double softcap = c.Float("softcap", 0);
  Tensor capped = softcap != 0 ? Tanh(raw / softcap) * softcap : raw;
  const Masks masks = ReadMasks(c, *o);
  const Tensor biased = masks.bias ? capped + masks.bias : capped;
  const Tensor scores = HideUnseen(biased, masks.seen);
  const Tensor probabilities = Probabilities(c, scores, masks);
  // The result has the element type of the queries. If the values have another
  // type, they are cast to it before the product.
  Tensor y = Contract(probabilities, Cast(v, probabilities.dtype()),
                      "bhqk,bhks->bhqs");
  c.SetOutput(0, o->heads_merged ? MergeHeads(y) : y);
  c.SetOutput(1, o->k);
  c.SetOutput(2, o->v);
  if (!c.WantsOutput(3)) return;
  const Tensor stages[] = {raw, capped, scores, probabilities};
  const int64_t stage = c.Integer("qk_matmul_output_mode", 0);
  if (stage < 0 || stage > 3) {
    return c.FailInvalid(
        "attribute 'qk_matmul_output_mode': expected 0 to 3, found " +
        std::to_string(stage));
  }
  c.SetOutput(3, stages[stage]);
}

// Returns the rows of the table (the cosines or the sines of the rotation) that
// belong to the positions, [batch, 1, sequence, half].
Tensor RotaryTable(NodeContext& c, Tensor table, const Dim& half) {
  Tensor rows =
      c.Input(3) ? Gather(table, Cast(c.Input(3), DType::kI64), 0) : table;
  if (rows.rank() != 3) {
    c.FailInvalid("cos and sin: expected rank 3 per position, found " +
                  graph::ShapeToString(rows.shape()));
    return rows;
  }
  return Unsqueeze(SliceAxis(rows, 2, Dim(0), half), {1});
}

void ImportRotaryEmbedding(NodeContext& c) {
  if (!c.CheckRank(0, 3, 4)) return;
  Tensor x = c.Input(0);
  const bool merged = x.rank() == 3;
  if (merged) {
    const int64_t heads = c.Integer("num_heads", 0);
    if (heads < 1)
      return c.FailInvalid("attribute 'num_heads': expected at least 1");
    x = SplitHeads(x, heads);
  }
  const int64_t given = c.Integer("rotary_embedding_dim", 0);
  const Dim rotated = given > 0 ? Dim(given) : x.dim(3);
  const Dim half = FloorDivide(rotated, Dim(2));
  Tensor cosine = RotaryTable(c, c.Input(1), half);
  Tensor sine = RotaryTable(c, c.Input(2), half);
  if (!c.ok()) return;
  const bool interleaved = c.Integer("interleaved", 0) != 0;
  Tensor y = RotateHeads(x, cosine, sine, rotated, interleaved);
  c.SetOutput(0, merged ? MergeHeads(y) : y);
}

// Writes new elements into a cache, from a position per batch on. It is
// computed as a gather: each element of the result is read from the cache or
// from the update, so no order of writes matters.
void ImportTensorScatter(NodeContext& c) {
  Tensor cache = c.Input(0);
  Tensor update = c.Input(1);
  const int rank = cache.rank();
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, rank, rank)) return;
  const int axis = c.Axis(c.Integer("axis", -2), rank);
  const std::string mode = c.String("mode", "linear");
  if (!c.ok()) return;
  if (axis == 0) return c.FailInvalid("axis: expected one after the batch");
  if (mode != "linear" && mode != "circular") {
    return c.FailInvalid(
        "attribute 'mode': expected linear or circular, found '" + mode + "'");
  }
  // For each position of the cache, its distance from the first position that
  // is written in this call; negative before it.
  Tensor distance = AlongAxis(
      IotaVector(c.builder(), cache.dim(axis), DType::kI64), axis, rank);
  if (c.Input(2)) {
    if (!c.CheckRank(2, 1, 1)) return;
    distance = distance - AlongAxis(Cast(c.Input(2), DType::kI64), 0, rank);
  }
  if (mode == "circular") {
    distance = Modulo(distance, DimScalar(c.builder(), cache.dim(axis)));
  }
  Tensor written =
      And(LessEqual(0, distance),
          Less(distance, DimScalar(c.builder(), update.dim(axis))));
  Tensor source = Select(written, distance, distance.Like(0));
  Tensor moved =
      Apply("gather_elements", {update, Broadcast(source, cache.shape())},
            {{"axis", int64_t{axis}}});
  c.SetOutput(0, Select(written, moved, cache));
}

constexpr OperatorRow kRows[] = {
    {"Attention", 23, 3, 7, ImportAttention},
    {"RotaryEmbedding", 23, 3, 4, ImportRotaryEmbedding},
    {"TensorScatter", 24, 2, 3, ImportTensorScatter},
};

}  // namespace

Tensor SplitHeads(Tensor x, int64_t heads) {
  const Dim size = FloorDivide(x.dim(2), Dim(heads));
  return Transpose(Reshape(x, {x.dim(0), x.dim(1), Dim(heads), size}),
                   {0, 2, 1, 3});
}

Tensor MergeHeads(Tensor x) {
  return Reshape(Transpose(x, {0, 2, 1, 3}),
                 {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

Tensor RotateHeads(Tensor x, Tensor cosine, Tensor sine, const Dim& rotated,
                   bool interleaved) {
  const Dim half = FloorDivide(rotated, Dim(2));
  Tensor first = interleaved ? SliceAxis(x, 3, Dim(0), half, 2)
                             : SliceAxis(x, 3, Dim(0), half);
  Tensor second = interleaved ? SliceAxis(x, 3, Dim(1), half, 2)
                              : SliceAxis(x, 3, half, half);
  Tensor real = cosine * first - sine * second;
  Tensor imaginary = sine * first + cosine * second;
  Tensor y = interleaved
                 ? Concat({Unsqueeze(real, {4}), Unsqueeze(imaginary, {4})}, 4)
                 : Concat({real, imaginary}, 3);
  if (interleaved) y = Reshape(y, {x.dim(0), x.dim(1), x.dim(2), rotated});
  if (rotated == x.dim(3)) return y;
  return Concat({y, SliceAxis(x, 3, rotated, x.dim(3) - rotated)}, 3);
}

std::span<const OperatorRow> AttentionOperators() { return kRows; }

}  // namespace ember::onnx
