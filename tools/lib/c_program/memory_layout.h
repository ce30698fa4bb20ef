// Decides where the memory of a program without a heap is: blocks in the memory
// of the caller's results or in the arena, and the temporaries of kernels in
// parts of the arena that hold nothing at that time.
//
//   const MemoryLayout layout = LayOutMemory(line, scratch_bytes);
//   layout.arena_bytes;      // the size of the program's only array in RAM
//
// The arena that the compiler has laid out keeps its offsets. A block that
// becomes a whole result is the caller's memory for that result. Everything
// else is placed first fit, the largest first. Offsets and sizes are in bytes.
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_MEMORY_LAYOUT_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_MEMORY_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tools/lib/c_program/straight_line.h"

namespace ember::tools {

// Alignment of blocks and temporaries in the arena, which suffices for the
// elements of every type and for the vectors of small processors.
inline constexpr int64_t kBlockAlignment = 16;

struct MemoryLayout {
  struct Block {
    // The number of the result in whose memory the block is; empty: the block
    // is in the arena, at `offset`.
    std::optional<uint32_t> result;
    int64_t offset = 0;

    bool operator==(const Block&) const = default;
  };
  std::vector<Block> blocks;
  // For each step, the offset in the arena of its temporaries.
  std::vector<int64_t> scratch_offsets;
  int64_t arena_bytes = 0;
};

// scratch_bytes: for each step, the bytes of temporaries that it needs.
MemoryLayout LayOutMemory(const StraightLine& line,
                          std::span<const int64_t> scratch_bytes);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_MEMORY_LAYOUT_H_
