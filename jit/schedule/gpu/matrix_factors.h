// The factors of a product that is computed as matrices, and the copies of
// their slices to memory of the workgroup.
//
//   const std::vector<MatrixFactor> factors =
//       FindMatrixFactors(plan, product, writer);
//   …  // the loops of the product
//   const std::vector<SliceCopy> copies =
//       CopyFactors(plan, factors, slices, threads, writer);
//
// Internal to the default schedule.
#ifndef EMBER_JIT_SCHEDULE_GPU_MATRIX_FACTORS_H_
#define EMBER_JIT_SCHEDULE_GPU_MATRIX_FACTORS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/dtype.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/gpu/matrix_tiles.h"
#include "jit/schedule/gpu/slices.h"
#include "jit/schedule/rules/schedule_writer.h"

namespace ember::schedule {

// A factor of the product, whose slices are copied to memory of the workgroup.
struct MatrixFactor {
  BufferRef buffer;
  int64_t lanes = 1;
  // True if all slices have the same size, which is known when compiling.
  bool is_constant = false;
  DType type = DType::kF16;
  int64_t row_bytes = 0;  // bytes of a slice's row; 0: not known
  bool is_of_columns = false;
  bool lies_along_steps = false;
  // True if a stage with the buffer's name computes the factor for this product
  // alone. The stage computes each slice just before the product reads it, so
  // no copy of the slice is made.
  bool is_gathered = false;
  std::vector<size_t> dims = {};  // order of the slice's dims (DimsByLines)
  // The loop in which the slice is copied, if that is not the product's loop
  // over slices.
  std::optional<LoopRef> around = std::nullopt;
};

// Returns the factors that the product reads after the steps applied so far.
std::vector<MatrixFactor> FindMatrixFactors(const MatrixPlan& plan,
                                            const StageRef& product,
                                            const ScheduleWriter& writer);

// Copies slices of the factors with `threads` invocations. slices: the
// product's loop over slices. Returns the copies that may be loaded ahead
// (LoadSlicesAhead). The writer has an error if some load cannot be read from
// slices.
std::vector<SliceCopy> CopyFactors(const MatrixPlan& plan,
                                   const std::vector<MatrixFactor>& factors,
                                   const LoopRef& slices, int64_t threads,
                                   ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_MATRIX_FACTORS_H_
