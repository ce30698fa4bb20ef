// Operations that are calls of library functions.
#include "compiler/graph/operators.h"
#include "compiler/lowering/program_emitter.h"

namespace ember::compiler {

using graph::Dim;
using graph::Operation;
using graph::Shape;
using graph::Value;
using vm::LibraryFunction;
using vm::ProgramOpcode;

namespace {

Dim Product(const Shape& shape, size_t begin, size_t end) {
  return ElementCount(Shape(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                            shape.begin() + static_cast<std::ptrdiff_t>(end)));
}

}  // namespace

uint32_t ProgramEmitter::CountRegister(const Value* value) {
  return builder_.DimRegister(ElementCount(value->shape()));
}

uint32_t ProgramEmitter::TypeRegister(DType type) {
  return builder_.DimRegister(Dim(static_cast<int64_t>(type)));
}

uint32_t ProgramEmitter::NewBufferOf(const Value* value) {
  return memory_of_[value] = builder_.NewBuffer();
}

void ProgramEmitter::EmitLibraryCall(LibraryFunction function,
                                     const std::vector<uint32_t>& operands) {
  const uint32_t first = builder_.AddOperands(operands);
  builder_.Emit({ProgramOpcode::kLibraryCall, static_cast<uint32_t>(function),
                 first, static_cast<uint32_t>(operands.size()), 0});
}

void ProgramEmitter::EmitLibraryOperation(const Operation& operation) {
  if (EmitStringOperation(operation)) return;
  const auto& attributes = operation.attributes();
  const Value* x = operation.operand(0);
  const uint32_t memory = BufferOf(StorageRoot(x));
  const auto integer = [&](int64_t value) {
    return builder_.DimRegister(Dim(value));
  };
  // The count that a function found becomes the value of the defined symbol.
  const auto define_count = [&](uint32_t count) {
    builder_.BindSymbol(graph::DefinedSymbols(operation).front(), count);
  };
  if (operation.name() == "top_k") {
    const auto axis = static_cast<size_t>(attributes.Get<int64_t>("axis"));
    const Shape& shape = x->shape();
    EmitLibraryCall(
        LibraryFunction::kTopK,
        {TypeRegister(x->dtype()),
         builder_.DimRegister(Product(shape, 0, axis)),
         builder_.DimRegister(shape[axis]),
         builder_.DimRegister(Product(shape, axis + 1, shape.size())),
         builder_.DimRegister(attributes.Get<Shape>("k")[0]),
         integer(attributes.Get<int64_t>("largest")), memory,
         BufferOf(operation.result(0)), BufferOf(operation.result(1))});
  } else if (operation.name() == "non_zero") {
    const uint32_t count = builder_.NewInteger();
    EmitLibraryCall(LibraryFunction::kNonZero,
                    {TypeRegister(x->dtype()), CountRegister(x), memory,
                     NewBufferOf(operation.result()), count});
    define_count(count);
  } else if (operation.name() == "unique") {
    const uint32_t count = builder_.NewInteger();
    std::vector<uint32_t> operands = {
        TypeRegister(x->dtype()), builder_.DimRegister(x->shape()[0]),
        builder_.DimRegister(x->shape()[1]),
        integer(attributes.Get<int64_t>("sorted")), memory};
    for (const auto& result : operation.results())
      operands.push_back(NewBufferOf(result.get()));
    operands.push_back(count);
    EmitLibraryCall(LibraryFunction::kUnique, operands);
    define_count(count);
  } else {
    EMBER_CHECK(operation.name() == "non_max_suppression")
        << operation.name() << " is not run by the program";
    const Value* scores = operation.operand(1);
    const uint32_t count = builder_.NewInteger();
    EmitLibraryCall(LibraryFunction::kNonMaxSuppression,
                    {builder_.DimRegister(scores->shape()[0]),
                     builder_.DimRegister(scores->shape()[1]),
                     builder_.DimRegister(scores->shape()[2]),
                     builder_.DimRegister(attributes.Get<Shape>("most")[0]),
                     integer(attributes.Get<int64_t>("centered")), memory,
                     BufferOf(StorageRoot(scores)),
                     BufferOf(StorageRoot(operation.operand(2))),
                     NewBufferOf(operation.result()), count});
    define_count(count);
  }
}

}  // namespace ember::compiler
