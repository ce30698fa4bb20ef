// Computes convolutions by Winograd's method if the model says that it is
// faster.
//
// Results are computed in blocks of rows of tiles, which are the tasks. A
// block's input is padded and transformed. For each of the n * n places in a
// tile it is multiplied, as a matrix, by that place's filter. The products are
// transformed back tile by tile in registers, with the elementwise stages after
// the convolution:
//
//   tasks
//     x.padded                      the block's rows
//     conv.tiles[x, y, n, i, j, c]
//     conv.products[x, y, n, i, j, o]
//     for each tile, for each vector of results
//       conv, ..., root
//
// A block's tiles and products should stay in the cache; but each block reads
// all filters, which are (n / r)^2 times as large as those of the convolution.
#include "jit/schedule/cpu/winograd_rule.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/cpu/lanes_rule.h"
#include "jit/schedule/cpu/register_tile.h"
#include "jit/schedule/cpu/tasks_rule.h"
#include "jit/schedule/primitives/winograd_matrices.h"
#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

// Bytes per cycle of one core: from the cache that all cores share, and from
// memory, for constants that other layers have pushed out of the caches.
constexpr double kSharedBytes = 16;
constexpr double kMemoryBytes = 6;
// The fraction of a core's peak of multiply-adds that products reach.
constexpr double kEfficiency = 0.75;
// Largest ratio of estimated times that counts as a gain, because the model is
// inexact.
constexpr double kGain = 0.85;

struct Size {
  int64_t images = 1, rows = 1, columns = 1, inputs = 1, outputs = 1;
  int64_t taps = 3;
};

struct Plan {
  int64_t outputs = 0;     // number of results of a tile along one dim
  int64_t block_rows = 1;  // number of rows of tiles per block
  MatrixTile tile;
  double cycles = 0;
};

double Product(std::initializer_list<int64_t> factors) {
  double product = 1;
  for (int64_t factor : factors) product *= static_cast<double>(factor);
  return product;
}

class Model {
 public:
  Model(const jit::CpuModel& cpu, const Size& size)
      : cpu_(cpu),
        size_(size),
        lanes_(cpu.Lanes(DType::kF32)),
        is_parallel_(IsWorthThreads(static_cast<int64_t>(
            Product({size.images, size.rows, size.columns, size.outputs})))) {}

  double Direct() const {
    const double products =
        Product({size_.images, size_.rows, size_.columns, size_.inputs,
                 RoundUp(size_.outputs, lanes_), size_.taps, size_.taps});
    const double tasks = Product({size_.images, size_.rows});
    return Multiplied(products) / std::min<double>(Workers(), tasks);
  }

  std::optional<Plan> Best() const {
    std::optional<Plan> best;
    for (int64_t outputs : {4, 2}) {
      if (outputs + size_.taps - 1 > kLargestWinogradTile) continue;
      const WinogradMatrices matrices = MakeWinogradMatrices(
          static_cast<int>(outputs), static_cast<int>(size_.taps));
      if (ErrorGrowth(matrices) > kLargestErrorGrowth) continue;
      const int64_t tile_rows = DivideRoundingUp(size_.rows, outputs);
      for (int64_t rows = 1; rows <= tile_rows; ++rows) {
        const Plan plan = PlanOf(outputs, rows);
        if (!best || plan.cycles < best->cycles) best = plan;
      }
    }
    return best;
  }

 private:
  double Multiplied(double products) const {
    const double per_cycle = static_cast<double>(2 * lanes_) * kEfficiency;
    return products / per_cycle;
  }
  double Workers() const { return is_parallel_ ? cpu_.cores : 1; }

  Plan PlanOf(int64_t outputs, int64_t block_rows) const {
    const int64_t n = outputs + size_.taps - 1;
    const int64_t tile_rows = DivideRoundingUp(size_.rows, outputs);
    const int64_t tile_columns = DivideRoundingUp(size_.columns, outputs);
    const int64_t tiles = block_rows * tile_columns;
    const int64_t blocks =
        size_.images * DivideRoundingUp(tile_rows, block_rows);
    Plan plan{outputs, block_rows,
              ChooseMatrixTile(cpu_, lanes_, tiles, size_.outputs), 0};
    const double products =
        Product({n, n, RoundUp(tiles, plan.tile.rows), size_.inputs,
                 RoundUp(size_.outputs, plan.tile.vectors * lanes_)});
    // `vectors`: the number of vectors that the transformations process. Each
    // vector costs additions, loads and stores, of which the CPU does two per
    // cycle.
    const double vectors =
        Product({tiles, (size_.inputs + size_.outputs) / lanes_ + 1});
    const double transformed = vectors * Product({n, n, 3});
    const double data =
        4 * Product({n, n, tiles, size_.inputs + size_.outputs});
    const double filters = 4 * Product({n, n, size_.inputs, size_.outputs});
    double block = Multiplied(products) + transformed;
    if (data > static_cast<double>(cpu_.l2_bytes)) block += data / kSharedBytes;
    const double turns = std::ceil(static_cast<double>(blocks) / Workers());
    plan.cycles = turns * block + filters / kMemoryBytes;
    // Later blocks read the filters again from the shared cache.
    if (filters > static_cast<double>(cpu_.l2_bytes / 2))
      plan.cycles += (turns - 1) * filters / kSharedBytes;
    return plan;
  }

  const jit::CpuModel& cpu_;
  const Size size_;
  const int64_t lanes_;
  const bool is_parallel_;
};

// Returns the size of a sum of products for points of (image, row, column,
// output) that may be a convolution; the primitive decides if it is one.
std::optional<Size> SizeOf(const StageShape& shape) {
  if (shape.spatial_count() != 4 || shape.axis_count() != 7)
    return std::nullopt;
  Size size;
  size.images = shape.LikelyExtent(0);
  const auto rows = shape.Extent(1), columns = shape.Extent(2),
             outputs = shape.Extent(3);
  if (!rows || !columns || !outputs) return std::nullopt;
  size.rows = *rows;
  size.columns = *columns;
  size.outputs = *outputs;
  // The sum has three axes: two axes of the window, and one axis of the input
  // channels.
  std::vector<int64_t> summed;
  for (int a = 4; a < 7; ++a) {
    const auto extent = shape.Extent(a);
    if (!extent) return std::nullopt;
    summed.push_back(*extent);
  }
  std::sort(summed.begin(), summed.end());
  size.taps = summed[0];
  size.inputs = summed[2];
  if (summed[0] != summed[1] || size.taps < 2) return std::nullopt;
  return size;
}

class Writer {
 public:
  Writer(const jit::CpuModel& cpu, const StageGroup& group,
         const std::string& conv, std::vector<std::string> axes,
         const Plan& plan, ScheduleWriter& writer)
      : cpu_(cpu),
        group_(group),
        root_(group.root),
        conv_(conv),
        axes_(std::move(axes)),
        plan_(plan),
        lanes_(std::to_string(cpu.Lanes(DType::kF32))),
        writer_(writer) {}

  // Applies the primitives of the plan. Returns false if some primitive is
  // refused.
  bool Write(bool is_parallel) {
    if (!Try("winograd %" + conv_ + " " + std::to_string(plan_.outputs) +
             " -> " + filter_ + " " + tiles_ + " " + products_)) {
      return false;
    }
    return WriteFilter() && WriteRoot(is_parallel) && WriteProducts() &&
           WriteTiles() && writer_.status().ok();
  }

 private:
  bool Try(const std::string& line) { return writer_.Try(line); }
  // Applies the primitive "name %stage rest". Returns false if it is refused.
  bool On(const std::string& stage, const std::string& name,
          const std::string& rest) {
    return Try(name + " %" + stage + " " + rest);
  }

  // Packs the filter with as many contiguous results as a tile of the product
  // has, and computes it panel by panel.
  bool WriteFilter() {
    const std::string width =
        std::to_string(plan_.tile.vectors * cpu_.Lanes(DType::kF32));
    const std::string packed = filter_ + ".packed";
    return Try("pack %" + products_ + " %" + filter_ + " 0 1 3/" + width +
               " 2 3%" + width + " -> " + packed) &&
           On(packed, "split", "p4 " + lanes_ + " -> p4_block p4_lane") &&
           On(packed, "reorder", "p2 p3 p0 p1 p4_block p4_lane") &&
           On(packed, "unroll", "p0") && On(packed, "unroll", "p1") &&
           On(packed, "vectorize", "p4_lane") &&
           Try("compute_at %" + filter_ + " %" + packed + " p3") &&
           On(filter_, "split", "o " + lanes_ + " -> o_block o_lane") &&
           On(filter_, "reorder", "c o_block x y o_lane") &&
           On(filter_, "unroll", "x") && On(filter_, "unroll", "y") &&
           On(filter_, "vectorize", "o_lane");
  }

  // Schedules, tile by tile, the stages after the convolution and the
  // convolution's own last step.
  bool WriteRoot(bool is_parallel) {
    const std::string &n = axes_[0], &h = axes_[1], &w = axes_[2],
                      &o = axes_[3];
    const std::string m = std::to_string(plan_.outputs);
    const std::string tile = o + "_block";
    if (!On(root_, "split", h + " " + m + " -> " + h + "_tile " + h + "_row") ||
        !On(root_, "peel", h + "_tile") ||
        !On(root_, "split", w + " " + m + " -> " + w + "_tile " + w + "_row") ||
        !On(root_, "peel", w + "_tile") ||
        !On(root_, "split",
            o + " " + lanes_ + " -> " + tile + " " + o + "_lane") ||
        !On(root_, "split",
            h + "_tile " + std::to_string(plan_.block_rows) + " -> " + h +
                "_block " + h + "_in_block") ||
        !On(root_, "reorder",
            n + " " + h + "_block " + h + "_in_block " + w + "_tile " + tile +
                " " + h + "_row " + w + "_row " + o + "_lane") ||
        !On(root_, "unroll", h + "_row") || !On(root_, "unroll", w + "_row") ||
        !On(root_, "vectorize", o + "_lane") ||
        !On(root_, "fuse", n + " " + h + "_block -> tasks") ||
        (is_parallel && !On(root_, "parallel", "tasks"))) {
      return false;
    }
    for (size_t i = group_.members.size(); i-- > 0;) {
      if (!WriteMember(group_.members[i], tile)) return false;
    }
    return true;
  }

  bool WriteMember(const std::string& member, const std::string& tile) {
    const auto own = [&](const std::string& axis) {
      return AxisOfMember(writer_, group_, member, axis);
    };
    const std::string h = own(axes_[1]), w = own(axes_[2]), o = own(axes_[3]);
    return Try("compute_at %" + member + " %" + root_ + " " + tile) &&
           On(member, "split",
              o + " " + lanes_ + " -> " + o + "_block " + o + "_lane") &&
           On(member, "reorder",
              o + "_block " + h + " " + w + " " + o + "_lane") &&
           On(member, "unroll", h) && On(member, "unroll", w) &&
           On(member, "vectorize", o + "_lane");
  }

  bool WriteProducts() {
    const std::string width =
        std::to_string(plan_.tile.vectors * cpu_.Lanes(DType::kF32));
    return Try("compute_at %" + products_ + " %" + root_ + " tasks") &&
           On(products_, "fuse", "i j -> t") &&
           On(products_, "split",
              "t " + std::to_string(plan_.tile.rows) + " -> t_tile t_row") &&
           On(products_, "peel", "t_tile") &&
           On(products_, "split", "o " + width + " -> o_tile o_rest") &&
           On(products_, "split", "o_rest " + lanes_ + " -> o_vector o_lane") &&
           On(products_, "reorder",
              "n x y o_tile t_tile k t_row o_vector o_lane") &&
           On(products_, "unroll", "t_row") &&
           On(products_, "unroll", "o_vector") &&
           On(products_, "vectorize", "o_lane");
  }

  // Schedules the input's tiles, and copies of the input with padding and
  // channels last.
  bool WriteTiles() {
    std::string input;
    int channels = 0, rank = 0;
    {
      const Computation& c = writer_.computation();
      const StageShape shape(c, writer_.StageOf(tiles_));
      const tensor::Node& load = c.pool[shape.loads()[0]];
      input = c.buffers[load.buffer].name;
      rank = static_cast<int>(c.buffers[load.buffer].extents.size());
      const NodeId channel = shape.stage().axes[5].variable;
      while (load.operands[static_cast<size_t>(channels)] != channel)
        ++channels;
    }
    std::vector<std::string> copies = {input + ".padded"};
    if (!Try("cache_read %" + tiles_ + " %" + input + " -> " + copies[0]))
      return false;
    if (channels + 1 < rank) {
      std::string layout;
      for (int d = 0; d < rank; ++d) {
        if (d != channels) layout += " " + std::to_string(d);
      }
      copies.push_back(input + ".channels_last");
      if (!Try("pack %" + tiles_ + " %" + copies[0] + layout + " " +
               std::to_string(channels) + " -> " + copies[1])) {
        return false;
      }
    }
    if (!Try("compute_at %" + tiles_ + " %" + root_ + " tasks") ||
        !On(tiles_, "split", "c " + lanes_ + " -> c_block c_lane") ||
        !On(tiles_, "reorder", "n i j c_block x y c_lane") ||
        !On(tiles_, "unroll", "x") || !On(tiles_, "unroll", "y") ||
        !On(tiles_, "vectorize", "c_lane")) {
      return false;
    }
    for (size_t i = copies.size(); i-- > 0;) {
      ScheduleLanes(cpu_, copies[i], {}, writer_);
      if (!Try("compute_at %" + copies[i] + " %" + root_ + " tasks"))
        return false;
    }
    return true;
  }

  const jit::CpuModel& cpu_;
  const StageGroup& group_;
  const std::string root_, conv_;
  // For each of the convolution's axes (images, rows, columns, outputs): the
  // root's axis that is equal to it.
  const std::vector<std::string> axes_;
  const Plan& plan_;
  const std::string lanes_;
  const std::string filter_ = conv_ + ".filter";
  const std::string tiles_ = conv_ + ".tiles";
  const std::string products_ = conv_ + ".products";
  ScheduleWriter& writer_;
};

}  // namespace

bool ScheduleWinograd(const jit::CpuModel& cpu, const StageGroup& group,
                      const std::string& conv, ScheduleWriter& writer) {
  const int number = writer.StageOf(conv);
  const StageShape shape(writer.computation(), number);
  const std::optional<Size> size = SizeOf(shape);
  if (!size || cpu.Lanes(DType::kF32) < 4) return false;
  // Declines convolutions in which the results' channels or the input's
  // channels do not fill a vector.
  if (size->outputs < cpu.Lanes(DType::kF32) ||
      size->inputs < cpu.Lanes(DType::kF32)) {
    return false;
  }
  const Model model(cpu, *size);
  const std::optional<Plan> plan = model.Best();
  if (!plan || plan->cycles >= kGain * model.Direct()) return false;
  const std::optional<RootAxes> root = RootAxesOf(writer, group, conv);
  if (!root || !root->others.empty() ||
      std::ranges::find(root->names, "") != root->names.end()) {
    return false;
  }
  Schedule schedule = writer.schedule();
  ScheduleWriter attempt(schedule);
  if (!Writer(cpu, group, conv, root->names, *plan, attempt)
           .Write(IsWorthThreads(shape.LikelyPoints()))) {
    return false;
  }
  writer.Replace(std::move(schedule));
  return true;
}

}  // namespace ember::schedule
