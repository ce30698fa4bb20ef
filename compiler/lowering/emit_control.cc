// Emits branches (`if`), the operator `extents` (sizes that depend on data),
// and calls of regions' programs, which loops use as well.
#include "base/check.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/operators/symbols.h"
#include "compiler/lowering/program_emitter.h"

namespace ember::compiler {

using graph::Attribute;
using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::ProgramForm;
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
  switch (operation.record().form) {
    case ProgramForm::kSizes:
      EmitExtents(operation);
      return OkStatus();
    case ProgramForm::kBranch:
      return EmitIf(operation);
    case ProgramForm::kLoop:
      return EmitLoop(operation);
    case ProgramForm::kCall:
      EmitLibraryCall(operation);
      return OkStatus();
    case ProgramForm::kNone:
      break;
  }
  EMBER_CHECK(false) << operation.name() << " is not run by the program";
  __builtin_unreachable();
}

void ProgramEmitter::EmitExtents(const Operation& operation) {
  const uint32_t memory = BufferOf(StorageRoot(operation.operand(0)));
  const uint32_t below = builder_.DimRegister(Dim(-1));
  const Attribute* check = operation.attributes().Find("message");
  const int64_t message = AddMessage(
      "'" + operation.origin() + "': " +
      (check != nullptr
           ? std::get<std::string>(*check)
           : "expected a size of at least 0, found one that is negative"));
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
    // The registers that hold the parameters of both branches' programs are set
    // before the branch instruction, so that they have values on either path.
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

}  // namespace ember::compiler
