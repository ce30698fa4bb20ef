#include "frontends/tf_common/movement.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "compiler/graph/builder/unit_dims.h"

namespace ember::tf_common {
namespace {

// Resolves a shape with at most one -1, which becomes the extent that follows
// from the number of elements; nullopt after an error.
std::optional<Shape> Resolved(OperatorBase& c, const Shape& from, Shape to) {
  int open = -1;
  Shape others;
  for (size_t i = 0; i < to.size(); ++i) {
    const std::optional<int64_t> extent = to[i].AsConstant();
    if (!extent || *extent >= 0) {
      others.push_back(to[i]);
      continue;
    }
    if (*extent != -1 || open >= 0) {
      c.FailInvalid("shape: expected extents of at least 0 and one -1, found " +
                    graph::ShapeToString(to));
      return std::nullopt;
    }
    open = static_cast<int>(i);
  }
  if (open < 0) return to;
  const std::optional<Dim> rest = ops::DivideElementCounts(from, others);
  if (!rest) {
    c.FailInvalid("shape: expected extents that divide " +
                  graph::ShapeToString(from) + ", found " +
                  graph::ShapeToString(to));
    return std::nullopt;
  }
  to[static_cast<size_t>(open)] = *rest;
  return to;
}

std::vector<int64_t> Iota(int count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

// The amounts of padding before (`low`) and after (`high`) each dim, from an
// operand [rank, 2] that is known when compiling.
struct Margins {
  Shape low, high;
};
std::optional<Margins> ReadMargins(OperatorBase& c, int input, int rank,
                                   std::string_view what) {
  const std::optional<Shape> contents = c.Contents(input, what);
  if (!contents) return std::nullopt;
  if (static_cast<int>(contents->size()) != 2 * rank) {
    c.FailInvalid(std::string(what) + ": expected " + std::to_string(2 * rank) +
                  " values, found " + std::to_string(contents->size()));
    return std::nullopt;
  }
  Margins margins;
  for (size_t i = 0; i < contents->size(); ++i)
    (i % 2 == 0 ? margins.low : margins.high).push_back((*contents)[i]);
  return margins;
}

// The functions below move blocks of pixels into channels of [N, H, W, C], and
// back.
std::optional<int64_t> BlockSize(OperatorBase& c, int64_t size) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckPositive("block_size", size))
    return std::nullopt;
  return size;
}

std::optional<Dim> Quotient(OperatorBase& c, const Dim& whole,
                            const Dim& part) {
  const std::optional<Dim> quotient = ops::DivideElementCounts({whole}, {part});
  if (!quotient) {
    c.FailInvalid("expected an extent that " + part.ToString() +
                  " divides, found " + whole.ToString());
  }
  return quotient;
}

// Reads the operand block_shape of SpaceToBatchND and BatchToSpaceND, which has
// a block size for each of the dims after the batch that are divided; nullopt
// after an error.
std::optional<std::vector<int64_t>> ReadBlocks(OperatorBase& c) {
  if (!c.CheckRank(0, 3)) return std::nullopt;
  auto blocks = c.ConstantIntegers(1, "block_shape");
  if (!blocks) return std::nullopt;
  if (static_cast<int>(blocks->size()) >= c.Input(0).rank()) {
    c.FailInvalid("block_shape: expected fewer values than the input has dims");
    return std::nullopt;
  }
  for (const int64_t block : *blocks)
    if (!c.CheckPositive("block_shape", block)) return std::nullopt;
  return blocks;
}

void ImportPadding(OperatorBase& c, std::string_view mode, Tensor value) {
  if (!c.CheckRank(0, 0)) return;
  const Tensor x = c.Input(0);
  const auto margins = ReadMargins(c, 1, x.rank(), "paddings");
  if (!margins) return;
  c.SetOutput(0, Pad(x, margins->low, margins->high, mode, value));
}

}  // namespace

void ImportReshape(OperatorBase& c, Shape shape) {
  const std::optional<Shape> resolved =
      Resolved(c, c.Input(0).shape(), std::move(shape));
  if (resolved) c.SetOutput(0, Reshape(c.Input(0), *resolved));
}

void ImportReshape(OperatorBase& c) {
  if (!c.CheckRank(0, 0) || !c.CheckRank(1, 0, 1)) return;
  std::optional<Shape> shape = c.builder().IntegerContents(c.Input(1).value());
  if (!shape) shape = c.Sizes(1, "shape");
  if (shape && c.ok()) ImportReshape(c, *std::move(shape));
}

void ImportSqueeze(OperatorBase& c, const std::vector<int64_t>& given) {
  if (!c.CheckRank(0, 0)) return;
  const Tensor x = c.Input(0);
  std::vector<int64_t> axes = c.Axes(given, x.rank());
  if (given.empty()) axes = graph::UnitAxes(c.builder(), x.shape());
  if (c.ok()) c.SetOutput(0, axes.empty() ? x : Squeeze(x, axes));
}

void ImportExpandDims(OperatorBase& c) {
  if (!c.CheckRank(0, 0, kMaxRank - 1)) return;
  const auto axis = c.ConstantIntegers(1, "axis");
  if (!axis) return;
  if (axis->size() != 1) return c.FailInvalid("axis: expected one value");
  c.SetOutput(
      0, Unsqueeze(c.Input(0), {c.Axis(axis->front(), c.Input(0).rank() + 1)}));
}

void ImportTranspose(OperatorBase& c) {
  if (!c.CheckRank(0, 0)) return;
  const Tensor x = c.Input(0);
  const auto order = c.ConstantIntegers(1, "perm");
  if (!order) return;
  const std::vector<int64_t> sorted = c.Axes(*order, x.rank());
  if (!c.ok()) return;
  if (sorted != Iota(x.rank()))
    return c.FailInvalid("perm: expected each of the " +
                         std::to_string(x.rank()) + " dims once");
  std::vector<int64_t> permutation;
  for (const int64_t axis : *order)
    permutation.push_back(c.Axis(axis, x.rank()));
  c.SetOutput(0, Transpose(x, permutation));
}

void ImportPack(OperatorBase& c, int64_t axis) {
  std::vector<Tensor> parts;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.CheckRank(i, 0, kMaxRank - 1)) return;
    const int rank = c.Input(i).rank() + 1;
    parts.push_back(Unsqueeze(c.Input(i), {c.Axis(axis, rank)}));
  }
  if (!c.ok()) return;
  c.SetOutput(0, Concat(parts, c.Axis(axis, parts.front().rank())));
}

void ImportUnpack(OperatorBase& c, int64_t given) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const int axis = c.Axis(given, x.rank());
  for (int i = 0; i < c.output_count() && c.ok(); ++i)
    c.SetOutput(i, Squeeze(SliceAxis(x, axis, Dim(i), Dim(1)), {axis}));
}

void ImportSplit(OperatorBase& c) {
  if (!c.CheckRank(1, 1)) return;
  const Tensor x = c.Input(1);
  const auto given = c.ConstantIntegers(0, "axis");
  const int64_t count = c.output_count();
  if (!given || given->size() != 1 || count == 0) return;
  const int axis = c.Axis(given->front(), x.rank());
  const auto size = Quotient(c, x.dim(axis), Dim(count));
  if (!size) return;
  for (int i = 0; i < count && c.ok(); ++i)
    c.SetOutput(i, SliceAxis(x, axis, *size * Dim(i), *size));
}

void ImportSplitV(OperatorBase& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const auto sizes = c.Contents(1, "size_splits");
  const auto given = c.ConstantIntegers(2, "axis");
  if (!sizes || !given || given->size() != 1) return;
  const int axis = c.Axis(given->front(), x.rank());
  if (!c.ok()) return;
  if (static_cast<int>(sizes->size()) != c.output_count()) {
    return c.FailInvalid("size_splits: expected " +
                         std::to_string(c.output_count()) + " values, found " +
                         std::to_string(sizes->size()));
  }
  // One size of SplitV may be -1: that part gets the elements of the axis that
  // the other sizes leave.
  Dim rest = x.dim(axis);
  for (const Dim& size : *sizes)
    if (size != Dim(-1)) rest = rest - size;
  Dim start(0);
  for (size_t i = 0; i < sizes->size() && c.ok(); ++i) {
    const Dim size = (*sizes)[i] == Dim(-1) ? rest : (*sizes)[i];
    c.SetOutput(static_cast<int>(i), SliceAxis(x, axis, start, size));
    start = start + size;
  }
}

void ImportPad(OperatorBase& c, double zero) {
  const Tensor x = c.Input(0);
  if (!c.CheckRank(0, 0)) return;
  Tensor value = x.Like(zero);
  if (c.Input(2)) value = Reshape(c.Input(2), {});
  ImportPadding(c, "constant", value);
}

void ImportMirrorPad(OperatorBase& c, bool symmetric) {
  if (!symmetric)
    return ImportPadding(c, "reflect", Tensor(&c.builder(), nullptr));
  // In symmetric mode the padding on each side is the slice next to that side,
  // reversed, so that the edge element is repeated.
  if (!c.CheckRank(0, 0)) return;
  Tensor x = c.Input(0);
  const auto margins = ReadMargins(c, 1, x.rank(), "paddings");
  if (!margins) return;
  for (int i = 0; i < x.rank() && c.ok(); ++i) {
    const Dim low = margins->low[i], high = margins->high[i];
    std::vector<Tensor> parts;
    if (low != Dim(0))
      parts.push_back(Reverse(SliceAxis(x, i, Dim(0), low), i));
    parts.push_back(x);
    if (high != Dim(0))
      parts.push_back(Reverse(SliceAxis(x, i, x.dim(i) - high, high), i));
    x = Concat(parts, i);
  }
  c.SetOutput(0, x);
}

void ImportTile(OperatorBase& c) {
  if (!c.CheckRank(0, 1, kMaxRank / 2)) return;
  const Tensor x = c.Input(0);
  const auto times = c.Sizes(1, "multiples");
  if (!times) return;
  if (static_cast<int>(times->size()) != x.rank()) {
    return c.FailInvalid("multiples: expected " + std::to_string(x.rank()) +
                         " values, found " + std::to_string(times->size()));
  }
  Shape split, repeated, merged;
  std::vector<int64_t> added;
  for (int i = 0; i < x.rank(); ++i) {
    added.push_back(2 * i);
    repeated.push_back((*times)[i]);
    repeated.push_back(x.dim(i));
    merged.push_back((*times)[i] * x.dim(i));
  }
  c.SetOutput(0, Reshape(Broadcast(Unsqueeze(x, added), repeated), merged));
}

void ImportBroadcastTo(OperatorBase& c) {
  if (!c.CheckRank(0, 0)) return;
  const auto shape = c.Sizes(1, "shape");
  if (shape) c.SetOutput(0, Broadcast(c.Input(0), *shape));
}

void ImportBroadcastArgs(OperatorBase& c) {
  const auto a = c.Contents(0, "shape"), b = c.Contents(1, "shape");
  if (!a || !b) return;
  const StatusOr<Shape> shape = graph::BroadcastShapes(*a, *b);
  if (!shape.ok()) return c.FailInvalid(std::string(shape.status().message()));
  c.SetOutput(0, Cast(c.Wrap(c.builder().ShapeValue(*shape)), c.OutputType(0)));
}

void ImportReverse(OperatorBase& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const auto axes = c.ConstantIntegers(1, "axis");
  if (!axes) return;
  for (const int64_t axis : c.Axes(*axes, x.rank()))
    x = Reverse(x, static_cast<int>(axis));
  c.SetOutput(0, x);
}

void ImportSpaceToDepth(OperatorBase& c, int64_t block_size) {
  const auto block = BlockSize(c, block_size);
  if (!block) return;
  const Tensor x = c.Input(0);
  const Dim b(*block);
  const auto rows = Quotient(c, x.dim(1), b),
             columns = Quotient(c, x.dim(2), b);
  if (!rows || !columns) return;
  const Tensor split = Reshape(x, {x.dim(0), *rows, b, *columns, b, x.dim(3)});
  c.SetOutput(0, Reshape(Transpose(split, {0, 1, 3, 2, 4, 5}),
                         {x.dim(0), *rows, *columns, b * b * x.dim(3)}));
}

void ImportDepthToSpace(OperatorBase& c, int64_t block_size) {
  const auto block = BlockSize(c, block_size);
  if (!block) return;
  const Tensor x = c.Input(0);
  const Dim b(*block);
  const auto depth = Quotient(c, x.dim(3), b * b);
  if (!depth) return;
  const Tensor split = Reshape(x, {x.dim(0), x.dim(1), x.dim(2), b, b, *depth});
  c.SetOutput(0, Reshape(Transpose(split, {0, 1, 3, 2, 4, 5}),
                         {x.dim(0), x.dim(1) * b, x.dim(2) * b, *depth}));
}

// Imports SpaceToBatchNd. The positions within a block become the outermost
// part of the batch.
void ImportSpaceToBatchNd(OperatorBase& c, double zero) {
  const auto blocks = ReadBlocks(c);
  if (!blocks) return;
  Tensor x = c.Input(0);
  const int count = static_cast<int>(blocks->size());
  auto margins = ReadMargins(c, 2, count, "paddings");
  if (!margins) return;
  for (Shape* side : {&margins->low, &margins->high}) {
    side->insert(side->begin(), Dim(0));
    side->resize(static_cast<size_t>(x.rank()), Dim(0));
  }
  x = Pad(x, margins->low, margins->high, "constant", x.Like(zero));
  Shape split{x.dim(0)}, joined{x.dim(0)};
  std::vector<int64_t> offsets, rest{0};
  for (int i = 0; i < count; ++i) {
    const Dim block((*blocks)[i]);
    const auto extent = Quotient(c, x.dim(i + 1), block);
    if (!extent) return;
    split.push_back(*extent);
    split.push_back(block);
    rest.push_back(1 + 2 * i);
    offsets.push_back(2 + 2 * i);
    joined[0] = joined[0] * block;
    joined.push_back(*extent);
  }
  for (int i = count + 1; i < x.rank(); ++i) {
    rest.push_back(static_cast<int64_t>(split.size()));
    split.push_back(x.dim(i));
    joined.push_back(x.dim(i));
  }
  if (split.size() > kMaxRank)
    return c.FailUnsupported("blocks in more than half of 16 dims");
  offsets.insert(offsets.end(), rest.begin(), rest.end());
  c.SetOutput(0, Reshape(Transpose(Reshape(x, split), offsets), joined));
}

void ImportBatchToSpaceNd(OperatorBase& c) {
  const auto blocks = ReadBlocks(c);
  if (!blocks) return;
  const Tensor x = c.Input(0);
  const int count = static_cast<int>(blocks->size());
  const auto crops = ReadMargins(c, 2, count, "crops");
  if (!crops) return;
  Shape split, joined, starts, sizes;
  Dim product(1);
  for (const int64_t block : *blocks) {
    split.push_back(Dim(block));
    product = product * Dim(block);
  }
  const auto batch = Quotient(c, x.dim(0), product);
  if (!batch) return;
  split.push_back(*batch);
  for (int i = 1; i < x.rank(); ++i) split.push_back(x.dim(i));
  if (split.size() > kMaxRank)
    return c.FailUnsupported("blocks in more than half of 16 dims");
  std::vector<int64_t> order{count};
  joined.push_back(*batch);
  starts.push_back(Dim(0));
  sizes.push_back(*batch);
  for (int i = 0; i < x.rank() - 1; ++i) {
    order.push_back(count + 1 + i);
    Dim extent = x.dim(i + 1);
    if (i < count) {
      order.push_back(i);
      extent = extent * Dim((*blocks)[i]);
    }
    joined.push_back(extent);
    starts.push_back(i < count ? crops->low[i] : Dim(0));
    sizes.push_back(i < count ? extent - crops->low[i] - crops->high[i]
                              : extent);
  }
  const Tensor y = Reshape(Transpose(Reshape(x, split), order), joined);
  c.SetOutput(0, Slice(y, starts, std::vector<int64_t>(x.rank(), 1), sizes));
}

void ImportShape(OperatorBase& c) {
  if (!c.CheckRank(0, 0)) return;
  c.SetOutput(0, Cast(c.Wrap(c.builder().ShapeValue(c.Input(0).shape())),
                      c.OutputType(0)));
}

void ImportRank(OperatorBase& c) {
  if (c.CheckRank(0, 0))
    c.SetOutput(0, c.Scalar(c.Input(0).rank(), c.OutputType(0)));
}

void ImportFill(OperatorBase& c) {
  const auto shape = c.Sizes(0, "dims");
  if (shape && c.CheckRank(1, 0))
    c.SetOutput(0, Broadcast(Reshape(c.Input(1), {}), *shape));
}

void ImportRange(OperatorBase& c) {
  for (int i = 0; i < 3; ++i)
    if (!c.CheckRank(i, 0, 1)) return;
  const Tensor start = Reshape(c.Input(0), {}), delta = Reshape(c.Input(2), {});
  const Tensor limit = Reshape(c.Input(1), {});
  // Range has ceil((limit - start) / delta) elements, or none if that is
  // negative.
  const Tensor span = Cast(limit, DType::kF64) - Cast(start, DType::kF64);
  const Tensor count =
      Cast(Maximum(Ceil(span / Cast(delta, DType::kF64)), 0), DType::kI64);
  Dim size;
  const auto numbers = [&](Tensor x) {
    return c.builder().IntegerContents(x.value());
  };
  const auto from = numbers(start), to = numbers(limit), by = numbers(delta);
  if (from && to && by && !start.is_float() && by->front() == Dim(1)) {
    size = LargerOf(to->front() - from->front(), Dim(0));
  } else {
    const Shape sizes = c.builder().Extents(Reshape(count, {Dim(1)}).value());
    if (!c.ok()) return;
    size = sizes.front();
  }
  const Tensor steps = IotaVector(c.builder(), size, start.dtype());
  c.SetOutput(0, start + steps * delta);
}

}  // namespace ember::tf_common
