// The operand lists of instructions: their positions, and the kind of each
// operand.
//
//   for (char letter : ListLetters(program, module, instruction)) ...
#ifndef EMBER_VM_ISA_OPERAND_LIST_H_
#define EMBER_VM_ISA_OPERAND_LIST_H_

#include <cstdint>
#include <string>

#include "vm/isa/instruction_table.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

constexpr bool HasOperandList(ProgramOpcode opcode) {
  return InfoOf(opcode).operands.find('o') != std::string_view::npos;
}

struct OperandList {
  uint32_t first = 0;  // position of the first operand in Program::operands
  int64_t count = 0;
};

// Returns the operand list of an instruction that has one.
constexpr OperandList OperandListOf(const ProgramInstruction& instruction) {
  const int field =
      static_cast<int>(InfoOf(instruction.opcode).operands.find('o'));
  return {static_cast<uint32_t>(FieldOf(instruction, field)),
          FieldOf(instruction, field + 1)};
}

// Returns the letters (vm/isa/instructions.h) of the operands that the
// instruction's list must have. The number of the dispatch, function, program
// or result must be in range.
std::string ListLetters(const Program& program, const ModuleDefinition& module,
                        const ProgramInstruction& instruction);

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_OPERAND_LIST_H_
