// com.microsoft: attention that projects its operands, and attention on
// operands that are already projected.
#include "frontends/onnx/contrib/attention.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/contrib/contrib.h"
#include "frontends/onnx/contrib/families.h"
#include "frontends/onnx/operators/attention.h"
#include "frontends/onnx/operators/quantization.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// The operands that all attention operators of this file have. Each operator
// reads them from different inputs of its node.
struct MultiHead {
  Tensor q, k, v;  // Query, keys and values, [batch, heads, sequence, size].
  Tensor mask, attention_bias;
  Tensor past_key, past_value;
  // Number of positions that are in use, if past_key and past_value are buffers
  // with room for more positions; else absent.
  Tensor past_length;
  Tensor cache_indirection;  // [batch, beams, positions]
  bool causal = false;
  DType type = DType::kF32;  // Element type of the results.
};

struct MultiHeadResults {
  Tensor y, present_key, present_value, scores;
};

Tensor Wide(Tensor x) { return x ? Cast(x, ComputeType(x.dtype())) : x; }

// Pads the last dim with zeros up to `length`. A dim of 1 stays, because it
// broadcasts.
Tensor ExtendLast(Tensor x, const Dim& length) {
  if (x.dim(-1) == length || x.dim(-1) == Dim(1)) return x;
  Shape high(x.rank(), Dim(0));
  high.back() = length - x.dim(-1);
  return Pad(x, Shape(x.rank(), Dim(0)), high, "constant", x.Like(0));
}

// Implements beam search: replaces the row of each past position by the row of
// the beam from which that position was copied. Dim 0 of `rows` is batch ×
// beams.
Tensor FollowBeams(NodeContext& c, Tensor rows, Tensor beams, Tensor past) {
  graph::GraphBuilder& builder = c.builder();
  const Dim& batch = rows.dim(0);
  const Dim& length = rows.dim(2);
  const Dim width = beams.dim(1);
  Tensor position = AlongAxis(IotaVector(builder, length, DType::kI64), 1, 2);
  Tensor row = AlongAxis(IotaVector(builder, batch, DType::kI64), 0, 2);
  Tensor first = row - Modulo(row, DimScalar(builder, width));
  Tensor beam =
      Reshape(Cast(beams, DType::kI64), {beams.dim(0) * width, beams.dim(2)});
  beam = ExtendLast(beam, length);
  Tensor source = Select(Less(position, past), first + beam, row);
  const Shape shape{batch, length, Dim(1)};
  Tensor indices =
      Concat({Reshape(Broadcast(source, {batch, length}), shape),
              Reshape(Broadcast(position, {batch, length}), shape)},
             2);
  Tensor found = Apply("gather_nd", {Transpose(rows, {0, 2, 1, 3}), indices},
                       {{"batch_dims", int64_t{0}}});
  return Transpose(found, {0, 2, 1, 3});
}

MultiHeadResults Compute(NodeContext& c, const MultiHead& m) {
  MultiHeadResults results;
  AttentionOperands o{.q = m.q, .k = m.k, .v = m.v};
  graph::GraphBuilder& builder = c.builder();
  Tensor past = DimScalar(builder, m.past_key ? m.past_key.dim(2) : Dim(0));
  Tensor mask = m.mask;
  Tensor bias = Wide(m.attention_bias);
  const bool is_buffer = m.past_key && m.past_length;
  if (is_buffer) {
    // past_key and past_value are buffers with room for more positions, into
    // which the new keys and values are written.
    const Dim& length = m.past_key.dim(2);
    past = Reshape(Cast(m.past_length, DType::kI64), {});
    o.k = WriteToCache(Wide(m.past_key), o.k, past, length, true);
    o.v = WriteToCache(Wide(m.past_value), o.v, past, length, true);
    if (mask && mask.rank() > 1) mask = ExtendLast(mask, length);
    if (bias) bias = ExtendLast(bias, length);
  } else if (m.past_key) {
    o.k = Concat({Wide(m.past_key), o.k}, 2);
    o.v = Concat({Wide(m.past_value), o.v}, 2);
  }
  results.present_key = Cast(o.k, m.type);
  results.present_value = Cast(o.v, m.type);
  if (m.cache_indirection && m.past_key) {
    o.k = FollowBeams(c, o.k, m.cache_indirection, past);
    o.v = FollowBeams(c, o.v, m.cache_indirection, past);
  }
  const AttentionExtents extents{o.q.dim(0), o.q.dim(2), o.k.dim(2), past};
  const double filter = c.Float("mask_filter_value", -10000.0);
  if (mask) o.bias = MaskBias(c, mask, extents, filter);
  if (m.causal) {
    // The causal mask is a hard one (-inf), while the operand `mask` only
    // lowers scores by a finite filter value. So a row whose visible keys are
    // all masked attends to all of these equally, and to no future key.
    o.seen = LessEqual(KeyPositions(c, extents), QueryPositions(c, extents));
  }
  o.bias = AddOptional(o.bias, bias);
  if (is_buffer) {
    Tensor end = past + DimScalar(builder, extents.queries);
    Tensor written = Less(KeyPositions(c, extents), end);
    o.seen = o.seen ? And(o.seen, written) : written;
  }
  o.scale = AttentionScale(c, o.q.dim(3));
  if (!c.ok()) return results;
  const AttentionResults attended = Attend(o);
  results.y = Cast(MergeHeads(attended.y), m.type);
  results.scores = Cast(attended.scores, m.type);
  return results;
}

// Applies rotary positions to x: rotates pairs of the first `rotated` elements
// by the angle position * 10000^(-2i / rotated) for pair i. Positions begin at
// `past`.
Tensor RotateByPosition(NodeContext& c, Tensor x, Tensor past,
                        int64_t rotated) {
  const Dim half(rotated / 2);
  Tensor position =
      Cast(IotaVector(c.builder(), x.dim(2), DType::kI64) + past, DType::kF64);
  Tensor i = IotaVector(c.builder(), half, DType::kF64);
  Tensor frequency =
      Exp(i * (-2 * std::log(10000.0) / static_cast<double>(rotated)));
  Tensor angle = AlongAxis(position, 2, 4) * AlongAxis(frequency, 3, 4);
  return RotateHeads(x, Cast(Cos(angle), x.dtype()),
                     Cast(Sin(angle), x.dtype()), Dim(rotated), false);
}

void RotateOperands(NodeContext& c, MultiHead& m) {
  const Dim& size = m.q.dim(3);
  const int64_t rotated = c.Integer("rotary_embedding_dim",
                                    size.is_constant() ? size.constant() : 0);
  if (rotated < 2 || rotated % 2 != 0 ||
      (size.is_constant() && rotated > size.constant())) {
    return c.FailInvalid(
        "attribute 'rotary_embedding_dim': expected an even number of up to "
        "the head size, found " +
        std::to_string(rotated));
  }
  Tensor past =
      m.past_key && m.past_length
          ? Reshape(Cast(m.past_length, DType::kI64), {})
          : DimScalar(c.builder(), m.past_key ? m.past_key.dim(2) : Dim(0));
  m.q = RotateByPosition(c, m.q, past, rotated);
  m.k = RotateByPosition(c, m.k, past, rotated);
}

// Splits x[batch, sequence, …], whose last dim holds q, k and v one after
// another. Returns false after an error.
bool SplitProjection(NodeContext& c, Tensor x, int64_t heads,
                     const std::vector<Dim>& sizes, MultiHead& m) {
  Tensor* const parts[] = {&m.q, &m.k, &m.v};
  Dim start(0);
  for (int i = 0; i < 3; ++i) {
    *parts[i] = SplitHeads(SliceAxis(x, 2, start, sizes[i]), heads);
    start = start + sizes[i];
  }
  return c.ok();
}

std::optional<std::vector<Dim>> ProjectionSizes(NodeContext& c,
                                                const Dim& all) {
  const Dim third = FloorDivide(all, Dim(3));
  const std::vector<int64_t> given = c.Integers("qkv_hidden_sizes", {});
  if (given.empty()) return std::vector<Dim>(3, third);
  if (given.size() != 3 || given[0] < 1 || given[1] < 1 || given[2] < 1) {
    c.FailInvalid("attribute 'qkv_hidden_sizes': expected three sizes");
    return std::nullopt;
  }
  return std::vector<Dim>(given.begin(), given.end());
}

Tensor Half(Tensor x, int index) {
  return Squeeze(SliceAxis(x, 0, Dim(index), Dim(1)), {0});
}

// Computes the attention from `x`, in which one product has projected queries,
// keys and values together.
void AttendToProjection(NodeContext& c, Tensor x, Tensor past, MultiHead m) {
  const int64_t heads = PositiveAttribute(c, "num_heads");
  const auto sizes = ProjectionSizes(c, x.dim(-1));
  if (!sizes || !SplitProjection(c, x, heads, *sizes, m)) return;
  if (past) {
    m.past_key = Half(past, 0);
    m.past_value = Half(past, 1);
  }
  if (c.Integer("past_present_share_buffer", 0) == 0) m.past_length = Tensor();
  if (c.Integer("do_rotary", 0) != 0) RotateOperands(c, m);
  m.causal = c.Integer("unidirectional", 0) != 0;
  if (!c.ok()) return;
  const MultiHeadResults results = Compute(c, m);
  if (!c.ok()) return;
  c.SetOutput(0, results.y);
  if (!c.WantsOutput(1)) return;
  c.SetOutput(1, Concat({Unsqueeze(results.present_key, {0}),
                         Unsqueeze(results.present_value, {0})},
                        0));
}

bool CheckProjection(NodeContext& c, int past_input) {
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 2, 2)) return false;
  return !c.Input(past_input) || c.CheckRank(past_input, 5, 5);
}

void ImportAttention(NodeContext& c) {
  if (!CheckProjection(c, 4)) return;
  Tensor x = MatMul(Wide(c.Input(0)), Wide(c.Input(1)));
  x = AddOptional(x, Wide(c.Input(2)));
  AttendToProjection(c, x, c.Input(4),
                     {.mask = c.Input(3),
                      .attention_bias = c.Input(5),
                      .past_length = c.Input(6),
                      .type = c.Input(0).dtype()});
}

// Imports QAttention, whose projection is a product of quantized operands.
void ImportQuantizedAttention(NodeContext& c) {
  if (!CheckProjection(c, 8)) return;
  Tensor product = MatMul(Centered(c.Input(0), c.Input(6)),
                          Centered(c.Input(1), c.Input(7)));
  const DType type = c.Input(3).dtype();
  Tensor scale = Cast(c.Input(3), DType::kF32) * Cast(c.Input(4), DType::kF32);
  Tensor x = Cast(product, DType::kF32) * scale + Wide(c.Input(2));
  AttendToProjection(c, x, c.Input(8), {.mask = c.Input(5), .type = type});
}

// Returns one of the operands that a model packs into one tensor [batch,
// sequence, heads, operands, size], the one with this index, as [batch, heads,
// sequence, size].
Tensor Packed(Tensor x, int index) {
  Tensor item = Squeeze(SliceAxis(x, 3, Dim(index), Dim(1)), {3});
  return Transpose(item, {0, 2, 1, 3});
}

// Returns the operand as [batch, heads, sequence, size], split into heads if it
// is not split yet.
Tensor ToHeads(Tensor x, int64_t heads) {
  return x.rank() == 3 ? SplitHeads(x, heads) : x;
}

// Adds to x the part of the bias that belongs to this operand (the bias is that
// of queries, keys and values, one after another), unless x comes from a cache.
// `start` is the offset of the part, and is moved to the next part.
Tensor AddHeadBias(Tensor x, Tensor bias, Dim& start, bool is_cached) {
  const Dim size = x.dim(1) * x.dim(3);
  Tensor part = SliceAxis(bias, 0, start, size);
  start = start + size;
  if (is_cached) return x;
  return x + Reshape(Cast(part, x.dtype()), {x.dim(1), Dim(1), x.dim(3)});
}

// Reads query, key and value from operands 0 to 2, in any layout that the
// operator accepts. Returns false after an error.
bool ReadOperands(NodeContext& c, int64_t heads, Tensor bias, MultiHead& m) {
  for (int i = 0; i < 3; ++i) {
    if (c.Input(i) && !c.CheckRank(i, 3, 5)) return false;
  }
  Tensor q = Wide(c.Input(0));
  Tensor k = Wide(c.Input(1));
  Tensor v = Wide(c.Input(2));
  const bool is_cached = k && k.rank() == 4;
  if (!k && q.rank() == 5) {
    m.q = Packed(q, 0);
    m.k = Packed(q, 1);
    m.v = Packed(q, 2);
  } else if (!k) {
    const Dim third = FloorDivide(q.dim(2), Dim(3));
    if (!SplitProjection(c, q, heads, {third, third, third}, m)) return false;
  } else if (k.rank() == 5) {
    m.q = ToHeads(q, heads);
    m.k = Packed(k, 0);
    m.v = Packed(k, 1);
  } else if (!v) {
    c.FailInvalid("input 2 is missing");
    return false;
  } else {
    m.q = ToHeads(q, heads);
    m.k = ToHeads(k, heads);
    m.v = ToHeads(v, heads);
  }
  if (bias && c.ok()) {
    Dim start(0);
    m.q = AddHeadBias(m.q, bias, start, false);
    m.k = AddHeadBias(m.k, bias, start, is_cached);
    m.v = AddHeadBias(m.v, bias, start, is_cached);
  }
  return c.ok();
}

void FinishMultiHead(NodeContext& c, MultiHead& m) {
  if (m.past_key &&
      (m.past_key.rank() != 4 || !m.past_value || m.past_value.rank() != 4)) {
    return c.FailInvalid("past: expected keys and values of rank 4");
  }
  if (c.WantsOutput(3) && m.past_key && m.past_length) {
    return c.FailUnsupported(
        "output 3 is not supported where past and present share a buffer");
  }
  m.type = c.Input(0).dtype();
  const MultiHeadResults results = Compute(c, m);
  if (!c.ok()) return;
  c.SetOutput(0, results.y);
  c.SetOutput(1, results.present_key);
  c.SetOutput(2, results.present_value);
  c.SetOutput(3, results.scores);
}

void ImportMultiHeadAttention(NodeContext& c) {
  MultiHead m{.mask = c.Input(4),
              .attention_bias = c.Input(5),
              .past_key = c.Input(6),
              .past_value = c.Input(7),
              .past_length = c.Input(8),
              .cache_indirection = c.Input(9),
              .causal = c.Integer("unidirectional", 0) != 0};
  const int64_t heads = PositiveAttribute(c, "num_heads");
  if (ReadOperands(c, heads, c.Input(3), m)) FinishMultiHead(c, m);
}

void ImportDecoderMaskedMultiHeadAttention(NodeContext& c) {
  MultiHead m{.mask = c.Input(3),
              .attention_bias = c.Input(4),
              .past_key = c.Input(5),
              .past_value = c.Input(6),
              .past_length = c.Input(7),
              .cache_indirection = c.Input(9)};
  if (c.Integer("past_present_share_buffer", 0) == 0) m.past_length = Tensor();
  const int64_t heads = PositiveAttribute(c, "num_heads");
  if (ReadOperands(c, heads, c.Input(10), m)) FinishMultiHead(c, m);
}

constexpr OperatorRow kRows[] = {
    {"Attention", 1, 2, 7, ImportAttention, kMicrosoft},
    {"DecoderMaskedMultiHeadAttention", 1, 1, 11,
     ImportDecoderMaskedMultiHeadAttention, kMicrosoft},
    {"MultiHeadAttention", 1, 1, 10, ImportMultiHeadAttention, kMicrosoft},
    {"QAttention", 1, 5, 9, ImportQuantizedAttention, kMicrosoft},
};

}  // namespace

std::span<const OperatorRow> ContribAttentionOperators() { return kRows; }

}  // namespace ember::onnx
