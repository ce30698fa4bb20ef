// What the default schedules of GPUs count costs in: multiply-adds of
// invocations that the whole device would have time for. What they cost beside
// each other is a guess, except where a comment says what was measured.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_COSTS_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_COSTS_H_

#include <cstdint>

#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Of a value from shared memory, from memory by way of caches, of meeting at a
// barrier.
inline constexpr double kSharedLoad = 1;
inline constexpr double kMemoryLoad = 4;
inline constexpr double kBarrier = 16;

// Of workgroups that each do `work` with so many invocations. A processor does
// as much as it can with `busy` invocations; with fewer, each of them does what
// it would do among those. All wait for the processor that has most workgroups,
// where it is known how many processors there are.
struct TilesOnGpu {
  double count = 1;
  double work = 1;
  double invocations = 1;
  double busy = 1;
  double resident = 1;  // that a processor has room for at once
};
double CostOfTiles(const jit::GpuModel& gpu, const TilesOnGpu& tiles);
// Of what they do, if all processors have as much of it.
double CostShared(const jit::GpuModel& gpu, const TilesOnGpu& tiles);
// Of as many workgroups as the device computes at once, each with a range of
// several tiles' work; they begin when those of `before`, if there are any, are
// done.
double CostOfRanges(const jit::GpuModel& gpu, const TilesOnGpu& ranges,
                    const TilesOnGpu* before);
// Of tiles that take whole waves, beside which further workgroups run as soon
// as there is room: those of `beside`, which are smaller.
double CostOfTilesBeside(const jit::GpuModel& gpu, const TilesOnGpu& tiles,
                         const TilesOnGpu& beside);
// How many workgroups the device computes at once; 0: not known.
double WorkgroupsAtOnce(const jit::GpuModel& gpu, const TilesOnGpu& tiles);

// What a product costs in the tiles that a rule would give it.
struct ProductCost {
  double all = 0;
  TilesOnGpu tiles;
  // Axes on which tiles, or slices of the sum, follow each other, and how much
  // of them one has; -1: none.
  struct Along {
    int axis = -1;
    int64_t size = 0;
  };
  Along rows, columns, lines;
  Along steps;
  double ranges = 0;  // that slices of all tiles may be shared out in; 0: none
};

// How many workgroups of so many invocations a processor has room for, at least
// one: each invocation has `registers` for sums and operands.
double ResidentWorkgroups(const jit::GpuModel& gpu, double invocations,
                          double registers, double shared_bytes);

// Of a processor, where matrices are not wide (gpu_matrix_rule.h), and where
// there are none.
double BusyWithMatrices(const jit::GpuModel& gpu);
double BusyInvocations(const jit::GpuModel& gpu);

// Parts of a sum that an invocation has on their way from memory at once.
inline constexpr int64_t kPartsAtOnce = 16;
// Of a phase that adds up parts of sums, of so many bytes: what writing and
// reading them takes, and that the phase begins when the one before it is done,
// and each invocation loads so many times.
double CostOfParts(const jit::GpuModel& gpu, double bytes, double loads);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_COSTS_H_
