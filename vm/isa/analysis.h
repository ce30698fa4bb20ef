// Verifies a program and returns the facts that are known about it before it
// runs.
//
//   EMBER_ASSIGN_OR_RETURN(ProgramFacts facts, AnalyzeProgram(module, 0));
//
// The rules:
// - registers, operand positions, branch targets, inputs, results, constants,
//   dispatches, messages and called programs exist; control cannot run past the
//   last instruction;
// - on every path a register is written before it is read (release unwrites
//   it), and every result is set before return, with as many dims as it
//   declares;
// - a dispatch or called program gets as many parameters, inputs and outputs as
//   it has; a library call gets the operands that its row declares; operand
//   lists follow each other in the order of the instructions, without gaps;
// - memory of inputs and constants is never written: on no path may the memory
//   that an instruction stores to be an input or constant, nor a result of a
//   called program or a slice_at, which may be such memory;
// - a program calls only programs with a higher number than its own, so that
//   there is no recursion; the entry has no parameters; only the entry asks for
//   dims of its inputs, and the symbols of the others are parameters or "?";
// - offsets of views are multiples of 64, offsets of integer loads and stores
//   are multiples of the element's size, and none is negative.
//
// Lengths of memory, arithmetic overflow and limits are checked at run time.
//
// Errors: InvalidArgument, "program main: instruction 12: ...".
#ifndef EMBER_VM_ISA_ANALYSIS_H_
#define EMBER_VM_ISA_ANALYSIS_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// The constant to which a dispatch's operand refers, if it is the same one on
// every path to the dispatch.
struct ConstantSource {
  int32_t constant = -1;  // number of the constant; -1 if none is known
  int64_t offset = 0;     // offset of the operand's memory in the constant, in
                          // bytes

  bool operator==(const ConstantSource&) const = default;
};

// A dispatch instruction of the program.
struct DispatchSite {
  uint32_t program = 0;
  uint32_t instruction = 0;
  uint32_t dispatch = 0;
  // for each input of the dispatch, the constant to which it refers
  std::vector<ConstantSource> inputs;
  // Sites of a program that run the same dispatch on the same constants are in
  // the same group: they share plans and kernels.
  uint32_t group = 0;
};

struct ProgramFacts {
  // all dispatch instructions of the program, in their order
  std::vector<DispatchSite> sites;
  uint32_t group_count = 0;
  // size of the arena in bytes: the largest operand of the arena instructions
  int64_t arena_bytes = 0;
};

// Verifies the program with this number in the module and returns its facts.
StatusOr<ProgramFacts> AnalyzeProgram(const ModuleDefinition& module,
                                      uint32_t number);

inline Status VerifyProgram(const ModuleDefinition& module, uint32_t number) {
  return AnalyzeProgram(module, number).status();
}

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_ANALYSIS_H_
