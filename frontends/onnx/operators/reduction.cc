// Imports reductions, ArgMax and ArgMin.
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/dynamic_axes.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

struct Reduction {
  Tensor x;
  std::vector<int64_t> axes;
  bool keep = true;
  bool no_operation = false;
  // Set if the axes are known only at run time: the reduced tensor has its dims
  // in another arrangement, and is reshaped to this shape.
  std::optional<Shape> result;

  Tensor Finish(Tensor y) const { return result ? Reshape(y, *result) : y; }
};

// Reads axes that are known only at run time: x is permuted so that they become
// its last dims. Returns false after an error.
bool ReadDynamicReduction(NodeContext& c, Reduction& reduction) {
  const Tensor x = reduction.x;
  const int rank = x.rank();
  const std::optional<Tensor> axes = ReadDynamicAxes(c, 1, rank);
  if (!axes) return false;
  const auto count = static_cast<int>(axes->dim(0).constant());
  if (reduction.keep) {
    const Tensor kept =
        Select(Equal(AxisMask(*axes, rank), 1), c.Scalar(1, DType::kI64),
               c.Wrap(c.builder().ShapeValue(x.shape())));
    reduction.result = c.Sizes(kept, "dims");
    if (!reduction.result) return false;
  }
  reduction.keep = false;
  reduction.x = PermuteByData(c, x, AxesLast(*axes, rank).source);
  for (int i = rank - count; i < rank; ++i) reduction.axes.push_back(i);
  return c.ok();
}

// Reads the axes of a reduction. They are an attribute in older opsets and
// input 1 in newer ones: from 13 on for ReduceSum, from 18 on for the others.
// Nullopt after an error.
std::optional<Reduction> ReadReduction(NodeContext& c) {
  Reduction reduction;
  reduction.x = c.Input(0);
  reduction.keep = c.Integer("keepdims", 1) != 0;
  const int rank = c.Input(0).rank();
  if (c.ok() && !c.HasAttribute("axes") && c.Input(1) && !c.IsKnown(1) &&
      c.Input(1).shape() != Shape{Dim(0)}) {
    if (!ReadDynamicReduction(c, reduction)) return std::nullopt;
    return reduction;
  }
  // An operand `axes` of length 0 has no contents that would have to be known
  // when compiling.
  const bool none = c.Input(1) && c.Input(1).shape() == Shape{Dim(0)};
  std::optional<std::vector<int64_t>> axes;
  if (!none) axes = c.IntegersFromAttributeOrInput("axes", 1);
  if (!c.ok()) return std::nullopt;
  if (axes && !axes->empty()) {
    reduction.axes = c.DistinctAxes(*axes, rank);
  } else if (c.Integer("noop_with_empty_axes", 0) != 0) {
    reduction.no_operation = true;
  } else {
    reduction.axes.resize(rank);
    std::iota(reduction.axes.begin(), reduction.axes.end(), 0);
  }
  if (!c.ok()) return std::nullopt;
  return reduction;
}

// A reduction: `before` is applied to each element, then the combiner reduces
// the elements, then `after` is applied to the result.
struct Formula {
  const char* combiner;
  Tensor (*before)(Tensor) = nullptr;
  Tensor (*after)(Tensor) = nullptr;
};

void ImportFormula(NodeContext& c, const Formula& formula) {
  const std::optional<Reduction> reduction = ReadReduction(c);
  if (!reduction) return;
  const DType type = c.Input(0).dtype();
  Tensor x = Cast(reduction->x, ComputeType(type));
  if (formula.before) x = formula.before(x);
  if (!reduction->no_operation)
    x = Reduce(x, formula.combiner, reduction->axes, reduction->keep);
  if (formula.after) x = formula.after(x);
  c.SetOutput(0, Cast(reduction->Finish(x), type));
}

// FloatingSqrt and FloatingLog also accept integers, which they compute in f64,
// because Sqrt and Log of the graph accept only floats.
Tensor FloatingSqrt(Tensor x) {
  return x.is_float() ? Sqrt(x) : Cast(Sqrt(Cast(x, DType::kF64)), x.dtype());
}
Tensor FloatingLog(Tensor x) {
  return x.is_float() ? Log(x) : Cast(Log(Cast(x, DType::kF64)), x.dtype());
}

void ImportReduceSum(NodeContext& c) { ImportFormula(c, {"sum"}); }
void ImportReduceProd(NodeContext& c) { ImportFormula(c, {"product"}); }
void ImportReduceL1(NodeContext& c) { ImportFormula(c, {"sum", Absolute}); }
void ImportReduceL2(NodeContext& c) {
  ImportFormula(c, {"sum", ops::Square, FloatingSqrt});
}
void ImportReduceLogSum(NodeContext& c) {
  ImportFormula(c, {"sum", nullptr, FloatingLog});
}
void ImportReduceSumSquare(NodeContext& c) {
  ImportFormula(c, {"sum", ops::Square});
}

// Imports a maximum or minimum. bool is reduced as u8: its maximum is "any",
// its minimum "all".
void ImportExtreme(NodeContext& c, const char* combiner) {
  const std::optional<Reduction> reduction = ReadReduction(c);
  if (!reduction) return;
  Tensor x = reduction->x;
  if (reduction->no_operation) return c.SetOutput(0, x);
  const DType type = x.dtype();
  if (type == DType::kBool) x = Cast(x, DType::kU8);
  const Tensor y = Reduce(x, combiner, reduction->axes, reduction->keep);
  c.SetOutput(0, Cast(reduction->Finish(y), type));
}

void ImportReduceMax(NodeContext& c) { ImportExtreme(c, "maximum"); }
void ImportReduceMin(NodeContext& c) { ImportExtreme(c, "minimum"); }

void ImportReduceMean(NodeContext& c) {
  const std::optional<Reduction> reduction = ReadReduction(c);
  if (!reduction) return;
  Tensor x = reduction->x;
  if (reduction->no_operation) return c.SetOutput(0, x);
  const Tensor wide = x.is_float() ? x : Cast(x, DType::kF64);
  const Tensor mean = Mean(wide, reduction->axes, reduction->keep);
  c.SetOutput(0, Cast(reduction->Finish(mean), x.dtype()));
}

// Imports ReduceLogSumExp. The largest element is subtracted so that exp does
// not overflow. An infinite largest element is not subtracted, as the
// difference would be NaN.
void ImportReduceLogSumExp(NodeContext& c) {
  const std::optional<Reduction> reduction = ReadReduction(c);
  if (!reduction) return;
  const DType type = c.Input(0).dtype();
  if (reduction->no_operation) return c.SetOutput(0, c.Input(0));
  Tensor x =
      Cast(reduction->x, IsFloat(type) ? ComputeType(type) : DType::kF64);
  Tensor largest = Reduce(x, "maximum", reduction->axes, true);
  Tensor offset = Select(IsInfinite(largest), largest.Like(0), largest);
  Tensor result =
      Log(Reduce(Exp(x - offset), "sum", reduction->axes, true)) + offset;
  if (!reduction->keep) result = Squeeze(result, reduction->axes);
  c.SetOutput(0, Cast(reduction->Finish(result), type));
}

void ImportArg(NodeContext& c, const char* mode) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 0), x.rank());
  Tensor index =
      Apply("arg_reduce", {x},
            {{"mode", std::string(mode)},
             {"axis", int64_t{axis}},
             {"last", int64_t{c.Integer("select_last_index", 0) != 0}}});
  c.SetOutput(0,
              c.Integer("keepdims", 1) != 0 ? Unsqueeze(index, {axis}) : index);
}

void ImportArgMax(NodeContext& c) { ImportArg(c, "maximum"); }
void ImportArgMin(NodeContext& c) { ImportArg(c, "minimum"); }

constexpr OperatorRow kRows[] = {
    {"ArgMax", 1, 1, 1, ImportArgMax},
    {"ArgMin", 1, 1, 1, ImportArgMin},
    {"ReduceL1", 1, 1, 2, ImportReduceL1},
    {"ReduceL2", 1, 1, 2, ImportReduceL2},
    {"ReduceLogSum", 1, 1, 2, ImportReduceLogSum},
    {"ReduceLogSumExp", 1, 1, 2, ImportReduceLogSumExp},
    {"ReduceMax", 1, 1, 2, ImportReduceMax},
    {"ReduceMean", 1, 1, 2, ImportReduceMean},
    {"ReduceMin", 1, 1, 2, ImportReduceMin},
    {"ReduceProd", 1, 1, 2, ImportReduceProd},
    {"ReduceSum", 1, 1, 2, ImportReduceSum},
    {"ReduceSumSquare", 1, 1, 2, ImportReduceSumSquare},
};

}  // namespace

std::span<const OperatorRow> ReductionOperators() { return kRows; }

}  // namespace ember::onnx
