#include "frontends/onnx/operators/philox.h"

#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// Returns a u64 constant. It is made from its bits, because a double holds only
// 53 bits.
Tensor Word(NodeContext& c, uint64_t value) {
  return Reshape(c.Vector<uint64_t>(DType::kU64, {value}), {});
}

struct Product {
  Tensor high;
  Tensor low;
};

// Returns the high and the low half of the 64-bit product of two 32-bit words.
// Each word is held in a u64.
Product Multiply(NodeContext& c, Tensor a, uint64_t multiplier) {
  Tensor product = a * Word(c, multiplier);
  return {Binary(Opcode::kShiftRight, product, Word(c, 32)),
          And(product, Word(c, 0xffffffff))};
}

Tensor Xor(Tensor a, Tensor b) { return Binary(Opcode::kXor, a, b); }

// Returns the index of each element in row-major order.
Tensor ElementNumbers(NodeContext& c, const Shape& shape) {
  Tensor flat = IotaVector(c.builder(), ElementCount(shape), DType::kI64);
  return Cast(Reshape(flat, shape), DType::kU64);
}

uint64_t Hash(std::string_view text) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash ^= static_cast<uint8_t>(letter);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace

uint64_t RandomKey(NodeContext& c) {
  const AttributeProto* seed = c.FindAttribute("seed");
  if (seed == nullptr) {
    const NodeProto& node = c.node();
    return Hash(c.origin() + "\n" +
                (node.output_size() > 0 ? node.output(0) : ""));
  }
  if (seed->type() == AttributeProto::INT) {
    return static_cast<uint64_t>(c.Integer("seed", 0));
  }
  return std::bit_cast<uint64_t>(c.Float("seed", 0));
}

RandomNumbers::RandomNumbers(NodeContext& c, uint64_t key, const Shape& shape) {
  constexpr int kRounds = 10;
  constexpr uint64_t kMultipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
  Tensor number = ElementNumbers(c, shape);
  Tensor zero = Word(c, 0);
  words_ = {And(number, Word(c, 0xffffffff)),
            Binary(Opcode::kShiftRight, number, Word(c, 32)), zero, zero};
  auto low_key = static_cast<uint32_t>(key);
  auto high_key = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const Product first = Multiply(c, words_[0], kMultipliers[0]);
    const Product second = Multiply(c, words_[2], kMultipliers[1]);
    words_ = {Xor(Xor(second.high, words_[1]), Word(c, low_key)), second.low,
              Xor(Xor(first.high, words_[3]), Word(c, high_key)), first.low};
    low_key += kWeyl[0];
    high_key += kWeyl[1];
  }
}

Tensor RandomNumbers::Bits(int first_word, int bits) const {
  Tensor word = words_[first_word];
  if (bits <= 32) {
    return Binary(Opcode::kShiftRight, word, word.Like(32 - bits));
  }
  Tensor pair = Or(Binary(Opcode::kShiftLeft, word, word.Like(32)),
                   words_[first_word + 1]);
  return Binary(Opcode::kShiftRight, pair, pair.Like(64 - bits));
}

Tensor RandomNumbers::Uniform(DType type) const {
  const int bits = type == DType::kF64    ? 53
                   : type == DType::kF16  ? 11
                   : type == DType::kBF16 ? 8
                                          : 24;
  return Cast(Bits(0, bits), ComputeType(type)) * std::ldexp(1.0, -bits);
}

Tensor RandomNumbers::UniformOpen(DType type) const {
  // Returns (n + 1/2) / 2^bits for a random n of `bits` bits, so that 0 does
  // not occur. n has one bit less than the significand, so that n + 1/2 is
  // exact.
  const int bits = type == DType::kF64 ? 52 : 23;
  return (Cast(Bits(0, bits), type) + 0.5) * std::ldexp(1.0, -bits);
}

Tensor RandomNumbers::Normal(DType type) const {
  const int bits = type == DType::kF64 ? 53 : 24;
  Tensor angle = Cast(Bits(2, bits), type) * std::ldexp(2 * M_PI, -bits);
  return Sqrt(Log(UniformOpen(type)) * -2.0) * Cos(angle);
}

}  // namespace ember::onnx
