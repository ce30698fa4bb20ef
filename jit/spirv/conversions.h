// Defines the SPIR-V types of elements in registers and in memory, and emits
// the casts between element types that legalisation (jit/legalise) leaves.
//
//   element type      in a register        in memory
//   bool              bool                 8 bits, 0 or 1
//   i8 … i32, u8 …    kI32, extended       8, 16, 32 bits
//   i64, u64          kI64                 64 bits
//   f8e4m3fn, f8e5m2  kI32, as u8          8 bits
//   f16               kF32, a value of f16 a float of 16 bits
//   bf16              kF32, one of bf16    16 bits, the upper ones of a float
//   f32, f64          kF32, kF64           32, 64 bits
//
// So arithmetic needs no types of 8 and 16 bits, and moving elements needs no
// rounding. Not thread-safe.
#ifndef EMBER_JIT_SPIRV_CONVERSIONS_H_
#define EMBER_JIT_SPIRV_CONVERSIONS_H_

#include <span>
#include <unordered_map>

#include "base/dtype.h"
#include "jit/spirv/code_builder.h"

namespace ember::jit::spirv {

Scalar RegisterType(DType type);
Scalar MemoryType(DType type);

class Conversions {
 public:
  explicit Conversions(CodeBuilder& code) : c_(code) {}

  // Returns a constant of an element type as a value in a register. `bits` is
  // the immediate of a constant node.
  Value Constant(DType type, uint64_t bits);
  Value FromMemory(DType type, Value element);
  Value ToMemory(DType type, Value value);
  // FromWord extracts element number `lane` of the elements in a 32-bit word,
  // counted from the lower bits up. ToWord packs elements that fill a word.
  // Only for types of up to 32 bits.
  Value FromWord(DType type, Value word, uint32_t lane);
  Value ToWord(DType type, std::span<const Value> values);

  // Truncates and extends a word to the value range of an integer type of up to
  // 32 bits; values of other types are returned as they are.
  Value Wrap(DType type, Value word);

  // Half converts an f16 that is held as f32 to a 16-bit float; FromHalf
  // converts it back. Both are exact, and Half(FromHalf(x)) emits no code.
  Value Half(Value value);
  Value FromHalf(Value half);

  // Emits a cast. is_raw: true for a raw cast (jit/loops/raw.h).
  Value Cast(DType from, DType to, bool is_raw, Value value);
  // Emits a bitcast between types that both have 32 bits, or both 64.
  Value Bitcast(DType to, Value value);

 private:
  Value FloatToFloat(DType from, DType to, bool is_raw, Value value);
  // Returns an element of up to 16 bits, except f16, as the low bits of a word.
  Value ToBits(DType type, Value value);

  Value Word(uint32_t value) { return c_.Constant(Scalar::kI32, value); }
  Value AsWord(Value value) {
    return c_.Unary(spv::Op::OpBitcast, Scalar::kI32, value);
  }
  Value AsFloat(Value value) {
    return c_.Unary(spv::Op::OpBitcast, Scalar::kF32, value);
  }

  CodeBuilder& c_;
  // The 16-bit float that each result of FromHalf was converted from. Key: the
  // result's id.
  std::unordered_map<Id, Id> halves_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_CONVERSIONS_H_
