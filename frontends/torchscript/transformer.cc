// PyTorch's fused layers of transformers, which modules use in evaluation
// ("fast path"), and the nested tensors that are their operands.
#include <array>
#include <limits>
#include <vector>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Computes a linear layer: x times the transpose of the weight [out, in], plus
// bias.
Tensor Projected(Call& c, const Tensor& x, const Tensor& weight,
                 const Tensor& bias) {
  Machine& machine = c.machine();
  return CallTensorRow(
      c, "aten::linear",
      {{"input", machine.NewTensor(x)},
       {"weight", machine.NewTensor(weight)},
       {"bias", bias ? machine.NewTensor(bias) : Value::None()}});
}

Tensor IsTrue(const Tensor& mask) {
  return mask.dtype() == DType::kBool ? mask
                                      : ops::NotEqual(mask, mask.Like(0));
}

// Returns the argument `mask` in a shape that broadcasts to scores [batch,
// heads, queries, keys]. The mask is true for elements that the softmax leaves
// out. A mask of type 0 is given as [queries, keys], of type 1 as [batch,
// keys], and of type 2 in the scores' shape.
Tensor MaskOfScores(Call& c, const Dim& batch, const Dim& queries) {
  const Tensor mask = IsTrue(c.tensor("mask"));
  if (!c.CheckRank("mask", mask, 2, 4)) return mask;
  int64_t type = c.has("mask_type") ? c.integer("mask_type") : 2;
  if (!c.has("mask_type") && mask.rank() == 2)
    type = mask.dim(0) == batch && mask.dim(0) != queries ? 1 : 0;
  if (type == 1 && mask.rank() == 2) return ops::Unsqueeze(mask, {1, 2});
  if (mask.rank() == 3) return ops::Unsqueeze(mask, {1});
  return mask;
}

struct Heads {
  // Results of multi-head attention: `output` is [batch, queries, width],
  // `weights` (the probabilities) [batch, heads, queries, keys].
  Tensor output, weights;
};
// Computes multi-head attention with its projections: one weight [3 width,
// width] projects queries, keys and values. `hidden` [batch, keys] is true for
// keys that are padding; it may be absent.
Heads Attend(Call& c, const std::array<Tensor, 3>& inputs, bool is_one,
             const Tensor& hidden) {
  const Tensor weight = c.tensor("qkv_weight");
  const Tensor bias = c.tensor("qkv_bias");
  const int64_t count = c.integer("num_heads");
  Heads result;
  result.output = inputs[0];
  for (const Tensor& input : inputs)
    if (!c.CheckRank("query", input, 3, 3)) return result;
  if (!c.CheckRank("qkv_weight", weight, 2, 2)) return result;
  const std::optional<Dim> each =
      ops::DivideElementCounts({inputs[0].dim(2)}, {Dim(count)});
  if (count < 1 || !each) {
    c.FailInvalid("num_heads: expected a divisor of the width " +
                  inputs[0].dim(2).ToString() + ", found " +
                  std::to_string(count));
    return result;
  }
  const Dim width = inputs[0].dim(2);
  std::array<Tensor, 3> parts;
  const Tensor all = is_one ? Projected(c, inputs[0], weight, bias) : Tensor();
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<size_t>(i);
    const Dim start = Dim(i) * width;
    if (is_one) {
      parts[at] = ops::SliceAxis(all, 2, start, width);
    } else {
      parts[at] =
          Projected(c, inputs[at], ops::SliceAxis(weight, 0, start, width),
                    bias ? ops::SliceAxis(bias, 0, start, width) : Tensor());
    }
    parts[at] = ops::Transpose(
        ops::Reshape(parts[at],
                     {parts[at].dim(0), parts[at].dim(1), Dim(count), *each}),
        {0, 2, 1, 3});
  }
  const DType type = inputs[0].dtype();
  const DType wide = ComputeType(type);
  const Tensor scale =
      1.0 / ops::Sqrt(ops::Cast(ops::DimScalar(c.builder(), *each), wide));
  Tensor scores =
      ops::MatMul(ops::Cast(parts[0], wide) * scale,
                  ops::Transpose(ops::Cast(parts[1], wide), {0, 1, 3, 2}));
  Tensor mask;
  if (c.has("mask")) mask = MaskOfScores(c, inputs[0].dim(0), inputs[0].dim(1));
  if (hidden) {
    const Tensor own = ops::Unsqueeze(hidden, {1, 2});
    mask = mask ? ops::Or(mask, own) : own;
  }
  if (!c.ok()) return result;
  if (mask) {
    scores = ops::Select(
        mask, scores.Like(-std::numeric_limits<double>::infinity()), scores);
  }
  const Tensor weights = ops::Softmax(scores, 3);
  const Tensor sums =
      ops::Cast(ops::MatMul(weights, ops::Cast(parts[2], wide)), type);
  const Tensor joined =
      ops::Reshape(ops::Transpose(sums, {0, 2, 1, 3}),
                   {inputs[0].dim(0), inputs[0].dim(1), width});
  result.output =
      Projected(c, joined, c.tensor("proj_weight"), c.tensor("proj_bias"));
  result.weights = ops::Cast(weights, type);
  return result;
}

Value MultiHeadAttention(Call& c) {
  const std::array<Tensor, 3> inputs = {c.tensor("query"), c.tensor("key"),
                                        c.tensor("value")};
  const bool is_one = IsSame(c.value("query"), c.value("key")) &&
                      IsSame(c.value("query"), c.value("value"));
  const Heads heads =
      Attend(c, inputs, is_one, c.machine().HiddenIn(inputs[1]));
  if (!c.ok()) return {};
  Value weights = Value::None();
  if (c.flag("need_weights")) {
    weights = c.machine().NewTensor(
        c.flag("average_attn_weights")
            ? ops::Mean(heads.weights, {1}, /*keep=*/false)
            : heads.weights);
  }
  c.machine().SetHiddenIn(heads.output, c.machine().HiddenIn(inputs[0]));
  return c.machine().NewTuple({c.machine().NewTensor(heads.output), weights});
}

Tensor EncoderLayer(Call& c) {
  const Tensor given = c.tensor("src");
  const bool is_first = c.flag("norm_first");
  const bool is_gelu = c.flag("use_gelu");
  if (!c.CheckRank("src", given, 3, 3)) return given;
  const Tensor hidden = c.machine().HiddenIn(given);
  const Value width = c.machine().NewList({Value::Int(given.dim(2))});
  const auto norm = [&](const Tensor& x, const std::string& number) {
    return CallTensorRow(c, "aten::layer_norm",
                         {{"input", c.machine().NewTensor(x)},
                          {"normalized_shape", width},
                          {"weight", c.value("norm_weight_" + number)},
                          {"bias", c.value("norm_bias_" + number)},
                          {"eps", c.value("eps")}});
  };
  Tensor x = is_first ? norm(given, "1") : given;
  x = Attend(c, {x, x, x}, /*is_one=*/true, hidden).output + given;
  if (!is_first) x = norm(x, "1");
  Tensor y = is_first ? norm(x, "2") : x;
  y = Projected(c, y, c.tensor("ffn_weight_1"), c.tensor("ffn_bias_1"));
  y = is_gelu ? ops::Gelu(y) : ops::Relu(y);
  y = Projected(c, y, c.tensor("ffn_weight_2"), c.tensor("ffn_bias_2")) + x;
  if (!is_first) y = norm(y, "2");
  if (!c.ok()) return given;
  c.machine().SetHiddenIn(y, hidden);
  return y;
}

// Imports _masked_softmax: the softmax over the elements for which the mask is
// false; the others become 0.
Tensor MaskedSoftmax(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return x;
  Tensor mask = IsTrue(c.tensor("mask"));
  const int axis = c.has("dim") ? c.axis("dim", x.rank()) : x.rank() - 1;
  if (x.rank() == 4 && mask.rank() == 2)
    mask = MaskOfScores(c, x.dim(0), x.dim(2));
  if (!c.ok()) return x;
  return ops::Softmax(
      ops::Select(mask, x.Like(-std::numeric_limits<double>::infinity()), x),
      axis);
}

// Imports _addmm_activation: relu(beta self + alpha mat1 mat2), or its gelu.
Tensor LinearActivation(Call& c) {
  const Tensor a = c.tensor("mat1");
  const Tensor b = c.tensor("mat2");
  if (!c.CheckRank("mat1", a, 2, 2) || !c.CheckRank("mat2", b, 2, 2)) return a;
  const Tensor y = ops::MatMul(a, b) * c.scalar("alpha", a.dtype()) +
                   c.tensor("self") * c.scalar("beta", a.dtype());
  return c.flag("use_gelu") ? ops::Gelu(y) : ops::Relu(y);
}

// Makes a nested tensor: sequences of several lengths in one tensor, with a
// mask of the elements after the end of each sequence.
Tensor NestedFromMask(Call& c) {
  const Tensor x = c.tensor("t");
  const Tensor mask = c.tensor("mask");
  if (!c.CheckRank("t", x, 3, 3) || !c.CheckRank("mask", mask, 2, 2)) return x;
  // The mask belongs to the nested tensor only. The operand itself has no
  // padding, so the mask is attached to a new tensor.
  const Tensor own =
      ops::Select(ops::Unsqueeze(IsTrue(mask), {2}), x, x.Like(0));
  c.machine().SetHiddenIn(own, ops::Not(IsTrue(mask)));
  return own;
}
Value IsLeftAligned(Call&) { return Value::Bool(true); }
// Imports to_padded_tensor: returns the sequences of a nested tensor, padded to
// the length of the longest one.
Tensor PaddedTensor(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor hidden = c.machine().HiddenIn(x);
  if (!c.ok()) return x;
  if (!hidden) {
    c.FailUnsupported(
        "expected a nested tensor that a layer of transformers gives, found "
        "another tensor");
    return x;
  }
  const Tensor padded = ops::Select(ops::Unsqueeze(hidden, {2}),
                                    c.scalar("padding", x.dtype()), x);
  if (c.has("output_size")) {
    const Shape size = c.dims("output_size");
    if (size == x.shape()) return padded;
    c.FailUnsupported("output_size: expected the size of the padded tensor");
    return x;
  }
  const Tensor lengths = ops::Reduce(ops::Cast(ops::Not(hidden), DType::kI64),
                                     "sum", {1}, /*keep=*/false);
  const Dim longest = c.machine().ToDim(Value::Dynamic(
      Value::Kind::kInt, ops::Reduce(lengths, "maximum", {0}, /*keep=*/false)));
  return c.ok() ? ops::SliceAxis(padded, 1, Dim(0), longest) : x;
}
Value IsNested(Call& c) {
  return Value::Bool(c.machine().HiddenIn(c.tensor("a")).present());
}

#define EMBER_TORCH_ENCODER                                                  \
  "(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, "           \
  "Tensor? qkv_bias, Tensor proj_weight, Tensor? proj_bias, bool use_gelu, " \
  "bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, "   \
  "Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, "          \
  "Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, "              \
  "Tensor? mask=None, int? mask_type=None)"

constexpr OperatorRow kRows[] = {
    {"_native_multi_head_attention(Tensor query, Tensor key, Tensor value, "
     "int embed_dim, int num_heads, Tensor qkv_weight, Tensor? qkv_bias, "
     "Tensor proj_weight, Tensor? proj_bias, Tensor? mask=None, "
     "bool need_weights=True, bool average_attn_weights=True, "
     "int? mask_type=None)",
     MultiHeadAttention},
    {"_transformer_encoder_layer_fwd" EMBER_TORCH_ENCODER, EncoderLayer},
    {"_masked_softmax(Tensor self, Tensor mask, int? dim=None, "
     "int? mask_type=None)",
     MaskedSoftmax},
    {"_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, "
     "Scalar beta=1, Scalar alpha=1, bool use_gelu=False)",
     LinearActivation},
    {"_nested_tensor_from_mask(Tensor t, Tensor mask, bool mask_check=True)",
     NestedFromMask},
    {"_nested_tensor_from_mask_left_aligned(Tensor t, Tensor mask)",
     IsLeftAligned},
    {"to_padded_tensor(Tensor self, float padding, int[]? output_size=None)",
     PaddedTensor},
    {"nested_to_padded_tensor(Tensor self, float padding, "
     "int[]? output_size=None)",
     PaddedTensor},
    {"prim::is_nested(Tensor a)", IsNested},
};

}  // namespace

std::span<const OperatorRow> TransformerRows() { return kRows; }

}  // namespace ember::torchscript
