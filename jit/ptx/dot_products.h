// Emits dot loops (loops::LoopKind::kDot) of four bytes as dp4a, the
// instruction that adds four products of the bytes of two words to a sum. In a
// vector loop there is one for each lane.
//
//   dot q < 4 { %y[l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//     // y = dp4a(a, b, y), of any signs, for each l
//
// The sum wraps in 32 bits like that of a serial loop, so results are the same
// bit for bit. Words that are not proved to be aligned are loaded byte by byte.
// Not thread-safe.
#ifndef EMBER_JIT_PTX_DOT_PRODUCTS_H_
#define EMBER_JIT_PTX_DOT_PRODUCTS_H_

#include <optional>

#include "jit/llvm/emit/expression_emitter.h"
#include "jit/llvm/emit/ir.h"
#include "jit/loops/analysis/dot_product.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::ptx {

class DotProducts {
 public:
  DotProducts(const loops::LoopNest& nest, llvm_ir::Builder& builder,
              llvm_ir::ExpressionEmitter& expressions)
      : nest_(nest), b_(builder), expressions_(expressions) {}

  // Returns the dot product of the loop if dp4a can compute it; otherwise
  // nullopt.
  std::optional<loops::DotProduct> Find(const loops::Statement& loop) const;
  // Emits the dot loop over `variable`. Returns false if some lanes are masked
  // off, if all lanes update one element, or if the lanes' words are not at a
  // constant distance in memory; the caller must then unroll the loop.
  bool Emit(const loops::DotProduct& dot, loops::NodeId variable);

 private:
  // Returns a word of four bytes for each lane, loaded by the factor's load;
  // null if the lanes' words are not at a constant distance.
  llvm::Value* WordsOf(loops::NodeId load);

  const loops::LoopNest& nest_;
  llvm_ir::Builder& b_;
  llvm_ir::ExpressionEmitter& expressions_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_DOT_PRODUCTS_H_
