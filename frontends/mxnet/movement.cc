// Imports operators that change shapes or move elements, and products of
// matrices.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "base/rounding.h"
#include "compiler/graph/builder/unit_dims.h"
#include "frontends/mxnet/operator_table.h"
#include "frontends/ops/windows.h"

namespace ember::mxnet {
namespace {

// Returns the dims for MXNet's codes: 0 keeps one, -1 is inferred, -2 keeps all
// dims that remain, -3 merges two dims, and -4 splits a dim into the two
// extents that follow the code. Returns nullopt after an error.
std::optional<Shape> TargetOf(NodeContext& c, const Shape& from,
                              const std::vector<int64_t>& codes) {
  Shape shape;
  // Index in `shape` of the dim with code -1; -1 if there is none.
  int left = -1;
  size_t at = 0;
  const auto next = [&]() -> Dim {
    if (at < from.size()) return from[at++];
    c.FailInvalid("shape: expected codes for " + graph::ShapeToString(from) +
                  ", found more");
    return Dim(1);
  };
  for (size_t i = 0; i < codes.size() && c.ok(); ++i) {
    const int64_t code = codes[i];
    if (code > 0) {
      shape.push_back(Dim(code));
      if (at < from.size()) ++at;
    } else if (code == 0) {
      shape.push_back(next());
    } else if (code == -1 && left < 0) {
      left = static_cast<int>(shape.size());
      shape.push_back(Dim(1));
      if (at < from.size()) ++at;
    } else if (code == -2) {
      while (at < from.size()) shape.push_back(from[at++]);
    } else if (code == -3) {
      const Dim first = next();
      shape.push_back(first * next());
    } else if (code == -4 && i + 2 < codes.size()) {
      const Dim whole = next();
      const int64_t a = codes[i + 1], b = codes[i + 2];
      i += 2;
      const auto part = [&](int64_t other) {
        return ops::DivideElementCounts({whole}, {Dim(other)}).value_or(whole);
      };
      if ((a < 1 && b < 1) || a > ops::kMaxWindow || b > ops::kMaxWindow) {
        c.FailInvalid("shape: expected two dims behind -4");
      } else {
        shape.push_back(a > 0 ? Dim(a) : part(b));
        shape.push_back(b > 0 ? Dim(b) : part(a));
      }
    } else {
      c.FailInvalid("shape: expected codes from -4 on and one of -1, found " +
                    std::to_string(code));
    }
    if (shape.size() > static_cast<size_t>(kMaxRank))
      c.FailInvalid("shape: expected at most 16 dims");
  }
  if (!c.ok()) return std::nullopt;
  if (left < 0) return shape;
  Shape others = shape;
  others.erase(others.begin() + left);
  const auto missing = ops::DivideElementCounts(from, others);
  if (!missing) {
    c.FailInvalid("shape: expected a divisor of " + graph::ShapeToString(from) +
                  ", found " + graph::ShapeToString(others));
    return std::nullopt;
  }
  shape[static_cast<size_t>(left)] = *missing;
  return shape;
}

// Slices [begin, end) of an axis with a step, with Python's rules.
Tensor SlicePython(NodeContext& c, Tensor x, int axis,
                   std::optional<int64_t> begin, std::optional<int64_t> end,
                   int64_t step) {
  const Dim extent = x.dim(axis);
  if (step == 0 || step > ops::kMaxWindow || step < -ops::kMaxWindow) {
    c.FailInvalid("step: found " + std::to_string(step));
    return x;
  }
  const auto place = [&](int64_t value) {
    const Dim at = value < 0 ? extent + Dim(value) : Dim(value);
    return LargerOf(SmallerOf(at, extent), Dim(0));
  };
  if (step < 0) {
    const auto constant = extent.AsConstant();
    if (!constant) {
      c.FailUnsupported("a negative step over an open extent");
      return x;
    }
    const auto clamp = [&](int64_t value) {
      const int64_t at = value < 0 ? *constant + value : value;
      return std::clamp<int64_t>(at, -1, *constant - 1);
    };
    const int64_t first = begin ? clamp(*begin) : *constant - 1;
    const int64_t last = end ? clamp(*end) : -1;
    const int64_t size =
        first > last ? DivideRoundingUp(first - last, -step) : 0;
    return SliceAxis(x, axis, Dim(std::max<int64_t>(first, 0)), Dim(size),
                     step);
  }
  const Dim first = begin ? place(*begin) : Dim(0);
  const Dim last = end ? place(*end) : extent;
  const Dim span = LargerOf(last - first, Dim(0));
  return SliceAxis(x, axis, first,
                   step == 1 ? span : CeilDivide(span, Dim(step)), step);
}

Tensor MaybeTransposed(Tensor x, bool transposed) {
  if (!transposed || x.rank() < 2) return x;
  std::vector<int64_t> order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Transpose(x, order);
}

}  // namespace

void ImportReshape(NodeContext& c) {
  const Tensor x = c.Input(0);
  std::vector<int64_t> codes = c.Integers("shape");
  if (codes.empty()) {
    // Before MXNet 0.9 Reshape had the attribute target_shape instead: a list
    // of dims, in which a 0 is inferred from the rest.
    codes = c.Integers("target_shape");
    std::replace(codes.begin(), codes.end(), int64_t{0}, int64_t{-1});
    if (c.Flag("keep_highest", false) && !codes.empty()) codes[0] = 0;
  }
  Shape from = x.shape();
  const bool reverse = c.Flag("reverse", false);
  if (reverse) {
    std::reverse(from.begin(), from.end());
    std::reverse(codes.begin(), codes.end());
  }
  std::optional<Shape> shape = TargetOf(c, from, codes);
  if (!shape) return;
  if (reverse) std::reverse(shape->begin(), shape->end());
  c.SetOutput(Reshape(x, *shape));
}

void ImportReshapeLike(NodeContext& c) {
  if (c.Has("lhs_begin") || c.Has("rhs_begin") || c.Has("lhs_end") ||
      c.Has("rhs_end"))
    return c.FailUnsupported("parts of shapes");
  c.SetOutput(Reshape(c.Input(0), c.Input(1).shape()));
}

void ImportFlatten(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const Shape rest(x.shape().begin() + 1, x.shape().end());
  c.SetOutput(Reshape(x, {x.dim(0), graph::ElementCount(rest)}));
}

void ImportExpandDims(NodeContext& c) {
  const int axis = c.Axis(c.Integer("axis", 0), c.Input(0).rank() + 1);
  c.SetOutput(Unsqueeze(c.Input(0), {axis}));
}

void ImportSqueeze(NodeContext& c) {
  const Tensor x = c.Input(0);
  std::vector<int64_t> axes = c.Integers("axis");
  if (axes.empty()) axes = graph::UnitAxes(c.builder(), x.shape());
  axes = c.Axes(axes, x.rank());
  if (c.ok()) c.SetOutput(Squeeze(x, axes));
}

void ImportTranspose(NodeContext& c) {
  const Tensor x = c.Input(0);
  std::vector<int64_t> order = c.Integers("axes");
  if (order.empty())
    for (int i = x.rank(); i-- > 0;) order.push_back(i);
  if (static_cast<int>(order.size()) != x.rank() ||
      static_cast<int>(c.Axes(order, x.rank()).size()) != x.rank())
    return c.FailInvalid("axes: expected an order of all dims");
  for (int64_t& axis : order) axis = axis < 0 ? axis + x.rank() : axis;
  c.SetOutput(Transpose(x, order));
}

void ImportSwapAxis(NodeContext& c) {
  const Tensor x = c.Input(0);
  const int a = c.Axis(c.Integer("dim1", 0), x.rank());
  const int b = c.Axis(c.Integer("dim2", 0), x.rank());
  std::vector<int64_t> order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  if (!c.ok() || order.empty()) return;
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  c.SetOutput(Transpose(x, order));
}

void ImportConcat(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const int axis = c.Axis(c.Integer("dim", 1), c.Input(0).rank());
  if (c.ok()) c.SetOutput(Concat(c.inputs(), axis));
}

void ImportStack(NodeContext& c) {
  if (!c.CheckRank(0, 0)) return;
  const int axis = c.Axis(c.Integer("axis", 0), c.Input(0).rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor& input : c.inputs())
    parts.push_back(Unsqueeze(input, {axis}));
  if (c.ok()) c.SetOutput(Concat(parts, axis));
}

// Imports SliceChannel, which splits one axis into equal parts.
void ImportSplit(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 1), x.rank());
  const int64_t count = c.Integer("num_outputs", 1);
  if (count < 1 || count > 65535)
    return c.FailInvalid("num_outputs: found " + std::to_string(count));
  const auto size = ops::DivideElementCounts({x.dim(axis)}, {Dim(count)});
  if (!size)
    return c.FailInvalid("num_outputs: expected a divisor of " +
                         x.dim(axis).ToString() + ", found " +
                         std::to_string(count));
  const bool squeeze = c.Flag("squeeze_axis", false);
  for (int64_t i = 0; i < count && c.ok(); ++i) {
    const Tensor part = SliceAxis(x, axis, *size * Dim(i), *size);
    c.SetOutput(static_cast<int>(i), squeeze ? Squeeze(part, {axis}) : part);
  }
}

void ImportSlice(NodeContext& c) {
  Tensor x = c.Input(0);
  const auto begin = c.List("begin"), end = c.List("end"),
             step = c.List("step");
  if (begin.size() > static_cast<size_t>(x.rank()) ||
      begin.size() != end.size())
    return c.FailInvalid("begin, end: expected one for each of at most " +
                         std::to_string(x.rank()) + " dims");
  for (size_t i = 0; i < begin.size() && c.ok(); ++i) {
    const int64_t by = i < step.size() ? step[i].value_or(1) : 1;
    x = SlicePython(c, x, static_cast<int>(i), begin[i], end[i], by);
  }
  c.SetOutput(x);
}

void ImportSliceAxis(NodeContext& c) {
  const Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("axis", 0), x.rank());
  std::optional<int64_t> end;
  if (c.Has("end")) end = c.Integer("end", 0);
  if (c.ok())
    c.SetOutput(SlicePython(c, x, axis, c.Integer("begin", 0), end, 1));
}

void ImportSliceLike(NodeContext& c) {
  Tensor x = c.Input(0);
  const Tensor like = c.Input(1);
  std::vector<int64_t> axes = c.Integers("axes");
  if (axes.empty())
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  for (const int64_t axis : c.Axes(axes, std::min(x.rank(), like.rank()))) {
    const int at = static_cast<int>(axis);
    x = SliceAxis(x, at, Dim(0), like.dim(at));
  }
  c.SetOutput(x);
}

// Imports Crop, which cuts images to the size of a second operand or of h_w, at
// an offset or in the middle.
void ImportCrop(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  Tensor x = c.Input(0);
  const std::vector<int64_t> offset = c.Integers("offset", 2, 0);
  const std::vector<int64_t> size = c.Integers("h_w", 2, 0);
  const bool center = c.Flag("center_crop", false);
  for (int i = 0; i < 2 && c.ok(); ++i) {
    const auto at = static_cast<size_t>(i);
    const Dim extent = c.Input(1) ? c.Input(1).dim(2 + i) : Dim(size[at]);
    const Dim start = center ? FloorDivide(x.dim(2 + i) - extent, Dim(2))
                             : Dim(std::max<int64_t>(offset[at], 0));
    x = SliceAxis(x, 2 + i, start, extent);
  }
  c.SetOutput(x);
}

void ImportPad(NodeContext& c) {
  const Tensor x = c.Input(0);
  const std::vector<int64_t> width = c.Integers("pad_width");
  const std::string mode = c.Text("mode", "constant");
  if (width.size() != 2 * static_cast<size_t>(x.rank()))
    return c.FailInvalid("pad_width: expected two for each of " +
                         std::to_string(x.rank()) + " dims");
  if (mode != "constant" && mode != "edge" && mode != "reflect")
    return c.FailInvalid("mode: found '" + OnOneLine(mode) + "'");
  Shape low, high;
  for (size_t i = 0; i < width.size(); i += 2) {
    if (width[i] < 0 || width[i + 1] < 0 || width[i] > ops::kMaxWindow ||
        width[i + 1] > ops::kMaxWindow)
      return c.FailInvalid("pad_width: expected 0 or more");
    low.push_back(Dim(width[i]));
    high.push_back(Dim(width[i + 1]));
  }
  c.SetOutput(Pad(
      x, low, high, mode,
      mode == "constant" ? x.Like(c.Number("constant_value", 0)) : Tensor()));
}

void ImportTile(NodeContext& c) {
  Tensor x = c.Input(0);
  const std::vector<int64_t> reps = c.Integers("reps");
  if (reps.size() > static_cast<size_t>(kMaxRank))
    return c.FailInvalid("reps: expected at most 16");
  std::vector<int64_t> front;
  for (size_t i = static_cast<size_t>(x.rank()); i < reps.size(); ++i)
    front.push_back(static_cast<int64_t>(front.size()));
  if (!front.empty()) x = Unsqueeze(x, front);
  const int first = x.rank() - static_cast<int>(reps.size());
  for (size_t i = 0; i < reps.size() && c.ok(); ++i) {
    if (!c.CheckPositive("reps", reps[i])) return;
    const int axis = first + static_cast<int>(i);
    if (reps[i] == 1) continue;
    // Repeats x along an axis: inserts a dim before the axis, broadcasts it,
    // and merges it with the axis.
    Shape wide = x.shape(), merged = x.shape();
    wide.insert(wide.begin() + axis, Dim(reps[i]));
    merged[static_cast<size_t>(axis)] = x.dim(axis) * Dim(reps[i]);
    x = Reshape(Broadcast(Unsqueeze(x, {axis}), wide), merged);
  }
  c.SetOutput(x);
}

void ImportRepeat(NodeContext& c) {
  Tensor x = c.Input(0);
  const int64_t repeats = c.Integer("repeats", 1);
  if (!c.CheckPositive("repeats", repeats)) return;
  int axis = 0;
  if (c.Has("axis")) {
    axis = c.Axis(c.Integer("axis", 0), x.rank());
  } else {
    x = Reshape(x, {graph::ElementCount(x.shape())});
  }
  if (c.ok()) c.SetOutput(ops::RepeatEach(x, axis, Dim(repeats)));
}

void ImportReverse(NodeContext& c) {
  Tensor x = c.Input(0);
  for (const int64_t axis : c.Axes(c.Integers("axis"), x.rank()))
    x = ops::Reverse(x, static_cast<int>(axis));
  c.SetOutput(x);
}

void ImportBroadcastTo(NodeContext& c) {
  const Tensor x = c.Input(0);
  Shape shape;
  const std::vector<int64_t> dims = c.Integers("shape");
  if (static_cast<int>(dims.size()) != x.rank())
    return c.FailInvalid("shape: expected " + std::to_string(x.rank()) +
                         " dims");
  for (size_t i = 0; i < dims.size(); ++i)
    shape.push_back(dims[i] > 0 ? Dim(dims[i]) : x.dim(static_cast<int>(i)));
  c.SetOutput(Broadcast(x, shape));
}

void ImportBroadcastAxis(NodeContext& c) {
  const Tensor x = c.Input(0);
  const std::vector<int64_t> axes = c.Integers("axis");
  const std::vector<int64_t> sizes = c.Integers("size", axes.size(), 1);
  Shape shape = x.shape();
  for (size_t i = 0; i < axes.size() && c.ok(); ++i) {
    if (!c.CheckPositive("size", sizes[i])) return;
    shape[static_cast<size_t>(c.Axis(axes[i], x.rank()))] = Dim(sizes[i]);
  }
  if (c.ok()) c.SetOutput(Broadcast(x, shape));
}

void ImportBroadcastLike(NodeContext& c) {
  if (c.Has("lhs_axes") || c.Has("rhs_axes"))
    return c.FailUnsupported("lhs_axes and rhs_axes");
  c.SetOutput(Broadcast(c.Input(0), c.Input(1).shape()));
}

// Moves the depth of [N, C, H, W] into blocks, or back.
void ImportDepthToSpace(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const int64_t block = c.Integer("block_size", 1);
  if (!c.CheckPositive("block_size", block)) return;
  const auto depth =
      ops::DivideElementCounts({x.dim(1)}, {Dim(block), Dim(block)});
  if (!depth) return c.FailInvalid("block_size: it does not divide the depth");
  const Dim b(block);
  const Tensor split = Reshape(x, {x.dim(0), b, b, *depth, x.dim(2), x.dim(3)});
  c.SetOutput(Reshape(Transpose(split, {0, 3, 4, 1, 5, 2}),
                      {x.dim(0), *depth, x.dim(2) * b, x.dim(3) * b}));
}

void ImportSpaceToDepth(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const Tensor x = c.Input(0);
  const int64_t block = c.Integer("block_size", 1);
  if (!c.CheckPositive("block_size", block)) return;
  const Dim b(block);
  const auto h = ops::DivideElementCounts({x.dim(2)}, {b});
  const auto w = ops::DivideElementCounts({x.dim(3)}, {b});
  if (!h || !w) return c.FailInvalid("block_size: it does not divide the size");
  const Tensor split = Reshape(x, {x.dim(0), x.dim(1), *h, b, *w, b});
  c.SetOutput(Reshape(Transpose(split, {0, 3, 5, 1, 2, 4}),
                      {x.dim(0), x.dim(1) * b * b, *h, *w}));
}

// Imports dot, which contracts the last dim of the first operand with the first
// dim of the second.
void ImportDot(NodeContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const auto oriented = [&](Tensor x, bool transposed) {
    if (!transposed || x.rank() < 2) return x;
    std::vector<int64_t> order;
    for (int i = 1; i < x.rank(); ++i) order.push_back(i);
    order.push_back(0);
    return Transpose(x, order);
  };
  Tensor a = oriented(c.Input(0), c.Flag("transpose_a", false));
  Tensor b = c.Input(1);
  if (c.Flag("transpose_b", false) && b.rank() >= 2) {
    std::vector<int64_t> order{b.rank() - 1};
    for (int i = 0; i + 1 < b.rank(); ++i) order.push_back(i);
    b = Transpose(b, order);
  }
  std::string left, right = "z", result;
  char letter = 'a';
  for (int i = 0; i + 1 < a.rank(); ++i) left += letter++;
  result = left;
  left += 'z';
  for (int i = 1; i < b.rank(); ++i) right += letter++;
  result += right.substr(1);
  Tensor y = Contract(a, b, left + "," + right + "->" + result);
  if (y.rank() == 0) y = Reshape(y, {Dim(1)});
  c.SetOutput(y);
}

void ImportBatchDot(NodeContext& c) {
  if (!c.CheckRank(0, 3) || !c.CheckRank(1, 3)) return;
  c.SetOutput(
      MatMul(MaybeTransposed(c.Input(0), c.Flag("transpose_a", false)),
             MaybeTransposed(c.Input(1), c.Flag("transpose_b", false))));
}

void ImportGemm2(NodeContext& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 2)) return;
  if (c.Integer("axis", -2) != -2)
    return c.FailUnsupported("axis: expected -2");
  const Tensor product =
      MatMul(MaybeTransposed(c.Input(0), c.Flag("transpose_a", false)),
             MaybeTransposed(c.Input(1), c.Flag("transpose_b", false)));
  const double alpha = c.Number("alpha", 1);
  c.SetOutput(alpha == 1 ? product : product * alpha);
}

// Imports SequenceMask, which sets the steps behind each sequence's length (the
// second operand) to the attribute `value`. The operand is [steps, batch, …],
// or [batch, steps, …] if the attribute axis is 1.
void ImportSequenceMask(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  if (!c.Flag("use_sequence_length", false)) return c.SetOutput(x);
  if (!c.CheckRank(1, 1, 1)) return;
  const int axis = c.Integer("axis", 0) == 1 ? 1 : 0;
  const Tensor step = AlongAxis(
      IotaVector(c.builder(), x.dim(axis), DType::kI64), axis, x.rank());
  const Tensor length =
      AlongAxis(Cast(c.Input(1), DType::kI64), 1 - axis, x.rank());
  c.SetOutput(Select(Less(step, length), x, x.Like(c.Number("value", 0))));
}

void ImportSequenceReverse(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  if (!c.Flag("use_sequence_length", false))
    return c.SetOutput(ops::Reverse(x, 0));
  if (!c.CheckRank(1, 1, 1)) return;
  // SequenceReverse with lengths reverses only the steps within each sequence's
  // length, and keeps the steps behind it.
  const Tensor step =
      Unsqueeze(IotaVector(c.builder(), x.dim(0), DType::kI64), {1});
  const Tensor length = Unsqueeze(Cast(c.Input(1), DType::kI64), {0});
  Tensor from = Select(Less(step, length), length - step - 1.0, step);
  for (int i = 2; i < x.rank(); ++i) from = Unsqueeze(from, {i});
  c.SetOutput(Apply("gather_elements", {x, Broadcast(from, x.shape())},
                    {{"axis", int64_t{0}}}));
}

void ImportSequenceLast(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  if (c.Flag("use_sequence_length", false))
    return c.FailUnsupported("sequence lengths");
  const int axis = c.Integer("axis", 0) == 1 ? 1 : 0;
  c.SetOutput(
      Squeeze(SliceAxis(x, axis, x.dim(axis) - Dim(1), Dim(1)), {axis}));
}

}  // namespace ember::mxnet
