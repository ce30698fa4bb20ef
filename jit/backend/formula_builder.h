// Makes the formulas of a kernel's image from expressions of its loop nest.
//
//   FormulaBuilder formulas(nest.pool, image.formulas);
//   const uint32_t extent = formulas.Add(buffer.extents[0]);
//   const uint32_t twice =
//       formulas.Apply(Opcode::kMultiply, extent, formulas.Constant(2));
//
// Equal formulas are added once; arithmetic on constants is folded. Not
// thread-safe.
#ifndef EMBER_JIT_BACKEND_FORMULA_BUILDER_H_
#define EMBER_JIT_BACKEND_FORMULA_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tensor/builder/expression_pool.h"
#include "tensor/dispatch.h"

namespace ember::jit {

class FormulaBuilder {
 public:
  // Makes a builder that appends formulas of the pool's expressions to
  // `formulas`. The pool and `formulas` must outlive the builder.
  FormulaBuilder(const tensor::ExpressionPool& pool,
                 std::vector<tensor::Instruction>& formulas)
      : pool_(pool), formulas_(formulas) {}

  // Returns the index in `formulas` of the formula of an expression. The
  // expression may contain constants and parameters only (a check).
  uint32_t Add(tensor::NodeId root);

  // These functions append formulas of type i64, and return their indices in
  // `formulas`.
  uint32_t Constant(int64_t value);
  uint32_t Parameter(size_t number);
  uint32_t Apply(tensor::Opcode opcode, uint32_t a, uint32_t b);
  // Returns the index of the formula whose value is a if x < y, and b
  // otherwise.
  uint32_t IfLess(uint32_t x, uint32_t y, uint32_t a, uint32_t b);
  std::optional<int64_t> ConstantOf(uint32_t formula) const;

 private:
  void Append(tensor::NodeId id, const tensor::Node& node);
  // Returns the index of the instruction in `formulas`. Appends the instruction
  // to `formulas` if it is new.
  uint32_t Find(const tensor::Instruction& in);

  const tensor::ExpressionPool& pool_;
  std::vector<tensor::Instruction>& formulas_;
  std::unordered_map<tensor::NodeId, uint32_t> done_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_FORMULA_BUILDER_H_
