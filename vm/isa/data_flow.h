// A forward data-flow analysis over basic blocks. It finds the facts that hold
// before each instruction of a program on every path: registers that are
// written, memory that may be stored to, and references that are known
// constants.
#ifndef EMBER_VM_ISA_DATA_FLOW_H_
#define EMBER_VM_ISA_DATA_FLOW_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "vm/isa/analysis.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

struct BufferFacts {
  bool written = false;
  // true if the memory is certainly neither that of an input nor that of a
  // constant
  bool writable = false;
  ConstantSource source;

  bool operator==(const BufferFacts&) const = default;
};

struct DataFlowState {
  // for each integer register, true if it has been written on every path
  std::vector<bool> integers;
  std::vector<BufferFacts> buffers;
  std::vector<bool> results;  // for each result of the program, true if it has
                              // been set on every path

  bool operator==(const DataFlowState&) const = default;
};

// The analysis of one program, which must have passed CheckStructure.
class DataFlow {
 public:
  struct Block {
    uint32_t begin = 0;
    uint32_t end = 0;
    bool reached = false;
    DataFlowState entry;
  };

  DataFlow(const Program& program, const ModuleDefinition& module);
  // Computes the facts that hold at the start of each block. Returns
  // ResourceExhausted if the program exceeds the limit kMaxBlockRegisters
  // (vm/isa/limits.h), or if its blocks would be visited too often.
  Status Solve();
  const std::vector<Block>& blocks() const { return blocks_; }
  // Changes `state` from the facts before an instruction to the facts after it.
  void Transfer(uint32_t instruction, DataFlowState& state) const;

 private:
  void FindBlocks();
  // Merges `state` into the facts at the start of the block that begins at
  // `instruction`.
  void Flow(uint32_t instruction, const DataFlowState& state);
  BufferFacts WrittenFacts(const ProgramInstruction& instruction,
                           const DataFlowState& state) const;

  const Program& program_;
  const ModuleDefinition& module_;
  std::vector<Block> blocks_;
  // for each instruction, the number of the block that begins at it
  std::vector<uint32_t> block_at_;
  std::vector<uint32_t> worklist_;
  std::vector<bool> queued_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_DATA_FLOW_H_
