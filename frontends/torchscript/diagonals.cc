// Imports operators of diagonals and triangles of matrices.
#include <algorithm>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"
#include "frontends/torchscript/views.h"

namespace ember::torchscript {
namespace {

// Keeps one triangle of matrices (the last two axes): the elements [i, j] with
// j - i >= k if is_upper, else those with j - i <= k. All other elements become
// 0.
Tensor Triangle(Call& c, bool is_upper) {
  const Tensor x = c.tensor("self");
  const int64_t diagonal = c.integer("diagonal");
  if (!c.CheckRank("self", x, 2)) return x;
  const Tensor rows =
      ops::AlongAxis(IotaVector(c.builder(), x.dim(-2), DType::kI64), 0, 2);
  const Tensor columns =
      ops::AlongAxis(IotaVector(c.builder(), x.dim(-1), DType::kI64), 1, 2);
  const Tensor bound = rows + static_cast<double>(diagonal);
  const Tensor keeps = is_upper ? ops::LessEqual(bound, columns)
                                : ops::LessEqual(columns, bound);
  return ops::Select(keeps, x, x.Like(0));
}
Tensor Triu(Call& c) { return Triangle(c, true); }
Tensor Tril(Call& c) { return Triangle(c, false); }

// Returns the order of axes for a transposition that makes axes a and b the
// last two.
std::vector<int64_t> OrderWithLast(int rank, int a, int b) {
  std::vector<int64_t> order;
  for (int i = 0; i < rank; ++i)
    if (i != a && i != b) order.push_back(i);
  order.push_back(a);
  order.push_back(b);
  return order;
}
// Returns the diagonal of two axes, the elements (i, i + offset), as the last
// axis.
Tensor DiagonalOf(const Tensor& x, int a, int b, int64_t offset) {
  const std::vector<int64_t> order = OrderWithLast(x.rank(), a, b);
  const Tensor y = ops::Transpose(x, order);
  const Dim rows = y.dim(-2) + Dim(std::min<int64_t>(offset, 0));
  const Dim columns = y.dim(-1) - Dim(std::max<int64_t>(offset, 0));
  const Dim size = LargerOf(SmallerOf(rows, columns), Dim(0));
  Shape flat(y.shape().begin(), y.shape().end() - 2);
  const auto axis = static_cast<int>(flat.size());
  flat.push_back(y.dim(-2) * y.dim(-1));
  const Tensor place = IotaVector(x.builder(), size, DType::kI64);
  const Dim first = Dim(std::max<int64_t>(-offset, 0)) * y.dim(-1) +
                    Dim(std::max<int64_t>(offset, 0));
  const Tensor index = place * ops::DimScalar(x.builder(), y.dim(-1) + Dim(1)) +
                       ops::DimScalar(x.builder(), first);
  return ops::Gather(ops::Reshape(y, flat), index, axis);
}
// Returns x with the diagonal that DiagonalOf returns replaced by `part`.
Tensor WithDiagonal(const Tensor& x, const Tensor& part, int a, int b,
                    int64_t offset) {
  const std::vector<int64_t> order = OrderWithLast(x.rank(), a, b);
  const Tensor y = ops::Transpose(x, order);
  // Each row has at most one element of the diagonal. `along` has an entry for
  // each row: the new element, or padding.
  const Dim first(std::max<int64_t>(-offset, 0));
  Shape low(static_cast<size_t>(part.rank()), Dim(0));
  Shape high = low;
  low.back() = SmallerOf(first, y.dim(-2));
  high.back() = y.dim(-2) - low.back() - part.dim(-1);
  const Tensor along = ops::Pad(part, low, high, "constant", part.Like(0));
  const Tensor rows =
      ops::AlongAxis(IotaVector(x.builder(), y.dim(-2), DType::kI64), 0, 2);
  const Tensor columns =
      ops::AlongAxis(IotaVector(x.builder(), y.dim(-1), DType::kI64), 1, 2);
  const Tensor written =
      ops::Select(ops::Equal(rows + static_cast<double>(offset), columns),
                  ops::Unsqueeze(along, {part.rank()}), y);
  return ops::Transpose(written, InverseOrder(order));
}
Value Diagonal(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 2)) return {};
  const int a = c.axis("dim1", x.rank());
  const int b = c.axis("dim2", x.rank());
  const int64_t offset = c.integer("offset");
  if (!c.ok()) return {};
  if (a == b) {
    c.FailInvalid("expected dim1 and dim2 to differ, found " +
                  std::to_string(a) + " twice");
    return {};
  }
  Cell& cell = *c.value("self").cell;
  const Shape before = c.machine().StridesOf(cell);
  Shape strides;
  for (int i = 0; i < x.rank(); ++i)
    if (i != a && i != b) strides.push_back(before[static_cast<size_t>(i)]);
  strides.push_back(before[static_cast<size_t>(a)] +
                    before[static_cast<size_t>(b)]);
  return c.machine().NewView(
      cell, std::move(strides),
      [=](Tensor base) { return DiagonalOf(base, a, b, offset); },
      [=](Tensor base, Tensor part) {
        return WithDiagonal(base, part, a, b, offset);
      });
}
Value LinalgDiagonal(Call& c) {
  return Redirect(c, "aten::diagonal", {{"self", c.value("A")}});
}
Tensor Diag(Call& c) {
  const Tensor x = c.tensor("self");
  const int64_t offset = c.integer("diagonal");
  if (!c.CheckRank("self", x, 1, 2)) return x;
  if (x.rank() == 2) return DiagonalOf(x, 0, 1, offset);
  const Dim size = x.dim(0) + Dim(offset < 0 ? -offset : offset);
  const Tensor rows =
      ops::AlongAxis(IotaVector(c.builder(), size, DType::kI64), 0, 2);
  const Tensor columns =
      ops::AlongAxis(IotaVector(c.builder(), size, DType::kI64), 1, 2);
  const Dim low(std::max<int64_t>(offset, 0));
  const Tensor along =
      ops::Pad(x, {low}, {size - x.dim(0) - low}, "constant", x.Like(0));
  return ops::Select(ops::Equal(rows + static_cast<double>(offset), columns),
                     ops::AlongAxis(along, 1, 2), x.Like(0));
}
Tensor Trace(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 2, 2)) return x;
  const Tensor diagonal = DiagonalOf(x, 0, 1, 0);
  return ops::Reduce(x.is_float() ? diagonal : ops::Cast(diagonal, DType::kI64),
                     "sum", {0}, false);
}

// Imports diag_embed: matrices with the given vectors on a diagonal, one for
// each vector.
Tensor DiagEmbed(Call& c) {
  const Tensor x = c.tensor("self");
  const int64_t offset = c.integer("offset");
  if (!c.CheckRank("self", x, 1)) return x;
  const int a = c.axis("dim1", x.rank() + 1);
  const int b = c.axis("dim2", x.rank() + 1);
  if (!c.ok()) return x;
  if (a == b) {
    c.FailInvalid("expected dim1 and dim2 to differ");
    return x;
  }
  const int64_t apart = offset < 0 ? -offset : offset;
  const Dim size = x.dim(-1) + Dim(apart);
  // `along` has the vectors, padded with zeros to one entry per row of the
  // matrices.
  Shape low(static_cast<size_t>(x.rank()), Dim(0));
  Shape high = low;
  (offset > 0 ? low : high).back() = Dim(apart);
  const Tensor along = ops::Pad(x, low, high, "constant", x.Like(0));
  const Tensor rows =
      ops::AlongAxis(IotaVector(c.builder(), size, DType::kI64), 0, 2);
  const Tensor columns =
      ops::AlongAxis(IotaVector(c.builder(), size, DType::kI64), 1, 2);
  const Tensor y =
      ops::Select(ops::Equal(rows + static_cast<double>(offset), columns),
                  ops::Unsqueeze(along, {x.rank() - 1}), x.Like(0));
  std::vector<int64_t> order;
  for (int i = 0, next = 0; i <= x.rank(); ++i)
    order.push_back(i == a ? x.rank() - 1 : i == b ? x.rank() : next++);
  return ops::Transpose(y, order);
}
Value DiagFlat(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return {};
  return CallRow(c, "aten::diag",
                 {{"self", c.machine().NewTensor(ops::Reshape(
                               x, {graph::ElementCount(x.shape())}))},
                  {"diagonal", c.value("offset")}});
}
// Imports block_diag: a matrix that has the given matrices along its diagonal,
// and zeros elsewhere.
Tensor BlockDiag(Call& c) {
  std::vector<Tensor> parts = InOneType(c, c.tensors("tensors"));
  if (!c.ok() || parts.empty()) {
    c.FailInvalid("expected a list of tensors that is not empty");
    return {};
  }
  Dim width(0);
  for (Tensor& part : parts) {
    if (!c.CheckRank("tensors", part, 0, 2)) return part;
    while (part.rank() < 2) part = ops::Unsqueeze(part, {0});
    width = width + part.dim(1);
  }
  Dim start(0);
  for (Tensor& part : parts) {
    const Dim end = start + part.dim(1);
    part = ops::Pad(part, {Dim(0), start}, {Dim(0), width - end}, "constant",
                    part.Like(0));
    start = end;
  }
  return Concat(parts, 0);
}

// Imports diagonal_scatter: returns x with a diagonal of two axes replaced.
Tensor DiagonalScatter(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor source = c.tensor("src");
  const int64_t offset = c.integer("offset");
  if (!c.CheckRank("self", x, 2)) return x;
  const int a = c.axis("dim1", x.rank());
  const int b = c.axis("dim2", x.rank());
  if (!c.CheckRank("src", source, x.rank() - 1, x.rank() - 1)) return x;
  if (a == b) {
    c.FailInvalid("expected dim1 and dim2 to differ");
    return x;
  }
  // Moves the two axes to the end. An element on the diagonal then becomes the
  // one of `source` that belongs to its row.
  const std::vector<int64_t> order = OrderWithLast(x.rank(), a, b);
  const Tensor y = ops::Transpose(x, order);
  const Dim low(std::min<int64_t>(offset, 0));
  const Dim high(std::max<int64_t>(offset, 0));
  const Dim size =
      LargerOf(SmallerOf(y.dim(-2) + low, y.dim(-1) - high), Dim(0));
  Shape shape(y.shape().begin(), y.shape().end() - 2);
  shape.push_back(size);
  const Tensor given = ops::Broadcast(
      ops::Cast(ops::WithDim(source, -1, size), x.dtype()), shape);
  if (!c.ok() || size == Dim(0)) return x;
  const Tensor rows = IotaVector(c.builder(), y.dim(-2), DType::kI64);
  const Tensor columns = IotaVector(c.builder(), y.dim(-1), DType::kI64);
  const Tensor place =
      ops::Maximum(ops::Minimum(rows + ops::DimScalar(c.builder(), low),
                                ops::DimScalar(c.builder(), size - Dim(1))),
                   0);
  const Tensor spread = ops::Unsqueeze(
      ops::Gather(given, place, given.rank() - 1), {given.rank()});
  const Tensor is_diagonal =
      ops::Equal(ops::AlongAxis(rows + static_cast<double>(offset), 0, 2),
                 ops::AlongAxis(columns, 1, 2));
  return ops::Transpose(ops::Select(is_diagonal, spread, y),
                        InverseOrder(order));
}

constexpr OperatorRow kRows[] = {
    {"block_diag(Tensor[] tensors)", BlockDiag},
    {"triu(Tensor self, int diagonal=0)", Triu},
    {"tril(Tensor self, int diagonal=0)", Tril},
    {"diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1)", Diagonal},
    {"diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, "
     "int dim2=1)",
     DiagonalScatter},
    {"diag(Tensor self, int diagonal=0)", Diag},
    {"linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1)",
     LinalgDiagonal},
    {"diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1)",
     DiagEmbed},
    {"diagflat(Tensor self, int offset=0)", DiagFlat},
    {"trace(Tensor self)", Trace},
};

}  // namespace

std::span<const OperatorRow> DiagonalRows() { return kRows; }

}  // namespace ember::torchscript
