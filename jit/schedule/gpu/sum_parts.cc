#include "jit/schedule/gpu/sum_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
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

// Largest number of parts of a sum. One invocation adds up all parts of a
// result.
constexpr int64_t kMaxParts = 64;
// Smallest number of steps of a part: the shortest of the slice lengths that
// tiles.cc tries first.
constexpr int64_t kShortestPart = 8;
// In the phase that adds up parts, an invocation computes several neighbouring
// results if at least a 16th of the invocations that keep the device busy are
// left. So few suffice, because each invocation loads all parts of its results
// at once.
constexpr int64_t kInvocationsOfBusy = 16;

// Largest number of positions at which cutting the results in two is tried.
constexpr int64_t kMaxCuts = 20;
// Smallest fraction of the time that dividing sums must save. The cost model is
// not exact enough for smaller gains.
constexpr double kLeastSaved = 0.1;

// Says how a sum is divided: not at all, into parts of equal length, or into
// ranges (stream-K).
struct Parts {
  enum class Kind : uint8_t { kWhole, kOfOneLength, kRanges };
  Kind kind = Kind::kWhole;
  // kOfOneLength: the quotient or remainder of the sum's index that numbers the
  // parts, such as k/512 if a part has 512 steps. Its loop is named as in the
  // product of all results.
  LoopDigit digit = {};
  // kRanges: the step that makes ranges, like `stream %y k/64 132 i/128 j/256`.
  // The name of the new stage is not set yet.
  Stream ranges = {};
};

// A candidate for computing the product: how its sums are divided, and for
// which of the results.
struct Way {
  Parts parts;
  // If set, the results are cut in two. Those before the cut have whole sums,
  // and only the sums of the rest are divided.
  std::optional<Cut> cut = {};
  double cost = 0;
};

class SumScheduler {
 public:
  SumScheduler(const jit::GpuModel& gpu, const StageRef& root,
               const StageRef& product, const std::set<StageRef>& done,
               const Schedule& schedule)
      : gpu_(gpu),
        root_(root),
        product_(product),
        done_(done),
        schedule_(schedule) {}

  struct Result {
    Schedule schedule;
    std::set<StageRef> done;
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
        ways.push_back({.parts = {}, .cost = tiles->all * (1 - kLeastSaved)});
      }
      // The candidates are tried in the order of their costs, because some
      // matrices are refused only after lowering.
      std::ranges::stable_sort(ways, {}, &Way::cost);
      for (const Way& way : ways) {
        auto result = Make(way, with_matrices);
        if (result) return result;
      }
    }
    return std::nullopt;
  }

 private:
  // The stages whose sums are divided, and the root that reads them: of all
  // results, or of those behind a cut.
  struct Stages {
    StageRef root, product;
    StageRef parts() const { return {product.name + ".parts"}; }
  };
  Stages AllResults() const { return {root_, product_}; }
  Stages RestOfResults() const {
    const StageRef rest{root_.name + ".rest"};
    if (root_ == product_) return {rest, rest};
    return {rest, {rest.name + "." + product_.name}};
  }

  // Returns the divisions of the sum into equal parts: for each of its axes,
  // each number of parts up to kMaxParts that divides the axis and gives parts
  // of at least kShortestPart steps.
  std::vector<Parts> PartsOfSum() const {
    const Computation& c = schedule_.computation();
    const StageShape shape(c, c.FindStage(product_.name));
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
        LoopDigit digit{.loop = {product_, name}};
        if (count != extent) {
          digit.kind = LoopDigit::Kind::kQuotient;
          digit.factor = extent / count;
        }
        all.push_back({.kind = Parts::Kind::kOfOneLength, .digit = digit});
      }
    }
    return all;
  }

  std::optional<ProductCost> CostOf(const Stages& stages, bool with_matrices,
                                    const Schedule& schedule) const {
    if (with_matrices) {
      return CostOfMatricesOnGpu(gpu_, stages.root, stages.product, done_,
                                 schedule);
    }
    return CostOfProductOnGpu(gpu_, stages.product, done_, schedule);
  }

  // Returns the division of the sums of all tiles into ranges of slices, one
  // for each workgroup that runs at once. Returns nullopt if no tile of
  // matrices fits, or if there are at least as many tiles as such workgroups.
  std::optional<Parts> RangesOfSum(const Stages& stages,
                                   const Schedule& schedule) const {
    const auto tile = TileOfRangesOnGpu(gpu_, stages.product, schedule);
    if (!tile) return std::nullopt;
    if (tile->tiles.count >= tile->ranges) return std::nullopt;
    const Computation& c = schedule.computation();
    const StageShape sum(c, c.FindStage(stages.product.name));
    // One accumulator of matrices may add up at most kMaxMatrixTerms terms. If
    // ranges would be longer, there are several times as many, and workgroups
    // compute them in several rounds.
    double ranges = tile->ranges;
    if (!sum.SumsIntegers()) {
      const double terms = static_cast<double>(
          sum.LikelyPoints(sum.spatial_count(), sum.axis_count()));
      ranges *= std::ceil(tile->tiles.count * terms / ranges /
                          static_cast<double>(tensor::kMaxMatrixTerms));
    }
    const auto pieces = [&](const ProductCost::Along& along) {
      const size_t axis = static_cast<size_t>(along.axis);
      return LoopPieces{.loop = {stages.product, sum.stage().axes[axis].name},
                        .size = along.size};
    };
    const auto has_pieces = [](const ProductCost::Along& along) {
      return along.axis >= 0 && along.size >= 2;
    };
    // If the tile has no slices, the step gets no reduction, so that the
    // primitive refuses it.
    Stream stream{.reduction = {.loop = {stages.product, ""}},
                  .ranges = static_cast<int64_t>(ranges)};
    if (has_pieces(tile->steps)) stream.reduction = pieces(tile->steps);
    for (const auto& along : {tile->lines, tile->rows, tile->columns}) {
      if (has_pieces(along)) stream.tiles.push_back(pieces(along));
    }
    return Parts{.kind = Parts::Kind::kRanges, .ranges = std::move(stream)};
  }

  // Divides the sum into parts. The new stage of the parts is again a product.
  // Returns false if some primitive is refused.
  static bool Split(const Stages& stages, const Parts& parts,
                    ScheduleWriter& writer) {
    if (parts.kind == Parts::Kind::kRanges) {
      Stream stream = parts.ranges;
      stream.parts = stages.parts().name;
      return writer.Try(stream);
    }
    Rfactor rfactor{.part = parts.digit, .parts = stages.parts().name};
    rfactor.part.loop.stage = stages.product;
    return writer.Try(rfactor);
  }

  // Returns the cost of divided sums, including the phase that adds up the
  // parts. Returns nullopt if the division is refused or no tile fits it.
  // before: tiles with whole sums that run first; null if there are none.
  std::optional<double> CostInParts(const Stages& stages,
                                    const Schedule& schedule,
                                    const Parts& parts, bool with_matrices,
                                    const TilesOnGpu* before) const {
    Schedule split = schedule;
    ScheduleWriter writer(split);
    if (!Split(stages, parts, writer)) return std::nullopt;
    auto cost = CostOf({stages.parts(), stages.parts()}, with_matrices, split);
    if (!cost) return std::nullopt;
    const Computation& c = split.computation();
    const double adding = CostOfAdding(stages, c);
    if (parts.kind == Parts::Kind::kRanges) {
      const StageShape pieces(c, c.FindStage(stages.parts().name));
      // The cost of a range is that of one tile, because all of its pieces
      // together have as many slices as a range.
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
  double CostOfAdding(const Stages& stages, const Computation& c) const {
    const StageShape sum(c, c.FindStage(stages.product.name));
    const StageShape parts(c, c.FindStage(stages.parts().name));
    double stored =
        static_cast<double>(parts.LikelyPoints(0, parts.spatial_count()));
    // If there are more ranges than tiles, not every range has two pieces:
    // there are as many pieces as ranges, plus one for each tile.
    if (parts.stage().end) {
      const double ranges = parts.LikelyExtent(0) * parts.LikelyExtent(1);
      stored = std::min(stored, stored / ranges * parts.LikelyExtent(1) +
                                    sum.LikelyPoints(0, sum.spatial_count()));
    }
    const double bytes = stored * sum.WidestBytes();
    const int64_t count = sum.LikelyExtent(sum.spatial_count());
    return CostOfParts(gpu_, bytes, static_cast<double>(count / AtOnce(count)));
  }

  // Returns the cheapest candidate with parts of equal length, and the cheapest
  // with ranges.
  std::vector<Way> InParts(const Stages& stages, const Schedule& schedule,
                           std::vector<Parts> all, bool with_matrices,
                           const TilesOnGpu* before) const {
    if (with_matrices) {
      const auto ranges = RangesOfSum(stages, schedule);
      if (ranges) all.push_back(*ranges);
    }
    std::vector<Way> best;
    for (const Parts& parts : all) {
      const auto cost =
          CostInParts(stages, schedule, parts, with_matrices, before);
      if (!cost) continue;
      const Way way = {.parts = parts, .cost = *cost};
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

  // Returns candidates in which the first results have whole sums, and the sums
  // of the remaining results are divided. The two run at the same time.
  std::vector<Way> BesideWhole(const std::vector<Parts>& all,
                               const ProductCost& cost) const {
    const Computation& c = schedule_.computation();
    const StageShape root(c, c.FindStage(root_.name));
    const ProductCost::Along& rows = cost.rows;
    // If all tiles run at once, there is no last wave whose tiles could be
    // divided.
    const double at_once = WorkgroupsAtOnce(gpu_, cost.tiles);
    if (at_once == 0 || cost.tiles.count <= at_once || rows.axis < 0 ||
        !root.Extent(rows.axis)) {
      return {};
    }
    const std::string& axis =
        root.stage().axes[static_cast<size_t>(rows.axis)].name;
    const Cut cut{.axis = {root_, axis}, .rest = RestOfResults().root.name};
    auto best = BestCut(cut, *root.Extent(rows.axis), rows.size);
    if (!best) return {};
    std::vector<Way> ways = InParts(RestOfResults(), best->schedule, all,
                                    /*with_matrices=*/true, &best->tiles);
    for (Way& beside : ways) beside.cut = best->cut;
    return ways;
  }

  // A candidate for the position of the cut, with the cost of the tiles before
  // it. To compare candidates, each result behind a cut is assumed to cost as
  // much as a result before the cheapest cut. The best cut is usually where the
  // tiles before it fill whole waves.
  struct WholeTiles {
    Cut cut;
    Schedule schedule;
    TilesOnGpu tiles;
    double cost = 0;
    double CostOfEach() const { return cost / static_cast<double>(cut.first); }
  };
  std::optional<WholeTiles> BestCut(Cut cut, int64_t extent,
                                    int64_t size) const {
    const int64_t step = size * DivideRoundingUp(extent, size * kMaxCuts);
    std::vector<WholeTiles> cuts;
    for (cut.first = step; cut.first < extent; cut.first += step) {
      Schedule trial = schedule_;
      ScheduleWriter writer(trial);
      if (!writer.Try(cut)) return std::nullopt;
      const auto whole = CostOf(AllResults(), /*with_matrices=*/true, trial);
      if (!whole) continue;
      cuts.push_back({cut, std::move(trial), whole->tiles, whole->all});
    }
    if (cuts.empty()) return std::nullopt;
    const double least =
        std::ranges::min_element(cuts, {}, &WholeTiles::CostOfEach)
            ->CostOfEach();
    // Cuts are in reverse order, because min_element returns the first of
    // several that cost the same, and the last cut is preferred.
    std::ranges::reverse(cuts);
    return *std::ranges::min_element(cuts, {}, [&](const WholeTiles& tiles) {
      return tiles.cost + static_cast<double>(extent - tiles.cut.first) * least;
    });
  }

  std::optional<Result> Make(const Way& way, bool with_matrices) const {
    Result made = {schedule_, done_};
    ScheduleWriter writer(made.schedule);
    Stages stages = AllResults();
    if (way.cut) {
      if (!writer.Try(*way.cut) ||
          !MakeTiles(stages, with_matrices, made.done, writer))
        return std::nullopt;
      stages = RestOfResults();
    }
    if (way.parts.kind == Parts::Kind::kWhole) {
      if (!MakeTiles(stages, with_matrices, made.done, writer))
        return std::nullopt;
      return made;
    }
    if (!Split(stages, way.parts, writer) ||
        !MakeTiles({stages.parts(), stages.parts()}, with_matrices, made.done,
                   writer)) {
      return std::nullopt;
    }
    made.done.insert(stages.root);
    AddParts(stages, made.done, writer);
    if (!writer.status().ok()) return std::nullopt;
    return made;
  }

  bool MakeTiles(const Stages& stages, bool with_matrices,
                 std::set<StageRef>& done, ScheduleWriter& writer) const {
    const auto& [root, product] = stages;
    const std::optional<LoopRef> point =
        with_matrices ? ScheduleMatricesOnGpu(gpu_, root, product, done, writer)
                      : ScheduleProductOnGpu(gpu_, root, product, done, writer);
    if (!point || !writer.status().ok()) return false;
    done.insert(root);
    JoinPoints(gpu_, root, *point, 0, done, writer);
    return writer.status().ok();
  }

  // Returns how many parts of a result an invocation loads at once: the largest
  // divisor of their number that is at most kPartsAtOnce.
  static int64_t AtOnce(int64_t count) {
    int64_t at_once = std::min(count, kPartsAtOnce);
    while (count % at_once != 0) --at_once;
    return at_once;
  }

  // Schedules the phase that adds up the parts and computes the stages after
  // the sum.
  void AddParts(const Stages& stages, std::set<StageRef>& done,
                ScheduleWriter& writer) const {
    // The parts of a result are added one after the other, in the order of the
    // sum, but their loads start at once.
    const StageShape shape(writer.computation(),
                           writer.NumberOf(stages.product));
    const int64_t count = shape.LikelyExtent(shape.spatial_count());
    const int64_t at_once = AtOnce(count);
    const LoopRef iterations{stages.product, shape.stage().axes.back().name};
    if (at_once == count) {
      writer.Do(Unroll{iterations});
    } else if (at_once > 1) {
      writer.Do(Unroll{
          writer.Split(iterations, at_once, "_round", "_written").inner});
    }
    for (const int64_t lanes : {4, 2, 1}) {
      Schedule trial = writer.schedule();
      ScheduleWriter trial_writer(trial);
      std::set<StageRef> joined = done;
      if (!AddNeighbours(gpu_, stages.root, lanes, joined, trial_writer))
        continue;
      writer.Replace(std::move(trial));
      done = std::move(joined);
      return;
    }
  }

  // Schedules the phase with `lanes` neighbouring results per invocation.
  // Returns false if that is not possible, or leaves too few invocations to
  // keep the device busy.
  static bool AddNeighbours(const jit::GpuModel& gpu, const StageRef& root,
                            int64_t lanes, std::set<StageRef>& done,
                            ScheduleWriter& writer) {
    if (lanes > 1) {
      const StageShape shape(writer.computation(), writer.NumberOf(root));
      const int last = shape.spatial_count() - 1;
      const int64_t points = shape.LikelyPoints(0, last + 1);
      if (points * kInvocationsOfBusy < lanes * gpu.busy_invocations ||
          !shape.Extent(last) || *shape.Extent(last) % lanes != 0 ||
          !shape.StoresAlong(last)) {
        return false;
      }
    }
    const std::optional<LoopRef> point =
        SchedulePoints(gpu, root, lanes, writer);
    if (!point) return lanes == 1;
    const std::set<StageRef> joined =
        JoinPoints(gpu, root, *point, 0, done, writer);
    if (lanes == 1) return writer.status().ok();
    for (const StageRef& stage : joined) {
      if (!IsReadInPlace(writer.computation(), stage)) return false;
      // A stage with fewer axes than the root has the same value for all lanes,
      // so it is not vectorized.
      const bool has_lanes = writer.StageAt(stage).spatial_count ==
                             writer.StageAt(root).spatial_count;
      if (has_lanes && !VectorizeLast(stage, writer)) return false;
    }
    return writer.status().ok();
  }

  const jit::GpuModel& gpu_;
  const StageRef root_;
  const StageRef product_;
  const std::set<StageRef>& done_;
  const Schedule& schedule_;
};

}  // namespace

bool ScheduleSumOnGpu(const jit::GpuModel& gpu, const StageRef& root,
                      const StageRef& product, std::set<StageRef>& done,
                      Schedule& schedule) {
  auto made = SumScheduler(gpu, root, product, done, schedule).Run();
  if (!made) return false;
  schedule = std::move(made->schedule);
  done = std::move(made->done);
  return true;
}

}  // namespace ember::schedule
