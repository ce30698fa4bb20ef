// Imports products of matrices, and convolutions with all of their dimension
// numbers.
#include <algorithm>

#include "frontends/ops/compositions.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/einsum.h"
#include "frontends/stablehlo/operator_table.h"
#include "frontends/stablehlo/padding.h"

namespace ember::stablehlo {
namespace {

// Reads both operands, cast to the widest type among the operands and the
// result. Products are computed in that type. Returns false after an error.
bool ReadFactors(OperationContext& c, Tensor& a, Tensor& b) {
  a = c.Operand(0);
  b = c.Operand(1);
  const DType type = c.ResultDType();
  if (!c.ok()) return false;
  if (IsFloat(type) != a.is_float() || IsFloat(type) != b.is_float() ||
      a.dtype() == DType::kBool || b.dtype() == DType::kBool ||
      type == DType::kBool) {
    c.FailUnsupported("expected numbers, all floats or all integers");
    return false;
  }
  // A result that is narrower than the operands is rounded at the end.
  const auto wider = [](DType x, DType y) {
    return DTypeByteSize(x) >= DTypeByteSize(y) ? x : y;
  };
  const DType shared = wider(type, wider(a.dtype(), b.dtype()));
  a = Cast(a, shared);
  b = Cast(b, shared);
  return true;
}

char Letter(size_t number) {
  return static_cast<char>(number < 26 ? 'a' + number : 'A' + (number - 26));
}

void DotWith(OperationContext& c, const std::vector<int64_t>& batch_a,
             const std::vector<int64_t>& batch_b,
             const std::vector<int64_t>& sum_a,
             const std::vector<int64_t>& sum_b) {
  Tensor a, b;
  if (!ReadFactors(c, a, b)) return;
  std::vector<int64_t> used_a = batch_a, used_b = batch_b;
  used_a.insert(used_a.end(), sum_a.begin(), sum_a.end());
  used_b.insert(used_b.end(), sum_b.begin(), sum_b.end());
  if (!c.CheckLength(batch_b, "rhs_batching_dimensions", batch_a.size()) ||
      !c.CheckLength(sum_b, "rhs_contracting_dimensions", sum_a.size()) ||
      !c.CheckAxes(used_a, "lhs dimensions", a.rank()) ||
      !c.CheckAxes(used_b, "rhs dimensions", b.rank()))
    return;
  std::string of_a(static_cast<size_t>(a.rank()), ' ');
  std::string of_b(static_cast<size_t>(b.rank()), ' ');
  std::string result;
  size_t letters = 0;
  for (size_t i = 0; i < used_a.size(); ++i) {
    const int from = static_cast<int>(used_a[i]);
    const int to = static_cast<int>(used_b[i]);
    if (a.dim(from).is_constant() && b.dim(to).is_constant() &&
        a.dim(from) != b.dim(to))
      return c.FailInvalid("expected dim " + std::to_string(to) +
                           " of operand 1 to be " + a.dim(from).ToString() +
                           ", found " + b.dim(to).ToString());
    if (a.dim(from).is_constant())
      b = ops::WithDim(b, to, a.dim(from));
    else
      a = ops::WithDim(a, from, b.dim(to));
    of_a[static_cast<size_t>(from)] = of_b[static_cast<size_t>(to)] =
        Letter(letters++);
    if (i < batch_a.size()) result += of_a[static_cast<size_t>(from)];
  }
  for (std::string* labels : {&of_a, &of_b}) {
    for (char& label : *labels) {
      if (label != ' ') continue;
      label = Letter(letters++);
      result += label;
    }
  }
  c.SetResult(
      Cast(Contract(a, b, of_a + "," + of_b + "->" + result), c.ResultDType()));
}

// Returns the dims of a convolution's operand in the order first, spatial…,
// last.
std::vector<int64_t> Ordered(int64_t first, const std::vector<int64_t>& spatial,
                             int64_t last) {
  std::vector<int64_t> order{first};
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.push_back(last);
  return order;
}

void ConvolveWith(OperationContext& c, const std::vector<int64_t>& padding) {
  Tensor x, w;
  if (!ReadFactors(c, x, w)) return;
  const Attribute* dims = c.Find("dimension_numbers");
  const auto order = [&](std::string_view first, std::string_view spatial,
                         std::string_view last) {
    return Ordered(c.Integer(dims, first, -1), c.Integers(dims, spatial),
                   c.Integer(dims, last, -1));
  };
  const std::vector<int64_t> of_x =
      order("input_batch_dimension", "input_spatial_dimensions",
            "input_feature_dimension");
  std::vector<int64_t> of_w =
      order("kernel_input_feature_dimension", "kernel_spatial_dimensions",
            "kernel_output_feature_dimension");
  const std::vector<int64_t> of_y =
      order("output_batch_dimension", "output_spatial_dimensions",
            "output_feature_dimension");
  const auto rank = static_cast<size_t>(x.rank());
  const auto fits = [&](const std::vector<int64_t>& list) {
    return c.CheckLength(list, "dimension_numbers", rank) &&
           c.CheckAxes(list, "dimension_numbers", x.rank());
  };
  if (!fits(of_x) || !fits(of_w) || !fits(of_y)) return;
  if (w.rank() != x.rank())
    return c.FailInvalid("operand 1: expected rank " + std::to_string(rank) +
                         ", found " + std::to_string(w.rank()));
  const size_t spatial = rank - 2;
  const auto list = [&](std::string_view name) {
    std::vector<int64_t> values = c.Integers(name);
    if (values.empty()) values.assign(spatial, 1);
    if (c.CheckLength(values, name, spatial))
      c.CheckRange(values, name, 1, ops::kMaxWindow);
    return values;
  };
  std::vector<int64_t> strides = list("window_strides");
  const std::vector<int64_t> x_dilation = list("lhs_dilation");
  std::vector<int64_t> w_dilation = list("rhs_dilation");
  std::vector<int64_t> reversed = c.Integers("window_reversal");
  if (reversed.empty()) reversed.assign(spatial, 0);
  const int64_t groups = c.Integer("feature_group_count", 1);
  const int64_t batches = c.Integer("batch_group_count", 1);
  if (!c.ok() || !c.CheckLength(reversed, "window_reversal", spatial) ||
      !c.CheckLength(padding, "padding", 2 * spatial) ||
      !c.CheckRange({groups, batches}, "group count", 1, ops::kMaxWindow))
    return;
  if (groups > 1 && batches > 1)
    return c.FailInvalid("expected groups of features or of batches, not both");
  x = Transpose(x, of_x);
  // [window…, inputs, outputs]
  std::rotate(of_w.begin(), of_w.begin() + 1, of_w.end() - 1);
  w = Transpose(w, of_w);
  for (size_t i = 0; i < spatial; ++i)
    if (reversed[i] != 0) w = ops::Reverse(w, static_cast<int>(i));
  if (batches > 1) {
    // If there is a batch_group_count, groups of the batch are moved to the
    // features, so that they become feature groups.
    const Dim each = FloorDivide(x.dim(0), Dim(batches));
    if (x.dim(0).is_constant() && each * Dim(batches) != x.dim(0))
      return c.FailInvalid("batch_group_count: expected a divisor of " +
                           x.dim(0).ToString());
    Shape split = x.shape();
    split[0] = each;
    split.insert(split.begin(), Dim(batches));
    std::vector<int64_t> move;
    for (int64_t i = 1; i <= static_cast<int64_t>(rank) - 1; ++i)
      move.push_back(i);
    move.push_back(0);
    move.push_back(static_cast<int64_t>(rank));
    Tensor moved = Transpose(Reshape(x, split), move);
    Shape merged(moved.shape().begin(), moved.shape().end() - 2);
    merged.push_back(x.dim(-1) * Dim(batches));
    x = Reshape(moved, merged);
  }
  PaddingSpec spec;
  bool pads_here = false;
  spec.low.assign(rank, 0);
  spec.high.assign(rank, 0);
  spec.interior.assign(rank, 0);
  for (size_t i = 0; i < spatial; ++i) {
    spec.low[i + 1] = padding[2 * i];
    spec.high[i + 1] = padding[2 * i + 1];
    spec.interior[i + 1] = x_dilation[i] - 1;
    pads_here = pads_here || x_dilation[i] > 1 || padding[2 * i] < 0 ||
                padding[2 * i + 1] < 0;
  }
  if (!c.CheckRange(padding, "padding", -ops::kMaxWindow, ops::kMaxWindow))
    return;
  if (pads_here) x = PadAll(c, x, x.Like(0), spec);
  ops::ConvSpec conv{.window = ops::WindowOf({}),
                     .groups = std::max(groups, batches)};
  for (size_t i = 0; i < spatial; ++i) {
    conv.window.kernel.push_back(
        w.dim(static_cast<int>(i)).AsConstant().value_or(1));
    conv.window.low.push_back(Dim(pads_here ? 0 : padding[2 * i]));
    conv.window.high.push_back(Dim(pads_here ? 0 : padding[2 * i + 1]));
  }
  conv.window.strides = strides;
  conv.window.dilations = w_dilation;
  if (spatial == 0) {
    // A convolution without spatial dims is a product of matrices. It is
    // computed with one spatial dim of extent 1 and a window of one element.
    x = Unsqueeze(x, {1});
    w = Unsqueeze(w, {0});
    conv.window = ops::WindowOf({1});
  }
  Tensor y = ops::Conv(x, w, Tensor(), conv);
  if (spatial == 0) y = Squeeze(y, {1});
  if (!c.ok()) return;
  // Transposes the dims to the order that the dimension numbers state for the
  // result.
  std::vector<int64_t> back(rank);
  for (size_t i = 0; i < rank; ++i)
    back[static_cast<size_t>(of_y[i])] = static_cast<int64_t>(i);
  c.SetResult(Cast(Transpose(y, back), c.ResultDType()));
}

}  // namespace

void ImportDot(OperationContext& c) {
  const int rank_a = c.Operand(0).rank(), rank_b = c.Operand(1).rank();
  if (!c.ok()) return;
  if (rank_a < 1 || rank_a > 2 || rank_b < 1 || rank_b > 2)
    return c.FailInvalid("expected vectors or matrices");
  DotWith(c, {}, {}, {rank_a - 1}, {0});
}

void ImportDotGeneral(OperationContext& c) {
  const Attribute* dims = c.Find("dot_dimension_numbers");
  DotWith(c, c.Integers(dims, "lhs_batching_dimensions"),
          c.Integers(dims, "rhs_batching_dimensions"),
          c.Integers(dims, "lhs_contracting_dimensions"),
          c.Integers(dims, "rhs_contracting_dimensions"));
}

void ImportEinsum(OperationContext& c) {
  Tensor a, b;
  if (!ReadFactors(c, a, b)) return;
  const Tensor y = ops::Einsum(c.builder(), c.Text("einsum_config"), {a, b});
  if (c.ok()) c.SetResult(Cast(y, c.ResultDType()));
}

void ImportConvolution(OperationContext& c) {
  std::vector<int64_t> padding = c.Integers("padding");
  const int rank = c.Operand(0).rank();
  if (!c.Has("padding") && rank >= 2)
    padding.assign(2 * static_cast<size_t>(rank - 2), 0);
  if (c.ok()) ConvolveWith(c, padding);
}

void ImportDynamicConv(OperationContext& c) {
  const auto known =
      c.builder().ConstantContents(Cast(c.Operand(2), DType::kI64).value());
  if (!c.ok()) return;
  if (!known)
    return c.FailUnsupported("operand 2: expected padding that is known");
  std::vector<int64_t> padding;
  for (const double value : *known)
    padding.push_back(static_cast<int64_t>(value));
  ConvolveWith(c, padding);
}

}  // namespace ember::stablehlo
