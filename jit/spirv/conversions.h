// How elements are held in registers and in memory, and the casts between
// element types that legalisation (jit/legalise) leaves.
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

  // Of a constant in a register; bits as in an instruction's immediate.
  Value Constant(DType type, uint64_t bits);
  Value FromMemory(DType type, Value element);
  Value ToMemory(DType type, Value value);
  // Of types of up to 32 bits: element number `lane` of those in a word, from
  // the lower bits up; and, of fewer bits, elements as a word.
  Value FromWord(DType type, Value word, uint32_t lane);
  Value ToWord(DType type, std::span<const Value> values);

  // An integer of 32 bits or fewer wrapped to the type; others as they are.
  Value Wrap(DType type, Value word);

  // A value of f16 in a register as a float of 16 bits, and back. Exact; what
  // was made by one is not computed again by the other.
  Value Half(Value value);
  Value FromHalf(Value half);

  // is_raw: jit/loops/raw.h.
  Value Cast(DType from, DType to, bool is_raw, Value value);
  // Between types of 32 bits, or of 64.
  Value Bitcast(DType to, Value value);

 private:
  Value FloatToFloat(DType from, DType to, bool is_raw, Value value);
  // Elements of up to 16 bits in a word, but those of f16.
  Value ToBits(DType type, Value value);

  Value Word(uint32_t value) { return c_.Constant(Scalar::kI32, value); }
  Value AsWord(Value value) {
    return c_.Unary(spv::Op::OpBitcast, Scalar::kI32, value);
  }
  Value AsFloat(Value value) {
    return c_.Unary(spv::Op::OpBitcast, Scalar::kF32, value);
  }

  CodeBuilder& c_;
  std::unordered_map<Id, Id> halves_;  // what FromHalf gave
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_CONVERSIONS_H_
