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

// A stage that copies a slice to shared memory, and the loop over the part of
// the slice that each invocation copies.
struct SliceCopy {
  StageRef stage;
  LoopRef rounds;
  // The way in which the slice may be loaded ahead: through registers; or, if
  // `slots` is not 0, asynchronously into a ring of this many slots.
  bool by_registers = false;
  int64_t slots = 0;
  // True if the copy starts after the iteration's arithmetic (double_buffer …
  // late).
  bool is_late = false;
  // True if the ring of slots keeps one slot for the previous iteration, so
  // that copies start one iteration later (double_buffer … spare).
  bool has_spare = false;
  // true if all slices have the same size, which is known when compiling
  bool is_constant = false;
  // number of bytes that an invocation moves at once
  int64_t bytes_at_once = 0;
};

// Returns a name for the buffer in the workgroup's memory to which `product`
// copies its slices of `buffer`: "a.slice" for the buffer "a", or, if a buffer
// of that name exists already, "product.a.slice". So the copies of two products
// that read the same buffer have different names.
std::string NameOfSlice(const Computation& c, const StageRef& product,
                        const BufferRef& buffer);

// Loads the slices ahead of the iteration that reads them. It loads all of them
// ahead or none, because loading one ahead needs as many barriers as loading
// all. It loads asynchronously only if each invocation moves whole words:
// devices copy nothing smaller.
void LoadSlicesAhead(const std::vector<SliceCopy>& copies,
                     ScheduleWriter& writer);

// Returns the number of iterations of the loops around the loop over the slices
// of a sum of products. These loops are the sum's other reduction axes, such as
// those of a window. Returns 1 if the number is not known.
int64_t IterationsAroundSlices(const StageShape& shape, int axis_of_slices);

// The position of a load along the last dim of its buffer: it moves along one
// axis of the stage, from a start that depends on other axes.
//
//   %a[i, k_part * 96 + k]    axis k, start 96
struct RowOfLoad {
  size_t axis = 0;
  // A number that divides the sum of the index's other terms; 0 if the index
  // has no other terms.
  int64_t start = 0;
  // True if all values of the index are within the dim, even in a pad.
  bool is_inside = false;
};
// Returns the position of the load along its last dim; nullopt if the index is
// no sum, or if several axes move it by one.
std::optional<RowOfLoad> RowOf(const Computation& c,
                               const ComputationStage& stage, NodeId load);

// Returns the order of a slice's dims that makes its rows contiguous line by
// line: lines, rows, and last the buffer's last dim. In the buffer these dims
// may have another order: images of a batch (rows) are outside of the pixels
// (lines) of each. The result is the dims of a CacheRead: {1, 2, 0, 3}. It is
// empty if the buffer has that order, or if one of the axes does not move along
// a dim of its own.
std::vector<size_t> DimsByLines(const Computation& c,
                                const ComputationStage& stage, NodeId load,
                                int lines, int rows);

// True if the load's slices have one constant size: its indices are sums of
// axes, in a buffer of constant extents.
bool IsConstantSlice(const Computation& c, const ComputationStage& stage,
                     NodeId load);

// True if each stage that reads the product's results reads them at its own
// point: its axes are the product's axes.
bool IsReadInPlace(const Computation& c, const StageRef& product);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_SLICES_H_
