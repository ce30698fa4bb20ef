#include "tensor/concrete_header.h"

#include <algorithm>
#include <string>

#include "base/checked_math.h"
#include "base/concat.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::tensor {
namespace {

// Computes an i64 operation exactly. Returns nullopt for other operations than
// +, -, * and negation, and if the result does not fit: sizes that come from a
// header must not wrap around silently.
std::optional<int64_t> CheckedIndexArithmetic(Opcode opcode, int64_t a,
                                              int64_t b) {
  switch (opcode) {
    case Opcode::kAdd:
      return CheckedAdd(a, b);
    case Opcode::kSubtract:
      return CheckedSubtract(a, b);
    case Opcode::kMultiply:
      return CheckedMultiply(a, b);
    case Opcode::kNegate:
      return CheckedSubtract(0, a);
    default:
      return std::nullopt;
  }
}

bool NeedsCheck(const Instruction& instruction) {
  return instruction.type == DType::kI64 &&
         (instruction.opcode == Opcode::kAdd ||
          instruction.opcode == Opcode::kSubtract ||
          instruction.opcode == Opcode::kMultiply ||
          instruction.opcode == Opcode::kNegate);
}

// Returns the product of `unit` and the extents, where an extent of 0 counts as
// 1. Returns nullopt if the product is above kMaxSize.
std::optional<int64_t> Size(std::span<const int64_t> extents, int64_t unit) {
  int64_t size = unit;
  for (int64_t extent : extents) {
    const std::optional<int64_t> product =
        CheckedMultiply(size, std::max<int64_t>(extent, 1));
    if (!product || *product > kMaxSize) return std::nullopt;
    size = *product;
  }
  return size;
}

Status CheckExtents(std::span<const int64_t> extents, int64_t unit,
                    const std::string& what) {
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] >= 0 && extents[i] <= kMaxExtent) continue;
    return InvalidArgumentError(
        Concat({what, ": expected extent ", i, " in 0..", kMaxExtent,
                ", found ", extents[i]}));
  }
  if (Size(extents, unit)) return OkStatus();
  return ResourceExhaustedError(
      Concat({what, ": expected a size of at most 2^62"}));
}

}  // namespace

std::vector<int64_t> ConcreteHeader::Extents(const Buffer& buffer) const {
  std::vector<int64_t> extents;
  for (Register extent : buffer.extents) extents.push_back(value(extent));
  return extents;
}

std::vector<int64_t> ConcreteHeader::Extents(std::span<const Axis> axes) const {
  std::vector<int64_t> extents;
  for (const Axis& axis : axes) extents.push_back(value(axis.extent));
  return extents;
}

int64_t ConcreteHeader::ElementCount(const Buffer& buffer) const {
  int64_t count = 1;
  for (Register extent : buffer.extents) count *= value(extent);
  return count;
}

StatusOr<ConcreteHeader> ConcreteHeader::Evaluate(
    const Dispatch& dispatch, std::span<const int64_t> parameters) {
  const std::string name = Concat({"dispatch @", dispatch.name});
  if (parameters.size() != dispatch.parameters.size()) {
    return InvalidArgumentError(
        Concat({name, ": expected ", dispatch.parameters.size(),
                " parameters, found ", parameters.size()}));
  }
  ConcreteHeader header;
  header.bits_.reserve(dispatch.header_end);
  for (uint32_t i = 0; i < dispatch.header_end; ++i) {
    const Instruction& instruction = dispatch.instructions[i];
    if (instruction.opcode == Opcode::kConstant) {
      header.bits_.push_back(instruction.immediate);
      continue;
    }
    if (instruction.opcode == Opcode::kParameter) {
      header.bits_.push_back(
          static_cast<uint64_t>(parameters[instruction.immediate]));
      continue;
    }
    const int count = RegisterOperandCount(instruction.opcode);
    const uint64_t a = header.bits_[instruction.a];
    const uint64_t b = count > 1 ? header.bits_[instruction.b] : 0;
    const uint64_t c = count > 2 ? header.bits_[instruction.c] : 0;
    if (NeedsCheck(instruction)) {
      const std::optional<int64_t> result = CheckedIndexArithmetic(
          instruction.opcode, static_cast<int64_t>(a), static_cast<int64_t>(b));
      if (!result) {
        return InvalidArgumentError(
            Concat({name, ": the parameters make header register ", i,
                    " overflow 64 bits"}));
      }
      header.bits_.push_back(static_cast<uint64_t>(*result));
      continue;
    }
    const DType operand_type = dispatch.instructions[instruction.a].type;
    header.bits_.push_back(EvaluateScalar(instruction.opcode, operand_type,
                                          instruction.type, {a, b, c}));
  }
  int64_t total = 0;
  for (const Buffer& buffer : dispatch.buffers) {
    const std::vector<int64_t> extents = header.Extents(buffer);
    const std::string what = Concat({name, ": buffer %", buffer.name});
    const int64_t unit = DTypeByteSize(buffer.type);
    EMBER_RETURN_IF_ERROR(CheckExtents(extents, unit, what));
    const int64_t bytes = *Size(extents, unit);
    if (bytes > kMaxSize - total) {
      return ResourceExhaustedError(
          Concat({what, ": expected at most 2^62 bytes in all buffers"}));
    }
    total += bytes;
  }
  for (size_t i = 0; i < dispatch.stages.size(); ++i) {
    std::vector<int64_t> extents = header.Extents(dispatch.stages[i].spatial);
    for (int64_t extent : header.Extents(dispatch.stages[i].reduction))
      extents.push_back(extent);
    EMBER_RETURN_IF_ERROR(
        CheckExtents(extents, 1, Concat({name, ": axes of stage ", i})));
  }
  return header;
}

}  // namespace ember::tensor
