// Imports operators that solve systems of linear equations, for matrices with
// few rows: the steps of an elimination become operations of the graph, one
// after the other.
#include <utility>
#include <vector>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

constexpr int64_t kMaxRows = 64;

// Returns the number of rows of square matrices [.., n, n]; nullopt after an
// error.
std::optional<int64_t> RowsOf(Call& c, const Tensor& x) {
  if (!c.CheckRank("self", x, 2)) return std::nullopt;
  const std::optional<int64_t> rows = x.dim(-2).AsConstant();
  if (rows && x.dim(-1) == x.dim(-2) && *rows <= kMaxRows) return rows;
  c.FailUnsupported("expected square matrices of at most " +
                    std::to_string(kMaxRows) +
                    " rows, which are known when importing, found " +
                    graph::ShapeToString(x.shape()));
  return std::nullopt;
}

// Returns a mask that is true at index k of `axis`. It broadcasts against
// tensors with the rank of `vector_of`.
Tensor IsIndex(Call& c, const Tensor& vector_of, int axis, const Tensor& k) {
  const int rank = vector_of.rank();
  const Tensor index = ops::AlongAxis(
      IotaVector(c.builder(), vector_of.dim(axis), DType::kI64), axis, rank);
  return ops::Equal(index, k);
}

// The rows of [.., n, width] after Gauss-Jordan elimination of the first n
// columns, and the determinant of these columns, [..].
struct Eliminated {
  Tensor rows, determinant;
};
Eliminated Eliminate(Call& c, Tensor a, int64_t count) {
  const int rank = a.rank();
  const int row_axis = rank - 2;
  const int last = rank - 1;
  Tensor determinant;
  for (int64_t k = 0; k < count && c.ok(); ++k) {
    const Tensor number = c.Number(static_cast<double>(k), DType::kI64);
    const Tensor column = ops::SliceAxis(a, last, Dim(k), Dim(1));
    const Tensor row = ops::AlongAxis(
        IotaVector(c.builder(), a.dim(row_axis), DType::kI64), row_axis, rank);
    // The pivot is the element with the largest absolute value in column k, in
    // rows k and below.
    const Tensor sizes = ops::Select(ops::Less(row, number), column.Like(-1),
                                     ops::Absolute(column));
    const Tensor index = ops::Unsqueeze(Apply("arg_reduce", {sizes},
                                              {{"mode", std::string("maximum")},
                                               {"axis", int64_t{row_axis}},
                                               {"last", int64_t{0}}}),
                                        {row_axis});
    const Tensor is_pivot = ops::Equal(row, index);
    const Tensor is_k = ops::Equal(row, number);
    const Tensor pivot_row = ops::Reduce(ops::Select(is_pivot, a, a.Like(0)),
                                         "sum", {row_axis}, true);
    const Tensor own_row = ops::SliceAxis(a, row_axis, Dim(k), Dim(1));
    a = ops::Select(is_k, pivot_row, ops::Select(is_pivot, own_row, a));
    const Tensor pivot = ops::SliceAxis(pivot_row, last, Dim(k), Dim(1));
    const Tensor factor = ops::Select(ops::Equal(index, number), pivot, -pivot);
    determinant = determinant ? determinant * factor : factor;
    const Tensor unit_row = pivot_row / pivot;
    a = ops::Select(is_k, unit_row,
                    a - ops::SliceAxis(a, last, Dim(k), Dim(1)) * unit_row);
  }
  if (!c.ok()) return {a, a};
  if (!determinant) {
    Shape shape(a.shape().begin(), a.shape().end() - 2);
    return {a, ops::Broadcast(a.Like(1), shape)};
  }
  return {a, ops::Squeeze(determinant, {row_axis, last})};
}

Tensor Identity(Call& c, const Tensor& like) {
  const int rank = like.rank();
  const Tensor columns = ops::AlongAxis(
      IotaVector(c.builder(), like.dim(rank - 1), DType::kI64), rank - 1, rank);
  return ops::Broadcast(
      ops::Cast(IsIndex(c, like, rank - 2, columns), like.dtype()),
      like.shape());
}
Tensor InverseOf(Call& c, std::string_view name) {
  const Tensor x = c.tensor(name);
  const std::optional<int64_t> rows = RowsOf(c, x);
  if (!rows) return x;
  const int last = x.rank() - 1;
  const Tensor both =
      Eliminate(c, Concat({x, Identity(c, x)}, last), *rows).rows;
  return c.ok() ? ops::SliceAxis(both, last, Dim(*rows), Dim(*rows)) : x;
}
Tensor Inverse(Call& c) { return InverseOf(c, "self"); }
Tensor LinalgInverse(Call& c) { return InverseOf(c, "A"); }
Value InverseWithInfo(Call& c) {
  const Tensor y = InverseOf(c, "A");
  if (!c.ok()) return {};
  Machine& machine = c.machine();
  return machine.NewTuple(
      {machine.NewTensor(y), machine.NewTensor(c.Number(0, DType::kI32))});
}
Tensor DeterminantOf(Call& c, std::string_view name) {
  const Tensor x = c.tensor(name);
  const std::optional<int64_t> rows = RowsOf(c, x);
  if (!rows) return x;
  const Tensor y = Eliminate(c, x, *rows).determinant;
  // For a singular matrix the elimination divides by a pivot of 0, which gives
  // NaN. The determinant is then 0.
  return c.ok() ? ops::Select(ops::IsNan(y), y.Like(0), y) : x;
}
Tensor Determinant(Call& c) { return DeterminantOf(c, "self"); }
Tensor LinalgDeterminant(Call& c) { return DeterminantOf(c, "A"); }
Tensor LogDeterminant(Call& c) {
  const Tensor y = DeterminantOf(c, "self");
  return c.ok() ? ops::Log(y) : y;
}
Value SignAndLog(Call& c, std::string_view name) {
  const Tensor y = DeterminantOf(c, name);
  if (!c.ok()) return {};
  return c.machine().NewTuple(
      {c.machine().NewTensor(ops::Sign(y)),
       c.machine().NewTensor(ops::Log(ops::Absolute(y)))});
}
Value SignAndLogDeterminant(Call& c) { return SignAndLog(c, "self"); }
Value LinalgSignAndLog(Call& c) { return SignAndLog(c, "A"); }

// Returns the solution X of A X = B. B is a matrix, or a vector if A has one
// dim more than B.
Tensor Solve(Call& c) {
  Tensor a = c.tensor("A");
  Tensor b = c.tensor("B");
  const std::optional<int64_t> rows = RowsOf(c, a);
  if (!rows || !c.CheckRank("B", b, 1)) return b;
  if (!c.flag("left")) {
    c.FailUnsupported("left: expected True");
    return b;
  }
  const bool is_vector = b.rank() == a.rank() - 1;
  if (is_vector) b = ops::Unsqueeze(b, {b.rank()});
  Shape fronts[2];
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = (i == 0 ? a : b).shape();
    fronts[i] = Shape(shape.begin(), shape.end() - 2);
  }
  const StatusOr<Shape> front = graph::BroadcastShapes(fronts[0], fronts[1]);
  if (!front.ok()) {
    c.FailInvalid(std::string(front.status().message()));
    return b;
  }
  const auto spread = [&](const Tensor& x) {
    Shape shape = *front;
    shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
    return ops::Broadcast(x, shape);
  };
  a = spread(a);
  b = spread(b);
  const int last = a.rank() - 1;
  const Tensor both = Eliminate(c, Concat({a, b}, last), *rows).rows;
  if (!c.ok()) return b;
  const Tensor x = ops::SliceAxis(both, last, Dim(*rows), b.dim(last));
  return is_vector ? ops::Squeeze(x, {last}) : x;
}

// Imports cholesky: returns the lower triangular matrix L of A = L L^T (with
// `upper`, L^T), computed one column after the other.
Tensor Cholesky(Call& c) {
  Tensor rest = c.tensor("self");
  const std::optional<int64_t> rows = RowsOf(c, rest);
  if (!rows) return rest;
  const int last = rest.rank() - 1;
  const int row_axis = last - 1;
  const Tensor row =
      ops::AlongAxis(IotaVector(c.builder(), rest.dim(row_axis), DType::kI64),
                     row_axis, rest.rank());
  std::vector<Tensor> columns;
  for (int64_t k = 0; k < *rows && c.ok(); ++k) {
    const Tensor column = ops::SliceAxis(rest, last, Dim(k), Dim(1));
    const Tensor pivot = ops::SliceAxis(column, row_axis, Dim(k), Dim(1));
    const Tensor unit = ops::Select(ops::Less(row, static_cast<double>(k)),
                                    column.Like(0), column / ops::Sqrt(pivot));
    columns.push_back(unit);
    std::vector<int64_t> transposed = AllAxes(unit);
    std::swap(transposed[static_cast<size_t>(last)],
              transposed[static_cast<size_t>(row_axis)]);
    rest = rest - unit * ops::Transpose(unit, transposed);
  }
  if (!c.ok() || columns.empty()) return rest;
  const Tensor lower = Concat(columns, last);
  if (!c.flag("upper")) return lower;
  std::vector<int64_t> transposed = AllAxes(lower);
  std::swap(transposed[static_cast<size_t>(last)],
            transposed[static_cast<size_t>(row_axis)]);
  return ops::Transpose(lower, transposed);
}

Tensor MatrixPower(Call& c) {
  const Tensor x = c.tensor("self");
  int64_t power = c.integer("n");
  if (!c.CheckRank("self", x, 2)) return x;
  if (power > 1000 || power < -1000) {
    c.FailUnsupported("n: expected -1000 to 1000, found " +
                      std::to_string(power));
    return x;
  }
  Tensor base = x;
  if (power < 0) base = InverseOf(c, "self");
  power = power < 0 ? -power : power;
  Tensor y;
  for (; power > 0 && c.ok(); power /= 2) {
    if (power % 2 == 1) y = y ? ops::MatMul(y, base) : base;
    if (power > 1) base = ops::MatMul(base, base);
  }
  return y ? y : Identity(c, x);
}
Value MatMul(Call& c) { return Redirect(c, "aten::matmul"); }

constexpr OperatorRow kRows[] = {
    {"inverse(Tensor self)", Inverse},
    {"linalg_inv(Tensor A)", LinalgInverse},
    {"linalg_inv_ex(Tensor A, *, bool check_errors=False)", InverseWithInfo},
    {"det(Tensor self)", Determinant},
    {"linalg_det(Tensor A)", LinalgDeterminant},
    {"logdet(Tensor self)", LogDeterminant},
    {"slogdet(Tensor self)", SignAndLogDeterminant},
    {"linalg_slogdet(Tensor A)", LinalgSignAndLog},
    {"linalg_solve(Tensor A, Tensor B, *, bool left=True)", Solve},
    {"linalg_cholesky(Tensor self, *, bool upper=False)", Cholesky},
    {"cholesky(Tensor self, bool upper=False)", Cholesky},
    {"matrix_power(Tensor self, int n)", MatrixPower},
    {"linalg_matrix_power(Tensor self, int n)", MatrixPower},
    {"linalg_matmul(Tensor self, Tensor other)", MatMul},
};

}  // namespace

std::span<const OperatorRow> SystemRows() { return kRows; }

}  // namespace ember::torchscript
