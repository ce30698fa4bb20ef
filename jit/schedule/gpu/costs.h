// The cost model of the default schedules of GPUs. The cost of a kernel is the
// time that it takes, given as the number of multiply-adds that the whole
// device could do in that time. The ratios of costs are guesses, except where a
// comment gives a measurement.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_COSTS_H_
#define EMBER_JIT_SCHEDULE_GPU_COSTS_H_

#include <cstdint>

#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Costs of three operations: a load from shared memory, a load from memory
// through the caches, and waiting at a barrier.
inline constexpr double kSharedLoad = 1;
inline constexpr double kMemoryLoad = 4;
inline constexpr double kBarrier = 16;

// Describes `count` workgroups that each do `work` with `invocations`. A
// processor is fully used with `busy` invocations; with fewer, each invocation
// works no faster. If the number of processors is known, the cost is that of
// the processor that has most workgroups.
struct TilesOnGpu {
  double count = 1;
  double work = 1;
  double invocations = 1;
  double busy = 1;
  double resident = 1;  // largest number of workgroups on a processor at once
};
double CostOfTiles(const jit::GpuModel& gpu, const TilesOnGpu& tiles);
// Returns the cost if the work is divided evenly among all processors.
double CostShared(const jit::GpuModel& gpu, const TilesOnGpu& tiles);
// Returns the cost of as many workgroups as the device computes at once, each
// with a range of several tiles' work. The workgroups begin after those of
// `before`, if there are any.
double CostOfRanges(const jit::GpuModel& gpu, const TilesOnGpu& ranges,
                    const TilesOnGpu* before);
// Returns the cost of tiles that fill whole waves, together with the smaller
// workgroups `beside`, which start as soon as a processor has room.
double CostOfTilesBeside(const jit::GpuModel& gpu, const TilesOnGpu& tiles,
                         const TilesOnGpu& beside);
// Returns how many workgroups the device computes at once; 0 if that is not
// known.
double WorkgroupsAtOnce(const jit::GpuModel& gpu, const TilesOnGpu& tiles);

// The cost of a product in the tiles that a rule would choose for it.
struct ProductCost {
  double all = 0;
  TilesOnGpu tiles;
  // An axis along which tiles, or slices of the sum, follow each other, and the
  // size of one tile or slice along the axis. Axis -1: none.
  struct Along {
    int axis = -1;
    int64_t size = 0;
  };
  Along rows, columns, lines;
  Along steps;
  // Number of ranges for the slices of all tiles (stream-K); 0: none.
  double ranges = 0;
};

// Returns how many workgroups of this size fit on a processor, at least one.
// Each invocation has `registers` for sums and operands.
double ResidentWorkgroups(const jit::GpuModel& gpu, double invocations,
                          double registers, double shared_bytes);

// Return how many invocations keep a processor busy: the first function for
// products by matrix instructions of one subgroup (not the wide ones of
// matrix_rule.h), the second one without matrices.
double BusyWithMatrices(const jit::GpuModel& gpu);
double BusyInvocations(const jit::GpuModel& gpu);

// Number of parts of a sum that an invocation loads at once.
inline constexpr int64_t kPartsAtOnce = 16;
// Returns the cost of a phase that adds up parts of sums of this many bytes:
// writing and reading them, starting the phase after the previous one, and
// `loads` loads one after the other by each invocation.
double CostOfParts(const jit::GpuModel& gpu, double bytes, double loads);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_COSTS_H_
