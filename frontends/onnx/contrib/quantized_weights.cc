// com.microsoft: products and lookups with weights that are quantized in
// blocks, several to a byte.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rounding.h"
#include "frontends/onnx/contrib/contrib.h"
#include "frontends/onnx/contrib/families.h"
#include "frontends/onnx/node/carried_types.h"
#include "frontends/onnx/operators/quantization.h"
#include "frontends/ops/blocked_product.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

bool CheckBits(NodeContext& c, int64_t bits) {
  if (bits == 2 || bits == 4 || bits == 8) return true;
  c.FailUnsupported("attribute 'bits': expected 2, 4 or 8, found " +
                    std::to_string(bits));
  return false;
}

// Multiplies x[…, k] by the transpose of w[n, k]. The result is [..., n].
Tensor TimesRows(Tensor x, Tensor w) {
  std::string rows;
  for (int i = 0; i + 1 < x.rank(); ++i)
    rows.push_back(static_cast<char>('a' + i));
  return Contract(x, w, rows + "y,zy->" + rows + "z");
}

struct BlockedWeights {
  int64_t rows, columns, bits, block;
  int64_t blocks() const { return DivideRoundingUp(columns, block); }
};

std::optional<BlockedWeights> ReadBlocked(NodeContext& c) {
  BlockedWeights w{.rows = PositiveAttribute(c, "N"),
                   .columns = PositiveAttribute(c, "K"),
                   .bits = c.Integer("bits", 4),
                   .block = PositiveAttribute(c, "block_size")};
  constexpr int64_t kLargest = int64_t{1} << 31;
  if (!c.ok() || !CheckBits(c, w.bits)) return std::nullopt;
  if (w.rows > kLargest || w.columns > kLargest || w.block > kLargest) {
    c.FailInvalid("attributes 'N', 'K', 'block_size': expected less than 2^31");
    return std::nullopt;
  }
  if (w.block * w.bits % 8 != 0) {
    c.FailInvalid("attribute 'block_size': expected whole bytes, found " +
                  std::to_string(w.block));
    return std::nullopt;
  }
  return w;
}

// Reads one zero point per block as f32 [rows, blocks]. The operand holds
// floats or packed integers; without it, the zero point is the middle of the
// integers' range.
Tensor ReadZeroPoints(NodeContext& c, const BlockedWeights& w) {
  const Shape shape{Dim(w.rows), Dim(w.blocks())};
  Tensor given = c.Input(3);
  if (!given) {
    const double middle = static_cast<double>(1 << (w.bits - 1));
    return Broadcast(c.Scalar(middle, DType::kF32), shape);
  }
  if (given.is_float()) return Reshape(Cast(given, DType::kF32), shape);
  const int64_t bytes = (w.blocks() * w.bits + 7) / 8;
  Tensor unpacked =
      UnpackBits(Reshape(given, {Dim(w.rows), Dim(bytes)}), w.bits);
  return Cast(SliceAxis(unpacked, 1, Dim(0), shape[1]), DType::kF32);
}

// Returns the weights as f32 [rows, columns].
Tensor DequantizeBlocked(NodeContext& c, const BlockedWeights& w) {
  const Dim rows(w.rows);
  const Dim blocks(w.blocks());
  Tensor packed =
      Reshape(c.Input(1), {rows, blocks, Dim(w.block * w.bits / 8)});
  Tensor values = Cast(UnpackBits(packed, w.bits), DType::kF32);
  Tensor scales = Reshape(Cast(c.Input(2), DType::kF32), {rows, blocks});
  Tensor zeros = ReadZeroPoints(c, w);
  const Dim padded(w.blocks() * w.block);
  const Dim columns(w.columns);
  if (Tensor groups = c.Input(4)) {
    // Operand 4 (g_idx) says for each column to which block it belongs. Then
    // the columns of a block need not be neighbours.
    Tensor index = Cast(SliceAxis(groups, 0, Dim(0), columns), DType::kI64);
    values = SliceAxis(Reshape(values, {rows, padded}), 1, Dim(0), columns);
    return (values - Gather(zeros, index, 1)) * Gather(scales, index, 1);
  }
  values = (values - Unsqueeze(zeros, {2})) * Unsqueeze(scales, {2});
  values = Reshape(values, {rows, padded});
  return padded == columns ? values : SliceAxis(values, 1, Dim(0), columns);
}

// Returns the product computed with integers, if the model allows activations
// to be quantized too (accuracy_level 4). Otherwise, or if the columns of a
// block are not neighbours (operand 4), the result is absent and the caller
// computes in floats.
Tensor TimesBlocks(NodeContext& c, const BlockedWeights& w) {
  if (c.Integer("accuracy_level", 0) != 4 || c.Input(4)) return {};
  const Dim rows(w.rows), blocks(w.blocks());
  const Tensor bytes =
      Reshape(c.Input(1), {rows, blocks, Dim(w.block * w.bits / 8)});
  ops::BlockedWeight weight{.codes = ops::UnpackParts(bytes, w.bits),
                            .scales = Reshape(c.Input(2), {rows, blocks}),
                            .order = ops::BlockOrder::kStepsFirst};
  if (c.Input(3))
    weight.zeros = ReadZeroPoints(c, w);
  else
    weight.zero = int64_t{1} << (w.bits - 1);
  return ops::BlockedProduct(c.Input(0), weight);
}

void ImportMatMulNBits(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  if (c.Integer("weight_prepacked", 0) != 0) {
    return c.FailUnsupported(
        "attribute 'weight_prepacked': weights in a device's own layout are "
        "not supported");
  }
  const std::optional<BlockedWeights> w = ReadBlocked(c);
  if (!w) return;
  const DType type = c.Input(0).dtype();
  Tensor y = TimesBlocks(c, *w);
  if (!y) {
    const Tensor x = Cast(c.Input(0), ComputeType(type));
    y = TimesRows(x, Cast(DequantizeBlocked(c, *w), x.dtype()));
  }
  if (c.Input(5)) y = y + Cast(c.Input(5), y.dtype());
  c.SetOutput(0, Cast(y, type));
}

// The 16 values of each 4-bit type of the library bitsandbytes.
constexpr float kFp4[] = {0.0f,         5.208333333e-03f,
                          0.66666667f,  1.0f,
                          0.33333333f,  0.5f,
                          0.16666667f,  0.25f,
                          -0.0f,        -5.208333333e-03f,
                          -0.66666667f, -1.0f,
                          -0.33333333f, -0.5f,
                          -0.16666667f, -0.25f};
// The values of the type NF4, which are quantiles of the normal distribution.
constexpr float kNf4[] = {-1.0f,
                          -0.6961928009986877f,
                          -0.5250730514526367f,
                          -0.39491748809814453f,
                          -0.28444138169288635f,
                          -0.18477343022823334f,
                          -0.09105003625154495f,
                          0.0f,
                          0.07958029955625534f,
                          0.16093020141124725f,
                          0.24611230194568634f,
                          0.33791524171829224f,
                          0.44070982933044434f,
                          0.5626170039176941f,
                          0.7229568362236023f,
                          1.0f};

void ImportMatMulBnb4(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const int64_t rows = PositiveAttribute(c, "N");
  const int64_t columns = PositiveAttribute(c, "K");
  const int64_t block = PositiveAttribute(c, "block_size");
  const int64_t quantization = c.Integer("quant_type", 0);
  if (quantization != 0 && quantization != 1) {
    return c.FailInvalid("attribute 'quant_type': expected 0 or 1, found " +
                         std::to_string(quantization));
  }
  if (!c.ok()) return;
  if (rows > (int64_t{1} << 31) || columns > (int64_t{1} << 31) ||
      block > (int64_t{1} << 31)) {
    return c.FailInvalid(
        "attributes 'N', 'K', 'block_size': expected less than 2^31");
  }
  const float* table = quantization == 0 ? kFp4 : kNf4;
  Tensor values = c.Vector(DType::kF32, std::vector<float>(table, table + 16));
  const int64_t count = rows * columns;
  // Each byte holds two 4-bit codes, of which the first is in the high half.
  Tensor codes =
      UnpackBits(Reshape(c.Input(1), {Dim((count + 1) / 2)}), 4, false);
  codes = Cast(SliceAxis(codes, 0, Dim(0), Dim(count)), DType::kI64);
  Tensor block_of =
      Cast(Binary(Opcode::kFloorDivide,
                  IotaVector(c.builder(), Dim(count), DType::kI64),
                  c.Scalar(static_cast<double>(block), DType::kI64)),
           DType::kI64);
  Tensor scales = Gather(Cast(c.Input(2), DType::kF32), block_of, 0);
  Tensor w =
      Reshape(Gather(values, codes, 0) * scales, {Dim(rows), Dim(columns)});
  const DType type = c.Input(0).dtype();
  Tensor x = Cast(c.Input(0), ComputeType(type));
  w = Cast(w, x.dtype());
  Tensor y = c.Integer("transB", 1) != 0 ? TimesRows(x, w) : MatMul(x, w);
  c.SetOutput(0, Cast(y, type));
}

void ImportGatherBlockQuantized(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor data = c.Input(0);
  const int rank = data.rank();
  const int64_t block = c.Integer("block_size", 128);
  const int gather_axis = c.Axis(c.Integer("gather_axis", 0), rank);
  const int quantize_axis = c.Axis(c.Integer("quantize_axis", 1), rank);
  const bool is_carried = data.carried_type() != 0;
  const int64_t bits = is_carried ? 8 : c.Integer("bits", 4);
  if (!c.ok() || !CheckBits(c, bits)) return;
  if (!c.CheckRank(2, rank, rank)) return;
  if (c.Input(3) && !c.CheckRank(3, rank, rank)) return;
  if (block < 1 || block > (int64_t{1} << 31)) {
    return c.FailInvalid("attribute 'block_size': expected at least 1, found " +
                         std::to_string(block));
  }
  Tensor indices = NormalizeIndices(c.Input(1), data.dim(gather_axis));
  const int shift = quantize_axis > gather_axis ? c.Input(1).rank() - 1 : 0;
  const bool gather_first = quantize_axis != gather_axis;
  auto rows = [&](Tensor x) {
    return gather_first ? Gather(x, indices, gather_axis) : x;
  };
  Tensor values = UnpackBits(rows(data), bits);
  const int axis = gather_first ? quantize_axis + shift : quantize_axis;
  const Dim extent = values.dim(axis);
  auto per_value = [&](Tensor parameters) {
    return RepeatBlocks(parameters, axis, block, extent);
  };
  Tensor scales = per_value(Cast(rows(c.Input(2)), DType::kF32));
  Tensor y = Cast(values, DType::kF32);
  if (c.Input(3)) {
    Tensor zeros = UnpackBits(rows(c.Input(3)), bits);
    // The packed zero points may be followed by padding, which is cut off.
    zeros =
        SliceAxis(zeros, zeros.rank() - 1, Dim(0), rows(c.Input(2)).dim(-1));
    y = y - per_value(Cast(zeros, DType::kF32));
  } else if (!is_carried) {
    y = y - static_cast<double>(1 << (bits - 1));
  }
  y = Cast(y * scales, c.Input(2).dtype());
  c.SetOutput(0, gather_first ? y : Gather(y, indices, gather_axis));
}

constexpr OperatorRow kRows[] = {
    {"GatherBlockQuantized", 1, 3, 4, ImportGatherBlockQuantized, kMicrosoft,
     CarriedTypes::kNumbers},
    {"MatMulBnb4", 1, 3, 3, ImportMatMulBnb4, kMicrosoft},
    {"MatMulNBits", 1, 3, 6, ImportMatMulNBits, kMicrosoft},
};

}  // namespace

std::span<const OperatorRow> ContribQuantizedWeightsOperators() {
  return kRows;
}

}  // namespace ember::onnx
