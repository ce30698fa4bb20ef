// Imports operators on diagonals and bands of matrices.
#include <optional>
#include <vector>

#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

// Returns the number of the diagonal of each element of the last two dims:
// column - row.
Tensor DiagonalOf(OperatorContext& c, Tensor x) {
  const int rank = x.rank();
  return IndexAlong(c, x.dim(-1), rank - 1, rank) -
         IndexAlong(c, x.dim(-2), rank - 2, rank);
}

// Reads k of MatrixDiagV2 and similar operators, which must select a single
// diagonal; otherwise it fails and returns nullopt.
std::optional<int64_t> OneDiagonal(OperatorContext& c, int input) {
  const auto k = c.ConstantIntegers(input, "k");
  if (!k) return std::nullopt;
  if (k->size() == 1 || (k->size() == 2 && (*k)[0] == (*k)[1]))
    return k->front();
  c.FailUnsupported("k: expected one diagonal, found a band");
  return std::nullopt;
}

Tensor Diagonal(OperatorContext& c, Tensor x, int64_t k) {
  // Diagonal k consists of the elements [i, i + k], which are gathered from
  // each row.
  const int rank = x.rank();
  const Dim rows = x.dim(-2), columns = x.dim(-1);
  const Dim first_row(k < 0 ? -k : 0), first_column(k > 0 ? k : 0);
  const Dim length =
      LargerOf(SmallerOf(rows - first_row, columns - first_column), Dim(0));
  const Tensor kept = SliceAxis(x, rank - 2, first_row, length);
  Shape shape = kept.shape();
  shape.back() = Dim(1);
  const Tensor column = IndexAlong(c, length, rank - 2, rank) +
                        DimScalar(c.builder(), first_column);
  return Squeeze(Apply("gather_elements", {kept, Broadcast(column, shape)},
                       {{"axis", int64_t{rank - 1}}}),
                 {rank - 1});
}

}  // namespace

// Imports MatrixBandPart, which keeps the diagonals from -lower to upper. A
// negative number means all diagonals on that side.
void ImportMatrixBandPart(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const auto lower = c.ConstantIntegers(1, "num_lower");
  const auto upper = c.ConstantIntegers(2, "num_upper");
  if (!lower || !upper || lower->size() != 1 || upper->size() != 1) return;
  const Tensor x = c.Input(0), diagonal = DiagonalOf(c, x);
  Tensor inside;
  if (lower->front() >= 0)
    inside = LessEqual(-static_cast<double>(lower->front()), diagonal);
  if (upper->front() >= 0) {
    const Tensor below =
        LessEqual(diagonal, static_cast<double>(upper->front()));
    inside = inside ? And(inside, below) : below;
  }
  c.SetOutput(0, inside ? Select(inside, x, x.Like(0)) : x);
}
void ImportMatrixDiagPart(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  int64_t k = 0;
  if (c.input_count() > 1) {
    const auto given = OneDiagonal(c, 1);
    if (!given) return;
    k = *given;
  }
  c.SetOutput(0, Diagonal(c, c.Input(0), k));
}
// Imports MatrixDiagV2. Operands: (diagonal, k, rows, columns, padding).
void ImportMatrixDiagV2(OperatorContext& c) {
  if (!c.CheckRank(0, 1, kMaxRank - 1)) return;
  const auto k = OneDiagonal(c, 1);
  const auto rows = c.ConstantIntegers(2, "num_rows");
  const auto columns = c.ConstantIntegers(3, "num_cols");
  if (!k || !rows || !columns || rows->size() != 1 || columns->size() != 1)
    return;
  const Tensor x = c.Input(0);
  const int rank = x.rank() + 1;
  const Dim length = x.dim(-1);
  const Dim above(*k > 0 ? *k : 0), below(*k < 0 ? -*k : 0);
  // If no extent is given, the result is square; a single missing extent is as
  // small as possible.
  const bool square = rows->front() < 0 && columns->front() < 0;
  const Dim height = square              ? length + above + below
                     : rows->front() < 0 ? length + below
                                         : Dim(rows->front());
  const Dim width = square                 ? height
                    : columns->front() < 0 ? length + above
                                           : Dim(columns->front());
  // Places element i - below of the diagonal in row i of the result, at column
  // i - below + above.
  Shape low(x.rank(), Dim(0)), high(x.rank(), Dim(0));
  low.back() = below;
  high.back() = height - below - length;
  const Tensor padded = Pad(x, low, high, "constant", x.Like(0));
  const Tensor row = IndexAlong(c, height, rank - 2, rank);
  const Tensor column = IndexAlong(c, width, rank - 1, rank);
  const Tensor first = DimScalar(c.builder(), below);
  const Tensor last = DimScalar(c.builder(), below + length - Dim(1));
  const Tensor on = And(And(LessEqual(first, row), LessEqual(row, last)),
                        Equal(column - row, static_cast<double>(*k)));
  c.SetOutput(
      0, Select(on, Unsqueeze(padded, {rank - 1}), Reshape(c.Input(4), {})));
}
void ImportMatrixSetDiagV2(OperatorContext& c) {
  const auto k = OneDiagonal(c, 2);
  if (!k) return;
  if (*k != 0) return c.FailUnsupported("k: expected 0");
  tf_common::ImportMatrixSetDiag(c);
}
// Imports Diag, from [n…] to [n…, n…]: elements whose two index parts are equal
// come from x; the others are 0.
void ImportDiag(OperatorContext& c) {
  if (!c.CheckRank(0, 1, kMaxRank / 2)) return;
  const Tensor x = c.Input(0);
  const Dim count = ElementCount(x.shape());
  const Tensor eye =
      Equal(IndexAlong(c, count, 0, 2), IndexAlong(c, count, 1, 2));
  const Tensor flat = Reshape(x, {count, Dim(1)});
  Shape shape = x.shape();
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  c.SetOutput(0, Reshape(Select(eye, flat, x.Like(0)), shape));
}
void ImportDiagPart(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  if (x.rank() % 2 != 0) return c.FailInvalid("expected an even rank");
  const Shape half(x.shape().begin(), x.shape().begin() + x.rank() / 2);
  const Dim count = ElementCount(half);
  c.SetOutput(0, Reshape(Diagonal(c, Reshape(x, {count, count}), 0), half));
}

}  // namespace ember::tensorflow
