
#include "jit/schedule/cpu/register_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/rounding.h"

namespace ember::schedule {
namespace {

// Cycles per step of the sum that the loop itself takes, in addition to loads
// and multiplications.
constexpr double kLoopCycles = 1;
// Cycles per load of a vector. Two loads may begin in a cycle, but fewer
// complete while multiplications wait for them: on a Xeon with AVX-512, tiles
// of 28 rows by one vector reach 60% of the speed of tiles of 14 rows by two.
constexpr double kLoadCycles = 0.8;

// Cycles per tile: the end of the loop over the tile's sum is mispredicted.
constexpr double kTileCycles = 20;
// Cycles to store a vector of results, without and with a condition around the
// store.
constexpr double kStoreCycles = 2;
constexpr double kGuardedCycles = 4;
// Cycles to store a partial vector on CPUs without mask registers (Zen 3: 18
// and more).
constexpr double kMaskedCycles = 16;
constexpr int64_t kMaxVectors = 6;
// Cycles per contiguous piece of an operand that a tile reads (depthwise
// convolution of 112x112x96, Zen 3: 28, 15, 9 and 3 pieces per row of results
// take 4.6, 4.4, 1.6 and 1 times the time). kNearPieceCycles is for operands of
// which most stays in the second-level cache.
constexpr double kPieceCycles = 12;
constexpr double kNearPieceCycles = 1;
// Cycles per cache line of a padded copy, for writing and for reading it. The
// second number is for copies of at most twice the size of the second-level
// cache.
constexpr double kCopiedLineCycles = 16;
constexpr double kNearCopiedLineCycles = 10;
// Cycles per element of an operand that is packed, that is, copied to another
// order.
constexpr double kPackedElementCycles = 3;
// Cycles per lane whose result is stored by itself, because results are not
// contiguous along the vector.
constexpr double kApartCycles = 1;
// Cycles per test if a value is in the padding, in a sum that is not unrolled.
constexpr double kAskCycles = 3;

// Largest number of multiply-adds of a tile whose sum is unrolled completely.
constexpr int64_t kMaxWrittenOut = 300;
// Costs of unrolled sums, in cycles: per addition that waits for the previous
// one, per load, per contiguous piece of an operand, and per test for padding.
// They are lower than those of loops, because the processor already works on
// the next tile (depthwise convolutions of 3x3, Zen 3: 61% of the FMA peak with
// tiles of 4 by two vectors; copying with padding took 1.5 times as long as
// testing).
constexpr double kWrittenOutChainCycles = 2;
constexpr double kWrittenOutLoadCycles = 0.5;
constexpr double kWrittenOutPieceCycles = 1.7;
constexpr double kWrittenOutNearPieceCycles = 0.3;
constexpr double kWrittenOutAskCycles = 1;
constexpr double kLineBytes = 64;

class TileChooser {
 public:
  // v: number of the axis along which vectors run; -1 if there is none.
  TileChooser(const jit::CpuModel& cpu, const StageShape& shape,
              const CommonAxes& common, int v)
      : cpu_(cpu), shape_(shape), common_(common), v_(v) {
    if (v < 0) return;
    stores_apart_ = !shape.StoresAlong(v);
    const bool reads_bytes = std::ranges::all_of(
        shape.loads(), [&](NodeId load) { return shape.BytesOf(load) == 1; });
    adds_apart_ = shape.SumsIntegers() && !cpu.has_integer_fma &&
                  !(cpu.has_byte_dots && reads_bytes);
    has_ones_ = shape.SumsIntegers() && reads_bytes && !cpu.has_byte_dots &&
                cpu.has_small_byte_dots &&
                std::ranges::any_of(shape.loads(), [&](NodeId load) {
                  return shape.ReadsSmallBytes(load);
                });
    for (NodeId load : shape.loads()) {
      const Stride stride = shape.StrideOf(load, v);
      has_broadcast_ |= stride == Stride::kNone;
      // An operand whose elements are not contiguous along the vectors is
      // packed: a constant once, any other operand in each call.
      if (stride == Stride::kOther && !shape.ReadsConstant(load)) {
        packing_cycles_ += kPackedElementCycles *
                           static_cast<double>(shape.LikelyBytes(load, 0) /
                                               shape.BytesOf(load));
      }
      if (stride == Stride::kOther || shape.ReadsConstant(load)) continue;
      streams_.push_back(
          {load, shape.WalkOf(load), IsNear(shape.LikelyBufferBytes(load))});
      if (shape.IsPadded(load)) padded_.push_back({load, CopyCycles(load)});
    }
  }

  // A tile and the cost of computing the whole stage with it.
  struct Choice {
    RegisterTile tile;
    double cost = 0;
  };

  // Chooses the best tile. Rows run along an axis of open extent only if no
  // other axis is possible: some of a tile's rows may then not exist, and
  // unrolled code cannot leave out single rows.
  std::optional<Choice> Choose() {
    const std::optional<Choice> constant = Choose(false);
    return constant && constant->tile.u >= 0 ? constant : Choose(true);
  }

  std::optional<Choice> Choose(bool open_rows) {
    const int v = v_;
    if (v < 0) return std::nullopt;
    const int64_t lanes =
        cpu_.LanesFor(shape_.WidestBytes(), shape_.LikelyExtent(v));
    if (lanes < 2) return std::nullopt;
    std::optional<Choice> best;
    // If costs are equal, the last axis is chosen: its rows are nearest to each
    // other in memory.
    for (int u = shape_.spatial_count() - 1; u >= -1; --u) {
      if (u == v || (u >= 0 && !SharesLoads(u, v))) continue;
      // Inside a group, an axis that the stages have in common has one value,
      // so it has no rows. The exception is common_.rows.
      if (u >= 0 && u != common_.rows && common_.IsCommon(u)) continue;
      if (u >= 0 && !open_rows && !shape_.Extent(u)) continue;
      const int64_t most_vectors =
          has_broadcast_ ? kMaxVectors : cpu_.vector_registers;
      for (int64_t vectors = 1; vectors <= most_vectors; ++vectors) {
        for (int64_t rows = 1; rows <= (u < 0 ? 1 : 28); ++rows) {
          RegisterTile tile{u, v, rows, vectors, lanes};
          if (!Fits(tile)) continue;
          tile.writes_out_sum = WritesOutSum(tile);
          tile.peels_vectors = PeelsVectors(tile);
          const double cost = CostOf(tile);
          if (best && cost >= best->cost) continue;
          best = {tile, cost};
        }
      }
    }
    return best;
  }

  // Returns the cycles that the whole stage spends on tests if a vector of the
  // load is in the padding. Returns infinity if a vector may be partly in the
  // padding, so that such a test is not enough.
  double AskCycles(const RegisterTile& tile, NodeId load) const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    if (CutsOff(tile.v, tile.width()) ||
        shape_.StrideOf(load, tile.v) == Stride::kOther) {
      return kNever;
    }
    const LoadWalk walk = shape_.WalkOf(load);
    for (size_t d = 0; d < walk.dims.size(); ++d) {
      if (walk.steps[d][tile.v] == 0) continue;
      for (int a = shape_.spatial_count(); a < shape_.axis_count(); ++a) {
        if (walk.steps[d][a] != 0) return kNever;
      }
    }
    if (tile.writes_out_sum) {
      // In an unrolled sum, one test serves all vectors of a row, and all
      // results that read the tested value.
      return kWrittenOutAskCycles * Values(tile, load) * AllTiles(tile);
    }
    const bool moves =
        tile.u >= 0 && shape_.StrideOf(load, tile.u) != Stride::kNone;
    return kAskCycles * static_cast<double>(moves ? tile.rows : 1) * Steps() *
           AllTiles(tile);
  }

  // Returns the cycles that a padded copy of the operand takes, for making and
  // reading it.
  double CopyCycles(NodeId load) const {
    const int64_t bytes = shape_.LikelyBufferBytes(load);
    return static_cast<double>(bytes) / kLineBytes *
           (IsNear(bytes) ? kNearCopiedLineCycles : kCopiedLineCycles);
  }

 private:
  // An operand that is read in place, not from a packed copy.
  struct Stream {
    NodeId load = 0;
    LoadWalk walk;
    bool is_near = false;
  };

  struct Padded {
    NodeId load = 0;
    double copy_cycles = 0;
  };

  bool WritesOutSum(const RegisterTile& tile) const {
    if (has_broadcast_) return false;
    // An unrolled tile of several rows keeps the values that rows share in
    // registers, too, so it must leave half of the registers for these.
    if (tile.rows > 1 && tile.rows * tile.vectors * 2 > cpu_.vector_registers)
      return false;
    double count = static_cast<double>(tile.rows * tile.vectors);
    for (int a = shape_.spatial_count(); a < shape_.axis_count(); ++a)
      count *=
          static_cast<double>(shape_.Extent(a).value_or(kMaxWrittenOut + 1));
    return count <= kMaxWrittenOut;
  }

  // True if the last tile of an axis should be peeled, so that only its vectors
  // are masked: masks are slow (AVX2, Zen 3: a 7x7 depthwise convolution of 260
  // channels takes 2.6 times as long without peeling), and all operands move
  // along the vectors. Otherwise a tile has many steps for each masked store,
  // and the code of a second tile costs more than the masks.
  bool PeelsVectors(const RegisterTile& tile) const {
    const std::optional<int64_t> extent = shape_.Extent(tile.v);
    return !cpu_.has_masks && !has_broadcast_ && extent &&
           *extent > tile.width() && *extent % tile.lanes != 0;
  }

  // Returns, for each axis, how many values a tile covers: all of a reduction
  // axis, the tile's rows of axis u, `width` of axis v, and one of any other.
  std::vector<int64_t> ExtentsOf(const RegisterTile& tile,
                                 int64_t width) const {
    std::vector<int64_t> extents(shape_.axis_count(), 1);
    for (int a = shape_.spatial_count(); a < shape_.axis_count(); ++a)
      extents[a] = shape_.LikelyExtent(a);
    if (tile.u >= 0) extents[tile.u] = tile.rows;
    extents[tile.v] = std::min(width, shape_.LikelyExtent(tile.v));
    return extents;
  }

  // Returns how many different values of the operand a tile reads for one value
  // of the axis `tile.v`, along which its vectors run.
  double Values(const RegisterTile& tile, NodeId load) const {
    const LoadWalk::Pieces pieces =
        shape_.WalkOf(load).Over(ExtentsOf(tile, /*width=*/1));
    return static_cast<double>(pieces.count) *
           static_cast<double>(pieces.elements);
  }

  bool IsNear(int64_t bytes) const { return bytes <= 2 * cpu_.l2_bytes; }

  // True if results along axis u can use the same loaded vector: some operand
  // moves along v but not along u.
  bool SharesLoads(int u, int v) const {
    if (shape_.LikelyExtent(u) < 2) return false;
    return std::any_of(shape_.loads().begin(), shape_.loads().end(),
                       [&](NodeId load) {
                         return shape_.StrideOf(load, u) == Stride::kNone &&
                                shape_.StrideOf(load, v) != Stride::kNone;
                       });
  }

  bool Fits(const RegisterTile& tile) const {
    if (tile.u >= 0 && tile.rows > shape_.LikelyExtent(tile.u)) return false;
    return Registers(tile) <= cpu_.vector_registers;
  }

  // Returns the number of vector registers that a tile needs. Each sum takes
  // one. For the operands it is one per vector of the first operand and one for
  // a value of the second; or, if both are read as vectors, one for each.
  // Another one holds a product that is not yet added, if that takes an
  // instruction of its own. A last one holds the ones by which products of
  // small bytes are multiplied to be added up.
  int64_t Registers(const RegisterTile& tile) const {
    return tile.rows * tile.vectors + (has_broadcast_ ? tile.vectors + 1 : 2) +
           (adds_apart_ ? 1 : 0) + (has_ones_ && has_broadcast_ ? 1 : 0);
  }

  double CostOf(const RegisterTile& tile) const {
    const double ends = kTileCycles + static_cast<double>(tile.rows) *
                                          static_cast<double>(tile.vectors) *
                                          StoreCycles(tile);
    double padding = packing_cycles_;
    for (const Padded& padded : padded_)
      padding += std::min(AskCycles(tile, padded.load), padded.copy_cycles);
    return (SumCycles(tile) + ends + PieceCycles(tile)) * AllTiles(tile) +
           padding;
  }

  // Returns the cycles of a tile, if its operands are in the first-level cache.
  double SumCycles(const RegisterTile& tile) const {
    const double multiplications =
        static_cast<double>(tile.rows * tile.vectors);
    double loads = 0;
    if (tile.writes_out_sum) {
      for (NodeId load : shape_.loads()) {
        const bool moves = shape_.StrideOf(load, tile.v) != Stride::kNone;
        loads +=
            Values(tile, load) * static_cast<double>(moves ? tile.vectors : 1);
      }
      return std::max({multiplications * Steps() / 2,
                       loads * kWrittenOutLoadCycles,
                       kWrittenOutChainCycles * Steps()});
    }
    for (NodeId load : shape_.loads()) {
      double count = 1;
      if (tile.u >= 0 && shape_.StrideOf(load, tile.u) != Stride::kNone)
        count *= static_cast<double>(tile.rows);
      if (shape_.StrideOf(load, tile.v) != Stride::kNone)
        count *= static_cast<double>(tile.vectors);
      loads += count;
    }
    // If the tile leaves no register free, values are loaded late (16
    // registers, Zen 3: tiles of 6 rows and two vectors are faster than those
    // of 4 and three). If multiplying and adding are two instructions, the
    // register of the product can be used for that.
    const bool is_late = cpu_.vector_registers <= 16 && !adds_apart_ &&
                         Registers(tile) == cpu_.vector_registers;
    return Steps() *
           (std::max({multiplications / 2, loads * kLoadCycles, 4.0}) +
            (is_late ? 2 : 1) * kLoopCycles);
  }

  // Returns the additional cycles for operands that are in farther caches or in
  // memory.
  double PieceCycles(const RegisterTile& tile) const {
    const std::vector<int64_t> extents = ExtentsOf(tile, tile.width());
    double cycles = 0;
    for (const Stream& stream : streams_) {
      // If the operand does not move along one of the tile's axes, the previous
      // tile has read the same elements, so they are in a near cache.
      const bool stands_still =
          tile.u >= 0 && shape_.StrideOf(stream.load, tile.u) == Stride::kNone;
      const bool is_read_again =
          stands_still || shape_.StrideOf(stream.load, tile.v) == Stride::kNone;
      const bool is_near = is_read_again || stream.is_near;
      const double each =
          tile.writes_out_sum
              ? (is_near ? kWrittenOutNearPieceCycles : kWrittenOutPieceCycles)
              : (is_near ? kNearPieceCycles : kPieceCycles);
      cycles += each * static_cast<double>(stream.walk.Over(extents).count);
    }
    return cycles;
  }

  double AllTiles(const RegisterTile& tile) const {
    double tiles = Tiles(tile.u, tile.rows) * Tiles(tile.v, tile.width());
    for (int a = 0; a < shape_.spatial_count(); ++a) {
      if (a != tile.u && a != tile.v)
        tiles *= static_cast<double>(shape_.LikelyExtent(a));
    }
    return tiles;
  }

  // Returns the cycles to store a vector of results. Stores have a condition if
  // the last tile is cut off by the end of the axis and is not peeled. The
  // lanes of a partial vector are stored one by one.
  double StoreCycles(const RegisterTile& tile) const {
    const bool guarded = CutsOff(tile.u, tile.rows) ||
                         (CutsOff(tile.v, tile.width()) && !tile.peels_vectors);
    const double plain = (guarded ? kGuardedCycles : kStoreCycles) +
                         (stores_apart_ ? kApartCycles * tile.lanes : 0);
    if (cpu_.has_masks || !CutsOff(tile.v, tile.lanes)) return plain;
    // The last vector of each row is partial. If there is only one tile, or if
    // the last tile is peeled, the code is compiled for that vector; otherwise
    // each vector is tested.
    const double masked = kMaskedCycles / Tiles(tile.v, tile.lanes);
    const bool tests =
        !tile.peels_vectors && shape_.LikelyExtent(tile.v) > tile.width();
    return plain + masked + (tests ? 2 : 0);
  }

  // Returns the number of elements that a result sums up.
  double Steps() const {
    double steps = 1;
    for (int a = shape_.spatial_count(); a < shape_.axis_count(); ++a)
      steps *= static_cast<double>(shape_.LikelyExtent(a));
    return steps;
  }

  bool CutsOff(int axis, int64_t size) const {
    return axis >= 0 && shape_.LikelyExtent(axis) % size != 0;
  }

  // Returns how many tiles of `size` points cover an axis. An open extent
  // counts as a multiple of the size.
  double Tiles(int axis, int64_t size) const {
    if (axis < 0) return 1;
    const double extent = static_cast<double>(shape_.LikelyExtent(axis));
    const double tiles = extent / static_cast<double>(size);
    return shape_.Extent(axis) ? std::ceil(tiles) : tiles;
  }

  const jit::CpuModel& cpu_;
  const StageShape& shape_;
  // For a product inside a group: the axes that have only one value there, and
  // common_.rows, which has several.
  const CommonAxes& common_;
  int v_;  // number of the axis along which vectors run
  // true if the results of a vector are not contiguous in memory
  bool stores_apart_ = false;
  double packing_cycles_ = 0;  // cycles for packing operands in each call
  // true if some operand has the same value for all lanes of a vector
  bool has_broadcast_ = false;
  // true if the CPU has no multiply-add for these types, so that it takes two
  // instructions
  bool adds_apart_ = false;
  // true if one instruction adds up 4 products of small bytes
  bool has_ones_ = false;
  std::vector<Stream> streams_;
  std::vector<Padded> padded_;
};

// Returns the last axis before axis number `end` along which vectors may run;
// -1 if there is none.
int VectorAxis(const StageShape& shape, const CommonAxes& common, int end) {
  for (int a = end; a-- > 0;) {
    if (!common.IsCommon(a) && shape.LikelyExtent(a) > 1) return a;
  }
  return -1;
}

}  // namespace

std::optional<RegisterTile> ChooseRegisterTile(const jit::CpuModel& cpu,
                                               const StageShape& shape,
                                               const CommonAxes& common) {
  const int v = VectorAxis(shape, common, shape.spatial_count());
  auto best = TileChooser(cpu, shape, common, v).Choose();
  // If only few results are contiguous in memory, lanes may run along an axis
  // with more points. Each lane then stores its result by itself.
  const int64_t lanes = cpu.vector_bytes / shape.WidestBytes();
  if (v > 0 && shape.LikelyExtent(v) * 2 < lanes) {
    const int other = VectorAxis(shape, common, v);
    if (other >= 0 && shape.Extent(other).value_or(0) >= lanes) {
      const auto apart = TileChooser(cpu, shape, common, other).Choose();
      if (apart && (!best || apart->cost < best->cost)) best = apart;
    }
  }
  if (!best) return std::nullopt;
  return best->tile;
}

bool AsksForPadding(const jit::CpuModel& cpu, const StageShape& shape,
                    const RegisterTile& tile, NodeId load) {
  const CommonAxes none;
  const TileChooser chooser(cpu, shape, none, tile.v);
  return chooser.AskCycles(tile, load) <= chooser.CopyCycles(load);
}

MatrixTile ChooseMatrixTile(const jit::CpuModel& cpu, int64_t lanes,
                            int64_t rows, int64_t columns) {
  MatrixTile best;
  double best_cost = 0;
  for (int64_t vectors = 1; vectors <= 4; ++vectors) {
    for (int64_t tile_rows = 1; tile_rows <= std::min<int64_t>(rows, 28);
         ++tile_rows) {
      // One register more than the tile needs stays free, for a value that LLVM
      // loads ahead.
      if (tile_rows * vectors + vectors + 2 > cpu.vector_registers) break;
      const double cycles =
          std::max({static_cast<double>(tile_rows * vectors) / 2,
                    static_cast<double>(tile_rows + vectors) * kLoadCycles,
                    4.0}) +
          kLoopCycles;
      const int64_t width = vectors * lanes;
      const double cost =
          cycles * static_cast<double>(DivideRoundingUp(rows, tile_rows)) *
          static_cast<double>(DivideRoundingUp(columns, width));
      if (best_cost != 0 && cost >= best_cost) continue;
      best = {tile_rows, vectors};
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace ember::schedule
