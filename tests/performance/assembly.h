// Parses machine code as LLVM prints it, for x86-64 (AT&T) and AArch64: its
// instructions, their accesses to memory, and its innermost loops. For tests of
// properties of code; only what they need is known.
//
//   for (const Loop& loop : InnermostLoops(ParseAssembly(text)))
//     for (const Instruction& instruction : loop) ...
#ifndef EMBER_TESTS_PERFORMANCE_ASSEMBLY_H_
#define EMBER_TESTS_PERFORMANCE_ASSEMBLY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ember::tests {

// The address and size of memory that an instruction reads or writes.
struct MemoryAccess {
  // Name of the base, a register or a symbol, such as "rax" or "x0"; "" if
  // there is none.
  std::string base;
  // The index register with its scale, such as "rcx*4" or "x1,lsl#2"; "" if
  // there is none.
  std::string index;
  int64_t offset = 0;
  int64_t bytes = 0;
  bool is_store = false;
  // True for a gather or scatter, in which each lane has its own address.
  bool is_gather = false;
};

struct Instruction {
  std::string name;  // name of the instruction, such as "vfmadd231ps"
  std::vector<std::string> operands;  // operands as printed
  // Accesses to memory, loads before stores.
  std::vector<MemoryAccess> accesses;
  // General registers that the instruction writes, by their 64-bit names.
  std::vector<std::string> written;
  // Number of bytes of the widest vector register that the instruction uses;
  // for scalar floats 4 or 8.
  int vector_bytes = 0;
  // True if the instruction adds, multiplies … floats.
  bool is_float_arithmetic = false;
  // True if the instruction works on all lanes of the vector, not only on the
  // first one.
  bool is_lane = false;
};

// A part of a function with one entry, and at most one branch, at its end.
struct Block {
  std::string label;  // label of the block; "" if no branch leads to it
  std::vector<Instruction> instructions;
  // Label to which the block's branch leads. It is "" if the block has no
  // branch and the next block follows.
  std::string target;
};

struct Function {
  std::string name;
  std::vector<Block> blocks;  // the function's blocks, in the order of the code
};

std::vector<Function> ParseAssembly(std::string_view text);

// The instructions of each loop that contains no other loop, in the order of
// the code.
using Loop = std::vector<Instruction>;
std::vector<Loop> InnermostLoops(const std::vector<Function>& functions);

// True for an access of the stack, which is used if there are too few
// registers.
bool IsOnStack(const MemoryAccess& access);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_ASSEMBLY_H_
