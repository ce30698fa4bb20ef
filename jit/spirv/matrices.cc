#include "jit/spirv/matrices.h"

#include <optional>

#include "base/concat.h"

namespace ember::jit::spirv {

using loops::MatrixInMemory;
using loops::Statement;
using tensor::NodeId;

void Matrices::Emit(const Statement& loop, NodeId subgroup) {
  const StatusOr<Operation> found =
      loops::MatrixOperationOf(nest_, loop, subgroup);
  if (!found.ok()) {
    if (error_.ok()) error_ = found.status();
    return;
  }
  const Operation& operation = *found;
  // The variables of the matrix loops are bound to 0, so that addresses are
  // those of the matrix's first element.
  int bound = 0;
  const auto bind = [&](NodeId variable) {
    expressions_.EnterBinding(variable, c_.Int(0), 0);
    ++bound;
  };
  bind(operation.m);
  bind(operation.n);
  if (operation.kind == Operation::Kind::kProduct) bind(operation.k);
  switch (operation.kind) {
    case Operation::Kind::kFill:
      EmitFill(operation);
      break;
    case Operation::Kind::kProduct:
      EmitProduct(operation);
      break;
    case Operation::Kind::kStore:
      EmitStore(operation);
      break;
  }
  for (; bound > 0; --bound) expressions_.Leave();
}

Id Matrices::TypeOf(DType type, bool is_unsigned, int64_t rows, int64_t columns,
                    MatrixUse use) {
  ModuleBuilder& module = c_.module();
  module.Require(kMatrixCapability);
  module.RequireExtension(kMatrixExtension);
  Id component = 0;
  switch (type) {
    case DType::kF16:
      module.Require(spv::Capability::Float16);
      component = module.TypeOf(Scalar::kF16);
      break;
    case DType::kI8:
    case DType::kU8:
      module.Require(spv::Capability::Int8);
      component = module.IntegerType(8, type == DType::kI8);
      break;
    case DType::kI32:
      component = module.IntegerType(32, !is_unsigned);
      break;
    default:
      component = module.TypeOf(Scalar::kF32);
      break;
  }
  return module.MatrixType(component, static_cast<uint32_t>(rows),
                           static_cast<uint32_t>(columns), use);
}

Id Matrices::AccumulatorType(const Operation& operation) {
  const uint32_t number = operation.accumulator;
  return TypeOf(nest_.buffers[number].type,
                workgroup_.storage[number].is_unsigned, operation.rows,
                operation.columns, MatrixUse::kAccumulator);
}

Id Matrices::Accumulator(const Operation& operation) {
  const uint32_t number = operation.accumulator;
  const loops::Buffer& buffer = nest_.buffers[number];
  const Value element =
      expressions_.Element(number, operation.accumulator_indices);
  const std::optional<uint64_t> known = c_.Known(element);
  if (!known && error_.ok()) {
    error_ =
        InternalError(Concat({"buffer %", buffer.name,
                              ": expected a constant matrix of accumulators"}));
  }
  Id& variable = accumulators_[{number, known.value_or(0)}];
  if (variable == 0) {
    variable = c_.Local(AccumulatorType(operation),
                        Concat({buffer.name, "_", accumulators_.size() - 1}));
  }
  return variable;
}

void Matrices::EmitFill(const Operation& operation) {
  const DType type = nest_.buffers[operation.accumulator].type;
  Value value = expressions_.Emit(operation.value);
  Id component = value.id;
  if (type == DType::kF16) {
    component = c_.ConvertFloat(Scalar::kF16, value).id;
  } else if (type == DType::kI32 &&
             !workgroup_.storage[operation.accumulator].is_unsigned) {
    component = c_.module().NewId();
    c_.Effect(spv::Op::OpBitcast,
              {c_.module().IntegerType(32, true), component, value.id});
  }
  const Id matrix = c_.module().NewId();
  c_.Effect(spv::Op::OpCompositeConstruct,
            {AccumulatorType(operation), matrix, component});
  c_.StoreOf(Accumulator(operation), matrix);
}

Id Matrices::Load(const MatrixInMemory& matrix, int64_t rows, int64_t columns,
                  MatrixUse use) {
  const DType type = nest_.buffers[matrix.buffer].type;
  const Id matrix_type =
      TypeOf(type, /*is_unsigned=*/false, rows, columns, use);
  return memory_.LoadMatrix(matrix.buffer,
                            expressions_.Element(matrix.buffer, matrix.indices),
                            matrix_type,
                            {matrix.IsRowMajor() ? MatrixLayout::kRowMajor
                                                 : MatrixLayout::kColumnMajor,
                             static_cast<uint32_t>(matrix.stride())});
}

void Matrices::EmitProduct(const Operation& operation) {
  const auto type_of = [&](uint32_t buffer) {
    return nest_.buffers[buffer].type;
  };
  const Id a =
      Load(operation.a, operation.rows, operation.depth, MatrixUse::kA);
  const Id b =
      Load(operation.b, operation.depth, operation.columns, MatrixUse::kB);
  uint32_t operands = 0;
  if (type_of(operation.accumulator) == DType::kI32) {
    if (type_of(operation.a.buffer) == DType::kI8) operands |= kSignedA;
    if (type_of(operation.b.buffer) == DType::kI8) operands |= kSignedB;
    if (!workgroup_.storage[operation.accumulator].is_unsigned)
      operands |= kSignedC | kSignedResult;
  }
  const Id type = AccumulatorType(operation);
  const Id variable = Accumulator(operation);
  const Id before = c_.module().NewId(), after = c_.module().NewId();
  c_.Effect(spv::Op::OpLoad, {type, before, variable});
  if (operands != 0) {
    c_.Effect(kOpMatrixMulAdd, {type, after, a, b, before, operands});
  } else {
    c_.Effect(kOpMatrixMulAdd, {type, after, a, b, before});
  }
  c_.StoreOf(variable, after);
  ++phase_.multiply_adds;
}

void Matrices::EmitStore(const Operation& operation) {
  const MatrixInMemory& to = operation.destination;
  const Id matrix = c_.module().NewId();
  c_.Effect(spv::Op::OpLoad,
            {AccumulatorType(operation), matrix, Accumulator(operation)});
  memory_.StoreMatrix(
      to.buffer, expressions_.Element(to.buffer, to.indices), matrix,
      {to.IsRowMajor() ? MatrixLayout::kRowMajor : MatrixLayout::kColumnMajor,
       static_cast<uint32_t>(to.stride())});
}

}  // namespace ember::jit::spirv
