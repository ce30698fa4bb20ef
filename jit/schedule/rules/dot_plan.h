// Plans dot loops (tensorize) for sums of products of narrow numbers, whose
// steps are done `count` at a time: finds the roles of the factors and the
// layouts that they need. The default schedules of CPUs and GPUs share it.
//
//   %y[i, j] = sum(k < 64) i32(%a[i, k]) * i32(%b[k, j])
//     // a: %a, dim 1 is k's; b: %b, dim 0 is k's, dim 1 that of v = j
//
// Internal to the default schedules.
#ifndef EMBER_JIT_SCHEDULE_RULES_DOT_PLAN_H_
#define EMBER_JIT_SCHEDULE_RULES_DOT_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/stage_shape.h"
#include "tensor/interval.h"

namespace ember::schedule {

struct DotPlan {
  struct Factor {
    NodeId load = 0;
    BufferRef buffer;
    DType type = DType::kI8;
    bool is_constant = false;
    // true if the load is a pad; only factor a may be one
    bool is_padded = false;
    size_t rank = 0;
    size_t step_dim = 0;    // number of the dim indexed by the reduction
    size_t vector_dim = 0;  // only for b: number of the dim indexed by v
    // True if neighbours along the reduction are neighbours in memory.
    bool LiesAlong() const { return step_dim + 1 == rank; }
  };
  int64_t count = 4;
  std::optional<DType> type;  // type of copies of 16-bit integers
  // If set, the elements of factor b must be in this range.
  std::optional<tensor::Interval> range;
  int axis = 0;  // number of the reduction's axis
  LoopRef reduction;
  bool is_exact = true;  // true if `count` divides the reduction's extent
  Factor a, b;           // factor b depends on the axis v, a does not
  // The other buffers of b, if the bits of its numbers lie in several. They
  // need layouts like b's.
  std::vector<Factor> more_b;
};

// The dot instructions that a machine has: how many products of which types one
// instruction adds.
struct DotCounts {
  bool bytes = false;  // has instructions that add 4 products of bytes
  // has instructions that add 4 products of u8 by small bytes
  // (jit/loops/analysis/dot_product.h)
  bool small = false;
  // Has instructions that add 2 products of i16, or of types whose values fit
  // in i16.
  bool shorts = false;
  bool bfloats = false;  // has instructions that add 2 products of bf16
};

// Plans the dot loop of a stage, with vectors along the spatial axis v. Returns
// nullopt if the stage is no product of types for which there is an
// instruction, or if its reductions have open or very short extents.
std::optional<DotPlan> PlanDots(const Computation& c, const StageShape& shape,
                                int v, DotCounts counts);

// Returns the factor's dims, for the layout of a Pack, without the dim of the
// reduction and, if `without_vector`, without the dim of v.
std::vector<LayoutDim> OtherDims(const DotPlan::Factor& factor,
                                 bool without_vector);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_DOT_PLAN_H_
