// Dot loops (loops::LoopKind::kDot) in vector loops, as the instructions that
// machines have for them:
//
//   vector l < 16 {
//     dot q < 4 { %y[i, l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//   }
//
// One factor is the same in all lanes; the elements of the other one lie behind
// each other, those of a lane together, so that they are one load.
//
//   products          x86                      aarch64
//   4, u8 by i8       vpdpbusd (VNNI)          usdot (i8mm), sdot
//   4, equal signs    vpdpbusd, one shifted    sdot, udot (dotprod)
//   4, u8 by small    vpmaddubsw, vpmaddwd     as above
//   2, integers       vpmaddwd                 as a loop
//   2, bf16           vdpbf16ps (AVX512-BF16)  as a loop
//
// Small are packed constants whose prologue can be seen to store nothing beyond
// -64..64: vpmaddubsw, which saturates, then does not.
//
// Where a machine or a nest is different, the caller emits the loop as it
// stands: results of integers are the same bit for bit.
#ifndef EMBER_JIT_LLVM_DOT_PRODUCTS_H_
#define EMBER_JIT_LLVM_DOT_PRODUCTS_H_

#include <optional>

#include "jit/llvm/expression_emitter.h"
#include "jit/llvm/ir.h"
#include "jit/loops/dot_product.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit {

class DotProducts {
 public:
  DotProducts(const loops::LoopNest& nest, TargetTraits target,
              Builder& builder, ExpressionEmitter& expressions)
      : nest_(nest), target_(target), b_(builder), expressions_(expressions) {}

  // Emits the dot loop if there is an instruction for it.
  bool Emit(const loops::Statement& loop);

 private:
  struct Operands {
    DType a_type = DType::kI8, b_type = DType::kI8;
    Address a, b, store;  // a: the same in all lanes
  };

  // Of a loop whose variable is bound to 0.
  std::optional<Operands> AddressesOf(const loops::DotProduct& dot);
  bool HasInstruction(const loops::DotProduct& dot, int lanes) const;
  bool HasSmallFactor(const loops::DotProduct& dot) const;
  // sum plus the products, per kind.
  llvm::Value* FourProducts(const Operands& operands, llvm::Value* sum);
  llvm::Value* TwoProducts(const Operands& operands, llvm::Value* sum);
  llvm::Value* BFloatProducts(const Operands& operands, llvm::Value* sum);
  // `count` elements per lane, of the type: of a, the same for all.
  llvm::Value* LoadA(const Operands& operands, llvm::Type* element, int count);
  llvm::Value* LoadB(const Operands& operands, llvm::Type* element, int count);
  // One i32 per lane, of 4 bytes.
  llvm::Value* SplatByte(int byte);
  llvm::Value* UnsignedBySigned(llvm::Value* sum, llvm::Value* a,
                                llvm::Value* b);
  llvm::Value* UnsignedBySmall(llvm::Value* sum, llvm::Value* a,
                               llvm::Value* b);
  // Of vectors of i16, sums of 2 products of neighbours.
  llvm::Value* PairSums(llvm::Value* a, llvm::Value* b);
  // Of NEON, or of SVE where there are more lanes.
  enum class ByteDot : uint8_t { kSigned, kUnsigned, kUnsignedBySigned };
  llvm::Value* ArmDot(ByteDot dot, llvm::Value* sum, llvm::Value* a,
                      llvm::Value* b);

  const loops::LoopNest& nest_;
  TargetTraits target_;
  Builder& b_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_DOT_PRODUCTS_H_
