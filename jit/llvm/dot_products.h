// Sums of 4 products of 8-bit integers, or of 2 of 8- or 16-bit ones, which
// machines have as one instruction per vector of i32:
//
//   vector l < 16 {
//     unroll q < 4 {
//       %y[i, l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q])
//     }
//   }
//
// One factor is the same in all lanes and runs with q; the other runs with q,
// then with the lane, so that its elements are one load. As the sums wrap, the
// result is that of the loop, bit for bit; where a machine or a nest is
// different, the loop is emitted as it stands. Works for u8 and i8 in any
// pairing; u8 by i8 is the fastest.
#ifndef EMBER_JIT_LLVM_DOT_PRODUCTS_H_
#define EMBER_JIT_LLVM_DOT_PRODUCTS_H_

#include <optional>

#include "jit/llvm/expression_emitter.h"
#include "jit/llvm/ir.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit {

class DotProducts {
 public:
  DotProducts(const loops::LoopNest& nest, TargetTraits target,
              Builder& builder, ExpressionEmitter& expressions)
      : nest_(nest), target_(target), b_(builder), expressions_(expressions) {}

  // Emits the unrolled loop if it is such a sum.
  bool Emit(const loops::Statement& loop);

 private:
  struct Factor {
    NodeId load = 0;
    DType type = DType::kI8;
  };
  struct Operands {
    Factor a, b;  // the same in all lanes; different
    Address a_address, b_address, target;
  };

  std::optional<Factor> FactorOf(NodeId id) const;
  // The coefficient of a variable in an index; nullopt if it is none.
  std::optional<int64_t> Coefficient(NodeId index, NodeId variable) const;
  bool RunsWith(NodeId load, NodeId variable) const;
  // Of a loop whose variable is bound to 0.
  std::optional<Operands> Match(const loops::Target& target, NodeId variable,
                                int64_t count);
  llvm::Value* FourProducts(const Operands& operands, llvm::Value* sum);
  llvm::Value* TwoProducts(const Operands& operands, llvm::Value* sum);
  // One i32 per lane, of as many elements as fit.
  llvm::Value* PackedA(const Operands& operands);
  llvm::Value* PackedB(const Operands& operands);
  llvm::Value* SplatByte(int byte);
  llvm::Value* UnsignedBySigned(llvm::Value* sum, llvm::Value* a,
                                llvm::Value* b);

  const loops::LoopNest& nest_;
  TargetTraits target_;
  Builder& b_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_DOT_PRODUCTS_H_
