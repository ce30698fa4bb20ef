#include <cstring>
#include <string>

#include "base/concat.h"
#include "tensor/range_rules.h"
#include "vm/interpreter/kernel_selection.h"
#include "vm/interpreter/stage_analysis.h"

namespace ember::vm {

using tensor::Dispatch;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;

namespace {

// Index arithmetic of the header must not wrap: it gives sizes.
bool Overflows(const Instruction& instruction,
               const std::vector<uint64_t>& values) {
  if (instruction.type != DType::kI64) return false;
  int64_t ignored;
  const auto operand = [&](uint32_t r) {
    return static_cast<int64_t>(values[r]);
  };
  switch (instruction.opcode) {
    case Opcode::kAdd:
      return __builtin_add_overflow(operand(instruction.a),
                                    operand(instruction.b), &ignored);
    case Opcode::kSubtract:
      return __builtin_sub_overflow(operand(instruction.a),
                                    operand(instruction.b), &ignored);
    case Opcode::kMultiply:
      return __builtin_mul_overflow(operand(instruction.a),
                                    operand(instruction.b), &ignored);
    default:
      return false;
  }
}

uint64_t Evaluate(const Dispatch& dispatch, const Instruction& instruction,
                  const std::vector<uint64_t>& values) {
  const bool select = instruction.opcode == Opcode::kSelect;
  const DType operand =
      dispatch.instructions[select ? instruction.b : instruction.a].type;
  const int count = tensor::RegisterOperandCount(instruction.opcode);
  uint64_t operands[3] = {values[instruction.a],
                          count > 1 ? values[instruction.b] : 0,
                          count > 2 ? values[instruction.c] : 0};
  uint64_t result = 0;
  TileArguments arguments = {};
  arguments.rows = arguments.columns = 1;
  arguments.destination = {reinterpret_cast<char*>(&result), 0, 1};
  arguments.a = {reinterpret_cast<char*>(&operands[0]), 0, 1};
  arguments.b = {reinterpret_cast<char*>(&operands[1]), 0, 1};
  arguments.c = {reinterpret_cast<char*>(&operands[2]), 0, 1};
  const KernelSteps steps = SelectKernels(instruction, operand);
  for (int i = 0; i < steps.count; ++i) {
    arguments.immediate[0] = steps.steps[i].immediate[0];
    arguments.immediate[1] = steps.steps[i].immediate[1];
    steps.steps[i].kernel(arguments);
    arguments.a = arguments.destination;
  }
  return result;
}

Status MeasureBuffers(const Dispatch& dispatch, ConcreteHeader& header) {
  for (const tensor::Buffer& buffer : dispatch.buffers) {
    std::vector<int64_t> extents;
    int64_t elements = 1;
    for (Register r : buffer.extents) {
      const int64_t extent = static_cast<int64_t>(header.values[r]);
      int64_t next;
      if (extent < 0 || extent > tensor::kMaximumExtent ||
          __builtin_mul_overflow(elements, extent, &next) ||
          next > tensor::kMaximumExtent * 64) {
        return InvalidArgumentError(Concat(
            {"dispatch @", dispatch.name, ": buffer %", buffer.name,
             ": dimension ", extents.size(), " out of range: ", extent}));
      }
      elements = next;
      extents.push_back(extent);
    }
    header.extents.push_back(std::move(extents));
    header.elements.push_back(elements);
  }
  return OkStatus();
}

}  // namespace

StatusOr<ConcreteHeader> ConcreteHeader::Make(
    const Dispatch& dispatch, std::span<const int64_t> parameters) {
  if (parameters.size() != dispatch.parameters.size()) {
    return InvalidArgumentError(Concat(
        {"dispatch @", dispatch.name, ": expected ", dispatch.parameters.size(),
         " parameters, found ", parameters.size()}));
  }
  ConcreteHeader header;
  header.values.reserve(dispatch.header_end);
  header.extents.reserve(dispatch.buffers.size());
  header.elements.reserve(dispatch.buffers.size());
  for (uint32_t i = 0; i < dispatch.header_end; ++i) {
    const Instruction& instruction = dispatch.instructions[i];
    if (instruction.opcode == Opcode::kConstant) {
      header.values.push_back(
          ConstantTile(instruction.immediate, instruction.type));
    } else if (instruction.opcode == Opcode::kParameter) {
      header.values.push_back(
          static_cast<uint64_t>(parameters[instruction.immediate]));
    } else {
      if (Overflows(instruction, header.values)) {
        return InvalidArgumentError(
            Concat({"dispatch @", dispatch.name, ": header register ", i,
                    ": size arithmetic overflows 64 bits"}));
      }
      header.values.push_back(Evaluate(dispatch, instruction, header.values));
    }
  }
  EMBER_RETURN_IF_ERROR(MeasureBuffers(dispatch, header));
  return header;
}

}  // namespace ember::vm
