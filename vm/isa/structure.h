// Verifies the instructions of a program one by one, and lists the operands
// that an instruction reads and writes. See vm/isa/analysis.h for the rules.
#ifndef EMBER_VM_ISA_STRUCTURE_H_
#define EMBER_VM_ISA_STRUCTURE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// Returns the error "program main: instruction 12 (add): message".
Status ProgramError(const Program& program, uint32_t instruction,
                    std::string_view message);

// Checks that numbers are in range, signatures are well-formed, and numbers of
// operands are as declared. `number` is the program's number in the module.
Status CheckStructure(const ModuleDefinition& module, uint32_t number);

// The registers that an instruction accesses. The program must have passed
// CheckStructure.
struct OperandAccess {
  std::vector<uint32_t> read_integers;
  std::vector<uint32_t> written_integers;
  std::vector<uint32_t> read_buffers;
  std::vector<uint32_t>
      // Registers with a reference to memory that the instruction writes; the
      // register itself is only read.
      changed_buffers;
  std::vector<uint32_t> written_buffers;
};
OperandAccess AccessOf(const Program& program, const ModuleDefinition& module,
                       const ProgramInstruction& instruction);

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_STRUCTURE_H_
