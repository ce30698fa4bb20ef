// How elements are held in registers and in memory, and conversions between
// element types as tensor/semantics.h defines them.
//
//   element type      in a register        in memory
//   bool              bool                 8 bits, 0 or 1
//   i8 … i32, u8 …    kI32, extended       8, 16, 32 bits
//   i64, u64          kI64                 64 bits
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
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

Scalar RegisterType(DType type);
Scalar MemoryType(DType type);

class Conversions {
 public:
  Conversions(CodeBuilder& code, const Target& target)
      : c_(code), target_(target) {}

  // Of a constant in a register; bits as in an instruction's immediate.
  Value Constant(DType type, uint64_t bits);
  Value FromMemory(DType type, Value element);
  Value ToMemory(DType type, Value value);
  // Of types of up to 32 bits: element number `lane` of those in a word, from
  // the lower bits up; and, of fewer bits, elements as a word.
  Value FromWord(DType type, Value word, uint32_t lane);
  Value ToWord(DType type, std::span<const Value> values);

  // What arithmetic in the register's type gave, as a value of the element
  // type: integers wrap, floats round to nearest even.
  Value Fit(DType type, Value wide);

  // Whether sums, differences and products of f16 in 16 bits round as they
  // should.
  bool has_halves() const {
    return target_.f16 && target_.float16.rte && target_.float16.nan;
  }
  // A value of f16 in a register as a float of 16 bits, and back. Exact; what
  // was made by one is not computed again by the other.
  Value Half(Value value);
  Value FromHalf(Value half);

  Value Cast(DType from, DType to, Value value);
  // Of the same width.
  Value Bitcast(DType from, DType to, Value value);

 private:
  Value FloatToInteger(DType to, Value value);
  Value IntegerToFloat(DType from, DType to, Value value);
  Value FloatToFloat(DType from, DType to, Value value);
  // Small integers as floats that round to the 16-bit type as they would.
  Value IntegerToOddFloat(DType from, Value value);
  Value ToOddFloat(Value value);
  Value RoundToHalf(Value value);
  Value RoundToBFloat(Value value);
  // The 16 bits of a value of f16, and back, in a word.
  Value HalfBits(Value value);
  Value HalfFromBits(Value bits);
  // The bits of an element as an integer of its width in a register.
  Value ToBits(DType type, Value value);
  Value FromBits(DType type, Value bits);

  Value Float(double value);
  Value Double(double value);
  Value Word(uint32_t value) { return c_.Constant(Scalar::kI32, value); }
  Value AsWord(Value value) {
    return c_.Unary(spv::Op::OpBitcast, Scalar::kI32, value);
  }
  Value AsFloat(Value value) {
    return c_.Unary(spv::Op::OpBitcast, Scalar::kF32, value);
  }
  Value IsNan(Value value) {
    return c_.Unary(spv::Op::OpIsNan, Scalar::kBool, value);
  }
  Value FloatLess(Value a, Value b) {
    return c_.Binary(spv::Op::OpFOrdLessThan, Scalar::kBool, a, b);
  }

  CodeBuilder& c_;
  const Target& target_;
  std::unordered_map<Id, Id> halves_;  // what FromHalf gave
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_CONVERSIONS_H_
