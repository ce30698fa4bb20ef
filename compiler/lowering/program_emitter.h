// Writes the program of one graph: the entry, or a region (a branch, a loop's
// body), which is a program that others call. Internal to this library.
//
// EmitModule (emit.cc) owns the module; a ProgramEmitter adds its program and
// dispatches to it, and makes further ProgramEmitters for regions.
#ifndef EMBER_COMPILER_LOWERING_PROGRAM_EMITTER_H_
#define EMBER_COMPILER_LOWERING_PROGRAM_EMITTER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "compiler/lowering/fusion_plan.h"
#include "compiler/lowering/group_builder.h"
#include "compiler/lowering/memory_plan.h"
#include "compiler/lowering/program_builder.h"
#include "compiler/lowering/step.h"
#include "vm/isa/module_definition.h"

namespace ember::compiler {

// The module while it is being made, which the emitters of all its programs
// share.
struct ModuleInProgress {
  vm::ModuleDefinition definition;
  // Numbers of the module's constants, by the address of their bytes. It finds
  // the copies of a constant that regions captured, because they share its
  // bytes.
  std::map<const uint8_t*, uint32_t> constants;
  // Numbers of constants that occur in regions, by a hash of their bytes. It
  // finds equal constants that regions computed separately.
  std::multimap<uint64_t, uint32_t> region_constants;
};

class ProgramEmitter {
 public:
  ProgramEmitter(const graph::Graph& graph, const FusionPlan& plan,
                 ModuleInProgress& module, std::string name)
      : graph_(graph),
        plan_(plan),
        module_(module),
        builder_(std::move(name)) {}

  // Adds the program to the module and returns its number. The program of a
  // region takes the symbols that it needs from outside as parameters.
  StatusOr<uint32_t> Emit(bool is_entry);

 private:
  // The results of a call of a region's program.
  struct CallResults {
    // The register with the memory of each result.
    std::vector<uint32_t> memory;
    // The registers with the extents of each result's dims.
    std::vector<std::vector<uint32_t>> dims;
  };
  using SymbolRegisters = std::map<std::string, uint32_t>;

  // --- dispatches (program_emitter.cc) ---
  void BuildSteps();
  void BuildDispatchStep(const FusionGroup& group);
  Status EmitStep(int index);
  void EmitDispatch(const Step& step);

  // --- the program's signature and the memory of values ---
  vm::TensorSignature Signature(const std::string& name,
                                const graph::TensorType& type);
  Status EmitSignature(bool is_entry);
  Status BindInputDims(const graph::Value& input, uint32_t number);
  void EmitPendingAssumptions();
  void EmitBlocksInArena();
  void Allocate(uint32_t buffer, const graph::Dim& bytes);
  uint32_t BufferOf(const graph::Value* value);
  uint32_t EmitConstant(const graph::Operation& constant,
                        const graph::Value& value);
  void EmitResults();
  int64_t AddMessage(std::string message);

  // --- control flow (emit_control.cc, emit_loop.cc) ---
  class LoopEmitter;
  Status EmitOperation(const graph::Operation& operation);
  void EmitExtents(const graph::Operation& operation);
  Status EmitIf(const graph::Operation& operation);
  Status EmitLoop(const graph::Operation& operation);
  StatusOr<uint32_t> EmitRegion(const graph::Graph& region,
                                std::string_view what);
  // Returns the registers that a caller passes as the parameters (symbols) of a
  // region's program, in order. `inner` has the registers of symbols that only
  // the region knows, such as the varying dims of a loop.
  std::vector<uint32_t> ParameterRegisters(uint32_t program,
                                           const SymbolRegisters& inner);
  CallResults NewCallResults(uint32_t program);
  void EmitCall(uint32_t program, std::vector<uint32_t> operands,
                const CallResults& results);
  uint32_t EmitLoadScalar(const graph::Value* value);
  void EmitMove(uint32_t to, uint32_t from);
  uint32_t EmitArithmetic(vm::ProgramOpcode opcode, uint32_t a, uint32_t b);
  // Emits a branch instruction whose target is set later. Returns the
  // instruction's position.
  size_t EmitForwardBranch(vm::ProgramOpcode opcode, uint32_t condition);
  void SetTarget(size_t branch);

  // --- library functions (emit_library.cc) ---
  void EmitLibraryCall(const graph::Operation& operation);
  // Returns the register of a result's memory: the plan's memory, or new memory
  // that the call allocates.
  uint32_t ResultRegister(const graph::Operation& operation, int result);

  const graph::Graph& graph_;
  const FusionPlan& plan_;
  ModuleInProgress& module_;
  ProgramBuilder builder_;
  std::deque<BuiltDispatch> dispatches_;
  std::vector<Step> steps_;
  // The values whose memory the graph's results use (StorageRoot).
  std::set<const graph::Value*> results_;
  std::set<std::pair<std::string, std::string>> checked_assumptions_;
  std::vector<const graph::Operation*> pending_assumptions_;
  MemoryPlan memory_;
  uint32_t arena_ = 0;
  std::vector<uint32_t> block_registers_;
  std::map<const graph::Value*, uint32_t> memory_of_;
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_PROGRAM_EMITTER_H_
