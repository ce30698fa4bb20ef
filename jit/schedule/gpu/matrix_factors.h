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

// A factor of a product, of which slices are copied to memory of the workgroup.
struct MatrixFactor {
  BufferRef buffer;
  int64_t lanes = 1;
  // true if all slices have the same size, which is known at compile time
  bool is_constant = false;
  DType type = DType::kF16;
  // number of bytes of a row of a slice (the part of the factor that is copied
  // at once); 0: not known
  int64_t row_bytes = 0;
  bool is_of_columns = false;
  bool lies_along_steps = false;
  // True if the factor is computed by a stage that looks up elements in a table
  // and that only this product reads. The stage stores each slice to the buffer
  // just before the product reads it, so no copy of the slice is made.
  bool is_gathered = false;
  std::vector<size_t> dims = {};  // order of the dims in the slice
                                  // (DimsByLines); empty: unchanged
  // The loop in each iteration of which a slice is copied; nullopt: the
  // product's loop over slices.
  std::optional<LoopRef> around = std::nullopt;
};

// Returns the factors that the product reads in the writer's current schedule.
std::vector<MatrixFactor> FindMatrixFactors(const MatrixPlan& plan,
                                            const StageRef& product,
                                            const ScheduleWriter& writer);

// Adds copies of slices of the factors, made by `threads` invocations. slices:
// the product's loop over slices. Returns the copies that may be loaded ahead
// of their iteration (LoadSlicesAhead). If some load cannot be read from
// slices, the writer has an error.
std::vector<SliceCopy> CopyFactors(const MatrixPlan& plan,
                                   const std::vector<MatrixFactor>& factors,
                                   const LoopRef& slices, int64_t threads,
                                   ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_MATRIX_FACTORS_H_
