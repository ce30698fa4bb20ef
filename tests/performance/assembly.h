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

// Memory that an instruction reads or writes.
struct MemoryAccess {
  std::string base;   // "rax", "x0", a symbol; "" for none
  std::string index;  // index with its scale: "rcx*4", "x1,lsl#2"; "" for none
  int64_t offset = 0;
  int64_t bytes = 0;
  bool is_store = false;
  bool is_gather = false;  // gather or scatter: each lane has its own address
};

struct Instruction {
  std::string name;                    // "vfmadd231ps"
  std::vector<std::string> operands;   // as printed
  std::vector<MemoryAccess> accesses;  // in order, loads first
  std::vector<std::string> written;  // general registers, by their 64-bit names
  // Size of the widest vector register; 4 or 8 for scalar floats.
  int vector_bytes = 0;
  bool is_float_arithmetic = false;  // additions, multiplications … of floats
  bool is_lane = false;  // works on all lanes, not on the first one alone
};

// A part of a function with one entry, and at most one branch, at its end.
struct Block {
  std::string label;  // "" if no branch leads to it
  std::vector<Instruction> instructions;
  std::string target;  // target of the branch; "": the next block follows
};

struct Function {
  std::string name;
  std::vector<Block> blocks;  // in the order of the code
};

std::vector<Function> ParseAssembly(std::string_view text);

// The instructions of each loop that contains no other loop, in the order of
// the code.
using Loop = std::vector<Instruction>;
std::vector<Loop> InnermostLoops(const std::vector<Function>& functions);

// True for the stack, which is used if there are too few registers.
bool IsOnStack(const MemoryAccess& access);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_ASSEMBLY_H_
