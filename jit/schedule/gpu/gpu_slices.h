// Slices of a product's operands in memory of a workgroup, and other things
// that the rules for products on GPUs share. Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_SLICES_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {

// A stage that copies a slice to shared memory, and the loop over what each
// invocation copies of it.
struct SliceCopy {
  std::string stage;
  std::string rounds;
  // How it may be loaded ahead: by way of registers; or, if `slots` is not 0,
  // asynchronously into a ring of so many.
  bool by_registers = false;
  int64_t slots = 0;
  bool is_late = false;  // behind what the turn computes (double_buffer … late)
  bool has_spare = false;     // one slot less ahead (double_buffer … spare)
  bool is_constant = false;   // it has as many elements wherever it is
  int64_t bytes_at_once = 0;  // of an invocation's access
};

// Of the product's copy of slices of the buffer: no other product's.
std::string NameOfSlice(const Computation& c, const std::string& product,
                        const std::string& buffer);

// Loads the slices ahead of the iteration that reads them: all of them, or
// none, as the workgroup meets as often for one as for all. Asynchronously only
// if each invocation moves whole words: devices copy nothing smaller.
void LoadSlicesAhead(const std::vector<SliceCopy>& copies,
                     ScheduleWriter& writer);

// How often the loops around the slices of a sum of products turn: its other
// axes, such as those of a window. 1 where that is not known.
int64_t TurnsAroundSlices(const StageShape& shape, int axis_of_slices);

// How what a load reads lies along the last dim of its buffer: along one axis
// of the stage, from where others put it.
//
//   %a[i, k_part * 96 + k]    axis k, start 96
struct RowOfLoad {
  size_t axis = 0;
  // What divides the index but for the axis; 0: that is 0.
  int64_t start = 0;
  // Whether all that the axes reach lies in the dim: of a pad, too.
  bool is_inside = false;
};
// Nothing where the index is no sum, or several axes move it by one.
std::optional<RowOfLoad> RowOf(const Computation& c,
                               const ComputationStage& stage, NodeId load);

// In which order a slice has the buffer's dims, so that its rows lie line by
// line: lines, rows, and last the dim along which the factor lies, wherever
// those are in the buffer, as images of a batch (rows) are outside of the
// pixels (lines) of each. As words of cache_read: " 1 2 0 3"; "" where that is
// their order anyway, or one of the axes does not move along a dim of its own.
std::string DimsByLines(const Computation& c, const ComputationStage& stage,
                        NodeId load, int lines, int rows);

// Whether the load's slices are of one constant size: its indices are sums of
// axes, in a buffer of constant extents.
bool IsConstantSlice(const Computation& c, const ComputationStage& stage,
                     NodeId load);

// Whether the stages that read the product's results do so at their own point:
// their axes are the product's.
bool IsReadInPlace(const Computation& c, const std::string& product);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_SLICES_H_
