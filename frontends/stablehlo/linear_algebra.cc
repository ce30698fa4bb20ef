// Imports cholesky, triangular_solve and fft.
#include "compiler/graph/builder/control_flow.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/fourier.h"
#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {
namespace {

using graph::LoopInputs;
using graph::LoopOutputs;

// Swaps the last two axes.
Tensor TransposeMatrices(Tensor x) {
  std::vector<int64_t> order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 2], order.back());
  return Transpose(x, order);
}

bool CheckSquare(OperationContext& c, Tensor x) {
  if (c.ok() && x.rank() >= 2 && x.dim(-1) == x.dim(-2) && x.is_float())
    return true;
  if (c.ok())
    c.FailInvalid("operand 0: expected square matrices of floats, found " +
                  graph::ShapeToString(x.shape()));
  return false;
}

// Builds a matrix in a loop with one step per row, starting with zeros. `step`
// returns the next matrix, given the number of the row, the current matrix, and
// the values of `captured` inside the loop.
template <typename Step>
Tensor BuildRows(OperationContext& c, const Shape& shape, DType type,
                 const Dim& rows, const std::vector<Tensor>& captured,
                 const Step& step) {
  graph::LoopRequest request;
  request.carried = {Broadcast(c.Scalar(0, type), shape).value()};
  request.trip = rows;
  const auto results = graph::BuildLoop(
      c.builder(), request,
      [&](graph::Region& region, const LoopInputs& in) -> LoopOutputs {
        graph::GraphBuilder& builder = region.builder();
        builder.SetOrigin(c.builder().origin());
        std::vector<Tensor> inside;
        for (const Tensor& tensor : captured)
          inside.emplace_back(&builder, region.Capture(tensor.value()));
        const Tensor next = step(Tensor(&builder, in.iteration),
                                 Tensor(&builder, in.carried[0]), inside);
        LoopOutputs out;
        out.carried = {next.value()};
        return out;
      });
  return {&c.builder(), results.empty() ? nullptr : results[0]};
}

// Returns the discrete Fourier transform of n complex numbers along an axis, or
// its inverse.
Imported Transformed(const Imported& x, int axis, int64_t n, bool inverse) {
  ops::ComplexParts y = ops::FourierTransform({x.tensor, x.imaginary}, axis,
                                              Dim(n), Dim(n), inverse);
  if (inverse) {
    y.real = y.real / static_cast<double>(n);
    y.imaginary = y.imaginary / static_cast<double>(n);
  }
  return {.tensor = y.real, .imaginary = y.imaginary};
}

}  // namespace

// Imports cholesky, column by column: each column of the factor is computed
// from the given column minus the contributions of the columns before it.
void ImportCholesky(OperationContext& c) {
  const Tensor given = c.Operand(0);
  const bool lower = c.Flag("lower", false);
  if (!CheckSquare(c, given)) return;
  Tensor a = Cast(given, ComputeType(given.dtype()));
  if (!lower) a = TransposeMatrices(a);
  const int rank = a.rank();
  const Dim n = a.dim(-1);
  Tensor l = BuildRows(
      c, a.shape(), a.dtype(), n, {a},
      [&](Tensor j, Tensor so_far, const std::vector<Tensor>& inside) {
        const Tensor row = Gather(so_far, j, rank - 2);
        const Tensor rest = Gather(inside[0], j, rank - 1) -
                            Reduce(so_far * Unsqueeze(row, {rank - 2}), "sum",
                                   {rank - 1}, false);
        const Tensor diagonal =
            Unsqueeze(Sqrt(Gather(rest, j, rank - 2)), {rank - 2});
        const Tensor i = IotaAlong(j.builder(), n, rank - 2, rank - 1);
        const Tensor below =
            Select(Less(j, i), rest / diagonal,
                   Select(Equal(i, j), diagonal, rest.Like(0)));
        const Tensor column = IotaAlong(j.builder(), n, rank - 1, rank);
        return Select(Equal(column, j), Unsqueeze(below, {rank - 1}), so_far);
      });
  if (!c.ok()) return;
  if (!lower) l = TransposeMatrices(l);
  c.SetResult(Cast(l, given.dtype()));
}

// Imports triangular_solve. All forms are reduced to L x = b with a lower
// triangle, solved from the first row on.
void ImportTriangularSolve(OperationContext& c) {
  const Tensor given = c.Operand(0), right = c.Operand(1);
  if (!CheckSquare(c, given)) return;
  const bool left = c.Flag("left_side", true);
  bool lower = c.Flag("lower", true);
  const bool unit = c.Flag("unit_diagonal", false);
  const std::string transpose = c.Text("transpose_a");
  if (right.rank() != given.rank() || right.dtype() != given.dtype())
    return c.FailInvalid("operand 1: expected the type and rank of operand 0");
  const int rank = given.rank();
  const Dim n = given.dim(-1);
  Tensor a = Cast(given, ComputeType(given.dtype()));
  Tensor b = Cast(right, a.dtype());
  const Tensor i = IotaAlong(c.builder(), n, rank - 2, rank);
  const Tensor j = IotaAlong(c.builder(), n, rank - 1, rank);
  a = Select(lower ? LessEqual(j, i) : LessEqual(i, j), a, a.Like(0));
  if (transpose == "TRANSPOSE" || transpose == "ADJOINT") {
    a = TransposeMatrices(a);
    lower = !lower;
  }
  if (!left) {
    a = TransposeMatrices(a);
    b = TransposeMatrices(b);
    lower = !lower;
  }
  if (b.dim(-2) != n)
    return c.FailInvalid("operand 1: expected " + n.ToString() +
                         " rows to solve for, found " +
                         graph::ShapeToString(right.shape()));
  if (!lower) {
    a = ops::Reverse(ops::Reverse(a, rank - 1), rank - 2);
    b = ops::Reverse(b, rank - 2);
  }
  Tensor x = BuildRows(
      c, b.shape(), b.dtype(), n, {a, b},
      [&](Tensor k, Tensor so_far, const std::vector<Tensor>& inside) {
        const Tensor row = Gather(inside[0], k, rank - 2);
        Tensor value = Gather(inside[1], k, rank - 2) -
                       Reduce(Unsqueeze(row, {rank - 1}) * so_far, "sum",
                              {rank - 2}, false);
        if (!unit)
          value = value / Unsqueeze(Gather(row, k, rank - 2), {rank - 2});
        const Tensor number = IotaAlong(k.builder(), n, rank - 2, rank);
        return Select(Equal(number, k), Unsqueeze(value, {rank - 2}), so_far);
      });
  if (!c.ok()) return;
  if (!lower) x = ops::Reverse(x, rank - 2);
  if (!left) x = TransposeMatrices(x);
  c.SetResult(Cast(x, given.dtype()));
}

// Imports fft, which multiplies by matrices of cosines and sines, one dim after
// the other.
void ImportFft(OperationContext& c) {
  const std::string kind = c.Text("fft_type");
  const std::vector<int64_t> length = c.Integers("fft_length");
  if (!c.CheckRange(length, "fft_length", 1, 1 << 20)) return;
  const Imported& x = c.Any(0);
  const bool from_real = kind == "RFFT", to_real = kind == "IRFFT";
  if (!from_real && !to_real && kind != "FFT" && kind != "IFFT")
    return c.FailInvalid(
        "fft_type: expected FFT, IFFT, RFFT or IRFFT, found '" + kind + "'");
  if (x.is_complex() == from_real || !x.tensor.present() ||
      !x.tensor.is_float())
    return c.FailInvalid(from_real ? "expected real numbers"
                                   : "expected complex numbers");
  const int rank = x.tensor.rank();
  const int dims = static_cast<int>(length.size());
  if (dims < 1 || dims > 3 || dims > rank)
    return c.FailInvalid("fft_length: expected one to three dims");
  const int64_t n = length.back();
  const int64_t half = n / 2 + 1;
  for (int i = 0; i < dims; ++i) {
    const int64_t expected =
        to_real && i + 1 == dims ? half : length[static_cast<size_t>(i)];
    if (x.tensor.dim(rank - dims + i) != Dim(expected))
      return c.FailInvalid("expected " + std::to_string(expected) +
                           " elements in dim " +
                           std::to_string(rank - dims + i) + ", found " +
                           x.tensor.dim(rank - dims + i).ToString());
  }
  const bool inverse = kind == "IFFT" || to_real;
  Imported y = x;
  if (from_real) {
    const ops::ComplexParts parts = ops::FourierTransform(
        {x.tensor, {}}, rank - 1, Dim(n), Dim(half), false);
    y = {.tensor = parts.real, .imaginary = parts.imaginary};
  }
  // Transforms all dims from complex to complex. If the operand or the result
  // is real, the last dim is left out: it was transformed before this loop, or
  // is transformed after it.
  const int whole = from_real || to_real ? dims - 1 : dims;
  for (int i = 0; i < whole; ++i)
    y = Transformed(y, rank - dims + i, length[static_cast<size_t>(i)],
                    inverse);
  if (!to_real) return c.SetResult(0, y);
  c.SetResult(
      ops::RealFourierInverse({y.tensor, y.imaginary}, rank - 1, Dim(n)) /
      static_cast<double>(n));
}

}  // namespace ember::stablehlo
