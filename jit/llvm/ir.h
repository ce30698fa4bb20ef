// What the files of the code generator share about LLVM IR: the builder, and
// how element types are held.
//
// A value of a dtype has a register type (bool is i1, f16 is half, bf16 and the
// floats of 8 bits are their bits as integers) and a memory type (bool is i8,
// f16 is i16); lanes of a vector loop are vectors of these. A value that is the
// same in all lanes stays a scalar until it meets a vector.
#ifndef EMBER_JIT_LLVM_IR_H_
#define EMBER_JIT_LLVM_IR_H_

#include "base/dtype.h"
#include "base/status.h"
#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/IR/IRBuilder.h"

namespace ember::jit {

// Folds what needs no new instruction, so that unrolled code is small from the
// start.
using Builder = llvm::IRBuilder<llvm::InstSimplifyFolder>;

// What the code generator asks about the machine.
struct TargetTraits {
  bool has_fma = false;
  bool has_half_conversion = false;  // between f16 and f32
  bool has_half_arithmetic = false;  // of f16
  // To whole numbers as floats; and minima and maxima that pass over NaNs.
  bool has_rounding = true;
  // Minima and maxima of f32 that NaNs win, of zeros either.
  bool has_nan_extremes = false;
  // exp of f32, within 3 units in the last place, as llvm.exp.
  bool has_exponential = false;
  bool has_division = true;  // of integers of up to 32 bits
  // Division of integers of 64 bits, conversions between them and floats.
  bool has_long_integers = true;
  // Masks have registers of their own: an access of some lanes, or of none,
  // takes no longer than one of all.
  bool has_masks = false;
  // The widest vectors with instructions for sums of 4 products of bytes, of 2
  // products of 16-bit integers, and of 2 products of bf16; 0: none.
  int dot_product_bits = 0;
  int pair_product_bits = 0;
  int bfloat_product_bits = 0;
  // Of 4 products of unsigned bytes by small ones (jit/loops/dot_product.h).
  int small_product_bits = 0;
  // Which products of bytes those are: unsigned by signed ones (x86), or of
  // equal signs (NEON), and there perhaps of different ones, too.
  bool is_neon = false;
  bool has_neon_mixed_products = false;
  // Of registers of SVE, exactly: such code is for one size. 0: none.
  int sve_bits = 0;
  // Code of one thread of many: what may not be loaded is behind a branch, and
  // lanes have no instructions that mix them.
  bool is_gpu = false;
};

// Code generation goes on after an error, with values that mean nothing; the
// first error is reported.
struct FirstError {
  Status status;
  void Set(Status error) {
    if (status.ok()) status = std::move(error);
  }
};

llvm::Type* RegisterType(llvm::LLVMContext& context, DType type);
llvm::Type* MemoryType(llvm::LLVMContext& context, DType type);
// From one to the other, scalars and vectors.
llvm::Value* ToRegister(Builder& builder, DType type, llvm::Value* memory);
llvm::Value* ToMemory(Builder& builder, DType type, llvm::Value* value);

inline bool IsVector(const llvm::Value* value) {
  return value->getType()->isVectorTy();
}
// A vector of as many elements as `like` has, or the scalar if it has none.
llvm::Type* ShapedAs(llvm::Type* element, const llvm::Value* like);
// The value as `lanes` lanes; a vector stays as it is.
llvm::Value* Splat(Builder& builder, llvm::Value* value, int lanes);
// lanes x i1: true in lanes [low, high). Both i64, in 0..lanes.
llvm::Value* LaneRange(Builder& builder, llvm::Value* low, llvm::Value* high,
                       int lanes);
// Integers without a sign, of which the 11 bits that a double may have no room
// for become one, set if any of them is, where any is lost at all: rounded to
// 53 bits or fewer the number is the same, and a double holds it exactly.
llvm::Value* GatherLostBits(Builder& builder, llvm::Value* value);
// (0, step, 2 * step, ...) of an integer type.
llvm::Constant* Ramp(llvm::Type* element, int lanes, int64_t step = 1);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_IR_H_
