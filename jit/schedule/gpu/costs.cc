#include "jit/schedule/gpu/costs.h"

#include <algorithm>
#include <cmath>

namespace ember::schedule {
namespace {

// Number of multiply-adds that one processor does per clock without matrix
// instructions. This holds for all CUDA architectures since 8.6, including 9.0;
// 8.0 has half of it.
constexpr double kMultiplyAddsOfClock = 128;
// Number of bytes that a processor moves per clock while all processors move
// data. kBytesOfClock: for data that fits the device's last cache
// (kCacheBytes). kBytesOfMemory: for larger data.
constexpr double kBytesOfClock = 20;
constexpr double kBytesOfMemory = 10;
constexpr double kCacheBytes = 32 << 20;
// Delays, in units of a load's latency. kLoadsOfPhase: from the last workgroup
// of a phase until those of the next phase begin. kLoadsOfTile: from the begin
// of a workgroup until its first slices are loaded.
constexpr double kLoadsOfPhase = 3;
constexpr double kLoadsOfTile = 1;
constexpr double kMaxResident = 32;
// Number of invocations that are assumed to keep one processor busy. If the
// number of processors is not known, it is estimated as
// GpuModel::busy_invocations divided by this.
constexpr double kInvocationsOfProcessor = 1024;

double Processors(const jit::GpuModel& gpu) {
  if (gpu.processors != 0) return static_cast<double>(gpu.processors);
  const double busy = static_cast<double>(gpu.busy_invocations);
  return std::max(1.0, busy / kInvocationsOfProcessor);
}

double MultiplyAddsOfLoad(const jit::GpuModel& gpu) {
  return static_cast<double>(gpu.latency_clocks) * kMultiplyAddsOfClock;
}

// Returns how many workgroups run on a processor at once: as many as keep it
// busy, or, if these do not fit, as many as fit.
double WorkgroupsThere(const TilesOnGpu& tiles) {
  return std::min(tiles.busy / tiles.invocations, tiles.resident);
}

// Returns a workgroup's work in multiply-adds of a fully used processor. It is
// more than `tiles.work` if a processor has too few workgroups to be busy.
double SlowedWork(const TilesOnGpu& tiles) {
  return tiles.work * tiles.busy / tiles.invocations / WorkgroupsThere(tiles);
}

}  // namespace

double CostOfTiles(const jit::GpuModel& gpu, const TilesOnGpu& tiles) {
  const double processors = Processors(gpu);
  const double of_each = tiles.count / processors;
  if (gpu.processors == 0) {
    return processors * tiles.work *
           std::max(of_each, tiles.busy / tiles.invocations);
  }
  const double most = std::ceil(of_each);
  const double there = WorkgroupsThere(tiles);
  // Workgroups that run on a processor at once wait for their first slices at
  // the same time, so one wait is counted for all of them.
  const double waves = std::ceil(most / std::max(there, 1.0));
  return processors * (SlowedWork(tiles) * std::max(most, there) +
                       waves * kLoadsOfTile * MultiplyAddsOfLoad(gpu));
}

double CostShared(const jit::GpuModel& gpu, const TilesOnGpu& tiles) {
  const double waves =
      tiles.count / Processors(gpu) / std::max(1.0, WorkgroupsThere(tiles));
  return tiles.count * SlowedWork(tiles) +
         Processors(gpu) * waves * kLoadsOfTile * MultiplyAddsOfLoad(gpu);
}

double CostOfRanges(const jit::GpuModel& gpu, const TilesOnGpu& ranges,
                    const TilesOnGpu* before) {
  // A range usually ends in another tile than it begins in. The range's
  // workgroup waits once more there, for the first slices of that tile.
  return CostOfTiles(gpu, ranges) +
         (before != nullptr ? CostOfTiles(gpu, *before) : 0) +
         Processors(gpu) * kLoadsOfTile * MultiplyAddsOfLoad(gpu);
}

double WorkgroupsAtOnce(const jit::GpuModel& gpu, const TilesOnGpu& tiles) {
  return static_cast<double>(gpu.processors) *
         std::max(1.0, std::floor(WorkgroupsThere(tiles)));
}

double CostOfTilesBeside(const jit::GpuModel& gpu, const TilesOnGpu& tiles,
                         const TilesOnGpu& beside) {
  const double processors = Processors(gpu);
  // The work is not divided evenly at the end: when no workgroup is left to
  // start, a processor is, on average, half through one of the smaller
  // workgroups.
  const double shared = tiles.count * SlowedWork(tiles) +
                        (beside.count + processors / 2) * SlowedWork(beside);
  return std::max(CostOfTiles(gpu, tiles), shared) +
         processors * kLoadsOfTile * MultiplyAddsOfLoad(gpu);
}

double ResidentWorkgroups(const jit::GpuModel& gpu, double invocations,
                          double registers, double shared_bytes) {
  double most = kMaxResident;
  if (gpu.processor_registers != 0)
    most = std::min(most, gpu.InvocationsWith(registers) / invocations);
  if (shared_bytes > 0) {
    most = std::min(most, static_cast<double>(gpu.shared_bytes) / shared_bytes);
  }
  return std::max(1.0, std::floor(most));
}

double BusyInvocations(const jit::GpuModel& gpu) {
  return static_cast<double>(gpu.busy_invocations) / Processors(gpu);
}

double BusyWithMatrices(const jit::GpuModel& gpu) {
  // A matrix instruction keeps a subgroup busy for long, so fewer invocations
  // are enough. On an H200, two workgroups of 128 per processor were enough for
  // 4096 x 4096 x 4096.
  return BusyInvocations(gpu) / (gpu.processors != 0 ? 4 : 1);
}

double CostOfParts(const jit::GpuModel& gpu, double bytes, double loads) {
  const double moved =
      2 * bytes / (bytes <= kCacheBytes ? kBytesOfClock : kBytesOfMemory);
  return moved * kMultiplyAddsOfClock +
         (kLoadsOfPhase + loads) * MultiplyAddsOfLoad(gpu) * Processors(gpu);
}

}  // namespace ember::schedule
