#include "frontends/ops/blocked_product.h"

#include <vector>

namespace ember::ops {

Tensor UnpackParts(Tensor bytes, int64_t bits) {
  const int64_t count = 8 / bits;
  const int axis = bytes.rank() - 1;
  Tensor shift = Reshape(IotaVector(bytes.builder(), Dim(count), DType::kU8),
                         {Dim(count), Dim(1)}) *
                 static_cast<double>(bits);
  const Tensor wide = Unsqueeze(bytes, {axis});
  return Binary(Opcode::kAnd, Binary(Opcode::kShiftRight, wide, shift),
                wide.Like(static_cast<double>((1 << bits) - 1)));
}

BlockedActivations QuantizeBlocks(Tensor x, const BlockedWeight& w) {
  const Dim rows = x.dim(0);
  const Dim &blocks = w.codes.dim(1), &parts = w.codes.dim(2),
            &steps = w.codes.dim(3);
  const Dim columns = blocks * parts * steps;
  if (x.dim(1) != columns) {
    x = Pad(x, {Dim(0), Dim(0)}, {Dim(0), columns - x.dim(1)}, "constant",
            x.Like(0));
  }
  Tensor values;
  if (w.order == BlockOrder::kPartsFirst) {
    values = Reshape(x, {rows, blocks, parts, steps});
  } else {
    values = Transpose(Reshape(x, {rows, blocks, steps, parts}), {0, 1, 3, 2});
  }
  std::vector<int64_t> summed = {3};
  Shape shape = {rows, blocks, parts};
  if (w.scales.rank() == 2) {
    summed = {2, 3};
    shape = {rows, blocks};
  }
  const Tensor largest = Reduce(Absolute(values), "maximum", summed, true);
  const Tensor inverse =
      Select(Equal(largest, 0), largest.Like(0), 127.0 / largest);
  BlockedActivations result;
  result.codes = Cast(Round(values * inverse), DType::kI8);
  result.scales = Reshape(largest / 127.0, shape);
  result.sums = Reduce(Cast(result.codes, DType::kI32), "sum", summed, false);
  return result;
}

Tensor BlockedProduct(Tensor x, const BlockedWeight& w) {
  Shape shape = x.shape();
  Dim rows(1);
  for (int d = 0; d + 1 < x.rank(); ++d) rows = rows * x.dim(d);
  x = Reshape(Cast(x, DType::kF32), {rows, x.dim(-1)});
  const BlockedActivations a = QuantizeBlocks(x, w);
  const bool is_whole = w.scales.rank() == 2;
  Tensor sums = Contract(Cast(a.codes, DType::kI32), Cast(w.codes, DType::kI32),
                         is_whole ? "mbpl,nbpl->mnb" : "mbpl,nbpl->mnbp");
  const auto of_row = [](Tensor t) { return Unsqueeze(t, {1}); };
  // Scales, zeros and minima may be constants in f16 or bf16. They are cast to
  // f32 only here, where they are used, so that the module stores them in the
  // narrow type.
  const auto of_column = [](Tensor t) {
    return Cast(Unsqueeze(t, {0}), DType::kF32);
  };
  if (w.zero != 0) sums = sums - of_row(a.sums * static_cast<double>(w.zero));
  Tensor terms = Cast(sums, DType::kF32);
  const Tensor block_sums = Cast(a.sums, DType::kF32);
  if (w.zeros) terms = terms - of_row(block_sums) * of_column(w.zeros);
  terms = terms * of_column(w.scales);
  if (w.minima) terms = terms - of_row(block_sums) * of_column(w.minima);
  std::vector<int64_t> summed = {2};
  if (!is_whole) summed.push_back(3);
  Tensor y = Reduce(terms * of_row(a.scales), "sum", summed, false);
  shape.back() = w.codes.dim(0);
  return Reshape(y, shape);
}

}  // namespace ember::ops
