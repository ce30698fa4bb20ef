// Sums of products of narrow numbers whose steps may go together, `count` at a
// time, into dot loops (tensorize): which of a product's factors is which, and
// how they have to lie. What the default schedules of CPUs and GPUs share.
//
//   %y[i, j] = sum(k < 64) i32(%a[i, k]) * i32(%b[k, j])
//     // a: %a, dim 1 is k's; b: %b, dim 0 is k's, dim 1 that of v = j
//
// Internal to the default schedules.
#ifndef EMBER_JIT_SCHEDULE_RULES_DOT_PLAN_H_
#define EMBER_JIT_SCHEDULE_RULES_DOT_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {

struct DotPlan {
  struct Factor {
    NodeId load = 0;
    std::string buffer;
    DType type = DType::kI8;
    bool is_constant = false;
    bool is_padded = false;  // of a
    size_t rank = 0;
    size_t step_dim = 0;    // whose index is the reduction
    size_t vector_dim = 0;  // of b: whose index is v
    // Neighbours along the reduction lie together.
    bool LiesAlong() const { return step_dim + 1 == rank; }
  };
  int64_t count = 4;
  std::string type;   // of copies of 16-bit integers, for `pack`: " i16"
  std::string range;  // that b's elements have to be in, too: " -64..64"
  int axis = 0;       // the reduction
  std::string axis_name;
  bool is_exact = true;  // count divides its extent
  Factor a, b;           // b moves along v, a does not
};

// How many products of which types the machine has at once.
struct DotCounts {
  bool bytes = false;    // 4 of bytes
  bool small = false;    // 4 of u8 by small bytes (jit/loops/dot_product.h)
  bool shorts = false;   // 2 of i16, and what fits in it
  bool bfloats = false;  // 2 of bf16
};

// Nothing where the stage is no such product, or its reductions have open or
// very short extents. v: a spatial axis.
std::optional<DotPlan> PlanDots(const Computation& c, const StageShape& shape,
                                int v, DotCounts counts);

// The factor's dims but those of the reduction and, if `without_vector`, of v,
// as `pack` names them: " 0 2".
std::string OtherDims(const DotPlan::Factor& factor, bool without_vector);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_DOT_PLAN_H_
