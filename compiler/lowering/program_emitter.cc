#include "compiler/lowering/program_emitter.h"

#include <algorithm>

#include "base/hash.h"
#include "compiler/graph/builder/broadcasting.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/operators/symbols.h"
#include "compiler/passes/constant_value.h"

namespace ember::compiler {

using graph::Dim;
using graph::Operation;
using graph::OperatorTrait;
using graph::ResultMemory;
using graph::Value;
using vm::ProgramOpcode;

namespace {

// True for an operation that only replaces dims by others which are assumed to
// be equal (`assume`). It shares its operand's memory; the program checks the
// assumption.
bool AssumesDims(const Operation& operation) {
  return SharesMemory(operation) &&
         operation.record().reading == graph::Reading::kOnce &&
         operation.operand(0)->shape() != operation.result()->shape();
}

// Returns the text of the error if two dims that are assumed to be equal
// differ; the run appends their values. If the assumption is about a broadcast,
// the text names its dims, because the assumed expression (graph::UnitOr) is
// hard to read.
std::string Assumption(const Dim& actual, const Dim& assumed) {
  const std::set<std::string> own = actual.Symbols();
  if (own.size() == 1 && actual == Dim::Symbol(*own.begin())) {
    const Dim extent = assumed.Substitute({{*own.begin(), Dim(2)}});
    if (extent.is_constant() && assumed == graph::UnitOr(actual, extent)) {
      return "dims " + actual.ToString() + " and " + extent.ToString() +
             " cannot be broadcast";
    }
  }
  for (const std::string& symbol : assumed.Symbols()) {
    const Dim other = Dim::Symbol(symbol);
    if (other == actual) continue;
    for (const Dim& extent : {other, graph::BroadcastExtent({actual, other}),
                              graph::BroadcastExtent({other, actual})}) {
      if (assumed != graph::UnitOr(actual, extent)) continue;
      return "dims " + actual.ToString() + " and " + symbol +
             " cannot be broadcast";
    }
  }
  const auto is_of_data = [](const Dim& dim) {
    return std::ranges::any_of(dim.Symbols(), [](const std::string& symbol) {
      return symbol.starts_with('_');
    });
  };
  const bool are_taken_equal = graph::MayBroadcast(actual, assumed) &&
                               (is_of_data(actual) || is_of_data(assumed));
  return "dim " + actual.ToString() + " must be " + assumed.ToString() +
         (are_taken_equal
              ? " (they are taken to be equal, as data gives one of them)"
              : "");
}

}  // namespace

StatusOr<uint32_t> ProgramEmitter::Emit(bool is_entry) {
  // A region's program gets a higher number than the program around it, because
  // a program may only call programs of higher numbers.
  const auto number = static_cast<uint32_t>(module_.definition.programs.size());
  module_.definition.programs.emplace_back();
  for (const Value* output : graph_.outputs())
    results_.insert(StorageRoot(output));
  for (const auto& operation : graph_.operations()) {
    if (AssumesDims(*operation))
      pending_assumptions_.push_back(operation.get());
  }
  BuildSteps();
  memory_ = PlanMemory(steps_, results_);
  EMBER_RETURN_IF_ERROR(EmitSignature(is_entry));
  EmitPendingAssumptions();
  if (memory_.arena_bytes > 0) {
    arena_ = builder_.NewBuffer();
    builder_.Emit({ProgramOpcode::kArena, arena_, 0, 0, memory_.arena_bytes});
  }
  EmitBlocksInArena();
  for (int i = 0; i < static_cast<int>(steps_.size()); ++i)
    EMBER_RETURN_IF_ERROR(EmitStep(i));
  EmitResults();
  builder_.Emit({ProgramOpcode::kReturn});
  module_.definition.programs[number] = std::move(builder_.program());
  return number;
}

// --- dispatches ---

void ProgramEmitter::BuildDispatchStep(const FusionGroup& group) {
  DispatchRequest request;
  request.name = DispatchName(group, module_.definition.dispatches.size());
  request.operations = group.operations;
  request.outputs = OutputsOf(plan_, group);
  dispatches_.push_back(BuildDispatch(request, plan_.stored));
  const BuiltDispatch& built = dispatches_.back();
  steps_.push_back({.dispatch = &built,
                    .dispatch_number = static_cast<uint32_t>(
                        module_.definition.dispatches.size()),
                    .inputs = built.inputs,
                    .outputs = built.outputs});
  std::string origin;
  std::set<std::string> seen;
  for (const Operation* operation : group.operations) {
    if (operation->origin().empty() || !seen.insert(operation->origin()).second)
      continue;
    origin += (origin.empty() ? "" : " + ") + operation->origin();
  }
  module_.definition.dispatch_origins.push_back(origin);
  module_.definition.dispatches.push_back(built.dispatch);
}

namespace {

void AddResults(const Operation& operation, Step& step) {
  for (size_t i = 0; i < operation.results().size(); ++i) {
    const Value* result = operation.results()[i].get();
    switch (operation.record().result_memory) {
      case ResultMemory::kOperand:
        break;
      case ResultMemory::kGiven:
        step.outputs.push_back(result);
        break;
      case ResultMemory::kMade:
        step.made.push_back(result);
        break;
      case ResultMemory::kFirstMade:
        (i == 0 ? step.made : step.outputs).push_back(result);
        break;
    }
  }
}

}  // namespace

void ProgramEmitter::BuildSteps() {
  for (const FusionGroup& group : plan_.groups) {
    const Operation& operation = *group.operations.front();
    if (operation.record().trait != OperatorTrait::kProgram) {
      BuildDispatchStep(group);
      continue;
    }
    Step step{.operation = &operation};
    for (const Value* operand : operation.operands())
      step.inputs.push_back(StorageRoot(operand));
    AddResults(operation, step);
    steps_.push_back(std::move(step));
  }
}

void ProgramEmitter::EmitDispatch(const Step& step) {
  const tensor::Dispatch& dispatch = step.dispatch->dispatch;
  std::vector<uint32_t> operands;
  for (const std::string& parameter : dispatch.parameters)
    operands.push_back(builder_.DimRegister(Dim::Symbol(parameter)));
  for (const Value* input : step.inputs) operands.push_back(BufferOf(input));
  for (const Value* output : step.outputs) operands.push_back(BufferOf(output));
  const uint32_t first = builder_.AddOperands(operands);
  builder_.Emit({ProgramOpcode::kDispatch, step.dispatch_number, first,
                 static_cast<uint32_t>(operands.size()), 0});
}

Status ProgramEmitter::EmitStep(int index) {
  const Step& step = steps_[static_cast<size_t>(index)];
  for (size_t i = 0; i < memory_.blocks.size(); ++i) {
    const MemoryBlock& block = memory_.blocks[i];
    if (block.arena_offset < 0 && block.first_step == index)
      Allocate(block_registers_[i], block.bytes);
  }
  if (step.dispatch != nullptr) {
    EmitDispatch(step);
  } else {
    EMBER_RETURN_IF_ERROR(EmitOperation(*step.operation));
    EmitPendingAssumptions();
  }
  for (size_t i = 0; i < memory_.blocks.size(); ++i) {
    const MemoryBlock& block = memory_.blocks[i];
    if (block.arena_offset < 0 && block.last_step == index)
      builder_.Emit({ProgramOpcode::kRelease, block_registers_[i]});
  }
  const auto dead = memory_.dead_after.find(index);
  if (dead == memory_.dead_after.end()) return OkStatus();
  for (const Value* value : dead->second)
    builder_.Emit({ProgramOpcode::kRelease, BufferOf(value)});
  return OkStatus();
}

// --- the program's signature and the memory of values ---

vm::TensorSignature ProgramEmitter::Signature(const std::string& name,
                                              const graph::TensorType& type) {
  vm::TensorSignature signature{name, type.dtype, {}};
  for (const Dim& dim : type.shape) {
    if (dim.is_constant()) {
      signature.dims.push_back(dim.constant());
      continue;
    }
    // The signature names a dim by its symbol only if the symbol has a value
    // when the program begins; otherwise it says "?".
    const std::set<std::string> symbols = dim.Symbols();
    const bool is_symbol = symbols.size() == 1 &&
                           dim == Dim::Symbol(*symbols.begin()) &&
                           builder_.IsBound(*symbols.begin());
    signature.dims.push_back(
        -1 - builder_.SymbolNumber(is_symbol ? *symbols.begin() : "?"));
  }
  return signature;
}

// Binds the symbols that are dims of an input of the entry program to the
// registers of these dims.
Status ProgramEmitter::BindInputDims(const Value& input, uint32_t number) {
  for (int d = 0; d < input.rank(); ++d) {
    const Dim& dim = input.shape()[static_cast<size_t>(d)];
    if (dim.is_constant()) continue;
    const std::set<std::string> symbols = dim.Symbols();
    if (symbols.size() != 1 || dim != Dim::Symbol(*symbols.begin())) {
      return UnimplementedError("input '" + input.name() + "': dim " +
                                std::to_string(d) + " is the expression " +
                                dim.ToString() +
                                "; inputs take constants and symbols");
    }
    if (builder_.IsBound(*symbols.begin())) continue;
    const uint32_t extent = builder_.NewInteger();
    builder_.Emit({ProgramOpcode::kInputDim, extent, number, 0, d});
    builder_.BindSymbol(*symbols.begin(), extent);
  }
  return OkStatus();
}

Status ProgramEmitter::EmitSignature(bool is_entry) {
  vm::Program& program = builder_.program();
  if (!is_entry) {
    for (const std::string& symbol : graph::FreeSymbols(graph_)) {
      program.parameters.push_back(symbol);
      builder_.BindSymbol(symbol, builder_.NewInteger());
    }
  }
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    const Value* input = graph_.inputs()[i];
    const auto number = static_cast<uint32_t>(i);
    memory_of_[input] = builder_.NewBuffer();
    builder_.Emit(
        {ProgramOpcode::kInputBuffer, memory_of_[input], number, 0, 0});
    if (is_entry) EMBER_RETURN_IF_ERROR(BindInputDims(*input, number));
    program.inputs.push_back(Signature(input->name(), input->type()));
    program.inputs.back().logical_type = graph_.input_logical_types()[i];
  }
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    program.results.push_back(
        Signature(graph_.output_names()[i], graph_.outputs()[i]->type()));
    program.results.back().logical_type = graph_.output_logical_types()[i];
  }
  return OkStatus();
}

int64_t ProgramEmitter::AddMessage(std::string message) {
  auto& messages = builder_.program().messages;
  messages.push_back(std::move(message));
  return static_cast<int64_t>(messages.size()) - 1;
}

// Emits comparisons of dims that the graph assumes to be equal, as soon as the
// dims are known, before any code runs that relies on the equality.
void ProgramEmitter::EmitPendingAssumptions() {
  const auto known = [&](const Operation& operation) {
    std::set<std::string> symbols;
    graph::CollectSymbols(operation, symbols);
    return std::all_of(
        symbols.begin(), symbols.end(),
        [&](const std::string& symbol) { return builder_.IsBound(symbol); });
  };
  std::vector<const Operation*> pending;
  for (const Operation* operation : pending_assumptions_) {
    if (!known(*operation)) {
      pending.push_back(operation);
      continue;
    }
    const graph::Shape& actual = operation->operand(0)->shape();
    const graph::Shape& assumed = operation->result()->shape();
    for (size_t i = 0; i < actual.size(); ++i) {
      if (actual[i] == assumed[i]) continue;
      if (!checked_assumptions_
               .insert({actual[i].ToString(), assumed[i].ToString()})
               .second)
        continue;
      const int64_t message = AddMessage("'" + operation->origin() + "': " +
                                         Assumption(actual[i], assumed[i]));
      const uint32_t found = builder_.DimRegister(actual[i]);
      const uint32_t expected = builder_.DimRegister(assumed[i]);
      builder_.Emit({ProgramOpcode::kCheckEqual, 0, found, expected, message});
    }
  }
  pending_assumptions_ = std::move(pending);
}

void ProgramEmitter::EmitBlocksInArena() {
  block_registers_.resize(memory_.blocks.size());
  for (size_t i = 0; i < memory_.blocks.size(); ++i) {
    const MemoryBlock& block = memory_.blocks[i];
    block_registers_[i] = builder_.NewBuffer();
    if (block.arena_offset < 0) continue;
    const uint32_t length = builder_.DimRegister(block.bytes);
    builder_.Emit({ProgramOpcode::kView, block_registers_[i], arena_, length,
                   block.arena_offset});
  }
}

void ProgramEmitter::Allocate(uint32_t buffer, const Dim& bytes) {
  const uint32_t size = builder_.DimRegister(bytes);
  builder_.Emit({ProgramOpcode::kAllocate, buffer, size, 0, 0});
}

uint32_t ProgramEmitter::EmitConstant(const Operation& constant,
                                      const Value& value) {
  const auto& data = constant.attributes().Get<graph::ConstantData>("value");
  auto& constants = module_.definition.constants;
  // Constants with the same address of bytes are one constant, unless they have
  // no bytes (and so no address of their own) or differ in type or dims.
  const auto known = module_.constants.find(data.bytes.data());
  vm::Constant entry{value.name(), value.dtype(), {}, data.owner, data.bytes};
  for (const Dim& dim : value.shape()) entry.dims.push_back(dim.constant());
  const auto is_same = [&](uint32_t other) {
    return !data.bytes.empty() && constants[other].type == entry.type &&
           constants[other].dims == entry.dims;
  };
  uint32_t number = static_cast<uint32_t>(constants.size());
  if (known != module_.constants.end() && is_same(known->second)) {
    number = known->second;
  } else if (module_.definition.programs.size() > 1) {
    // Regions compute their constants separately and often to equal values, so
    // constants of regions are also compared by a hash of their bytes.
    auto& hashes = module_.region_constants;
    const uint64_t hash = HashBytes(data.bytes);
    for (auto [other, end] = hashes.equal_range(hash); other != end; ++other) {
      if (is_same(other->second) &&
          std::ranges::equal(constants[other->second].data, data.bytes))
        number = other->second;
    }
    hashes.emplace(hash, number);
  }
  if (number == constants.size()) {
    constants.push_back(std::move(entry));
    module_.constants[data.bytes.data()] = number;
  }
  const uint32_t buffer = builder_.NewBuffer();
  builder_.Emit({ProgramOpcode::kConstantBuffer, buffer, number, 0, 0});
  return buffer;
}

uint32_t ProgramEmitter::BufferOf(const Value* value) {
  if (const auto block = memory_.block_of.find(value);
      block != memory_.block_of.end()) {
    return block_registers_[static_cast<size_t>(block->second)];
  }
  if (const auto known = memory_of_.find(value); known != memory_of_.end())
    return known->second;
  if (const Operation* constant = ConstantOf(value))
    return memory_of_[value] = EmitConstant(*constant, *value);
  EMBER_CHECK(results_.contains(value)) << value->name() << " has no memory";
  const uint32_t buffer = memory_of_[value] = builder_.NewBuffer();
  Allocate(buffer, ByteSize(value->type()));
  return buffer;
}

void ProgramEmitter::EmitResults() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const Value* output = graph_.outputs()[i];
    const uint32_t buffer = BufferOf(StorageRoot(output));
    std::vector<uint32_t> dims;
    for (const Dim& dim : output->shape())
      dims.push_back(builder_.DimRegister(dim));
    const uint32_t first = builder_.AddOperands(dims);
    builder_.Emit({ProgramOpcode::kResult, static_cast<uint32_t>(i), buffer,
                   first, static_cast<int64_t>(dims.size())});
  }
}

}  // namespace ember::compiler
