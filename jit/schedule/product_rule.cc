// Register tiles for sums of products: matrix products of any form and
// convolutions.
//
// A tile has `rows` values of one axis (u) by `vectors` vectors of another (v,
// the one that results lie along in memory). Per step of the sum it needs
// rows * vectors multiply-adds and a load of each operand per value of the axes
// that move it; the model takes two of each per cycle, four cycles until an
// addition's result can be used again, and chooses what costs least for the
// whole stage, with what is computed beyond the ends counted in.
#include <algorithm>
#include <cmath>
#include <optional>

#include "jit/schedule/dependences.h"
#include "jit/schedule/model_rules.h"
#include "jit/schedule/stage_shape.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// Of a step of the sum, beside loads and multiplications.
constexpr double kLoopCycles = 1;
// Two loads begin in a cycle, but of whole vectors, and beside multiplications
// that wait for them, that many complete: tiles of 28 rows and one vector reach
// 60% of tiles of 14 and two (Xeon with AVX-512).
constexpr double kLoadCycles = 0.8;

// Of a tile as a whole: the loop's end is not foreseen.
constexpr double kTileCycles = 20;
// Of each vector of results.
constexpr double kStoreCycles = 2;
constexpr double kGuardedCycles = 4;
// Of some lanes, where there are no mask registers (Zen 3: 18 and more).
constexpr double kMaskedCycles = 16;
constexpr int64_t kMostVectors = 6;

struct RegisterTile {
  int u = -1;  // axis of the rows; -1: none
  int v = 0;   // axis of the vectors
  int64_t rows = 1;
  int64_t vectors = 1;
  int64_t lanes = 1;

  int64_t width() const { return vectors * lanes; }
};

class TileChooser {
 public:
  TileChooser(const jit::CpuModel& cpu, const StageShape& shape, int fixed)
      : cpu_(cpu), shape_(shape), fixed_(fixed) {}

  // Rows of an axis with an open extent only if there is no other: they may not
  // be there, and code cannot be written out for them alone.
  std::optional<RegisterTile> Choose() {
    const std::optional<RegisterTile> constant = Choose(false);
    return constant && constant->u >= 0 ? constant : Choose(true);
  }

  std::optional<RegisterTile> Choose(bool open_rows) {
    const int v = VectorAxis();
    const int64_t lanes = cpu_.vector_bytes / shape_.WidestBytes();
    if (v < 0 || lanes < 2 || shape_.LikelyExtent(v) * 2 < lanes)
      return std::nullopt;
    std::optional<RegisterTile> best;
    double best_cost = 0;
    // Of equals the last axis: its rows lie nearest to each other.
    for (int u = shape_.spatial_count() - 1; u >= -1; --u) {
      if (u == v || (u >= 0 && !SharesLoads(u, v))) continue;
      if (u >= 0 && !open_rows && !shape_.Extent(u)) continue;
      for (int64_t vectors = 1; vectors <= kMostVectors; ++vectors) {
        for (int64_t rows = 1; rows <= (u < 0 ? 1 : 28); ++rows) {
          const RegisterTile tile{u, v, rows, vectors, lanes};
          if (!Fits(tile)) continue;
          const double cost = CostOf(tile);
          if (best && cost >= best_cost) continue;
          best = tile;
          best_cost = cost;
        }
      }
    }
    return best;
  }

 private:
  int VectorAxis() const {
    for (int a = shape_.spatial_count(); a-- > fixed_;) {
      if (shape_.LikelyExtent(a) > 1) return a;
    }
    return -1;
  }

  // Rows of u use one vector of an operand again.
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

  // Sums, the vectors of one operand, and one value of the other.
  static int64_t Registers(const RegisterTile& tile) {
    return tile.rows * tile.vectors + tile.vectors + 1;
  }

  double CostOf(const RegisterTile& tile) const {
    double loads = 0;
    for (NodeId load : shape_.loads()) {
      double count = 1;
      if (tile.u >= 0 && shape_.StrideOf(load, tile.u) != Stride::kNone)
        count *= static_cast<double>(tile.rows);
      if (shape_.StrideOf(load, tile.v) != Stride::kNone)
        count *= static_cast<double>(tile.vectors);
      loads += count;
    }
    const double multiplications =
        static_cast<double>(tile.rows * tile.vectors);
    // With none left, the next value is not there in time (16 registers, Zen 3:
    // tiles of 6 rows and two vectors are faster than of 4 and three).
    const bool is_late =
        cpu_.vector_registers <= 16 && Registers(tile) == cpu_.vector_registers;
    const double cycles =
        std::max({multiplications / 2, loads * kLoadCycles, 4.0}) +
        (is_late ? 2 : 1) * kLoopCycles;
    const double ends = kTileCycles + multiplications * StoreCycles(tile);
    double tiles = Tiles(tile.u, tile.rows) * Tiles(tile.v, tile.width());
    for (int a = 0; a < shape_.spatial_count(); ++a) {
      if (a != tile.u && a != tile.v)
        tiles *= static_cast<double>(shape_.LikelyExtent(a));
    }
    return (cycles * Steps() + ends) * tiles;
  }

  // Per vector of results: under a condition where the last tile is cut off, by
  // lanes where a vector is.
  double StoreCycles(const RegisterTile& tile) const {
    const bool guarded =
        CutsOff(tile.u, tile.rows) || CutsOff(tile.v, tile.width());
    const double plain = guarded ? kGuardedCycles : kStoreCycles;
    if (cpu_.has_masks || !CutsOff(tile.v, tile.lanes)) return plain;
    // One vector of each row; which one is known where there is one tile, and
    // asked for each vector where there are more.
    const double masked = kMaskedCycles / Tiles(tile.v, tile.lanes);
    return shape_.LikelyExtent(tile.v) > tile.width() ? plain + 2 + masked
                                                      : plain + masked;
  }

  // Of the sum.
  double Steps() const {
    double steps = 1;
    for (int a = shape_.spatial_count(); a < shape_.axis_count(); ++a)
      steps *= static_cast<double>(shape_.LikelyExtent(a));
    return steps;
  }

  bool CutsOff(int axis, int64_t size) const {
    return axis >= 0 && shape_.LikelyExtent(axis) % size != 0;
  }

  // How many tiles of the size an axis takes; what is open divides.
  double Tiles(int axis, int64_t size) const {
    if (axis < 0) return 1;
    const double extent = static_cast<double>(shape_.LikelyExtent(axis));
    const double tiles = extent / static_cast<double>(size);
    return shape_.Extent(axis) ? std::ceil(tiles) : tiles;
  }

  const jit::CpuModel& cpu_;
  const StageShape& shape_;
  int fixed_;  // axes before this one stand still
};

// Operands that move along the vectors in steps, or are constants, are copied
// so that a tile's vectors lie one behind the other.
void PackOperands(const jit::CpuModel& cpu, const std::string& product,
                  const RegisterTile& tile, ScheduleWriter& writer) {
  const Computation& c = writer.computation();
  struct Candidate {
    uint32_t buffer;
    int dim;
  };
  std::vector<Candidate> candidates;
  {
    const StageShape shape(c, writer.StageOf(product));
    const NodeId axis = shape.stage().axes[tile.v].variable;
    for (NodeId load : shape.loads()) {
      const Stride stride = shape.StrideOf(load, tile.v);
      const tensor::Node& node = c.pool[load];
      const bool wanted =
          stride == Stride::kOther ||
          (stride == Stride::kUnit && c.buffers[node.buffer].is_constant);
      if (!wanted || node.opcode != Opcode::kLoad) continue;
      const auto dim =
          std::find(node.operands.begin(), node.operands.end(), axis);
      if (dim == node.operands.end()) continue;
      candidates.push_back(
          {node.buffer, static_cast<int>(dim - node.operands.begin())});
    }
  }
  for (const Candidate& candidate : candidates) {
    const ComputationBuffer& buffer = c.buffers[candidate.buffer];
    const std::string dim = std::to_string(candidate.dim);
    const std::string width = std::to_string(tile.width());
    std::string line =
        "pack %" + product + " %" + buffer.name + " " + dim + "/" + width;
    for (size_t d = 0; d < buffer.extents.size(); ++d) {
      if (static_cast<int>(d) != candidate.dim) line += " " + std::to_string(d);
    }
    const std::string copy = buffer.name + ".packed";
    // Refused where two loads differ; the tile then reads what is there.
    if (writer.Try(line + " " + dim + "%" + width + " -> " + copy))
      ScheduleLanes(cpu, copy, 0, writer);
  }
}

// Padding is written once, so that the inner loops need not ask for it. The
// names of the copies.
std::vector<std::string> CopyPadded(const jit::CpuModel& cpu,
                                    const std::string& product,
                                    ScheduleWriter& writer) {
  std::vector<std::string> padded;
  {
    const Computation& c = writer.computation();
    const StageShape shape(c, writer.StageOf(product));
    for (NodeId load : shape.loads()) {
      if (c.pool[load].opcode == Opcode::kPad)
        padded.push_back(c.buffers[c.pool[load].buffer].name);
    }
  }
  std::vector<std::string> copies;
  for (const std::string& buffer : padded) {
    const std::string copy = buffer + ".padded";
    if (!writer.Try("cache_read %" + product + " %" + buffer + " -> " + copy))
      continue;
    ScheduleLanes(cpu, copy, 0, writer);
    copies.push_back(copy);
  }
  return copies;
}

// Rows of results whose part of a padded copy is made together, so that it is
// still in the cache when it is read.
struct RowBlock {
  int axis = -1;  // -1: the whole copy fits
  int64_t rows = 0;
};

// Of `extent` rows with `bytes` of the copy in all.
int64_t RowsThatFit(int64_t extent, int64_t bytes, int64_t room,
                    int64_t least_blocks) {
  int64_t best = 0;
  for (int64_t rows = 1; rows <= extent; ++rows) {
    // Neighbours share about two rows of the copy.
    const bool fits = bytes / extent * (rows + 2) <= room;
    const bool exact = extent % rows == 0;
    if (fits && exact && (extent / rows >= least_blocks || best == 0))
      best = rows;
  }
  return best;
}

RowBlock RowBlockOf(const jit::CpuModel& cpu, const std::string& product,
                    const RegisterTile& tile,
                    const std::vector<std::string>& copies,
                    const ScheduleWriter& writer) {
  const Computation& c = writer.computation();
  const StageShape shape(c, writer.StageOf(product));
  const int64_t room = cpu.l2_bytes / 4;
  for (NodeId load : shape.loads()) {
    const ComputationBuffer& buffer = c.buffers[c.pool[load].buffer];
    if (std::find(copies.begin(), copies.end(), buffer.name) == copies.end())
      continue;
    int64_t bytes = DTypeByteSize(buffer.type);
    for (NodeId extent : buffer.extents) {
      const std::optional<int64_t> size = c.pool.IntegerConstant(extent);
      if (!size) return {};
      bytes *= std::max<int64_t>(*size, 1);
    }
    if (bytes <= room) continue;
    int64_t images = 1;
    for (int a = 0; a < shape.spatial_count(); ++a) {
      const std::optional<int64_t> extent = shape.Extent(a);
      if (!extent || a == tile.u || a == tile.v) break;
      if (*extent < 2 || shape.StrideOf(load, a) == Stride::kNone) continue;
      const int64_t rows =
          RowsThatFit(*extent, bytes / images, room, 2 * cpu.cores / images);
      if (rows > 1) return {a, rows};
      images *= *extent;
    }
  }
  return {};
}

// Which loop over tiles moves faster. Along the vectors' axis inside: rows are
// read and results written once, side by side, by the same worker that made
// and will read them; all of the vectors' operand is read again for each tile
// of rows. That is better where the operand stays in the cache.
bool VectorsInside(const jit::CpuModel& cpu, const StageShape& shape,
                   const RegisterTile& tile) {
  if (tile.u < 0) return false;
  int64_t operand = 0;  // bytes
  for (NodeId load : shape.loads()) {
    if (shape.StrideOf(load, tile.v) == Stride::kNone ||
        shape.StrideOf(load, tile.u) != Stride::kNone) {
      continue;
    }
    operand += shape.LikelyBytes(load, 0);
  }
  return operand <= cpu.l2_bytes / 4;
}

// The loops of the product itself from its reductions on, in a tile.
void OrderTile(const std::string& product, const RegisterTile& tile,
               const std::vector<std::string>& outer, const std::string& rows,
               const std::string& vectors, const std::string& lanes,
               ScheduleWriter& writer) {
  std::vector<std::string> order = outer;
  const StagePlan& plan = writer.schedule().plan(writer.StageOf(product));
  for (int loop : plan.order) {
    if (plan.loops[loop].is_reduction) order.push_back(plan.loops[loop].name);
  }
  if (tile.u >= 0) order.push_back(rows);
  order.push_back(vectors);
  order.push_back(lanes);
  writer.Reorder(product, order);
  if (tile.u >= 0) writer.Do("unroll %" + product + " " + rows);
  writer.Do("unroll %" + product + " " + vectors);
  writer.Do("vectorize %" + product + " " + lanes);
}

// Names of a stage's axes, without those of reductions.
std::vector<std::string> AxesOf(const Computation& c, int stage) {
  std::vector<std::string> names;
  for (int a = 0; a < c.stages[stage].spatial_count; ++a)
    names.push_back(c.stages[stage].axes[a].name);
  return names;
}

// u becomes u_tile and u_row, v becomes v_tile, v_vector and v_lane.
void SplitTile(const std::string& stage, const std::string& u,
               const std::string& v, const RegisterTile& tile,
               ScheduleWriter& writer) {
  const std::string at = " %" + stage + " ";
  if (tile.u >= 0) {
    writer.Do("split" + at + u + " " + std::to_string(tile.rows) + " -> " + u +
              "_tile " + u + "_row");
    writer.Do("peel" + at + u + "_tile");
  }
  writer.Do("split" + at + v + " " + std::to_string(tile.width()) + " -> " + v +
            "_tile " + v + "_rest");
  writer.Do("split" + at + v + "_rest " + std::to_string(tile.lanes) + " -> " +
            v + "_vector " + v + "_lane");
}

}  // namespace

MatrixTile ChooseMatrixTile(const jit::CpuModel& cpu, int64_t lanes,
                            int64_t rows, int64_t columns) {
  MatrixTile best;
  double best_cost = 0;
  for (int64_t vectors = 1; vectors <= 4; ++vectors) {
    for (int64_t tile_rows = 1; tile_rows <= std::min<int64_t>(rows, 28);
         ++tile_rows) {
      // One more than they need, for what LLVM has in flight.
      if (tile_rows * vectors + vectors + 2 > cpu.vector_registers) break;
      const double cycles =
          std::max({static_cast<double>(tile_rows * vectors) / 2,
                    static_cast<double>(tile_rows + vectors) * kLoadCycles,
                    4.0}) +
          kLoopCycles;
      const int64_t width = vectors * lanes;
      const double cost =
          cycles * static_cast<double>((rows + tile_rows - 1) / tile_rows) *
          static_cast<double>((columns + width - 1) / width);
      if (best_cost != 0 && cost >= best_cost) continue;
      best = {tile_rows, vectors};
      best_cost = cost;
    }
  }
  return best;
}

bool ScheduleProduct(const jit::CpuModel& cpu, const StageGroup& group,
                     const std::string& product, ScheduleWriter& writer) {
  const int number = writer.StageOf(product);
  if (!StoresAreDistinct(writer.computation(), number)) return false;
  std::optional<RegisterTile> tile;
  bool large = false;
  bool is_open = false;  // the extent that rows are of
  bool is_open_vectors = false;
  bool vectors_inside = false;
  std::vector<std::string> axes;
  {
    const StageShape shape(writer.computation(), number);
    tile = TileChooser(cpu, shape, 0).Choose();
    if (!tile) return false;
    large = IsWorthThreads(shape.LikelyPoints());
    is_open = tile->u >= 0 && !shape.Extent(tile->u);
    is_open_vectors = !shape.Extent(tile->v);
    vectors_inside = VectorsInside(cpu, shape, *tile);
    // Of the root, whose axes are the product's.
    axes = AxesOf(writer.computation(), writer.StageOf(group.root));
    if (static_cast<int>(axes.size()) != shape.spatial_count()) return false;
  }
  const std::vector<std::string> copies = CopyPadded(cpu, product, writer);
  const RowBlock block = RowBlockOf(cpu, product, *tile, copies, writer);
  PackOperands(cpu, product, *tile, writer);
  const std::string u = tile->u >= 0 ? axes[tile->u] : "";
  const std::string v = axes[tile->v];
  SplitTile(group.root, u, v, *tile, writer);
  std::vector<std::string> outer;
  size_t blocks = 0;  // of `outer`, around what is copied together
  if (block.axis >= 0) {
    const std::string rows = axes[block.axis];
    for (int a = 0; a < block.axis; ++a) outer.push_back(axes[a]);
    outer.push_back(rows + "_block");
    blocks = outer.size();
    writer.Do("split %" + group.root + " " + rows + " " +
              std::to_string(block.rows) + " -> " + rows + "_block " + rows +
              "_in_block");
    axes[block.axis] = rows + "_in_block";
  }
  vectors_inside &= blocks == 0;
  if (!vectors_inside) outer.push_back(v + "_tile");
  for (int a = block.axis < 0 ? 0 : block.axis;
       a < static_cast<int>(axes.size()); ++a) {
    if (a == tile->v) continue;
    outer.push_back(a == tile->u ? u + "_tile" : axes[a]);
  }
  if (vectors_inside) outer.push_back(v + "_tile");
  if (group.root == product) {
    OrderTile(product, *tile, outer, u + "_row", v + "_vector", v + "_lane",
              writer);
  } else {
    std::vector<std::string> order = outer;
    if (tile->u >= 0) order.push_back(u + "_row");
    order.push_back(v + "_vector");
    order.push_back(v + "_lane");
    writer.Reorder(group.root, order);
    if (tile->u >= 0) writer.Do("unroll %" + group.root + " " + u + "_row");
    writer.Do("unroll %" + group.root + " " + v + "_vector");
    writer.Do("vectorize %" + group.root + " " + v + "_lane");
  }
  const std::string tasks = writer.FuseLoops(
      group.root, 0, blocks > 0 ? blocks : outer.size(), "tasks");
  const std::string tiles =
      blocks > 0
          ? writer.FuseLoops(group.root, 1, outer.size() - blocks, "tiles")
          : tasks;
  if (large) writer.Do("parallel %" + group.root + " " + tasks);
  for (size_t i = group.members.size(); i-- > 0;) {
    const std::string& member = group.members[i];
    writer.Do("compute_at %" + member + " %" + group.root + " " + tiles);
    // Inside, the member's own axes run over the tile.
    const std::vector<std::string> own =
        AxesOf(writer.computation(), writer.StageOf(member));
    std::string member_u = tile->u >= 0 ? own[tile->u] : "";
    std::string member_v = own[tile->v];
    std::vector<std::string> others;
    for (int a = 0; a < static_cast<int>(axes.size()); ++a) {
      if (a != tile->u && a != tile->v) others.push_back(own[a]);
    }
    // Inside it is a tile's, but that is known only behind lowering.
    if (is_open_vectors) {
      writer.Do("split %" + member + " " + member_v + " " +
                std::to_string(tile->width()) + " -> " + member_v + "_tile " +
                member_v + "_rest");
      others.push_back(member_v + "_tile");
      member_v += "_rest";
    }
    if (is_open) {
      writer.Do("split %" + member + " " + member_u + " " +
                std::to_string(tile->rows) + " -> " + member_u + "_tile " +
                member_u + "_row");
      others.push_back(member_u + "_tile");
      member_u += "_row";
    }
    writer.Do("split %" + member + " " + member_v + " " +
              std::to_string(tile->lanes) + " -> " + member_v + "_vector " +
              member_v + "_lane");
    OrderTile(member, *tile, others, member_u, member_v + "_vector",
              member_v + "_lane", writer);
  }
  for (const std::string& copy : copies) {
    // Refused where others read it, too.
    if (blocks > 0 &&
        writer.Try("compute_at %" + copy + " %" + group.root + " " + tasks)) {
      continue;
    }
    ScheduleTasks(cpu, copy, writer);
  }
  return writer.status().ok();
}

bool ScheduleProductInside(const jit::CpuModel& cpu, const std::string& product,
                           int depth, ScheduleWriter& writer) {
  std::optional<RegisterTile> tile;
  bool is_open = false;
  {
    const StageShape shape(writer.computation(), writer.StageOf(product));
    tile = TileChooser(cpu, shape, depth).Choose();
    is_open = tile && tile->u >= 0 && !shape.Extent(tile->u);
  }
  if (!tile || (tile->u >= 0 && tile->u != depth - 1)) return false;
  PackOperands(cpu, product, *tile, writer);
  const auto& stage = writer.computation().stages[writer.StageOf(product)];
  const std::string v = stage.axes[tile->v].name;
  std::vector<std::string> outer;
  for (int a = 0; a < stage.spatial_count; ++a) {
    if (a != tile->u) outer.push_back(stage.axes[a].name);
  }
  std::replace(outer.begin(), outer.end(), v, v + "_tile");
  std::string u = tile->u >= 0 ? stage.axes[tile->u].name : "";
  if (is_open) {
    // As in ScheduleProduct.
    writer.Do("split %" + product + " " + u + " " +
              std::to_string(kRowsOfProduct) + " -> " + u + "_tile " + u +
              "_row");
    outer.push_back(u + "_tile");
    u += "_row";
  }
  writer.Do("split %" + product + " " + v + " " +
            std::to_string(tile->width()) + " -> " + v + "_tile " + v +
            "_rest");
  writer.Do("split %" + product + " " + v + "_rest " +
            std::to_string(tile->lanes) + " -> " + v + "_vector " + v +
            "_lane");
  OrderTile(product, *tile, outer, u, v + "_vector", v + "_lane", writer);
  return writer.status().ok();
}

}  // namespace ember::schedule
