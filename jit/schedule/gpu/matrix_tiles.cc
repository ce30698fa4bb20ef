#include "jit/schedule/gpu/matrix_tiles.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/gpu/costs.h"
#include "jit/schedule/gpu/slices.h"
#include "jit/schedule/rules/stage_shape.h"
#include "jit/target/matrix_instructions.h"
#include "jit/target/shared_panels.h"

namespace ember::schedule {
namespace {

using tensor::Node;
using tensor::Opcode;

// Cost of waiting for a slice that is not loaded ahead. All costs here and in
// costs.h are numbers of multiply-adds of an invocation.
constexpr double kWait = 64;
// Largest ratio of the size of a product with padding to its size without. If
// it is larger, matrix instructions mostly multiply padding and are not faster.
constexpr double kMaxPadding = 2.5;
constexpr int64_t kMaxSubgroups = 8;
// Largest number of registers of an invocation for sums and factors of
// matrices. Of at most 255 registers, the others hold other values.
constexpr int64_t kMaxRegisters = 192;
// Largest number of registers for the sums of wide products, which must stay in
// their registers while asynchronous instructions run. It is enough for 256
// columns. With a few more, ptxas spilt the addresses of convolutions.
constexpr double kMaxWideRegisters = 132;
constexpr int64_t kLeastSteps = 8;
// Speed of matrix instructions that several subgroups execute together (wgmma),
// relative to those of a single subgroup.
constexpr double kWideSpeed = 2;
// Speed of products that stay in flight while the next iteration begins,
// relative to products that are awaited in their own iteration. It is a guess
// between two measured speed-ups of a product of size 4096 on an H200: 1.11 if
// the copies were left out of both versions, 1.20 if they were left out of only
// one.
constexpr double kSpeedOfGoingOn = 1.15;

class MatrixTileChooser {
 public:
  MatrixTileChooser(const jit::GpuModel& gpu, const Computation& c, int stage,
                    bool through_memory, const MatrixTileLimits& limits)
      : gpu_(gpu),
        c_(c),
        shape_(c, stage),
        through_memory_(through_memory),
        limits_(limits) {}

  std::optional<MatrixPlan> Choose() {
    if (gpu_.is_cpu_like || !FindFactors()) return std::nullopt;
    for (const loops::MatrixType& type : gpu_.matrices) {
      if (!Fits(type)) continue;
      MatrixPlan plan;
      plan.type = type;
      plan.subgroups_together =
          gpu_.copies_async ? jit::WarpsOfMatrix(type) : 1;
      if (FindAxes(plan)) ChooseTile(plan);
    }
    return best_;
  }

 private:
  bool FindFactors() {
    if (!shape_.IsProduct() || shape_.stage().values.size() != 1 ||
        shape_.stage().stores.size() != 1) {
      return false;
    }
    const Node& product = c_.pool[shape_.stage().values[0]];
    if (product.opcode != Opcode::kMultiply) return false;
    sum_ = product.type;
    for (int i = 0; i < 2; ++i) {
      const NodeId factor = product.operands[static_cast<size_t>(i)];
      const Node& cast = c_.pool[factor];
      // Matrices of f16 are used for sums in f32, where factors of f16 are cast
      // to f32. Factors without a cast must have sums of f32.
      const bool is_cast = cast.opcode == Opcode::kCast;
      if (!is_cast && sum_ != DType::kF32) return false;
      const NodeId load = is_cast ? cast.operands[0] : factor;
      const Opcode opcode = c_.pool[load].opcode;
      if (opcode != Opcode::kLoad && opcode != Opcode::kPad) return false;
      loads_[i] = load;
    }
    return c_.pool[loads_[0]].buffer != c_.pool[loads_[1]].buffer;
  }

  DType TypeOf(int factor) const { return c_.pool[loads_[factor]].type; }
  bool Moves(int factor, int axis) const {
    return shape_.StrideOf(loads_[factor], axis) != Stride::kNone;
  }

  // True if the types of the stage's factors and sum are those of the matrices,
  // and rows and columns can be chosen for them. The factors may be in either
  // order. Sets `first_`: the factor that moves along the rows.
  bool Fits(const loops::MatrixType& type) {
    if (type.sum != sum_) return false;
    for (const int first : {0, 1}) {
      if (TypeOf(first) != type.a || TypeOf(1 - first) != type.b) continue;
      if (LargestAxis(first, 1 - first) < 0) continue;
      first_ = first;
      // The preferred order of factors is the one in which columns are
      // contiguous in the results' memory.
      const int last = LargestAxis(1 - first, first);
      if (last > LargestAxis(first, 1 - first)) return true;
    }
    // Only rows are contiguous in the results' memory with this type of
    // matrices. With the mirrored type columns would be, so this type is
    // rejected if the device has the mirrored one.
    const loops::MatrixType mirrored = {type.rows, type.columns, type.depth,
                                        type.b,    type.a,       type.sum};
    if (type.a != type.b &&
        std::ranges::find(gpu_.matrices, mirrored) != gpu_.matrices.end()) {
      return false;
    }
    return first_ >= 0 && TypeOf(first_) == type.a &&
           TypeOf(1 - first_) == type.b;
  }

  // Returns the longest axis of the results along which factor number `factor`
  // moves and factor number `other` does not; -1 if there is none.
  int LargestAxis(int factor, int other) const {
    int best = -1;
    for (int a = 0; a < shape_.spatial_count(); ++a) {
      if (!Moves(factor, a) || Moves(other, a)) continue;
      if (best < 0 || shape_.LikelyExtent(a) >= shape_.LikelyExtent(best))
        best = a;
    }
    return best;
  }

  bool FindAxes(MatrixPlan& plan) const {
    const int a = first_, b = 1 - first_;
    plan.rows = LargestAxis(a, b);
    plan.columns = LargestAxis(b, a);
    for (int k = shape_.spatial_count(); k < shape_.axis_count(); ++k) {
      if (!Moves(a, k) || !Moves(b, k)) continue;
      // In a stage of ranges (stream-K) the first reduction axis counts the
      // slices of a range. It cannot be the axis along which matrices multiply,
      // because each slice is several steps of the sum.
      if (IsOfRanges() && k == shape_.spatial_count()) continue;
      if (plan.steps < 0 ||
          shape_.LikelyExtent(k) >= shape_.LikelyExtent(plan.steps)) {
        plan.steps = k;
      }
    }
    if (plan.rows < 0 || plan.columns < 0 || plan.steps < 0) return false;
    for (int line = 0; line < shape_.spatial_count(); ++line) {
      if (line == plan.rows || !Moves(a, line) || Moves(b, line) ||
          shape_.LikelyExtent(line) < 2) {
        continue;
      }
      plan.lines = line;
    }
    const std::optional<int64_t> steps = shape_.Extent(plan.steps);
    if (!steps || *steps < kLeastSteps) return false;
    plan.is_exact = *steps % plan.type.depth == 0;
    const double padded = Padding(plan.rows, plan.type.rows) *
                          Padding(plan.columns, plan.type.columns) *
                          Padding(plan.steps, plan.type.depth);
    return padded <= kMaxPadding;
  }

  double Padding(int axis, int64_t size) const {
    const int64_t extent = shape_.LikelyExtent(axis);
    return static_cast<double>(RoundUp(extent, size)) /
           static_cast<double>(extent);
  }

  void ChooseTile(MatrixPlan plan) {
    const int64_t lines = plan.lines < 0 ? 1 : shape_.LikelyExtent(plan.lines);
    for (const int64_t line : {1, 2, 4, 8}) {
      plan.line_tile = line;
      if (line > 1 && line >= 2 * lines) continue;
      if (line > lines && plan.IsWide()) continue;
      if (line > 1 && limits_.rows != 0) continue;
      for (const int64_t rows : {1, 2, 4, 8}) {
        for (const int64_t columns : {1, 2, 4, 8}) {
          plan.row_tile.subgroups = rows;
          plan.column_tile.subgroups = columns;
          // `alike`: number of consecutive subgroups that multiply the same
          // columns, which a wide instruction requires of the subgroups that
          // execute it.
          const int64_t alike = columns == 1 ? line * rows : rows;
          if (alike % plan.subgroups_together != 0) continue;
          const int64_t most = std::min(
              kMaxSubgroups, gpu_.max_invocations / gpu_.subgroup_size);
          if (limits_.subgroups != 0 && plan.Subgroups() != limits_.subgroups &&
              (!plan.IsWide() || plan.Subgroups() > limits_.subgroups)) {
            continue;
          }
          if (plan.Subgroups() <= most) ChooseMatrices(plan);
        }
      }
    }
  }

  void ChooseMatrices(MatrixPlan& plan) {
    for (const int64_t rows : {1, 2, 4}) {
      for (const int64_t columns : {1, 2, 4, 8}) {
        // Eight matrices along columns are tried only if matrices have at most
        // 8 columns. Otherwise the tile would be too wide.
        if (columns == 8 && plan.type.columns > 8) continue;
        plan.row_tile.matrices = rows;
        plan.column_tile.matrices = columns;
        if (limits_.rows != 0 && plan.RowsOfTile() != limits_.rows) continue;
        if (limits_.columns != 0 && plan.ColumnsOfTile() > limits_.columns)
          continue;
        // Skips tiles of wide products with more rows than the product has,
        // rounded up to the matrices of one subgroup: some subgroups would have
        // no rows.
        if (plan.IsWide() &&
            plan.RowsOfTile() > RoundUp(shape_.LikelyExtent(plan.rows),
                                        rows * plan.type.rows)) {
          continue;
        }
        // Skips tiles that lie beyond the end of the results by more than half
        // of their size.
        const bool is_larger =
            plan.row_tile.count() > 1 &&
            plan.RowsOfTile() >= shape_.LikelyExtent(plan.rows) +
                                     plan.RowsOfTile() / 2 + plan.type.rows;
        const bool is_wider =
            plan.column_tile.count() > 1 &&
            plan.ColumnsOfTile() >= shape_.LikelyExtent(plan.columns) +
                                        plan.ColumnsOfTile() / 2 +
                                        plan.type.columns;
        if (!is_larger && !is_wider && ChooseSlice(plan)) Consider(plan);
      }
    }
  }

  // Returns the number of registers that an invocation needs for sums and
  // factors of matrices.
  double Registers(const MatrixPlan& plan) const {
    const loops::MatrixType& type = plan.type;
    const double factor_words =
        static_cast<double>(DTypeByteSize(type.a)) / 4.0;
    const double rows = static_cast<double>(plan.row_tile.matrices * type.rows);
    const double columns =
        static_cast<double>(plan.column_tile.matrices * type.columns);
    const double depth = static_cast<double>(type.depth) * factor_words;
    const double factors = rows + (plan.IsWide() ? 0 : columns);
    return (rows * columns + factors * depth) /
           static_cast<double>(gpu_.subgroup_size);
  }

  // Returns the largest number of registers that an invocation may use if
  // `workgroups` workgroups share a processor's registers. A matrix instruction
  // keeps a subgroup busy for long, so two workgroups are enough to hide the
  // latency of memory. Wide instructions run asynchronously, so one may be
  // enough.
  int64_t MostRegisters(int64_t invocations, int64_t workgroups) const {
    if (gpu_.processor_registers == 0) return gpu_.registers;
    return std::clamp(gpu_.ShareOfRegisters(workgroups * invocations),
                      gpu_.registers, kMaxRegisters);
  }

  // Returns how many workgroups should run on a processor at once: 2 or, only
  // in wide products, 1; 0 if the tile needs more registers than its
  // invocations then have.
  int64_t Workgroups(const MatrixPlan& plan) const {
    const double registers = Registers(plan);
    const int64_t invocations = plan.Subgroups() * gpu_.subgroup_size;
    if (plan.IsWide() && registers > kMaxWideRegisters) return 0;
    for (const int64_t workgroups : {2, 1}) {
      if (workgroups == 1 && !plan.IsWide()) continue;
      if (registers <=
          static_cast<double>(MostRegisters(invocations, workgroups))) {
        return workgroups;
      }
    }
    return 0;
  }

  bool ChooseSlice(MatrixPlan& plan) const {
    const double registers = Registers(plan);
    const int64_t invocations = plan.Subgroups() * gpu_.subgroup_size;
    const int64_t workgroups = Workgroups(plan);
    if (workgroups == 0) return false;
    if (plan.row_tile.matrices * plan.type.rows * plan.column_tile.matrices *
            plan.type.columns >
        loops::kMaxRegisterElements) {
      return false;
    }
    const int64_t rows = plan.RowsOfTile() * plan.line_tile;
    const int64_t columns = plan.ColumnsOfTile();
    const int64_t all = RoundUp(*shape_.Extent(plan.steps), plan.type.depth);
    const double threads =
        static_cast<double>(plan.Subgroups() * gpu_.subgroup_size);
    const auto fits = [&](int64_t slice, int64_t copies) {
      const int64_t bytes =
          SharedBytes(rows, columns, plan.type, slice * copies);
      // matrix_factors.cc pads rows of slices by at most 16 bytes, or 32 bytes
      // if elements have 4 bytes.
      const int64_t of_row = DTypeByteSize(plan.type.a) == 4 ? 32 : 16;
      const int64_t padding =
          of_row * (std::max(rows, slice) + std::max(columns, slice)) * copies;
      return bytes + padding <= gpu_.shared_bytes &&
             workgroups * bytes <= gpu_.shared_bytes;
    };
    const int64_t others =
        gpu_.copies_async ? IterationsAroundSlices(shape_, plan.steps) : 1;
    plan.fuses_iterations = others > 1;
    plan.slots = 0;
    plan.by_registers = false;
    if (limits_.is_whole) {
      if (plan.IsWide() && !FillsPanels(plan, plan.columns, all)) return false;
      plan.slice = all;
      plan.is_double = false;
      plan.has_row_panels = MayHaveRowPanels(plan, all);
      return fits(all, 1);
    }
    for (const bool is_double : {true, false}) {
      for (const int64_t matrices : {4, 2, 1}) {
        const int64_t slice = matrices * plan.type.depth;
        if (plan.IsWide() && !FillsPanels(plan, plan.columns, slice)) continue;
        if (slice > all || (is_double && all * others < 4 * slice)) continue;
        plan.slice = slice;
        plan.is_double = is_double;
        plan.has_row_panels = MayHaveRowPanels(plan, slice);
        for (const int64_t slots : {4, 3, 2}) {
          if (!is_double || !gpu_.copies_async || !fits(slice, slots)) continue;
          plan.slots = slots;
          return true;
        }
        if (!fits(slice, is_double ? 2 : 1)) continue;
        const double ahead =
            static_cast<double>((rows + columns) * slice) / threads;
        plan.by_registers =
            is_double && registers + ahead <=
                             static_cast<double>(MostRegisters(invocations, 2));
        return true;
      }
    }
    return false;
  }

  // True if a wide instruction can read the rows' factor from panels: the rows
  // of the subgroups that execute it together follow each other. That is so on
  // one line, and on consecutive lines if rows are one panel long.
  bool MayHaveRowPanels(const MatrixPlan& plan, int64_t slice) const {
    if (!plan.IsWide() || !FillsPanels(plan, plan.rows, slice)) return false;
    if (plan.row_tile.subgroups % plan.subgroups_together == 0) return true;
    return plan.row_tile.matrices == 1 &&
           slice * DTypeByteSize(plan.type.a) == jit::kPanelRowBytes;
  }

  // True if the slice of a factor consists of whole panels
  // (jit/target/shared_panels.h), from which a wide instruction can read it,
  // transposing the elements if necessary. axis: the rows' or the columns'
  // axis, which selects the factor.
  bool FillsPanels(const MatrixPlan& plan, int axis, int64_t slice) const {
    const bool is_rows = axis == plan.rows;
    const NodeId load = loads_[is_rows ? first_ : 1 - first_];
    const DType type = c_.pool[load].type;
    const bool lies_along_axis = shape_.StrideOf(load, axis) == Stride::kUnit;
    if (lies_along_axis && !jit::TransposesMatricesOf(type)) return false;
    const int64_t row = !lies_along_axis ? slice
                        : is_rows        ? plan.RowsOfTile()
                                         : plan.ColumnsOfTile();
    return row * DTypeByteSize(type) % jit::kPanelRowBytes == 0;
  }

  // Returns the largest depth (number of steps of the sum per instruction)
  // among the device's matrices with these element types.
  int64_t DeepestOf(const loops::MatrixType& type) const {
    int64_t deepest = type.depth;
    for (const loops::MatrixType& other : gpu_.matrices) {
      if (other.a == type.a && other.b == type.b && other.sum == type.sum)
        deepest = std::max(deepest, other.depth);
    }
    return deepest;
  }

  // True if the stage's results are pieces of ranges (stream-K). Then all
  // workgroups have the same work, whatever the size of tiles is, but each
  // stores pieces as large as a tile.
  bool IsOfRanges() const { return shape_.stage().end.has_value(); }
  double CostOfPieces(const MatrixPlan& plan) const {
    const int64_t elements =
        plan.RowsOfTile() * plan.line_tile * plan.ColumnsOfTile();
    const double bytes =
        static_cast<double>(elements * DTypeByteSize(plan.type.sum));
    return CostOfParts(gpu_, plan.ranges * bytes, 1);
  }

  void Consider(MatrixPlan plan) {
    plan.tiles = TilesOf(plan);
    // Kernels of wide products are persistent: as many workgroups as fit the
    // device take tasks in rounds (jit/gpu/specialise_warps.cc). So there
    // should be that many ranges.
    plan.ranges = WorkgroupsAtOnce(gpu_, plan.tiles);
    if (plan.IsWide() && gpu_.processors != 0)
      plan.ranges = static_cast<double>(gpu_.processors) *
                    std::floor(plan.tiles.resident);
    plan.cost = IsOfRanges() || limits_.of_ranges
                    ? CostShared(gpu_, plan.tiles) + CostOfPieces(plan)
                    : CostOfTiles(gpu_, plan.tiles);
    if (!best_ || plan.cost < best_->cost) best_ = plan;
  }

  TilesOnGpu TilesOf(const MatrixPlan& plan) const {
    const loops::MatrixType& type = plan.type;
    const auto number = [](int64_t value) {
      return static_cast<double>(value);
    };
    const double rows = number(plan.row_tile.matrices * type.rows);
    const double columns = number(plan.column_tile.matrices * type.columns);
    const double subgroups = number(plan.Subgroups());
    // An instruction is assumed to take the same time whatever its depth is.
    const double speed = (plan.IsWide() ? kWideSpeed : 1) *
                         (plan.GoesOn() ? kSpeedOfGoingOn : 1) * kMatrixSpeed *
                         number(type.depth) / number(DeepestOf(type));
    // Wide instructions read the columns' factor from panels in shared memory,
    // and the rows' factor, too, if it has panels. What they do not read is
    // loaded to registers.
    const double loaded =
        (plan.has_row_panels ? 0 : rows) + (plan.IsWide() ? 0 : columns);
    const double subgroup = rows * columns / speed + loaded * kSharedLoad;
    const double together =
        number(plan.RowsOfTile() * plan.line_tile + plan.ColumnsOfTile()) *
        kMemoryLoad;
    const double threads = subgroups * number(gpu_.subgroup_size);
    const double barriers =
        threads *
        ((plan.is_double ? 1 : 2) * kBarrier +
         (plan.by_registers || plan.slots != 0 ? 0 : kWait)) /
        number(plan.slice);
    double tiles = 1;
    for (int a = 0; a < shape_.spatial_count(); ++a) {
      const int64_t size = a == plan.rows      ? plan.RowsOfTile()
                           : a == plan.columns ? plan.ColumnsOfTile()
                           : a == plan.lines   ? plan.line_tile
                                               : 1;
      tiles *= number(DivideRoundingUp(shape_.LikelyExtent(a), size));
    }
    double steps = number(RoundUp(shape_.LikelyExtent(plan.steps), type.depth));
    for (int a = shape_.spatial_count(); a < shape_.axis_count(); ++a) {
      if (a != plan.steps) steps *= number(shape_.LikelyExtent(a));
    }
    // The subgroups of one workgroup of wide instructions keep a processor's
    // matrix units busy.
    const double busy = plan.IsWide() && gpu_.processors != 0
                            ? threads
                            : BusyWithMatrices(gpu_);
    return {.count = tiles,
            .work = (subgroups * subgroup + together + barriers) * steps,
            .invocations = threads,
            .busy = busy,
            .resident = ResidentWorkgroups(gpu_, threads, Registers(plan),
                                           number(SharedBytes(plan)))};
  }

  // Returns the bytes of shared memory that slices take, and results that go
  // through shared memory.
  int64_t SharedBytes(const MatrixPlan& plan) const {
    const int64_t rows = plan.RowsOfTile() * plan.line_tile;
    const int64_t columns = plan.ColumnsOfTile();
    const int64_t copies = plan.slots != 0  ? plan.slots
                           : plan.is_double ? 2
                                            : 1;
    return SharedBytes(rows, columns, plan.type, plan.slice * copies);
  }
  int64_t SharedBytes(int64_t rows, int64_t columns,
                      const loops::MatrixType& type, int64_t steps) const {
    const int64_t slices = steps * (rows * DTypeByteSize(type.a) +
                                    columns * DTypeByteSize(type.b));
    const int64_t results =
        through_memory_ ? rows * columns * DTypeByteSize(type.sum) : 0;
    return gpu_.overlays_shared ? std::max(results, slices) : results + slices;
  }

  const jit::GpuModel& gpu_;
  const Computation& c_;
  const StageShape shape_;
  const bool through_memory_;
  const MatrixTileLimits limits_;
  DType sum_ = DType::kF32;
  NodeId loads_[2] = {};
  int first_ = -1;  // number (0 or 1) of the factor that moves along the rows;
                    // -1: not chosen yet
  std::optional<MatrixPlan> best_;
};

}  // namespace

std::optional<MatrixPlan> PlanMatricesOnGpu(const jit::GpuModel& gpu,
                                            const Computation& computation,
                                            int stage, bool through_memory,
                                            const MatrixTileLimits& limits) {
  return MatrixTileChooser(gpu, computation, stage, through_memory, limits)
      .Choose();
}

}  // namespace ember::schedule
