// A schedule: how the stages of a dispatch become loops. It starts as the
// dispatch is written: each stage by itself, its axes as loops in order.
// Primitives change it. Each primitive checks that the result still computes
// the same, and otherwise refuses with a reason. The applied primitives are the
// schedule's steps (steps.h). Their text can be written by hand and replayed.
//
//   Schedule s(Disassemble(dispatch, {}));
//   EMBER_RETURN_IF_ERROR(Apply("split %y j 16 -> j0 j1", s));
//   EMBER_RETURN_IF_ERROR(Apply(Vectorize{{{"y"}, "j1"}}, s));
//   EMBER_RETURN_IF_ERROR(Apply(Parallel{{{"y"}, "i"}}, s));
//   EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, Lower(s));
//
// A stage is named after the buffer that it stores (%y; %y.1 for a second stage
// of it), loops after the axes. Every primitive, with its operands and an
// example: jit/schedule/primitives/primitives.h.
//
// Ownership: a plain value, movable and copyable. Thread-compatible.
#ifndef EMBER_JIT_SCHEDULE_CORE_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_CORE_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/steps.h"

namespace ember::schedule {

enum class LoopMark : uint8_t {
  kSerial,
  kParallel,
  kUnrolled,
  kVector,
  kInvocation,  // the loop's iterations are the invocations of a workgroup
  kDot,         // a short sum of products for one instruction
                // (loops::LoopKind::kDot)
  kSubgroup,    // the loop's iterations are the subgroups of a workgroup
  kMatrix       // rows, columns or steps of a matrix product of a subgroup
};

// True if the loop is bound: its iterations are distributed over the
// invocations or the subgroups of a workgroup.
constexpr bool IsBound(LoopMark mark) {
  return mark == LoopMark::kInvocation || mark == LoopMark::kSubgroup;
}

// A loop of a stage: over one of the stage's axes, or made from other loops by
// a split or a fuse.
struct Loop {
  enum class Origin : uint8_t {
    kAxis,   // the loop is over axis number `axis` of the stage
    kOuter,  // the outer loop of a split: loop `parent` divided by `factor`,
             // rounded up
    kInner,  // the inner loop of a split of loop `parent`: 0 .. factor - 1
    kFused   // the loops `parent` (slow) and `second` (fast) fused into one
  };
  std::string name;  // name of the loop, which is unique in the stage
  Origin origin = Origin::kAxis;
  int axis = -1;
  int parent = -1;
  int second = -1;
  int64_t factor = 0;
  LoopMark mark = LoopMark::kSerial;
  bool is_reduction = false;
  // For a loop of origin kOuter: true if iterations in which the split is exact
  // run a copy of the body without guards.
  bool peeled = false;
};

struct StagePlan {
  // all loops, including those that a split or a fuse has replaced
  std::vector<Loop> loops;
  std::vector<int> order;  // numbers of the loops that exist, outermost first
  // The stage is computed inside loop `attach_loop` of stage `attach_stage`.
  // Each iteration computes the part of the stage's results that the loop's
  // body needs. -1 if the stage is not attached.
  int attach_stage = -1;
  int attach_loop = -1;
  LoadAhead ahead = {.buffering = Buffering::kSingle};
  // Number of unused elements after each row of the stage's buffer (pad_rows).
  int64_t row_padding = 0;

  // Returns the number of the loop in `order` that has this name; -1 if there
  // is none.
  int FindLoop(std::string_view name) const;
  // Returns the loop's position in `order`; -1 if `order` does not contain it.
  int PositionOf(int loop) const;
  // True if the stage has loops marked kMatrix.
  bool MultipliesMatrices() const;
  // Returns the number of iterations of loop `loop`, computed from the extents
  // of axes that of_axis returns. Returns nullopt if of_axis does so for an
  // axis that the loop covers.
  std::optional<int64_t> IterationsOf(
      int loop,
      const std::function<std::optional<int64_t>(int axis)>& of_axis) const;
};

class Schedule {
 public:
  explicit Schedule(Computation computation);

  const Computation& computation() const { return computation_; }
  const StagePlan& plan(int stage) const { return plans_[stage]; }

  // The applied primitives, in order. Applying them to another schedule of the
  // same computation (jit/schedule/primitives/replay.h) makes it equal to this
  // one.
  std::span<const std::shared_ptr<const Step>> steps() const { return steps_; }
  // Returns the steps as text, one per line.
  std::string ToText() const;
  // True if no applied primitive changes how results are rounded, apart from
  // the order of sums.
  bool primitives_keep_rounding() const;
  // Returns the factor by which the errors of results may exceed those of
  // directly computed sums: the largest error growth of any applied primitive.
  double ErrorGrowth() const;

  // Gives primitives write access to the computation and to the stages' plans.
  Computation& mutable_computation() { return computation_; }
  StagePlan& mutable_plan(int stage) { return plans_[stage]; }
  // Inserts a stage before stage number `before`. The numbers of that stage and
  // of later ones grow by one, in plans too.
  void InsertStage(int before, ComputationStage stage);
  // Removes a stage that contains no attached stage. Numbers of later stages
  // decrease by one.
  void RemoveStage(int stage);
  // Appends a step that was applied to the schedule's steps.
  void Record(Step step);

 private:
  Computation computation_;
  std::vector<StagePlan> plans_;
  // the applied steps; copies of a schedule share them
  std::vector<std::shared_ptr<const Step>> steps_;
};

// Returns the plan of a stage that no primitive has changed: its axes as serial
// loops, in order.
StagePlan DefaultPlan(const ComputationStage& stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_SCHEDULE_H_
