// Imports layers whose shapes are inputs, computed by other layers. Such inputs
// are f32 in networks and are read as integers.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/rounding.h"
#include "frontends/coreml/layer_table.h"

namespace ember::coreml {
namespace {

// Returns the extents that an input holds. They are constants if the input is
// known at import, else symbols that are read at run time.
std::optional<Shape> SizesOf(LayerContext& c, int input,
                             std::string_view what) {
  if (!c.CheckRank(input, 0, 1)) return std::nullopt;
  return c.Sizes(Cast(c.Input(input), DType::kI64), what);
}

// Returns a number for each of `rank` dims, from the input if it is present,
// else from the field.
std::optional<std::vector<int64_t>> NumbersOf(LayerContext& c, int input,
                                              uint64_t field, int rank,
                                              const std::string& what) {
  std::vector<int64_t> numbers = c.parameters().Integers(field);
  if (c.Input(input)) {
    const auto given = c.Constants(input);
    if (!given) return std::nullopt;
    numbers = *given;
  }
  if (static_cast<int>(numbers.size()) == rank) return numbers;
  c.FailInvalid(what + ": expected " + std::to_string(rank) +
                " values, found " + std::to_string(numbers.size()));
  return std::nullopt;
}

}  // namespace

void ImportRangeDynamic(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const auto number = [&](int input, double otherwise) {
    return c.Input(input) ? Reshape(c.Input(input), Shape{})
                          : c.Scalar(otherwise);
  };
  const Tensor end = number(0, 0), start = number(1, p.Float(2)),
               step = number(2, p.Float(3));
  if (!c.ok()) return;
  const Tensor count =
      Cast(Maximum(Ceil((end - start) / step), 0), DType::kI64);
  const auto sizes = c.Sizes(count, "range");
  if (!sizes) return;
  c.SetOutput(
      0, IotaVector(c.builder(), sizes->front(), DType::kF32) * step + start);
}

void ImportFillDynamic(LayerContext& c) {
  const auto shape = SizesOf(c, 0, "shape (input 0)");
  if (shape)
    c.SetOutput(0, Broadcast(c.Scalar(c.parameters().Float(1)), *shape));
}

// Imports BroadcastToDynamic. Only extents of 1 are broadcast: where the
// input's extent is another constant and the result's extent is unknown at
// import, the result gets the input's extent.
void ImportBroadcastToDynamic(LayerContext& c) {
  auto shape = SizesOf(c, 1, "shape (input 1)");
  const Tensor x = c.Input(0);
  if (!shape) return;
  const auto skipped = static_cast<int>(shape->size()) - x.rank();
  for (int i = std::max(-skipped, 0); i < x.rank(); ++i) {
    Dim& extent = (*shape)[static_cast<size_t>(i + skipped)];
    const bool stays = x.dim(i).is_constant() && x.dim(i) != Dim(1);
    if (stays && !extent.is_constant()) extent = x.dim(i);
  }
  c.SetOutput(0, Broadcast(x, *shape));
}

// Imports ReshapeDynamic. One extent may be -1, which is inferred from the
// number of elements.
void ImportReshapeDynamic(LayerContext& c) {
  if (!c.CheckRank(1, 1, 1)) return;
  const Tensor x = c.Input(0), target = Cast(c.Input(1), DType::kI64);
  if (!c.ok()) return;
  const auto known = c.builder().IntegerContents(target.value());
  if (!known) {
    const auto sizes = c.Sizes(target, "shape (input 1)");
    if (sizes) c.SetOutput(0, Reshape(x, *sizes));
    return;
  }
  Shape shape = *known;
  const auto open = std::find(shape.begin(), shape.end(), Dim(-1));
  if (open != shape.end()) {
    *open = Dim(1);
    const auto left = ops::DivideElementCounts(x.shape(), shape);
    if (!left) {
      return c.FailInvalid("shape (input 1): expected one that " +
                           graph::ShapeToString(x.shape()) + " fits");
    }
    *open = *left;
  }
  c.SetOutput(0, Reshape(x, shape));
}

// Imports SliceBySize. The beginning of the slice may be computed at run time;
// its size may not.
void ImportSliceBySize(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const int axis = c.Axis(p.Integer(3), x.rank());
  const auto begin = SizesOf(c, 1, "begin (input 1)");
  if (!begin || !c.CheckRange("size", p.Integer(2))) return;
  if (begin->size() != 1) {
    return c.FailInvalid("begin (input 1): expected one number, found " +
                         std::to_string(begin->size()));
  }
  c.SetOutput(0, SliceAxis(x, axis, begin->front(), Dim(p.Integer(2))));
}

// Imports SliceDynamic. All bounds must be known at import.
void ImportSliceDynamic(LayerContext& c) {
  Tensor x = c.Input(0);
  const int rank = x.rank();
  std::vector<int64_t> squeeze = c.parameters().Integers(6);
  squeeze.resize(static_cast<size_t>(rank), 0);
  const auto begin = c.Constants(1);
  if (!begin) return;
  if (static_cast<int>(begin->size()) != rank) {
    return c.FailInvalid("begin (input 1): expected " + std::to_string(rank) +
                         " values, found " + std::to_string(begin->size()));
  }
  const auto end = NumbersOf(c, 2, 3, rank, "end"),
             stride = NumbersOf(c, 3, 5, rank, "strides"),
             begin_mask = NumbersOf(c, 4, 2, rank, "beginMasks"),
             end_mask = NumbersOf(c, 5, 4, rank, "endMasks");
  if (c.Input(6)) {
    const auto given = NumbersOf(c, 6, 6, rank, "squeezeMasks");
    if (!given) return;
    squeeze = *given;
  }
  if (!end || !stride || !begin_mask || !end_mask) return;
  std::vector<int64_t> gone;
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(i);
    const auto extent = c.Extent(x, i);
    if (!extent) return;
    if (squeeze[at] != 0) {
      const int64_t place =
          (*begin)[at] < 0 ? (*begin)[at] + *extent : (*begin)[at];
      if (!c.CheckRange("begin", place, 0, *extent - 1)) return;
      x = SliceAxis(x, i, Dim(place), Dim(1));
      gone.push_back(i);
      continue;
    }
    const int64_t step = (*stride)[at];
    if (step < 1) {
      return c.FailUnsupported("strides: expected values above 0, found " +
                               std::to_string(step));
    }
    const auto bound = [&](int64_t given, bool masked, int64_t otherwise) {
      if (masked) return otherwise;
      return std::clamp<int64_t>(given < 0 ? given + *extent : given, 0,
                                 *extent);
    };
    const int64_t first = bound((*begin)[at], (*begin_mask)[at] != 0, 0);
    const int64_t last =
        std::max(bound((*end)[at], (*end_mask)[at] != 0, *extent), first);
    if (!c.CheckRange("stride", step)) return;
    x = SliceAxis(x, i, Dim(first), Dim(DivideRoundingUp(last - first, step)),
                  step);
  }
  if (!gone.empty() && c.ok()) x = Squeeze(x, gone);
  c.SetOutput(0, x);
}

void ImportConstantPad(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  const Tensor x = c.Input(0);
  const auto amounts = NumbersOf(c, 1, 2, 2 * x.rank(), "padAmounts");
  if (!amounts) return;
  Shape low, high;
  for (int i = 0; i < x.rank(); ++i) {
    int64_t before = (*amounts)[static_cast<size_t>(2 * i)],
            behind = (*amounts)[static_cast<size_t>(2 * i + 1)];
    if (!c.CheckRange("padAmounts", before, 0) ||
        !c.CheckRange("padAmounts", behind, 0))
      return;
    if (p.Flag(3)) {
      // In this mode (padToGivenOutputSizeMode) the amounts are extents that
      // the result must reach, not numbers of elements to add.
      const auto extent = c.Extent(x, i);
      if (!extent) return;
      before = std::max<int64_t>(before - *extent, 0);
      behind = std::max<int64_t>(behind - *extent, 0);
    }
    low.push_back(Dim(before));
    high.push_back(Dim(behind));
  }
  c.SetOutput(0, Pad(x, low, high, "constant", x.Like(p.Float(1))));
}

}  // namespace ember::coreml
