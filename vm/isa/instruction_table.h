// The rows of vm/isa/instructions.h as a table that code can index.
//
//   InfoOf(ProgramOpcode::kAdd).text == "add"
#ifndef EMBER_VM_ISA_INSTRUCTION_TABLE_H_
#define EMBER_VM_ISA_INSTRUCTION_TABLE_H_

#include <cstdint>
#include <string_view>

#include "base/short_text.h"
#include "vm/isa/instructions.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

struct ProgramInstructionInfo {
  std::string_view text;
  // Letters that say what the fields a, b, c and immediate of the instruction
  // contain; vm/isa/instructions.h explains them.
  std::string_view operands;
};

// A row of the table. ProgramInstructionInfo has the same texts, which are
// stored here without pointers.
struct ProgramInstructionRow {
  ShortText<15> text;
  ShortText<7> operands;
};

inline constexpr ProgramInstructionRow kProgramInstructionTable[] = {
// The table leaves out the doc texts of the rows, so that an embedded runtime
// does not contain them.
#define EMBER_ROW(name, text, operands, doc) {text, operands},
    EMBER_FOR_EACH_PROGRAM_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
};

inline constexpr int kProgramOpcodeCount =
    sizeof(kProgramInstructionTable) / sizeof(kProgramInstructionTable[0]);

constexpr ProgramInstructionInfo InfoOf(ProgramOpcode opcode) {
  const ProgramInstructionRow& row =
      kProgramInstructionTable[static_cast<int>(opcode)];
  return {row.text, row.operands};
}

constexpr bool IsIntegerRegister(char letter) {
  return letter == 'i' || letter == 'I';
}
constexpr bool IsBufferRegister(char letter) {
  return letter == 'b' || letter == 'B' || letter == 'w' || letter == 'u';
}

// Returns a field of an instruction by its number: 0 is a, 1 is b, 2 is c, 3 is
// the immediate.
constexpr int64_t FieldOf(const ProgramInstruction& instruction, int field) {
  switch (field) {
    case 0:
      return instruction.a;
    case 1:
      return instruction.b;
    case 2:
      return instruction.c;
    default:
      return instruction.immediate;
  }
}

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_INSTRUCTION_TABLE_H_
