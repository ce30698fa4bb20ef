// Slices of a matrix product's operands in memory of a workgroup, and helpers
// that the rules for products on GPUs share. A slice is the part of an operand
// that a tile of results reads in one iteration of the loop over the sum.
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_SLICES_H_
#define EMBER_JIT_SCHEDULE_GPU_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {

// A stage that copies a slice to shared memory. `rounds`: the loop over the
// parts of the slice that one invocation copies one after the other.
struct SliceCopy {
  StageRef stage;
  LoopRef rounds;
  // The way in which the slice is loaded ahead: asynchronously into a ring of
  // `slots` slots if `slots` is not 0, otherwise through registers if
  // by_registers is true.
  bool by_registers = false;
  int64_t slots = 0;
  // true if copies start after the iteration's arithmetic (double_buffer …
  // late)
  bool is_late = false;
  // True if one ring slot is left to the previous iteration, so that copies are
  // one iteration less ahead (double_buffer … spare).
  bool has_spare = false;
  // true if all slices have the same size, which is known at compile time
  bool is_constant = false;
  // number of bytes that an invocation copies at once
  int64_t bytes_at_once = 0;
};

// Returns a name for the buffer in the workgroup's memory to which `product`
// copies its slices of `buffer`: "a.slice" for the buffer "a", or, if a buffer
// of that name exists already, "product.a.slice". So the copies of two products
// that read the same buffer have different names.
std::string NameOfSlice(const Computation& c, const StageRef& product,
                        const BufferRef& buffer);

// Makes the copies load each slice before the iteration that reads it. All
// slices are loaded ahead, or none, because loading one ahead needs as many
// barriers as loading all. Copies are asynchronous only if each invocation
// copies whole words, because devices cannot copy less.
void LoadSlicesAhead(const std::vector<SliceCopy>& copies,
                     ScheduleWriter& writer);

// Returns how often the whole loop over slices runs for a tile: the product of
// the extents of the sum's other reduction axes, such as those of a window.
// Returns 1 if it is not known.
int64_t IterationsAroundSlices(const StageShape& shape, int axis_of_slices);

// The index of a load in the last dim of its buffer, as one axis of the stage,
// with factor 1, plus a start that depends on other axes.
//
//   %a[i, k_part * 96 + k]    axis k, start 96
struct RowOfLoad {
  size_t axis = 0;
  // A number of which the start is always a multiple; 0 if the index is the
  // axis alone.
  int64_t start = 0;
  // true if the index is always within the dim, even in a padded load
  bool is_inside = false;
};
// Returns the load's index in the last dim as an axis plus a start; nullopt if
// it is no such sum, or if several axes have factor 1.
std::optional<RowOfLoad> RowOf(const Computation& c,
                               const ComputationStage& stage, NodeId load);

// Returns the order of a slice's dims in which the rows of each line are
// contiguous: lines, rows, and last the buffer's last dim. The buffer may have
// another order: if rows are the images of a batch and lines are their pixels,
// images are outside of pixels. The result is the dims of a CacheRead, such as
// {1, 2, 0, 3}. It is empty if the buffer has that order already, or if one of
// the axes does not index a dim of its own.
std::vector<size_t> DimsByLines(const Computation& c,
                                const ComputationStage& stage, NodeId load,
                                int lines, int rows);

// True if all slices of the load have the same size, known at compile time: the
// extents are constant, and the indices are sums of axes.
bool IsConstantSlice(const Computation& c, const ComputationStage& stage,
                     NodeId load);

// True if each stage that reads the product's results reads, for each of its
// points, the result with the same indices.
bool IsReadInPlace(const Computation& c, const StageRef& product);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_SLICES_H_
