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

// Costs in multiply-adds: of a load from shared memory, of a load from memory
// through the caches, and of a barrier.
inline constexpr double kSharedLoad = 1;
inline constexpr double kMemoryLoad = 4;
inline constexpr double kBarrier = 16;

// Describes the tiles of a product: `count` workgroups, each with `invocations`
// invocations that together do `work` multiply-adds. A processor is fully used
// by `busy` invocations. If there are fewer, each works no faster, and the
// processor is partly idle. CostOfTiles returns the time of the processor that
// has the most workgroups, if the number of processors is known.
struct TilesOnGpu {
  double count = 1;
  double work = 1;
  double invocations = 1;
  double busy = 1;
  double resident = 1;  // largest number of workgroups that fit on a processor
};
double CostOfTiles(const jit::GpuModel& gpu, const TilesOnGpu& tiles);
// Returns the cost if the work can be divided evenly among all processors.
double CostShared(const jit::GpuModel& gpu, const TilesOnGpu& tiles);
// Returns the cost of ranges of slices (stream-K), one for each workgroup that
// runs at once, and of the tiles `before` that are computed before them, if not
// null.
double CostOfRanges(const jit::GpuModel& gpu, const TilesOnGpu& ranges,
                    const TilesOnGpu* before);
// Returns the cost of tiles that fill whole waves of workgroups, together with
// the smaller workgroups `beside`, which start as soon as a processor has room.
double CostOfTilesBeside(const jit::GpuModel& gpu, const TilesOnGpu& tiles,
                         const TilesOnGpu& beside);
// Returns how many workgroups run on the device at once; 0 if that is not
// known.
double WorkgroupsAtOnce(const jit::GpuModel& gpu, const TilesOnGpu& tiles);

// The cost of a product, and the tiles with which a rule would compute it.
struct ProductCost {
  double all = 0;
  TilesOnGpu tiles;
  // The division of an axis into tiles, or of the sum into slices: the number
  // of the axis, -1 for none, and the size of one tile or slice.
  struct Along {
    int axis = -1;
    int64_t size = 0;
  };
  Along rows, columns, lines;
  Along steps;
  // number of ranges into which the slices of all tiles are divided (stream-K);
  // 0: none
  double ranges = 0;
};

// Returns how many workgroups of this size fit on a processor at once, at least
// one. registers: number of registers of an invocation. shared_bytes: shared
// memory of a workgroup.
double ResidentWorkgroups(const jit::GpuModel& gpu, double invocations,
                          double registers, double shared_bytes);

// Return how many invocations keep a processor busy. BusyWithMatrices: for
// products with matrix instructions of one subgroup (not the wide ones of
// matrix_rule.h). BusyInvocations: for code without matrices.
double BusyWithMatrices(const jit::GpuModel& gpu);
double BusyInvocations(const jit::GpuModel& gpu);

// Number of parts of a sum whose loads an invocation starts at once.
inline constexpr int64_t kPartsAtOnce = 16;
// Returns the cost of a phase that adds up the parts of sums. It consists of
// writing and reading parts of `bytes` bytes, of the delay until the phase
// begins, and of `loads` loads of each invocation that wait for each other.
double CostOfParts(const jit::GpuModel& gpu, double bytes, double loads);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_COSTS_H_
