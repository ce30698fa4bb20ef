// Tests that the memory of a program is never used for two things at once, and
// that memory which is free is used.
#include "tools/lib/c_program/memory_layout.h"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tools/lib/c_program/byte_ranges.h"

namespace ember::tools {
namespace {

using Kind = LineStep::Kind;

LineStep DispatchStep(std::vector<MemoryRange> inputs,
                      const std::vector<MemoryRange>& outputs) {
  LineStep step;
  step.input_count = inputs.size();
  step.operands = std::move(inputs);
  step.overwrites.assign(step.operands.size(), false);
  for (const MemoryRange& output : outputs) {
    step.operands.push_back(output);
    step.overwrites.push_back(true);
  }
  return step;
}

LineStep ResultStep(uint32_t result, MemoryRange range) {
  LineStep step;
  step.kind = Kind::kResult;
  step.result = result;
  step.operands = {range};
  return step;
}

MemoryRange Arena(int64_t offset, int64_t bytes) {
  return {Memory::kArena, 0, offset, bytes};
}
MemoryRange Block(uint32_t number, int64_t bytes) {
  return {Memory::kBlock, number, 0, bytes};
}
MemoryRange Input(int64_t bytes) { return {Memory::kInput, 0, 0, bytes}; }

TEST(ByteRanges, GapsAreWhatWasNotAdded) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 200; ++run) {
    constexpr int64_t kSize = 64;
    ByteRanges ranges;
    std::vector<bool> expected(kSize, false);
    for (int i = 0; i < 12; ++i) {
      const auto begin = static_cast<int64_t>(random() % kSize);
      const auto end =
          begin + static_cast<int64_t>(
                      random() % static_cast<uint64_t>(kSize - begin + 1));
      if (i % 2 == 0) {
        ranges.Add(begin, end);
        for (int64_t k = begin; k < end; ++k)
          expected[static_cast<size_t>(k)] = true;
        continue;
      }
      std::vector<bool> found(kSize, true);
      for (const ByteRange& gap : ranges.Gaps(begin, end)) {
        EXPECT_LT(gap.begin, gap.end);
        for (int64_t k = gap.begin; k < gap.end; ++k)
          found[static_cast<size_t>(k)] = false;
      }
      for (int64_t k = begin; k < end; ++k) {
        EXPECT_EQ(found[static_cast<size_t>(k)],
                  expected[static_cast<size_t>(k)]);
      }
    }
  }
}

TEST(MemoryLayout, TemporariesAreInFreePartsOfTheArena) {
  StraightLine line;
  line.arena_bytes = 192;
  line.steps.push_back(DispatchStep({Input(64)}, {Arena(0, 64)}));
  line.steps.push_back(DispatchStep({Arena(0, 64)}, {Arena(128, 64)}));
  line.steps.push_back(DispatchStep({Arena(128, 64)}, {Arena(64, 64)}));
  line.steps.push_back(ResultStep(0, Arena(64, 64)));
  const std::vector<int64_t> scratch = {128, 64, 0, 0};
  const MemoryLayout layout = LayOutMemory(line, scratch);
  // Step 0 uses bytes 0 to 63 only, and step 1 all but 64 to 127.
  EXPECT_EQ(layout.scratch_offsets[0], 64);
  EXPECT_EQ(layout.scratch_offsets[1], 64);
  EXPECT_EQ(layout.arena_bytes, 192);
}

TEST(MemoryLayout, WholeResultsAreTheCallersMemory) {
  StraightLine line;
  line.block_bytes = {64, 64, 128};
  line.steps.push_back(
      DispatchStep({Input(64)}, {Block(0, 64), Block(1, 64), Block(2, 128)}));
  line.steps.push_back(ResultStep(0, Block(0, 64)));
  line.steps.push_back(ResultStep(1, Block(0, 64)));
  line.steps.push_back(ResultStep(2, Block(2, 64)));
  const MemoryLayout layout =
      LayOutMemory(line, std::vector<int64_t>(line.steps.size()));
  EXPECT_EQ(layout.blocks[0].result, 0u);
  // Block 1 is no result, and only a part of block 2 is one.
  EXPECT_EQ(layout.blocks[1].result, std::nullopt);
  EXPECT_EQ(layout.blocks[2].result, std::nullopt);
  EXPECT_EQ(layout.arena_bytes, 192);
}

TEST(MemoryLayout, ResultsThatAreSetTwiceAreCopies) {
  StraightLine line;
  line.block_bytes = {64, 64};
  line.steps.push_back(DispatchStep({Input(64)}, {Block(0, 64)}));
  line.steps.push_back(ResultStep(0, Block(0, 64)));
  line.steps.push_back(DispatchStep({Input(64)}, {Block(1, 64)}));
  line.steps.push_back(ResultStep(0, Block(1, 64)));
  const MemoryLayout layout =
      LayOutMemory(line, std::vector<int64_t>(line.steps.size()));
  EXPECT_EQ(layout.blocks[0].result, std::nullopt);
  EXPECT_EQ(layout.blocks[1].result, std::nullopt);
}

// Runs random programs on a model of memory in which each byte holds the number
// of its last writer. Each reader must find the writers that it would find if
// all memories were apart.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {
    line_.arena_bytes = 256;
    for (uint64_t i = 0; i < 3; ++i)
      line_.block_bytes.push_back(static_cast<int64_t>(16 + Below(100)));
    const uint64_t steps = 1 + Below(12);
    for (uint64_t i = 0; i < steps; ++i) {
      line_.steps.push_back(DispatchStep({RandomRange(), RandomRange()},
                                         {RandomRange(), RandomRange()}));
      scratch_.push_back(static_cast<int64_t>(Below(3) * Below(100)));
    }
    const uint32_t block = static_cast<uint32_t>(Below(3));
    line_.steps.push_back(
        ResultStep(0, Block(block, line_.block_bytes[block])));
    scratch_.push_back(0);
  }

  void Check() {
    const MemoryLayout layout = LayOutMemory(line_, scratch_);
    std::vector<int> arena(static_cast<size_t>(layout.arena_bytes), -1);
    std::vector<int> result(256, -1);
    std::vector<std::vector<int>> apart(1 + line_.block_bytes.size(),
                                        std::vector<int>(512, -1));
    int writes = 0;
    for (size_t i = 0; i < line_.steps.size(); ++i) {
      const LineStep& step = line_.steps[i];
      const auto use_scratch = [&] {
        const auto begin = static_cast<size_t>(layout.scratch_offsets[i]);
        for (int64_t k = 0; k < scratch_[i]; ++k)
          arena.at(begin + static_cast<size_t>(k)) = -2;
      };
      // A kernel may write its temporaries before it reads its inputs, and
      // after it has written its outputs.
      use_scratch();
      for (size_t k = 0; k < step.operands.size(); ++k) {
        const MemoryRange& range = step.operands[k];
        const bool is_arena = range.memory == Memory::kArena;
        const MemoryLayout::Block block =
            is_arena ? MemoryLayout::Block() : layout.blocks[range.number];
        std::vector<int>& placed = block.result ? result : arena;
        std::vector<int>& expected = apart[is_arena ? 0 : 1 + range.number];
        const bool is_read = step.kind == Kind::kResult || k < step.input_count;
        if (!is_read) ++writes;
        for (int64_t at = range.offset; at < range.offset + range.bytes; ++at) {
          int& here = placed.at(static_cast<size_t>(at + block.offset));
          int& there = expected.at(static_cast<size_t>(at));
          // Only what the program has written matters: a real one clears the
          // rest before it is read.
          if (is_read && there >= 0) {
            EXPECT_EQ(here, there);
          }
          if (!is_read) here = there = writes;
        }
      }
      use_scratch();
    }
  }

 private:
  uint64_t Below(uint64_t end) { return random_() % end; }
  MemoryRange RandomRange() {
    const uint64_t which = Below(5);
    if (which < 3) {
      const auto number = static_cast<uint32_t>(which);
      return Block(number, line_.block_bytes[number]);
    }
    const auto offset = static_cast<int64_t>(Below(3) * 64);
    return Arena(offset, static_cast<int64_t>(1 + Below(64)));
  }

  std::mt19937_64 random_;
  StraightLine line_;
  std::vector<int64_t> scratch_;
};

TEST(MemoryLayout, NothingIsOverwrittenBeforeItIsRead) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomProgram(seed).Check();
  }
}

}  // namespace
}  // namespace ember::tools
