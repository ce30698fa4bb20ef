// Emits dot loops (loops::LoopKind::kDot) in vector loops with the machines'
// instructions for them:
//
//   vector l < 16 {
//     dot q < 4 { %y[i, l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//   }
//
// One factor is the same in all lanes. The elements of the other one are
// contiguous, with those of a lane together, so that one load gets them.
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
// Small factors are packed constants whose prologue provably stores nothing
// beyond -64..64, or unpacked numbers of at most 7 bits, so that vpmaddubsw,
// which saturates, does not do so.
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

  // Emits the dot loop if the machine has an instruction for it; otherwise
  // emits nothing and returns false.
  bool Emit(const loops::Statement& loop);

 private:
  struct Operands {
    DType a_type = DType::kI8, b_type = DType::kI8;
    loops::DotFactor b_factor;
    Address a, b, store;          // a: the factor that is the same in all lanes
    std::vector<Address> more_b;  // of b_factor.more_loads
  };

  // Returns the addresses that a dot loop accesses. The loop's variable must be
  // bound to 0.
  std::optional<Operands> AddressesOf(const loops::DotProduct& dot);
  bool HasInstruction(const loops::DotProduct& dot, int lanes) const;
  bool HasSmallFactor(const loops::DotProduct& dot) const;
  // True if the factor is unpacked in the same way in all lanes.
  bool IsUniform(const loops::DotFactor& factor) const;
  llvm::Value* FourBytes(const Operands& operands);
  // These functions return the sum plus the products, for dot loops of four and
  // of two products.
  llvm::Value* FourProducts(const Operands& operands, llvm::Value* sum);
  llvm::Value* TwoProducts(const Operands& operands, llvm::Value* sum);
  llvm::Value* BFloatProducts(const Operands& operands, llvm::Value* sum);
  // These functions load `count` elements of the type for each lane; the
  // elements of a are the same in all lanes.
  llvm::Value* LoadA(const Operands& operands, llvm::Type* element, int count);
  llvm::Value* LoadB(const Address& b, llvm::Type* element, int count);
  // Returns an i32 per lane that holds the byte 4 times.
  llvm::Value* SplatByte(int byte);
  llvm::Value* UnsignedBySigned(llvm::Value* sum, llvm::Value* a,
                                llvm::Value* b);
  llvm::Value* UnsignedBySmall(llvm::Value* sum, llvm::Value* a,
                               llvm::Value* b);
  // Multiplies vectors of i16 and adds the products of two neighbours each.
  llvm::Value* PairSums(llvm::Value* a, llvm::Value* b);
  // Emits a dot product of NEON, or of SVE if there are more lanes than NEON's
  // vectors have.
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
