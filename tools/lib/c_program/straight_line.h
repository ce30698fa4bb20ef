// The entry program of a module with fixed shapes as a list of steps without
// control flow: its integers are computed, its checks are done, its loops are
// unrolled, calls of programs are replaced by their steps, and each memory that
// a step uses is known. It is what a program without a virtual machine
// executes (c_text.h).
//
//   program main(x: f32[4]) -> (y: f32[4]) {
//     i0 = integer 16                 // no step
//     b0 = input x                    // no step
//     b1 = arena 64                   // no step
//     dispatch @scale(b0 -> b1)     // step 0: inputs[0] -> arena
//     result y = b1 [i1]              // step 1: arena -> results[0]
//     return
//   }
//
//   EMBER_ASSIGN_OR_RETURN(const StraightLine line,
//                          StraightLineOf(*module, {{4}}));
//   line.steps[0].operands[1];        // {Memory::kArena, 0, 0, 16}
//
// Offsets and sizes are in bytes. A value of plain data, which refers to the
// module by numbers only. Thread-safe.
//
// Errors are one line that names the input, instruction or dispatch: a dim that
// is not a number; strings; loops of too many steps; a call of a library
// function; a load of an integer that depends on data; a check that fails;
// numbers that overflow; memory that is too small.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_STRAIGHT_LINE_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_STRAIGHT_LINE_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"

namespace ember::tools {

enum class Memory : uint8_t {
  kInput,     // memory of the caller, which is read
  kConstant,  // a constant of the module
  kArena,     // the arena that the compiler has laid out
  kBlock,     // the memory of an `allocate` instruction
};

// A range of memory. `number` is that of the input, constant or block; the
// arena has the number 0.
struct MemoryRange {
  Memory memory = Memory::kArena;
  uint32_t number = 0;
  int64_t offset = 0;
  int64_t bytes = 0;

  bool operator==(const MemoryRange&) const = default;
};

struct LineStep {
  enum class Kind : uint8_t {
    kDispatch,  // runs a dispatch on the operands
    kClear,     // sets operands[0] to zeros, because a later step reads memory
                // that no step has written
    kCopy,      // copies operands[0] to operands[1], which do not overlap
    kStore,     // stores `number`, an i64, to operands[0]
    kResult,    // operands[0] is the value of result `result`
  };
  Kind kind = Kind::kDispatch;
  // The number of the instruction in its program.
  size_t instruction = 0;
  // For kDispatch: the number of the site in Module::sites, the values of the
  // dispatch's parameters, and the number of operands that are inputs. Outputs
  // follow them.
  size_t site = 0;
  std::vector<int64_t> parameters;
  size_t input_count = 0;
  // For kDispatch, for each operand: true if the step writes all of its bytes,
  // whatever they were before.
  std::vector<bool> overwrites;
  std::vector<MemoryRange> operands;
  int64_t number = 0;
  uint32_t result = 0;
};

struct StraightLine {
  std::vector<LineStep> steps;
  // The bytes of the arena that the program uses, and of each block.
  int64_t arena_bytes = 0;
  std::vector<int64_t> block_bytes;
  // The dims of each input and result.
  std::vector<std::vector<int64_t>> input_dims, result_dims;
};

// input_dims: the dims of each input (input_dims.h), which its signature
// allows. It is an error if one of them is -1.
StatusOr<StraightLine> StraightLineOf(
    const vm::Module& module, std::vector<std::vector<int64_t>> input_dims);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_STRAIGHT_LINE_H_
