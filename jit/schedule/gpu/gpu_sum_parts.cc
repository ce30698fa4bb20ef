#include "jit/schedule/gpu/gpu_sum_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "jit/schedule/core/computation.h"
#include "jit/schedule/gpu/gpu_costs.h"
#include "jit/schedule/gpu/gpu_matrix_rule.h"
#include "jit/schedule/gpu/gpu_points.h"
#include "jit/schedule/gpu/gpu_product_rule.h"
#include "jit/schedule/gpu/gpu_slices.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// One invocation adds up the parts of a result, so there are not many.
constexpr int64_t kMostParts = 64;
// A part has at least as many steps as the shortest slice (gpu_tiles.cc).
constexpr int64_t kShortestPart = 8;
// Neighbours are in one invocation where so many invocations are left, by those
// that keep the device busy: each has loads of all its parts on their way.
constexpr int64_t kInvocationsOfBusy = 16;

// The sum as it is, or in parts.
struct Parts {
  std::string part;  // as rfactor names it: "k/512"; empty: the whole sum
  int64_t count = 1;
  double cost = 0;
};

class SumScheduler {
 public:
  SumScheduler(const jit::GpuModel& gpu, const std::string& root,
               const std::string& product, const std::set<std::string>& done,
               const Schedule& schedule)
      : gpu_(gpu),
        root_(root),
        product_(product),
        done_(done),
        schedule_(schedule) {}

  struct Result {
    Schedule schedule;
    std::set<std::string> done;
  };

  std::optional<Result> Run() {
    const std::vector<Parts> all = PartsOfSum();
    for (const bool with_matrices : {true, false}) {
      std::optional<Parts> whole, best;
      for (Parts parts : all) {
        const std::optional<double> cost = CostOf(parts, with_matrices);
        if (!cost) continue;
        parts.cost = *cost;
        if (parts.count == 1) whole = parts;
        if (!best || parts.cost < best->cost) best = parts;
      }
      // Matrices may be refused when there is a nest, of parts before others.
      for (const auto& parts : {best, whole}) {
        if (!parts) continue;
        auto result = Make(*parts, with_matrices);
        if (result) return result;
      }
    }
    return std::nullopt;
  }

 private:
  std::string PartsName() const { return product_ + ".parts"; }

  // In how many parts of one length the sum may be, by each of its axes.
  std::vector<Parts> PartsOfSum() const {
    const Computation& c = schedule_.computation();
    const StageShape shape(c, c.FindStage(product_));
    std::vector<Parts> all = {Parts{}};
    for (int a = shape.spatial_count(); a < shape.axis_count(); ++a) {
      const int64_t extent = shape.Extent(a).value_or(1);
      const std::string& name = shape.stage().axes[static_cast<size_t>(a)].name;
      for (int64_t count = 2; count <= std::min(extent, kMostParts); ++count) {
        if (extent % count != 0) continue;
        const int64_t steps =
            shape.LikelyPoints(shape.spatial_count(), shape.axis_count()) /
            count;
        if (steps < kShortestPart) continue;
        all.push_back({count == extent
                           ? name
                           : name + "/" + std::to_string(extent / count),
                       count});
      }
    }
    return all;
  }

  // The schedule with the sum in parts; nothing if it may not be.
  std::optional<Schedule> Split(const Parts& parts) const {
    Schedule trial = schedule_;
    if (parts.count == 1) return trial;
    ScheduleWriter writer(trial);
    if (!writer.Try("rfactor %" + product_ + " " + parts.part + " -> " +
                    PartsName())) {
      return std::nullopt;
    }
    return trial;
  }

  std::optional<double> CostOf(const Parts& parts, bool with_matrices) const {
    std::optional<Schedule> trial = Split(parts);
    if (!trial) return std::nullopt;
    const bool is_whole = parts.count == 1;
    const std::string product = is_whole ? product_ : PartsName();
    const std::string root = is_whole ? root_ : product;
    const std::optional<double> cost =
        with_matrices ? CostOfMatricesOnGpu(gpu_, root, product, done_, *trial)
                      : CostOfProductOnGpu(gpu_, product, done_, *trial);
    if (!cost || is_whole) return cost;
    const StageShape sum(trial->computation(),
                         trial->computation().FindStage(product_));
    return *cost +
           CostOfParts(
               gpu_,
               static_cast<double>(sum.LikelyPoints(0, sum.spatial_count())),
               static_cast<double>(parts.count), sum.WidestBytes());
  }

  std::optional<Result> Make(const Parts& parts, bool with_matrices) const {
    std::optional<Schedule> trial = Split(parts);
    if (!trial) return std::nullopt;
    const bool is_whole = parts.count == 1;
    const std::string product = is_whole ? product_ : PartsName();
    const std::string root = is_whole ? root_ : product;
    std::set<std::string> done = done_;
    ScheduleWriter writer(*trial);
    const std::optional<std::string> point =
        with_matrices ? ScheduleMatricesOnGpu(gpu_, root, product, done, writer)
                      : ScheduleProductOnGpu(gpu_, root, product, done, writer);
    if (!point || !writer.status().ok()) return std::nullopt;
    done.insert(root);
    JoinPoints(gpu_, root, *point, 0, done, writer);
    if (!is_whole) AddParts(parts.count, done, writer);
    if (!writer.status().ok()) return std::nullopt;
    return Result{*std::move(trial), std::move(done)};
  }

  // The phase that adds up the parts, and finishes results.
  void AddParts(int64_t count, std::set<std::string>& done,
                ScheduleWriter& writer) const {
    // In the order of the sum, but loaded at once.
    int64_t at_once = std::min(count, kPartsAtOnce);
    while (count % at_once != 0) --at_once;
    const std::string turns =
        writer.computation()
            .stages[static_cast<size_t>(writer.StageOf(product_))]
            .axes.back()
            .name;
    const std::string at = " %" + product_ + " " + turns;
    if (at_once == count) {
      writer.Do("unroll" + at);
    } else if (at_once > 1) {
      writer.Do("split" + at + " " + std::to_string(at_once) + " -> " + turns +
                "_turn " + turns + "_written");
      writer.Do("unroll" + at + "_written");
    }
    for (const int64_t lanes : {4, 2, 1}) {
      Schedule trial = writer.schedule();
      ScheduleWriter trial_writer(trial);
      std::set<std::string> joined = done;
      if (!AddNeighbours(lanes, joined, trial_writer)) continue;
      writer.Replace(std::move(trial));
      done = std::move(joined);
      return;
    }
  }

  // Each invocation `lanes` of them.
  bool AddNeighbours(int64_t lanes, std::set<std::string>& done,
                     ScheduleWriter& writer) const {
    if (lanes > 1) {
      const StageShape shape(writer.computation(), writer.StageOf(root_));
      const int last = shape.spatial_count() - 1;
      const int64_t points = shape.LikelyPoints(0, last + 1);
      if (points * kInvocationsOfBusy < lanes * gpu_.busy_invocations ||
          !shape.Extent(last) || *shape.Extent(last) % lanes != 0 ||
          !shape.StoresAlong(last)) {
        return false;
      }
    }
    const std::optional<std::string> point =
        SchedulePoints(gpu_, root_, lanes, writer);
    if (!point) return lanes == 1;
    const std::set<std::string> before = done;
    JoinPoints(gpu_, root_, *point, 0, done, writer);
    if (lanes == 1) return writer.status().ok();
    for (const std::string& stage : done) {
      if (before.contains(stage)) continue;
      if (!IsReadInPlace(writer.computation(), stage)) return false;
      // Others have one value for all lanes.
      const bool has_lanes = SpatialCountOf(stage, writer.computation()) ==
                             SpatialCountOf(root_, writer.computation());
      if (has_lanes && !VectorizeLast(stage, writer)) return false;
    }
    return writer.status().ok();
  }

  static int SpatialCountOf(const std::string& name, const Computation& c) {
    return c.stages[static_cast<size_t>(c.FindStage(name))].spatial_count;
  }

  // Of a stage that is computed for a point: all lanes in each turn of its sum.
  static bool VectorizeLast(const std::string& name, ScheduleWriter& writer) {
    std::vector<std::string> order = writer.LoopsOf(name);
    const int spatial = SpatialCountOf(name, writer.computation());
    if (spatial == 0) return false;
    const auto last = order.begin() + spatial - 1;
    std::rotate(last, last + 1, order.end());
    if (order.size() > 1) writer.Reorder(name, order);
    return writer.Try("vectorize %" + name + " " + order.back());
  }

  const jit::GpuModel& gpu_;
  const std::string root_;
  const std::string product_;
  const std::set<std::string>& done_;
  const Schedule& schedule_;
};

}  // namespace

bool ScheduleSumOnGpu(const jit::GpuModel& gpu, const std::string& root,
                      const std::string& product, std::set<std::string>& done,
                      Schedule& schedule) {
  auto made = SumScheduler(gpu, root, product, done, schedule).Run();
  if (!made) return false;
  schedule = std::move(made->schedule);
  done = std::move(made->done);
  return true;
}

}  // namespace ember::schedule
