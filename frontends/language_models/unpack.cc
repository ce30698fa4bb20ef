// Unpacks each block format by tensor expressions. In a block, elements that
// are narrower than a byte have the order that Digits describes.
#include <array>
#include <cstring>
#include <memory>

#include "frontends/language_models/weight.h"
#include "frontends/ops/blocked_product.h"

namespace ember::language_models {
namespace {

using ops::Apply;
using ops::Binary;
using ops::Cast;
using ops::Gather;
using ops::IotaVector;
using ops::Opcode;
using ops::Reshape;
using ops::Select;
using ops::SliceAxis;
using ops::Unsqueeze;

// Returns `count` bytes of each block, from byte `begin` on.
Tensor Bytes(Tensor blocks, int64_t begin, int64_t count) {
  return SliceAxis(blocks, blocks.rank() - 1, Dim(begin), Dim(count));
}

// Returns x with the last dim split into `dims`.
Tensor SplitLast(Tensor x, const Shape& dims) {
  Shape shape = x.shape();
  shape.pop_back();
  shape.insert(shape.end(), dims.begin(), dims.end());
  return Reshape(x, shape);
}

Tensor ShiftRight(Tensor x, double bits) {
  return Binary(Opcode::kShiftRight, x, x.Like(bits));
}
Tensor ShiftLeft(Tensor x, double bits) {
  return Binary(Opcode::kShiftLeft, x, x.Like(bits));
}
Tensor Masked(Tensor x, double mask) { return ops::And(x, mask); }

// Splits bytes into numbers of `bits` bits. In each run of `run` bytes, the
// numbers in the lowest bits of all bytes come first, then those in the next
// bits, and so on. The last dim, n, becomes n * 8 / bits.
Tensor Digits(Tensor bytes, int64_t run, int64_t bits) {
  if (!bytes.dim(-1).is_constant()) return bytes;
  const int64_t size = bytes.dim(-1).constant();
  Tensor digits =
      ops::UnpackParts(SplitLast(bytes, {Dim(size / run), Dim(run)}), bits);
  Shape shape = bytes.shape();
  shape.back() = Dim(size * 8 / bits);
  return Reshape(digits, shape);
}

// Returns low + high * 2^bits, for numbers that have no bits in common.
Tensor JoinDigits(Tensor low, Tensor high, double bits) {
  return ops::Or(low, ShiftLeft(high, bits));
}

// Returns the f16 at byte `at` of each block as f32 […, 1].
Tensor HalfAt(Tensor blocks, int64_t at) {
  Tensor low = Cast(Bytes(blocks, at, 1), DType::kU16);
  Tensor high = Cast(Bytes(blocks, at + 1, 1), DType::kU16);
  Tensor half =
      Apply("bitcast", {JoinDigits(low, high, 8)}, {{"dtype", DType::kF16}});
  return Cast(half, DType::kF32);
}

// Returns codes minus a constant, as i8.
Tensor Minus(Tensor codes, double zero) {
  return Cast(codes, DType::kI8) - zero;
}

// Returns the values of a table at the codes, as i8.
Tensor LookUp(const std::array<int8_t, 16>& table, Tensor codes) {
  auto owner = std::make_shared<const std::array<int8_t, 16>>(table);
  const std::span<const uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(owner->data()), owner->size());
  graph::GraphBuilder& builder = codes.builder();
  const Tensor values(&builder,
                      builder.Constant(DType::kI8, {16}, {owner, bytes}));
  return Gather(values, Cast(codes, DType::kI64), 0);
}

// Splits the last dims of the parts into groups: codes [groups, group], scales
// and offsets [groups, 1].
BlockedValues Grouped(Tensor codes, Tensor scale, Tensor offset,
                      int64_t groups) {
  if (!codes.dim(-1).is_constant()) return {codes, scale, offset};
  const int64_t count = codes.dim(-1).constant();
  const Shape per_group{Dim(groups), Dim(1)};
  return {SplitLast(codes, {Dim(groups), Dim(count / groups)}),
          SplitLast(scale, per_group),
          offset ? SplitLast(offset, per_group) : offset};
}

// The formats whose blocks have 32 elements. A block consists of the scale d,
// for some formats the minimum m or the codes' fifth bits, and the codes.

BlockedValues UnpackQ4_0(Tensor b) {
  return Grouped(Minus(Digits(Bytes(b, 2, 16), 16, 4), 8), HalfAt(b, 0), {}, 1);
}

BlockedValues UnpackQ4_1(Tensor b) {
  return Grouped(Digits(Bytes(b, 4, 16), 16, 4), HalfAt(b, 0), HalfAt(b, 2), 1);
}

BlockedValues UnpackQ5_0(Tensor b) {
  Tensor codes = JoinDigits(Digits(Bytes(b, 6, 16), 16, 4),
                            Digits(Bytes(b, 2, 4), 1, 1), 4);
  return Grouped(Minus(codes, 16), HalfAt(b, 0), {}, 1);
}

BlockedValues UnpackQ5_1(Tensor b) {
  Tensor codes = JoinDigits(Digits(Bytes(b, 8, 16), 16, 4),
                            Digits(Bytes(b, 4, 4), 1, 1), 4);
  return Grouped(codes, HalfAt(b, 0), HalfAt(b, 2), 1);
}

BlockedValues UnpackQ8_0(Tensor b) {
  Tensor codes = Apply("bitcast", {Bytes(b, 2, 32)}, {{"dtype", DType::kI8}});
  return Grouped(codes, HalfAt(b, 0), {}, 1);
}

constexpr std::array<int8_t, 16> kIq4Values = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

BlockedValues UnpackIQ4_NL(Tensor b) {
  return Grouped(LookUp(kIq4Values, Digits(Bytes(b, 2, 16), 16, 4)),
                 HalfAt(b, 0), {}, 1);
}

// Twice the values of a float of 4 bits (1 sign, 2 exponent, 1 mantissa).
constexpr std::array<int8_t, 16> kTwiceFp4 = {0, 1,  2,  3,  4,  6,  8,  12,
                                              0, -1, -2, -3, -4, -6, -8, -12};

BlockedValues UnpackMXFP4(Tensor b) {
  // The block's scale is 2^(e - 127), and half of it is the factor of
  // kTwiceFp4. The f32 2^(e - 128) has e - 1 in its exponent bits; for e below
  // 2 it is a denormal number.
  Tensor e = Cast(Bytes(b, 0, 1), DType::kU32);
  Tensor small = Binary(Opcode::kShiftLeft, e.Like(0x00200000), e);
  Tensor bits = Select(ops::Less(e, 2), small, ShiftLeft(e - 1.0, 23));
  Tensor scale = Apply("bitcast", {bits}, {{"dtype", DType::kF32}});
  return Grouped(LookUp(kTwiceFp4, Digits(Bytes(b, 1, 16), 16, 4)), scale, {},
                 1);
}

// The formats whose blocks have 256 elements, in groups whose scales are
// integers of few bits.

BlockedValues UnpackQ2_K(Tensor b) {
  Tensor scales = Bytes(b, 0, 16);
  Tensor scale = Cast(Masked(scales, 15), DType::kF32) * HalfAt(b, 80);
  Tensor minimum = Cast(ShiftRight(scales, 4), DType::kF32) * HalfAt(b, 82);
  return Grouped(Digits(Bytes(b, 16, 64), 32, 2), scale, -minimum, 16);
}

BlockedValues UnpackQ3_K(Tensor b) {
  Tensor codes = JoinDigits(Digits(Bytes(b, 32, 64), 32, 2),
                            Digits(Bytes(b, 0, 32), 32, 1), 2);
  Tensor scales = JoinDigits(Digits(Bytes(b, 96, 8), 8, 4),
                             Digits(Bytes(b, 104, 4), 4, 2), 4);
  Tensor scale = Cast(Minus(scales, 32), DType::kF32) * HalfAt(b, 108);
  return Grouped(Minus(codes, 4), scale, {}, 16);
}

// Concatenates two tensors of 4 elements in the last dim.
Tensor Halves(Tensor first, Tensor second) {
  const int axis = first.rank() - 1;
  Tensor half = Reshape(IotaVector(first.builder(), Dim(2), DType::kU8),
                        {Dim(2), Dim(1)});
  Tensor both = Select(ops::Equal(half, 0), Unsqueeze(first, {axis}),
                       Unsqueeze(second, {axis}));
  Shape shape = first.shape();
  shape.back() = Dim(8);
  return Reshape(both, shape);
}

struct ScalesAndMinima {
  Tensor scale, minimum;  // f32 […, 8]
};

// Reads the 8 scales and minima of 6 bits each that Q4_K and Q5_K pack into 12
// bytes, and multiplies them by the block's two factors.
ScalesAndMinima ReadSixBits(Tensor b) {
  Tensor first = Bytes(b, 4, 4);
  Tensor second = Bytes(b, 8, 4);
  Tensor third = Bytes(b, 12, 4);
  Tensor scale = Halves(Masked(first, 63),
                        JoinDigits(Masked(third, 15), ShiftRight(first, 6), 4));
  Tensor minimum =
      Halves(Masked(second, 63),
             JoinDigits(ShiftRight(third, 4), ShiftRight(second, 6), 4));
  return {Cast(scale, DType::kF32) * HalfAt(b, 0),
          Cast(minimum, DType::kF32) * HalfAt(b, 2)};
}

BlockedValues UnpackQ4_K(Tensor b) {
  const ScalesAndMinima s = ReadSixBits(b);
  return Grouped(Digits(Bytes(b, 16, 128), 32, 4), s.scale, -s.minimum, 8);
}

BlockedValues UnpackQ5_K(Tensor b) {
  const ScalesAndMinima s = ReadSixBits(b);
  Tensor codes = JoinDigits(Digits(Bytes(b, 48, 128), 32, 4),
                            Digits(Bytes(b, 16, 32), 32, 1), 4);
  return Grouped(codes, s.scale, -s.minimum, 8);
}

BlockedValues UnpackQ6_K(Tensor b) {
  Tensor codes = JoinDigits(Digits(Bytes(b, 0, 128), 64, 4),
                            Digits(Bytes(b, 128, 64), 32, 2), 4);
  Tensor scales =
      Apply("bitcast", {Bytes(b, 192, 16)}, {{"dtype", DType::kI8}});
  return Grouped(Minus(codes, 32), Cast(scales, DType::kF32) * HalfAt(b, 208),
                 {}, 16);
}

BlockedValues UnpackIQ4_XS(Tensor b) {
  Tensor scales =
      JoinDigits(Digits(Bytes(b, 4, 4), 1, 4), Digits(Bytes(b, 2, 2), 1, 2), 4);
  Tensor scale = Cast(Minus(scales, 32), DType::kF32) * HalfAt(b, 0);
  return Grouped(LookUp(kIq4Values, Digits(Bytes(b, 8, 128), 16, 4)), scale, {},
                 8);
}

// Plain floats have no blocks; Weight::Values never unpacks them.
BlockedValues UnpackF32(Tensor b) { return {b, b, {}}; }
BlockedValues UnpackF16(Tensor b) { return {b, b, {}}; }
BlockedValues UnpackBF16(Tensor b) { return {b, b, {}}; }

}  // namespace

BlockedValues Unpack(Tensor blocks, BlockFormat format) {
  switch (format) {
#define EMBER_ROW(name, ggml_type, bytes, elements) \
  case BlockFormat::k##name:                        \
    return Unpack##name(blocks);
    EMBER_FOR_EACH_BLOCK_FORMAT(EMBER_ROW)
#undef EMBER_ROW
  }
  return {};
}

}  // namespace ember::language_models
