// Defines types and functions that all files of the code generator use: the
// builder of LLVM IR, properties of the machine, and LLVM's types for elements.
//
// A value of a dtype has a register type (bool is i1, f16 is half, bf16 and the
// floats of 8 bits are their bits as integers) and a memory type (bool is i8,
// f16 is i16). Lanes of a vector loop are vectors of these. A value that is the
// same in all lanes stays a scalar until it is combined with a vector.
#ifndef EMBER_JIT_LLVM_EMIT_IR_H_
#define EMBER_JIT_LLVM_EMIT_IR_H_

#include "base/dtype.h"
#include "base/status.h"
#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/IR/IRBuilder.h"

namespace ember::jit::llvm_ir {

// A builder of LLVM IR that folds operations that need no new instruction, so
// that unrolled code is small from the start.
using Builder = llvm::IRBuilder<llvm::InstSimplifyFolder>;

// The properties of the target machine on which the emitted code depends.
struct TargetTraits {
  bool has_fma = false;
  // True if the machine has instructions that convert between f16 and f32.
  bool has_half_conversion = false;
  // True if the machine has instructions for arithmetic on f16.
  bool has_half_arithmetic = false;
  // True if the machine has instructions that round a float to a whole number,
  // and minima and maxima that ignore a NaN operand.
  bool has_rounding = true;
  // True if the machine has minima and maxima of f32 that return a NaN if an
  // operand is a NaN. For +0 and -0 they may return either.
  bool has_nan_extremes = false;
  // True if code may call llvm.exp of f32, whose error is then at most 3 units
  // in the last place.
  bool has_exponential = false;
  // True if the machine has an instruction that divides integers of up to 32
  // bits.
  bool has_division = true;
  // True if the machine has instructions that divide 64-bit integers and
  // convert between them and floats.
  bool has_long_integers = true;
  // True if the machine has mask registers: a masked access then takes no
  // longer than a whole one.
  bool has_masks = false;
  // Numbers of bits of the widest vectors for which the machine has dot product
  // instructions: dot_product_bits: sums of 4 products of bytes;
  // pair_product_bits: of 2 products of 16-bit integers; bfloat_product_bits:
  // of 2 products of bf16. 0: no such instruction.
  int dot_product_bits = 0;
  int pair_product_bits = 0;
  int bfloat_product_bits = 0;
  // Number of bits of the widest vectors for which the machine has an
  // instruction that sums 4 products of unsigned bytes by small signed bytes
  // (jit/loops/analysis/dot_product.h); 0: no such instruction.
  int small_product_bits = 0;
  // is_neon: the signs of the factors in dot products of bytes. False: unsigned
  // by signed (x86). True: equal signs (NEON). has_neon_mixed_products: NEON
  // has unsigned by signed, too.
  bool is_neon = false;
  bool has_neon_mixed_products = false;
  // Number of bits of SVE's vector registers; 0: the code uses no SVE. The code
  // is only right on a machine with exactly this size.
  int sve_bits = 0;
  // True if the code is run by one thread of a GPU. A load that may be out of
  // bounds is then in a branch, and no instruction combines lanes of a vector.
  bool is_gpu = false;
};

// Keeps the first error of code generation, which continues after an error with
// meaningless values.
struct FirstError {
  Status status;
  void Set(Status error) {
    if (status.ok()) status = std::move(error);
  }
};

llvm::Type* RegisterType(llvm::LLVMContext& context, DType type);
llvm::Type* MemoryType(llvm::LLVMContext& context, DType type);
// ToRegister and ToMemory convert a scalar or vector between its type in memory
// and its type in registers.
llvm::Value* ToRegister(Builder& builder, DType type, llvm::Value* memory);
llvm::Value* ToMemory(Builder& builder, DType type, llvm::Value* value);

inline bool IsVector(const llvm::Value* value) {
  return value->getType()->isVectorTy();
}
// Returns the vector type of `element` with as many elements as `like` has, or
// `element` if `like` is a scalar.
llvm::Type* ShapedAs(llvm::Type* element, const llvm::Value* like);
// Returns a vector of `lanes` lanes that all have the value; a vector is
// returned as it is.
llvm::Value* Splat(Builder& builder, llvm::Value* value, int lanes);
// Returns a vector of lanes x i1 that is true in the lanes from `low` to the
// one before `high`. Both are i64, in 0..lanes.
llvm::Value* LaneRange(Builder& builder, llvm::Value* low, llvm::Value* high,
                       int lanes);
// Prepares unsigned 64-bit integers for conversion to a float by way of f64, so
// that they are rounded only once. If one has more than 53 bits, its lowest 11
// bits are cleared, and bit 11 is set if any of them was (a sticky bit). A
// double holds the result exactly, and rounding it to 53 bits or fewer gives
// the same number as rounding the integer.
llvm::Value* GatherLostBits(Builder& builder, llvm::Value* value);
// Returns the vector (0, step, 2 * step, ...) of an integer type.
llvm::Constant* Ramp(llvm::Type* element, int lanes, int64_t step = 1);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_IR_H_
