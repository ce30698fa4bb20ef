// Imports Det by Gaussian elimination with row pivots, one step per row, over
// the whole batch.
#include <string>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// Largest number of rows: each row adds its own operators to the graph.
constexpr int64_t kMaxRows = 256;

struct Elimination {
  Tensor determinant;  // Product of the pivots of all steps so far, [batch].
  Tensor rest;         // [batch, n, n]
};

// Removes the row with the largest |first element| (the pivot) from the matrix,
// subtracts multiples of it from the other rows so that their first elements
// become 0, and removes the first column. The determinant is multiplied by the
// pivot.
Elimination EliminateRow(Elimination state, int64_t n) {
  Tensor a = state.rest;
  const Dim& batch = a.dim(0);
  Tensor first_column = SliceAxis(a, 2, Dim(0), Dim(1));  // [batch, n, 1]
  Tensor pivot_row = Apply("arg_reduce", {Absolute(first_column)},
                           {{"mode", std::string("maximum")},
                            {"axis", int64_t{1}},
                            {"last", int64_t{0}}});  // [batch, 1]
  Tensor row_index =
      Broadcast(Unsqueeze(pivot_row, {1}), {batch, Dim(1), Dim(n)});
  Tensor row = Apply("gather_elements", {a, row_index}, {{"axis", int64_t{1}}});
  Tensor pivot = SliceAxis(row, 2, Dim(0), Dim(1));  // [batch, 1, 1]
  Tensor flat_pivot = Reshape(pivot, {batch});
  Tensor signed_pivot =
      Select(Equal(Reshape(pivot_row, {batch}), 0), flat_pivot, -flat_pivot);
  state.determinant = state.determinant * signed_pivot;
  if (n == 1) return state;
  // Row 0 takes the position of the pivot row, so that rows 1 to n - 1 are the
  // rows without the pivot row.
  Tensor number = AlongAxis(IotaVector(a.builder(), Dim(n), DType::kI64), 1, 3);
  Tensor swapped = Select(Equal(number, Unsqueeze(pivot_row, {1})),
                          SliceAxis(a, 1, Dim(0), Dim(1)), a);
  Tensor below = SliceAxis(swapped, 1, Dim(1), Dim(n - 1));
  // A pivot of 0 means that the column is all 0. The determinant is then 0
  // already, so the divisor is replaced by 1 to avoid NaN.
  Tensor divisor = Select(Equal(pivot, 0), pivot.Like(1), pivot);
  Tensor factor = SliceAxis(below, 2, Dim(0), Dim(1)) / divisor;
  state.rest = SliceAxis(below, 2, Dim(1), Dim(n - 1)) -
               factor * SliceAxis(row, 2, Dim(1), Dim(n - 1));
  return state;
}

void ImportDet(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const DType result_type = c.Input(0).dtype();
  Tensor x = Cast(c.Input(0), ComputeType(result_type));
  // One of the two extents may be open. The matrix must be square, so the known
  // extent is taken for both.
  const Dim n = x.dim(-1).is_constant() ? x.dim(-1) : x.dim(-2);
  x = WithDim(WithDim(x, -1, n), -2, n);
  if (n != x.dim(-2)) {
    return c.FailInvalid("expected square matrices, found " +
                         graph::ShapeToString(x.shape()));
  }
  if (!n.is_constant() || n.constant() > kMaxRows) {
    return c.FailUnsupported(
        "expected matrices of a constant size of at most " +
        std::to_string(kMaxRows) + ", found " + n.ToString());
  }
  const Shape outer(x.shape().begin(), x.shape().end() - 2);
  const Dim batch = ElementCount(outer);
  Elimination state{Broadcast(x.Like(1), {batch}), Reshape(x, {batch, n, n})};
  for (int64_t rows = n.constant(); rows > 0; --rows)
    state = EliminateRow(state, rows);
  c.SetOutput(0, Cast(Reshape(state.determinant, outer), result_type));
}

constexpr OperatorRow kRows[] = {
    {"Det", 11, 1, 1, ImportDet},
};

}  // namespace

std::span<const OperatorRow> DeterminantOperators() { return kRows; }

}  // namespace ember::onnx
