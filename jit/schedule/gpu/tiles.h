// Chooses tiles of workgroups and invocations for sums of products on GPUs by
// their cost: matrix products of any form, and convolutions as products of the
// elements in their windows.
//
// A workgroup has a tile of the results, `threads` by `registers` of some axes:
// v, along which results are contiguous in memory, and axes whose points reuse
// one load along v (rows of a matrix, neighbouring pixels). An invocation has
// every threads-th element of each axis in registers. The sum runs in slices of
// its longest axis. Slices of operands that several invocations need are loaded
// together into shared memory, where that is faster than caches. The next
// slices are loaded while these are used, if there is room for two of each and
// for the registers that loads need. Contiguous results and operands are lanes
// of vectors, and so are steps of the sum.
//
// The model counts, per step of the sum, multiply-adds and loads of an
// invocation, and the workgroup's loads from memory, for as many invocations as
// the device runs at once.
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_TILES_H_
#define EMBER_JIT_SCHEDULE_GPU_TILES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/schedule/gpu/dot_rule.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

struct AxisTile {
  int64_t threads = 1;
  int64_t registers = 1;
  // number of neighbouring elements along the axis that an invocation has as a
  // vector
  int64_t lanes = 1;
  int64_t size() const { return threads * registers; }
};

struct WorkgroupTile {
  std::vector<AxisTile> axes;  // for each spatial axis: the tile's size along
                               // it
  int v = -1;
  int k = -1;         // number of the reduction axis that is divided into
                      // slices; -1: none
  int64_t slice = 0;  // number of steps of the sum in a slice
  // is_double: true if the next slices are loaded while the current ones are
  // used. by_registers: true if they are first loaded to registers, and then
  // stored to shared memory.
  bool is_double = false;
  bool by_registers = false;
  // number of ring slots, if slices are copied asynchronously; otherwise 0
  int64_t slots = 0;
  // True if the loops around the loop over slices, such as those over a window,
  // are fused with it.
  bool fuses_iterations = false;
  // for each load: true if slices of its operand are copied to shared memory
  std::vector<bool> share;
  int64_t steps = 1;  // number of steps of the innermost loop of the sum that
                      // are unrolled
  double cost = 0;    // cost of all workgroups, in the model of costs.h

  int64_t Threads() const {
    int64_t threads = 1;
    for (const AxisTile& axis : axes) threads *= axis.threads;
    return threads;
  }
};

// Returns the last spatial axis that likely has more than one point, along
// which results are contiguous if they are stored in the order of the axes; -1
// if there is none.
int VectorAxis(const StageShape& shape);

// A product for which a tile is to be chosen. If it has dot loops (`dots`), its
// steps and strides are counted in words.
struct ProductOnGpu {
  const Computation& c;
  const StageShape& shape;
  const std::optional<GpuDots>& dots;

  Stride StrideOf(NodeId load, int axis) const {
    return dots ? StrideOfWords(c, shape, load, axis, *dots)
                : shape.StrideOf(load, axis);
  }
  // Returns the number of steps of an axis: its extent, or its number of words
  // if it is the axis of dot loops.
  int64_t Steps(int axis) const {
    const int64_t extent = shape.LikelyExtent(axis);
    return dots && axis == dots->axis ? extent / dots->count : extent;
  }
  std::optional<int64_t> KnownSteps(int axis) const {
    const std::optional<int64_t> extent = shape.Extent(axis);
    return extent ? std::optional(Steps(axis)) : std::nullopt;
  }
  int64_t BytesOfStep(NodeId load) const {
    return shape.LikelyBytes(load, shape.axis_count()) *
           (dots ? dots->count : 1);
  }
};

// Returns the tile that costs least, with the lanes of its axis v and the
// number of unrolled steps. Returns nullopt if there is only one result, or if
// no tile fits.
std::optional<WorkgroupTile> ChooseWorkgroupTile(const jit::GpuModel& gpu,
                                                 const ProductOnGpu& product);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_TILES_H_
