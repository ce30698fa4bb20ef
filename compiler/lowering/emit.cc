#include "compiler/lowering/emit.h"

#include <map>
#include <set>
#include <string>

#include "compiler/graph/operators.h"
#include "compiler/lowering/group_builder.h"
#include "compiler/lowering/memory_plan.h"
#include "compiler/lowering/program_builder.h"
#include "compiler/passes/constant_value.h"

namespace ember::compiler {
namespace {

using graph::Dim;
using graph::Operation;
using graph::Value;
using vm::ProgramOpcode;

class Emitter {
 public:
  Emitter(const graph::Graph& graph, const FusionPlan& plan)
      : graph_(graph), plan_(plan), builder_("main") {}

  StatusOr<vm::ModuleDefinition> Run() {
    for (const Value* output : graph_.outputs())
      results_.insert(StorageRoot(output));
    BuildDispatches();
    memory_ = PlanMemory(dispatches_, results_);
    EMBER_RETURN_IF_ERROR(EmitSignature());
    EmitAssumptions();
    if (memory_.arena_bytes > 0) {
      arena_ = builder_.NewBuffer();
      builder_.Emit({ProgramOpcode::kArena, arena_, 0, 0, memory_.arena_bytes});
    }
    EmitBlocksInArena();
    for (int i = 0; i < static_cast<int>(dispatches_.size()); ++i)
      EmitDispatch(i);
    EmitResults();
    builder_.Emit({ProgramOpcode::kReturn});
    for (BuiltDispatch& built : dispatches_) {
      module_.dispatches.push_back(std::move(built.dispatch));
    }
    module_.programs.push_back(std::move(builder_.program()));
    return std::move(module_);
  }

 private:
  // A value is needed outside its group if another group's dispatch or the
  // program reads it.
  std::set<const Value*> OutputsOf(const FusionGroup& group) {
    std::set<const Value*> members, outputs;
    const std::set<const Operation*> operations(group.operations.begin(),
                                                group.operations.end());
    for (const Operation* operation : group.operations) {
      for (const auto& result : operation->results()) {
        if (results_.contains(result.get()) ||
            ReadOutside(result.get(), operations)) {
          outputs.insert(result.get());
        }
      }
    }
    return outputs;
  }

  // Looks through operations that are inlined into their users.
  bool ReadOutside(const Value* value,
                   const std::set<const Operation*>& group) {
    for (const Operation* user : value->users()) {
      if (plan_.stored.contains(user->result())) {
        if (!group.contains(user)) return true;
      } else if (ReadOutside(user->result(), group)) {
        return true;
      }
    }
    return false;
  }

  void BuildDispatches() {
    for (size_t i = 0; i < plan_.groups.size(); ++i) {
      const FusionGroup& group = plan_.groups[i];
      DispatchRequest request;
      request.name = NameOf(group, i);
      request.operations = group.operations;
      request.outputs = OutputsOf(group);
      // A result that nobody needs (say a second result of an operation) is
      // still written.
      if (request.outputs.empty())
        request.outputs.insert(group.operations.back()->result());
      dispatches_.push_back(BuildDispatch(request, plan_.stored));
      std::string origin;
      std::set<std::string> seen;
      for (const Operation* operation : group.operations) {
        if (operation->origin().empty() ||
            !seen.insert(operation->origin()).second)
          continue;
        origin += (origin.empty() ? "" : " + ") + operation->origin();
      }
      module_.dispatch_origins.push_back(origin);
    }
  }

  static std::string NameOf(const FusionGroup& group, size_t number) {
    std::string name = "d" + std::to_string(number);
    constexpr size_t kNamedOperations = 4;
    for (size_t i = 0; i < group.operations.size() && i < kNamedOperations;
         ++i) {
      name += "_" + std::string(group.operations[i]->name());
    }
    return name;
  }

  vm::TensorSignature Signature(const std::string& name,
                                const graph::TensorType& type) {
    vm::TensorSignature signature{name, type.dtype, {}};
    for (const Dim& dim : type.shape) {
      if (dim.is_constant()) {
        signature.dims.push_back(dim.constant());
        continue;
      }
      const std::set<std::string> symbols = dim.Symbols();
      const bool is_symbol =
          symbols.size() == 1 && dim == Dim::Symbol(*symbols.begin());
      signature.dims.push_back(
          -1 - builder_.SymbolNumber(is_symbol ? *symbols.begin() : "?"));
    }
    return signature;
  }

  Status EmitSignature() {
    vm::Program& program = builder_.program();
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const Value* input = graph_.inputs()[i];
      program.inputs.push_back(Signature(input->name(), input->type()));
      const auto number = static_cast<uint32_t>(i);
      memory_of_[input] = builder_.NewBuffer();
      builder_.Emit(
          {ProgramOpcode::kInputBuffer, memory_of_[input], number, 0, 0});
      for (int d = 0; d < input->rank(); ++d) {
        const Dim& dim = input->shape()[d];
        if (dim.is_constant()) continue;
        const std::set<std::string> symbols = dim.Symbols();
        if (symbols.size() != 1 || dim != Dim::Symbol(*symbols.begin())) {
          return UnimplementedError("input '" + input->name() + "': dim " +
                                    std::to_string(d) + " is the expression " +
                                    dim.ToString() +
                                    "; inputs take constants and symbols");
        }
        if (builder_.IsBound(*symbols.begin())) continue;
        const uint32_t extent = builder_.NewInteger();
        builder_.Emit({ProgramOpcode::kInputDim, extent, number, 0, d});
        builder_.BindSymbol(*symbols.begin(), extent);
      }
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      program.results.push_back(
          Signature(graph_.output_names()[i], graph_.outputs()[i]->type()));
    }
    return OkStatus();
  }

  // Dims that the graph takes to be equal are compared before anything runs.
  void EmitAssumptions() {
    std::set<std::pair<std::string, std::string>> checked;
    for (const auto& operation : graph_.operations()) {
      if (operation->name() != "assume") continue;
      const graph::Shape& actual = operation->operand(0)->shape();
      const graph::Shape& assumed = operation->result()->shape();
      for (size_t i = 0; i < actual.size(); ++i) {
        if (actual[i] == assumed[i]) continue;
        if (!checked.insert({actual[i].ToString(), assumed[i].ToString()})
                 .second)
          continue;
        const auto message =
            static_cast<int64_t>(builder_.program().messages.size());
        builder_.program().messages.push_back(
            "'" + operation->origin() + "': dim " + actual[i].ToString() +
            " must be " + assumed[i].ToString());
        const uint32_t found = builder_.DimRegister(actual[i]);
        const uint32_t expected = builder_.DimRegister(assumed[i]);
        builder_.Emit(
            {ProgramOpcode::kCheckEqual, 0, found, expected, message});
      }
    }
  }

  void EmitBlocksInArena() {
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

  void Allocate(uint32_t buffer, const Dim& bytes) {
    const uint32_t size = builder_.DimRegister(bytes);
    builder_.Emit({ProgramOpcode::kAllocate, buffer, size, 0, 0});
  }

  uint32_t BufferOf(const Value* value) {
    if (const auto block = memory_.block_of.find(value);
        block != memory_.block_of.end()) {
      return block_registers_[block->second];
    }
    if (const auto known = memory_of_.find(value); known != memory_of_.end())
      return known->second;
    const uint32_t buffer = memory_of_[value] = builder_.NewBuffer();
    if (const Operation* constant = ConstantOf(value)) {
      const auto& data =
          constant->attributes().Get<graph::ConstantData>("value");
      vm::Constant entry{
          value->name(), value->dtype(), {}, data.owner, data.bytes};
      for (const Dim& dim : value->shape())
        entry.dims.push_back(dim.constant());
      const auto number = static_cast<uint32_t>(module_.constants.size());
      module_.constants.push_back(std::move(entry));
      builder_.Emit({ProgramOpcode::kConstantBuffer, buffer, number, 0, 0});
    } else {
      EMBER_CHECK(results_.contains(value))
          << value->name() << " has no memory";
      Allocate(buffer, ByteSize(value->type()));
    }
    return buffer;
  }

  void EmitDispatch(int index) {
    const BuiltDispatch& built = dispatches_[index];
    for (size_t i = 0; i < memory_.blocks.size(); ++i) {
      const MemoryBlock& block = memory_.blocks[i];
      if (block.arena_offset < 0 && block.first_dispatch == index) {
        Allocate(block_registers_[i], block.bytes);
      }
    }
    std::vector<uint32_t> operands;
    for (const std::string& parameter : built.dispatch.parameters) {
      operands.push_back(builder_.DimRegister(Dim::Symbol(parameter)));
    }
    for (const Value* input : built.inputs) operands.push_back(BufferOf(input));
    for (const Value* output : built.outputs)
      operands.push_back(BufferOf(output));
    const uint32_t first = builder_.AddOperands(operands);
    builder_.Emit({ProgramOpcode::kDispatch, static_cast<uint32_t>(index),
                   first, static_cast<uint32_t>(operands.size()), 0});
    for (size_t i = 0; i < memory_.blocks.size(); ++i) {
      const MemoryBlock& block = memory_.blocks[i];
      if (block.arena_offset < 0 && block.last_dispatch == index) {
        builder_.Emit({ProgramOpcode::kRelease, block_registers_[i]});
      }
    }
  }

  void EmitResults() {
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

  const graph::Graph& graph_;
  const FusionPlan& plan_;
  ProgramBuilder builder_;
  vm::ModuleDefinition module_;
  std::vector<BuiltDispatch> dispatches_;
  std::set<const Value*> results_;  // storage roots of graph outputs
  MemoryPlan memory_;
  uint32_t arena_ = 0;
  std::vector<uint32_t> block_registers_;
  std::map<const Value*, uint32_t> memory_of_;
};

}  // namespace

StatusOr<vm::ModuleDefinition> EmitModule(const graph::Graph& graph,
                                          const FusionPlan& plan) {
  return Emitter(graph, plan).Run();
}

}  // namespace ember::compiler
