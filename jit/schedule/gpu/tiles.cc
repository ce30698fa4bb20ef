
#include "jit/schedule/gpu/tiles.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/float_format.h"
#include "base/rounding.h"
#include "jit/schedule/gpu/costs.h"
#include "jit/schedule/gpu/slices.h"

namespace ember::schedule {
namespace {

// Cost of a load from memory for which neighbouring invocations have addresses
// that are far apart. All costs are numbers of multiply-adds, as in costs.h.
constexpr double kScatteredLoad = 16;
// Cost of any load on a device that is a CPU, where invocations are the lanes
// of a vector (measured on lavapipe: about 80).
constexpr double kLaneLoad = 64;
// Cost of an iteration of a loop over steps of the sum, which unrolling saves.
constexpr double kStep = 2;
// Factor by which the cost of tiles grows if the last one reaches beyond the
// end of an axis. It is a guess: with it, products of 2048 got tiles that
// divide 2048.
constexpr double kGuarded = 1.2;

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

  // Chooses up to two row axes, the last ones along which results can share a
  // loaded element: some load moves along v, but not along the axis.
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

  // Tries sizes of the tile along the row axes from number `row` on, and
  // evaluates each tile. An invocation computes up to 8 results along the first
  // row axis, and one along the second.
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
        if (tile.Threads() <= MostThreads()) ChooseRows(row + 1, tile);
      }
    }
    axis = {};
  }

  // Returns the largest number of invocations of a workgroup. If a processor
  // has registers for two workgroups of the largest possible size, only half of
  // that size is used, so that one workgroup computes while another waits at a
  // barrier. With the largest size ptxas spilt registers to make room for two.
  int64_t MostThreads() const {
    const bool has_room = gpu_.processor_registers != 0 &&
                          gpu_.InvocationsWith(0) >=
                              2 * static_cast<double>(gpu_.max_invocations);
    return has_room ? gpu_.max_invocations / 2 : gpu_.max_invocations;
  }

  bool Moves(size_t load, size_t axis) const {
    return strides_[load][axis] != Stride::kNone;
  }

  // Returns the number of registers that an element of the load takes. Floats
  // of 8 bits take more, because intermediate values of their decoding are live
  // at the same time.
  double RegistersOf(size_t load) const {
    return IsFloat8(product_.c.pool[shape_.loads()[load]].type) ? 3 : 1;
  }

  // Return how many different elements of the load are needed in one step of
  // the sum: by an invocation, and by the whole workgroup.
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
    // Skips tiles with fewer invocations than a subgroup has, because idle
    // lanes cost as much as busy ones, unless the product has no more points.
    if (threads < gpu_.subgroup_size &&
        threads < shape_.LikelyPoints(0, shape_.spatial_count())) {
      return;
    }
    double products = 1, values = 0;
    for (const AxisTile& axis : tile.axes)
      products *= static_cast<double>(axis.registers);
    for (size_t l = 0; l < strides_.size(); ++l)
      values += OfInvocation(l, tile) * RegistersOf(l);
    const double words = std::max(1, shape_.WidestBytes() / 4);
    const double registers = (products + values) * words;
    if (registers > static_cast<double>(gpu_.RegistersFor(threads))) return;
    if (!ChooseSlices(tile, registers)) return;
    const double cost = CostOf(tile, products, registers);
    if (best_ && cost >= best_cost_) return;
    best_ = tile;
    best_->cost = cost;
    best_cost_ = cost;
  }

  // Chooses the operands that go through shared memory, the number of steps in
  // their slices, and how slices are loaded ahead. Returns false if they do not
  // fit.
  bool ChooseSlices(WorkgroupTile& tile, double registers) const {
    tile.share.assign(strides_.size(), false);
    tile.k = -1;
    tile.slice = 0;
    tile.is_double = false;
    tile.by_registers = false;
    tile.slots = 0;
    if (gpu_.is_cpu_like || k_ < 0) return true;
    // number of bytes, and of elements, of all shared operands in one step of
    // the sum
    double bytes = 0, elements = 0;
    const double threads = static_cast<double>(tile.Threads());
    for (size_t l = 0; l < strides_.size(); ++l) {
      const double unique = OfWorkgroup(l, tile);
      const bool is_used_again =
          OfInvocation(l, tile) * threads >= 2 * unique && unique > 1;
      if (!is_used_again || !Moves(l, static_cast<size_t>(k_))) continue;
      tile.share[l] = true;
      elements += unique * WindowFactor(l, tile);
      bytes += BytesOfStep(l, tile);
    }
    if (bytes == 0) return true;
    tile.k = k_;
    // Slices may take half of a processor's shared memory, so that two
    // workgroups fit.
    const auto fits = [&](int64_t slice, int64_t halves) {
      return bytes * static_cast<double>(slice * halves) * 2 <=
             static_cast<double>(gpu_.shared_bytes);
    };
    // If the product has dot loops, the number of steps must be a multiple of
    // the slice.
    const int64_t steps = product_.Steps(k_);
    const auto is_whole = [&](int64_t slice) {
      return !product_.dots || steps % slice == 0;
    };
    tile.fuses_iterations = false;
    if (gpu_.copies_async && !product_.dots) {
      const int64_t others = IterationsAroundSlices(shape_, k_);
      for (const int64_t slice : {32, 16, 8}) {
        for (const int64_t slots : {4, 3}) {
          if (steps < slice || steps * others < 4 * slice ||
              !fits(slice, slots)) {
            continue;
          }
          tile.slice = slice;
          tile.is_double = true;
          tile.slots = slots;
          tile.fuses_iterations = others > 1;
          return true;
        }
      }
    }
    // Two buffers of slices are tried first. Slices are then half as long, so
    // there are twice as many iterations, but each needs one barrier instead of
    // two. So there are as many barriers as with one buffer.
    for (const bool by_registers : {true, false}) {
      // Slices of dot loops are not loaded ahead through registers, because
      // each byte would take a register.
      if (by_registers && product_.dots) continue;
      for (const int64_t slice : {32, 16, 8}) {
        const double ahead = elements * static_cast<double>(slice) / threads;
        if (steps < 4 * slice || !is_whole(slice) || !fits(slice, 2)) continue;
        if (by_registers &&
            registers + ahead >
                static_cast<double>(gpu_.RegistersFor(tile.Threads()))) {
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
    // No slice of the usual lengths divides the steps of the dot loop, so other
    // lengths are tried. If none fits, operands are read without slices.
    tile.slice = 0;
    for (int64_t slice = 5; slice < 32; ++slice) {
      if (is_whole(slice) && fits(slice, 1)) tile.slice = slice;
    }
    if (tile.slice > 0) return true;
    tile.share.assign(strides_.size(), false);
    tile.k = -1;
    return true;
  }

  // Returns the bytes of shared memory that the workgroup's part of the operand
  // takes in one step of the sum.
  double BytesOfStep(size_t load, const WorkgroupTile& tile) const {
    return OfWorkgroup(load, tile) * WindowFactor(load, tile) *
           static_cast<double>(product_.BytesOfStep(shape_.loads()[load]));
  }

  // Returns the ratio of the elements that a slice spans to those that are
  // used. It is more than 1 if windows have strides, which leave some elements
  // unused.
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

  double CostOf(const WorkgroupTile& tile, double products,
                double registers) const {
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
    double tiles = 1, guarded = 1;
    for (int a = 0; a < shape_.spatial_count(); ++a) {
      const int64_t size = tile.axes[static_cast<size_t>(a)].size();
      // Tiles that do not divide the axis have guards around loads and stores.
      if (!gpu_.is_cpu_like && shape_.LikelyExtent(a) % size != 0)
        guarded *= kGuarded;
      tiles *=
          static_cast<double>(DivideRoundingUp(shape_.LikelyExtent(a), size));
    }
    double steps = 1;
    for (int a = shape_.spatial_count(); a < shape_.axis_count(); ++a)
      steps *= static_cast<double>(product_.Steps(a));
    return CostOfTiles(
        gpu_, {.count = tiles,
               .work = (threads * invocation + together) * guarded * steps,
               .invocations = threads,
               .busy = BusyInvocations(gpu_),
               .resident = ResidentWorkgroups(gpu_, threads, registers,
                                              SliceBytes(tile))});
  }

  double SliceBytes(const WorkgroupTile& tile) const {
    double bytes = 0;
    for (size_t l = 0; l < strides_.size(); ++l) {
      if (tile.share[l]) bytes += BytesOfStep(l, tile);
    }
    const int64_t halves = tile.slots != 0  ? tile.slots
                           : tile.is_double ? 2
                                            : 1;
    return bytes * static_cast<double>(tile.slice * halves);
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
    // A load costs less if neighbouring invocations of a subgroup load the same
    // element, or neighbouring ones.
    if (gpu_.is_cpu_like) return kLaneLoad;
    return differs ? kScatteredLoad : kMemoryLoad;
  }

  const jit::GpuModel& gpu_;
  const StageShape& shape_;
  const ProductOnGpu& product_;
  // for each load: its stride along each axis
  std::vector<std::vector<Stride>> strides_;
  int v_ = -1;
  int k_ = -1;
  std::vector<int> rows_;
  std::optional<WorkgroupTile> best_;
  double best_cost_ = std::numeric_limits<double>::max();
};

// Returns how many neighbouring results along v an invocation loads and stores
// as a vector. It is 1 if nothing is contiguous along v, or if the tile does
// not divide the axis, because lanes beyond the end would be guarded one by
// one.
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

// Returns how many steps of the sum an invocation loads as a vector: 4 if an
// operand is contiguous along the sum and 4 divides the steps, otherwise 1.
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

}  // namespace

int VectorAxis(const StageShape& shape) {
  int v = shape.spatial_count() - 1;
  while (v >= 0 && shape.LikelyExtent(v) < 2) --v;
  return v;
}

std::optional<WorkgroupTile> ChooseWorkgroupTile(const jit::GpuModel& gpu,
                                                 const ProductOnGpu& product) {
  std::optional<WorkgroupTile> tile = GpuTileChooser(gpu, product).Choose();
  if (!tile) return std::nullopt;
  tile->axes[static_cast<size_t>(tile->v)].lanes = LanesOf(product, *tile);
  tile->steps = StepsOf(product, *tile);
  return tile;
}

}  // namespace ember::schedule
