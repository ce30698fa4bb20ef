#include "tune/model/operation_kinds.h"

namespace ember::tune {

using tensor::Opcode;

OperationKind KindOf(Opcode opcode, DType type) {
  const OperationKind simple =
      IsFloat(type) ? OperationKind::kFloat : OperationKind::kInteger;
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kParameter:
    case Opcode::kAxis:
    case Opcode::kAccumulator:
    case Opcode::kElement:
    case Opcode::kBitcast:
      return OperationKind::kNone;
    case Opcode::kLoad:
    case Opcode::kPad:
      return OperationKind::kMemory;
    case Opcode::kSelect:
      return OperationKind::kSelect;
    case Opcode::kCast:
      return OperationKind::kConvert;
    case Opcode::kNegate:
    case Opcode::kAbsolute:
    case Opcode::kSign:
    case Opcode::kNot:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRound:
    case Opcode::kTruncate:
    case Opcode::kIsNan:
    case Opcode::kIsInfinite:
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMinimum:
    case Opcode::kMaximum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRight:
    case Opcode::kEqual:
    case Opcode::kNotEqual:
    case Opcode::kLess:
    case Opcode::kLessEqual:
      return simple;
    case Opcode::kMultiply:
      return IsFloat(type) ? OperationKind::kFloat : OperationKind::kProduct;
    case Opcode::kSqrt:
    case Opcode::kDivide:
    case Opcode::kFloorDivide:
    case Opcode::kModulo:
    case Opcode::kRemainder:
      return OperationKind::kSlow;
    case Opcode::kExp:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kExpm1:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTan:
    case Opcode::kAsin:
    case Opcode::kAcos:
    case Opcode::kAtan:
    case Opcode::kSinh:
    case Opcode::kCosh:
    case Opcode::kTanh:
    case Opcode::kAsinh:
    case Opcode::kAcosh:
    case Opcode::kAtanh:
    case Opcode::kErf:
    case Opcode::kPower:
    case Opcode::kAtan2:
      return OperationKind::kFunction;
  }
  return OperationKind::kNone;
}

double CostOf(OperationKind kind, DType type) {
  // Arithmetic on floats of 16 bits or fewer is emulated: operands are widened
  // and the result is rounded, which takes about 4 instructions.
  const double emulated = IsNarrowFloat(type) ? 4 : 1;
  switch (kind) {
    case OperationKind::kNone:
    case OperationKind::kMemory:
      return 0;
    case OperationKind::kFloat:
    case OperationKind::kInteger:
    case OperationKind::kSelect:
      return emulated;
    case OperationKind::kProduct:
      return DTypeByteSize(type) == 8 ? 3 : 1;
    case OperationKind::kConvert:
      return emulated;
    case OperationKind::kSlow:
      return IsFloat(type) ? 8 * emulated : 12;
    case OperationKind::kFunction:
      return 24 * emulated;
  }
  return 0;
}

}  // namespace ember::tune
