#include "jit/schedule/gpu/schedule.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "jit/schedule/core/attachments.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/gpu/product_rule.h"
#include "jit/schedule/gpu/row_rule.h"
#include "jit/schedule/gpu/row_tile_rule.h"
#include "jit/schedule/gpu/sum_parts.h"
#include "jit/schedule/gpu/transpose_rule.h"
#include "jit/schedule/gpu/vector_rule.h"
#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

class GpuChooser {
 public:
  GpuChooser(const jit::GpuModel& gpu, Schedule& schedule)
      : gpu_(gpu), schedule_(schedule), writer_(schedule) {}

  Status Run() {
    for (const ComputationStage& stage : c().stages)
      todo_.push_back({stage.name});
    while (!todo_.empty()) {
      const StageRef root = todo_.back();
      todo_.pop_back();
      if (!done_.contains(root)) ScheduleRoot(root);
    }
    return writer_.status();
  }

 private:
  void ScheduleRoot(const StageRef& root) {
    done_.insert(root);
    std::optional<StageRef> product = ProductFor(root);
    if (product) {
      if (ScheduleRowTilesOnGpu(gpu_, root, *product, done_, writer_))
        return FindWhatIsLeft();
      if (!gpu_.is_cpu_like &&
          ScheduleSumOnGpu(gpu_, root, *product, done_, schedule_)) {
        return FindWhatIsLeft();
      }
    }
    TrySplit(root);
    std::optional<LoopRef> point;
    product = ProductFor(root);
    if (product && !TrySplit(*product) && gpu_.is_cpu_like)
      point = TryProduct(root, *product);
    const bool adds_parts = done_.contains(PartsOf(root)) ||
                            (product && done_.contains(PartsOf(*product)));
    // The stage that adds up the parts is scheduled point by point, one result
    // per invocation. Then neighbouring invocations read neighbouring elements:
    // in memory, the same part of neighbouring results is contiguous.
    if (!point && adds_parts) return PointByPoint(root);
    if (!point && TryRows(root)) return;
    if (point) {
      JoinPoints(gpu_, root, *point, 0, done_, writer_);
      return;
    }
    if (ScheduleTransposeOnGpu(gpu_, root, done_, schedule_)) return;
    if (!TryVectors(root)) PointByPoint(root);
  }

  // Lists the stages that are not scheduled yet. A rule may have added stages
  // (a cut divides the stages before it, too) or inlined some.
  void FindWhatIsLeft() {
    todo_.clear();
    for (size_t i = 0; i < c().stages.size(); ++i) {
      const StageRef stage{c().stages[i].name};
      const bool is_attached =
          schedule_.plan(static_cast<int>(i)).attach_stage >= 0;
      if (!is_attached && !done_.contains(stage)) todo_.push_back(stage);
    }
  }

  void PointByPoint(const StageRef& root) {
    const auto point = SchedulePoints(gpu_, root, /*lanes=*/1, writer_);
    if (point) JoinPoints(gpu_, root, *point, 0, done_, writer_);
  }

  // Computes several neighbouring points of the root as a vector, together with
  // all stages that are computed for these points. Returns false, without a
  // change, if that is not possible.
  bool TryVectors(const StageRef& root) {
    Schedule trial = schedule_;
    const auto joined = TryPoints(root, /*lanes=*/1, trial);
    if (!joined) return false;
    const int64_t lanes = LanesOfPoints(gpu_, c(), root, *joined);
    if (lanes == 1) return false;
    trial = schedule_;
    if (TryPoints(root, lanes, trial) != joined) return false;
    ScheduleWriter writer(trial);
    if (!VectorizeJoined(root, *joined, writer) || !writer.status().ok())
      return false;
    schedule_ = std::move(trial);
    done_.insert(joined->begin(), joined->end());
    return true;
  }

  // Divides the root's points among tasks and invocations, `lanes` neighbours
  // each. Returns the stages that are then computed for these points; nullopt
  // if that is not possible.
  std::optional<std::set<StageRef>> TryPoints(const StageRef& root,
                                              int64_t lanes, Schedule& trial) {
    ScheduleWriter writer(trial);
    const auto point = SchedulePoints(gpu_, root, lanes, writer);
    if (!point) return std::nullopt;
    std::set<StageRef> done = done_;
    std::set<StageRef> joined = JoinPoints(gpu_, root, *point, 0, done, writer);
    if (!writer.status().ok()) return std::nullopt;
    return joined;
  }

  // Returns the stage of partial results that TrySplit or a product's rule adds
  // for a reduction.
  static StageRef PartsOf(const StageRef& reduction) {
    return {reduction.name + ".parts"};
  }

  // Splits a long reduction into two stages (rfactor). The new stage, of
  // partial results, is scheduled later. Returns false if splitting is not
  // worth it.
  bool TrySplit(const StageRef& reduction) {
    const StageRef parts = PartsOf(reduction);
    if (!SplitReductionOnGpu(gpu_, reduction, parts, writer_)) return false;
    todo_.insert(std::ranges::find(todo_, reduction), parts);
    return true;
  }

  std::optional<LoopRef> TryProduct(const StageRef& root,
                                    const StageRef& product) {
    Schedule trial = schedule_;
    std::set<StageRef> done = done_;
    ScheduleWriter writer(trial);
    std::optional<LoopRef> point =
        ScheduleProductOnGpu(gpu_, root, product, done, writer);
    if (!point || !writer.status().ok()) return std::nullopt;
    schedule_ = std::move(trial);
    done_ = std::move(done);
    return point;
  }

  // Schedules the root and the stages before it row by row. Returns false,
  // without a change, if the rule does not apply, or if a stage must run once
  // although rows may need overlapping parts of it.
  bool TryRows(const StageRef& root) {
    Schedule trial = schedule_;
    std::set<StageRef> done = done_;
    ScheduleWriter writer(trial);
    if (!ScheduleRowsOnGpu(gpu_, root, done, writer) || !writer.status().ok())
      return false;
    schedule_ = std::move(trial);
    done_ = std::move(done);
    return true;
  }

  const Computation& c() const { return writer_.computation(); }
  bool IsProduct(int stage) const {
    return StageShape(c(), stage).SharesOperands();
  }

  // Returns the product that the root is, or whose results the root reads point
  // by point, maybe through other stages; nullopt if there is none.
  std::optional<StageRef> ProductFor(const StageRef& root) const {
    const int number = writer_.NumberOf(root);
    if (IsProduct(number)) return root;
    if (c().stages[number].has_reduction()) return std::nullopt;
    std::set<int> inside = {number};
    for (int p = number - 1; p >= 0; --p) {
      if (!CanJoin(p, number, inside)) continue;
      const StageRef stage{c().stages[p].name};
      if (IsProduct(p))
        return HasAxesOf(stage, root) ? std::optional(stage) : std::nullopt;
      if (c().stages[p].has_reduction()) continue;
      inside.insert(p);
    }
    return std::nullopt;
  }

  // True if the stage has the same axes as the root, in the same order, so that
  // a tile of the stage's points is a tile of the root's. Results that the root
  // stores transposed go through memory instead.
  bool HasAxesOf(const StageRef& stage, const StageRef& root) const {
    const std::optional<RootAxes> found =
        RootAxesOf(writer_, {.root = root}, stage);
    std::vector<std::optional<LoopRef>> axes;
    const ComputationStage& stored = writer_.StageAt(root);
    for (int a = 0; a < stored.spatial_count; ++a)
      axes.push_back(LoopRef{root, stored.axes[a].name});
    return found && found->axes == axes;
  }

  // True if the stage can be computed for each point of the root: it is not
  // scheduled yet, points need different elements of it, and only the stages of
  // `inside` read it.
  bool CanJoin(int stage, int root, const std::set<int>& inside) const {
    const int depth = c().stages[root].spatial_count;
    if (depth == 0 || done_.contains({c().stages[stage].name}) ||
        !StoresAreIdentity(c(), stage) || !StoresAreDistinct(c(), root)) {
      return false;
    }
    const std::vector<int> consumers = ConsumersOf(c(), stage);
    const bool only_here = std::ranges::all_of(
        consumers, [&](int consumer) { return inside.contains(consumer); });
    return !consumers.empty() && only_here &&
           IsComputedOnce(writer_.schedule(), stage, root,
                          writer_.schedule().plan(root).order[depth - 1]);
  }

  const jit::GpuModel& gpu_;
  Schedule& schedule_;
  ScheduleWriter writer_;
  // the stages that are not scheduled yet, in order; the last is scheduled
  // first
  std::vector<StageRef> todo_;
  std::set<StageRef> done_;
};

}  // namespace

Status ScheduleForGpu(const jit::GpuModel& gpu, Schedule& schedule) {
  return GpuChooser(gpu, schedule).Run();
}

}  // namespace ember::schedule
