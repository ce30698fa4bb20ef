// Imports operators that keep all elements and move or repeat them: reshape,
// transpose, concat, expand, tile …
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/dynamic_axes.h"
#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/repeated_extent.h"

namespace ember::onnx {
namespace {

// Reads the target shape of Reshape: operand 1, or the attribute `shape` before
// opset 5. Nullopt after an error.
std::optional<Shape> ReadTargetShape(NodeContext& c) {
  if (c.Input(1)) return c.Contents(1, "shape");
  const std::optional<std::vector<int64_t>> attribute = c.Integers("shape");
  if (attribute) return Shape(attribute->begin(), attribute->end());
  c.FailInvalid("shape is missing");
  return std::nullopt;
}

// Resolves the target shape of a Reshape: 0 means the dim of `from` at the same
// index (if `zero_copies`), -1 the extent that remains. Nullopt after an error.
std::optional<Shape> ResolveReshape(NodeContext& c, const Shape& from,
                                    Shape target, bool zero_copies) {
  int inferred = -1;
  Shape others;
  for (int i = 0; i < static_cast<int>(target.size()); ++i) {
    if (target[i] == Dim(-1)) {
      if (inferred >= 0) {
        c.FailInvalid("shape: expected at most one -1, found " +
                      graph::ShapeToString(target));
        return std::nullopt;
      }
      inferred = i;
      continue;
    }
    if (zero_copies && target[i] == Dim(0)) {
      if (i >= static_cast<int>(from.size())) {
        c.FailInvalid("shape: element " + std::to_string(i) +
                      " copies a dim that " + graph::ShapeToString(from) +
                      " does not have");
        return std::nullopt;
      }
      target[i] = from[i];
    }
    others.push_back(target[i]);
  }
  if (inferred < 0) return target;
  const std::optional<Dim> rest = DivideElementCounts(from, others);
  if (!rest) {
    c.FailInvalid("shape: cannot reshape " + graph::ShapeToString(from) +
                  " to " + graph::ShapeToString(target));
    return std::nullopt;
  }
  target[inferred] = *rest;
  return target;
}

// Reads a target shape of Reshape that depends on data. In a concatenation,
// elements that are known when compiling stay constant, and the others must be
// extents. In any other shape the program replaces 0 (if `zero_copies`) and -1
// by extents. Nullopt after an error.
std::optional<Shape> ReadDynamicTarget(NodeContext& c, bool zero_copies) {
  Tensor x = c.Input(0);
  if (!c.CheckRank(1, 1, 1)) return std::nullopt;
  Tensor target = Cast(c.Input(1), DType::kI64);
  const std::optional<int64_t> rank = target.dim(0).AsConstant();
  if (!rank) {
    c.FailUnsupported("shape (input 1): expected a known number of dims");
    return std::nullopt;
  }
  if (*rank > kMaxRank) {
    c.FailInvalid("shape (input 1): expected at most " +
                  std::to_string(kMaxRank) + " dims, found " +
                  std::to_string(*rank));
    return std::nullopt;
  }
  const graph::Operation* producer = target.value()->producer();
  if (producer != nullptr && producer->name() == "concat")
    return c.Sizes(target, "shape (input 1)");
  Shape from = x.shape();
  from.resize(static_cast<size_t>(*rank), Dim(0));
  const Tensor dims = c.Wrap(c.builder().ShapeValue(from));
  if (zero_copies) target = Select(Equal(target, 0), dims, target);
  const Tensor open = Equal(target, -1);
  const Tensor given =
      Reduce(Select(open, target.Like(1), target), "product", {0}, false);
  const Tensor all = DimScalar(c.builder(), ElementCount(x.shape()));
  target = Select(open, all / Maximum(given, 1), target);
  return c.Sizes(target, "shape (input 1)");
}

void ImportReshape(NodeContext& c) {
  const bool zero_copies = c.Integer("allowzero", 0) == 0;
  std::optional<Shape> target;
  if (c.Input(1) && c.ok() && !c.IsKnown(1)) {
    target = ReadDynamicTarget(c, zero_copies);
    if (!target) return;
    target = ResolveReshape(c, c.Input(0).shape(), *target, zero_copies);
    if (target) c.SetOutput(0, Reshape(c.Input(0), *target));
    return;
  }
  target = ReadTargetShape(c);
  if (!target) return;
  target =
      ResolveReshape(c, c.Input(0).shape(), *std::move(target), zero_copies);
  if (target) c.SetOutput(0, Reshape(c.Input(0), *target));
}

void ImportFlatten(NodeContext& c) {
  Tensor x = c.Input(0);
  const int64_t given = c.Integer("axis", 1);
  if (given < -x.rank() || given > x.rank()) {
    return c.FailInvalid(
        "attribute 'axis': expected a value up to the rank, found " +
        std::to_string(given));
  }
  const int64_t axis = given < 0 ? given + x.rank() : given;
  const Shape& shape = x.shape();
  c.SetOutput(
      0, Reshape(x, {ElementCount(Shape(shape.begin(), shape.begin() + axis)),
                     ElementCount(Shape(shape.begin() + axis, shape.end()))}));
}

void ImportTranspose(NodeContext& c) {
  Tensor x = c.Input(0);
  std::vector<int64_t> reversed(x.rank());
  for (int i = 0; i < x.rank(); ++i) reversed[i] = x.rank() - 1 - i;
  std::vector<int64_t> permutation = c.Integers("perm", reversed);
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  std::reverse(reversed.begin(), reversed.end());
  if (sorted != reversed) {
    return c.FailInvalid("attribute 'perm': expected a permutation of " +
                         std::to_string(x.rank()) + " dims");
  }
  c.SetOutput(0, Transpose(x, std::move(permutation)));
}

// True if the axes are an operand whose values are known only at run time.
bool HasDynamicAxes(NodeContext& c) {
  return c.ok() && !c.HasAttribute("axes") && c.Input(1) && !c.IsKnown(1);
}

void SqueezeDynamic(NodeContext& c) {
  Tensor x = c.Input(0);
  const std::optional<Tensor> axes = ReadDynamicAxes(c, 1, x.rank());
  if (!axes) return;
  const Tensor kept = SliceAxis(AxesLast(*axes, x.rank()).source, 0, Dim(0),
                                Dim(x.rank()) - axes->dim(0));
  const Tensor dims = c.Wrap(c.builder().ShapeValue(x.shape()));
  const std::optional<Shape> shape = c.Sizes(Gather(dims, kept, 0), "dims");
  // The program need not check that each dropped dim is 1: otherwise the number
  // of elements would differ, and the reshape would fail.
  if (shape) c.SetOutput(0, Reshape(x, *shape));
}

void UnsqueezeDynamic(NodeContext& c) {
  Tensor x = c.Input(0);
  if (!c.CheckRank(1, 0, 1)) return;
  const Tensor operand = c.Input(1);
  const std::optional<int64_t> count =
      operand.rank() == 0 ? 1 : operand.dim(0).AsConstant();
  if (!count) {
    // The number of axes is not known. ConstantIntegers reports that as an
    // error, which names the graph inputs that would have to be known.
    c.ConstantIntegers(1, "axes");
    return;
  }
  if (*count > kMaxRank - x.rank()) return c.FailInvalid("axes: too many dims");
  const int rank = x.rank() + static_cast<int>(*count);
  const std::optional<Tensor> axes = ReadDynamicAxes(c, 1, rank);
  if (!axes) return;
  // `dims` has the dims of the result in the order of AxesLast: first those of
  // x, then the inserted dims of 1. `place` then moves each to its position.
  Shape dims = x.shape();
  dims.resize(static_cast<size_t>(rank), Dim(1));
  const Tensor place = AxesLast(*axes, rank).place;
  const std::optional<Shape> shape =
      c.Sizes(Gather(c.Wrap(c.builder().ShapeValue(dims)), place, 0), "dims");
  if (shape) c.SetOutput(0, Reshape(x, *shape));
}

void ImportSqueeze(NodeContext& c) {
  if (HasDynamicAxes(c)) return SqueezeDynamic(c);
  Tensor x = c.Input(0);
  std::optional<std::vector<int64_t>> axes =
      c.IntegersFromAttributeOrInput("axes", 1);
  if (!c.ok()) return;
  std::vector<int64_t> squeezed;
  if (axes) {
    squeezed = c.DistinctAxes(*axes, x.rank());
  } else {
    for (int i = 0; i < x.rank(); ++i) {
      if (x.dim(i) == Dim(1)) squeezed.push_back(i);
    }
  }
  if (c.ok()) c.SetOutput(0, squeezed.empty() ? x : Squeeze(x, squeezed));
}

void ImportUnsqueeze(NodeContext& c) {
  if (HasDynamicAxes(c)) return UnsqueezeDynamic(c);
  Tensor x = c.Input(0);
  std::optional<std::vector<int64_t>> axes =
      c.IntegersFromAttributeOrInput("axes", 1);
  if (!c.ok()) return;
  if (!axes) return c.FailInvalid("axes are missing");
  const int rank = x.rank() + static_cast<int>(axes->size());
  if (rank > kMaxRank) return c.FailInvalid("axes: too many dims");
  std::vector<int64_t> sorted = c.DistinctAxes(*axes, rank);
  std::sort(sorted.begin(), sorted.end());
  if (c.ok()) c.SetOutput(0, Unsqueeze(x, sorted));
}

void ImportConcat(NodeContext& c) {
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.Input(i))
      return c.FailInvalid("input " + std::to_string(i) + " is missing");
  }
  if (!c.CheckRank(0, 1)) return;
  const int64_t axis = c.Integer("axis", 1);
  c.SetOutput(0, Concat(c.inputs(), c.Axis(axis, c.Input(0).rank())));
}

// Broadcasts an axis to `extent` if only the program knows whether its extent
// is 1: result index i reads the element i, or the last one if there is no
// element i.
Tensor RepeatUnitDim(Tensor x, int axis, const Dim& extent) {
  Tensor index = IotaVector(x.builder(), extent, DType::kI64);
  const Tensor last = DimScalar(x.builder(), x.dim(axis) - Dim(1));
  return Gather(x, Minimum(index, last), axis);
}

// Makes the program check that two dims can be broadcast: they are equal, or
// one of them is 1.
void RequireRepeatable(NodeContext& c, const Dim& from, const Dim& to) {
  const Tensor a = DimScalar(c.builder(), from);
  const Tensor b = DimScalar(c.builder(), to);
  Tensor fits = Or(Equal(a, b), Or(Equal(a, 1), Equal(b, 1)));
  c.builder().Require(fits.value(), "expected equal dims or 1, found " +
                                        from.ToString() + " and " +
                                        to.ToString() + " that are neither");
}

void ImportExpand(NodeContext& c) {
  Tensor x = c.Input(0);
  const std::optional<Shape> target = c.Sizes(1, "shape");
  if (!target) return;
  const size_t rank = std::max(target->size(), x.shape().size());
  if (rank > kMaxRank) return c.FailInvalid("shape: too many dims");
  for (const Dim& dim : *target) {
    if (!dim.is_constant() || dim.constant() >= 0) continue;
    return c.FailInvalid(
        "shape (input 1): expected dims of at least 0, found " +
        graph::ShapeToString(*target) +
        "; write 1 for a dim that stays as it is");
  }
  Shape from(rank - x.shape().size(), Dim(1));
  from.insert(from.end(), x.shape().begin(), x.shape().end());
  Shape to(rank - target->size(), Dim(1));
  to.insert(to.end(), target->begin(), target->end());
  x = Reshape(x, from);
  for (size_t i = 0; i < rank; ++i) {
    if (from[i] == Dim(1) || to[i] == Dim(1) || from[i] == to[i]) {
      if (to[i] == Dim(1)) to[i] = from[i];
      continue;
    }
    if (from[i].is_constant() && to[i].is_constant())
      return c.Fail(graph::BroadcastShapes(x.shape(), *target).status());
    RequireRepeatable(c, from[i], to[i]);
    if (from[i].is_constant()) {
      to[i] = from[i];
      continue;
    }
    if (!to[i].is_constant())
      to[i] = ops::RepeatedExtent(c.builder(), from[i], to[i]);
    if (to[i] != from[i]) x = RepeatUnitDim(x, static_cast<int>(i), to[i]);
  }
  c.SetOutput(0, Broadcast(x, to));
}

// Imports Tile: a dim of 1 for the repetitions is inserted before each dim,
// broadcast to their number, and merged with the dim.
void ImportTile(NodeContext& c) {
  Tensor x = c.Input(0);
  const std::optional<Shape> repeats = c.Sizes(1, "repeats");
  if (!repeats) return;
  if (static_cast<int>(repeats->size()) != x.rank()) {
    return c.FailInvalid("repeats (input 1): expected " +
                         std::to_string(x.rank()) + " values, found " +
                         std::to_string(repeats->size()));
  }
  Shape split;
  Shape expanded;
  Shape merged;
  for (int i = 0; i < x.rank(); ++i) {
    merged.push_back(x.dim(i) * (*repeats)[i]);
    if ((*repeats)[i] != Dim(1)) {
      split.push_back(Dim(1));
      expanded.push_back((*repeats)[i]);
    }
    split.push_back(x.dim(i));
    expanded.push_back(x.dim(i));
  }
  c.SetOutput(0, Reshape(Broadcast(Reshape(x, split), expanded), merged));
}

// Returns the attribute `blocksize`. Fails unless the input is [N, C, H, W] and
// the attribute is at least 1 and below 2^20.
std::optional<int64_t> ReadBlockSize(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return std::nullopt;
  const int64_t block = c.Integer("blocksize", 0);
  if (block >= 1 && block < (1 << 20)) return block;
  c.FailInvalid("attribute 'blocksize': expected at least 1, found " +
                std::to_string(block));
  return std::nullopt;
}

// Reads the attribute `mode` of DepthToSpace, which gives the order of the
// factors of the channel dim. Returns true for CRD (channels, then positions in
// a block), false for DCR (positions, then channels), nullopt after an error.
std::optional<bool> ReadChannelsFirst(NodeContext& c) {
  const std::string mode = c.String("mode", "DCR");
  if (mode == "DCR" || mode == "CRD") return mode == "CRD";
  c.FailInvalid("attribute 'mode': expected DCR or CRD, found '" + mode + "'");
  return std::nullopt;
}

void ImportDepthToSpace(NodeContext& c) {
  const std::optional<int64_t> size = ReadBlockSize(c);
  const std::optional<bool> channels_first = ReadChannelsFirst(c);
  if (!size || !channels_first) return;
  Tensor x = c.Input(0);
  const Dim block(*size);
  const Dim depth = FloorDivide(x.dim(1), block * block);
  Tensor split =
      *channels_first
          ? Reshape(x, {x.dim(0), depth, block, block, x.dim(2), x.dim(3)})
          : Reshape(x, {x.dim(0), block, block, depth, x.dim(2), x.dim(3)});
  Tensor moved = *channels_first ? Transpose(split, {0, 1, 4, 2, 5, 3})
                                 : Transpose(split, {0, 3, 4, 1, 5, 2});
  c.SetOutput(
      0, Reshape(moved, {x.dim(0), depth, x.dim(2) * block, x.dim(3) * block}));
}

void ImportSpaceToDepth(NodeContext& c) {
  const std::optional<int64_t> size = ReadBlockSize(c);
  const std::optional<bool> channels_first = ReadChannelsFirst(c);
  if (!size || !channels_first) return;
  Tensor x = c.Input(0);
  const Dim block(*size);
  const Dim height = FloorDivide(x.dim(2), block);
  const Dim width = FloorDivide(x.dim(3), block);
  Tensor split = Reshape(x, {x.dim(0), x.dim(1), height, block, width, block});
  Tensor moved = *channels_first ? Transpose(split, {0, 1, 3, 5, 2, 4})
                                 : Transpose(split, {0, 3, 5, 1, 2, 4});
  c.SetOutput(
      0, Reshape(moved, {x.dim(0), x.dim(1) * block * block, height, width}));
}

constexpr OperatorRow kRows[] = {
    {"Concat", 1, 1, kVariadic, ImportConcat, "", kAllMoved},
    {"DepthToSpace", 1, 1, 1, ImportDepthToSpace, "", Moves({0})},
    {"Expand", 8, 2, 2, ImportExpand, "", Moves({0})},
    {"Flatten", 1, 1, 1, ImportFlatten, "", Moves({0})},
    {"Reshape", 1, 1, 2, ImportReshape, "", Moves({0})},
    {"SpaceToDepth", 1, 1, 1, ImportSpaceToDepth, "", Moves({0})},
    {"Squeeze", 1, 1, 2, ImportSqueeze, "", Moves({0})},
    {"Tile", 6, 2, 2, ImportTile, "", Moves({0})},
    {"Transpose", 1, 1, 1, ImportTranspose, "", Moves({0})},
    {"Unsqueeze", 1, 1, 2, ImportUnsqueeze, "", Moves({0})},
};

}  // namespace

std::span<const OperatorRow> MovementOperators() { return kRows; }

}  // namespace ember::onnx
