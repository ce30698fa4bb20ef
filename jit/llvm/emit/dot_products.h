// Emits dot loops (loops::LoopKind::kDot) in vector loops with the machines'
// instructions for them:
//
//   vector l < 16 {
//     dot q < 4 { %y[i, l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//   }
//
// One factor is the same in all lanes. The elements of the other one are
// contiguous in memory: those of lane 0, then those of lane 1 and so on, so
// that one vector load reads all of them.
//
//   products          x86                      aarch64
//   4, u8 by i8       vpdpbusd (VNNI)          usdot (i8mm), sdot
//   4, equal signs    vpdpbusd, one shifted    sdot, udot (dotprod)
//   4, u8 by small    vpmaddubsw, vpmaddwd     as above
//   2, integers       vpmaddwd                 as a loop
//   2, bf16           vdpbf16ps (AVX512-BF16)  as a loop
//
// Bytes that hold several numbers of a few bits are unpacked in registers: a
// vector has 4 bytes per lane, and all of them are shifted and masked alike
// (jit/loops/analysis/dot_factor.h).
//
// vpmaddubsw saturates its sums at 16 bits, so it is only used with a small
// factor: packed constants whose prologue provably stores only values in
// -64..64, or unpacked numbers of at most 7 bits.
//
// For other machines or nests the caller emits the loop unchanged. Results of
// integers are the same bit for bit.
#ifndef EMBER_JIT_LLVM_EMIT_DOT_PRODUCTS_H_
#define EMBER_JIT_LLVM_EMIT_DOT_PRODUCTS_H_

#include <optional>
#include <vector>

#include "jit/llvm/emit/expression_emitter.h"
#include "jit/llvm/emit/ir.h"
#include "jit/loops/analysis/dot_factor.h"
#include "jit/loops/analysis/dot_product.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::llvm_ir {

class DotProducts {
 public:
  DotProducts(const loops::LoopNest& nest, TargetTraits target,
              Builder& builder, ExpressionEmitter& expressions)
      : nest_(nest), target_(target), b_(builder), expressions_(expressions) {}

  // Emits the dot loop if the machine has an instruction for it, no lanes are
  // masked off, and its addresses fit the instruction (AddressesOf); otherwise
  // returns false.
  bool Emit(const loops::Statement& loop);

 private:
  struct Operands {
    DType a_type = DType::kI8, b_type = DType::kI8;
    loops::DotFactor b_factor;
    // A: address of the factor that is the same in all lanes; b: of the other
    // factor; store: of the sum.
    Address a, b, store;
    std::vector<Address> more_b;  // of b_factor.more_loads
  };

  // Returns the addresses of a dot loop's factors and sum. The caller has bound
  // the loop's variable to 0. Returns nullopt if no instruction fits the
  // addresses.
  std::optional<Operands> AddressesOf(const loops::DotProduct& dot);
  bool HasInstruction(const loops::DotProduct& dot, int lanes) const;
  bool HasSmallFactor(const loops::DotProduct& dot) const;
  // True if a packed factor is unpacked by the same operations and operands in
  // all lanes.
  bool IsUniform(const loops::DotFactor& factor) const;
  llvm::Value* FourBytes(const Operands& operands);
  // FourProducts, TwoProducts and BFloatProducts return `sum` plus the products
  // of a dot loop: of four pairs of bytes, of two pairs of integers of up to 16
  // bits, and of two pairs of bf16.
  llvm::Value* FourProducts(const Operands& operands, llvm::Value* sum);
  llvm::Value* TwoProducts(const Operands& operands, llvm::Value* sum);
  llvm::Value* BFloatProducts(const Operands& operands, llvm::Value* sum);
  // LoadA and LoadB load `count` elements of a factor for each lane; the
  // elements of factor a are the same in all lanes.
  llvm::Value* LoadA(const Operands& operands, llvm::Type* element, int count);
  llvm::Value* LoadB(const Address& b, llvm::Type* element, int count);
  // Returns a vector with an i32 per lane, each of which consists of the byte 4
  // times.
  llvm::Value* SplatByte(int byte);
  llvm::Value* UnsignedBySigned(llvm::Value* sum, llvm::Value* a,
                                llvm::Value* b);
  llvm::Value* UnsignedBySmall(llvm::Value* sum, llvm::Value* a,
                               llvm::Value* b);
  // Multiplies two vectors of i16 and returns the sums of neighbouring
  // products: lane i is a[2i] * b[2i] + a[2i + 1] * b[2i + 1].
  llvm::Value* PairSums(llvm::Value* a, llvm::Value* b);
  // Emits a dot product of bytes by NEON's instruction, or by SVE's if there
  // are more lanes than a NEON vector has.
  enum class ByteDot : uint8_t { kSigned, kUnsigned, kUnsignedBySigned };
  llvm::Value* ArmDot(ByteDot dot, llvm::Value* sum, llvm::Value* a,
                      llvm::Value* b);

  const loops::LoopNest& nest_;
  TargetTraits target_;
  Builder& b_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_DOT_PRODUCTS_H_
