// Dot loops (loops::LoopKind::kDot) of four bytes as dp4a: four products of the
// bytes of two words, and their sum, in each lane of a vector loop around.
//
//   dot q < 4 { %y[l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//     // y = dp4a(a, b, y), of any signs, for each l
//
// The sum wraps in 32 bits as that of a serial loop does: results are the same
// bit for bit. Words that are not proved to be aligned are loaded byte by byte.
// Not thread-safe.
#ifndef EMBER_JIT_PTX_DOT_PRODUCTS_H_
#define EMBER_JIT_PTX_DOT_PRODUCTS_H_

#include <optional>

#include "jit/llvm/expression_emitter.h"
#include "jit/llvm/ir.h"
#include "jit/loops/dot_product.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::ptx {

class DotProducts {
 public:
  DotProducts(const loops::LoopNest& nest, Builder& builder,
              ExpressionEmitter& expressions)
      : nest_(nest), b_(builder), expressions_(expressions) {}

  // What the loop is, if dp4a computes it.
  std::optional<loops::DotProduct> Find(const loops::Statement& loop) const;
  // Emits the loop. False where lanes are off, or words of lanes are no
  // constant stride apart: it is written out then.
  bool Emit(const loops::DotProduct& dot, loops::NodeId variable);

 private:
  // Four bytes of each lane; null where lanes have no stride.
  llvm::Value* WordsOf(loops::NodeId load);

  const loops::LoopNest& nest_;
  Builder& b_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_DOT_PRODUCTS_H_
