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
    // true if the load is padded, which only factor a may be
    bool is_padded = false;
    size_t rank = 0;
    size_t step_dim = 0;    // number of the dim that the reduction axis indexes
    size_t vector_dim = 0;  // only for factor b: number of the dim that the
                            // axis v of the vectors indexes
    // True if elements along the reduction are contiguous in memory.
    bool LiesAlong() const { return step_dim + 1 == rank; }
  };
  int64_t count = 4;
  std::optional<DType> type;  // i16 if factors must be copied as 16-bit
                              // integers; otherwise nullopt
  // If set, the range that the elements of factor b must have for the
  // instruction.
  std::optional<tensor::Interval> range;
  int axis = 0;  // number of the reduction axis
  LoopRef reduction;
  bool is_exact = true;  // true if `count` divides the extent of the reduction
  Factor a, b;           // the two factors; only b depends on the axis v
  // The remaining buffers of factor b, if the bits of its numbers are spread
  // over several. They need the same layout as b.
  std::vector<Factor> more_b;
};

// The dot instructions that a processor has, by types of factors. An
// instruction adds up 2 or 4 products.
struct DotCounts {
  bool bytes = false;  // true if instructions add up 4 products of any bytes
  // true if instructions add up 4 products of u8 by small bytes
  // (jit/loops/analysis/dot_product.h)
  bool small = false;
  // True if instructions add up 2 products of i16, or of types that are copied
  // as i16.
  bool shorts = false;
  bool bfloats = false;  // true if instructions add up 2 products of bf16
};

// Plans the dot loop of a product whose vectors run along the spatial axis v.
// Returns nullopt if the stage is no product of types for which there is an
// instruction, if v and a reduction axis do not index dims of the factors as
// above, if both read one buffer, if factor a is unpacked or factor b padded,
// or if the reductions are of open or very short extents.
std::optional<DotPlan> PlanDots(const Computation& c, const StageShape& shape,
                                int v, DotCounts counts);

// Returns the dims of the factor's buffer for a layout of Pack, except the dim
// of the reduction and, if `without_vector` is true, the dim of v.
std::vector<LayoutDim> OtherDims(const DotPlan::Factor& factor,
                                 bool without_vector);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_DOT_PLAN_H_
