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
  // true: the memory is certainly neither an input nor a constant
  bool writable = false;
  ConstantSource source;

  bool operator==(const BufferFacts&) const = default;
};

struct DataFlowState {
  // for each integer register: true if it is written
  std::vector<bool> integers;
  std::vector<BufferFacts> buffers;
  std::vector<bool> results;  // for each result: true if it is set

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
  // Computes the facts for all blocks. ResourceExhausted if the program is too
  // complex to verify (vm/isa/limits.h).
  Status Solve();
  const std::vector<Block>& blocks() const { return blocks_; }
  // Applies an instruction to the facts that hold before it.
  void Transfer(uint32_t instruction, DataFlowState& state) const;

 private:
  void FindBlocks();
  // Merges `state` into the entry of the block that starts at `instruction`.
  void Flow(uint32_t instruction, const DataFlowState& state);
  BufferFacts WrittenFacts(const ProgramInstruction& instruction,
                           const DataFlowState& state) const;

  const Program& program_;
  const ModuleDefinition& module_;
  std::vector<Block> blocks_;
  // for each instruction the number of the block that starts there
  std::vector<uint32_t> block_at_;
  std::vector<uint32_t> worklist_;
  std::vector<bool> queued_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_DATA_FLOW_H_
