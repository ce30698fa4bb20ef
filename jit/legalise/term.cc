#include "jit/legalise/term.h"

#include <vector>

#include "tensor/scalar.h"

namespace ember::jit::legalise {

Term Constant(Legaliser& legaliser, uint64_t bits, DType type) {
  return Term(legaliser, legaliser.Constant(bits, type));
}

Term Term::Integer(int64_t value) const {
  return Constant(*legaliser_, tensor::IntegerToBits(value, type()), type());
}

Term Term::Number(double value) const {
  return Constant(*legaliser_, tensor::DoubleToBits(value, type()), type());
}

Term Apply(Opcode opcode, DType type, std::initializer_list<Term> operands) {
  std::vector<NodeId> ids;
  for (const Term& operand : operands) ids.push_back(operand.id());
  Legaliser& legaliser = operands.begin()->legaliser();
  return Term(legaliser, legaliser.Make({opcode, type, ids}));
}

Term Raw(Opcode opcode, Term a, Term b) {
  return Term(a.legaliser(),
              a.legaliser().Make({opcode, a.type(), {a.id(), b.id()}, true}));
}

Term RawCast(Term a, DType type) {
  return Term(a.legaliser(),
              a.legaliser().Make({Opcode::kCast, type, {a.id()}, true}));
}

}  // namespace ember::jit::legalise
