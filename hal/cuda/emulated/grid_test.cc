#include "hal/cuda/emulated/grid.h"

#include <cstring>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "gtest/gtest.h"
#include "hal/cuda/emulated/warp_matrices.h"

namespace ember::hal::cuda {
namespace {

// --- kernels for the tests, written as a compiler would generate them

void Access(GridThread* thread, const void* address, uint64_t bytes,
            AccessKind kind) {
  thread->functions->access(thread, address, bytes,
                            static_cast<uint32_t>(kind));
}

uint32_t Load(GridThread* thread, const uint32_t* address) {
  Access(thread, address, 4, AccessKind::kLoad);
  return *address;
}

void Store(GridThread* thread, uint32_t* address, uint32_t value) {
  Access(thread, address, 4, AccessKind::kStore);
  *address = value;
}

uint32_t* Out(void* const* arguments) {
  return *static_cast<uint32_t* const*>(arguments[0]);
}

uint32_t* Shared(GridThread* thread) {
  return reinterpret_cast<uint32_t*>(thread->shared);
}

// A kernel that sets out[block * threads + thread] to the value that the next
// thread stored to shared memory.
void Rotate(GridThread* thread, void* const* arguments) {
  const uint32_t number = thread->thread[0], count = thread->threads[0];
  const uint32_t first = thread->block[0] * count;
  for (uint32_t iteration = 0; iteration < 3; ++iteration) {
    Store(thread, Shared(thread) + number, first + number + iteration);
    thread->functions->barrier(thread);
    const uint32_t next = Load(thread, Shared(thread) + (number + 1) % count);
    thread->functions->barrier(thread);
    if (iteration == 2) Store(thread, Out(arguments) + first + number, next);
  }
}

void RotateWithoutBarrier(GridThread* thread, void* const*) {
  const uint32_t number = thread->thread[0], count = thread->threads[0];
  Store(thread, Shared(thread) + number, number);
  Load(thread, Shared(thread) + (number + 1) % count);
}

void LeaveSomeAtBarrier(GridThread* thread, void* const*) {
  if (thread->thread[0] != 2) thread->functions->barrier(thread);
}

void StoreBehindShared(GridThread* thread, void* const*) {
  Access(thread, thread->shared + 1022, 4, AccessKind::kStore);
}

void StoreOutside(GridThread* thread, void* const* arguments) {
  Store(thread, Out(arguments) + 1000000, 1);
}

// A kernel that sets out[lane] to the sum of the values of all lanes, by
// butterfly shuffles.
void SumOfWarp(GridThread* thread, void* const* arguments) {
  const uint32_t lane = thread->thread[0];
  uint32_t sum = lane * lane;
  for (uint32_t step = 16; step > 0; step /= 2) {
    sum += thread->functions->shuffle(
        thread, static_cast<uint32_t>(ShuffleMode::kButterfly), UINT32_MAX, sum,
        step, 0x1f);
  }
  Store(thread, Out(arguments) + lane, sum);
}

void Shift(GridThread* thread, void* const* arguments) {
  const uint32_t lane = thread->thread[0];
  const auto shuffle = [&](ShuffleMode mode, uint32_t by, uint32_t clamp) {
    return thread->functions->shuffle(thread, static_cast<uint32_t>(mode),
                                      UINT32_MAX, 100 + lane, by, clamp);
  };
  uint32_t* const out = Out(arguments) + 4 * lane;
  Store(thread, out, shuffle(ShuffleMode::kUp, 1, 0));
  Store(thread, out + 1, shuffle(ShuffleMode::kDown, 2, 0x1f));
  Store(thread, out + 2, shuffle(ShuffleMode::kIndex, 5, 0x1f));
  // The operand 0x101f makes the shuffle work in segments of 16 lanes, so each
  // half of the warp exchanges values separately.
  Store(thread, out + 3, shuffle(ShuffleMode::kIndex, 3, 0x101f));
}

// A kernel that sets out[4 * lane ...] to the registers c0 to c3 of the product
// a * b. The bytes of a are a[i][k] = 16 * i + k, loaded by ldmatrix; b (32 by
// 8) is twice the unit matrix.
void MultiplyOnWarp(GridThread* thread, void* const* arguments) {
  const uint32_t lane = thread->thread[0];
  // Rows begin 48 bytes apart, so that the eight rows of a matrix are in
  // different banks of shared memory.
  const auto row = [&](uint32_t i) { return thread->shared + 48 * i; };
  if (lane < 16) {
    for (uint32_t k = 0; k < 32; k += 4) {
      const uint32_t first = lane * 16 + k;
      Store(thread, reinterpret_cast<uint32_t*>(row(lane) + k),
            (first & 255) | ((first + 1) & 255) << 8 |
                ((first + 2) & 255) << 16 | ((first + 3) & 255) << 24);
    }
  }
  thread->functions->barrier(thread);
  uint32_t operands[10] = {};
  thread->functions->load_matrices(thread, 4, 0,
                                   row(lane % 16) + (lane / 16) * 16, operands);
  // The elements b[k][column] are in the registers of lane 4 * column + thread:
  // those with k = 4 * thread + i in one register, those with k 16 higher in
  // the next one.
  for (uint32_t i = 0; i < 4; ++i) {
    if (4 * (lane % 4) + i == lane / 4) operands[4] |= 2u << (8 * i);
  }
  const WarpProduct product = {
      .depth = 32, .a = DType::kU8, .b = DType::kI8, .sum = DType::kI32};
  uint32_t result[4] = {};
  thread->functions->multiply(thread, product.Pack(), operands, result);
  for (uint32_t i = 0; i < 4; ++i)
    Store(thread, Out(arguments) + 4 * lane + i, result[i]);
}

// A kernel that sets out[lane] to two elements of a matrix of 16-bit numbers,
// read down the columns of the matrix (a transposed load).
void LoadTransposed(GridThread* thread, void* const* arguments) {
  const uint32_t lane = thread->thread[0];
  if (lane < 8) {
    for (uint32_t i = 0; i < 4; ++i) {
      Store(thread, Shared(thread) + 4 * lane + i,
            (lane * 8 + 2 * i) | (lane * 8 + 2 * i + 1) << 16);
    }
  }
  thread->functions->barrier(thread);
  uint32_t loaded = 0;
  thread->functions->load_matrices(thread, 1, 1,
                                   thread->shared + 16 * (lane % 8), &loaded);
  Store(thread, Out(arguments) + lane, loaded);
}

void LoadFromOddAddress(GridThread* thread, void* const*) {
  uint32_t loaded = 0;
  thread->functions->load_matrices(
      thread, 1, 0, thread->shared + 8 * thread->thread[0], &loaded);
}

// Returns the address of a 16-bit element of a matrix with swizzled rows of 128
// bytes.
uint16_t* InPanel(GridThread* thread, uint32_t begin, uint32_t row,
                  uint32_t column) {
  const uint32_t piece = column / 8 ^ row % 8;
  return reinterpret_cast<uint16_t*>(thread->shared + begin + 128 * row +
                                     16 * piece) +
         column % 8;
}

// MultiplyOnGroup is a kernel that sets out[128 * c + thread] to the thread's
// register c of the product a * b. Both matrices are in shared memory: a[i][k]
// = i for k = 0, b[0][j] = j + 1, and all other elements are 0. All threads use
// the same factors. Afterwards the kernel stores to a, with or without waiting
// for the product. Fence: where the kernel makes a fence after it has stored
// the factors.
enum class Fence : uint8_t { kBeforeBarrier, kBehindBarrier, kNone };
void MultiplyOnGroup(GridThread* thread, void* const* arguments,
                     uint32_t groups_left,
                     Fence fence = Fence::kBeforeBarrier) {
  constexpr uint32_t kRows = 64, kDepth = 16, kColumns = 8, kB = 8192;
  const uint32_t number = thread->thread[0];
  if (number == 0) {
    for (uint32_t k = 0; k < kDepth; ++k) {
      for (uint32_t i = 0; i < kRows; ++i) {
        uint16_t* const element = InPanel(thread, 0, i, k);
        Access(thread, element, 2, AccessKind::kStore);
        *element = k == 0 ? ToFloat16(static_cast<float>(i)).bits : 0;
      }
      for (uint32_t j = 0; j < kColumns; ++j) {
        uint16_t* const element = InPanel(thread, kB, j, k);
        Access(thread, element, 2, AccessKind::kStore);
        *element = k == 0 ? ToFloat16(static_cast<float>(j + 1)).bits : 0;
      }
    }
  }
  if (fence == Fence::kBeforeBarrier) thread->functions->order_stores(thread);
  thread->functions->barrier(thread);
  if (fence == Fence::kBehindBarrier) thread->functions->order_stores(thread);
  const WarpProduct product = {
      .depth = kDepth, .a = DType::kF16, .b = DType::kF16, .sum = DType::kF32};
  constexpr uint64_t kDescriptor = uint64_t{1} << 62 | uint64_t{64} << 32;
  uint32_t sums[4] = {};
  thread->functions->multiply_shared(thread, product.Pack(), kColumns, 0,
                                     kDescriptor, thread->shared, 0,
                                     kDescriptor, thread->shared + kB, sums);
  thread->functions->commit_products(thread);
  thread->functions->await_products(thread, groups_left);
  thread->functions->barrier(thread);
  if (number == 0) Store(thread, Shared(thread), 0);
  for (uint32_t c = 0; c < 4; ++c)
    Store(thread, Out(arguments) + 128 * c + number, sums[c]);
}

void MultiplyAndAwait(GridThread* thread, void* const* arguments) {
  MultiplyOnGroup(thread, arguments, 0);
}
void MultiplyAndStore(GridThread* thread, void* const* arguments) {
  MultiplyOnGroup(thread, arguments, 1);
}
void MultiplyWithoutFence(GridThread* thread, void* const* arguments) {
  MultiplyOnGroup(thread, arguments, 0, Fence::kNone);
}
void MultiplyWithLateFence(GridThread* thread, void* const* arguments) {
  MultiplyOnGroup(thread, arguments, 0, Fence::kBehindBarrier);
}
// A kernel that multiplies matrices that it copied. The end of a copy is a
// store, and it comes after the kernel's fence, so the fence does not order it.
void MultiplyCopied(GridThread* thread, void* const* arguments) {
  if (thread->thread[0] == 0) {
    thread->functions->copy_async(thread, 16, thread->shared, Out(arguments),
                                  16);
    thread->functions->commit_copies(thread);
    thread->functions->order_stores(thread);
    thread->functions->await_copies(thread, 0);
  }
  thread->functions->barrier(thread);
  const WarpProduct product = {
      .depth = 16, .a = DType::kF16, .b = DType::kF16, .sum = DType::kF32};
  constexpr uint64_t kDescriptor = uint64_t{1} << 62 | uint64_t{64} << 32;
  uint32_t sums[4] = {};
  thread->functions->multiply_shared(thread, product.Pack(), 8, 0, kDescriptor,
                                     thread->shared, 0, kDescriptor,
                                     thread->shared + 8192, sums);
}
// A kernel in which the warps of a warpgroup wrongly multiply by different
// matrices.
void MultiplyApart(GridThread* thread, void* const*) {
  const WarpProduct product = {
      .depth = 16, .a = DType::kF16, .b = DType::kF16, .sum = DType::kF32};
  constexpr uint64_t kDescriptor = uint64_t{1} << 62 | uint64_t{64} << 32;
  uint32_t sums[4] = {};
  const uint32_t warp = thread->thread[0] / 32;
  thread->functions->multiply_shared(thread, product.Pack(), 8, 0, kDescriptor,
                                     thread->shared + 1024 * warp, 0,
                                     kDescriptor, thread->shared + 8192, sums);
}

// --- tests, which run these kernels

struct Outcome {
  std::string problem;
  GridStatistics statistics;
  std::vector<uint32_t> out;
};

Outcome RunKernel(GridKernel function, uint32_t blocks, uint32_t threads,
                  bool has_barriers = true, uint64_t shared_bytes = 1024) {
  Outcome run;
  run.out.resize(blocks * threads * 4);
  uint32_t* const out = run.out.data();
  const void* const argument = static_cast<const void*>(&out);
  void* const arguments[] = {const_cast<void*>(argument)};
  GridLaunch launch;
  launch.kernel = {.name = "test",
                   .function = function,
                   .argument_count = 1,
                   .shared_bytes = shared_bytes,
                   .has_barriers = has_barriers};
  launch.blocks = {blocks, 1, 1};
  launch.threads = {threads, 1, 1};
  launch.arguments = arguments;
  const auto begin = reinterpret_cast<uintptr_t>(out);
  run.problem = RunGrid(
      launch,
      [&](uintptr_t) { return MemoryRange{begin, begin + run.out.size() * 4}; },
      &run.statistics);
  return run;
}

TEST(GridTest, ThreadsSynchronizeAtBarriers) {
  const Outcome run = RunKernel(Rotate, 3, 50);
  EXPECT_EQ(run.problem, "");
  for (uint32_t i = 0; i < 150; ++i) {
    const uint32_t next = i / 50 * 50 + (i % 50 + 1) % 50;
    EXPECT_EQ(run.out[i], next + 2) << i;
  }
}

TEST(GridTest, FindsRaces) {
  const Outcome run = RunKernel(RotateWithoutBarrier, 1, 4);
  EXPECT_EQ(run.problem,
            "kernel test, block (0, 0, 0): thread (1, 0, 0) stores byte 4 of "
            "shared memory, which thread (0, 0, 0) accesses, too, without a "
            "barrier between");
}

TEST(GridTest, FindsThreadsThatDoNotCome) {
  EXPECT_EQ(RunKernel(LeaveSomeAtBarrier, 1, 4).problem,
            "kernel test, block (0, 0, 0): threads wait at a barrier, expected "
            "all of them, but (2, 0, 0) has ended");
}

TEST(GridTest, FindsAccessesOutside) {
  EXPECT_EQ(RunKernel(StoreBehindShared, 1, 1, false).problem,
            "kernel test, block (0, 0, 0): thread (0, 0, 0) expected an access "
            "within 1024 bytes of shared memory, found 4 at 1022");
  EXPECT_EQ(RunKernel(StoreOutside, 1, 1, false).problem,
            "kernel test, block (0, 0, 0): thread (0, 0, 0) stores 4 bytes "
            "outside of the device's memory");
}

TEST(GridTest, ShufflesAsPtxSays) {
  const Outcome sums = RunKernel(SumOfWarp, 1, 32);
  EXPECT_EQ(sums.problem, "");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(sums.out[lane], 10416u);
  const Outcome shifted = RunKernel(Shift, 1, 32);
  EXPECT_EQ(shifted.problem, "");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t* const found = &shifted.out[4 * lane];
    EXPECT_EQ(found[0], 100 + (lane == 0 ? 0 : lane - 1));
    EXPECT_EQ(found[1], 100 + (lane + 2 > 31 ? lane : lane + 2));
    EXPECT_EQ(found[2], 105u);
    EXPECT_EQ(found[3], 100 + lane / 16 * 16 + 3);
  }
}

TEST(GridTest, ImagesRoundTrip) {
  const GridEntry entries[] = {{"first", Rotate, 3, 4096, true, 2},
                               {"second", Shift, 0, 0, false, 0}};
  const std::vector<uint8_t> image = WriteGridImage(entries);
  const std::vector<GridEntry> read = ReadGridImage(image.data());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].name, "first");
  EXPECT_EQ(read[0].function, &Rotate);
  EXPECT_EQ(read[0].argument_count, 3u);
  EXPECT_EQ(read[0].shared_bytes, 4096u);
  EXPECT_TRUE(read[0].has_barriers);
  EXPECT_EQ(read[0].map_count, 2u);
  EXPECT_EQ(read[1].name, "second");
  EXPECT_FALSE(read[1].has_barriers);
  EXPECT_EQ(read[1].map_count, 0u);
  EXPECT_TRUE(ReadGridImage(".version 7.0 of PTX").empty());
}

TEST(GridTest, MultipliesMatricesAsPtxSays) {
  const Outcome run = RunKernel(MultiplyOnWarp, 1, 32);
  EXPECT_EQ(run.problem, "");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t c = 0; c < 4; ++c) {
      const uint32_t row = lane / 4 + 8 * (c / 2);
      const uint32_t column = lane % 4 * 2 + c % 2;
      EXPECT_EQ(run.out[4 * lane + c], 2 * ((row * 16 + column) & 255))
          << "lane " << lane << ", c" << c;
    }
  }
  EXPECT_EQ(run.statistics.products, 1u);
  // Each of the four loaded matrices takes a single pass, because its rows are
  // in different banks (see MultiplyOnWarp).
  EXPECT_EQ(run.statistics.matrix_loads, 4u);
  EXPECT_EQ(run.statistics.matrix_passes, 4u);
}

// Number of bytes of shared memory of the kernels that multiply matrices with a
// warpgroup.
constexpr uint64_t kFactorBytes = 16384;

TEST(GridTest, WarpgroupsMultiplyWhatIsShared) {
  const Outcome run = RunKernel(MultiplyAndAwait, 1, 128, true, kFactorBytes);
  EXPECT_EQ(run.problem, "");
  for (uint32_t thread = 0; thread < 128; ++thread) {
    for (uint32_t c = 0; c < 4; ++c) {
      const uint32_t row = thread / 32 * 16 + thread % 32 / 4 + 8 * (c / 2);
      const uint32_t column = thread % 4 * 2 + c % 2;
      float sum = 0;
      std::memcpy(&sum, &run.out[128 * c + thread], sizeof sum);
      EXPECT_EQ(sum, static_cast<float>(row * (column + 1)));
    }
  }
  EXPECT_EQ(run.statistics.products, 1u);
}

// A barrier does not end the reading of a product's operands; only waiting for
// the product does.
TEST(GridTest, FindsStoresToWhatProductsRead) {
  EXPECT_EQ(RunKernel(MultiplyAndStore, 1, 128, true, kFactorBytes).problem,
            "kernel test, block (0, 0, 0): thread (0, 0, 0) stores byte 0 of "
            "shared memory, which thread (96, 0, 0) accesses, too, without a "
            "barrier between");
}

// A product is certain to see a store only if the storing thread makes a fence
// after the store and before a barrier.
TEST(GridTest, FindsProductsOfUnorderedStores) {
  const auto problem_of = [](GridKernel kernel) {
    return RunKernel(kernel, 1, 128, true, kFactorBytes).problem;
  };
  const std::string first =
      "kernel test, block (0, 0, 0): thread (0, 0, 0) multiplies what thread "
      "(0, 0, 0) stored around byte 0 of shared memory, without its fence "
      "between";
  EXPECT_EQ(problem_of(MultiplyWithoutFence), first);
  EXPECT_EQ(problem_of(MultiplyCopied), first);
  // If the fence comes after the barrier, only stores of other threads are
  // reported, because a thread's own fence orders its own stores.
  EXPECT_EQ(problem_of(MultiplyWithLateFence),
            "kernel test, block (0, 0, 0): thread (1, 0, 0) multiplies what "
            "thread (0, 0, 0) stored around byte 16 of shared memory, without "
            "its fence between");
}

TEST(GridTest, WarpgroupsHaveTheSameMatrices) {
  EXPECT_EQ(RunKernel(MultiplyApart, 1, 128, true, kFactorBytes).problem,
            "kernel test, block (0, 0, 0): thread (32, 0, 0) multiplies other "
            "matrices than its warpgroup");
  EXPECT_EQ(RunKernel(MultiplyAndAwait, 1, 96, true, kFactorBytes).problem,
            "kernel test, block (0, 0, 0): thread (0, 0, 0) multiplies "
            "matrices without a whole warpgroup");
}

TEST(GridTest, LoadsTransposedMatrices) {
  const Outcome run = RunKernel(LoadTransposed, 1, 32);
  EXPECT_EQ(run.problem, "");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t row = 2 * (lane % 4), column = lane / 4;
    EXPECT_EQ(run.out[lane], (row * 8 + column) | ((row + 1) * 8 + column)
                                                      << 16)
        << "lane " << lane;
  }
}

TEST(GridTest, MatricesWantWholeWarpsAndAlignedRows) {
  EXPECT_EQ(RunKernel(MultiplyOnWarp, 1, 16).problem,
            "kernel test, block (0, 0, 0): thread (0, 0, 0) loads matrices "
            "without a whole warp");
  EXPECT_EQ(RunKernel(LoadFromOddAddress, 1, 32).problem,
            "kernel test, block (0, 0, 0): thread (1, 0, 0) loads a row of a "
            "matrix that is not aligned to 16 bytes");
}

}  // namespace
}  // namespace ember::hal::cuda
