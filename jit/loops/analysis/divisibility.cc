#include "jit/loops/analysis/divisibility.h"

#include <algorithm>

namespace ember::loops {

using tensor::ExpressionPool;
using tensor::NodeId;
using tensor::Opcode;

namespace {

// Expressions are graphs in which many paths may reach one node, so the depth
// of the search is bounded.
constexpr int kDeepest = 12;

int64_t Divisor(const ExpressionPool& pool, NodeId id, int depth) {
  if (const auto known = pool.IntegerConstant(id)) return PowerOfTwoIn(*known);
  const tensor::Node& node = pool[id];
  if (depth >= kDeepest || node.type != DType::kI64) return 1;
  const auto of = [&](size_t operand) {
    return Divisor(pool, node.operands[operand], depth + 1);
  };
  switch (node.opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMinimum:
    case Opcode::kMaximum:
      return std::min(of(0), of(1));
    case Opcode::kSelect:
      return std::min(of(1), of(2));
    case Opcode::kNegate:
      return of(0);
    case Opcode::kMultiply:
      return std::min(of(0) * of(1), kLargestDivisor);
    case Opcode::kModulo: {
      // The divisor of x mod m follows from x mod m = x - m * (x floordiv m).
      // The instruction table defines x mod 0 in another way, so the modulus
      // must be a positive constant.
      const auto modulus = pool.IntegerConstant(node.operands[1]);
      if (!modulus || *modulus <= 0) return 1;
      return std::min(of(0), PowerOfTwoIn(*modulus));
    }
    case Opcode::kFloorDivide: {
      const auto divisor = pool.IntegerConstant(node.operands[1]);
      if (!divisor || *divisor <= 0 || *divisor != PowerOfTwoIn(*divisor))
        return 1;
      return std::max<int64_t>(of(0) / *divisor, 1);
    }
    default:
      return 1;
  }
}

}  // namespace

int64_t PowerOfTwoIn(int64_t number) {
  if (number == 0) return kLargestDivisor;
  const uint64_t bits = static_cast<uint64_t>(number);
  return static_cast<int64_t>(std::min<uint64_t>(
      bits & (~bits + 1), static_cast<uint64_t>(kLargestDivisor)));
}

int64_t DivisorOf(const ExpressionPool& pool, NodeId node) {
  return Divisor(pool, node, 0);
}

}  // namespace ember::loops
