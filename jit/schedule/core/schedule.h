// A schedule: how the stages of a dispatch become loops. It starts as the
// dispatch is written (each stage by itself, its axes as loops in order) and is
// changed by primitives, each of which checks that the result still computes
// the same and refuses with a reason otherwise. The list of primitives applied
// is the schedule's text, which can be written by hand and replayed.
//
//   Schedule s(Disassemble(dispatch, {}));
//   EMBER_RETURN_IF_ERROR(Apply("split %y j 16 -> j0 j1", s));
//   EMBER_RETURN_IF_ERROR(Apply("vectorize %y j1", s));
//   EMBER_RETURN_IF_ERROR(Apply("parallel %y i", s));
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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/schedule/core/computation.h"

namespace ember::schedule {

enum class LoopMark : uint8_t {
  kSerial,
  kParallel,
  kUnrolled,
  kVector,
  kInvocation,  // bound to the invocations of a workgroup
  kDot,         // a short sum of products: loops::LoopKind::kDot
  kSubgroup,    // bound to the subgroups of a workgroup
  kMatrix       // with two others, a product of matrices of a subgroup
};

// Whether the loop's values are those of invocations, or of their subgroups.
constexpr bool IsBound(LoopMark mark) {
  return mark == LoopMark::kInvocation || mark == LoopMark::kSubgroup;
}

// A loop variable of a stage: an axis of it, or made from other loops.
struct Loop {
  enum class Origin : uint8_t {
    kAxis,   // axis `axis` of the stage
    kOuter,  // of loop `parent`, split by `factor`: parent / factor, rounded up
    kInner,  // 0 .. factor - 1
    kFused   // loops `parent` (slow) and `second` (fast) as one
  };
  std::string name;  // unique in the stage
  Origin origin = Origin::kAxis;
  int axis = -1;
  int parent = -1;
  int second = -1;
  int64_t factor = 0;
  LoopMark mark = LoopMark::kSerial;
  bool is_reduction = false;
  // kOuter: iterations in which the split is exact run code without guards.
  bool peeled = false;
};

// Of what a stage computes in a loop of another one.
enum class Buffering : uint8_t {
  kSingle,
  kDouble,             // one iteration ahead, into the other of two halves
  kDoubleByRegisters,  // by way of registers of the invocations
  kAsync               // some iterations ahead, in a ring of slots
};

struct StagePlan {
  std::vector<Loop> loops;  // also those that were split or fused
  std::vector<int> order;   // the loops that are left, outermost first
  // Computed inside loop `attach_loop` of stage `attach_stage`, as much as that
  // needs; -1: by itself.
  int attach_stage = -1;
  int attach_loop = -1;
  Buffering buffering = Buffering::kSingle;
  int64_t slots = 2;     // of kAsync
  bool is_late = false;  // of kAsync: behind what else the iteration does
  // Of kAsync: a slot is left to what goes on from the iteration before.
  bool has_spare = false;
  // Elements between the rows of its buffer that nobody uses.
  int64_t row_padding = 0;

  int FindLoop(std::string_view name) const;  // among `order`; -1: none
  int PositionOf(int loop) const;             // in `order`; -1: not there
  bool MultipliesMatrices() const;            // has loops marked so
  // How often loop `loop` runs, from how often axes do; nothing where one of
  // those that it is made of is nothing.
  std::optional<int64_t> IterationsOf(
      int loop,
      const std::function<std::optional<int64_t>(int axis)>& of_axis) const;
};

class Schedule {
 public:
  explicit Schedule(Computation computation);

  const Computation& computation() const { return computation_; }
  const StagePlan& plan(int stage) const { return plans_[stage]; }

  // The primitives that were applied, one per line: jit/schedule/primitives/
  // replay.h applies such a text again.
  std::string ToText() const;
  // Whether each of them keeps rounding (primitives/primitives.h).
  bool primitives_keep_rounding() const { return primitives_keep_rounding_; }

  // For primitives.
  Computation& mutable_computation() { return computation_; }
  StagePlan& mutable_plan(int stage) { return plans_[stage]; }
  // A stage in front of stage `before`; numbers of stages from there on grow by
  // one, in plans too.
  void InsertStage(int before, ComputationStage stage);
  // A stage that nothing is computed in; numbers of later ones fall by one.
  void RemoveStage(int stage);
  // Notes a primitive that was applied, as a line of the text form.
  void RecordPrimitive(std::string line, bool keeps_rounding);

 private:
  Computation computation_;
  std::vector<StagePlan> plans_;
  std::vector<std::string> lines_;
  bool primitives_keep_rounding_ = true;
};

// The plan of a stage that no primitive has changed.
StagePlan DefaultPlan(const ComputationStage& stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_SCHEDULE_H_
