// Imports running extremes, quantiles, integrals, gradients, correlations,
// histograms and comparisons.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/graph/builder/unit_dims.h"
#include "frontends/ops/normalization.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Imports cummax and cummin: returns the largest (or smallest) element up to
// each position of an axis, and its index; of equal elements the last one
// counts. From a NaN on, all results are NaN.
Value RunningExtreme(Call& c, bool smallest) {
  const Tensor given = c.tensor("self");
  const int axis = c.axis("dim", given.rank());
  if (!c.ok()) return {};
  Machine& machine = c.machine();
  if (given.rank() == 0) {
    return machine.NewTuple(
        {c.value("self"), machine.NewTensor(c.Number(0, DType::kI64))});
  }
  const bool is_bool = given.dtype() == DType::kBool;
  const Tensor x = is_bool ? ops::Cast(given, DType::kU8) : given;
  const bool is_unsigned = x.dtype() == DType::kU8;
  // The scan needs an initial value that no element is worse than. For integers
  // it is the type's smallest number. The largest i64 is no double, so that the
  // smallest elements are found as the largest complements.
  const bool complements = smallest && !x.is_float();
  const auto complement = [is_unsigned, complements](Tensor t) {
    return complements ? t.Like(is_unsigned ? 255 : -1) - t : t;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const double worst =
      x.is_float() ? (smallest ? infinity : -infinity)
      : is_unsigned
          ? 0
          : -std::ldexp(1, 8 * static_cast<int>(DTypeByteSize(x.dtype())) - 1);
  const Opcode opcode =
      smallest && !complements ? Opcode::kMinimum : Opcode::kMaximum;
  const Tensor best =
      complement(ops::InclusiveScan(complement(x), axis, opcode, worst));
  const Tensor place = ops::AlongAxis(
      IotaVector(c.builder(), x.dim(axis), DType::kI64), axis, x.rank());
  Tensor is_best = ops::Equal(x, best);
  if (x.is_float()) is_best = ops::Or(is_best, IsNan(x));
  const Tensor where =
      ops::Select(is_best, place, ops::Broadcast(place.Like(0), x.shape()));
  const Tensor index = ops::InclusiveScan(where, axis, Opcode::kMaximum, 0);
  return machine.NewTuple(
      {machine.NewTensor(is_bool ? ops::Cast(best, DType::kBool) : best),
       machine.NewTensor(index)});
}
Value CumulativeMaximum(Call& c) { return RunningExtreme(c, false); }
Value CumulativeMinimum(Call& c) { return RunningExtreme(c, true); }

// Imports quantile and nanquantile: the quantiles along an axis for the
// fractions in the argument `q`. skips_nan: NaNs are left out; otherwise one
// NaN makes the quantiles NaN.
Tensor QuantileOf(Call& c, bool skips_nan) {
  Tensor x = c.tensor("self");
  const Value& given = c.value("q");
  const std::string mode = c.text("interpolation");
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return x;
  const int rank = x.rank();
  const bool has_axis = c.has("dim");
  int axis = has_axis ? c.axis("dim", rank) : 0;
  if (!has_axis || rank == 0) {
    x = ops::Reshape(x, {graph::ElementCount(x.shape())});
    axis = 0;
  }
  Tensor q =
      given.is_tensor() ? c.tensor("q") : c.Number(c.number("q"), x.dtype());
  if (!c.CheckRank("q", q, 0, 1)) return x;
  const bool is_one = q.rank() == 0;
  if (is_one) q = ops::Unsqueeze(q, {0});
  // Moves the axis to the end, and sorts along it. NaNs are at the end of each
  // row.
  std::vector<int64_t> order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  x = ops::Transpose(x, order);
  const int last = x.rank() - 1;
  const Tensor nan = IsNan(x);
  const double infinity = std::numeric_limits<double>::infinity();
  const Value both = CallRow(
      c, "aten::sort",
      {{"self", c.machine().NewTensor(ops::Select(nan, x.Like(infinity), x))},
       {"dim", Value::Int(Dim(last))}});
  if (!c.ok()) return x;
  const Tensor sorted = c.machine().Read(*both.list->items[0].cell);
  const Tensor count =
      ops::Reduce(ops::Cast(ops::Not(nan), x.dtype()), "sum", {last}, true);
  const Tensor extent =
      ops::Cast(ops::DimScalar(c.builder(), x.dim(last)), x.dtype());
  const Tensor most = ops::Maximum((skips_nan ? count : extent) - 1.0, 0);
  const Tensor along = ops::AlongAxis(q, last, x.rank());
  Shape places = x.shape();
  places.back() = q.dim(0);
  const Tensor position = ops::Broadcast(along * most, places);
  const auto at = [&](const Tensor& place) {
    return Apply("gather_elements", {sorted, ops::Cast(place, DType::kI64)},
                 {{"axis", int64_t{last}}});
  };
  const Tensor low = ops::Floor(position);
  Tensor y;
  if (mode == "lower") {
    y = at(low);
  } else if (mode == "higher") {
    y = at(ops::Ceil(position));
  } else if (mode == "nearest") {
    y = at(ops::Round(position));
  } else if (mode == "linear" || mode == "midpoint") {
    const Tensor start = at(low);
    const Tensor weight =
        mode == "linear" ? position - low : position.Like(0.5);
    const Tensor end = at(ops::Ceil(position));
    y = ops::Select(ops::Equal(start, end), start,
                    start + (end - start) * weight);
  } else {
    c.FailInvalid(
        "interpolation: expected linear, lower, higher, midpoint or nearest, "
        "found '" +
        mode + "'");
    return x;
  }
  const Tensor is_unknown =
      skips_nan ? ops::Equal(count, 0) : ops::Less(count, extent);
  y = ops::Select(is_unknown, y.Like(NAN), y);
  // PyTorch returns the quantiles as the first axis, so it is moved to the
  // front. The reduced axis stays as a dim of 1 if `keep`.
  std::vector<int64_t> front = {last};
  for (int i = 0; i < last; ++i) front.push_back(i);
  y = ops::Transpose(y, front);
  if (is_one) y = ops::Squeeze(y, {0});
  if (!keep) return y;
  const int first = is_one ? 0 : 1;
  if (has_axis) return ops::Unsqueeze(y, {first + axis});
  Shape shape(y.shape().begin(), y.shape().begin() + first);
  shape.resize(shape.size() + static_cast<size_t>(rank), Dim(1));
  return ops::Reshape(y, shape);
}
Tensor Quantile(Call& c) { return QuantileOf(c, false); }
Tensor NanQuantile(Call& c) { return QuantileOf(c, true); }

Tensor NanMean(Call& c) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  const bool keep = c.flag("keepdim");
  if (!c.ok()) return x;
  const Tensor nan = IsNan(x);
  const Tensor wide = ops::Cast(x, ComputeType(x.dtype()));
  const Tensor count = ops::Cast(ops::Not(nan), wide.dtype());
  return ops::Cast(
      ops::Reduce(ops::Select(nan, wide.Like(0), wide), "sum", axes, keep) /
          ops::Reduce(count, "sum", axes, keep),
      x.dtype());
}
// Imports linalg.vecdot: the sums of the products of two tensors along an axis.
Tensor VectorDot(Call& c) {
  const DType type = ResultType(c, {"x", "y"});
  const Tensor product = c.scalar("x", type) * c.scalar("y", type);
  const int axis = c.axis("dim", product.rank());
  return c.ok() ? ops::Reduce(product, "sum", {axis}, false) : product;
}

// The areas under a curve between neighbouring elements along `axis`, by the
// trapezoidal rule. The distances of the elements are the operand `x`, or the
// number `dx`.
struct Trapezoids {
  Tensor areas;
  int axis = 0;
};
Trapezoids TrapezoidsOf(Call& c, bool has_places) {
  Trapezoids result;
  Tensor y = c.tensor("y");
  if (!c.ok()) return result;
  if (y.dtype() == DType::kBool) y = ops::Cast(y, DType::kI64);
  result.axis = c.axis("dim", y.rank());
  if (!c.CheckRank("y", y, 1)) return result;
  const auto steps = [](const Tensor& x, int axis, int64_t from) {
    return ops::SliceAxis(x, axis, Dim(from),
                          LargerOf(x.dim(axis) - Dim(1), Dim(0)));
  };
  const Tensor sums = steps(y, result.axis, 1) + steps(y, result.axis, 0);
  Tensor distance;
  if (has_places) {
    Tensor x = c.tensor("x");
    if (!c.CheckRank("x", x, 1)) return result;
    int axis = result.axis;
    if (x.rank() == 1) {
      x = ops::AlongAxis(x, axis, y.rank());
    } else if (x.rank() != y.rank()) {
      c.FailUnsupported("x: expected a vector or the rank of y, found " +
                        graph::ShapeToString(x.shape()));
      return result;
    }
    distance = steps(x, axis, 1) - steps(x, axis, 0);
    const DType type = PromoteTypes(AsFloat(sums).dtype(), distance.dtype());
    result.areas = ops::Cast(sums, type) * ops::Cast(distance, type) * 0.5;
    return result;
  }
  const Tensor wide = AsFloat(sums);
  result.areas = wide * 0.5 * c.scalar("dx", wide.dtype());
  return result;
}
Tensor TrapezoidSum(Call& c, bool has_places) {
  const Trapezoids all = TrapezoidsOf(c, has_places);
  return c.ok() ? ops::Reduce(all.areas, "sum", {all.axis}, false)
                : c.tensor("y");
}
Tensor TrapezoidSums(Call& c, bool has_places) {
  const Trapezoids all = TrapezoidsOf(c, has_places);
  return c.ok() ? ops::InclusiveScan(all.areas, all.axis, Opcode::kAdd, 0)
                : c.tensor("y");
}
Tensor TrapezoidByPlaces(Call& c) { return TrapezoidSum(c, true); }
Tensor TrapezoidByStep(Call& c) { return TrapezoidSum(c, false); }
Tensor CumulativeByPlaces(Call& c) { return TrapezoidSums(c, true); }
Tensor CumulativeByStep(Call& c) { return TrapezoidSums(c, false); }

// Imports gradient: the differences of the neighbours of each element, over
// twice the spacing. At an edge the difference is one-sided, and of an order of
// accuracy of 1 or 2.
Tensor GradientAlong(Call& c, const Tensor& x, int axis, double spacing,
                     int64_t order) {
  const Dim size = x.dim(axis);
  if (!ops::IsNonNegative(size - Dim(order + 1))) {
    c.FailUnsupported("expected an axis that is known to have at least " +
                      std::to_string(order + 1) + " elements, found " +
                      size.ToString());
    return x;
  }
  const auto part = [&](const Dim& start, const Dim& count) {
    return ops::SliceAxis(x, axis, start, count);
  };
  const auto at = [&](const Dim& place) { return part(place, Dim(1)); };
  const auto edge = [&](const Dim& first, int64_t step) {
    const Tensor near = at(first);
    const Tensor next = at(first + Dim(step));
    if (order == 1)
      return (next - near) / (spacing * static_cast<double>(step));
    const Tensor far = at(first + Dim(2 * step));
    return (near * -3.0 + next * 4.0 - far) /
           (2 * spacing * static_cast<double>(step));
  };
  const Tensor inside =
      (part(Dim(2), size - Dim(2)) - part(Dim(0), size - Dim(2))) /
      (2 * spacing);
  return Concat({edge(Dim(0), 1), inside, edge(size - Dim(1), -1)}, axis);
}
Value GradientOf(Call& c, const std::vector<double>& spacing) {
  const Tensor x = AsFloat(c.tensor("self"));
  std::vector<int64_t> axes = AllAxes(x);
  if (c.has("dim")) axes = c.integers("dim");
  const int64_t order = c.integer("edge_order");
  if (!c.CheckRank("self", x, 1)) return {};
  if (order < 1 || order > 2) {
    c.FailInvalid("edge_order: expected 1 or 2, found " +
                  std::to_string(order));
    return {};
  }
  if (spacing.size() != 1 && spacing.size() != axes.size()) {
    c.FailInvalid("spacing: expected one number, or one for each of " +
                  std::to_string(axes.size()) + " axes, found " +
                  std::to_string(spacing.size()));
    return {};
  }
  std::vector<Value> results;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = NormalAxis(c.machine(), axes[i], x.rank());
    if (!c.ok()) return {};
    const double step = spacing[spacing.size() == 1 ? 0 : i];
    results.push_back(
        c.machine().NewTensor(GradientAlong(c, x, axis, step, order)));
    if (!c.ok()) return {};
  }
  return c.machine().NewList(std::move(results));
}
Value GradientByStep(Call& c) {
  return GradientOf(c, {c.has("spacing") ? c.number("spacing") : 1});
}
Value GradientBySteps(Call& c) { return GradientOf(c, c.numbers("spacing")); }
Value GradientOfOnes(Call& c) { return GradientOf(c, {1}); }
// Imports sum_to_size, the reverse of broadcasting: sums x over the axes that
// the argument `size` lacks or has as 1.
Tensor SumToSize(Call& c) {
  Tensor x = c.tensor("self");
  const Shape size = c.dims("size");
  if (!c.ok()) return x;
  if (size.size() > x.shape().size()) {
    c.FailInvalid("size: expected at most " + std::to_string(x.rank()) +
                  " dims, found " + std::to_string(size.size()));
    return x;
  }
  const size_t extra = x.shape().size() - size.size();
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    const Dim& extent = x.shape()[i];
    if (i < extra || (size[i - extra] == Dim(1) && extent != Dim(1))) {
      axes.push_back(static_cast<int64_t>(i));
      continue;
    }
    const Dim apart = extent - size[i - extra];
    if (apart.is_constant() && apart != Dim(0)) {
      c.FailInvalid("size: expected dims that are 1 or those of " +
                    graph::ShapeToString(x.shape()) + ", found " +
                    graph::ShapeToString(size));
      return x;
    }
    x = ops::WithDim(x, static_cast<int>(i), size[i - extra]);
  }
  if (axes.empty()) return x;
  if (!x.is_float()) x = ops::Cast(x, DType::kI64);
  return ops::Reshape(ops::Reduce(x, "sum", axes, true), size);
}

// Returns the covariance matrix of the rows of a matrix.
Tensor Covariance(Call& c, const Tensor& given, double correction) {
  Tensor x = AsFloat(given);
  if (!c.CheckRank("self", x, 0, 2)) return x;
  while (x.rank() < 2) x = ops::Unsqueeze(x, {0});
  const Tensor centered = x - ops::CorrectedMean(x, {1});
  const Tensor count =
      ops::Cast(ops::DimScalar(c.builder(), x.dim(1)), x.dtype());
  Tensor y = ops::Contract(centered, centered, "in,jn->ij") /
             ops::Maximum(count - correction, 0);
  // The covariance matrix of a single row is a number, without dims. An open
  // number of rows is taken not to be 1.
  graph::TakeNotUnit(c.builder(), x.dim(0));
  if (x.dim(0) == Dim(1)) y = ops::Reshape(y, {});
  return y;
}
Tensor Cov(Call& c) {
  if (c.has("fweights") || c.has("aweights")) {
    c.FailUnsupported("expected no weights (fweights, aweights)");
    return c.tensor("self");
  }
  return Covariance(c, c.tensor("self"),
                    static_cast<double>(c.integer("correction")));
}
Tensor Correlations(Call& c) {
  const Tensor y = Covariance(c, c.tensor("self"), 1);
  if (!c.ok() || y.rank() == 0) return c.ok() ? y / y : y;
  const Tensor deviation = ops::Sqrt(
      CallTensorRow(c, "aten::diagonal", {{"self", c.machine().NewTensor(y)}}));
  if (!c.ok()) return y;
  return ops::Minimum(ops::Maximum(y / ops::Unsqueeze(deviation, {1}) /
                                       ops::Unsqueeze(deviation, {0}),
                                   -1),
                      1);
}

// Imports histc, which counts the elements in each of `bins` equal parts of a
// range.
Tensor Histogram(Call& c) {
  const Tensor given = c.tensor("self");
  const int64_t bins = c.integer("bins");
  const double low = c.number("min");
  const double high = c.number("max");
  if (!c.ok()) return given;
  if (bins < 1 || bins > 1'000'000 || low > high) {
    c.FailInvalid("expected bins of 1 or more and a min that is at most max");
    return given;
  }
  const Tensor x = ops::Reshape(given, {graph::ElementCount(given.shape())});
  Tensor start = x.Like(low);
  Tensor end = x.Like(high);
  if (low == high) {
    // low = high means that no range is given: it is then the range of the
    // elements.
    start = ops::Reduce(x, "minimum", {0}, false);
    end = ops::Reduce(x, "maximum", {0}, false);
    const Tensor is_point = ops::Equal(start, end);
    start = ops::Select(is_point, start - 1.0, start);
    end = ops::Select(is_point, end + 1.0, end);
  }
  const Tensor inside =
      ops::And(ops::LessEqual(start, x), ops::LessEqual(x, end));
  const auto count = static_cast<double>(bins);
  const Tensor place =
      ops::Minimum(ops::Floor((x - start) / (end - start) * count), count - 1);
  const Tensor index =
      ops::Cast(ops::Select(inside, place, place.Like(0)), DType::kI64);
  return Apply("scatter_nd",
               {ops::Broadcast(x.Like(0), {Dim(bins)}),
                ops::Unsqueeze(index, {1}), ops::Cast(inside, x.dtype())},
               {{"update", std::string("add")}});
}

// Returns a bool: true if all elements of the boolean tensor `x` are true.
Value AllTrue(Call& c, Tensor x) {
  return c.machine().ToNumber(
      Value::Kind::kBool, ops::Cast(ops::Reduce(ops::Cast(x, DType::kU8),
                                                "minimum", AllAxes(x), false),
                                    DType::kBool));
}

// Imports equal: true if two tensors have the same shape and equal elements.
Value AreEqual(Call& c) {
  const Tensor a = c.tensor("self");
  const Tensor b = c.tensor("other");
  if (!c.ok()) return {};
  if (a.rank() != b.rank()) return Value::Bool(false);
  for (int i = 0; i < a.rank(); ++i) {
    const Dim apart = a.dim(i) - b.dim(i);
    if (apart.is_constant() && apart != Dim(0)) return Value::Bool(false);
  }
  const DType type = PromoteTypes(a.dtype(), b.dtype());
  const Tensor same = ops::Equal(ops::Cast(a, type), ops::Cast(b, type));
  return AllTrue(c, same);
}
Value AreClose(Call& c) {
  const Value close = Redirect(c, "aten::isclose");
  if (!c.ok()) return {};
  const Tensor same = c.machine().Read(*close.cell);
  return AllTrue(c, same);
}
Value IsNonzero(Call& c) {
  return Redirect(c, "aten::Bool", {{"a", c.value("self")}});
}

constexpr OperatorRow kRows[] = {
    {"cummax(Tensor self, int dim)", CumulativeMaximum},
    {"cummin(Tensor self, int dim)", CumulativeMinimum},
    {"quantile(Tensor self, Operand q, int? dim=None, bool keepdim=False, *, "
     "str interpolation='linear')",
     Quantile},
    {"nanquantile(Tensor self, Operand q, int? dim=None, bool keepdim=False, "
     "*, str interpolation='linear')",
     NanQuantile},
    {"nanmean(Tensor self, int[]? dim=None, bool keepdim=False)", NanMean},
    {"linalg_vecdot(Tensor x, Tensor y, *, int dim=-1)", VectorDot},
    {"cov(Tensor self, *, int correction=1, Tensor? fweights=None, "
     "Tensor? aweights=None)",
     Cov},
    {"corrcoef(Tensor self)", Correlations},
    {"histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0)", Histogram},
    {"trapezoid(Tensor y, Tensor x, *, int dim=-1)", TrapezoidByPlaces},
    {"trapezoid(Tensor y, *, Scalar dx=1, int dim=-1)", TrapezoidByStep},
    {"trapz(Tensor y, Tensor x, *, int dim=-1)", TrapezoidByPlaces},
    {"trapz(Tensor y, *, float dx=1, int dim=-1)", TrapezoidByStep},
    {"cumulative_trapezoid(Tensor y, Tensor x, *, int dim=-1)",
     CumulativeByPlaces},
    {"cumulative_trapezoid(Tensor y, *, Scalar dx=1, int dim=-1)",
     CumulativeByStep},
    {"gradient(Tensor self, *, Number? spacing=None, int? dim=None, "
     "int edge_order=1)",
     GradientByStep},
    {"gradient(Tensor self, *, Number spacing, int[] dim, int edge_order=1)",
     GradientByStep},
    {"gradient(Tensor self, *, int[] dim, int edge_order=1)", GradientOfOnes},
    {"gradient(Tensor self, *, float[] spacing, int[]? dim=None, "
     "int edge_order=1)",
     GradientBySteps},
    {"sum_to_size(Tensor self, int[] size)", SumToSize},
    {"equal(Tensor self, Tensor other)", AreEqual},
    {"allclose(Tensor self, Tensor other, float rtol=1e-05, "
     "float atol=1e-08, bool equal_nan=False)",
     AreClose},
    {"is_nonzero(Tensor self)", IsNonzero},
};

}  // namespace

std::span<const OperatorRow> StatisticsRows() { return kRows; }

}  // namespace ember::torchscript
