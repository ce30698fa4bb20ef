// Makes expressions in their simplest form: folds constants and rewrites
// integer index arithmetic. The builder and the JIT use it.
//
//   (x + 1) + 2                   ->  x + 3
//   x * 0                         ->  0
//   (i * 64 + j) floordiv 64      ->  i      for j in 0..63
//   (i * 64 + j) mod 64           ->  j      for j in 0..63
//   (x floordiv 4) * 4 + x mod 4  ->  x
//   pad in bounds                 ->  load
//
// Every rule keeps the value exactly, wrapping and NaN included; rules about
// division apply only where ranges prove that nothing wraps. Floats fold only
// where the result is exact or correctly rounded by definition (not exp and the
// like, which back ends may compute differently in the last place).
#ifndef EMBER_TENSOR_BUILDER_SIMPLIFY_H_
#define EMBER_TENSOR_BUILDER_SIMPLIFY_H_

#include <span>

#include "tensor/builder/expression_pool.h"

namespace ember::tensor {

// True if it is proved that 0 <= index < extent. `extent` is an i64 node of the
// header.
bool ProvablyInBounds(const ExpressionPool& pool, NodeId index, NodeId extent);

class Simplifier {
 public:
  explicit Simplifier(ExpressionPool& pool) : pool_(pool) {}

  // Returns a node with the value of the instruction, in simplified form.
  // Operands must have the types that the opcode requires.
  NodeId Make(Opcode opcode, DType type, std::span<const NodeId> operands);

 private:
  NodeId Unary(Opcode opcode, DType type, NodeId a);
  NodeId Binary(Opcode opcode, DType type, NodeId a, NodeId b);
  NodeId IntegerBinary(Opcode opcode, DType type, NodeId a, NodeId b);
  NodeId FloatBinary(Opcode opcode, DType type, NodeId a, NodeId b);
  NodeId Compare(Opcode opcode, NodeId a, NodeId b);
  NodeId Conversion(Opcode opcode, DType type, NodeId a);
  NodeId Product(DType type, NodeId a, NodeId b);
  bool Swaps(Opcode opcode, DType type, NodeId a, NodeId b) const;
  bool FoldsToConstant(Opcode opcode, std::span<const NodeId> operands) const;
  NodeId Fold(Opcode opcode, DType type, std::span<const NodeId> operands);
  NodeId Raw(Opcode opcode, DType type, NodeId a, NodeId b);
  NodeId Integer(int64_t value, DType type);

  ExpressionPool& pool_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_SIMPLIFY_H_
