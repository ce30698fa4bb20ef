// Defines the integer instructions of programs. Two kinds of code use them:
// code that runs a whole program, and code that computes only the shapes of
// results.
//
//   if (!EvaluateInteger<ProgramOpcode::kAdd>(b, c, &a)) ...   // overflow
#ifndef EMBER_VM_RUNTIME_INTEGER_INSTRUCTIONS_H_
#define EMBER_VM_RUNTIME_INTEGER_INSTRUCTIONS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/status.h"
#include "vm/isa/instruction_table.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// The instructions of the form a = b op c. Columns: (name).
#define EMBER_FOR_EACH_INTEGER_INSTRUCTION(row)                     \
  row(Add) row(Subtract) row(Multiply) row(FloorDivide) row(Modulo) \
      row(Minimum) row(Maximum) row(Less) row(Equal)

// Computes *a = b op c. Returns false on overflow or division by zero.
template <ProgramOpcode opcode>
inline bool EvaluateInteger(int64_t b, int64_t c, int64_t* a) {
  if constexpr (opcode == ProgramOpcode::kAdd) {
    return !__builtin_add_overflow(b, c, a);
  } else if constexpr (opcode == ProgramOpcode::kSubtract) {
    return !__builtin_sub_overflow(b, c, a);
  } else if constexpr (opcode == ProgramOpcode::kMultiply) {
    return !__builtin_mul_overflow(b, c, a);
  } else if constexpr (opcode == ProgramOpcode::kFloorDivide) {
    if (c == 0 || (c == -1 && b == INT64_MIN)) return false;
    *a = b / c - (b % c != 0 && (b % c < 0) != (c < 0));
    return true;
  } else if constexpr (opcode == ProgramOpcode::kModulo) {
    if (c == 0) return false;
    const int64_t remainder = c == -1 ? 0 : b % c;
    *a = remainder != 0 && (remainder < 0) != (c < 0) ? remainder + c
                                                      : remainder;
    return true;
  } else {
    if constexpr (opcode == ProgramOpcode::kMinimum) {
      *a = std::min(b, c);
    } else if constexpr (opcode == ProgramOpcode::kMaximum) {
      *a = std::max(b, c);
    } else if constexpr (opcode == ProgramOpcode::kLess) {
      *a = b < c;
    } else {
      static_assert(opcode == ProgramOpcode::kEqual);
      *a = b == c;
    }
    return true;
  }
}

// Returns the error of the instruction `index`, with a message that says what
// was expected and what was found.
inline Status InstructionError(const Program& program, size_t index,
                               std::string_view message) {
  const ProgramInstruction& instruction = program.instructions[index];
  return InvalidArgumentError(
      Concat({"program ", program.name, ": instruction ", index, " (",
              InfoOf(instruction.opcode).text, "): ", message}));
}

inline Status ArithmeticError(const Program& program, size_t index) {
  return InstructionError(
      program, index,
      "expected a number that fits 64 bits, found overflow or division by "
      "zero");
}

// Returns the error of a kCheckEqual or kCheckTrue instruction that failed. b
// and c are the values of the instruction's registers; c is not used by
// kCheckTrue.
inline Status CheckError(const Program& program,
                         const ProgramInstruction& instruction, int64_t b,
                         int64_t c) {
  std::string message =
      program.messages[static_cast<size_t>(instruction.immediate)];
  if (instruction.opcode == ProgramOpcode::kCheckEqual)
    message += Concat({": expected ", c, ", found ", b});
  return InvalidArgumentError(std::move(message));
}

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_INTEGER_INSTRUCTIONS_H_
