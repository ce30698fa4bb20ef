#include "tensor/notation/linear_index.h"

#include "base/checked_math.h"

namespace ember::tensor {
namespace {

std::optional<LinearIndex> SumOf(const LinearIndex& a, const LinearIndex& b,
                                 int64_t factor) {
  LinearIndex sum = a;
  const auto scaled = [&](int64_t term, int64_t& into) {
    const auto product = CheckedMultiply(term, factor);
    const auto total = product ? CheckedAdd(into, *product) : std::nullopt;
    if (!total || !IsSmall(*total)) return false;
    into = *total;
    return true;
  };
  if (!scaled(b.constant, sum.constant)) return std::nullopt;
  for (const auto& [axis, term] : b.factors) {
    if (!scaled(term, sum.factors[axis])) return std::nullopt;
  }
  std::erase_if(sum.factors, [](const auto& term) { return term.second == 0; });
  return sum;
}

std::optional<LinearIndex> LinearOfInstruction(
    const Expression& e, const NotationStatement& statement) {
  if (e.type || e.operands.empty() || e.operands.size() > 2)
    return std::nullopt;
  const auto a = LinearOf(e.operands[0], statement);
  if (!a) return std::nullopt;
  if (e.opcode == Opcode::kNegate) return SumOf({}, *a, -1);
  if (e.operands.size() < 2) return std::nullopt;
  const auto b = LinearOf(e.operands[1], statement);
  if (!b) return std::nullopt;
  if (e.opcode == Opcode::kAdd) return SumOf(*a, *b, 1);
  if (e.opcode == Opcode::kSubtract) return SumOf(*a, *b, -1);
  if (e.opcode != Opcode::kMultiply) return std::nullopt;
  if (b->factors.empty()) return SumOf({}, *a, b->constant);
  if (a->factors.empty()) return SumOf({}, *b, a->constant);
  return std::nullopt;
}

}  // namespace

std::optional<LinearIndex> LinearOf(const Expression& e,
                                    const NotationStatement& statement) {
  LinearIndex linear;
  if (e.kind == Expression::kInstruction)
    return LinearOfInstruction(e, statement);
  if (e.kind == Expression::kName) {
    const auto axis = statement.FindAxis(e.token.text);
    if (!axis) return std::nullopt;
    linear.factors[*axis] = 1;
    return linear;
  }
  const bool is_integer = e.kind == Expression::kNumber &&
                          e.token.kind == Token::kInteger &&
                          (!e.type || e.type == DType::kI64);
  if (!is_integer) return std::nullopt;
  const auto value = IntegerValue(e.token);
  if (!value.ok() || *value > static_cast<uint64_t>(kMaxTerm))
    return std::nullopt;
  linear.constant = static_cast<int64_t>(*value) * (e.negative ? -1 : 1);
  return linear;
}

}  // namespace ember::tensor
