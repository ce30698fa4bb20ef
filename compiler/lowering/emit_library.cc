// Emits operations that are calls of library functions. The operator's record
// names the function and its operands (compiler/graph/program_form.h).
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "compiler/graph/operators.h"
#include "compiler/lowering/library_operands.h"
#include "compiler/lowering/program_emitter.h"

namespace ember::compiler {

using graph::CallOperand;
using graph::Dim;
using graph::Operation;
using graph::ResultMemory;
using graph::Shape;
using graph::Value;
using vm::LibraryFunction;
using vm::ProgramOpcode;

namespace {

Dim Product(const Shape& shape, size_t begin, size_t end) {
  return ElementCount(Shape(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                            shape.begin() + static_cast<std::ptrdiff_t>(end)));
}

// Returns the integer that the call passes for this operand, as an expression
// of dims.
Dim IntegerOperand(const Operation& operation, const CallOperand& operand) {
  using Kind = CallOperand::Kind;
  const auto& attributes = operation.attributes();
  const auto type = [](const Value* value) {
    return Dim(static_cast<int64_t>(value->dtype()));
  };
  const auto shape = [&]() -> const Shape& {
    return operation.operand(operand.number)->shape();
  };
  const auto axis = [&] {
    return static_cast<size_t>(attributes.Get<int64_t>(operand.attribute));
  };
  switch (operand.kind) {
    case Kind::kType:
      return type(operation.operand(operand.number));
    case Kind::kResultType:
      return type(operation.result(operand.number));
    case Kind::kCount:
      return ElementCount(shape());
    case Kind::kDim:
      return shape()[static_cast<size_t>(operand.dim)];
    case Kind::kBeforeAxis:
      return Product(shape(), 0, axis());
    case Kind::kAxis:
      return shape()[axis()];
    case Kind::kBehindAxis:
      return Product(shape(), axis() + 1, shape().size());
    case Kind::kInteger:
      return Dim(attributes.Get<int64_t>(operand.attribute));
    case Kind::kExtent:
      return attributes.Get<Shape>(operand.attribute)[0];
    case Kind::kFound:
    case Kind::kMemory:
    case Kind::kResultMemory:
      break;
  }
  EMBER_CHECK(false) << operation.name() << ": no integer";
  __builtin_unreachable();
}

}  // namespace

uint32_t ProgramEmitter::ResultRegister(const Operation& operation,
                                        int result) {
  const ResultMemory memory = operation.record().result_memory;
  const bool is_made = memory == ResultMemory::kMade ||
                       (memory == ResultMemory::kFirstMade && result == 0);
  const Value* value = operation.result(result);
  return is_made ? memory_of_[value] = builder_.NewBuffer() : BufferOf(value);
}

void ProgramEmitter::EmitLibraryCall(const Operation& operation) {
  const graph::LibraryCall& call = operation.record().call;
  const LibraryFunction function = FunctionNamed(call.function);
  const std::vector<std::string> defined = graph::DefinedSymbols(operation);
  const uint32_t found = defined.empty() ? 0 : builder_.NewInteger();
  std::vector<uint32_t> operands;
  for (const CallOperand& operand : call.operands) {
    switch (operand.kind) {
      case CallOperand::Kind::kMemory:
        operands.push_back(
            BufferOf(StorageRoot(operation.operand(operand.number))));
        break;
      case CallOperand::Kind::kResultMemory:
        operands.push_back(ResultRegister(operation, operand.number));
        break;
      case CallOperand::Kind::kFound:
        operands.push_back(found);
        break;
      default:
        operands.push_back(
            builder_.DimRegister(IntegerOperand(operation, operand)));
    }
  }
  const uint32_t first = builder_.AddOperands(operands);
  builder_.Emit({ProgramOpcode::kLibraryCall, static_cast<uint32_t>(function),
                 first, static_cast<uint32_t>(operands.size()), 0});
  // The symbol gets its register only after the call: the call computes its
  // value, on which the sizes of later values depend.
  if (!defined.empty()) builder_.BindSymbol(defined.front(), found);
}

}  // namespace ember::compiler
