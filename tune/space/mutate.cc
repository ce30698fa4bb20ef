#include "tune/space/mutate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/concat.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/primitives/replay.h"
#include "tune/space/step_numbers.h"

namespace ember::tune {
namespace {

using schedule::LoopMark;
using schedule::LoopRef;
using schedule::Schedule;
using schedule::StagePlan;
using schedule::StageRef;
using schedule::Step;

// Largest number of iterations of a loop that a mutation unrolls.
constexpr int64_t kMaxUnrolled = 16;
// Largest number that a mutation writes into a step (a factor or size).
constexpr int64_t kMaxNumber = 4096;

// True if the step only marks a loop or buffer, so that the schedule stays
// legal without the step.
bool IsMark(const Step& step) {
  return std::holds_alternative<schedule::Unroll>(step) ||
         std::holds_alternative<schedule::Vectorize>(step) ||
         std::holds_alternative<schedule::Parallel>(step) ||
         std::holds_alternative<schedule::Peel>(step) ||
         std::holds_alternative<schedule::Tensorize>(step) ||
         std::holds_alternative<schedule::PadRows>(step) ||
         std::holds_alternative<schedule::DoubleBuffer>(step);
}

class Mutator {
 public:
  Mutator(const Schedule& schedule, Random& random)
      : schedule_(schedule), random_(random) {
    point_ = PointOf(schedule, "");
  }

  std::optional<Point> Run() {
    struct Move {
      bool (Mutator::*change)();
      std::string_view name;
      int weight;
    };
    static constexpr Move kMoves[] = {
        {&Mutator::ChangeNumber, "number", 8},
        {&Mutator::ChangeOrder, "order", 3},
        {&Mutator::LeaveOut, "leave out", 2},
        {&Mutator::MoveStage, "compute_at", 2},
        {&Mutator::AddUnroll, "unroll", 2},
        {&Mutator::AddSplit, "split", 2},
        {&Mutator::AddCopy, "cache_read", 1},
    };
    int total = 0;
    for (const Move& move : kMoves) total += move.weight;
    int left = static_cast<int>(random_.Below(static_cast<size_t>(total)));
    for (const Move& move : kMoves) {
      left -= move.weight;
      if (left >= 0) continue;
      if (!(this->*move.change)()) return std::nullopt;
      point_.origin = Concat({"mutation: ", move.name});
      return std::move(point_);
    }
    return std::nullopt;
  }

 private:
  // --- numbers ---

  // Returns the constant extents of all axes of the computation, and 64. New
  // factors are divisors of one of these numbers.
  std::vector<int64_t> Extents() const {
    const schedule::Computation& c = schedule_.computation();
    std::vector<int64_t> extents = {64};
    for (const schedule::ComputationStage& stage : c.stages) {
      for (const schedule::ComputationAxis& axis : stage.axes) {
        const std::optional<int64_t> extent =
            c.pool.IntegerConstant(axis.extent);
        if (extent && *extent > 1) extents.push_back(*extent);
      }
    }
    return extents;
  }

  int64_t OtherNumber(int64_t number) {
    if (random_.Chance(0.6)) {
      const std::vector<int64_t> near = {number * 2, number / 2,
                                         number + 1, number - 1,
                                         number * 3, number * 3 / 2};
      return random_.Pick(near);
    }
    if (random_.Chance(0.4)) return int64_t{1} << random_.Below(9);
    const int64_t extent = random_.Pick(Extents());
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= std::min(extent, kMaxNumber); ++d) {
      if (extent % d == 0) divisors.push_back(d);
    }
    return random_.Pick(divisors);
  }

  // Changes a number in one step. In most cases all steps with the same number
  // change with it, because equal numbers often mean the same tile, as in the
  // layout of an operand or in another stage of a group.
  bool ChangeNumber() {
    std::vector<std::pair<size_t, int64_t>> numbers;
    for (size_t i = 0; i < point_.steps.size(); ++i) {
      ForEachNumber(point_.steps[i],
                    [&](int64_t& number) { numbers.emplace_back(i, number); });
    }
    if (numbers.empty()) return false;
    const auto [chosen, from] = random_.Pick(numbers);
    const int64_t to = OtherNumber(from);
    if (to < 1 || to > kMaxNumber || to == from) return false;
    const bool changes_all = random_.Chance(0.7);
    for (size_t i = 0; i < point_.steps.size(); ++i) {
      if (i != chosen && !changes_all) continue;
      ForEachNumber(point_.steps[i], [&, old = from](int64_t& number) {
        if (number == old) number = to;
      });
    }
    return true;
  }

  // --- changing the order of loops, and removing or moving steps ---

  // Moves one loop to another position in a `reorder` step.
  bool ChangeOrder() {
    std::vector<std::vector<LoopRef>*> orders;
    for (Step& step : point_.steps) {
      if (auto* reorder = std::get_if<schedule::Reorder>(&step))
        orders.push_back(&reorder->loops);
    }
    if (orders.empty()) return false;
    std::vector<LoopRef>& loops = *random_.Pick(orders);
    const size_t from = random_.Below(loops.size());
    const size_t to = random_.Below(loops.size());
    if (from == to) return false;
    LoopRef moved = loops[from];
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(from));
    loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(to),
                 std::move(moved));
    return true;
  }

  bool LeaveOut() {
    std::vector<size_t> candidates;
    for (size_t i = 0; i < point_.steps.size(); ++i) {
      const Step& step = point_.steps[i];
      if (IsMark(step) || std::holds_alternative<schedule::Reorder>(step) ||
          std::holds_alternative<schedule::ComputeAt>(step) ||
          std::holds_alternative<schedule::CacheRead>(step) ||
          std::holds_alternative<schedule::Pack>(step)) {
        candidates.push_back(i);
      }
    }
    if (candidates.empty()) return false;
    const size_t chosen = random_.Pick(candidates);
    const Step step = point_.steps[chosen];
    // If the removed step made a stage (a copy of a buffer), the steps that
    // refer to this stage are removed, too.
    std::vector<StageRef> copies;
    if (const auto* copy = std::get_if<schedule::CacheRead>(&step))
      copies.push_back({copy->copy});
    if (const auto* pack = std::get_if<schedule::Pack>(&step))
      copies.push_back({pack->copy});
    point_.steps.erase(point_.steps.begin() +
                       static_cast<std::ptrdiff_t>(chosen));
    std::erase_if(point_.steps, [&](const Step& other) {
      return std::ranges::find(copies, StageOf(other)) != copies.end();
    });
    return true;
  }

  // Attaches a stage to another loop of the same reader, in a `compute_at`
  // step.
  bool MoveStage() {
    std::vector<schedule::ComputeAt*> attachments;
    for (Step& step : point_.steps) {
      if (auto* at = std::get_if<schedule::ComputeAt>(&step))
        attachments.push_back(at);
    }
    if (attachments.empty()) return false;
    schedule::ComputeAt& at = *random_.Pick(attachments);
    const std::vector<LoopRef> loops =
        LoopsOf(schedule_.computation().FindStage(at.loop.stage.name));
    if (loops.empty()) return false;
    const LoopRef& other = random_.Pick(loops);
    if (other == at.loop) return false;
    at.loop = other;
    return true;
  }

  // --- adding steps ---

  std::vector<LoopRef> LoopsOf(int stage) const {
    std::vector<LoopRef> loops;
    if (stage < 0) return loops;
    const StagePlan& plan = schedule_.plan(stage);
    for (const int loop : plan.order) {
      loops.emplace_back(StageRef{schedule_.computation().stages[stage].name},
                         plan.loops[loop].name);
    }
    return loops;
  }

  // Returns the serial loops of all stages for whose number of iterations
  // `accepts` returns true.
  template <typename Accepts>
  std::vector<LoopRef> SerialLoops(Accepts&& accepts) const {
    const schedule::Computation& c = schedule_.computation();
    std::vector<LoopRef> found;
    for (size_t s = 0; s < c.stages.size(); ++s) {
      const StagePlan& plan = schedule_.plan(static_cast<int>(s));
      for (const int loop : plan.order) {
        if (plan.loops[loop].mark != LoopMark::kSerial) continue;
        const std::optional<int64_t> iterations =
            plan.IterationsOf(loop, [&](int axis) {
              return c.pool.IntegerConstant(c.stages[s].axes[axis].extent);
            });
        if (iterations && accepts(*iterations))
          found.emplace_back(StageRef{c.stages[s].name}, plan.loops[loop].name);
      }
    }
    return found;
  }

  bool AddUnroll() {
    const std::vector<LoopRef> loops = SerialLoops(
        [](int64_t count) { return count > 1 && count <= kMaxUnrolled; });
    if (loops.empty()) return false;
    point_.steps.emplace_back(schedule::Unroll{random_.Pick(loops)});
    return true;
  }

  // Adds steps that split a serial loop. In most cases the inner loop is
  // unrolled.
  bool AddSplit() {
    const std::vector<LoopRef> loops =
        SerialLoops([](int64_t count) { return count > 3; });
    if (loops.empty()) return false;
    static const std::vector<int64_t> kFactors = {2, 3, 4, 4, 5, 6, 8, 8, 16};
    const LoopRef& loop = random_.Pick(loops);
    const std::string name = NewName(loop.name);
    const LoopRef inner(loop.stage, name + "i");
    point_.steps.emplace_back(schedule::Split{.loop = loop,
                                              .factor = random_.Pick(kFactors),
                                              .outer = name + "o",
                                              .inner = inner.name});
    if (random_.Chance(0.8))
      point_.steps.emplace_back(schedule::Unroll{inner});
    else
      point_.steps.emplace_back(schedule::Peel{{loop.stage, name + "o"}});
    return true;
  }

  // Adds a copy of a buffer for one stage that reads it (`cache_read`). The
  // copy is made in one of the stage's loops.
  bool AddCopy() {
    const schedule::Computation& c = schedule_.computation();
    std::vector<std::pair<int, uint32_t>> reads;
    for (size_t s = 0; s < c.stages.size(); ++s) {
      for (size_t b = 0; b < c.buffers.size(); ++b) {
        if (Reads(c, static_cast<int>(s), static_cast<uint32_t>(b)))
          reads.emplace_back(static_cast<int>(s), static_cast<uint32_t>(b));
      }
    }
    if (reads.empty()) return false;
    const auto [stage, buffer] = random_.Pick(reads);
    const StageRef copy{NewName(c.buffers[buffer].name + "c")};
    point_.steps.emplace_back(
        schedule::CacheRead{.reader = {c.stages[stage].name},
                            .buffer = {c.buffers[buffer].name},
                            .copy = copy.name});
    const std::vector<LoopRef> loops = LoopsOf(stage);
    if (!loops.empty() && random_.Chance(0.9))
      point_.steps.emplace_back(schedule::ComputeAt{copy, random_.Pick(loops)});
    return true;
  }

  // Returns a name for a loop or copy that does not occur in the schedule.
  std::string NewName(const std::string& base) const {
    const std::string text = schedule_.ToText();
    std::string name = base;
    for (int n = 1;; ++n) {
      name = Concat({base, "_", n});
      if (text.find(name) == std::string::npos) return name;
    }
  }

  const Schedule& schedule_;
  Random& random_;
  Point point_;
};

// True if both schedules have the same steps in the same order and differ only
// in numbers.
bool HaveEqualForms(const Point& a, const Point& b) {
  const auto without_numbers = [](const Point& point) {
    Point form = point;
    for (Step& step : form.steps)
      ForEachNumber(step, [](int64_t& number) { number = 1; });
    return TextOf(form);
  };
  return a.steps.size() == b.steps.size() &&
         without_numbers(a) == without_numbers(b);
}

}  // namespace

std::optional<Point> MutatePoint(const Schedule& schedule, Random& random) {
  return Mutator(schedule, random).Run();
}

Point CrossPoints(const Point& a, const Point& b, Random& random) {
  Point child;
  child.origin = "cross";
  if (HaveEqualForms(a, b)) {
    child.steps = a.steps;
    for (size_t i = 0; i < a.steps.size(); ++i) {
      if (random.Chance(0.5)) child.steps[i] = b.steps[i];
    }
    return child;
  }
  std::set<StageRef> all, of_b;
  for (const Step& step : b.steps) all.insert(StageOf(step));
  for (const StageRef& stage : all) {
    if (random.Chance(0.5)) of_b.insert(stage);
  }
  bool is_inserted = false;
  const auto insert = [&] {
    if (std::exchange(is_inserted, true)) return;
    for (const Step& step : b.steps) {
      if (of_b.contains(StageOf(step))) child.steps.push_back(step);
    }
  };
  for (const Step& step : a.steps) {
    if (of_b.contains(StageOf(step)))
      insert();
    else
      child.steps.push_back(step);
  }
  insert();
  return child;
}

Status ApplyLeniently(std::span<const Step> steps, Schedule& schedule) {
  for (const Step& step : steps) {
    const Status applied = schedule::Apply(step, schedule);
    if (!applied.ok() && !IsMark(step)) return applied;
  }
  return OkStatus();
}

}  // namespace ember::tune
