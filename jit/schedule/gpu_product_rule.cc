// Tiles for sums of products on GPUs: matrix products of any form, convolutions
// as products of what their windows cover.
//
// A workgroup has a tile of the results, `threads` by `registers` of some axes:
// v, along which results lie in memory, and axes whose points use one load
// along v again (rows of a matrix, pixels beside each other). An invocation has
// every threads-th element of each axis in registers. The sum runs in slices of
// its longest axis; the slices of operands that several invocations need are
// loaded together into shared memory, where that is faster than caches: the
// next ones while these are used, if there is room for two of each and for what
// invocations have on its way. Results and operands that lie together are lanes
// of vectors, and so are steps of the sum.
//
// The model counts, per step of the sum, multiply-adds and loads of an
// invocation, and what the workgroup loads from memory, for as many
// invocations as the device runs at once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "jit/schedule/dependences.h"
#include "jit/schedule/gpu_dot_rule.h"
#include "jit/schedule/gpu_rules.h"
#include "jit/schedule/stage_shape.h"
#include "tensor/linear.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// In multiply-adds: of a value from shared memory, from memory by way of
// caches, from neighbours' addresses that differ, of meeting at a barrier.
constexpr double kSharedLoad = 1;
constexpr double kMemoryLoad = 4;
constexpr double kScatteredLoad = 16;
constexpr double kBarrier = 16;
// Of any load where an invocation is a lane of a CPU's vector (measured on
// lavapipe: about 80).
constexpr double kLaneLoad = 64;
// Of one step of the sum that is not written out.
constexpr double kStep = 2;

struct AxisTile {
  int64_t threads = 1;
  int64_t registers = 1;
  // So many of the registers are neighbours, in lanes of a vector.
  int64_t lanes = 1;
  int64_t size() const { return threads * registers; }
};

struct WorkgroupTile {
  std::vector<AxisTile> axes;  // per spatial axis
  int v = -1;
  int k = -1;         // axis of the slices; -1: none
  int64_t slice = 0;  // steps of it
  // The next slices are loaded ahead; by way of registers, if there is room.
  bool is_double = false;
  bool by_registers = false;
  std::vector<bool> share;  // per load: through shared memory
  int64_t steps = 1;        // of the innermost loop of the sum written out

  int64_t Threads() const {
    int64_t threads = 1;
    for (const AxisTile& axis : axes) threads *= axis.threads;
    return threads;
  }
};

// The last axis of results that has neighbours; -1: none.
int VectorAxis(const StageShape& shape) {
  int v = shape.spatial_count() - 1;
  while (v >= 0 && shape.LikelyExtent(v) < 2) --v;
  return v;
}

// A product's shape; in words where it has dot loops.
struct ProductOnGpu {
  const Computation& c;
  const StageShape& shape;
  const std::optional<GpuDots>& dots;

  Stride StrideOf(NodeId load, int axis) const {
    return dots ? StrideOfWords(c, shape, load, axis, *dots)
                : shape.StrideOf(load, axis);
  }
  // Of an axis, taken one after the other.
  int64_t Steps(int axis) const {
    const int64_t extent = shape.LikelyExtent(axis);
    return dots && axis == dots->axis ? extent / dots->count : extent;
  }
  std::optional<int64_t> KnownSteps(int axis) const {
    const std::optional<int64_t> extent = shape.Extent(axis);
    return extent ? std::optional(Steps(axis)) : std::nullopt;
  }
  int64_t BytesOfStep(NodeId load) const {
    return shape.LikelyBytes(load, shape.axis_count()) *
           (dots ? dots->count : 1);
  }
};

class GpuTileChooser {
 public:
  GpuTileChooser(const jit::GpuModel& gpu, const ProductOnGpu& product)
      : gpu_(gpu), shape_(product.shape), product_(product) {
    for (NodeId load : shape_.loads()) {
      std::vector<Stride>& strides = strides_.emplace_back();
      for (int a = 0; a < shape_.axis_count(); ++a)
        strides.push_back(product.StrideOf(load, a));
    }
  }

  std::optional<WorkgroupTile> Choose() {
    v_ = VectorAxis(shape_);
    if (v_ < 0) return std::nullopt;
    ChooseRowAxes();
    k_ = SliceAxis();
    WorkgroupTile tile;
    tile.v = v_;
    tile.axes.resize(static_cast<size_t>(shape_.spatial_count()));
    for (const int64_t threads : {1, 2, 4, 8, 16, 32, 64}) {
      for (const int64_t registers : {1, 2, 4, 8}) {
        tile.axes[static_cast<size_t>(v_)] = {threads, registers};
        ChooseRows(0, tile);
      }
    }
    return best_;
  }

 private:
  static constexpr std::array<int64_t, 8> kRowThreads = {1, 2,  4,  7,
                                                         8, 14, 16, 32};

  // The last two axes that use loads along v again.
  void ChooseRowAxes() {
    for (int a = shape_.spatial_count(); a-- > 0 && rows_.size() < 2;) {
      if (a == v_ || shape_.LikelyExtent(a) < 2) continue;
      const bool shares = std::ranges::any_of(strides_, [&](const auto& load) {
        return load[static_cast<size_t>(a)] == Stride::kNone &&
               load[static_cast<size_t>(v_)] != Stride::kNone;
      });
      if (shares) rows_.push_back(a);
    }
  }

  int SliceAxis() const {
    if (product_.dots) {
      const int k = product_.dots->axis;
      return product_.Steps(k) >= 8 ? k : -1;
    }
    int best = -1;
    for (int a = shape_.spatial_count(); a < shape_.axis_count(); ++a) {
      if (best < 0 || shape_.LikelyExtent(a) >= shape_.LikelyExtent(best))
        best = a;
    }
    return best >= 0 && shape_.LikelyExtent(best) >= 8 ? best : -1;
  }

  // The first row axis has registers, the others only threads.
  void ChooseRows(size_t row, WorkgroupTile& tile) {
    if (row == rows_.size()) return Consider(tile);
    AxisTile& axis = tile.axes[static_cast<size_t>(rows_[row])];
    const int64_t extent = shape_.LikelyExtent(rows_[row]);
    const int64_t most = row == 0 ? 8 : 1;
    for (const int64_t threads : kRowThreads) {
      if (threads > 1 && threads >= 2 * extent) continue;
      for (int64_t registers = 1; registers <= most; ++registers) {
        axis = {threads, registers};
        if (registers > 1 && axis.size() >= extent + threads) break;
        if (tile.Threads() <= gpu_.max_invocations) ChooseRows(row + 1, tile);
      }
    }
    axis = {};
  }

  bool Moves(size_t load, size_t axis) const {
    return strides_[load][axis] != Stride::kNone;
  }

  // Different elements that an invocation, or the workgroup, needs in a step.
  double OfInvocation(size_t load, const WorkgroupTile& tile) const {
    double count = 1;
    for (size_t a = 0; a < tile.axes.size(); ++a) {
      if (Moves(load, a)) count *= static_cast<double>(tile.axes[a].registers);
    }
    return count;
  }
  double OfWorkgroup(size_t load, const WorkgroupTile& tile) const {
    double count = 1;
    for (size_t a = 0; a < tile.axes.size(); ++a) {
      if (Moves(load, a)) count *= static_cast<double>(tile.axes[a].size());
    }
    return count;
  }

  void Consider(WorkgroupTile& tile) {
    const int64_t threads = tile.Threads();
    // Lanes of a subgroup that have nothing to do cost as much.
    if (threads < gpu_.subgroup_size && threads < MostThreads()) return;
    double products = 1, values = 0;
    for (const AxisTile& axis : tile.axes)
      products *= static_cast<double>(axis.registers);
    for (size_t l = 0; l < strides_.size(); ++l)
      values += OfInvocation(l, tile);
    const double words = std::max(1, shape_.WidestBytes() / 4);
    if ((products + values) * words > static_cast<double>(gpu_.registers))
      return;
    if (!ChooseSlices(tile, (products + values) * words)) return;
    const double cost = CostOf(tile, products);
    if (best_ && cost >= best_cost_) return;
    best_ = tile;
    best_cost_ = cost;
  }

  int64_t MostThreads() const {
    int64_t points = 1;
    for (int a = 0; a < shape_.spatial_count(); ++a)
      points = std::min<int64_t>(points * shape_.LikelyExtent(a), 1 << 20);
    return points;
  }

  // Which operands go through shared memory, in slices of how many steps.
  // False if they do not fit.
  bool ChooseSlices(WorkgroupTile& tile, double registers) const {
    tile.share.assign(strides_.size(), false);
    tile.k = -1;
    tile.slice = 0;
    tile.is_double = false;
    if (gpu_.is_cpu_like || k_ < 0) return true;
    double bytes = 0, elements = 0;  // of one step
    const double threads = static_cast<double>(tile.Threads());
    for (size_t l = 0; l < strides_.size(); ++l) {
      const double unique = OfWorkgroup(l, tile);
      const bool is_used_again =
          OfInvocation(l, tile) * threads >= 2 * unique && unique > 1;
      if (!is_used_again || !Moves(l, static_cast<size_t>(k_))) continue;
      tile.share[l] = true;
      const double loaded = unique * WindowFactor(l, tile);
      elements += loaded;
      bytes +=
          loaded * static_cast<double>(product_.BytesOfStep(shape_.loads()[l]));
    }
    if (bytes == 0) return true;
    tile.k = k_;
    // Two workgroups share a processor.
    const auto fits = [&](int64_t slice, int64_t halves) {
      return bytes * static_cast<double>(slice * halves) * 2 <=
             static_cast<double>(gpu_.shared_bytes);
    };
    // Words are copied whole.
    const int64_t steps = product_.Steps(k_);
    const auto is_whole = [&](int64_t slice) {
      return !product_.dots || steps % slice == 0;
    };
    // Half as many steps between two barriers, of which there are half as many,
    // leave as many in all.
    for (const bool by_registers : {true, false}) {
      // A byte would take a register.
      if (by_registers && product_.dots) continue;
      for (const int64_t slice : {32, 16, 8}) {
        const double ahead = elements * static_cast<double>(slice) / threads;
        if (steps < 4 * slice || !is_whole(slice) || !fits(slice, 2)) continue;
        if (by_registers &&
            registers + ahead > static_cast<double>(gpu_.registers)) {
          continue;
        }
        tile.slice = slice;
        tile.is_double = true;
        tile.by_registers = by_registers;
        return true;
      }
    }
    for (const int64_t slice : {32, 16, 8, 4}) {
      if ((slice > 4 && slice > steps) || !is_whole(slice)) continue;
      tile.slice = slice;
      if (fits(slice, 1)) return true;
    }
    if (!product_.dots) return false;
    // All the same, in other slices; or as it is.
    tile.slice = 0;
    for (int64_t slice = 5; slice < 32; ++slice) {
      if (is_whole(slice) && fits(slice, 1)) tile.slice = slice;
    }
    if (tile.slice > 0) return true;
    tile.share.assign(strides_.size(), false);
    tile.k = -1;
    return true;
  }

  // Elements that a workgroup's part of an operand spans, by those that are
  // used: with strides between windows there are some that are not.
  double WindowFactor(size_t load, const WorkgroupTile& tile) const {
    double factor = 1;
    for (size_t a = 0; a < tile.axes.size(); ++a) {
      const int64_t step =
          shape_.StepOf(shape_.loads()[load], static_cast<int>(a));
      if (tile.axes[a].size() > 1 && step > 1)
        factor *= static_cast<double>(step);
    }
    return factor;
  }

  double CostOf(const WorkgroupTile& tile, double products) const {
    const double threads = static_cast<double>(tile.Threads());
    double invocation = products + kStep, together = 0;
    for (size_t l = 0; l < strides_.size(); ++l) {
      const double count = OfInvocation(l, tile);
      if (tile.share[l]) {
        invocation += count * kSharedLoad;
        together += OfWorkgroup(l, tile) * kMemoryLoad;
        continue;
      }
      invocation += count * LoadCost(l, tile);
    }
    if (tile.slice > 0) {
      invocation +=
          (tile.is_double ? 1 : 2) * kBarrier / static_cast<double>(tile.slice);
    }
    double tiles = 1;
    for (int a = 0; a < shape_.spatial_count(); ++a) {
      const int64_t size = tile.axes[static_cast<size_t>(a)].size();
      tiles *= static_cast<double>((shape_.LikelyExtent(a) + size - 1) / size);
    }
    const double busy = static_cast<double>(gpu_.busy_invocations);
    const double idle = std::max(1.0, busy / (tiles * threads));
    return tiles * (threads * invocation + together) * idle;
  }

  double LoadCost(size_t load, const WorkgroupTile& tile) const {
    const size_t v = static_cast<size_t>(tile.v);
    const bool across = tile.axes[v].threads < gpu_.subgroup_size;
    const Stride along = strides_[load][v];
    bool differs = along == Stride::kOther;
    for (size_t a = 0; across && a < tile.axes.size(); ++a) {
      differs |= a != v && Moves(load, a) && tile.axes[a].threads > 1;
      differs |= a == v && along != Stride::kNone;
    }
    // Else the same for all of a subgroup, or side by side.
    if (gpu_.is_cpu_like) return kLaneLoad;
    return differs ? kScatteredLoad : kMemoryLoad;
  }

  const jit::GpuModel& gpu_;
  const StageShape& shape_;
  const ProductOnGpu& product_;
  std::vector<std::vector<Stride>> strides_;  // per load and axis
  int v_ = -1;
  int k_ = -1;
  std::vector<int> rows_;
  std::optional<WorkgroupTile> best_;
  double best_cost_ = std::numeric_limits<double>::max();
};

// How many results of an invocation lie together, so that it loads and stores
// vectors: where tiles fill the axis, as lanes beyond its end would be guarded
// one by one.
int64_t LanesOf(const ProductOnGpu& product, const WorkgroupTile& tile) {
  const StageShape& shape = product.shape;
  const AxisTile& axis = tile.axes[static_cast<size_t>(tile.v)];
  const auto extent = shape.Extent(tile.v);
  const bool along = shape.StoresAlong(tile.v) ||
                     std::ranges::any_of(shape.loads(), [&](NodeId load) {
                       return product.StrideOf(load, tile.v) == Stride::kUnit;
                     });
  if (!along || !extent || *extent % axis.size() != 0) return 1;
  for (const int64_t lanes : {4, 2}) {
    if (axis.registers % lanes == 0) return lanes;
  }
  return 1;
}

// Steps of the sum whose operands lie together: an invocation loads a vector of
// them.
int64_t StepsOf(const ProductOnGpu& product, const WorkgroupTile& tile) {
  constexpr int64_t kSteps = 4;
  const StageShape& shape = product.shape;
  int axis = tile.k >= 0 ? tile.k : shape.axis_count() - 1;
  if (product.dots) axis = product.dots->axis;
  auto extent = product.KnownSteps(axis);
  if (product.dots && tile.slice > 0) extent = tile.slice;
  const bool along = std::ranges::any_of(shape.loads(), [&](NodeId load) {
    return product.StrideOf(load, axis) == Stride::kUnit;
  });
  return along && extent && *extent % kSteps == 0 ? kSteps : 1;
}

// An operand's slice in shared memory.
struct Slice {
  std::string buffer;
  std::string layout;  // dims in the order of the copy; empty: as they are
  int64_t lanes = 1;   // neighbours that an invocation copies at once
  // Loaded ahead into registers: it has as many elements wherever it is.
  bool by_registers = false;
};

// Whether the load's slices are of one constant size: its indices are sums of
// axes, in a buffer of constant extents.
bool IsConstantSlice(const Computation& c, const ComputationStage& stage,
                     NodeId load) {
  const tensor::Node& node = c.pool[load];
  const auto& extents = c.buffers[node.buffer].extents;
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto sum = tensor::Linearize(c.pool, node.operands[d]);
    if (!sum || !c.pool.IsConstant(extents[d])) return false;
    for (const tensor::LinearTerm& term : sum->terms) {
      const bool is_axis = std::ranges::any_of(
          stage.axes, [&](const auto& a) { return a.variable == term.node; });
      if (!is_axis) return false;
    }
  }
  return true;
}

// With the dim that moves along v last: neighbours read neighbours.
std::string LayoutOf(const Computation& c, const ComputationStage& stage,
                     NodeId load, int v) {
  const tensor::Node& node = c.pool[load];
  if (node.opcode != Opcode::kLoad) return "";
  const size_t rank = c.buffers[node.buffer].extents.size();
  std::string layout, last;
  for (size_t d = 0; d < rank; ++d) {
    const bool is_along = node.operands[d] == stage.axes[v].variable;
    (is_along ? last : layout) += " " + std::to_string(d);
    if (is_along && d + 1 == rank) return "";
  }
  return last.empty() ? "" : layout + last;
}

// Of the last dim of the copy, as far as whole vectors are in each tile.
int64_t LanesOfCopy(const Computation& c, const ComputationStage& stage,
                    NodeId load, const WorkgroupTile& tile) {
  const tensor::Node& node = c.pool[load];
  if (node.opcode != Opcode::kLoad) return 1;
  const NodeId v = stage.axes[static_cast<size_t>(tile.v)].variable;
  const bool along = std::ranges::find(node.operands, v) != node.operands.end();
  const int axis = along ? tile.v : tile.k;
  const ComputationAxis& last = stage.axes[static_cast<size_t>(axis)];
  if (!along && node.operands.back() != last.variable) return 1;
  const int64_t size =
      along ? tile.axes[static_cast<size_t>(tile.v)].size() : tile.slice;
  const auto extent = c.pool.IntegerConstant(last.extent);
  return extent && *extent % size == 0 && size % 4 == 0 ? 4 : 1;
}

std::vector<Slice> SlicesOf(const ProductOnGpu& product,
                            const WorkgroupTile& tile) {
  const Computation& c = product.c;
  const StageShape& shape = product.shape;
  std::vector<Slice> slices;
  for (size_t l = 0; l < tile.share.size(); ++l) {
    if (!tile.share[l]) continue;
    const NodeId load = shape.loads()[l];
    const std::string& buffer = c.buffers[c.pool[load].buffer].name;
    const bool known = std::ranges::any_of(
        slices, [&](const Slice& slice) { return slice.buffer == buffer; });
    if (known) continue;
    if (product.dots) {
      slices.push_back({buffer, "", product.dots->count});
      continue;
    }
    slices.push_back(
        {buffer, LayoutOf(c, shape.stage(), load, tile.v),
         LanesOfCopy(c, shape.stage(), load, tile),
         tile.by_registers && IsConstantSlice(c, shape.stage(), load)});
  }
  return slices;
}

// a becomes a_tile, a_register and a_thread; and a_lane, if there are some.
void SplitAxis(const std::string& stage, const std::string& axis,
               const AxisTile& tile, ScheduleWriter& writer) {
  const std::string at = "split %" + stage + " " + axis;
  writer.Do(at + " " + std::to_string(tile.size()) + " -> " + axis + "_tile " +
            axis + "_rest");
  if (tile.lanes == 1) {
    writer.Do(at + "_rest " + std::to_string(tile.threads) + " -> " + axis +
              "_register " + axis + "_thread");
    return;
  }
  writer.Do(at + "_rest " + std::to_string(tile.threads * tile.lanes) + " -> " +
            axis + "_register " + axis + "_vector");
  writer.Do(at + "_vector " + std::to_string(tile.lanes) + " -> " + axis +
            "_thread " + axis + "_lane");
}

// The names of a stage's loops in a tile.
struct TileLoops {
  std::vector<std::string> tiles;
  std::vector<std::string> threads;
  std::vector<std::string> registers;
  std::string lanes;  // empty: none

  // Innermost, a point of the tile in each.
  std::vector<std::string> Points() const {
    std::vector<std::string> points = registers;
    if (!lanes.empty()) points.push_back(lanes);
    return points;
  }
};

TileLoops SplitTile(const std::string& stage, const WorkgroupTile& tile,
                    ScheduleWriter& writer) {
  TileLoops loops;
  std::vector<std::string> axes;
  const int number = writer.StageOf(stage);
  for (size_t a = 0; a < tile.axes.size(); ++a)
    axes.push_back(writer.computation().stages[number].axes[a].name);
  for (size_t a = 0; a < axes.size(); ++a) {
    if (tile.axes[a].size() == 1) {
      loops.tiles.push_back(axes[a]);
      continue;
    }
    SplitAxis(stage, axes[a], tile.axes[a], writer);
    loops.tiles.push_back(axes[a] + "_tile");
    loops.threads.push_back(axes[a] + "_thread");
    loops.registers.push_back(axes[a] + "_register");
    if (tile.axes[a].lanes > 1) loops.lanes = axes[a] + "_lane";
  }
  return loops;
}

// The names of a stage's reductions, without axis `without`; last that of the
// words of dot loops.
std::vector<std::string> ReductionsOf(const Computation& c, int number,
                                      int without,
                                      const std::optional<GpuDots>& dots) {
  const ComputationStage& stage = c.stages[number];
  std::vector<std::string> names;
  for (int a = stage.spatial_count; a < static_cast<int>(stage.axes.size());
       ++a) {
    if (a != without && !(dots && a == dots->axis))
      names.push_back(stage.axes[a].name);
  }
  if (dots && dots->axis != without) names.push_back(dots->steps);
  return names;
}

void Append(std::vector<std::string>& names,
            const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
}

// Fuses the loops of invocations, which stand at `first`, and marks the loops
// of the tile. The innermost one.
void MarkTile(const std::string& stage, const TileLoops& loops, size_t first,
              ScheduleWriter& writer) {
  const std::string invocations =
      writer.FuseLoops(stage, first, loops.threads.size(), "invocations");
  writer.Do("bind %" + stage + " " + invocations);
  for (const std::string& loop : loops.registers)
    writer.Do("unroll %" + stage + " " + loop);
  if (!loops.lanes.empty())
    writer.Do("vectorize %" + stage + " " + loops.lanes);
}

// A slice in shared memory, and the loop over what an invocation copies.
struct Copy {
  std::string stage;
  std::string rounds;
  bool by_registers = false;
};

// Loads the slices one iteration ahead: all of them, or the workgroup meets as
// often as before.
void LoadSlicesAhead(const std::vector<Copy>& copies, ScheduleWriter& writer) {
  Schedule trial = writer.schedule();
  for (const Copy& copy : copies) {
    const std::string line = "double_buffer %" + copy.stage;
    if (!copy.by_registers) {
      if (!trial.Apply(line).ok()) return;
      continue;
    }
    if (!trial.Apply("unroll %" + copy.stage + " " + copy.rounds).ok() ||
        !trial.Apply(line + " registers").ok()) {
      return;
    }
  }
  writer.Replace(std::move(trial));
}

// The product's loops inside a tile, and the slices of its operands.
void ScheduleTile(const std::string& product, const WorkgroupTile& tile,
                  const std::vector<Slice>& slices, const TileLoops& loops,
                  const std::optional<GpuDots>& dots, ScheduleWriter& writer) {
  std::vector<std::string> order = loops.tiles;
  const int number = writer.StageOf(product);
  Append(order, ReductionsOf(writer.computation(), number,
                             slices.empty() ? -1 : tile.k, dots));
  size_t first = loops.tiles.size();
  std::string slice;
  if (!slices.empty()) {
    const std::string k =
        dots ? dots->steps
             : writer.computation().stages[number].axes[tile.k].name;
    slice = k + "_slice";
    writer.Do("split %" + product + " " + k + " " + std::to_string(tile.slice) +
              " -> " + slice + " " + k + "_step");
    order.push_back(slice);
    first = order.size();
    order.push_back(k + "_step");
  }
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(first),
               loops.threads.begin(), loops.threads.end());
  std::string steps;  // of the innermost loop of the sum, written out
  if (tile.steps > 1) {
    const std::string k = order.back();
    steps = k + "_written";
    writer.Do("split %" + product + " " + k + " " + std::to_string(tile.steps) +
              " -> " + k + "_round " + steps);
    order.back() = k + "_round";
    order.push_back(steps);
  }
  Append(order, loops.Points());
  if (dots) order.push_back(dots->dot);
  writer.Reorder(product, order);
  if (dots) writer.Do("tensorize %" + product + " " + dots->dot);
  MarkTile(product, loops, first, writer);
  if (!steps.empty()) writer.Do("unroll %" + product + " " + steps);
  std::vector<Copy> copies;
  for (const Slice& operand : slices) {
    const std::string copy = operand.buffer + ".slice";
    // Refused where an index comes from data, or loads differ: the invocations
    // then read what is there.
    const std::string line = " %" + product + " %" + operand.buffer;
    const bool made =
        (!operand.layout.empty() &&
         writer.Try("pack" + line + operand.layout + " -> " + copy)) ||
        writer.Try("cache_read" + line + " -> " + copy);
    if (!made) continue;
    writer.Do("compute_at %" + copy + " %" + product + " " + slice);
    copies.push_back({copy,
                      BindTogether(copy, tile.Threads(), operand.lanes, writer),
                      operand.by_registers});
  }
  if (tile.is_double) LoadSlicesAhead(copies, writer);
}

// Whether the stages that read the product's results do so at their own point:
// their axes are the product's.
bool IsReadInPlace(const Computation& c, const std::string& product) {
  const int number = c.FindStage(product);
  bool in_place = true;
  for (int reader : ConsumersOf(c, number)) {
    const ComputationStage& stage = c.stages[reader];
    ForEachLoad(c.pool, RootsOf(stage), [&](NodeId load) {
      const tensor::Node& node = c.pool[load];
      if (node.buffer != c.stages[number].stores[0].buffer) return;
      for (size_t d = 0; d < c.stages[number].stores[0].indices.size(); ++d) {
        const NodeId axis = stage.axes[d].variable;
        // An axis of one point may be read at 0.
        in_place &= node.operands[d] == axis ||
                    c.pool.IntegerConstant(c.pool[axis].operands[0]) == 1;
      }
    });
  }
  return in_place;
}

}  // namespace

std::optional<std::string> ScheduleProductOnGpu(const jit::GpuModel& gpu,
                                                const std::string& root,
                                                const std::string& product,
                                                std::set<std::string>& done,
                                                ScheduleWriter& writer) {
  std::optional<WorkgroupTile> tile;
  std::vector<Slice> slices;
  std::optional<GpuDots> dots;
  {
    const Computation& c = writer.computation();
    const int number = writer.StageOf(product);
    if (!StoresAreDistinct(c, number)) return std::nullopt;
    const int v = VectorAxis(StageShape(c, number));
    if (v >= 0) dots = PackForDotsOnGpu(gpu, product, v, done, writer);
  }
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.StageOf(product));
    const ProductOnGpu on_gpu = {c, shape, dots};
    tile = GpuTileChooser(gpu, on_gpu).Choose();
    if (!tile) return std::nullopt;
    tile->axes[static_cast<size_t>(tile->v)].lanes = LanesOf(on_gpu, *tile);
    tile->steps = StepsOf(on_gpu, *tile);
    slices = SlicesOf(on_gpu, *tile);
  }
  if (root != product && !IsReadInPlace(writer.computation(), product))
    return std::nullopt;
  const TileLoops loops = SplitTile(root, *tile, writer);
  if (loops.registers.empty()) return std::nullopt;
  if (root == product) {
    ScheduleTile(product, *tile, slices, loops, dots, writer);
  } else {
    std::vector<std::string> order = loops.tiles;
    Append(order, loops.threads);
    Append(order, loops.Points());
    writer.Reorder(root, order);
    MarkTile(root, loops, loops.tiles.size(), writer);
  }
  const std::string tasks =
      writer.FuseLoops(root, 0, loops.tiles.size(), "tasks");
  writer.Do("parallel %" + root + " " + tasks);
  const std::string point = loops.Points().back();
  if (root != product) {
    JoinPoints(gpu, root, point, writer.StageOf(product) + 1, done, writer);
    if (!writer.Try("compute_at %" + product + " %" + root + " " + tasks))
      return std::nullopt;
    const TileLoops own = SplitTile(product, *tile, writer);
    ScheduleTile(product, *tile, slices, own, dots, writer);
  }
  done.insert(product);
  return point;
}

}  // namespace ember::schedule
