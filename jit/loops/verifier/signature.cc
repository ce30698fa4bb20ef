#include "jit/loops/verifier/signature.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/concat.h"
#include "jit/loops/raw.h"
#include "jit/loops/walk.h"
#include "tensor/names.h"
#include "tensor/verifier/type_rules.h"

namespace ember::loops {
namespace {

using tensor::InfoOf;
using tensor::Node;
using tensor::Opcode;
using tensor::TypeFault;

// Largest number of elements of a register buffer, over all invocations
// together. CheckRegisterCounts checks the elements per invocation later, when
// the accesses to the buffer are known.
constexpr int64_t kMaxElements = kMaxRegisterElements * kMaxRegisterElements;

Status Error(std::string message) {
  return InvalidArgumentError(std::move(message));
}

Status CheckNames(const LoopNest& nest) {
  if (!tensor::IsSigilName(nest.name)) return Error("expected a name");
  std::unordered_set<std::string_view> plain, buffers;
  for (const auto* names : {&nest.parameters, &nest.variables}) {
    for (const std::string& name : *names) {
      if (!tensor::IsPlainName(name)) {
        return Error(
            Concat({"expected a name for a parameter or variable, "
                    "found '",
                    name, "'"}));
      }
      if (!plain.insert(name).second) {
        return Error(
            Concat({"two parameters or variables named '", name, "'"}));
      }
    }
  }
  for (const Buffer& buffer : nest.buffers) {
    if (!tensor::IsSigilName(buffer.name)) {
      return Error(
          Concat({"expected a name for a buffer, found '", buffer.name, "'"}));
    }
    if (!buffers.insert(buffer.name).second) {
      return Error(Concat({"two buffers named '", buffer.name, "'"}));
    }
  }
  return OkStatus();
}

// Returns the position of a scope's buffers in the list of buffers: 0 for
// inputs, 1 for outputs, 2 for others.
int OrderOf(MemoryScope scope) {
  if (scope == MemoryScope::kInput) return 0;
  return scope == MemoryScope::kOutput ? 1 : 2;
}

// Checks that extents are i64 expressions of constants and parameters.
Status CheckExtents(const LoopNest& nest, const std::vector<NodeId>& extents) {
  for (NodeId id : NodesUnder(nest.pool, extents)) {
    const Node& node = nest.pool[id];
    if (node.opcode == Opcode::kAxis || node.opcode == Opcode::kLoad ||
        node.opcode == Opcode::kPad) {
      return Error(
          Concat({"expected extents of constants and parameters, "
                  "found ",
                  InfoOf(node.opcode).text}));
    }
    EMBER_RETURN_IF_ERROR(CheckNode(nest, id));
  }
  for (NodeId extent : extents) {
    const DType type = nest.pool[extent].type;
    if (type != DType::kI64) {
      return Error(
          Concat({"expected extents of type i64, found ", DTypeName(type)}));
    }
  }
  return OkStatus();
}

Status CheckSize(const LoopNest& nest, const Buffer& buffer) {
  EMBER_RETURN_IF_ERROR(CheckExtents(nest, buffer.extents));
  if (buffer.scope != MemoryScope::kRegister) return OkStatus();
  int64_t elements = 1;
  for (NodeId extent : buffer.extents) {
    const int64_t constant = nest.pool.IntegerConstant(extent).value_or(0);
    elements = CheckedMultiply(elements, constant).value_or(0);
    if (constant >= 1 && elements >= 1 && elements <= kMaxElements) continue;
    return Error(Concat({"expected constant extents and at most ",
                         kMaxRegisterElements, " elements in registers"}));
  }
  return OkStatus();
}

// Checks Buffer::shares: the inputs whose memory an output may have must have
// the output's type and number of dims.
Status CheckShares(const LoopNest& nest, const Buffer& buffer) {
  const auto may_be = [&](uint32_t input) {
    return buffer.scope == MemoryScope::kOutput &&
           input < nest.buffers.size() &&
           nest.buffers[input].scope == MemoryScope::kInput &&
           nest.buffers[input].type == buffer.type &&
           nest.buffers[input].extents.size() == buffer.extents.size();
  };
  if (buffer.is_shared && buffer.scope != MemoryScope::kTask)
    return Error("expected only a buffer of tasks to be shared");
  if (std::ranges::all_of(buffer.shares, may_be) &&
      std::ranges::is_sorted(buffer.shares, std::less_equal()))
    return OkStatus();
  return Error(
      "expected only an output to share memory, with inputs of its type and "
      "rank in their order");
}

Status CheckStructural(const LoopNest& nest, const Node& node) {
  switch (node.opcode) {
    case Opcode::kConstant:
      if (tensor::AreBitsOf(node.immediate, node.type)) return OkStatus();
      return Error(Concat({"the bits do not fit ", DTypeName(node.type)}));
    case Opcode::kParameter:
      if (node.type == DType::kI64 && node.immediate < nest.parameters.size())
        return OkStatus();
      return Error("expected an i64 parameter of the nest");
    case Opcode::kAxis:
      if (node.type == DType::kI64 && node.operands.size() == 1 &&
          node.immediate < nest.variables.size())
        return OkStatus();
      return Error("expected an i64 variable of the nest with an extent");
    case Opcode::kLoad:
    case Opcode::kPad:
      break;
    default:
      return Error("expected no values of folds");
  }
  if (node.buffer >= nest.buffers.size()) {
    return Error(Concat({"expected a buffer below ", nest.buffers.size(),
                         ", found ", node.buffer}));
  }
  const uint32_t vector = VectorOf(node);
  if (vector != 0 && !IsVectorWidth(vector))
    return Error("expected a vector of 2, 4, 8 or 16 elements");
  const Buffer& buffer = nest.buffers[node.buffer];
  const size_t tested = node.opcode == Opcode::kPad ? buffer.extents.size() : 0;
  if (node.immediate >> (8 + 2 * tested) != 0)
    return Error("expected tests of a pad's dims only");
  std::span<const NodeId> indices = node.operands;
  if (node.opcode == Opcode::kPad && !indices.empty()) {
    const DType type = nest.pool[indices.back()].type;
    if (type != buffer.type) {
      return Error(
          Concat({"expected a default of type ", DTypeName(buffer.type),
                  ", found ", DTypeName(type)}));
    }
    indices = indices.first(indices.size() - 1);
  }
  if (node.type != buffer.type) {
    return Error(Concat({"expected ", DTypeName(buffer.type), " of %",
                         buffer.name, ", found ", DTypeName(node.type)}));
  }
  return CheckIndexTypes(nest, buffer, indices);
}

Status CheckOperands(const LoopNest& nest, const Node& node) {
  const size_t count =
      static_cast<size_t>(tensor::RegisterOperandCount(node.opcode));
  if (count == 0) return CheckStructural(nest, node);
  if (node.operands.size() != count) {
    return Error(Concat(
        {"expected ", count, " operands, found ", node.operands.size()}));
  }
  std::vector<DType> types;
  for (NodeId operand : node.operands) {
    types.push_back(nest.pool[operand].type);
  }
  if (node.immediate != 0 &&
      !(IsRaw(node) && HasRawForm(node.opcode, types[0], node.type)))
    return Error("has no raw form of these types");
  const TypeFault fault = tensor::FindTypeFault(node.opcode, node.type, types);
  const std::string_view expected = DTypeName(fault.expected);
  const std::string_view found = DTypeName(fault.found);
  switch (fault.kind) {
    case TypeFault::kNone:
      return OkStatus();
    case TypeFault::kOperands:
      return Error(Concat({"does not take operands of type ", found}));
    case TypeFault::kOperand:
      return Error(Concat({"operand ", static_cast<int>(fault.operand),
                           ": expected ", expected, ", found ", found}));
    case TypeFault::kResult:
      return Error(Concat({"result: expected ", expected, ", found ", found}));
    case TypeFault::kBitcast:
      return Error(Concat({found, " cannot become ", expected}));
  }
  return OkStatus();
}

}  // namespace

Status CheckSignature(const LoopNest& nest) {
  EMBER_RETURN_IF_ERROR(CheckNames(nest));
  int last = 0;
  for (const Buffer& buffer : nest.buffers) {
    if (OrderOf(buffer.scope) < last) {
      return Error(Concat({"buffer %", buffer.name,
                           ": expected inputs, then outputs, then others"}));
    }
    last = OrderOf(buffer.scope);
    Status status = CheckSize(nest, buffer);
    if (status.ok()) status = CheckShares(nest, buffer);
    if (!status.ok()) {
      return status.WithContext(Concat({"buffer %", buffer.name}));
    }
  }
  const Status status = CheckExtents(nest, nest.extents);
  if (!status.ok()) return status.WithContext("extents");
  for (const NodeId id : nest.wide) {
    if (nest.pool[id].type != DType::kI64)
      return Error("wide: expected values of type i64");
  }
  return OkStatus();
}

Status CheckNode(const LoopNest& nest, NodeId id) {
  const Node& node = nest.pool[id];
  const Status status = CheckOperands(nest, node);
  return status.ok() ? status : status.WithContext(InfoOf(node.opcode).text);
}

Status CheckIndexTypes(const LoopNest& nest, const Buffer& buffer,
                       std::span<const NodeId> indices) {
  if (indices.size() != buffer.extents.size()) {
    return Error(Concat({"expected ", buffer.extents.size(), " indices of %",
                         buffer.name, ", found ", indices.size()}));
  }
  for (NodeId index : indices) {
    const DType type = nest.pool[index].type;
    if (type == DType::kI64) continue;
    return Error(
        Concat({"expected indices of type i64, found ", DTypeName(type)}));
  }
  return OkStatus();
}

Status CheckRegisterCounts(const LoopNest& nest,
                           const std::vector<bool>& per_invocation) {
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const Buffer& buffer = nest.buffers[i];
    if (buffer.scope != MemoryScope::kRegister) continue;
    int64_t elements = 1;
    for (size_t d = per_invocation[i] ? 1 : 0; d < buffer.extents.size(); ++d)
      elements *= nest.pool.IntegerConstant(buffer.extents[d]).value_or(1);
    if (elements <= kMaxRegisterElements) continue;
    return InvalidArgumentError(Concat(
        {"buffer %", buffer.name, ": expected constant extents and at most ",
         kMaxRegisterElements, " elements in registers"}));
  }
  return OkStatus();
}

}  // namespace ember::loops
