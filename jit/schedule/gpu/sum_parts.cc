#include "jit/schedule/gpu/sum_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/gpu/costs.h"
#include "jit/schedule/gpu/matrix_rule.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/gpu/product_rule.h"
#include "jit/schedule/gpu/slices.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"
#include "tensor/sum_error.h"

namespace ember::schedule {
namespace {

// Largest number of parts: one invocation adds up the parts of a result.
constexpr int64_t kMaxParts = 64;
// Smallest number of steps of a part: that of the shortest slice
// (tiles.cc).
constexpr int64_t kShortestPart = 8;
// An invocation adds up neighbouring results if at least a 16th of the
// invocations that keep the device busy is left: each invocation has many loads
// in flight, because it loads all parts of its results at once.
constexpr int64_t kInvocationsOfBusy = 16;

// Largest number of places at which results may be cut in two.
constexpr int64_t kMaxCuts = 20;
// Smallest fraction of the time that parts have to save, compared with whole
// sums, because the model is not more exact.
constexpr double kLeastSaved = 0.1;

// The division of a sum: whole, in parts of one length, or in ranges
// (stream-K).
struct Parts {
  enum class Kind : uint8_t { kWhole, kOfOneLength, kRanges };
  Kind kind = Kind::kWhole;
  // Operands of rfactor: "k/512"; or of stream: "k/64 132 i/128 j/256".
  std::string operands = "";
};

// One way to compute a product: how its sums are divided, and for which
// results.
struct Way {
  Parts parts;
  // If not 0, results whose index along `axis` is below this number have whole
  // sums. Only the sums of the other results are in parts.
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
      const auto tiles = CostOf(AllResults(), with_matrices, schedule_);
      std::vector<Way> ways =
          InParts(AllResults(), schedule_, all, with_matrices, nullptr);
      if (tiles && with_matrices) {
        for (Way& way : BesideWhole(all, *tiles))
          ways.push_back(std::move(way));
      }
      if (tiles) {
        ways.push_back(
            {.parts = {}, .axis = "", .cost = tiles->all * (1 - kLeastSaved)});
      }
      // Some matrices may be refused only after lowering, so the ways are tried
      // in the order of their costs.
      std::ranges::stable_sort(ways, {}, &Way::cost);
      for (const Way& way : ways) {
        auto result = Make(way, with_matrices);
        if (result) return result;
      }
    }
    return std::nullopt;
  }

 private:
  // The names of the stages whose sums are in parts: those of all results, or
  // those of the rest after a cut.
  struct Names {
    std::string root, product;
    std::string parts() const { return product + ".parts"; }
  };
  Names AllResults() const { return {root_, product_}; }
  Names RestOfResults() const {
    const std::string rest = root_ + ".rest";
    return {rest, root_ == product_ ? rest : rest + "." + product_};
  }

  // Returns the numbers of equal parts into which the sum may be divided along
  // each of its axes.
  std::vector<Parts> PartsOfSum() const {
    const Computation& c = schedule_.computation();
    const StageShape shape(c, c.FindStage(product_));
    std::vector<Parts> all;
    for (int a = shape.spatial_count(); a < shape.axis_count(); ++a) {
      const int64_t extent = shape.Extent(a).value_or(1);
      const std::string& name = shape.stage().axes[static_cast<size_t>(a)].name;
      for (int64_t count = 2; count <= std::min(extent, kMaxParts); ++count) {
        if (extent % count != 0) continue;
        const int64_t steps =
            shape.LikelyPoints(shape.spatial_count(), shape.axis_count()) /
            count;
        if (steps < kShortestPart) continue;
        const std::string factor =
            count == extent ? "" : "/" + std::to_string(extent / count);
        all.push_back({Parts::Kind::kOfOneLength, name + factor});
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

  // Returns ranges of the slices of all tiles, one for each workgroup that the
  // device computes at once. nullopt if there are enough whole tiles for these.
  std::optional<Parts> RangesOfSum(const Names& names,
                                   const Schedule& schedule) const {
    const auto tile = TileOfRangesOnGpu(gpu_, names.product, schedule);
    if (!tile) return std::nullopt;
    if (tile->tiles.count >= tile->ranges) return std::nullopt;
    const Computation& c = schedule.computation();
    const StageShape sum(c, c.FindStage(names.product));
    // The ranges are computed in several rounds if a single range would add up
    // too many terms.
    double ranges = tile->ranges;
    if (!sum.SumsIntegers()) {
      const double terms = static_cast<double>(
          sum.LikelyPoints(sum.spatial_count(), sum.axis_count()));
      ranges *= std::ceil(tile->tiles.count * terms / ranges /
                          static_cast<double>(tensor::kMaxMatrixTerms));
    }
    std::string operands;
    const auto add = [&](const ProductCost::Along& along) {
      if (along.axis < 0 || along.size < 2) return;
      operands += sum.stage().axes[static_cast<size_t>(along.axis)].name + "/" +
                  std::to_string(along.size) + " ";
    };
    add(tile->steps);
    operands += std::to_string(static_cast<int64_t>(ranges)) + " ";
    for (const auto& along : {tile->lines, tile->rows, tile->columns})
      add(along);
    operands.pop_back();
    return Parts{Parts::Kind::kRanges, operands};
  }

  // Divides the sum into parts; the stage of the parts is a product, too.
  // Returns false if some primitive is refused.
  static bool Split(const Names& names, const Parts& parts,
                    ScheduleWriter& writer) {
    const bool are_ranges = parts.kind == Parts::Kind::kRanges;
    return writer.Try((are_ranges ? "stream %" : "rfactor %") + names.product +
                      " " + parts.operands + " -> " + names.parts());
  }

  // Returns the cost of sums in parts, after tiles of whole sums, if there are
  // any.
  std::optional<double> CostInParts(const Names& names,
                                    const Schedule& schedule,
                                    const Parts& parts, bool with_matrices,
                                    const TilesOnGpu* before) const {
    Schedule split = schedule;
    ScheduleWriter writer(split);
    if (!Split(names, parts, writer)) return std::nullopt;
    auto cost = CostOf({names.parts(), names.parts()}, with_matrices, split);
    if (!cost) return std::nullopt;
    const Computation& c = split.computation();
    const double adding = CostOfAdding(names, c);
    if (parts.kind == Parts::Kind::kRanges) {
      const StageShape pieces(c, c.FindStage(names.parts()));
      // A range counts as one tile: its pieces together take as long as all of
      // the range's slices.
      cost->tiles.count /= static_cast<double>(pieces.LikelyExtent(0));
      if (cost->tiles.count > static_cast<double>(pieces.LikelyExtent(1)))
        return std::nullopt;
      return CostOfRanges(gpu_, cost->tiles, before) + adding;
    }
    return (before != nullptr ? CostOfTilesBeside(gpu_, *before, cost->tiles)
                              : cost->all) +
           adding;
  }
  // Returns the cost of the phase that adds up the parts of the sums.
  double CostOfAdding(const Names& names, const Computation& c) const {
    const StageShape sum(c, c.FindStage(names.product));
    const StageShape parts(c, c.FindStage(names.parts()));
    double stored =
        static_cast<double>(parts.LikelyPoints(0, parts.spatial_count()));
    // If there are more ranges than tiles, ranges have fewer than two pieces on
    // average: each tile begins in one of them.
    if (parts.stage().end) {
      const double ranges = parts.LikelyExtent(0) * parts.LikelyExtent(1);
      stored = std::min(stored, stored / ranges * parts.LikelyExtent(1) +
                                    sum.LikelyPoints(0, sum.spatial_count()));
    }
    const double bytes = stored * sum.WidestBytes();
    const int64_t count = sum.LikelyExtent(sum.spatial_count());
    return CostOfParts(gpu_, bytes, static_cast<double>(count / AtOnce(count)));
  }

  // Returns the best way with parts of one length, and the best way with
  // ranges.
  std::vector<Way> InParts(const Names& names, const Schedule& schedule,
                           std::vector<Parts> all, bool with_matrices,
                           const TilesOnGpu* before) const {
    if (with_matrices) {
      const auto ranges = RangesOfSum(names, schedule);
      if (ranges) all.push_back(*ranges);
    }
    std::vector<Way> best;
    for (const Parts& parts : all) {
      const auto cost =
          CostInParts(names, schedule, parts, with_matrices, before);
      if (!cost) continue;
      const Way way = {.parts = parts, .axis = "", .cost = *cost};
      const auto other = std::ranges::find(
          best, parts.kind, [](const Way& w) { return w.parts.kind; });
      if (other == best.end()) {
        best.push_back(way);
      } else if (way.cost < other->cost) {
        *other = way;
      }
    }
    return best;
  }

  // Returns ways with whole sums for the first results, and parts of sums for
  // the rest, which run at the same time.
  std::vector<Way> BesideWhole(const std::vector<Parts>& all,
                               const ProductCost& cost) const {
    const Computation& c = schedule_.computation();
    const StageShape root(c, c.FindStage(root_));
    const ProductCost::Along& rows = cost.rows;
    // If all tiles run in one wave, there are no tiles of a last wave to
    // divide.
    const double at_once = WorkgroupsAtOnce(gpu_, cost.tiles);
    if (at_once == 0 || cost.tiles.count <= at_once || rows.axis < 0 ||
        !root.Extent(rows.axis)) {
      return {};
    }
    Way way = {.parts = {},
               .axis = root.stage().axes[static_cast<size_t>(rows.axis)].name};
    auto cut = BestCut(way, *root.Extent(rows.axis), rows.size);
    if (!cut) return {};
    std::vector<Way> ways = InParts(RestOfResults(), cut->schedule, all,
                                    /*with_matrices=*/true, &cut->tiles);
    for (Way& beside : ways) {
      beside.axis = way.axis;
      beside.whole = cut->whole;
    }
    return ways;
  }

  // A place to cut the results: the tiles before it fill whole waves. The best
  // cut is the one with the lowest cost, if each result after the cut costs as
  // much as in the best of all cuts.
  struct WholeTiles {
    int64_t whole = 0;
    Schedule schedule;
    TilesOnGpu tiles;
    double cost = 0;
    double CostOfEach() const { return cost / static_cast<double>(whole); }
  };
  std::optional<WholeTiles> BestCut(Way way, int64_t extent,
                                    int64_t size) const {
    const int64_t step = size * DivideRoundingUp(extent, size * kMaxCuts);
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
    // If waves are equally full, the last cut is chosen.
    std::ranges::reverse(cuts);
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
    if (way.parts.kind == Parts::Kind::kWhole) {
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
    AddParts(names, made.done, writer);
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

  // Returns how many of a sum's parts are loaded at once.
  static int64_t AtOnce(int64_t count) {
    int64_t at_once = std::min(count, kPartsAtOnce);
    while (count % at_once != 0) --at_once;
    return at_once;
  }

  // Schedules the phase that adds up the parts and finishes the results.
  void AddParts(const Names& names, std::set<std::string>& done,
                ScheduleWriter& writer) const {
    // Parts are added in the order of the sum, but loaded at once.
    const StageShape shape(writer.computation(), writer.StageOf(names.product));
    const int64_t count = shape.LikelyExtent(shape.spatial_count());
    const int64_t at_once = AtOnce(count);
    const std::string turns = shape.stage().axes.back().name;
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

  // Gives each invocation `lanes` neighbouring results.
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
    const std::set<std::string> joined =
        JoinPoints(gpu, root, *point, 0, done, writer);
    if (lanes == 1) return writer.status().ok();
    for (const std::string& stage : joined) {
      if (!IsReadInPlace(writer.computation(), stage)) return false;
      // Stages with fewer axes than the root have one value for all lanes.
      const bool has_lanes = SpatialCountOf(stage, writer.computation()) ==
                             SpatialCountOf(root, writer.computation());
      if (has_lanes && !VectorizeLast(stage, writer)) return false;
    }
    return writer.status().ok();
  }

  static int SpatialCountOf(const std::string& name, const Computation& c) {
    return c.stages[static_cast<size_t>(c.FindStage(name))].spatial_count;
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
