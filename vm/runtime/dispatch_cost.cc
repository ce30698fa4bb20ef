#include "vm/runtime/dispatch_cost.h"

#include <algorithm>
#include <vector>

#include "base/checked_math.h"
#include "tensor/scalar.h"

namespace ember::vm {
namespace {

using tensor::Opcode;

// Values of the header's registers, as bits.
std::vector<uint64_t> EvaluateHeader(const tensor::Dispatch& dispatch,
                                     std::span<const int64_t> parameters) {
  std::vector<uint64_t> values(dispatch.header_end);
  for (uint32_t i = 0; i < dispatch.header_end; ++i) {
    const tensor::Instruction& instruction = dispatch.instructions[i];
    if (instruction.opcode == Opcode::kConstant) {
      values[i] = instruction.immediate;
    } else if (instruction.opcode == Opcode::kParameter) {
      values[i] = static_cast<uint64_t>(
          parameters[static_cast<size_t>(instruction.immediate)]);
    } else {
      const int count = tensor::RegisterOperandCount(instruction.opcode);
      tensor::ScalarOperands operands;
      operands.a = values[instruction.a];
      if (count > 1) operands.b = values[instruction.b];
      if (count > 2) operands.c = values[instruction.c];
      // Select's operand type is that of b and c.
      const uint32_t typed =
          instruction.opcode == Opcode::kSelect ? instruction.b : instruction.a;
      values[i] = tensor::EvaluateScalar(instruction.opcode,
                                         dispatch.instructions[typed].type,
                                         instruction.type, operands);
    }
  }
  return values;
}

int64_t Multiply(int64_t a, uint64_t extent_bits) {
  const int64_t extent =
      std::max<int64_t>(0, static_cast<int64_t>(extent_bits));
  return CheckedMultiply(a, extent).value_or(INT64_MAX);
}

}  // namespace

DispatchCost CostOf(const tensor::Dispatch& dispatch,
                    std::span<const int64_t> parameters) {
  const std::vector<uint64_t> values = EvaluateHeader(dispatch, parameters);
  DispatchCost cost;
  for (const tensor::Stage& stage : dispatch.stages) {
    int64_t points = 1;
    for (const tensor::Axis& axis : stage.spatial)
      points = Multiply(points, values[axis.extent]);
    for (const tensor::Axis& axis : stage.reduction)
      points = Multiply(points, values[axis.extent]);
    cost.points = std::max(cost.points, points);
  }
  for (const tensor::Buffer& buffer : dispatch.buffers) {
    if (buffer.kind != tensor::BufferKind::kTemporary) continue;
    int64_t bytes = DTypeByteSize(buffer.type);
    for (tensor::Register extent : buffer.extents)
      bytes = Multiply(bytes, values[extent]);
    cost.temporary_bytes =
        CheckedAdd(cost.temporary_bytes, bytes).value_or(INT64_MAX);
  }
  return cost;
}

}  // namespace ember::vm
