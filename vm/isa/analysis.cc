#include "vm/isa/analysis.h"

#include <map>
#include <string>
#include <utility>

#include "base/concat.h"
#include "vm/isa/data_flow.h"
#include "vm/isa/structure.h"

namespace ember::vm {
namespace {

// Checks every reachable instruction against the facts that hold before it
// (registers written, memory that may be stored to), and collects the results
// of the analysis.
class Checker {
 public:
  Checker(const ModuleDefinition& module, uint32_t number, ProgramFacts& facts)
      : number_(number),
        program_(module.programs[number]),
        module_(module),
        facts_(facts) {}

  Status Check(uint32_t index, const DataFlowState& state) {
    const ProgramInstruction& instruction = program_.instructions[index];
    const OperandAccess access = AccessOf(program_, module_, instruction);
    for (uint32_t reg : access.read_integers) {
      if (!state.integers[reg]) return Unwritten(index, "i", reg);
    }
    for (uint32_t reg : access.read_buffers) {
      if (!state.buffers[reg].written) return Unwritten(index, "b", reg);
    }
    for (uint32_t reg : access.changed_buffers) {
      if (!state.buffers[reg].written) return Unwritten(index, "b", reg);
      if (state.buffers[reg].writable) continue;
      return ProgramError(
          program_, index,
          Concat({"expected writable memory to store to, found b", reg,
                  ", which may be an input or a constant"}));
    }
    if (instruction.opcode == ProgramOpcode::kReturn)
      return CheckReturn(index, state);
    if (instruction.opcode == ProgramOpcode::kDispatch) AddSite(index, &state);
    return OkStatus();
  }

  // An unreachable dispatch instruction also gets a site, because the session
  // gives every dispatch instruction a number.
  void AddUnreachable(uint32_t index) {
    if (program_.instructions[index].opcode == ProgramOpcode::kDispatch)
      AddSite(index, nullptr);
  }

 private:
  Status Unwritten(uint32_t index, const char* file, uint32_t reg) const {
    return ProgramError(
        program_, index,
        Concat(
            {"expected a register written on every path, found ", file, reg}));
  }

  Status CheckReturn(uint32_t index, const DataFlowState& state) const {
    for (size_t i = 0; i < program_.results.size(); ++i) {
      if (state.results[i]) continue;
      return ProgramError(
          program_, index,
          Concat(
              {"expected result '", program_.results[i].name,
               "' to be set on every path before it, found a path without"}));
    }
    return OkStatus();
  }

  void AddSite(uint32_t index, const DataFlowState* state) {
    const ProgramInstruction& instruction = program_.instructions[index];
    const tensor::Dispatch& dispatch = module_.dispatches[instruction.a];
    DispatchSite site{number_, index, instruction.a, {}, 0};
    const uint32_t first =
        instruction.b + static_cast<uint32_t>(dispatch.parameters.size());
    const uint32_t inputs = dispatch.input_count();
    for (uint32_t i = 0; i < inputs; ++i) {
      const BufferFacts* facts =
          state == nullptr ? nullptr
                           : &state->buffers[program_.operands[first + i]];
      site.inputs.push_back(facts == nullptr ? ConstantSource{}
                                             : facts->source);
    }
    std::vector<int64_t> key = {site.dispatch};
    for (const ConstantSource& source : site.inputs) {
      key.push_back(source.constant);
      key.push_back(source.offset);
    }
    site.group =
        groups_.try_emplace(std::move(key), facts_.group_count).first->second;
    if (site.group == facts_.group_count) ++facts_.group_count;
    facts_.sites.push_back(std::move(site));
  }

  const uint32_t number_;
  const Program& program_;
  const ModuleDefinition& module_;
  ProgramFacts& facts_;
  std::map<std::vector<int64_t>, uint32_t> groups_;
};

}  // namespace

StatusOr<ProgramFacts> AnalyzeProgram(const ModuleDefinition& module,
                                      uint32_t number) {
  const Program& program = module.programs[number];
  EMBER_RETURN_IF_ERROR(CheckStructure(module, number));
  DataFlow flow(program, module);
  EMBER_RETURN_IF_ERROR(flow.Solve());
  ProgramFacts facts;
  Checker checker(module, number, facts);
  for (const DataFlow::Block& block : flow.blocks()) {
    if (block.reached) {
      DataFlowState state = block.entry;
      for (uint32_t i = block.begin; i < block.end; ++i) {
        EMBER_RETURN_IF_ERROR(checker.Check(i, state));
        flow.Transfer(i, state);
      }
    } else {
      for (uint32_t i = block.begin; i < block.end; ++i)
        checker.AddUnreachable(i);
    }
  }
  for (const ProgramInstruction& instruction : program.instructions) {
    if (instruction.opcode != ProgramOpcode::kArena) continue;
    facts.arena_bytes = std::max(facts.arena_bytes, instruction.immediate);
  }
  return facts;
}

}  // namespace ember::vm
