// Tests copies of boxes on the emulated grid, the barriers that count them, and
// barriers for some of a block's threads: the emulation does what PTX
// specifies, and detects wrong uses.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "hal/cuda/emulated/tensor_map.h"

namespace ember::hal::cuda {
namespace {

using ::testing::HasSubstr;

// The tensor has kRows rows of kColumns words. It is copied in boxes of 4 rows
// of 8 words to a ring buffer with two entries.
constexpr uint32_t kRows = 18, kColumns = 8;
constexpr uint32_t kBoxRows = 4;
constexpr uint32_t kBoxWords = kBoxRows * kColumns;
constexpr uint32_t kRingSlots = 2, kIterations = 5;
// Offset in shared memory of the copy barriers: first those that say that an
// entry of the ring is full, then those that say that it is empty.
constexpr uint32_t kBarriers = 1024;
constexpr uint32_t kConsumers = 32;

// A mistake that the test's kernel makes on purpose, which the emulated grid
// must detect. kNone: it makes none.
enum class Fault : uint8_t {
  kNone,
  kNoFullWait,
  kNoEmptyWait,
  kNoArrival,
  kMoreBytes,
  kOddAddress,
  kNoMap,
};

void Access(GridThread* thread, const void* address, AccessKind kind) {
  thread->functions->access(thread, address, 4, static_cast<uint32_t>(kind));
}

uint8_t* Barrier(GridThread* thread, bool is_full, uint32_t ring_slot) {
  return thread->shared + kBarriers +
         8 * (ring_slot + (is_full ? 0 : kRingSlots));
}

void Produce(GridThread* thread, const void* map, Fault fault) {
  for (uint32_t iteration = 0; iteration < kIterations; ++iteration) {
    const uint32_t ring_slot = iteration % kRingSlots,
                   use = iteration / kRingSlots;
    // A kernel with kNoEmptyWait waits for the end of the previous copy instead
    // of its readers, which is the mistake: the end of the copy does not show
    // that its readers are done.
    const bool waits_for_copy = fault == Fault::kNoEmptyWait;
    thread->functions->await_phase(
        thread, Barrier(thread, waits_for_copy, ring_slot), 1 - use % 2);
    uint8_t* const full = Barrier(thread, true, ring_slot);
    thread->functions->arrive(
        thread, full, 4 * kBoxWords + (fault == Fault::kMoreBytes ? 4 : 0));
    // Boxes begin one row too early, so the first one begins above the tensor
    // and the last one ends below it; their outside rows must become zeros.
    const int32_t coordinates[] = {
        0, static_cast<int32_t>(iteration * kBoxRows) - 1};
    thread->functions->copy_box(
        thread, fault == Fault::kNoMap ? coordinates : map, 2, coordinates,
        thread->shared + ring_slot * 4 * kBoxWords +
            (fault == Fault::kOddAddress ? 16 : 0),
        full);
  }
}

// Computes out[thread], the sum over all boxes of the word whose number in the
// box is the thread's number.
void Consume(GridThread* thread, uint32_t* out, Fault fault) {
  const uint32_t number = thread->thread[0];
  uint32_t sum = 0;
  for (uint32_t iteration = 0; iteration < kIterations; ++iteration) {
    const uint32_t ring_slot = iteration % kRingSlots,
                   use = iteration / kRingSlots;
    if (fault != Fault::kNoFullWait || iteration == 0) {
      thread->functions->await_phase(thread, Barrier(thread, true, ring_slot),
                                     use % 2);
    }
    const uint8_t* const word =
        thread->shared + 4 * (ring_slot * kBoxWords + number);
    Access(thread, word, AccessKind::kLoad);
    sum += *reinterpret_cast<const uint32_t*>(word);
    if (fault != Fault::kNoArrival)
      thread->functions->arrive(thread, Barrier(thread, false, ring_slot), 0);
  }
  Access(thread, out + number, AccessKind::kStore);
  out[number] = sum;
}

template <Fault kFault>
void Pipeline(GridThread* thread, void* const* arguments) {
  const uint32_t number = thread->thread[0];
  for (uint32_t i = 0; number == 0 && i < kRingSlots; ++i) {
    thread->functions->make_copy_barrier(thread, Barrier(thread, true, i), 1);
    thread->functions->make_copy_barrier(thread, Barrier(thread, false, i),
                                         kConsumers);
  }
  thread->functions->barrier(thread);
  if (number == kConsumers) Produce(thread, arguments[1], kFault);
  if (number < kConsumers)
    Consume(thread, *static_cast<uint32_t* const*>(arguments[0]), kFault);
}

// A kernel whose first two warps exchange words and synchronise at a numbered
// barrier; the third warp does not take part. kBarrier is the number of the
// barrier that the second warp uses.
template <uint32_t kBarrier>
void SynchronizeInPairs(GridThread* thread, void* const* arguments) {
  const uint32_t number = thread->thread[0];
  if (number >= 64) return;
  auto* const words = reinterpret_cast<uint32_t*>(thread->shared);
  Access(thread, words + number, AccessKind::kStore);
  words[number] = 3 * number;
  thread->functions->synchronize(thread, number < 32 ? 1 : kBarrier, 64);
  Access(thread, words + 63 - number, AccessKind::kLoad);
  uint32_t* const out = *static_cast<uint32_t* const*>(arguments[0]);
  Access(thread, out + number, AccessKind::kStore);
  out[number] = words[63 - number];
}

struct Outcome {
  std::string problem;
  GridStatistics statistics;
  std::vector<uint32_t> out;
};

class GridBoxes : public ::testing::Test {
 protected:
  GridBoxes() {
    for (uint32_t i = 0; i < tensor_.size(); ++i) tensor_[i] = i + 1;
    const uint64_t extents[] = {kColumns, kRows}, strides[] = {4 * kColumns};
    const uint32_t box[] = {kColumns, kBoxRows}, steps[] = {1, 1};
    EXPECT_EQ(EncodeTensorMap(&map_, kTensorMapUint32, 2, tensor_.data(),
                              extents, strides, box, steps,
                              kTensorMapInterleaveNone, kTensorMapSwizzleNone,
                              kTensorMapL2Promotion256, kTensorMapFillZeros),
              0);
  }

  // Runs a kernel in one block of `threads` threads; 0 means one thread for
  // each result.
  Outcome Run(GridKernel function, uint32_t results, uint32_t threads = 0) {
    if (threads == 0) threads = results;
    Outcome run;
    run.out.resize(results);
    uint32_t* const out = run.out.data();
    const void* const argument = static_cast<const void*>(&out);
    void* const arguments[] = {const_cast<void*>(argument), &map_};
    GridLaunch launch;
    launch.kernel = {.name = "test",
                     .function = function,
                     .argument_count = 1,
                     .shared_bytes = 2048,
                     .has_barriers = true,
                     .map_count = 1};
    launch.threads = {threads, 1, 1};
    launch.arguments = arguments;
    run.problem = RunGrid(
        launch,
        [&](uintptr_t address) {
          for (const std::vector<uint32_t>* memory : {&run.out, &tensor_}) {
            const auto begin = reinterpret_cast<uintptr_t>(memory->data());
            const uintptr_t end = begin + memory->size() * 4;
            if (address >= begin && address < end)
              return MemoryRange{begin, end};
          }
          return MemoryRange{};
        },
        &run.statistics);
    return run;
  }
  template <Fault kFault>
  std::string ProblemOf() {
    return Run(Pipeline<kFault>, kConsumers + 1).problem;
  }

  std::vector<uint32_t> tensor_ =
      std::vector<uint32_t>(uint64_t{kRows} * kColumns);
  CUtensorMap map_;
};

TEST_F(GridBoxes, ComeThroughARing) {
  const Outcome run = Run(Pipeline<Fault::kNone>, kConsumers + 1);
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(run.statistics.box_copies, kIterations);
  for (uint32_t number = 0; number < kConsumers; ++number) {
    uint32_t sum = 0;
    for (uint32_t iteration = 0; iteration < kIterations; ++iteration) {
      const uint32_t row = iteration * kBoxRows + number / kColumns - 1;
      if (row < kRows) sum += tensor_[row * kColumns + number % kColumns];
    }
    EXPECT_EQ(run.out[number], sum) << number;
  }
}

TEST_F(GridBoxes, WhatIsReadTooEarlyIsFound) {
  EXPECT_THAT(ProblemOf<Fault::kNoFullWait>(),
              HasSubstr("thread (0, 0, 0) loads byte 128 of shared memory, "
                        "which a copy of a box accesses, too"));
}

TEST_F(GridBoxes, WhatIsOverwrittenTooEarlyIsFound) {
  EXPECT_THAT(ProblemOf<Fault::kNoEmptyWait>(),
              HasSubstr("thread (32, 0, 0) copies a box"));
}

TEST_F(GridBoxes, WhoWaitsForEverIsFound) {
  EXPECT_THAT(
      ProblemOf<Fault::kNoArrival>(),
      HasSubstr("no thread can continue: (0, 0, 0) waits for a copy barrier "
                "that lacks 1 of 1 arrivals"));
  EXPECT_THAT(ProblemOf<Fault::kMoreBytes>(),
              HasSubstr("lacks 0 of 1 arrivals and has 128 of 132 bytes"));
}

TEST_F(GridBoxes, OperandsAreLookedAt) {
  EXPECT_THAT(ProblemOf<Fault::kOddAddress>(),
              HasSubstr("copies a box of 128 bytes to 16, expected 2048 bytes "
                        "of shared memory, aligned to 128"));
  EXPECT_THAT(ProblemOf<Fault::kNoMap>(),
              HasSubstr("copies a box without a tensor map"));
}

TEST_F(GridBoxes, SomeThreadsSynchronize) {
  const Outcome run = Run(SynchronizeInPairs<1>, 96);
  EXPECT_EQ(run.problem, "");
  for (uint32_t number = 0; number < 64; ++number)
    EXPECT_EQ(run.out[number], 3 * (63 - number));
  EXPECT_THAT(
      Run(SynchronizeInPairs<2>, 96).problem,
      HasSubstr("no thread can continue: (0, 0, 0) waits at barrier 1 of 64 "
                "threads"));
}

// A kernel that copies a box with rows of 128 bytes, in which the pieces of 16
// bytes are swizzled.
void CopySwizzled(GridThread* thread, void* const* arguments) {
  uint8_t* const barrier = thread->shared + kBarriers;
  thread->functions->make_copy_barrier(thread, barrier, 1);
  thread->functions->arrive(thread, barrier, 1024);
  const int32_t coordinates[] = {0, 0};
  thread->functions->copy_box(thread, arguments[1], 2, coordinates,
                              thread->shared, barrier);
  thread->functions->await_phase(thread, barrier, 0);
  uint32_t* const out = *static_cast<uint32_t* const*>(arguments[0]);
  const auto* const words = reinterpret_cast<const uint32_t*>(thread->shared);
  for (uint32_t i = 0; i < 256; ++i) {
    Access(thread, words + i, AccessKind::kLoad);
    Access(thread, out + i, AccessKind::kStore);
    out[i] = words[i];
  }
}

TEST_F(GridBoxes, PiecesOfSwizzledRowsAreExchanged) {
  tensor_.resize(256);
  for (uint32_t i = 0; i < 256; ++i) tensor_[i] = i;
  const uint64_t extents[] = {32, 8}, strides[] = {128};
  const uint32_t box[] = {32, 8}, steps[] = {1, 1};
  ASSERT_EQ(EncodeTensorMap(&map_, kTensorMapUint32, 2, tensor_.data(), extents,
                            strides, box, steps, kTensorMapInterleaveNone,
                            kTensorMapSwizzle128, kTensorMapL2Promotion256,
                            kTensorMapFillZeros),
            0);
  Outcome run;
  run.out.resize(256);
  uint32_t* const out = run.out.data();
  const void* const argument = static_cast<const void*>(&out);
  void* const arguments[] = {const_cast<void*>(argument), &map_};
  GridLaunch launch;
  launch.kernel = {.name = "test",
                   .function = CopySwizzled,
                   .argument_count = 1,
                   .shared_bytes = 2048,
                   .has_barriers = true,
                   .map_count = 1};
  launch.arguments = arguments;
  EXPECT_EQ(RunGrid(launch,
                    [](uintptr_t address) {
                      return MemoryRange{address, address + 4096};
                    }),
            "");
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t row = i / 32, piece = i % 32 / 4;
    EXPECT_EQ(run.out[row * 32 + (piece ^ row) * 4 + i % 4], i);
  }
}

// A kernel that copies a box from a tensor of 5 images of 3 lines of 4 words.
// The box has lines 2 and 3 of images 1 to 4; line 3 is outside of the tensor.
void CopyByLines(GridThread* thread, void* const* arguments) {
  uint8_t* const barrier = thread->shared + kBarriers;
  thread->functions->make_copy_barrier(thread, barrier, 1);
  thread->functions->arrive(thread, barrier, 4 * kBoxWords);
  const int32_t coordinates[] = {0, 1, 2};
  thread->functions->copy_box(thread, arguments[1], 3, coordinates,
                              thread->shared, barrier);
  thread->functions->await_phase(thread, barrier, 0);
  uint32_t* const out = *static_cast<uint32_t* const*>(arguments[0]);
  const auto* const words = reinterpret_cast<const uint32_t*>(thread->shared);
  for (uint32_t i = 0; i < kBoxWords; ++i) {
    Access(thread, words + i, AccessKind::kLoad);
    Access(thread, out + i, AccessKind::kStore);
    out[i] = words[i];
  }
}

TEST_F(GridBoxes, DimsMayHaveAnotherOrder) {
  constexpr uint32_t kImages = 5, kLines = 3, kWords = 4;
  const uint64_t extents[] = {kWords, kImages, kLines},
                 strides[] = {4 * kWords * kLines, 4 * kWords};
  const uint32_t box[] = {kWords, 4, 2}, steps[] = {1, 1, 1};
  ASSERT_EQ(EncodeTensorMap(&map_, kTensorMapUint32, 3, tensor_.data(), extents,
                            strides, box, steps, kTensorMapInterleaveNone,
                            kTensorMapSwizzleNone, kTensorMapL2Promotion256,
                            kTensorMapFillZeros),
            0);
  const Outcome run = Run(CopyByLines, kBoxWords, 1);
  EXPECT_EQ(run.problem, "");
  for (uint32_t i = 0; i < kBoxWords; ++i) {
    const uint32_t line = i / 16 + 2, image = i / 4 % 4 + 1;
    EXPECT_EQ(
        run.out[i],
        line < kLines ? tensor_[(image * kLines + line) * kWords + i % 4] : 0)
        << i;
  }
}

}  // namespace
}  // namespace ember::hal::cuda
