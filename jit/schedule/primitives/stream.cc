// stream: stream-K. Divides the slices of all tiles of results into ranges of
// equal length.
//
//   %s[i, j] = sum(k < 32) %a[i, k] * %b[k, j]       i < 32, j < 48
//
// has 3 tiles of 32 x 16 results, each with 4 slices of 8 steps of k. One tile
// after the other these are 12 slices. `stream %s k/8 4 i/32 j/16 -> parts`
// makes 4 ranges of 3 slices each, which may begin and end anywhere in tiles:
//
//   slices   0 . . 3|. . . .|. . . b    tile 0, tile 1, tile 2
//   ranges   0 0 0 1|1 1 2 2|2 3 3 3
//
// A range has parts of several tiles, here 2 at most: its pieces. The sums of
// the pieces are the results of the new stage. The stage itself adds up the
// pieces of its tile, in the order of the sum:
//
//   %parts[piece, range, i, j] = sum(k_slices < 3, k < 8) ...
//   %s[i, j] = sum(k_part < 2) %parts[...]
//
// A piece combines those of the 3 slices that are in its tile, maybe none
// (ComputationStage::end). Where tiles do not fill the results, the last one
// begins earlier: it has some points in common with the previous one.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/simplify.h"
#include "tensor/names.h"
#include "tensor/range_rules.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// Largest numbers of tiles, of slices of all tiles, and of ranges. Tiles are
// limited because Count() looks at each of them.
constexpr int64_t kMaxTiles = int64_t{1} << 20;
constexpr int64_t kMaxSlices = int64_t{1} << 40;
constexpr int64_t kMaxRanges = int64_t{1} << 16;

// An axis of the stage, and the size of the tiles or slices into which it is
// divided.
struct AxisAndSize {
  size_t axis = 0;
  int64_t size = 1;
};

// Finds the axis that the text names among the stage's axes begin .. end-1.
StatusOr<AxisAndSize> FindAxis(const ComputationStage& stage, size_t begin,
                               size_t end, const LoopPieces& pieces) {
  AxisAndSize found{.axis = begin, .size = pieces.size};
  if (pieces.loop.stage.name != stage.name) found.axis = end;
  while (found.axis < end && stage.axes[found.axis].name != pieces.loop.name)
    ++found.axis;
  if (found.axis == end) {
    return InvalidArgumentError(std::string("expected ") +
                                (begin == 0 ? "i/n with an axis i of the points"
                                            : "k/n with a reduction k") +
                                " of %" + stage.name + ", found '" +
                                ToText(pieces) + "'");
  }
  EMBER_RETURN_IF_ERROR(CheckFactor(pieces.size));
  return found;
}

// Says how a stage's results are divided into tiles, and the elements that they
// combine into slices and ranges.
struct Shares {
  // the reduction axis that is divided into slices, and the size of a slice
  AxisAndSize steps;
  std::vector<int64_t> sizes;  // for each spatial axis: size of a tile
  std::vector<int64_t> tiles;  // for each spatial axis: number of tiles along
                               // it
  int64_t tile_count = 1;
  int64_t slices = 1;  // number of slices of a tile
  int64_t ranges = 1;
  int64_t length = 1;  // number of slices of a range
  int64_t pieces = 1;  // largest number of pieces of a range
  int64_t parts = 1;   // largest number of ranges that have a piece of the same
                       // tile
  int64_t least_parts = 1;

  void Count() {
    const int64_t all = tile_count * slices;
    length = DivideRoundingUp(all, ranges);
    for (int64_t at = 0; at < all; at += length) {
      const int64_t last = std::min(at + length, all) - 1;
      pieces = std::max(pieces, last / slices - at / slices + 1);
    }
    least_parts = slices;
    for (int64_t at = 0; at < all; at += slices) {
      const int64_t count = (at + slices - 1) / length - at / length + 1;
      parts = std::max(parts, count);
      least_parts = std::min(least_parts, count);
    }
  }
};

StatusOr<Shares> SharesOf(const Computation& c, const ComputationStage& stage,
                          const Stream& step) {
  const size_t spatial = static_cast<size_t>(stage.spatial_count);
  Shares shares;
  EMBER_ASSIGN_OR_RETURN(
      shares.steps,
      FindAxis(stage, spatial, stage.axes.size(), step.reduction));
  EMBER_RETURN_IF_ERROR(CheckFactor(step.ranges));
  shares.ranges = step.ranges;
  shares.sizes.assign(spatial, 1);
  for (const LoopPieces& pieces : step.tiles) {
    EMBER_ASSIGN_OR_RETURN(const AxisAndSize tile,
                           FindAxis(stage, 0, spatial, pieces));
    shares.sizes[tile.axis] = tile.size;
  }
  const auto extent_of = [&](size_t axis) {
    return c.pool.IntegerConstant(stage.axes[axis].extent).value_or(0);
  };
  shares.slices =
      DivideRoundingUp(extent_of(shares.steps.axis), shares.steps.size);
  for (size_t a = 0; a < spatial; ++a) {
    const int64_t extent = std::max<int64_t>(extent_of(a), 0);
    shares.sizes[a] = std::min(shares.sizes[a], std::max<int64_t>(extent, 1));
    shares.tiles.push_back(DivideRoundingUp(extent, shares.sizes[a]));
    if (shares.tiles.back() > kMaxTiles) shares.tiles.back() = 0;
    shares.tile_count *= shares.tiles.back();
    if (shares.tile_count > kMaxTiles) shares.tile_count = 0;
  }
  if (shares.tile_count == 0 || shares.slices == 0 ||
      shares.slices > kMaxSlices / shares.tile_count ||
      shares.ranges > kMaxRanges) {
    return FailedPreconditionError(
        "expected constant extents, not of 0, and not too many tiles, slices "
        "or ranges");
  }
  shares.Count();
  return shares;
}

class Streamer {
 public:
  Streamer(Computation& c, const ComputationStage& whole, const Shares& shares)
      : c_(c), whole_(whole), shares_(shares) {}

  // Makes the stage whose results are the sums of the pieces.
  ComputationStage MakePieces(uint32_t buffer) {
    const size_t spatial = static_cast<size_t>(whole_.spatial_count);
    ComputationStage stage;
    stage.combiner = whole_.combiner;
    const NodeId piece = AddAxis(NewName("piece"), shares_.pieces, stage);
    const NodeId range = AddAxis(NewName("range"), shares_.ranges, stage);
    // `first`: number of the first slice of the range, among the slices of all
    // tiles. `first_of_tile`: that of the first slice of the piece's tile.
    const NodeId first = Times(range, shares_.length);
    const NodeId tile = Add(FloorDivide(first, shares_.slices), piece);
    const NodeId first_of_tile = Times(tile, shares_.slices);
    // `begin` and `end`: the slices of the tile that the piece combines. There
    // are none if the piece's tile is behind the last tile.
    const NodeId zero = Integer(0);
    const NodeId begin = Larger(Subtract(first, first_of_tile), zero);
    const NodeId all = Integer(shares_.tile_count * shares_.slices);
    const NodeId end_of_range =
        Smaller(Add(first, Integer(shares_.length)), all);
    const NodeId end =
        Smaller(Subtract(end_of_range, first_of_tile), Integer(shares_.slices));
    const int64_t most = std::min(shares_.length, shares_.slices);
    stage.end = Smaller(Larger(Subtract(end, begin), zero), Integer(most));
    // The tile of an empty piece may be behind the last one. The minimum keeps
    // its indices in bounds.
    NodeId rest = Smaller(tile, Integer(shares_.tile_count - 1));
    std::vector<NodeId> digits(spatial);
    for (size_t a = spatial; a-- > 0;) {
      digits[a] = a == 0 ? rest : Modulo(rest, shares_.tiles[a]);
      rest = FloorDivide(rest, shares_.tiles[a]);
    }
    for (size_t a = 0; a < spatial; ++a) {
      NodeId value = FirstPointOf(digits[a], a);
      if (shares_.sizes[a] > 1) {
        value =
            Add(value, AddAxis(whole_.axes[a].name, shares_.sizes[a], stage));
      }
      replaced_.push_back({whole_.axes[a].variable, value});
    }
    stage.spatial_count = static_cast<int>(stage.axes.size());
    AddReductions(begin, most, stage);
    stage.values.push_back(ValueOfPiece());
    ComputationStore& store = stage.stores.emplace_back();
    store.buffer = buffer;
    for (int a = 0; a < stage.spatial_count; ++a)
      store.indices.push_back(stage.axes[static_cast<size_t>(a)].variable);
    return stage;
  }

  // Makes the original stage add up the pieces of each tile.
  void CombinePieces(uint32_t buffer, ComputationStage& stage) {
    const std::string& name = whole_.axes[shares_.steps.axis].name;
    const DType type = c_.pool[whole_.values[0]].type;
    stage.useful.reset();
    stage.axes.resize(static_cast<size_t>(stage.spatial_count));
    const NodeId part = AddAxis(NewName(name + "_part"), shares_.parts, stage);
    NodeId tile = Integer(0);
    for (size_t a = 0; a < shares_.sizes.size(); ++a) {
      const NodeId digit =
          FloorDivide(stage.axes[a].variable, shares_.sizes[a]);
      tile = Add(Times(tile, shares_.tiles[a]), digit);
    }
    const NodeId first = Times(tile, shares_.slices);
    const NodeId last =
        FloorDivide(Add(first, Integer(shares_.slices - 1)), shares_.length);
    const NodeId range = Add(FloorDivide(first, shares_.length), part);
    // The loop has as many iterations as the tile with the most pieces needs.
    // In a tile with fewer pieces the remaining iterations read the tile's last
    // range again, and use the neutral element instead.
    const NodeId range_there = Smaller(range, last);
    const NodeId first_tile =
        FloorDivide(Times(range_there, shares_.length), shares_.slices);
    const NodeId piece = Smaller(Larger(Subtract(tile, first_tile), Integer(0)),
                                 Integer(shares_.pieces - 1));
    std::vector<NodeId> indices = {piece, range_there};
    for (size_t a = 0; a < shares_.sizes.size(); ++a) {
      if (shares_.sizes[a] > 1)
        indices.push_back(PlaceInTile(stage.axes[a].variable, a));
    }
    NodeId value =
        c_.pool.Intern(Opcode::kLoad, type, indices, 0, /*scope=*/1, buffer);
    if (shares_.least_parts != shares_.parts)
      value = Unless(Make(Opcode::kLess, DType::kBool, {last, range}), value);
    stage.values = {value};
  }

 private:
  NodeId AddAxis(std::string name, int64_t extent, ComputationStage& stage) {
    stage.axes.push_back(c_.MakeAxis(std::move(name), Integer(extent)));
    return stage.axes.back().variable;
  }
  // Returns a name, like `name`, that no axis of the original stage has.
  std::string NewName(std::string name) const {
    while (std::ranges::find(whole_.axes, name, &ComputationAxis::name) !=
           whole_.axes.end()) {
      name += "_part";
    }
    return name;
  }

  // Adds the reduction axes of the stage of pieces: one over the slices of a
  // piece, one over the steps of a slice, and the other reduction axes of the
  // original stage. begin: the first slice of the piece. most: largest number
  // of slices of any piece.
  void AddReductions(NodeId begin, int64_t most, ComputationStage& stage) {
    const ComputationAxis& steps = whole_.axes[shares_.steps.axis];
    const NodeId iteration =
        AddAxis(NewName(steps.name + "_slices"), most, stage);
    // A piece may have fewer slices than `most`. ComputationStage::end leaves
    // out the others, but the loop may reach them, so the minimum keeps the
    // slice's number in bounds.
    const NodeId slice =
        Smaller(Add(begin, iteration), Integer(shares_.slices - 1));
    for (size_t a = static_cast<size_t>(whole_.spatial_count);
         a < whole_.axes.size(); ++a) {
      const ComputationAxis& axis = whole_.axes[a];
      if (a != shares_.steps.axis) {
        stage.axes.push_back(c_.MakeAxis(axis.name, axis.extent));
        replaced_.push_back({axis.variable, stage.axes.back().variable});
        continue;
      }
      const int64_t size = shares_.steps.size;
      const NodeId step = AddAxis(axis.name, size, stage);
      NodeId value = Add(Times(slice, size), step);
      if (*c_.pool.IntegerConstant(axis.extent) % size != 0) {
        // The last slice may reach beyond the end of the axis. The code then
        // reads the last step of the axis, and ValueOfPiece uses the neutral
        // element instead of the value.
        beyond_ = Make(Opcode::kLessEqual, DType::kBool, {axis.extent, value});
        value = Smaller(value, Subtract(axis.extent, Integer(1)));
      }
      replaced_.push_back({axis.variable, value});
    }
  }

  NodeId ValueOfPiece() {
    const NodeId value =
        Rewriter(c_.pool, c_.pool, [&](NodeId id) -> std::optional<NodeId> {
          for (const auto& [axis, by] : replaced_) {
            if (axis == id) return by;
          }
          return std::nullopt;
        }).Rewrite(whole_.values[0]);
    return beyond_ ? Unless(*beyond_, value) : value;
  }

  // OverlapOf returns the number of points that the last tile along the axis
  // has in common with the one before it. LastFirstPointOf returns the first
  // point of the last tile.
  int64_t OverlapOf(size_t axis) const {
    return shares_.tiles[axis] * shares_.sizes[axis] -
           *c_.pool.IntegerConstant(whole_.axes[axis].extent);
  }
  int64_t LastFirstPointOf(size_t axis) const {
    return (shares_.tiles[axis] - 1) * shares_.sizes[axis] - OverlapOf(axis);
  }
  // Returns the largest number that divides both the length of tiles and the
  // first point of each tile along the axis.
  int64_t StepOf(size_t axis) const {
    return std::gcd(shares_.sizes[axis], OverlapOf(axis));
  }
  NodeId FirstPointOf(NodeId tile, size_t axis) {
    const int64_t step = StepOf(axis);
    return Times(Smaller(Times(tile, shares_.sizes[axis] / step),
                         Integer(LastFirstPointOf(axis) / step)),
                 step);
  }
  // Returns the index of a point within the last tile that contains it. In the
  // last tile, which overlaps the one before, it is not the remainder by the
  // tile's length. The index is computed in units of StepOf points, which are
  // neighbours in every tile, so that vectors can be read.
  NodeId PlaceInTile(NodeId point, size_t axis) {
    const int64_t step = StepOf(axis), steps = shares_.sizes[axis] / step;
    const NodeId at = FloorDivide(point, step);
    NodeId place = Modulo(at, steps);
    if (OverlapOf(axis) != 0) {
      place =
          Larger(place, Subtract(at, Integer(LastFirstPointOf(axis) / step)));
      // The minimum never changes the index. The verifier's proofs of bounds
      // need it where loops run past the axis, so it is interned as it is, not
      // simplified away.
      const NodeId both[] = {place, Integer(steps - 1)};
      place = c_.pool.Intern(Opcode::kMinimum, DType::kI64, both);
    }
    return Add(Times(place, step), Modulo(point, step));
  }

  // Returns the neutral element where the condition holds, otherwise the value.
  NodeId Unless(NodeId condition, NodeId value) {
    const DType type = c_.pool[value].type;
    const NodeId neutral =
        c_.pool.Constant(NeutralBits(whole_.combiner, type), type);
    return Make(Opcode::kSelect, type, {condition, neutral, value});
  }

  NodeId Make(Opcode opcode, DType type, std::initializer_list<NodeId> nodes) {
    return tensor::Simplifier(c_.pool).Make(
        opcode, type, std::span(nodes.begin(), nodes.size()));
  }
  NodeId Integer(int64_t value) { return c_.pool.Integer(value); }
  NodeId Add(NodeId a, NodeId b) {
    return Make(Opcode::kAdd, DType::kI64, {a, b});
  }
  NodeId Subtract(NodeId a, NodeId b) {
    return Make(Opcode::kSubtract, DType::kI64, {a, b});
  }
  NodeId Smaller(NodeId a, NodeId b) {
    return Make(Opcode::kMinimum, DType::kI64, {a, b});
  }
  NodeId Larger(NodeId a, NodeId b) {
    return Make(Opcode::kMaximum, DType::kI64, {a, b});
  }
  NodeId Times(NodeId a, int64_t b) {
    return Make(Opcode::kMultiply, DType::kI64, {a, Integer(b)});
  }
  NodeId FloorDivide(NodeId a, int64_t b) {
    return Make(Opcode::kFloorDivide, DType::kI64, {a, Integer(b)});
  }
  NodeId Modulo(NodeId a, int64_t b) {
    return Make(Opcode::kModulo, DType::kI64, {a, Integer(b)});
  }

  Computation& c_;
  const ComputationStage& whole_;
  const Shares& shares_;
  // pairs of an axis of the original stage and the expression that replaces it
  std::vector<std::pair<NodeId, NodeId>> replaced_;
  std::optional<NodeId> beyond_;
};

}  // namespace

Status Change(const Stream& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int number,
                         Find(schedule, step.reduction.loop.stage));
  Computation& c = schedule.mutable_computation();
  const ComputationStage whole = c.stages[number];
  const std::string& name = step.parts;
  if (!tensor::IsPlainName(name) || c.FindBuffer(name) >= 0) {
    return InvalidArgumentError("expected a new name for the parts, found '" +
                                name + "'");
  }
  EMBER_ASSIGN_OR_RETURN(const Shares shares, SharesOf(c, whole, step));
  EMBER_RETURN_IF_ERROR(CheckCombinesParts(schedule, number, "stream"));
  if (whole.combiner == tensor::Combiner::kFold)
    return FailedPreconditionError("a piece of a fold may have no elements");
  const uint32_t buffer = static_cast<uint32_t>(c.buffers.size());
  Streamer streamer(c, whole, shares);
  ComputationStage pieces = streamer.MakePieces(buffer);
  pieces.name = name;
  const bool is_packed =
      c.buffers[whole.stores[0].buffer].role == BufferRole::kPacked;
  ComputationBuffer made{
      .name = name,
      .type = c.pool[whole.values[0]].type,
      .role = is_packed ? BufferRole::kPacked : BufferRole::kTemporary,
      .extents = {}};
  for (int a = 0; a < pieces.spatial_count; ++a)
    made.extents.push_back(pieces.axes[a].extent);
  c.buffers.push_back(std::move(made));
  streamer.CombinePieces(buffer, c.stages[number]);
  schedule.mutable_plan(number) = DefaultPlan(c.stages[number]);
  schedule.InsertStage(number, std::move(pieces));
  return OkStatus();
}

}  // namespace ember::schedule
