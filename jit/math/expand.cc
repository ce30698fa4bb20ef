#include "jit/math/expand.h"

#include "base/check.h"
#include "jit/math/functions.h"

namespace ember::jit {
namespace {

using tensor::NodeId;
using tensor::Opcode;

bool IsTranscendental(Opcode opcode) {
  switch (opcode) {
#define EMBER_ROW(name) case Opcode::k##name:
    EMBER_FOR_EACH_EXPANDED(EMBER_ROW)
#undef EMBER_ROW
    return true;
    default:
      return false;
  }
}

// Returns the expansion of a function of f32 or f64. For a function of one
// operand, b is the same as a and is not used.
Term ExpandFloat(Opcode opcode, Term a, Term b) {
  switch (opcode) {
    case Opcode::kExp:
      return ExpandExp(a);
    case Opcode::kLog:
      return ExpandLog(a);
    case Opcode::kLog1p:
      return ExpandLog1p(a);
    case Opcode::kExpm1:
      return ExpandExpm1(a);
    case Opcode::kSin:
      return ExpandSin(a);
    case Opcode::kCos:
      return ExpandCos(a);
    case Opcode::kTan:
      return ExpandTan(a);
    case Opcode::kAsin:
      return ExpandAsin(a);
    case Opcode::kAcos:
      return ExpandAcos(a);
    case Opcode::kAtan:
      return ExpandAtan(a);
    case Opcode::kSinh:
      return ExpandSinh(a);
    case Opcode::kCosh:
      return ExpandCosh(a);
    case Opcode::kTanh:
      return ExpandTanh(a);
    case Opcode::kAsinh:
      return ExpandAsinh(a);
    case Opcode::kAcosh:
      return ExpandAcosh(a);
    case Opcode::kAtanh:
      return ExpandAtanh(a);
    case Opcode::kErf:
      return ExpandErf(a);
    case Opcode::kPower:
      return ExpandPower(a, b);
    case Opcode::kAtan2:
      return ExpandAtan2(a, b);
    default:
      break;
  }
  EMBER_CHECK(false) << "no expansion of " << tensor::InfoOf(opcode).text;
  return a;
}

}  // namespace

bool IsExpanded(Opcode opcode, DType type) {
  if (IsFloat(type)) return IsTranscendental(opcode);
  return opcode == Opcode::kPower && IsInteger(type);
}

NodeId ExpandMath(tensor::ExpressionPool& pool, Opcode opcode, DType type,
                  std::span<const NodeId> operands) {
  EMBER_CHECK(IsExpanded(opcode, type))
      << tensor::InfoOf(opcode).text << " of " << DTypeName(type);
  const Term a(pool, operands.front());
  const Term b(pool, operands.back());
  if (!IsFloat(type)) return ExpandIntegerPower(a, b).id();
  const DType wide = type == DType::kF64 ? DType::kF64 : DType::kF32;
  return Cast(ExpandFloat(opcode, Cast(a, wide), Cast(b, wide)), type).id();
}

}  // namespace ember::jit
