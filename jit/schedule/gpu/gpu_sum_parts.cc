#include "jit/schedule/gpu/gpu_sum_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/rounding.h"
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

// Places where results may be cut in two.
constexpr int64_t kMostCuts = 20;
// What does more than whole sums has to save so much of the time: the model is
// not better than that.
constexpr double kLeastSaved = 0.1;

// The sum as it is, or in parts.
struct Parts {
  std::string part;  // as rfactor names it: "k/512"; empty: the whole sum
  int64_t count = 1;
};

// How a product is computed.
struct Way {
  Parts parts;
  // Not 0: the results whose index along the axis is below that have whole
  // sums.
  int64_t whole = 0;
  std::string axis;
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
      std::optional<Way> whole, best;
      std::optional<ProductCost> tiles;
      double least = std::numeric_limits<double>::max();
      const auto consider = [&](const std::optional<Way>& way) {
        if (!way || way->cost >= least) return;
        best = way;
        least = way->cost;
      };
      for (const Parts& parts : all) {
        if (parts.count != 1) {
          consider(WayBy(parts, with_matrices));
          continue;
        }
        tiles = CostOf(AllResults(), with_matrices, schedule_);
        if (!tiles) continue;
        whole = Way{.parts = parts, .axis = "", .cost = tiles->all};
        consider(whole);
        least *= 1 - kLeastSaved;
      }
      if (tiles && with_matrices) consider(BesideWhole(all, *tiles, least));
      // Matrices may be refused when there is a nest, of parts before others.
      for (const auto& way : {best, whole}) {
        if (!way) continue;
        auto result = Make(*way, with_matrices);
        if (result) return result;
      }
    }
    return std::nullopt;
  }

 private:
  // The results whose sums are in parts: all, or the rest.
  struct Names {
    std::string root, product;
    std::string parts() const { return product + ".parts"; }
  };
  Names AllResults() const { return {root_, product_}; }
  Names RestOfResults() const {
    const std::string rest = root_ + ".rest";
    return {rest, root_ == product_ ? rest : rest + "." + product_};
  }

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

  std::optional<ProductCost> CostOf(const Names& names, bool with_matrices,
                                    const Schedule& schedule) const {
    if (with_matrices) {
      return CostOfMatricesOnGpu(gpu_, names.root, names.product, done_,
                                 schedule);
    }
    return CostOfProductOnGpu(gpu_, names.product, done_, schedule);
  }

  // Makes the sum one of parts, which are a product of their own.
  static bool Split(const Names& names, const Parts& parts,
                    ScheduleWriter& writer) {
    return writer.Try("rfactor %" + names.product + " " + parts.part + " -> " +
                      names.parts());
  }
  // What the phase that adds them up costs.
  double CostOfAdding(const Names& names, const Parts& parts,
                      const Computation& c) const {
    const StageShape sum(c, c.FindStage(names.product));
    const int64_t sums = sum.LikelyPoints(0, sum.spatial_count());
    return CostOfParts(gpu_, static_cast<double>(sums),
                       static_cast<double>(parts.count), sum.WidestBytes());
  }

  std::optional<Way> WayBy(const Parts& parts, bool with_matrices) const {
    const Names names = AllResults();
    Schedule trial = schedule_;
    ScheduleWriter writer(trial);
    if (!Split(names, parts, writer)) return std::nullopt;
    const auto cost =
        CostOf({names.parts(), names.parts()}, with_matrices, trial);
    if (!cost) return std::nullopt;
    return Way{
        .parts = parts,
        .axis = "",
        .cost = cost->all + CostOfAdding(names, parts, trial.computation())};
  }

  // Whole sums of the results up to somewhere, and beside them parts of those
  // of the rest; nothing where that does not cost less than `least`.
  std::optional<Way> BesideWhole(const std::vector<Parts>& all,
                                 const ProductCost& cost, double least) const {
    const Computation& c = schedule_.computation();
    const StageShape root(c, c.FindStage(root_));
    // Nothing is left over of one wave.
    const double at_once = WorkgroupsAtOnce(gpu_, cost.tiles);
    if (at_once == 0 || cost.tiles.count <= at_once || cost.axis < 0 ||
        !root.Extent(cost.axis)) {
      return std::nullopt;
    }
    Way way = {.parts = {},
               .axis = root.stage().axes[static_cast<size_t>(cost.axis)].name,
               .cost = least};
    auto cut = BestCut(way, *root.Extent(cost.axis), cost);
    if (!cut) return std::nullopt;
    way.whole = cut->whole;
    const Names rest = RestOfResults();
    std::optional<Way> best;
    for (const Parts& parts : all) {
      if (parts.count == 1) continue;
      Schedule split = cut->schedule;
      ScheduleWriter writer(split);
      if (!Split(rest, parts, writer)) continue;
      const auto beside =
          CostOf({rest.parts(), rest.parts()}, /*with_matrices=*/true, split);
      if (!beside) continue;
      const double both = CostOfTilesBeside(gpu_, cut->tiles, beside->tiles) +
                          CostOfAdding(rest, parts, split.computation());
      if (both >= way.cost) continue;
      way.parts = parts;
      way.cost = both;
      best = way;
    }
    return best;
  }

  // Where tiles before it fill whole waves best: by what they cost, if the rest
  // costs as much for each result as the best of them.
  struct WholeTiles {
    int64_t whole = 0;
    Schedule schedule;
    TilesOnGpu tiles;
    double cost = 0;
    double CostOfEach() const { return cost / static_cast<double>(whole); }
  };
  std::optional<WholeTiles> BestCut(Way way, int64_t extent,
                                    const ProductCost& cost) const {
    const int64_t step =
        cost.size * DivideRoundingUp(extent, cost.size * kMostCuts);
    std::vector<WholeTiles> cuts;
    for (way.whole = step; way.whole < extent; way.whole += step) {
      Schedule trial = schedule_;
      ScheduleWriter writer(trial);
      if (!Cut(way, writer)) return std::nullopt;
      const auto whole = CostOf(AllResults(), /*with_matrices=*/true, trial);
      if (!whole) continue;
      cuts.push_back({way.whole, std::move(trial), whole->tiles, whole->all});
    }
    if (cuts.empty()) return std::nullopt;
    const double least =
        std::ranges::min_element(cuts, {}, &WholeTiles::CostOfEach)
            ->CostOfEach();
    return *std::ranges::min_element(cuts, {}, [&](const WholeTiles& cut) {
      return cut.cost + static_cast<double>(extent - cut.whole) * least;
    });
  }

  bool Cut(const Way& way, ScheduleWriter& writer) const {
    return writer.Try("cut %" + root_ + " " + way.axis + " " +
                      std::to_string(way.whole) + " -> " +
                      RestOfResults().root);
  }

  std::optional<Result> Make(const Way& way, bool with_matrices) const {
    Result made = {schedule_, done_};
    ScheduleWriter writer(made.schedule);
    Names names = AllResults();
    if (way.whole != 0) {
      if (!Cut(way, writer) ||
          !MakeTiles(names, with_matrices, made.done, writer))
        return std::nullopt;
      names = RestOfResults();
    }
    if (way.parts.count == 1) {
      if (!MakeTiles(names, with_matrices, made.done, writer))
        return std::nullopt;
      return made;
    }
    if (!Split(names, way.parts, writer) ||
        !MakeTiles({names.parts(), names.parts()}, with_matrices, made.done,
                   writer)) {
      return std::nullopt;
    }
    made.done.insert(names.root);
    AddParts(names, way.parts.count, made.done, writer);
    if (!writer.status().ok()) return std::nullopt;
    return made;
  }

  bool MakeTiles(const Names& names, bool with_matrices,
                 std::set<std::string>& done, ScheduleWriter& writer) const {
    const std::optional<std::string> point =
        with_matrices ? ScheduleMatricesOnGpu(gpu_, names.root, names.product,
                                              done, writer)
                      : ScheduleProductOnGpu(gpu_, names.root, names.product,
                                             done, writer);
    if (!point || !writer.status().ok()) return false;
    done.insert(names.root);
    JoinPoints(gpu_, names.root, *point, 0, done, writer);
    return writer.status().ok();
  }

  // The phase that adds up the parts, and finishes results.
  void AddParts(const Names& names, int64_t count, std::set<std::string>& done,
                ScheduleWriter& writer) const {
    // In the order of the sum, but loaded at once.
    int64_t at_once = std::min(count, kPartsAtOnce);
    while (count % at_once != 0) --at_once;
    const int sum = writer.StageOf(names.product);
    const std::string turns =
        writer.computation().stages[static_cast<size_t>(sum)].axes.back().name;
    const std::string at = " %" + names.product + " " + turns;
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
      if (!AddNeighbours(gpu_, names.root, lanes, joined, trial_writer))
        continue;
      writer.Replace(std::move(trial));
      done = std::move(joined);
      return;
    }
  }

  // Each invocation `lanes` of them.
  static bool AddNeighbours(const jit::GpuModel& gpu, const std::string& root,
                            int64_t lanes, std::set<std::string>& done,
                            ScheduleWriter& writer) {
    if (lanes > 1) {
      const StageShape shape(writer.computation(), writer.StageOf(root));
      const int last = shape.spatial_count() - 1;
      const int64_t points = shape.LikelyPoints(0, last + 1);
      if (points * kInvocationsOfBusy < lanes * gpu.busy_invocations ||
          !shape.Extent(last) || *shape.Extent(last) % lanes != 0 ||
          !shape.StoresAlong(last)) {
        return false;
      }
    }
    const std::optional<std::string> point =
        SchedulePoints(gpu, root, lanes, writer);
    if (!point) return lanes == 1;
    const std::set<std::string> before = done;
    JoinPoints(gpu, root, *point, 0, done, writer);
    if (lanes == 1) return writer.status().ok();
    for (const std::string& stage : done) {
      if (before.contains(stage)) continue;
      if (!IsReadInPlace(writer.computation(), stage)) return false;
      // Others have one value for all lanes.
      const bool has_lanes = SpatialCountOf(stage, writer.computation()) ==
                             SpatialCountOf(root, writer.computation());
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
