// Branches, loops and sizes that depend on data.
#include "compiler/graph/operators.h"
#include "compiler/graph/symbols.h"
#include "compiler/lowering/program_emitter.h"

namespace ember::compiler {

using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::Shape;
using graph::Value;
using vm::ProgramOpcode;

// --- parts ---

uint32_t ProgramEmitter::EmitArithmetic(ProgramOpcode opcode, uint32_t a,
                                        uint32_t b) {
  const uint32_t result = builder_.NewInteger();
  builder_.Emit({opcode, result, a, b, 0});
  return result;
}

void ProgramEmitter::EmitMove(uint32_t to, uint32_t from) {
  builder_.Emit({ProgramOpcode::kMove, to, from, 0, 0});
}

uint32_t ProgramEmitter::EmitLoadScalar(const Value* value) {
  const uint32_t memory = BufferOf(StorageRoot(value));
  const uint32_t result = builder_.NewInteger();
  builder_.Emit({ProgramOpcode::kLoadInteger, result, memory,
                 static_cast<uint32_t>(value->dtype()), 0});
  return result;
}

size_t ProgramEmitter::EmitForwardBranch(ProgramOpcode opcode,
                                         uint32_t condition) {
  builder_.Emit({opcode, 0, condition, 0, 0});
  return builder_.program().instructions.size() - 1;
}

void ProgramEmitter::SetTarget(size_t branch) {
  auto& instructions = builder_.program().instructions;
  instructions[branch].immediate = static_cast<int64_t>(instructions.size());
}

StatusOr<uint32_t> ProgramEmitter::EmitRegion(const Graph& region,
                                              std::string_view what) {
  const std::string name = "p" +
                           std::to_string(module_.definition.programs.size()) +
                           "_" + std::string(what);
  return ProgramEmitter(region, plan_.OfRegion(region), module_, name)
      .Emit(/*is_entry=*/false);
}

std::vector<uint32_t> ProgramEmitter::ParameterRegisters(
    uint32_t program, const SymbolRegisters& inner) {
  std::vector<uint32_t> registers;
  for (const std::string& symbol :
       module_.definition.programs[program].parameters) {
    const auto found = inner.find(symbol);
    registers.push_back(found != inner.end()
                            ? found->second
                            : builder_.DimRegister(Dim::Symbol(symbol)));
  }
  return registers;
}

ProgramEmitter::CallResults ProgramEmitter::NewCallResults(uint32_t program) {
  CallResults results;
  for (const vm::TensorSignature& result :
       module_.definition.programs[program].results) {
    results.memory.push_back(builder_.NewBuffer());
    results.dims.emplace_back();
    for (size_t d = 0; d < result.dims.size(); ++d)
      results.dims.back().push_back(builder_.NewInteger());
  }
  return results;
}

void ProgramEmitter::EmitCall(uint32_t program, std::vector<uint32_t> operands,
                              const CallResults& results) {
  for (size_t i = 0; i < results.memory.size(); ++i) {
    operands.push_back(results.memory[i]);
    operands.insert(operands.end(), results.dims[i].begin(),
                    results.dims[i].end());
  }
  const uint32_t first = builder_.AddOperands(operands);
  builder_.Emit({ProgramOpcode::kCallProgram, program, first,
                 static_cast<uint32_t>(operands.size()), 0});
}

// --- operations ---

Status ProgramEmitter::EmitOperation(const Operation& operation) {
  if (operation.name() == "if") return EmitIf(operation);
  if (operation.name() == "loop") return EmitLoop(operation);
  if (operation.name() == "extents") {
    EmitExtents(operation);
  } else {
    EmitLibraryOperation(operation);
  }
  return OkStatus();
}

void ProgramEmitter::EmitExtents(const Operation& operation) {
  const uint32_t memory = BufferOf(StorageRoot(operation.operand(0)));
  const uint32_t below = builder_.DimRegister(Dim(-1));
  const int64_t message = AddMessage(
      "'" + operation.origin() +
      "': expected a size of at least 0, found one that is negative");
  int64_t offset = 0;
  for (const std::string& symbol : graph::DefinedSymbols(operation)) {
    const uint32_t value = builder_.NewInteger();
    builder_.Emit({ProgramOpcode::kLoadInteger, value, memory,
                   static_cast<uint32_t>(DType::kI64), offset});
    offset += DTypeByteSize(DType::kI64);
    const uint32_t fits = EmitArithmetic(ProgramOpcode::kLess, below, value);
    builder_.Emit({ProgramOpcode::kCheckTrue, 0, fits, 0, message});
    builder_.BindSymbol(symbol, value);
  }
}

Status ProgramEmitter::EmitIf(const Operation& operation) {
  uint32_t programs[2];
  std::vector<uint32_t> parameters[2];
  for (size_t side = 0; side < 2; ++side) {
    EMBER_ASSIGN_OR_RETURN(programs[side],
                           EmitRegion(*operation.regions()[side],
                                      operation.record().regions[side]));
    // Before the branch, so that they are there on both paths.
    parameters[side] = ParameterRegisters(programs[side], {});
  }
  std::vector<uint32_t> captures;
  for (const Value* captured : operation.operands().subspan(1))
    captures.push_back(BufferOf(StorageRoot(captured)));
  const uint32_t condition = EmitLoadScalar(operation.operand(0));
  const CallResults results = NewCallResults(programs[0]);
  const auto call = [&](size_t side) {
    std::vector<uint32_t> operands = parameters[side];
    operands.insert(operands.end(), captures.begin(), captures.end());
    EmitCall(programs[side], std::move(operands), results);
  };
  const size_t to_then = EmitForwardBranch(ProgramOpcode::kBranchIf, condition);
  call(1);
  const size_t to_end = EmitForwardBranch(ProgramOpcode::kBranch, 0);
  SetTarget(to_then);
  call(0);
  SetTarget(to_end);
  const std::vector<std::string> defined = graph::DefinedSymbols(operation);
  const std::set<std::string> defines(defined.begin(), defined.end());
  for (size_t i = 0; i < operation.results().size(); ++i) {
    const Value* result = operation.result(static_cast<int>(i));
    memory_of_[result] = results.memory[i];
    for (size_t d = 0; d < results.dims[i].size(); ++d) {
      const std::string symbol = result->shape()[d].ToString();
      if (defines.contains(symbol))
        builder_.BindSymbol(symbol, results.dims[i][d]);
    }
  }
  return OkStatus();
}

namespace {

// Registers of a loop while it runs.
struct LoopRegisters {
  uint32_t count = 0;  // iterations done
  uint32_t limit = 0;
  uint32_t proceed = 0;           // conditional loops
  uint32_t iteration_memory = 0;  // the number, for the body
  std::vector<uint32_t> carried;
  std::vector<std::vector<uint32_t>> carried_dims;
  std::vector<uint32_t> scanned, slice_bytes, slice_offset;
  std::vector<uint32_t> stacked, used, piece_bytes;
  std::vector<std::vector<uint32_t>> piece_dims;
};

}  // namespace

Status ProgramEmitter::EmitLoop(const Operation& operation) {
  const graph::LoopParts parts(operation);
  const Graph& body = *operation.regions()[0];
  EMBER_ASSIGN_OR_RETURN(const uint32_t program, EmitRegion(body, "body"));
  const uint32_t zero = builder_.DimRegister(Dim(0));
  const uint32_t one = builder_.DimRegister(Dim(1));
  const Dim& trip = operation.attributes().Get<Shape>("trip")[0];
  LoopRegisters loop;

  // Before the first iteration. All dims that the loop uses get their registers
  // here: what is computed inside is not there after a loop of no iterations.
  loop.count = builder_.NewInteger();
  EmitMove(loop.count, zero);
  if (parts.conditional) {
    loop.limit = EmitLoadScalar(operation.operand(0));
    const uint32_t condition = EmitLoadScalar(operation.operand(1));
    loop.proceed = builder_.NewInteger();
    EmitMove(loop.proceed, condition);
  } else {
    loop.limit = builder_.DimRegister(trip);
  }
  loop.iteration_memory = builder_.NewBuffer();
  Allocate(loop.iteration_memory, Dim(DTypeByteSize(DType::kI64)));
  SymbolRegisters inner;
  for (size_t i = 0; i < parts.carried.size(); ++i) {
    const Value* initial = parts.carried[i];
    loop.carried.push_back(builder_.NewBuffer());
    builder_.Emit({ProgramOpcode::kMoveBuffer, loop.carried.back(),
                   BufferOf(StorageRoot(initial)), 0, 0});
    loop.carried_dims.emplace_back();
    const Shape& inside = body.inputs()[1 + i]->shape();
    for (size_t d = 0; d < inside.size(); ++d) {
      const uint32_t dim = builder_.NewInteger();
      EmitMove(dim, builder_.DimRegister(initial->shape()[d]));
      loop.carried_dims.back().push_back(dim);
      if (inside[d] != initial->shape()[d]) inner[inside[d].ToString()] = dim;
    }
  }
  for (const Value* scanned : parts.scanned) {
    loop.scanned.push_back(BufferOf(StorageRoot(scanned)));
    const Shape slice(scanned->shape().begin() + 1, scanned->shape().end());
    loop.slice_bytes.push_back(
        builder_.DimRegister(ByteSize({scanned->dtype(), slice})));
    loop.slice_offset.push_back(builder_.NewInteger());
    EmitMove(loop.slice_offset.back(), zero);
  }
  std::vector<uint32_t> captures;
  for (const Value* captured : parts.captured)
    captures.push_back(BufferOf(StorageRoot(captured)));
  const std::vector<uint32_t> parameters = ParameterRegisters(program, inner);
  const CallResults results = NewCallResults(program);
  const size_t first_carried = parts.conditional ? 1 : 0;
  const size_t first_stacked = first_carried + parts.carried.size();
  for (size_t i = first_stacked; i < results.memory.size(); ++i) {
    loop.stacked.push_back(builder_.NewBuffer());
    Allocate(loop.stacked.back(), Dim(0));
    loop.used.push_back(builder_.NewInteger());
    EmitMove(loop.used.back(), zero);
    loop.piece_dims.emplace_back();
    for (size_t d = 0; d < results.dims[i].size(); ++d) {
      loop.piece_dims.back().push_back(builder_.NewInteger());
      EmitMove(loop.piece_dims.back().back(), zero);
    }
  }
  std::vector<uint32_t> element_bytes;
  for (size_t i = 0; i < loop.stacked.size(); ++i) {
    element_bytes.push_back(builder_.DimRegister(
        Dim(DTypeByteSize(body.outputs()[first_stacked + i]->dtype()))));
  }

  // Each iteration.
  const size_t head = builder_.program().instructions.size();
  uint32_t more = EmitArithmetic(ProgramOpcode::kLess, loop.count, loop.limit);
  if (parts.conditional)
    more = EmitArithmetic(ProgramOpcode::kMinimum, more, loop.proceed);
  const size_t to_body = EmitForwardBranch(ProgramOpcode::kBranchIf, more);
  const size_t to_end = EmitForwardBranch(ProgramOpcode::kBranch, 0);
  SetTarget(to_body);
  builder_.Emit(
      {ProgramOpcode::kStoreInteger, loop.iteration_memory, loop.count, 0, 0});
  std::vector<uint32_t> operands = parameters;
  operands.push_back(loop.iteration_memory);
  operands.insert(operands.end(), loop.carried.begin(), loop.carried.end());
  for (size_t i = 0; i < loop.scanned.size(); ++i) {
    const uint32_t slice = builder_.NewBuffer();
    builder_.Emit({ProgramOpcode::kSliceAt, slice, loop.scanned[i],
                   loop.slice_offset[i], loop.slice_bytes[i]});
    operands.push_back(slice);
  }
  operands.insert(operands.end(), captures.begin(), captures.end());
  EmitCall(program, std::move(operands), results);
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    builder_.Emit({ProgramOpcode::kMoveBuffer, loop.carried[i],
                   results.memory[first_carried + i], 0, 0});
    // Else the memory of two iterations back would be held.
    builder_.Emit({ProgramOpcode::kRelease, results.memory[first_carried + i]});
    for (size_t d = 0; d < loop.carried_dims[i].size(); ++d) {
      EmitMove(loop.carried_dims[i][d], results.dims[first_carried + i][d]);
    }
  }
  for (size_t i = 0; i < loop.stacked.size(); ++i) {
    const size_t number = first_stacked + i;
    // Pieces must agree in shape: only the first may choose it.
    const Shape& piece = body.outputs()[number]->shape();
    uint32_t bytes = element_bytes[i];
    for (size_t d = 0; d < piece.size(); ++d) {
      const uint32_t dim = results.dims[number][d];
      bytes = EmitArithmetic(ProgramOpcode::kMultiply, bytes, dim);
      if (piece[d].is_constant()) continue;
      const uint32_t first =
          EmitArithmetic(ProgramOpcode::kEqual, loop.count, zero);
      const uint32_t same =
          EmitArithmetic(ProgramOpcode::kEqual, dim, loop.piece_dims[i][d]);
      const uint32_t fits =
          EmitArithmetic(ProgramOpcode::kMaximum, first, same);
      builder_.Emit({ProgramOpcode::kCheckTrue, 0, fits, 0,
                     AddMessage("'" + operation.origin() +
                                "': expected values of one shape from all "
                                "iterations, found another")});
      EmitMove(loop.piece_dims[i][d], dim);
    }
    builder_.Emit({ProgramOpcode::kAppend, loop.stacked[i], loop.used[i],
                   results.memory[number], static_cast<int64_t>(bytes)});
    builder_.Emit({ProgramOpcode::kRelease, results.memory[number]});
    builder_.Emit({ProgramOpcode::kAdd, loop.used[i], loop.used[i], bytes, 0});
  }
  if (parts.conditional) {
    builder_.Emit({ProgramOpcode::kLoadInteger, loop.proceed, results.memory[0],
                   static_cast<uint32_t>(DType::kBool), 0});
  }
  for (size_t i = 0; i < loop.scanned.size(); ++i) {
    builder_.Emit({ProgramOpcode::kAdd, loop.slice_offset[i],
                   loop.slice_offset[i], loop.slice_bytes[i], 0});
  }
  builder_.Emit({ProgramOpcode::kAdd, loop.count, loop.count, one, 0});
  builder_.Emit({ProgramOpcode::kBranch, 0, 0, 0, static_cast<int64_t>(head)});
  SetTarget(to_end);

  // After the last.
  const std::vector<std::string> defined = graph::DefinedSymbols(operation);
  const std::set<std::string> defines(defined.begin(), defined.end());
  const auto define = [&](const Dim& dim, uint32_t value) {
    if (!dim.is_constant() && defines.contains(dim.ToString()) &&
        !builder_.IsBound(dim.ToString())) {
      builder_.BindSymbol(dim.ToString(), value);
    }
  };
  define(trip, loop.count);
  for (size_t i = 0; i < operation.results().size(); ++i) {
    const Value* result = operation.result(static_cast<int>(i));
    if (i < loop.carried.size()) {
      memory_of_[result] = loop.carried[i];
      for (size_t d = 0; d < loop.carried_dims[i].size(); ++d)
        define(result->shape()[d], loop.carried_dims[i][d]);
      continue;
    }
    const size_t number = i - loop.carried.size();
    memory_of_[result] = loop.stacked[number];
    for (size_t d = 0; d < loop.piece_dims[number].size(); ++d)
      define(result->shape()[d + 1], loop.piece_dims[number][d]);
  }
  return OkStatus();
}

}  // namespace ember::compiler
