#include "vm/runtime/memory_pool.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"

namespace ember::vm {
namespace {

std::shared_ptr<hal::Device> Host() {
  return *hal::CreateCpuDevice({.threads = 1});
}

MemoryBlock* Take(MemoryPool& pool, int64_t bytes) {
  const StatusOr<MemoryBlock*> block = pool.Acquire(bytes);
  EXPECT_TRUE(block.ok()) << block.status().ToString();
  return block.ok() ? *block : nullptr;
}

TEST(MemoryPoolTest, IdleBlocksAreUsedAgain) {
  MemoryPool pool(Host(), 0);
  MemoryBlock* const first = Take(pool, 1000);
  const int64_t used = pool.used_bytes();
  first->Drop();
  EXPECT_EQ(Take(pool, 900), first);
  EXPECT_EQ(pool.used_bytes(), used);
  first->Drop();
}

// Blocks that are in use must keep their contents, even if they were idle
// before.
TEST(MemoryPoolTest, IdleBlocksMakeRoomUnderTheLimit) {
  MemoryPool pool(Host(), 8192);
  MemoryBlock* const kept = Take(pool, 1024);
  MemoryBlock* const idle = Take(pool, 2048);
  MemoryBlock* again = Take(pool, 1024);
  again->Drop();
  again = Take(pool, 1024);
  kept->data()[1023] = 17;
  again->data()[1023] = 18;
  EXPECT_EQ(pool.Acquire(8192).status().code(), StatusCode::kResourceExhausted);
  idle->Drop();
  EXPECT_EQ(pool.used_bytes(), 4096);
  MemoryBlock* const large = Take(pool, 6144);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(pool.used_bytes(), 8192);
  EXPECT_EQ(kept->data()[1023], 17);
  EXPECT_EQ(again->data()[1023], 18);
  for (MemoryBlock* block : {kept, again, large}) block->Drop();
  EXPECT_EQ(pool.used_bytes(), 8192);
  EXPECT_EQ(Take(pool, 8192)->capacity(), 8192);
  EXPECT_EQ(pool.used_bytes(), 8192);
}

// An untrusted program may have many idle blocks. If each block were freed in a
// pass of its own, this would take an hour, and Cancel could not stop it.
TEST(MemoryPoolTest, ManyIdleBlocksAreFreedAtOnce) {
  constexpr int64_t kBlocks = 500'000;
  MemoryPool pool(Host(), kBlocks * 256);
  std::vector<MemoryBlock*> blocks;
  for (int64_t i = 0; i < kBlocks; ++i) blocks.push_back(Take(pool, 256));
  for (MemoryBlock* block : blocks) block->Drop();
  EXPECT_EQ(pool.used_bytes(), kBlocks * 256);
  MemoryBlock* const large = Take(pool, kBlocks);
  EXPECT_EQ(pool.used_bytes(), large->capacity());
  large->Drop();
}

}  // namespace
}  // namespace ember::vm
