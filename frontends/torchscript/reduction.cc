// Imports reductions, sorting and running sums.
#include <cmath>

#include "frontends/ops/normalization.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Returns the type in which PyTorch sums a tensor: i64 for integers and
// booleans.
DType SumType(DType dtype) { return IsFloat(dtype) ? dtype : DType::kI64; }

Tensor SumAll(Call& c) {
  const Tensor x = c.tensor("self");
  const DType type = c.dtype("dtype", SumType(x.dtype()));
  if (!c.ok()) return x;
  std::vector<int64_t> axes = AllAxes(x);
  return ops::Reduce(ops::Cast(x, type), "sum", axes, false);
}
Tensor SumAxes(Call& c) {
  const Tensor x = c.tensor("self");
  const DType type = c.dtype("dtype", SumType(x.dtype()));
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return x;
  return ops::Reduce(ops::Cast(x, type), "sum", axes, keep);
}
Tensor NanSum(Call& c) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return x;
  const Tensor known =
      x.is_float() ? ops::Select(ops::IsNan(x), x.Like(0), x) : x;
  return ops::Reduce(ops::Cast(known, SumType(x.dtype())), "sum", axes, keep);
}

Tensor MeanOf(Call& c, const Tensor& x, const std::vector<int64_t>& axes,
              bool keep) {
  const DType type = c.dtype("dtype", x.dtype());
  if (!c.ok()) return x;
  if (!IsFloat(type)) {
    c.FailInvalid("expected floats to take the mean of, found " +
                  std::string(DTypeName(type)));
    return x;
  }
  return ops::Mean(ops::Cast(x, type), axes, keep);
}
Tensor MeanAll(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<int64_t> axes = AllAxes(x);
  return MeanOf(c, x, axes, false);
}
Tensor MeanAxes(Call& c) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  return MeanOf(c, x, axes, c.flag("keepdim"));
}

Tensor ProductAll(Call& c) {
  const Tensor x = c.tensor("self");
  const DType type = c.dtype("dtype", SumType(x.dtype()));
  if (!c.ok()) return x;
  std::vector<int64_t> axes = AllAxes(x);
  return ops::Reduce(ops::Cast(x, type), "product", axes, false);
}
Tensor ProductAxis(Call& c) {
  const Tensor x = c.tensor("self");
  const DType type = c.dtype("dtype", SumType(x.dtype()));
  const int axis = c.axis("dim", x.rank());
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return x;
  if (x.rank() == 0) return ops::Cast(x, type);
  return ops::Reduce(ops::Cast(x, type), "product", {axis}, keep);
}

// The variance and the mean of a tensor over axes, which stay as dims of 1.
struct Moments {
  Tensor variance, mean;
};
Moments MomentsOf(Call& c, const Tensor& x, const std::vector<int64_t>& axes,
                  double correction) {
  const Tensor wide = ops::Cast(x, ComputeType(x.dtype()));
  const Tensor mean = ops::CorrectedMean(wide, axes);
  Tensor variance = ops::Variance(wide, mean, axes);
  if (correction != 0) {
    Dim count(1);
    for (const int64_t axis : axes)
      count = count * x.dim(static_cast<int>(axis));
    const Tensor n =
        ops::Cast(ops::DimScalar(c.builder(), count), wide.dtype());
    // The divisor n - correction is clamped to at least 0. So the variance of a
    // single element with correction 1 is 0 / 0, which is NaN.
    variance = variance * n / ops::Maximum(n - correction, 0);
  }
  return {ops::Cast(variance, x.dtype()), ops::Cast(mean, x.dtype())};
}
// The arguments and results of var, std and similar operators: axes, the flag
// that keeps reduced dims, variance and mean.
struct MomentsCall {
  Tensor x;
  std::vector<int64_t> axes;
  bool keep = false;
  Moments moments;
};
MomentsCall RunMoments(Call& c, double correction, bool has_axes) {
  MomentsCall call;
  call.x = c.tensor("self");
  if (has_axes) {
    call.axes = c.axes("dim", call.x.rank());
    call.keep = c.flag("keepdim");
  } else {
    call.axes = AllAxes(call.x);
  }
  if (!c.ok()) return call;
  if (!call.x.is_float()) {
    c.FailInvalid("expected floats, found " +
                  std::string(DTypeName(call.x.dtype())));
    return call;
  }
  call.moments = MomentsOf(c, call.x, call.axes, correction);
  if (!call.keep && !call.axes.empty()) {
    call.moments.variance = ops::Squeeze(call.moments.variance, call.axes);
    call.moments.mean = ops::Squeeze(call.moments.mean, call.axes);
  }
  return call;
}
double Unbiased(Call& c) { return c.flag("unbiased") ? 1 : 0; }
double Correction(Call& c) {
  return c.has("correction") ? c.number("correction") : 1;
}
Tensor VarAll(Call& c) {
  return RunMoments(c, Unbiased(c), false).moments.variance;
}
Tensor VarAxes(Call& c) {
  return RunMoments(c, Unbiased(c), true).moments.variance;
}
Tensor VarCorrected(Call& c) {
  return RunMoments(c, Correction(c), true).moments.variance;
}
Tensor Root(Call& c, const Tensor& variance) {
  return c.ok() ? ops::Sqrt(variance) : variance;
}
Tensor StdAll(Call& c) { return Root(c, VarAll(c)); }
Tensor StdAxes(Call& c) { return Root(c, VarAxes(c)); }
Tensor StdCorrected(Call& c) { return Root(c, VarCorrected(c)); }
Value Both(Call& c, const Tensor& a, const Tensor& b) {
  return c.machine().NewTuple(
      {c.machine().NewTensor(a), c.machine().NewTensor(b)});
}
Value VarMean(Call& c, double correction, bool has_axes) {
  const Moments m = RunMoments(c, correction, has_axes).moments;
  return Both(c, m.variance, m.mean);
}
Value VarMeanAll(Call& c) { return VarMean(c, Unbiased(c), false); }
Value VarMeanAxes(Call& c) { return VarMean(c, Unbiased(c), true); }
Value VarMeanCorrected(Call& c) { return VarMean(c, Correction(c), true); }
Value StdMean(Call& c, double correction, bool has_axes) {
  const Moments m = RunMoments(c, correction, has_axes).moments;
  return Both(c, Root(c, m.variance), m.mean);
}
Value StdMeanAll(Call& c) { return StdMean(c, Unbiased(c), false); }
Value StdMeanAxes(Call& c) { return StdMean(c, Unbiased(c), true); }
Value StdMeanCorrected(Call& c) { return StdMean(c, Correction(c), true); }

Tensor ExtremeAll(Call& c, std::string_view combiner) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  std::vector<int64_t> axes = AllAxes(x);
  return ops::Reduce(x, combiner, axes, false);
}
Tensor MaxAll(Call& c) { return ExtremeAll(c, "maximum"); }
Tensor MinAll(Call& c) { return ExtremeAll(c, "minimum"); }
Tensor ExtremeAxes(Call& c, std::string_view combiner) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  const bool keep = c.flag("keepdim");
  return c.ok() ? ops::Reduce(x, combiner, axes, keep) : x;
}
Tensor Amax(Call& c) { return ExtremeAxes(c, "maximum"); }
Tensor Amin(Call& c) { return ExtremeAxes(c, "minimum"); }
Value Aminmax(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<int64_t> axes = AllAxes(x);
  if (c.has("dim")) {
    const int axis = c.axis("dim", x.rank());
    if (!axes.empty()) axes = {axis};
  }
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return {};
  return Both(c, ops::Reduce(x, "minimum", axes, keep),
              ops::Reduce(x, "maximum", axes, keep));
}

// Returns the index of the first of the largest (or smallest) elements along an
// axis, which stays as a dim of 1.
Tensor ArgExtreme(Tensor x, int axis, std::string_view mode) {
  if (x.dtype() == DType::kBool) x = ops::Cast(x, DType::kU8);
  return ops::Unsqueeze(Apply("arg_reduce", {x},
                              {{"mode", std::string(mode)},
                               {"axis", int64_t{axis}},
                               {"last", int64_t{0}}}),
                        {axis});
}
Value ExtremeWithIndex(Call& c, std::string_view mode) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return {};
  if (x.rank() == 0) return Both(c, x, c.Number(0, DType::kI64));
  Tensor index = ArgExtreme(x, axis, mode);
  Tensor best = ops::Reduce(x, mode, {axis}, keep);
  if (!keep) index = ops::Squeeze(index, {axis});
  return Both(c, best, index);
}
Value MaxAxis(Call& c) { return ExtremeWithIndex(c, "maximum"); }
Value MinAxis(Call& c) { return ExtremeWithIndex(c, "minimum"); }
Tensor ArgOf(Call& c, std::string_view mode) {
  Tensor x = c.tensor("self");
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return x;
  if (x.rank() == 0) return c.Number(0, DType::kI64);
  if (!c.has("dim")) {
    const int rank = x.rank();
    const Tensor flat = ops::Reshape(x, {graph::ElementCount(x.shape())});
    const Tensor index = ops::Squeeze(ArgExtreme(flat, 0, mode), {0});
    return keep ? ops::Reshape(index, Shape(static_cast<size_t>(rank), Dim(1)))
                : index;
  }
  const int axis = c.axis("dim", x.rank());
  const Tensor index = ArgExtreme(x, axis, mode);
  return keep ? index : ops::Squeeze(index, {axis});
}
Tensor Argmax(Call& c) { return ArgOf(c, "maximum"); }
Tensor Argmin(Call& c) { return ArgOf(c, "minimum"); }

Tensor AsBool(const Tensor& x) {
  if (x.dtype() == DType::kBool) return x;
  return ops::NotEqual(x, x.Like(0));
}
// Imports any and all as the maximum and minimum of booleans. The result is a
// bool, except that it is u8 for an operand of u8.
Tensor Quantify(Call& c, std::string_view combiner, bool has_axis) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  std::vector<int64_t> axes = AllAxes(x);
  bool keep = false;
  if (has_axis) {
    axes = c.axes("dim", x.rank());
    keep = c.flag("keepdim");
  }
  if (!c.ok()) return x;
  const Tensor reduced =
      ops::Reduce(ops::Cast(AsBool(x), DType::kU8), combiner, axes, keep);
  return x.dtype() == DType::kU8 ? reduced : ops::Cast(reduced, DType::kBool);
}
Tensor AllOf(Call& c) { return Quantify(c, "minimum", false); }
Tensor AnyOf(Call& c) { return Quantify(c, "maximum", false); }
Tensor AllAlong(Call& c) { return Quantify(c, "minimum", true); }
Tensor AnyAlong(Call& c) { return Quantify(c, "maximum", true); }
Tensor CountNonzero(Call& c) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  if (!c.ok()) return x;
  return ops::Reduce(ops::Cast(AsBool(x), DType::kI64), "sum", axes, false);
}

Tensor NormOver(Call& c, const Tensor& x, double order,
                const std::vector<int64_t>& axes, bool keep) {
  if (!c.ok()) return x;
  const DType type =
      c.dtype("dtype", IsFloat(x.dtype()) ? x.dtype() : DType::kF32);
  const Tensor wide = ops::Cast(x, ComputeType(type));
  const Tensor size = ops::Absolute(wide);
  Tensor norm;
  if (std::isinf(order)) {
    norm = ops::Reduce(size, order > 0 ? "maximum" : "minimum", axes, keep);
  } else if (order == 0) {
    norm =
        ops::Reduce(ops::Cast(AsBool(size), wide.dtype()), "sum", axes, keep);
  } else if (order == 1) {
    norm = ops::Reduce(size, "sum", axes, keep);
  } else if (order == 2) {
    norm = ops::Sqrt(ops::Reduce(wide * wide, "sum", axes, keep));
  } else {
    norm = ops::Power(ops::Reduce(ops::Power(size, order), "sum", axes, keep),
                      1 / order);
  }
  return ops::Cast(norm, type);
}
double OrderOf(Call& c, std::string_view name) {
  return c.has(name) ? c.number(name) : 2;
}
Tensor NormAll(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<int64_t> axes = AllAxes(x);
  return NormOver(c, x, OrderOf(c, "p"), axes, false);
}
Tensor NormAxes(Call& c) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  return NormOver(c, x, OrderOf(c, "p"), axes, c.flag("keepdim"));
}
Tensor VectorNorm(Call& c) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  return NormOver(c, x, OrderOf(c, "ord"), axes, c.flag("keepdim"));
}
Tensor FrobeniusNorm(Call& c) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  return NormOver(c, x, 2, axes, c.flag("keepdim"));
}

Tensor LogSumExp(Call& c) {
  const Tensor x = AsFloat(c.tensor("self"));
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return x;
  const Tensor wide = ops::Cast(x, ComputeType(x.dtype()));
  const Tensor most = ops::Reduce(wide, "maximum", axes, true);
  // The maximum is subtracted so that exp does not overflow. An infinite one is
  // not, as inf - inf would be NaN; the result is then that maximum.
  const Tensor shift = ops::Select(ops::IsInfinite(most), most.Like(0), most);
  Tensor result =
      ops::Log(ops::Reduce(ops::Exp(wide - shift), "sum", axes, true)) + shift;
  if (!keep && !axes.empty()) result = ops::Squeeze(result, axes);
  return ops::Cast(result, x.dtype());
}

Tensor Cumulative(Call& c, Opcode opcode, double identity, bool widens) {
  Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  const DType type = widens ? c.dtype("dtype", SumType(x.dtype())) : x.dtype();
  if (!c.ok()) return x;
  x = ops::Cast(x, type);
  if (x.rank() == 0) return x;
  const Tensor wide = ops::Cast(x, ComputeType(type));
  return ops::Cast(ops::InclusiveScan(wide, axis, opcode, identity), type);
}
Tensor CumSum(Call& c) { return Cumulative(c, Opcode::kAdd, 0, true); }
Tensor CumProd(Call& c) { return Cumulative(c, Opcode::kMultiply, 1, true); }
Tensor LogCumSumExp(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  if (!c.ok() || x.rank() == 0) return x;
  const Tensor largest = ops::Reduce(x, "maximum", {axis}, true);
  // The maximum is subtracted so that exp does not overflow. An infinite one is
  // not, as inf - inf would be NaN.
  const Tensor most =
      ops::Select(ops::IsInfinite(largest), largest.Like(0), largest);
  return ops::Log(
             ops::InclusiveScan(ops::Exp(x - most), axis, Opcode::kAdd, 0)) +
         most;
}

// Returns the k largest (or smallest) elements along an axis, in order, and
// their indices.
std::vector<Tensor> TopAlong(Call& c, const Tensor& x, int axis, const Dim& k,
                             bool is_largest) {
  const bool is_bool = x.dtype() == DType::kBool;
  std::vector<Tensor> results =
      ApplyAll("top_k", {is_bool ? ops::Cast(x, DType::kU8) : x},
               {{"axis", int64_t{axis}},
                {"k", Shape{k}},
                {"largest", int64_t{is_largest ? 1 : 0}}});
  if (results.size() != 2) {
    const Tensor failed(&c.builder(), nullptr);
    return {failed, failed};
  }
  if (is_bool) results[0] = ops::Cast(results[0], DType::kBool);
  return results;
}
Value TopK(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  const Dim k = c.dim("k");
  const bool is_largest = c.flag("largest");
  if (!c.ok()) return {};
  const std::vector<Tensor> best =
      TopAlong(c, WithAxis(x), axis, k, is_largest);
  if (!c.ok()) return {};
  return Both(c, WithoutAxis(best[0], x), WithoutAxis(best[1], x));
}
Value SortWith(Call& c, bool descending) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  if (!c.ok()) return {};
  if (x.rank() == 0) return Both(c, x, c.Number(0, DType::kI64));
  const std::vector<Tensor> sorted =
      TopAlong(c, x, axis, x.dim(axis), descending);
  return Both(c, sorted[0], sorted[1]);
}
Value Sort(Call& c) { return SortWith(c, c.flag("descending")); }
Tensor Argsort(Call& c) {
  const Value both = SortWith(c, c.flag("descending"));
  return c.ok() ? c.machine().Read(*both.list->items[1].cell) : Tensor();
}
Tensor SortRows(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok() || x.rank() == 0) return x;
  return TopAlong(c, x, 0, x.dim(0), /*is_largest=*/false)[0];
}
// Returns the argument keepdim; false for a tensor without dims, whose result
// has none either.
bool KeepsAxis(Call& c, const Tensor& x) {
  return c.flag("keepdim") && x.rank() > 0;
}
// Requires at least one element along an axis: fails if there is none, or makes
// the program check an open extent.
void RequireElements(Call& c, const Tensor& x, int axis) {
  if (!c.ok()) return;
  const Dim rest = x.dim(axis) - Dim(1);
  if (rest.LowerBound().value_or(-1) >= 0) return;
  const std::string fault = "expected at least one element along axis " +
                            std::to_string(axis) + " of " +
                            graph::ToString(x.value()->type()) + ", found none";
  if (rest.is_constant()) return c.FailInvalid(fault);
  // The operator "extents" fails at run time if a value is negative: extent - 1
  // is passed, so that an extent of 0 is an error.
  c.builder().ApplyAll(
      "extents", {c.builder().ShapeValue({rest})},
      {{"defines", Shape{c.builder().FreshSymbol()}}, {"message", fault}});
}
// Returns the n-th smallest element along an axis, counted from 0.
Value NthSmallest(Call& c, const Tensor& x, int axis, const Dim& n, bool keep) {
  RequireElements(c, x, axis);
  std::vector<Tensor> sorted =
      TopAlong(c, x, axis, n + Dim(1), /*is_largest=*/false);
  if (!c.ok()) return {};
  for (Tensor& one : sorted) {
    one = ops::SliceAxis(one, axis, n, Dim(1));
    if (!keep) one = ops::Squeeze(one, {axis});
  }
  return Both(c, sorted[0], sorted[1]);
}
Value KthValue(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  const Dim k = c.dim("k");
  if (!c.ok()) return {};
  return NthSmallest(c, WithAxis(x), axis, k - Dim(1), KeepsAxis(c, x));
}
// Returns the median and its index. If two elements are in the middle, the
// median is the lower one. If there is a NaN, it is the first NaN.
Value MedianOf(Call& c, const Tensor& x, int axis, bool keep) {
  const Value both =
      NthSmallest(c, x, axis, FloorDivide(x.dim(axis) - Dim(1), Dim(2)), keep);
  if (!c.ok() || !x.is_float()) return both;
  const Tensor middle = c.machine().Read(*both.list->items[0].cell);
  const Tensor index = c.machine().Read(*both.list->items[1].cell);
  const Tensor most = ops::Reduce(x, "maximum", {axis}, keep);
  Tensor most_place = ArgExtreme(x, axis, "maximum");
  if (!keep) most_place = ops::Squeeze(most_place, {axis});
  const Tensor is_nan = ops::IsNan(most);
  return Both(c, ops::Select(is_nan, most, middle),
              ops::Select(is_nan, most_place, index));
}
Value MedianAxis(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  if (!c.ok()) return {};
  return MedianOf(c, WithAxis(x), axis, KeepsAxis(c, x));
}
Tensor MedianAll(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  const Dim count = graph::ElementCount(x.shape());
  const Value both = MedianOf(c, ops::Reshape(x, {count}), 0, false);
  return c.ok() ? c.machine().Read(*both.list->items[0].cell) : x;
}
// Returns the median of the numbers along an axis, and its index. NaNs are left
// out; if there are only NaNs, the median is NaN.
Value NanMedianOf(Call& c, const Tensor& x, int axis, bool keep) {
  if (!c.ok() || !x.is_float()) return MedianOf(c, x, axis, keep);
  RequireElements(c, x, axis);
  // Sorting puts NaNs at the end, so the numbers are the first `count`
  // elements.
  std::vector<Tensor> sorted =
      TopAlong(c, x, axis, x.dim(axis), /*is_largest=*/false);
  if (!c.ok()) return {};
  const Tensor count = ops::Reduce(
      ops::Cast(ops::Not(ops::IsNan(x)), DType::kI64), "sum", {axis}, true);
  const Tensor place = ops::Binary(Opcode::kFloorDivide,
                                   ops::Maximum(count - 1.0, 0), count.Like(2));
  for (Tensor& one : sorted) {
    one = Apply("gather_elements", {one, place}, {{"axis", int64_t{axis}}});
    if (!keep) one = ops::Squeeze(one, {axis});
  }
  return Both(c, sorted[0], sorted[1]);
}
Value NanMedianAxis(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  if (!c.ok()) return {};
  return NanMedianOf(c, WithAxis(x), axis, KeepsAxis(c, x));
}
Tensor NanMedianAll(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  const Dim count = graph::ElementCount(x.shape());
  const Value both = NanMedianOf(c, ops::Reshape(x, {count}), 0, false);
  return c.ok() ? c.machine().Read(*both.list->items[0].cell) : x;
}
// Imports isclose: true where the elements of both operands are close to each
// other.
Tensor IsClose(Call& c) {
  const DType type = ResultType(c, {"self", "other"});
  const Tensor a = c.scalar("self", type);
  const Tensor b = c.scalar("other", type);
  const double rtol = c.number("rtol");
  const double atol = c.number("atol");
  const bool equal_nan = c.flag("equal_nan");
  if (!c.ok()) return a;
  const Tensor wide_a = AsFloat(a);
  const Tensor wide_b = AsFloat(b);
  const Tensor near = ops::LessEqual(ops::Absolute(wide_a - wide_b),
                                     ops::Absolute(wide_b) * rtol + atol);
  const Tensor close = ops::Or(
      ops::Equal(a, b), ops::And(near, ops::Not(ops::IsInfinite(wide_b))));
  if (!equal_nan || !a.is_float()) return close;
  return ops::Or(close, ops::And(ops::IsNan(a), ops::IsNan(b)));
}

constexpr OperatorRow kRows[] = {
    {"sum(Tensor self, *, ScalarType? dtype=None)", SumAll},
    {"sum(Tensor self, int[]? dim, bool keepdim=False, *, "
     "ScalarType? dtype=None)",
     SumAxes},
    {"nansum(Tensor self, int[]? dim=None, bool keepdim=False, *, "
     "ScalarType? dtype=None)",
     NanSum},
    {"mean(Tensor self, *, ScalarType? dtype=None)", MeanAll},
    {"mean(Tensor self, int[]? dim, bool keepdim=False, *, "
     "ScalarType? dtype=None)",
     MeanAxes},
    {"prod(Tensor self, *, ScalarType? dtype=None)", ProductAll},
    {"prod(Tensor self, int dim, bool keepdim=False, *, "
     "ScalarType? dtype=None)",
     ProductAxis},
    {"var(Tensor self, bool unbiased=True)", VarAll},
    {"var(Tensor self, int[]? dim, bool unbiased=True, bool keepdim=False)",
     VarAxes},
    {"var(Tensor self, int[]? dim=None, *, Scalar? correction=None, "
     "bool keepdim=False)",
     VarCorrected},
    {"std(Tensor self, bool unbiased=True)", StdAll},
    {"std(Tensor self, int[]? dim, bool unbiased=True, bool keepdim=False)",
     StdAxes},
    {"std(Tensor self, int[]? dim=None, *, Scalar? correction=None, "
     "bool keepdim=False)",
     StdCorrected},
    {"var_mean(Tensor self, bool unbiased=True)", VarMeanAll},
    {"var_mean(Tensor self, int[]? dim, bool unbiased=True, "
     "bool keepdim=False)",
     VarMeanAxes},
    {"var_mean(Tensor self, int[]? dim=None, *, Scalar? correction=None, "
     "bool keepdim=False)",
     VarMeanCorrected},
    {"std_mean(Tensor self, bool unbiased=True)", StdMeanAll},
    {"std_mean(Tensor self, int[]? dim, bool unbiased=True, "
     "bool keepdim=False)",
     StdMeanAxes},
    {"std_mean(Tensor self, int[]? dim=None, *, Scalar? correction=None, "
     "bool keepdim=False)",
     StdMeanCorrected},
    {"max(Tensor self)", MaxAll},
    {"min(Tensor self)", MinAll},
    {"max(Tensor self, int dim, bool keepdim=False)", MaxAxis},
    {"min(Tensor self, int dim, bool keepdim=False)", MinAxis},
    {"amax(Tensor self, int[]? dim=None, bool keepdim=False)", Amax},
    {"amin(Tensor self, int[]? dim=None, bool keepdim=False)", Amin},
    {"aminmax(Tensor self, *, int? dim=None, bool keepdim=False)", Aminmax},
    {"argmax(Tensor self, int? dim=None, bool keepdim=False)", Argmax},
    {"argmin(Tensor self, int? dim=None, bool keepdim=False)", Argmin},
    {"all(Tensor self)", AllOf},
    {"all(Tensor self, int[]? dim, bool keepdim=False)", AllAlong},
    {"any(Tensor self)", AnyOf},
    {"any(Tensor self, int[]? dim, bool keepdim=False)", AnyAlong},
    {"count_nonzero(Tensor self, int[]? dim=None)", CountNonzero},
    {"norm(Tensor self, Scalar p=2, ScalarType? dtype=None)", NormAll},
    {"norm(Tensor self, Scalar? p, int[] dim, bool keepdim=False, *, "
     "ScalarType? dtype=None)",
     NormAxes},
    {"frobenius_norm(Tensor self, int[]? dim=None, bool keepdim=False, "
     "ScalarType? dtype=None)",
     FrobeniusNorm},
    {"linalg_vector_norm(Tensor self, Scalar ord=2, int[]? dim=None, "
     "bool keepdim=False, *, ScalarType? dtype=None)",
     VectorNorm},
    {"logsumexp(Tensor self, int[] dim, bool keepdim=False)", LogSumExp},
    {"cumsum(Tensor self, int dim, *, ScalarType? dtype=None)", CumSum},
    {"cumprod(Tensor self, int dim, *, ScalarType? dtype=None)", CumProd},
    {"logcumsumexp(Tensor self, int dim)", LogCumSumExp},
    {"topk(Tensor self, int k, int dim=-1, bool largest=True, "
     "bool sorted=True)",
     TopK},
    {"sort(Tensor self, int dim=-1, bool descending=False)", Sort},
    {"sort(Tensor self, *, bool? stable, int dim=-1, bool descending=False)",
     Sort},
    {"argsort(Tensor self, int dim=-1, bool descending=False)", Argsort},
    {"argsort(Tensor self, *, bool stable, int dim=-1, "
     "bool descending=False)",
     Argsort},
    {"msort(Tensor self)", SortRows},
    {"kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False)", KthValue},
    {"median(Tensor self)", MedianAll},
    {"median(Tensor self, int dim, bool keepdim=False)", MedianAxis},
    {"nanmedian(Tensor self)", NanMedianAll},
    {"nanmedian(Tensor self, int dim, bool keepdim=False)", NanMedianAxis},
    {"isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, "
     "bool equal_nan=False)",
     IsClose},
};

}  // namespace

std::span<const OperatorRow> ReductionRows() { return kRows; }

}  // namespace ember::torchscript
