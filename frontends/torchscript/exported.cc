// Operators that occur in graphs of torch.export but not in TorchScript code:
// core ATen's forms of layers, queries about symbolic dims, assertions. Most of
// these rows call another row, with the parameters in another order.
#include <optional>
#include <string>
#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// Returns a tuple of `value` and `count` results that Ember does not compute,
// such as the mask of a dropout. It is an error if the program uses them.
// `what`: names them in the error.
Value WithUnknown(Call& c, const Value& value, size_t count,
                  std::string_view what) {
  std::vector<Value> items = {value};
  const Value unknown =
      Value::Text(Kind::kConflict,
                  std::string(what) + " of " + c.schema().name + ", which " +
                      (what.ends_with('s') ? "are" : "is") + " not supported");
  items.resize(count + 1, unknown);
  return c.machine().NewTuple(std::move(items));
}

// Layers.
Value BatchNormInference(Call& c) {
  return WithUnknown(c,
                     Redirect(c, "aten::batch_norm",
                              {{"training", Value::Bool(false)},
                               {"cudnn_enabled", Value::Bool(false)}}),
                     2, "statistics");
}
Value BatchNorm(Call& c) {
  return WithUnknown(
      c,
      Redirect(c, "aten::batch_norm", {{"cudnn_enabled", Value::Bool(false)}}),
      2, "statistics");
}
Value BatchNormWithoutStatistics(Call& c) {
  return WithUnknown(c,
                     Redirect(c, "aten::batch_norm",
                              {{"running_mean", Value::None()},
                               {"running_var", Value::None()},
                               {"cudnn_enabled", Value::Bool(false)}}),
                     2, "statistics");
}
Value GroupNorm(Call& c) {
  return WithUnknown(
      c, Redirect(c, "aten::group_norm", {{"num_groups", c.value("group")}}), 2,
      "statistics");
}
Value RmsNorm(Call& c) {
  return WithUnknown(c, Redirect(c, "aten::rms_norm"), 1, "deviations");
}
Value Dropout(Call& c) {
  return WithUnknown(c, c.value("input"), 1, "the mask");
}
template <size_t others>
Value Attention(Call& c) {
  return WithUnknown(c, Redirect(c, "aten::scaled_dot_product_attention"),
                     others, "further results");
}
Value LogSigmoid(Call& c) {
  return WithUnknown(c, Redirect(c, "aten::log_sigmoid"), 1, "the buffer");
}
Tensor PreluKernel(Call& c) {
  const Tensor x = c.tensor("self");
  return ops::LeakyRelu(x, c.tensor("weight"));
}
// Imports _safe_softmax: the softmax, with zeros instead of NaNs in rows in
// which all scores are -infinity.
Tensor SafeSoftmax(Call& c) {
  const Tensor y = c.machine().Read(*Redirect(c, "aten::softmax").cell);
  return c.ok() ? ops::Select(ops::Equal(y, y), y, y.Like(0)) : y;
}
// Returns the Euclidean norm of v over all axes except the argument `dim`;
// these axes stay as dims of 1. A `dim` of -1 means all axes.
Tensor NormExcept(Call& c, const Tensor& v) {
  std::vector<int64_t> axes = AllAxes(v);
  const int64_t dim = c.integer("dim");
  if (dim != -1) axes.erase(axes.begin() + c.axis("dim", v.rank()));
  return c.ok() ? ops::Sqrt(ops::Reduce(v * v, "sum", axes, dim != -1)) : v;
}
// Imports weight normalization: returns v, normalized to length 1 over all axes
// but one, times g along that axis.
Value WeightNorm(Call& c) {
  const Tensor v = c.tensor("v");
  const Tensor g = c.tensor("g");
  if (!c.CheckRank("v", v, 1)) return {};
  const Tensor norm = NormExcept(c, v);
  if (!c.ok()) return {};
  return c.machine().NewTuple(
      {c.machine().NewTensor(v * (g / norm)), c.machine().NewTensor(norm)});
}
Tensor WeightNormed(Call& c) {
  const Value both = WeightNorm(c);
  return c.ok() ? c.machine().Read(*both.list->items[0].cell) : Tensor();
}
Tensor NormExceptDim(Call& c) {
  const Tensor v = c.tensor("v");
  if (c.has("pow") && c.integer("pow") != 2)
    c.FailUnsupported("pow: expected 2");
  return c.CheckRank("v", v, 1) ? NormExcept(c, v) : v;
}
Tensor AddOuter(Call& c) {
  const Tensor a = c.tensor("vec1");
  const Tensor b = c.tensor("vec2");
  if (!c.CheckRank("vec1", a, 1, 1) || !c.CheckRank("vec2", b, 1, 1)) return a;
  const DType type = ResultType(c, {"self", "vec1", "vec2"});
  const Tensor self = c.scalar("self", type);
  const Value& beta = c.value("beta");
  const Tensor product = Times(ops::Cast(ops::AlongAxis(a, 0, 2), type),
                               ops::Cast(ops::AlongAxis(b, 1, 2), type));
  const Tensor scaled = Times(c.scalar("alpha", type), product);
  // A beta of 0 leaves the tensor out, as in PyTorch, even if it has NaNs.
  if (!c.ok() || (beta.is_known_number() && beta.known_number() == 0))
    return scaled;
  const Tensor other = Times(c.scalar("beta", type), self);
  return type == DType::kBool ? ops::Or(other, scaled) : other + scaled;
}

// The functions below call an operator that the table has under another name,
// with the same arguments.
Value AdaptiveAveragePool3d(Call& c) {
  return Redirect(c, "aten::adaptive_avg_pool3d");
}
Value Cdist(Call& c) { return Redirect(c, "aten::cdist"); }
Value Index(Call& c) { return Redirect(c, "aten::index"); }
Value IndexPut(Call& c) { return Redirect(c, "aten::index_put"); }
Tensor NarrowCopy(Call& c) {
  const Value part = Redirect(c, "aten::narrow");
  return c.ok() ? c.machine().Read(*part.cell) : c.tensor("self");
}
Value Split(Call& c) { return Redirect(c, "aten::split"); }
Value SplitWithSizes(Call& c) { return Redirect(c, "aten::split_with_sizes"); }
Value Chunk(Call& c) { return Redirect(c, "aten::chunk"); }
Value ChannelShuffle(Call& c) { return Redirect(c, "aten::channel_shuffle"); }
Value Empty(Call& c) { return Redirect(c, "aten::zeros"); }
Value NewEmpty(Call& c) { return Redirect(c, "aten::new_zeros"); }
Value Item(Call& c) {
  return Redirect(c, "aten::item", {{"a", c.value("self")}});
}

// Imports operators such as slice_scatter: returns a copy of `self` in which
// the part that the operator `view` selects is replaced by `src`.
Tensor Scattered(Call& c, std::string_view view) {
  const Value whole = c.machine().NewTensor(c.tensor("self"));
  const Tensor source = c.tensor("src");
  for (const TableEntry& entry : FindOperator(view)) {
    std::vector<Value> values;
    for (const SchemaParameter& parameter : entry.schema.parameters) {
      bool is_own = false;
      for (const SchemaParameter& own : c.schema().parameters)
        is_own |= own.name == parameter.name;
      if (is_own) values.push_back(c.value(parameter.name));
    }
    if (values.size() != entry.schema.parameters.size()) continue;
    values[0] = whole;
    Call call(c.machine(), entry.schema, std::move(values), c.version());
    const Value part = entry.row->value(call);
    if (!c.ok()) return source;
    const Tensor before = c.machine().Read(*part.cell);
    c.machine().Write(
        *part.cell,
        ops::Broadcast(ops::Cast(source, before.dtype()), before.shape()));
    return c.machine().Read(*whole.cell);
  }
  c.FailUnsupported("expected the arguments of " + std::string(view) +
                    ", found others");
  return source;
}
Tensor SliceScatter(Call& c) { return Scattered(c, "aten::slice"); }
Tensor SelectScatter(Call& c) { return Scattered(c, "aten::select"); }

// Queries about dims.
Value SymSize(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  if (!c.CheckRank("self", x, 1)) return {};
  return Value::Int(x.dim(axis));
}
Value SymSizes(Call& c) { return Redirect(c, "aten::size"); }
Value SymNumel(Call& c) { return Redirect(c, "aten::numel"); }
Value Zero(Call&) { return Value::Int(Dim(0)); }

// Assertions.
Value Nothing(Call&) { return Value::None(); }
Value Require(Call& c, const Value& condition, const std::string& message) {
  if (condition.is_known_number()) {
    if (condition.known_number() == 0)
      c.FailInvalid("an assertion of the model does not hold: " + message);
    return Value::None();
  }
  const Tensor truth = c.machine().ToTensor(condition);
  if (!c.ok()) return Value::None();
  c.builder().Require(ops::Cast(ops::Reshape(truth, {}), DType::kBool).value(),
                      "an assertion of the model does not hold: " + message);
  return Value::None();
}
Value AssertWithMessage(Call& c) {
  return Require(c, c.value("self"), OnOneLine(c.text("assert_msg")));
}
Value Assert(Call& c) {
  return Require(c, c.value("self"), "a condition on data");
}
// Makes the program check min <= self <= max; either bound may be omitted.
Value ConstrainRange(Call& c) {
  const Value& size = c.value("size");
  if (size.is_known_number()) {
    const double number = size.known_number();
    const bool holds = (!c.has("min") || number >= c.number("min")) &&
                       (!c.has("max") || number <= c.number("max"));
    if (!holds && c.ok()) {
      c.FailInvalid(
          "size: expected one in the range that the model gives, "
          "found " +
          size.dim.ToString());
    }
    return Value::None();
  }
  const Tensor number = ops::Cast(c.machine().ToTensor(size), DType::kI64);
  if (c.has("min"))
    Require(
        c,
        Value::Dynamic(Kind::kBool,
                       ops::LessEqual(c.scalar("min", DType::kI64), number)),
        "a number is too small");
  if (c.has("max"))
    Require(
        c,
        Value::Dynamic(Kind::kBool,
                       ops::LessEqual(number, c.scalar("max", DType::kI64))),
        "a number is too large");
  return Value::None();
}

#define EMBER_TORCH_EMPTY                            \
  "*, ScalarType? dtype=None, Layout? layout=None, " \
  "Device? device=None, bool? pin_memory=None)"

constexpr std::string_view kTraining = "training";

constexpr OperatorRow kRows[] = {
    {"_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, "
     "Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, "
     "float eps)",
     BatchNormInference},
    {"native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor? running_mean, Tensor? running_var, bool training, "
     "float momentum, float eps)",
     BatchNorm},
    {"_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor running_mean, Tensor running_var, bool training, "
     "float momentum, float eps)",
     BatchNorm},
    {"_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, "
     "bool training, float momentum, float eps)",
     BatchNormWithoutStatistics},
    {"native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, "
     "int C, int HxW, int group, float eps)",
     GroupNorm},
    {"_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, "
     "float? eps)",
     RmsNorm},
    {"native_dropout(Tensor input, float p, bool? train)", Dropout},
    {"_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, "
     "Tensor value, float dropout_p=0.0, bool is_causal=False, *, "
     "Tensor? attn_mask=None, float? scale=None)",
     Attention<1>},
    {"_scaled_dot_product_flash_attention(Tensor query, Tensor key, "
     "Tensor value, float dropout_p=0.0, bool is_causal=False, "
     "bool return_debug_mask=False, *, float? scale=None)",
     Attention<8>},
    {"_scaled_dot_product_efficient_attention(Tensor query, Tensor key, "
     "Tensor value, Tensor? attn_mask, bool compute_log_sumexp, "
     "float dropout_p=0.0, bool is_causal=False, *, float? scale=None)",
     Attention<3>},
    {"_scaled_dot_product_attention_math(Tensor query, Tensor key, "
     "Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
     "bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, "
     "bool enable_gqa=False)",
     Attention<1>},
    {"log_sigmoid_forward(Tensor self)", LogSigmoid},
    {"_prelu_kernel(Tensor self, Tensor weight)", PreluKernel},
    {"_safe_softmax(Tensor self, int dim, ScalarType? dtype=None)",
     SafeSoftmax},
    {"_weight_norm_interface(Tensor v, Tensor g, int dim=0)", WeightNorm},
    {"_weight_norm(Tensor v, Tensor g, int dim=0)", WeightNormed},
    {"norm_except_dim(Tensor v, int pow=2, int dim=0)", NormExceptDim},
    {"addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, "
     "Scalar alpha=1)",
     AddOuter},
    {"_adaptive_avg_pool3d(Tensor self, any output_size)",
     AdaptiveAveragePool3d},
    {"_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode)", Cdist},
    {"_unsafe_index(Tensor self, Tensor?[] indices)", Index},
    {"_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, "
     "bool accumulate=False)",
     IndexPut},
    {"narrow_copy(Tensor self, int dim, int start, int length)", NarrowCopy},
    {"unsafe_split(Tensor self, int[] split_size, int dim=0)", Split},
    {"unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0)",
     SplitWithSizes},
    {"unsafe_chunk(Tensor self, int chunks, int dim=0)", Chunk},
    {"native_channel_shuffle(Tensor self, int groups)", ChannelShuffle},
    {"empty_strided(int[] size, int[] stride, " EMBER_TORCH_EMPTY, Empty},
    {"empty_permuted(int[] size, int[] physical_layout, " EMBER_TORCH_EMPTY,
     Empty},
    {"new_empty_strided(Tensor self, int[] size, int[] "
     "stride, " EMBER_TORCH_EMPTY,
     NewEmpty},
    {"_local_scalar_dense(Tensor self)", Item},
    {"slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, "
     "int? end=None, int step=1)",
     SliceScatter},
    {"select_scatter(Tensor self, Tensor src, int dim, int index)",
     SelectScatter},
    {"sym_size(Tensor self)", SymSizes},
    {"sym_size(Tensor self, int dim)", SymSize},
    {"sym_numel(Tensor self)", SymNumel},
    {"sym_storage_offset(Tensor self)", Zero},
    {"_assert_scalar(any self, str assert_msg)", AssertWithMessage},
    {"_assert_async(Tensor self)", Assert},
    {"_assert_async(Tensor self, str assert_msg)", AssertWithMessage},
    {"_assert_tensor_metadata(Tensor a, int[]? size=None, "
     "int[]? stride=None, ScalarType? dtype=None, *, Device? device=None, "
     "Layout? layout=None)",
     Nothing},
    {"sym_constrain_range(any size, *, int? min=None, int? max=None)",
     ConstrainRange},
    {"sym_constrain_range_for_size(any size, *, int? min=None, "
     "int? max=None)",
     ConstrainRange},
    {"_adaptive_avg_pool2d_backward()", kTraining},
    {"avg_pool2d_backward()", kTraining},
    {"convolution_backward()", kTraining},
    {"embedding_dense_backward()", kTraining},
    {"max_pool2d_with_indices_backward()", kTraining},
    {"native_group_norm_backward()", kTraining},
    {"native_layer_norm_backward()", kTraining},
    {"resize_()", "strides of memory"},
};

}  // namespace

std::span<const OperatorRow> ExportedRows() { return kRows; }

}  // namespace ember::torchscript
