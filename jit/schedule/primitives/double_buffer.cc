// double_buffer: loads a tile for the next iteration while the current one is
// read.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/primitives/primitives.h"

namespace ember::schedule {
namespace {

// Smallest number of ring slots of asynchronous loads, without and with a slot
// that is left to the previous iteration (spare).
constexpr int64_t kFewestSlots = 2;
constexpr int64_t kFewestWithSpare = 3;

class DoubleBufferChecker {
 public:
  DoubleBufferChecker(const Schedule& schedule, int stage)
      : schedule_(schedule),
        c_(schedule.computation()),
        number_(stage),
        stage_(c_.stages[stage]),
        plan_(schedule.plan(stage)) {}

  Status Check() const {
    if (plan_.attach_stage < 0) {
      return FailedPreconditionError(
          "the stage is not computed in a loop: compute_at it first");
    }
    EMBER_RETURN_IF_ERROR(CheckStage());
    EMBER_RETURN_IF_ERROR(CheckLoop());
    EMBER_RETURN_IF_ERROR(CheckReads());
    if (plan_.ahead.buffering == Buffering::kDoubleByRegisters)
      return CheckRegisters();
    if (plan_.ahead.buffering == Buffering::kAsync) return CheckSlots();
    return OkStatus();
  }

 private:
  std::string Name() const { return "%" + stage_.name; }

  // Checks that the stage has the form of a copy: one value per point, without
  // a reduction, stored to a temporary. Also checks that its indices allow the
  // buffering, and that no stage is computed in one of its loops.
  Status CheckStage() const {
    if (stage_.has_reduction())
      return FailedPreconditionError(Name() + " combines elements");
    if (stage_.stores.size() != 1)
      return FailedPreconditionError(Name() + " stores several values");
    const BufferRole role = c_.buffers[stage_.stores[0].buffer].role;
    if (role != BufferRole::kTemporary) {
      return FailedPreconditionError(
          Name() +
          (role == BufferRole::kPacked ? " is made once" : " is a result") +
          ", and has no second half");
    }
    EMBER_RETURN_IF_ERROR(CheckIndices());
    for (int i = 0; i < number_; ++i) {
      if (schedule_.plan(i).attach_stage != number_) continue;
      return FailedPreconditionError("%" + c_.stages[i].name +
                                     " is computed in a loop of " + Name());
    }
    return OkStatus();
  }

  // Checks that no index would be checked twice. Where an element is loaded,
  // its index is checked, so a failing run ends an iteration or more earlier
  // than without loading ahead. Loading through registers would check each
  // index twice, so it is refused for such stages.
  Status CheckIndices() const {
    if (plan_.ahead.buffering != Buffering::kDoubleByRegisters ||
        AccessesAreSafe(c_, number_)) {
      return OkStatus();
    }
    return FailedPreconditionError("indices of " + Name() +
                                   " are checked while the program runs");
  }

  Status CheckLoop() const {
    const StagePlan& around = schedule_.plan(plan_.attach_stage);
    const Loop& loop = around.loops[plan_.attach_loop];
    if (loop.mark != LoopMark::kSerial) {
      return FailedPreconditionError("loop '" + loop.name + "', in which " +
                                     Name() + " is computed, is not serial");
    }
    // A stage inside a bound loop is refused: each invocation would fill a
    // buffer of its own, which the others do not wait for.
    const StagePlan* inner = &plan_;
    while (inner->attach_stage >= 0) {
      const StagePlan& outer = schedule_.plan(inner->attach_stage);
      for (int other : outer.order) {
        if (IsBound(outer.loops[other].mark)) {
          return FailedPreconditionError(
              Name() + " is computed inside bound loop '" +
              outer.loops[other].name + "': invocations do not share it");
        }
        if (other == inner->attach_loop) break;
      }
      inner = &outer;
    }
    if (around.attach_stage >= 0) return OkStatus();
    const ComputationStage& consumer = c_.stages[plan_.attach_stage];
    const auto iterations =
        around.IterationsOf(plan_.attach_loop, [&](int axis) {
          return c_.pool.IntegerConstant(consumer.axes[axis].extent);
        });
    if (iterations && *iterations < 2) {
      return FailedPreconditionError(
          "loop '" + loop.name + "', in which " + Name() +
          " is computed, has no second iteration to load for");
    }
    return OkStatus();
  }

  // Checks that the elements that the stage reads exist an iteration earlier:
  // no stage inside the loop stores them.
  Status CheckReads() const {
    const int consumer = plan_.attach_stage;
    const StagePlan& around = schedule_.plan(consumer);
    for (int i = 0; i <= consumer; ++i) {
      const bool inside =
          i == consumer || PositionInside(schedule_, i, consumer) >=
                               around.PositionOf(plan_.attach_loop);
      if (i == number_ || !inside) continue;
      for (const ComputationStore& store : c_.stages[i].stores) {
        if (!Reads(c_, number_, store.buffer)) continue;
        return FailedPreconditionError(
            Name() + " reads %" + c_.buffers[store.buffer].name + ", which %" +
            c_.stages[i].name + " stores in the same loop");
      }
    }
    return OkStatus();
  }

  // Checks that all asynchronous loads in the loop have the same number of
  // slots and the same options, because one await waits for all of them.
  Status CheckSlots() const {
    for (int i = 0; i < static_cast<int>(c_.stages.size()); ++i) {
      const StagePlan& other = schedule_.plan(i);
      if (other.ahead.buffering != Buffering::kAsync ||
          other.attach_stage != plan_.attach_stage ||
          other.attach_loop != plan_.attach_loop) {
        continue;
      }
      if (other.ahead.is_late != plan_.ahead.is_late ||
          other.ahead.has_spare != plan_.ahead.has_spare) {
        return FailedPreconditionError(
            Name() + " and %" + c_.stages[i].name +
            " in the same loop: expected 'late' and 'spare' of both or of "
            "neither");
      }
      if (other.ahead.slots == plan_.ahead.slots) continue;
      return FailedPreconditionError(
          Name() + " has " + std::to_string(plan_.ahead.slots) +
          " slots, and %" + c_.stages[i].name + " in the same loop " +
          std::to_string(other.ahead.slots));
    }
    return OkStatus();
  }

  // Checks that a loop of the stage is bound, because only invocations have
  // registers, and that none is serial: to be in registers, elements must have
  // constant indices.
  Status CheckRegisters() const {
    bool is_bound = false;
    for (int number : plan_.order) {
      const Loop& loop = plan_.loops[number];
      is_bound |= loop.mark == LoopMark::kInvocation;
      if (loop.mark != LoopMark::kSerial) continue;
      return FailedPreconditionError(
          "loop '" + loop.name + "' of " + Name() +
          " is neither bound, unrolled nor a vector, as registers need it");
    }
    if (is_bound) return OkStatus();
    return FailedPreconditionError(
        "no loop of " + Name() + " is bound: only invocations have registers");
  }

  const Schedule& schedule_;
  const Computation& c_;
  int number_;
  const ComputationStage& stage_;
  const StagePlan& plan_;
};

Status CheckSlotCount(const LoadAhead& how) {
  if (how.buffering == Buffering::kSingle)
    return InvalidArgumentError("expected two halves or more, found one");
  if (how.buffering != Buffering::kAsync) {
    if (how == LoadAhead{.buffering = how.buffering}) return OkStatus();
    return InvalidArgumentError("expected slots only behind 'async'");
  }
  if (how.has_spare && !how.is_late)
    return InvalidArgumentError("expected 'late' before 'spare'");
  const int64_t fewest = how.has_spare ? kFewestWithSpare : kFewestSlots;
  if (how.slots >= fewest && how.slots <= loops::kMaxRingSlots)
    return OkStatus();
  return FailedPreconditionError("expected " + std::to_string(fewest) + " to " +
                                 std::to_string(loops::kMaxRingSlots) +
                                 " slots, found " + std::to_string(how.slots));
}

}  // namespace

Status Change(const DoubleBuffer& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, step.stage));
  if (schedule.plan(stage).ahead.buffering != Buffering::kSingle)
    return FailedPreconditionError("the stage is double buffered already");
  EMBER_RETURN_IF_ERROR(CheckSlotCount(step.how));
  schedule.mutable_plan(stage).ahead = step.how;
  // CheckDoubleBuffers checks if double buffering is allowed. It runs after
  // this primitive and after each later one, which may break its rules.
  return OkStatus();
}

Status CheckDoubleBuffers(const Schedule& schedule) {
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i) {
    if (schedule.plan(i).ahead.buffering == Buffering::kSingle) continue;
    EMBER_RETURN_IF_ERROR(DoubleBufferChecker(schedule, i).Check());
  }
  return OkStatus();
}

}  // namespace ember::schedule
