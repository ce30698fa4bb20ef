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

// Bytes that one core reads per cycle. kSharedBytes: from the cache that all
// cores share. kMemoryBytes: from memory, as filters that other layers have
// pushed out of the caches.
constexpr double kSharedBytes = 16;
constexpr double kMemoryBytes = 6;
// The fraction of a core's peak rate of multiply-adds that products of matrices
// reach.
constexpr double kEfficiency = 0.75;
// Largest ratio of the estimated time to that of the direct convolution with
// which Winograd's method is used. The model is inexact, so smaller gains do
// not count.
constexpr double kGain = 0.85;

struct Size {
  int64_t images = 1, rows = 1, columns = 1, inputs = 1, outputs = 1;
  int64_t taps = 3;
};

struct Plan {
  int64_t outputs = 0;     // number of results of a tile along each of its two
                           // dims
  int64_t block_rows = 1;  // number of rows of tiles in a block
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
      if (ErrorGrowth(matrices) > kLargestWinogradGrowth) continue;
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
    // `vectors`: the number of vectors of inputs and results to transform. The
    // costs are additions, loads and stores, of which the CPU does two per
    // cycle.
    const double vectors =
        Product({tiles, (size_.inputs + size_.outputs) / lanes_ + 1});
    const double transformed = vectors * Product({n, n, 3});
    const double data =
        4 * Product({n, n, tiles, size_.inputs + size_.outputs});
    const double filters = 4 * Product({n, n, size_.inputs, size_.outputs});
    double block = Multiplied(products) + transformed;
    if (data > static_cast<double>(cpu_.l2_bytes)) block += data / kSharedBytes;
    const double rounds = std::ceil(static_cast<double>(blocks) / Workers());
    plan.cycles = rounds * block + filters / kMemoryBytes;
    // Each further block reads the filters again, from the shared cache.
    if (filters > static_cast<double>(cpu_.l2_bytes / 2))
      plan.cycles += (rounds - 1) * filters / kSharedBytes;
    return plan;
  }

  const jit::CpuModel& cpu_;
  const Size size_;
  const int64_t lanes_;
  const bool is_parallel_;
};

// Returns the size of a stage that may be a convolution, with the spatial axes
// image, row, column and output. Returns nullopt if its numbers of axes or its
// extents are not those of one; only the primitive winograd decides if it is
// one.
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
  // The sum must have three axes: the two of the window, and that of the input
  // channels, which must be the longest.
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
         const StageRef& conv, const RootAxes& root, const Plan& plan,
         ScheduleWriter& writer)
      : cpu_(cpu),
        group_(group),
        conv_(conv),
        plan_(plan),
        lanes_(cpu.Lanes(DType::kF32)),
        writer_(writer) {
    for (const std::optional<LoopRef>& axis : root.axes) axes_.push_back(*axis);
  }

  // Writes the steps of the plan. Returns false if some primitive is refused.
  bool Write(bool is_parallel) {
    if (!writer_.Try(Winograd{.convolution = conv_,
                              .outputs = plan_.outputs,
                              .filter = filter_.name,
                              .input = tiles_.name,
                              .products = products_.name})) {
      return false;
    }
    WriteFilter();
    if (!WriteRoot(is_parallel)) return false;
    WriteProducts();
    WriteTiles();
    return writer_.status().ok();
  }

 private:
  // Packs the transformed filter so that the `width` results of a tile are
  // contiguous, and computes it in parts of that width.
  void WriteFilter() {
    using enum LayoutDim::Part;
    const int64_t width = plan_.tile.vectors * lanes_;
    const StageRef packed{filter_.name + ".packed"};
    writer_.Do(Pack{.reader = products_,
                    .buffer = {filter_.name},
                    .layout = {{.dim = 0},
                               {.dim = 1},
                               {3, kQuotient, width},
                               {.dim = 2},
                               {3, kRemainder, width}},
                    .copy = packed.name});
    const LoopRef p0{packed, "p0"}, p1{packed, "p1"}, p2{packed, "p2"},
        p3{packed, "p3"}, p4{packed, "p4"};
    const auto [p4_block, p4_lane] =
        writer_.Split(p4, lanes_, "_block", "_lane");
    writer_.Reorder({p2, p3, p0, p1, p4_block, p4_lane});
    writer_.Do(Unroll{p0});
    writer_.Do(Unroll{p1});
    writer_.Do(Vectorize{p4_lane});
    writer_.Do(ComputeAt{.producer = filter_, .loop = p3});
    const LoopRef x{filter_, "x"}, y{filter_, "y"}, c{filter_, "c"},
        o{filter_, "o"};
    const auto [o_block, o_lane] = writer_.Split(o, lanes_, "_block", "_lane");
    writer_.Reorder({c, o_block, x, y, o_lane});
    writer_.Do(Unroll{x});
    writer_.Do(Unroll{y});
    writer_.Do(Vectorize{o_lane});
  }

  // Schedules the stages after the convolution, and its last step, which
  // transforms the products back: all are computed tile by tile. Returns false
  // if one of them lacks an axis.
  bool WriteRoot(bool is_parallel) {
    const LoopRef &n = axes_[0], &h = axes_[1], &w = axes_[2], &o = axes_[3];
    const auto [h_tile, h_row] =
        writer_.Split(h, plan_.outputs, "_tile", "_row");
    writer_.Do(Peel{h_tile});
    const auto [w_tile, w_row] =
        writer_.Split(w, plan_.outputs, "_tile", "_row");
    writer_.Do(Peel{w_tile});
    const auto [o_block, o_lane] = writer_.Split(o, lanes_, "_block", "_lane");
    const LoopRef h_block{group_.root, h.name + "_block"},
        h_in_block{group_.root, h.name + "_in_block"};
    writer_.Do(Split{.loop = h_tile,
                     .factor = plan_.block_rows,
                     .outer = h_block.name,
                     .inner = h_in_block.name});
    writer_.Reorder(
        {n, h_block, h_in_block, w_tile, o_block, h_row, w_row, o_lane});
    writer_.Do(Unroll{h_row});
    writer_.Do(Unroll{w_row});
    writer_.Do(Vectorize{o_lane});
    writer_.Do(Fuse{.outer = n, .inner = h_block, .fused = tasks_.name});
    if (is_parallel) writer_.Do(Parallel{tasks_});
    for (size_t i = group_.members.size(); i-- > 0;) {
      if (!WriteMember(group_.members[i], o_block)) return false;
    }
    return true;
  }

  bool WriteMember(const StageRef& member, const LoopRef& tile) {
    const auto own = [&](const LoopRef& axis) {
      return AxisOfMember(writer_, group_, member, axis);
    };
    const std::optional<LoopRef> h = own(axes_[1]), w = own(axes_[2]),
                                 o = own(axes_[3]);
    if (!h || !w || !o) return false;
    writer_.Do(ComputeAt{.producer = member, .loop = tile});
    const auto [o_block, o_lane] = writer_.Split(*o, lanes_, "_block", "_lane");
    writer_.Reorder({o_block, *h, *w, o_lane});
    writer_.Do(Unroll{*h});
    writer_.Do(Unroll{*w});
    writer_.Do(Vectorize{o_lane});
    return true;
  }

  void WriteProducts() {
    const LoopRef n{products_, "n"}, x{products_, "x"}, y{products_, "y"},
        i{products_, "i"}, j{products_, "j"}, o{products_, "o"},
        k{products_, "k"}, t{products_, "t"};
    writer_.Do(ComputeAt{.producer = products_, .loop = tasks_});
    writer_.Do(Fuse{.outer = i, .inner = j, .fused = t.name});
    const auto [t_tile, t_row] =
        writer_.Split(t, plan_.tile.rows, "_tile", "_row");
    writer_.Do(Peel{t_tile});
    const auto [o_tile, o_rest] =
        writer_.Split(o, plan_.tile.vectors * lanes_, "_tile", "_rest");
    const LoopRef o_vector{products_, "o_vector"}, o_lane{products_, "o_lane"};
    writer_.Do(Split{.loop = o_rest,
                     .factor = lanes_,
                     .outer = o_vector.name,
                     .inner = o_lane.name});
    writer_.Reorder({n, x, y, o_tile, t_tile, k, t_row, o_vector, o_lane});
    writer_.Do(Unroll{t_row});
    writer_.Do(Unroll{o_vector});
    writer_.Do(Vectorize{o_lane});
  }

  // Schedules the stage that transforms the input's tiles, and adds copies of
  // the input: padded, and with channels last.
  void WriteTiles() {
    BufferRef input;
    size_t channels = 0, rank = 0;
    {
      const Computation& c = writer_.computation();
      const StageShape shape(c, writer_.NumberOf(tiles_));
      const tensor::Node& load = c.pool[shape.loads()[0]];
      input = {c.buffers[load.buffer].name};
      rank = c.buffers[load.buffer].extents.size();
      const NodeId channel = shape.stage().axes[5].variable;
      while (load.operands[channels] != channel) ++channels;
    }
    std::vector<StageRef> copies = {StageRef{input.name + ".padded"}};
    writer_.Do(
        CacheRead{.reader = tiles_, .buffer = input, .copy = copies[0].name});
    if (channels + 1 < rank) {
      std::vector<LayoutDim> layout;
      for (size_t d = 0; d < rank; ++d) {
        if (d != channels) layout.push_back({.dim = d});
      }
      layout.push_back({.dim = channels});
      copies.push_back({input.name + ".channels_last"});
      writer_.Do(Pack{.reader = tiles_,
                      .buffer = {copies[0].name},
                      .layout = std::move(layout),
                      .copy = copies[1].name});
    }
    const LoopRef n{tiles_, "n"}, x{tiles_, "x"}, y{tiles_, "y"},
        i{tiles_, "i"}, j{tiles_, "j"}, c{tiles_, "c"};
    writer_.Do(ComputeAt{.producer = tiles_, .loop = tasks_});
    const auto [c_block, c_lane] = writer_.Split(c, lanes_, "_block", "_lane");
    writer_.Reorder({n, i, j, c_block, x, y, c_lane});
    writer_.Do(Unroll{x});
    writer_.Do(Unroll{y});
    writer_.Do(Vectorize{c_lane});
    // After a refused primitive the copies may not exist, and the whole
    // schedule is discarded.
    if (!writer_.status().ok()) return;
    for (size_t copy = copies.size(); copy-- > 0;) {
      ScheduleLanes(cpu_, copies[copy], {}, writer_);
      writer_.Do(ComputeAt{.producer = copies[copy], .loop = tasks_});
    }
  }

  const jit::CpuModel& cpu_;
  const StageGroup& group_;
  const StageRef conv_;
  // For each of the convolution's axes (images, rows, columns, outputs): the
  // root's axis that is equal to it.
  std::vector<LoopRef> axes_;
  const Plan& plan_;
  const int64_t lanes_;
  const StageRef filter_{conv_.name + ".filter"};
  const StageRef tiles_{conv_.name + ".tiles"};
  const StageRef products_{conv_.name + ".products"};
  const LoopRef tasks_{group_.root, "tasks"};  // the loop over tasks; each task
                                               // is a block of rows of tiles
  ScheduleWriter& writer_;
};

}  // namespace

bool ScheduleWinograd(const jit::CpuModel& cpu, const StageGroup& group,
                      const StageRef& conv, ScheduleWriter& writer) {
  const int number = writer.NumberOf(conv);
  const StageShape shape(writer.computation(), number);
  const std::optional<Size> size = SizeOf(shape);
  if (!size || cpu.Lanes(DType::kF32) < 4) return false;
  // Declines convolutions with fewer input or output channels than a vector has
  // lanes.
  if (size->outputs < cpu.Lanes(DType::kF32) ||
      size->inputs < cpu.Lanes(DType::kF32)) {
    return false;
  }
  const Model model(cpu, *size);
  const std::optional<Plan> plan = model.Best();
  if (!plan || plan->cycles >= kGain * model.Direct()) return false;
  const std::optional<RootAxes> root = RootAxesOf(writer, group, conv);
  const auto is_missing = [](const std::optional<LoopRef>& axis) {
    return !axis.has_value();
  };
  if (!root || !root->others.empty() ||
      std::ranges::any_of(root->axes, is_missing)) {
    return false;
  }
  Schedule schedule = writer.schedule();
  ScheduleWriter attempt(schedule);
  if (!Writer(cpu, group, conv, *root, *plan, attempt)
           .Write(IsWorthThreads(shape.LikelyPoints()))) {
    return false;
  }
  writer.Replace(std::move(schedule));
  return true;
}

}  // namespace ember::schedule
