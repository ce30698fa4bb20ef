// Slices of a product's operands in memory of a workgroup, and other things
// that the rules for products on GPUs share. Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_SLICES_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_SLICES_H_

#include <string>
#include <vector>

#include "jit/schedule/rules/schedule_writer.h"

namespace ember::schedule {

// A slice in shared memory, and the loop over what an invocation copies.
struct SliceCopy {
  std::string stage;
  std::string rounds;
  bool by_registers = false;
  int64_t slots = 0;         // not 0: asynchronously, into so many
  bool is_constant = false;  // of one size wherever it is
};

// Loads the slices one iteration ahead: all of them, or the workgroup meets as
// often as before.
void LoadSlicesAhead(const std::vector<SliceCopy>& copies,
                     ScheduleWriter& writer);

// Whether the load's slices are of one constant size: its indices are sums of
// axes, in a buffer of constant extents.
bool IsConstantSlice(const Computation& c, const ComputationStage& stage,
                     NodeId load);

// Whether the stages that read the product's results do so at their own point:
// their axes are the product's.
bool IsReadInPlace(const Computation& c, const std::string& product);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_SLICES_H_
