#include "vm/isa/data_flow.h"

#include <algorithm>
#include <string>

#include "base/checked_math.h"
#include "base/concat.h"
#include "vm/isa/limits.h"
#include "vm/isa/structure.h"

namespace ember::vm {
namespace {

bool IsBranch(ProgramOpcode opcode) {
  return opcode == ProgramOpcode::kBranch || opcode == ProgramOpcode::kBranchIf;
}

bool EndsBlock(ProgramOpcode opcode) {
  return IsBranch(opcode) || opcode == ProgramOpcode::kReturn;
}

// Keeps in `into` only the facts that hold in both states, `into` and `from`.
// Returns true if `into` changed.
bool Merge(DataFlowState& into, const DataFlowState& from) {
  bool changed = false;
  const auto clear = [&changed](std::vector<bool>& bits,
                                const std::vector<bool>& other) {
    for (size_t i = 0; i < bits.size(); ++i) {
      if (!bits[i] || other[i]) continue;
      bits[i] = false;
      changed = true;
    }
  };
  clear(into.integers, from.integers);
  clear(into.results, from.results);
  for (size_t i = 0; i < into.buffers.size(); ++i) {
    BufferFacts merged = into.buffers[i];
    merged.written &= from.buffers[i].written;
    merged.writable &= from.buffers[i].writable;
    if (merged.source != from.buffers[i].source)
      merged.source = ConstantSource{};
    if (merged == into.buffers[i]) continue;
    into.buffers[i] = merged;
    changed = true;
  }
  return changed;
}

}  // namespace

DataFlow::DataFlow(const Program& program, const ModuleDefinition& module)
    : program_(program), module_(module) {
  FindBlocks();
}

void DataFlow::FindBlocks() {
  const uint32_t count = static_cast<uint32_t>(program_.instructions.size());
  std::vector<bool> starts(count + 1, false);
  starts[0] = true;
  for (uint32_t i = 0; i < count; ++i) {
    const ProgramInstruction& instruction = program_.instructions[i];
    if (EndsBlock(instruction.opcode)) starts[i + 1] = true;
    if (IsBranch(instruction.opcode))
      starts[static_cast<size_t>(instruction.immediate)] = true;
  }
  block_at_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (starts[i]) blocks_.push_back({.begin = i});
    blocks_.back().end = i + 1;
    block_at_[i] = static_cast<uint32_t>(blocks_.size()) - 1;
  }
}

Status DataFlow::Solve() {
  const uint64_t registers = uint64_t{program_.integer_register_count} / 64 +
                             program_.buffer_register_count +
                             program_.results.size() / 64 + 1;
  if (blocks_.size() * registers > kMaxBlockRegisters) {
    return ResourceExhaustedError(Concat(
        {"program ", program_.name, ": expected at most ", kMaxBlockRegisters,
         " blocks times registers, found ", blocks_.size() * registers}));
  }
  DataFlowState start;
  // A new vector is assigned, because growing the existing one takes more code.
  start.integers = std::vector<bool>(program_.integer_register_count);
  std::fill_n(start.integers.begin(), program_.parameters.size(), true);
  start.buffers.resize(program_.buffer_register_count);
  start.results = std::vector<bool>(program_.results.size());
  queued_ = std::vector<bool>(blocks_.size());
  Flow(0, start);
  // Limits the work of the analysis. Nested loops need about one visit of a
  // block per level; a program that needs much more is refused. The limit
  // counts instructions, not blocks, because a long block behind many short
  // ones may be visited once for each of them. It also counts registers,
  // because a visit copies the facts about all of them.
  uint64_t steps_left = 64 * uint64_t{program_.instructions.size()} +
                        16 * blocks_.size() * registers + 65536;
  while (!worklist_.empty()) {
    // The earliest block of the worklist is visited first, so the order is
    // mostly topological.
    std::pop_heap(worklist_.begin(), worklist_.end(), std::greater<>());
    const Block& block = blocks_[worklist_.back()];
    queued_[worklist_.back()] = false;
    worklist_.pop_back();
    const uint64_t steps = block.end - block.begin + registers;
    if (steps > steps_left) {
      return ResourceExhaustedError(
          Concat({"program ", program_.name,
                  ": expected control flow that is verified in 64 visits per "
                  "instruction, found a more tangled one"}));
    }
    steps_left -= steps;
    DataFlowState state = block.entry;
    for (uint32_t i = block.begin; i < block.end; ++i) Transfer(i, state);
    const ProgramInstruction& last = program_.instructions[block.end - 1];
    if (IsBranch(last.opcode))
      Flow(static_cast<uint32_t>(last.immediate), state);
    if (last.opcode != ProgramOpcode::kBranch &&
        last.opcode != ProgramOpcode::kReturn) {
      Flow(block.end, state);
    }
  }
  return OkStatus();
}

void DataFlow::Flow(uint32_t instruction, const DataFlowState& state) {
  const uint32_t index = block_at_[instruction];
  Block& block = blocks_[index];
  if (block.reached) {
    if (!Merge(block.entry, state)) return;
  } else {
    block.reached = true;
    block.entry = state;
  }
  if (queued_[index]) return;
  queued_[index] = true;
  worklist_.push_back(index);
  std::push_heap(worklist_.begin(), worklist_.end(), std::greater<>());
}

BufferFacts DataFlow::WrittenFacts(const ProgramInstruction& instruction,
                                   const DataFlowState& state) const {
  switch (instruction.opcode) {
    case ProgramOpcode::kInputBuffer:
      return {true, false, {}};
    case ProgramOpcode::kConstantBuffer:
      return {true, false, {static_cast<int32_t>(instruction.b), 0}};
    case ProgramOpcode::kMoveBuffer:
      return state.buffers[instruction.b];
    case ProgramOpcode::kView: {
      BufferFacts facts = state.buffers[instruction.b];
      if (facts.source.constant < 0) return facts;
      const std::optional<int64_t> offset =
          CheckedAdd(facts.source.offset, instruction.immediate);
      facts.source = offset ? ConstantSource{facts.source.constant, *offset}
                            : ConstantSource{};
      return facts;
    }
    // The result of a called program, or a slice of memory, may be an input or
    // a constant, so it must not be written.
    case ProgramOpcode::kCallProgram:
    case ProgramOpcode::kSliceAt:
      return {true, false, {}};
    // All other instructions write a reference to memory that may be stored to:
    // an arena, an allocation, a result of a library call, or memory to which
    // the program appended.
    default:
      return {true, true, {}};
  }
}

void DataFlow::Transfer(uint32_t index, DataFlowState& state) const {
  const ProgramInstruction& instruction = program_.instructions[index];
  if (instruction.opcode == ProgramOpcode::kResult) {
    state.results[instruction.a] = true;
    return;
  }
  if (instruction.opcode == ProgramOpcode::kRelease) {
    state.buffers[instruction.a] = BufferFacts{};
    return;
  }
  if (instruction.opcode == ProgramOpcode::kDispatch)
    return;  // A dispatch writes no registers, so it changes no facts.
  const OperandAccess access = AccessOf(program_, module_, instruction);
  for (uint32_t reg : access.written_integers) state.integers[reg] = true;
  if (access.written_buffers.empty()) return;
  const BufferFacts facts = WrittenFacts(instruction, state);
  for (uint32_t reg : access.written_buffers) state.buffers[reg] = facts;
}

}  // namespace ember::vm
