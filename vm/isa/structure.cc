#include "vm/isa/structure.h"

#include <algorithm>
#include <string>

#include "base/concat.h"
#include "vm/isa/instruction_table.h"
#include "vm/isa/library_functions.h"
#include "vm/isa/limits.h"
#include "vm/isa/operand_list.h"

namespace ember::vm {
namespace {

class StructureChecker {
 public:
  StructureChecker(const ModuleDefinition& module, uint32_t number)
      : number_(number), program_(module.programs[number]), module_(module) {}

  Status Check() {
    EMBER_RETURN_IF_ERROR(CheckLimits());
    EMBER_RETURN_IF_ERROR(CheckParameters());
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
    return Refuse(
        Concat({"expected ", next_operand_, " operands in all, found ",
                program_.operands.size()}));
  }

 private:
  Status Refuse(std::string_view message) const {
    return InvalidArgumentError(
        Concat({"program ", program_.name, ": ", message}));
  }
  Status Error(std::string_view message) const {
    return ProgramError(program_, index_, message);
  }

  Status CheckLimits() const {
    const uint32_t registers = std::max(program_.integer_register_count,
                                        program_.buffer_register_count);
    if (registers > kMaxRegisters) {
      return Refuse(Concat({"expected at most ", kMaxRegisters,
                            " registers of a kind, found ", registers}));
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
          Concat({"expected return or branch as the last instruction, found ",
                  InfoOf(last).text}));
    }
    return OkStatus();
  }

  Status CheckParameters() const {
    const auto& names = program_.parameters;
    const size_t most =
        number_ == 0
            ? 0
            : std::min(kMaxParameters, program_.integer_register_count);
    if (names.size() > most) {
      return Refuse(Concat(
          {"expected at most ", most, " parameters, found ", names.size()}));
    }
    if (number_ == 0) return OkStatus();
    if (program_.symbols.size() > kMaxParameters)
      return Refuse("expected at most 4096 symbols, found more");
    for (size_t i = 0; i < names.size(); ++i) {
      if (std::find(names.begin(), names.end(), names[i]) - names.begin() ==
          static_cast<ptrdiff_t>(i)) {
        continue;
      }
      return Refuse("expected parameters with different names");
    }
    for (const std::string& symbol : program_.symbols) {
      if (symbol == "?" ||
          std::find(names.begin(), names.end(), symbol) != names.end()) {
        continue;
      }
      return Refuse(Concat(
          {"expected symbols that are parameters or \"?\", found ", symbol}));
    }
    return OkStatus();
  }

  Status CheckSignature(const char* what,
                        const TensorSignature& signature) const {
    const std::string name = Concat({what, " '", signature.name, "': "});
    if (signature.dims.size() > kMaxRank) {
      return Refuse(Concat({name, "expected at most ", kMaxRank,
                            " dims, found ", signature.dims.size()}));
    }
    if (signature.logical_type == kStringType && signature.type != DType::kI64)
      return Refuse(
          Concat({name, "expected strings to be stored as i64, found ",
                  DTypeName(signature.type)}));
    for (int64_t dim : signature.dims) {
      if (dim >= -static_cast<int64_t>(program_.symbols.size())) continue;
      return Refuse(Concat({name, "expected dims that are extents or one of ",
                            program_.symbols.size(), " symbols, found ", dim}));
    }
    return OkStatus();
  }

  Status CheckBelow(const char* what, int64_t value, uint64_t count) const {
    if (value >= 0 && static_cast<uint64_t>(value) < count) return OkStatus();
    return Error(
        Concat({"expected a ", what, " below ", count, ", found ", value}));
  }

  Status CheckInstruction(const ProgramInstruction& instruction) {
    const std::string_view letters = InfoOf(instruction.opcode).operands;
    for (int field = 0; field < 4; ++field) {
      EMBER_RETURN_IF_ERROR(
          CheckField(instruction, letters[field], FieldOf(instruction, field)));
    }
    switch (instruction.opcode) {
      case ProgramOpcode::kInputDim:
        if (number_ != 0)
          return Error("expected it in the entry program only, found it here");
        return CheckBelow("dim", instruction.immediate,
                          program_.inputs[instruction.b].dims.size());
      case ProgramOpcode::kArena:
        return CheckOffset("size", instruction.immediate, 1);
      case ProgramOpcode::kView:
        return CheckOffset("offset", instruction.immediate, 64);
      case ProgramOpcode::kLoadInteger:
        return CheckOffset("offset", instruction.immediate,
                           DTypeByteSize(static_cast<DType>(instruction.c)));
      case ProgramOpcode::kStoreInteger:
        return CheckOffset("offset", instruction.immediate, 8);
      default:
        if (!HasOperandList(instruction.opcode)) return OkStatus();
        return CheckOperandList(instruction);
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
      case 'u':
      case 'w':
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
      case 'p':
        return CheckCalledNumber(value);
      case 'y':
        return CheckElementType(value);
      case 'm':
        return CheckBelow("message", value, program_.messages.size());
      case 'd':
        if (instruction.opcode == ProgramOpcode::kLibraryCall) {
          return CheckBelow("library function", value, kLibraryFunctionCount);
        }
        return CheckBelow("dispatch", value, module_.dispatches.size());
      case '-':
        if (value == 0) return OkStatus();
        return Error(Concat({"expected 0 in an unused field, found ", value}));
      default:
        // The letter v (immediate value) needs no check. The letters o and s
        // (operand list) are checked together by CheckOperandRange.
        return OkStatus();
    }
  }

  Status CheckOffset(const char* what, int64_t value, int64_t multiple) const {
    if (value >= 0 && value % multiple == 0) return OkStatus();
    return Error(Concat({"expected a ", what, " that is a multiple of ",
                         multiple, " and not negative, found ", value}));
  }

  // Checks the position of an operand list. The lists must follow each other in
  // the order of the instructions, so that the text form need not contain the
  // positions.
  Status CheckOperandRange(uint32_t first, int64_t count) {
    const uint64_t size = program_.operands.size();
    if (first == next_operand_ && count >= 0 &&
        static_cast<uint64_t>(count) <= size - first) {
      next_operand_ += static_cast<uint64_t>(count);
      return OkStatus();
    }
    return Error(Concat({"expected at most ", size - next_operand_,
                         " operands from position ", next_operand_, ", found ",
                         count, " from position ", first}));
  }

  // Returns the name, for messages, of the dispatch, function or program that
  // determines how many operands the instruction's list must have.
  std::string ListOwner(const ProgramInstruction& instruction) const {
    switch (instruction.opcode) {
      case ProgramOpcode::kDispatch:
        return Concat({"dispatch @", module_.dispatches[instruction.a].name});
      case ProgramOpcode::kLibraryCall:
        return Concat({"call ", LibraryInfoOf(instruction.a).text});
      case ProgramOpcode::kCallProgram:
        return Concat({"program ", module_.programs[instruction.a].name});
      default:
        return Concat({"result '", program_.results[instruction.a].name, "'"});
    }
  }

  Status CheckOperandList(const ProgramInstruction& instruction) {
    const OperandList list = OperandListOf(instruction);
    EMBER_RETURN_IF_ERROR(CheckOperandRange(list.first, list.count));
    const std::string letters = ListLetters(program_, module_, instruction);
    if (letters.size() != static_cast<uint64_t>(list.count)) {
      const bool is_result = instruction.opcode == ProgramOpcode::kResult;
      return Error(
          Concat({ListOwner(instruction), ": expected ", letters.size(),
                  is_result ? " dims" : " operands", ", found ", list.count}));
    }
    for (size_t i = 0; i < letters.size(); ++i) {
      EMBER_RETURN_IF_ERROR(CheckField(instruction, letters[i],
                                       program_.operands[list.first + i]));
    }
    return OkStatus();
  }

  // Checks that a program calls only programs with higher numbers, so that
  // calls cannot recurse.
  Status CheckCalledNumber(int64_t called) const {
    EMBER_RETURN_IF_ERROR(
        CheckBelow("program", called, module_.programs.size()));
    if (called > number_) return OkStatus();
    return Error(Concat({"expected a program with a number above ", number_,
                         ", the caller's, found ", called}));
  }

  Status CheckElementType(int64_t raw) const {
    EMBER_RETURN_IF_ERROR(CheckBelow("element type", raw, kDTypeCount));
    const DType type = static_cast<DType>(raw);
    if (!IsFloat(type)) return OkStatus();
    return Error(
        Concat({"expected an integer type or bool, found ", DTypeName(type)}));
  }

  const uint32_t number_;
  const Program& program_;
  const ModuleDefinition& module_;
  uint32_t index_ = 0;
  uint64_t next_operand_ = 0;  // position at which the next operand list must
                               // begin
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
    case 'u':
      access.read_buffers.push_back(reg);
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
  return InvalidArgumentError(
      Concat({"program ", program.name, ": instruction ", instruction, " (",
              info.text, "): ", message}));
}

Status CheckStructure(const ModuleDefinition& module, uint32_t number) {
  return StructureChecker(module, number).Check();
}

OperandAccess AccessOf(const Program& program, const ModuleDefinition& module,
                       const ProgramInstruction& instruction) {
  OperandAccess access;
  const std::string_view letters = InfoOf(instruction.opcode).operands;
  for (int field = 0; field < 4; ++field) {
    AddOperand(letters[field],
               static_cast<uint32_t>(FieldOf(instruction, field)), access);
  }
  if (!HasOperandList(instruction.opcode)) return access;
  const uint32_t* operands =
      program.operands.data() + OperandListOf(instruction).first;
  for (char letter : ListLetters(program, module, instruction))
    AddOperand(letter, *operands++, access);
  return access;
}

}  // namespace ember::vm
