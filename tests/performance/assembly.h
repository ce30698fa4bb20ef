// Machine code as LLVM prints it, for x86-64 (AT&T) and AArch64: its
// instructions, what each does to memory, and its innermost loops. For tests
// that look at properties of code; what is not needed for those is not known.
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

// What an instruction reads or writes of memory.
struct MemoryAccess {
  std::string base;   // "rax", "x0", a symbol; "" for none
  std::string index;  // with its scale: "rcx*4", "x1,lsl#2"; "" for none
  int64_t offset = 0;
  int64_t bytes = 0;
  bool is_store = false;
  bool is_gather = false;  // or scatter: each lane has its address
};

struct Instruction {
  std::string name;                    // "vfmadd231ps"
  std::vector<std::string> operands;   // as printed
  std::vector<MemoryAccess> accesses;  // in order: loads come first
  std::vector<std::string> written;    // general registers, 64 bits' names
  int vector_bytes = 0;  // of the widest vector register; scalar floats: 4, 8
  bool is_float_arithmetic = false;  // adds, multiplies …, on floats
  bool is_lane = false;              // of all lanes, not of the first alone
};

// A function's part, with one way in and a branch at its end, if any.
struct Block {
  std::string label;  // "": nobody branches to it
  std::vector<Instruction> instructions;
  std::string target;  // of the branch; "": it goes on with the next block
};

struct Function {
  std::string name;
  std::vector<Block> blocks;  // as they are laid out
};

std::vector<Function> ParseAssembly(std::string_view text);

// The instructions of each loop without another one inside, as they are laid
// out.
using Loop = std::vector<Instruction>;
std::vector<Loop> InnermostLoops(const std::vector<Function>& functions);

// Of the stack, where registers do not suffice.
bool IsOnStack(const MemoryAccess& access);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_ASSEMBLY_H_
