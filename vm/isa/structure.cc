#include "vm/isa/structure.h"

#include <string>

#include "vm/isa/instruction_table.h"
#include "vm/isa/library_functions.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

std::string Number(int64_t value) { return std::to_string(value); }

class StructureChecker {
 public:
  StructureChecker(const Program& program, const ModuleDefinition& module)
      : program_(program), module_(module) {}

  Status Check() {
    EMBER_RETURN_IF_ERROR(CheckLimits());
    for (const TensorSignature& input : program_.inputs) {
      EMBER_RETURN_IF_ERROR(CheckSignature("input", input));
    }
    for (const TensorSignature& result : program_.results) {
      EMBER_RETURN_IF_ERROR(CheckSignature("result", result));
    }
    for (index_ = 0; index_ < program_.instructions.size(); ++index_) {
      EMBER_RETURN_IF_ERROR(CheckInstruction(program_.instructions[index_]));
    }
    if (next_operand_ == program_.operands.size()) return OkStatus();
    return Refuse("expected " + std::to_string(next_operand_) +
                  " operands in all, found " +
                  std::to_string(program_.operands.size()));
  }

 private:
  Status Refuse(std::string_view message) const {
    return InvalidArgumentError("program " + program_.name + ": " +
                                std::string(message));
  }
  Status Error(std::string_view message) const {
    return ProgramError(program_, index_, message);
  }

  Status CheckLimits() const {
    const uint32_t registers = std::max(program_.integer_register_count,
                                        program_.buffer_register_count);
    if (registers > kMaxRegisters) {
      return Refuse("expected at most " + Number(kMaxRegisters) +
                    " registers of a kind, found " + Number(registers));
    }
    if (program_.instructions.empty())
      return Refuse("expected instructions, found none");
    if (program_.instructions.size() > UINT32_MAX / 2 ||
        program_.operands.size() > UINT32_MAX / 2) {
      return Refuse(
          "expected fewer than 2^31 instructions and operands, found more");
    }
    const ProgramOpcode last = program_.instructions.back().opcode;
    if (last != ProgramOpcode::kReturn && last != ProgramOpcode::kBranch) {
      return Refuse(
          "expected return or branch as the last instruction, found " +
          std::string(InfoOf(last).text));
    }
    return OkStatus();
  }

  Status CheckSignature(const char* what,
                        const TensorSignature& signature) const {
    const std::string name = std::string(what) + " '" + signature.name + "': ";
    if (signature.dims.size() > kMaxRank) {
      return Refuse(name + "expected at most " + Number(kMaxRank) +
                    " dims, found " +
                    Number(static_cast<int64_t>(signature.dims.size())));
    }
    for (int64_t dim : signature.dims) {
      if (dim >= -static_cast<int64_t>(program_.symbols.size())) continue;
      return Refuse(name + "expected dims that are extents or one of " +
                    Number(static_cast<int64_t>(program_.symbols.size())) +
                    " symbols, found " + Number(dim));
    }
    return OkStatus();
  }

  Status CheckBelow(const char* what, int64_t value, uint64_t count) const {
    if (value >= 0 && static_cast<uint64_t>(value) < count) return OkStatus();
    return Error("expected a " + std::string(what) + " below " +
                 std::to_string(count) + ", found " + Number(value));
  }

  Status CheckInstruction(const ProgramInstruction& instruction) {
    const std::string_view letters = InfoOf(instruction.opcode).operands;
    for (int field = 0; field < 4; ++field) {
      EMBER_RETURN_IF_ERROR(
          CheckField(instruction, letters[field], FieldOf(instruction, field)));
    }
    switch (instruction.opcode) {
      case ProgramOpcode::kInputDim:
        return CheckBelow("dim", instruction.immediate,
                          program_.inputs[instruction.b].dims.size());
      case ProgramOpcode::kArena:
        return CheckOffset("size", instruction.immediate, 1);
      case ProgramOpcode::kView:
        return CheckOffset("offset", instruction.immediate, 64);
      case ProgramOpcode::kLoadInteger:
        return CheckOffset("offset", instruction.immediate, 8);
      case ProgramOpcode::kDispatch:
        return CheckDispatch(instruction);
      case ProgramOpcode::kLibraryCall:
        return CheckLibraryCall(instruction);
      case ProgramOpcode::kResult:
        return CheckResult(instruction);
      default:
        return OkStatus();
    }
  }

  Status CheckField(const ProgramInstruction& instruction, char letter,
                    int64_t value) const {
    switch (letter) {
      case 'I':
      case 'i':
        return CheckBelow("integer register", value,
                          program_.integer_register_count);
      case 'B':
      case 'b':
        return CheckBelow("buffer register", value,
                          program_.buffer_register_count);
      case 't':
        return CheckBelow("branch target", value, program_.instructions.size());
      case 'n':
        return CheckBelow("input", value, program_.inputs.size());
      case 'r':
        return CheckBelow("result", value, program_.results.size());
      case 'k':
        return CheckBelow("constant", value, module_.constants.size());
      case 'm':
        return CheckBelow("message", value, program_.messages.size());
      case 'd':
        if (instruction.opcode == ProgramOpcode::kLibraryCall) {
          return CheckBelow("library function", value, kLibraryFunctionCount);
        }
        return CheckBelow("dispatch", value, module_.dispatches.size());
      case '-':
        if (value == 0) return OkStatus();
        return Error("expected 0 in an unused field, found " + Number(value));
      default:
        return OkStatus();  // v, and o and s, which are checked together
    }
  }

  Status CheckOffset(const char* what, int64_t value, int64_t multiple) const {
    if (value >= 0 && value % multiple == 0) return OkStatus();
    return Error("expected a " + std::string(what) + " that is a multiple of " +
                 Number(multiple) + " and not negative, found " +
                 Number(value));
  }

  // Lists follow each other in the order of the instructions, so that the text
  // form need not say where they are.
  Status CheckOperandRange(uint32_t first, int64_t count) {
    const uint64_t size = program_.operands.size();
    if (first == next_operand_ && count >= 0 &&
        static_cast<uint64_t>(count) <= size - first) {
      next_operand_ += static_cast<uint64_t>(count);
      return OkStatus();
    }
    return Error("expected at most " + std::to_string(size - next_operand_) +
                 " operands from position " + std::to_string(next_operand_) +
                 ", found " + Number(count) + " from position " +
                 Number(first));
  }

  // letter: i or I an integer register, otherwise a buffer register.
  Status CheckOperand(char letter, uint32_t reg) const {
    if (letter == 'i' || letter == 'I') {
      return CheckBelow("integer register", reg,
                        program_.integer_register_count);
    }
    return CheckBelow("buffer register", reg, program_.buffer_register_count);
  }

  Status CheckDispatch(const ProgramInstruction& instruction) {
    EMBER_RETURN_IF_ERROR(CheckOperandRange(instruction.b, instruction.c));
    const tensor::Dispatch& dispatch = module_.dispatches[instruction.a];
    const uint64_t parameters = dispatch.parameters.size();
    const uint64_t buffers =
        uint64_t{dispatch.input_count()} + dispatch.output_count();
    if (parameters + buffers != instruction.c) {
      return Error("dispatch @" + dispatch.name + ": expected " +
                   std::to_string(parameters) + " parameters and " +
                   std::to_string(buffers) + " buffers, found " +
                   Number(instruction.c) + " operands");
    }
    for (uint32_t i = 0; i < instruction.c; ++i) {
      const char letter = i < parameters ? 'i' : 'b';
      EMBER_RETURN_IF_ERROR(
          CheckOperand(letter, program_.operands[instruction.b + i]));
    }
    return OkStatus();
  }

  Status CheckLibraryCall(const ProgramInstruction& instruction) {
    EMBER_RETURN_IF_ERROR(CheckOperandRange(instruction.b, instruction.c));
    const LibraryFunctionInfo& info = kLibraryFunctionTable[instruction.a];
    if (info.operands.size() != instruction.c) {
      return Error("call " + std::string(info.text) + ": expected " +
                   std::to_string(info.operands.size()) + " operands, found " +
                   Number(instruction.c));
    }
    for (uint32_t i = 0; i < instruction.c; ++i) {
      EMBER_RETURN_IF_ERROR(
          CheckOperand(info.operands[i], program_.operands[instruction.b + i]));
    }
    return OkStatus();
  }

  Status CheckResult(const ProgramInstruction& instruction) {
    EMBER_RETURN_IF_ERROR(
        CheckOperandRange(instruction.c, instruction.immediate));
    const TensorSignature& result = program_.results[instruction.a];
    if (static_cast<uint64_t>(instruction.immediate) != result.dims.size()) {
      return Error("result '" + result.name + "': expected " +
                   std::to_string(result.dims.size()) + " dims, found " +
                   Number(instruction.immediate));
    }
    for (int64_t i = 0; i < instruction.immediate; ++i) {
      EMBER_RETURN_IF_ERROR(
          CheckOperand('i', program_.operands[instruction.c + i]));
    }
    return OkStatus();
  }

  const Program& program_;
  const ModuleDefinition& module_;
  uint32_t index_ = 0;
  uint64_t next_operand_ = 0;  // where the next operand list begins
};

void AddOperand(char letter, uint32_t reg, OperandAccess& access) {
  switch (letter) {
    case 'i':
      access.read_integers.push_back(reg);
      break;
    case 'I':
      access.written_integers.push_back(reg);
      break;
    case 'b':
      access.read_buffers.push_back(reg);
      break;
    case 'w':
      access.changed_buffers.push_back(reg);
      break;
    case 'B':
      access.written_buffers.push_back(reg);
      break;
    default:
      break;
  }
}

}  // namespace

Status ProgramError(const Program& program, uint32_t instruction,
                    std::string_view message) {
  const ProgramInstructionInfo& info =
      InfoOf(program.instructions[instruction].opcode);
  return InvalidArgumentError("program " + program.name + ": instruction " +
                              std::to_string(instruction) + " (" +
                              std::string(info.text) +
                              "): " + std::string(message));
}

Status CheckStructure(const Program& program, const ModuleDefinition& module) {
  return StructureChecker(program, module).Check();
}

OperandAccess AccessOf(const Program& program, const ModuleDefinition& module,
                       const ProgramInstruction& instruction) {
  OperandAccess access;
  const std::string_view letters = InfoOf(instruction.opcode).operands;
  for (int field = 0; field < 4; ++field) {
    AddOperand(letters[field],
               static_cast<uint32_t>(FieldOf(instruction, field)), access);
  }
  const uint32_t* operands = program.operands.data();
  if (instruction.opcode == ProgramOpcode::kDispatch) {
    const tensor::Dispatch& dispatch = module.dispatches[instruction.a];
    const size_t parameters = dispatch.parameters.size();
    const size_t inputs_end = parameters + dispatch.input_count();
    for (uint32_t i = 0; i < instruction.c; ++i) {
      const char letter = i < parameters ? 'i' : i < inputs_end ? 'b' : 'w';
      AddOperand(letter, operands[instruction.b + i], access);
    }
  } else if (instruction.opcode == ProgramOpcode::kLibraryCall) {
    const std::string_view call_letters =
        kLibraryFunctionTable[instruction.a].operands;
    for (uint32_t i = 0; i < instruction.c; ++i) {
      AddOperand(call_letters[i], operands[instruction.b + i], access);
    }
  } else if (instruction.opcode == ProgramOpcode::kResult) {
    for (int64_t i = 0; i < instruction.immediate; ++i) {
      AddOperand('i', operands[instruction.c + i], access);
    }
  }
  return access;
}

}  // namespace ember::vm
