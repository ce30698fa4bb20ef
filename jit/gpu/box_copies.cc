#include "jit/gpu/box_copies.h"

#include <algorithm>
#include <span>
#include <utility>

#include "jit/target/shared_panels.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/linear.h"
#include "vm/format/device_abi.h"

namespace ember::jit::gpu {

using loops::LoopKind;
using loops::NodeId;
using loops::Statement;
using tensor::LinearSum;
using tensor::Opcode;

namespace {

class Finder {
 public:
  Finder(const loops::LoopNest& nest, const loops::Panels& panels)
      : nest_(nest), pool_(nest.pool), panels_(panels) {}

  std::optional<BoxCopy> Find(const Statement& statement) {
    if (!FindStore(statement) || !FindSource() || !FindDims() || !FindPieces())
      return std::nullopt;
    return copy_;
  }

 private:
  // Finds the only store of the copying loops. Returns false if the statement
  // is no invocation loop, or contains anything but loops and conditions around
  // one asynchronous store.
  bool FindStore(const Statement& statement) {
    if (statement.kind != Statement::Kind::kFor ||
        statement.loop != LoopKind::kInvocation) {
      return false;
    }
    const Statement* inner = &statement;
    while (inner->kind == Statement::Kind::kFor ||
           inner->kind == Statement::Kind::kIf) {
      if (inner->kind == Statement::Kind::kFor)
        copy_.variables.push_back(inner->variable);
      if (inner->body.size() != 1) return false;
      inner = &inner->body[0];
    }
    if (inner->kind != Statement::Kind::kStore || inner->stores.size() != 1 ||
        !inner->stores[0].is_async) {
      return false;
    }
    copy_.store = &inner->stores[0];
    copy_.to = copy_.store->buffer;
    return true;
  }

  // Finds the tensor that the store reads. Returns false if the stored value is
  // no load, if the tensor has another type than the slot or a number of dims
  // or a row length that boxes cannot have, or if a padded load has a default
  // value other than 0: boxes are padded with zeros.
  bool FindSource() {
    const tensor::Node& value = pool_[copy_.store->value];
    const bool is_pad = value.opcode == Opcode::kPad;
    if (!is_pad && value.opcode != Opcode::kLoad) return false;
    copy_.from = value.buffer;
    const loops::Buffer& from = nest_.buffers[copy_.from];
    const loops::Buffer& to = nest_.buffers[copy_.to];
    const size_t rank = from.extents.size();
    if (rank == 0 || rank > vm::kMaxBoxDims || from.type != to.type)
      return false;
    from_indices_ = std::span<const NodeId>(value.operands).first(rank);
    if (is_pad) {
      const tensor::Node& pad = pool_[value.operands[rank]];
      if (pad.opcode != Opcode::kConstant || pad.immediate != 0) return false;
    }
    const auto row = pool_.IntegerConstant(from.extents.back());
    return row && *row * DTypeByteSize(from.type) % kPanelPieceBytes == 0;
  }

  bool Moves(NodeId index) const {
    return std::ranges::any_of(copy_.variables, [&](NodeId variable) {
      return tensor::DependsOn(pool_, index, variable);
    });
  }

  // True if it is proved that the difference of the two indices is the same for
  // all elements that the loop copies, so that both advance together.
  bool MoveTogether(NodeId a, NodeId b) const {
    auto sum = tensor::Linearize(pool_, a, /*by_ranges=*/false);
    const auto other = tensor::Linearize(pool_, b, /*by_ranges=*/false);
    if (!sum || !other) return false;
    tensor::AddLinear(*sum, *other, -1);
    return std::ranges::none_of(
        sum->terms, [&](const tensor::LinearTerm& t) { return Moves(t.node); });
  }

  int64_t ExtentOf(size_t dim) const {
    return pool_.IntegerConstant(nest_.buffers[copy_.to].extents[dim])
        .value_or(0);
  }

  // Matches each dim of the ring slot that has several elements with the dim of
  // the source tensor whose index advances together with it. The last dims must
  // match each other. Returns false if a dim of the slot with several elements,
  // or a dim of the tensor whose index moves, has no partner.
  bool FindDims() {
    const std::span<const NodeId> to_indices(copy_.store->indices);
    const size_t rank = to_indices.size();
    if (rank < 2 || Moves(to_indices[0])) return false;
    std::vector<size_t> left;
    for (size_t d = 1; d < rank; ++d) {
      if (ExtentOf(d) != 1) left.push_back(d);
    }
    for (const NodeId index : from_indices_) {
      copy_.dims.emplace_back();
      if (!Moves(index)) continue;
      const auto with = std::ranges::find_if(
          left, [&](size_t d) { return MoveTogether(index, to_indices[d]); });
      if (with == left.end()) return false;
      copy_.dims.back() = *with;
      left.erase(with);
    }
    FindOrder();
    return left.empty() && copy_.dims.back() == rank - 1;
  }

  void FindOrder() {
    // pairs of a dim of `to` and the dim of `from` whose index advances with it
    std::vector<std::pair<size_t, uint32_t>> moved;
    for (uint32_t d = 0; d < copy_.dims.size(); ++d) {
      copy_.order.push_back(d);
      if (copy_.dims[d]) moved.emplace_back(*copy_.dims[d], d);
    }
    std::ranges::sort(moved);
    auto next = moved.begin();
    for (uint32_t& dim : copy_.order) {
      if (copy_.dims[dim]) dim = (next++)->second;
    }
  }

  bool FindPieces() {
    const loops::Buffer& to = nest_.buffers[copy_.to];
    const size_t rank = to.extents.size();
    const int64_t bytes = DTypeByteSize(to.type);
    copy_.ring_slot_bytes = bytes;
    for (size_t d = 1; d < rank; ++d) copy_.ring_slot_bytes *= ExtentOf(d);
    const int64_t panel_count = panels_.row_bytes / kPanelRowBytes;
    if (copy_.ring_slot_bytes % kPanelAlignment != 0) return false;
    // A piece is the part of a slot that is one box; `piece`: its number of
    // elements along each dim of `to`. If rows are one panel (kPanelRowBytes)
    // long, a piece has all rows of the slot; otherwise it has the rows of one
    // matrix.
    std::vector<int64_t> piece(rank, 1);
    piece[rank - 1] = kPanelRowBytes / bytes;
    int64_t rows = 1;
    for (size_t d = rank - 1; d-- > 1;) {
      if (panel_count > 1 && rows >= panels_.rows) break;
      piece[d] = ExtentOf(d);
      rows *= piece[d];
    }
    if (panel_count > 1 && rows != panels_.rows) return false;
    for (const auto& dim : copy_.dims) {
      const int64_t extent = dim ? piece[*dim] : 1;
      if (extent < 1 || extent > vm::kMaxBoxExtent) return false;
      copy_.box.push_back(static_cast<uint32_t>(extent));
    }
    AddPieces(piece, rows * kPanelRowBytes);
    return true;
  }

  // Adds the pieces of the slot in the order of their offsets: by matrix, then
  // by panel.
  void AddPieces(const std::vector<int64_t>& piece, int64_t piece_bytes) {
    const size_t rank = piece.size();
    std::vector<int64_t> begin(rank, 0);
    for (int64_t position = 0; position < copy_.ring_slot_bytes;
         position += piece_bytes) {
      BoxCopy::Piece& added = copy_.pieces.emplace_back();
      added.position = position;
      for (const auto& dim : copy_.dims)
        added.offsets.push_back(dim ? begin[*dim] : 0);
      for (size_t d = rank; d-- > 1;) {
        begin[d] += piece[d];
        if (begin[d] < ExtentOf(d)) break;
        begin[d] = 0;
      }
    }
  }

  const loops::LoopNest& nest_;
  const tensor::ExpressionPool& pool_;
  const loops::Panels& panels_;
  std::span<const NodeId> from_indices_;
  BoxCopy copy_;
};

}  // namespace

std::optional<BoxCopy> BoxCopyOf(const loops::LoopNest& nest,
                                 const Statement& statement,
                                 const loops::Panels& panels) {
  if (!panels.Any()) return std::nullopt;
  return Finder(nest, panels).Find(statement);
}

}  // namespace ember::jit::gpu
