// The control instruction table of programs: a register machine over 64-bit
// integers and buffer references. Encoder, verifier, text form and executor
// expand these rows.
//
// Fixed width: every instruction is one ProgramInstruction of 24 bytes. There
// are two register files: i0… (int64) and b0… (references to memory: base
// pointer, byte length, owner). Variable-length operand lists (Dispatch,
// LibraryCall, Result, CallProgram) live in Program::operands.
#ifndef EMBER_VM_ISA_INSTRUCTIONS_H_
#define EMBER_VM_ISA_INSTRUCTIONS_H_

#include <cstdint>
#include <string_view>

namespace ember::vm {

// Columns: (name, text, operand signature, doc). The letters of a signature
// describe the fields a, b, c and immediate, in this order:
//   I written integer register   i read integer register
//   B written buffer register    b read buffer register
//   w buffer register whose memory is written    u b and B in one
//   v immediate value            t instruction index (branch target)   - unused
//   n input number   r result number   k constant number   d dispatch number
//   (of `call`: the number of the library function)
//   m message number   p program number   y DType, an integer or bool
//   o first position in the operand list    s count in the operand list
// clang-format off
#define EMBER_FOR_EACH_PROGRAM_INSTRUCTION(row) \
  row(Integer, "integer", "I--v", "a = immediate") \
  row(InputDim, "input_dim", "In-v", "a = extent of dim `immediate` of input b") \
  row(InputBuffer, "input", "Bn--", "a = the memory of input b") \
  row(ConstantBuffer, "constant", "Bk--", "a = the memory of constant b (read-only)") \
  row(Add, "add", "Iii-", "a = b + c, trapping on overflow") \
  row(Subtract, "sub", "Iii-", "a = b - c, trapping on overflow") \
  row(Multiply, "mul", "Iii-", "a = b * c, trapping on overflow") \
  row(FloorDivide, "floordiv", "Iii-", "a = floor(b / c), trapping on c = 0") \
  row(Modulo, "mod", "Iii-", "a = b - c * floor(b / c), trapping on c = 0") \
  row(Minimum, "min", "Iii-", "a = smaller of b and c") \
  row(Maximum, "max", "Iii-", "a = larger of b and c") \
  row(Less, "less", "Iii-", "a = b < c ? 1 : 0") \
  row(Equal, "equal", "Iii-", "a = b == c ? 1 : 0") \
  row(Move, "move", "Ii--", "a = b") \
  row(CheckEqual, "check_equal", "-iim", "error with message unless b == c") \
  row(CheckTrue, "check", "-i-m", "error with message unless b != 0") \
  row(Branch, "branch", "---t", "go to the target") \
  row(BranchIf, "branch_if", "-i-t", "go to the target if b != 0") \
  row(Arena, "arena", "B--v", "a = the session's planned arena, at least `immediate` bytes") \
  row(Allocate, "allocate", "Bi--", "a = new memory of b bytes, zeroed or reused, 64-byte aligned") \
  row(View, "view", "Bbiv", "a = part of b at byte offset `immediate`, c bytes long, checked") \
  row(MoveBuffer, "move_buffer", "Bb--", "a = b") \
  row(Release, "release", "b---", "drop a's reference") \
  row(LoadInteger, "load_integer", "Ibyv", "a = element of type c at byte offset `immediate` of b, checked; a u64 above the largest i64 is that one") \
  row(Dispatch, "dispatch", "dos-", "run dispatch a; operands: parameters (i), then inputs and outputs (b)") \
  row(LibraryCall, "call", "dos-", "run library function a; operands as its row declares") \
  row(Result, "result", "rbos", "result a is buffer b, its `immediate` dims listed from operand position c (i)") \
  row(Return, "return", "----", "end of the program") \
  row(CallProgram, "call_program", "pos-", "run program a, whose number is higher; operands: parameters (i), inputs (b), then for each result its memory (B) and dims (I)") \
  row(StoreInteger, "store_integer", "wi-v", "the i64 at byte offset `immediate` of a = b, checked") \
  row(Append, "append", "uibi", "a = the first b bytes of a, then the first `immediate` bytes of c, in place if a's memory is its own and has room") \
  row(SliceAt, "slice_at", "Bbii", "a = part of b at byte offset c, `immediate` bytes long, checked, to be read; a copy where it is not 16-byte aligned")
// clang-format on

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_INSTRUCTIONS_H_
