#include "vm/runtime/memory/scratch_blocks.h"

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace ember::vm {
namespace {

TEST(ScratchBlocksTest, TheSmallestThatIsLargeEnoughIsTakenAgain) {
  ScratchBlocks blocks;
  ScratchBlocks::Block small = blocks.Take(1000), large = blocks.Take(100000);
  EXPECT_GE(small.bytes, 1000);
  EXPECT_GE(large.bytes, 100000);
  const void* const first = small.memory.get();
  const void* const second = large.memory.get();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  blocks.Return(std::move(large));
  blocks.Return(std::move(small));
  ScratchBlocks::Block again = blocks.Take(500);
  EXPECT_EQ(again.memory.get(), first);
  EXPECT_EQ(blocks.Take(500).memory.get(), second);
}

// A larger block must replace a smaller one: there must be only as many blocks
// as concurrent calls, whatever their sizes.
TEST(ScratchBlocksTest, ALargerOneTakesTheSmallersPlace) {
  ScratchBlocks blocks;
  for (int64_t bytes = 64; bytes <= 64 * 1024; bytes *= 2)
    blocks.Return(blocks.Take(bytes));
  ScratchBlocks::Block block = blocks.Take(64);
  EXPECT_GE(block.bytes, 64 * 1024);
}

TEST(ScratchBlocksTest, WhatIsReservedIsTakenOnce) {
  ScratchBlocks blocks;
  blocks.Reserve(100000);
  blocks.Reserve(100000);
  blocks.Reserve(500);
  const int64_t reserved = blocks.made_bytes();
  EXPECT_GE(reserved, 100000);
  EXPECT_LT(reserved, 2 * 100000);
  ScratchBlocks::Block block = blocks.Take(100000);
  EXPECT_EQ(blocks.made_bytes(), reserved);
  // The block that is in use will be returned, so another reservation of its
  // size must not allocate memory.
  blocks.Reserve(100000);
  EXPECT_EQ(blocks.made_bytes(), reserved);
  blocks.Reserve(INT64_MAX);
  EXPECT_EQ(blocks.made_bytes(), reserved);
}

TEST(ScratchBlocksTest, WhatThereIsNotIsNull) {
  ScratchBlocks blocks;
  EXPECT_EQ(blocks.Take(INT64_MAX).memory, nullptr);
  EXPECT_NE(blocks.Take(0).memory, nullptr);
}

TEST(ScratchBlocksTest, AreSharedAsLongAsSomebodyHasThem) {
  const std::shared_ptr<ScratchBlocks> one = ScratchBlocks::Shared();
  EXPECT_EQ(ScratchBlocks::Shared(), one);
}

// No two threads must get the same block at a time. ThreadSanitizer checks for
// data races.
TEST(ScratchBlocksTest, EightThreads) {
  ScratchBlocks blocks;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&blocks, thread] {
      for (int i = 0; i < 500; ++i) {
        const size_t bytes = static_cast<size_t>(64 + 997 * i % 8192);
        ScratchBlocks::Block block = blocks.Take(static_cast<int64_t>(bytes));
        std::memset(block.memory.get(), thread, bytes);
        const auto* const data =
            static_cast<const unsigned char*>(block.memory.get());
        EXPECT_EQ(data[0], thread);
        EXPECT_EQ(data[bytes - 1], thread);
        blocks.Return(std::move(block));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ember::vm
