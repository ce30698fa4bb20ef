#include "jit/gpu/shared_panels.h"

#include <algorithm>
#include <bit>
#include <span>

#include "jit/loops/divisibility.h"
#include "jit/loops/walk.h"
#include "jit/target/matrix_instructions.h"
#include "tensor/coefficient.h"
#include "tensor/linear.h"

namespace ember::jit::gpu {

using loops::NodeId;
using tensor::ExpressionPool;
using tensor::LinearTerm;
using tensor::Node;
using tensor::Opcode;

namespace {

// Whether the index is the variable, once, beside what does not move with it
// and is a multiple of `divisor`, a power of two.
bool IsBlock(const ExpressionPool& pool, NodeId index, NodeId variable,
             int64_t divisor) {
  const auto sum = tensor::Linearize(pool, index, /*by_ranges=*/false);
  if (!sum || loops::PowerOfTwoIn(sum->constant) < divisor) return false;
  bool moves = false;
  for (const LinearTerm& term : sum->terms) {
    if (term.node == variable) {
      moves = term.coefficient == 1;
      if (!moves) return false;
      continue;
    }
    // Of both at most 2^30.
    const int64_t known = loops::PowerOfTwoIn(term.coefficient) *
                          loops::DivisorOf(pool, term.node);
    if (known < divisor || tensor::DependsOn(pool, term.node, variable))
      return false;
  }
  return moves;
}

// Whether the value is the same for all subgroups of which the numbers, divided
// by `warps`, are: it has the number only in quotients by a multiple of that.
bool IsOfAllWarps(const ExpressionPool& pool, NodeId value, NodeId subgroup,
                  int64_t warps) {
  if (value == subgroup) return false;
  if (!tensor::DependsOn(pool, value, subgroup)) return true;
  const Node& node = pool[value];
  if (node.opcode == Opcode::kFloorDivide && node.operands[0] == subgroup) {
    const auto divisor = pool.IntegerConstant(node.operands[1]);
    return divisor && *divisor > 0 && *divisor % warps == 0;
  }
  return std::ranges::all_of(node.operands, [&](NodeId operand) {
    return IsOfAllWarps(pool, operand, subgroup, warps);
  });
}

// subgroup: the variable of the subgroup loop around, if there is one.
bool HavePanels(const loops::LoopNest& nest, const loops::Block& block,
                std::optional<NodeId> subgroup) {
  return std::ranges::all_of(block, [&](const loops::Statement& statement) {
    const bool is_loop = statement.kind == loops::Statement::Kind::kFor;
    if (!is_loop || statement.loop != loops::LoopKind::kMatrix) {
      const bool is_subgroup =
          is_loop && statement.loop == loops::LoopKind::kSubgroup;
      return HavePanels(nest, statement.body,
                        is_subgroup ? statement.variable : subgroup);
    }
    if (!subgroup) return true;
    const auto operation = loops::MatrixOperationOf(nest, statement, *subgroup);
    if (!operation.ok() ||
        operation->kind != loops::MatrixOperation::Kind::kProduct) {
      return true;
    }
    const int64_t warps = WarpsOfMatrix(loops::TypeOf(nest, *operation));
    return warps == 1 || PanelsOf(nest, *operation, *subgroup, warps);
  });
}

}  // namespace

int64_t SharedPanels::PlaceOf(int64_t offset) const {
  const int64_t matrix = offset / (rows * row_bytes);
  const int64_t row = offset / row_bytes % rows;
  const int64_t panel = offset % row_bytes / kPanelRowBytes;
  const int64_t piece = offset % kPanelRowBytes / kPanelPieceBytes;
  return matrix * rows * row_bytes + panel * PanelBytes() +
         row * kPanelRowBytes + (piece ^ row % kPanelRows) * kPanelPieceBytes +
         offset % kPanelPieceBytes;
}

bool SharedPanels::IsStep(int64_t step) const {
  return step >= 0 && step / row_bytes % kPanelRows == 0 &&
         step % row_bytes % kPanelRowBytes == 0;
}

std::optional<SharedPanels> PanelsOf(const loops::LoopNest& nest,
                                     const loops::MatrixOperation& product,
                                     NodeId subgroup, int64_t warps) {
  const ExpressionPool& pool = nest.pool;
  const loops::MatrixInMemory& b = product.b;
  const loops::Buffer& buffer = nest.buffers[b.buffer];
  const size_t rank = buffer.extents.size();
  if (buffer.scope != loops::MemoryScope::kTask || rank < 2)
    return std::nullopt;
  size_t row_dim = rank - 2;
  while (row_dim > 0 && pool.IntegerConstant(buffer.extents[row_dim]) == 1)
    --row_dim;
  const auto rows = pool.IntegerConstant(buffer.extents[row_dim]);
  const auto columns = pool.IntegerConstant(buffer.extents[rank - 1]);
  const auto count = pool.IntegerConstant(loops::ExtentOf(pool, subgroup));
  if (!rows || !columns || !count || *count % warps != 0) return std::nullopt;
  const int64_t bytes = DTypeByteSize(buffer.type);
  const SharedPanels panels = {*rows, *columns * bytes};
  if (*rows % kPanelRows != 0 || panels.row_bytes % kPanelRowBytes != 0)
    return std::nullopt;
  const bool is_row_major = b.IsRowMajor();
  if (is_row_major && !ReadsRowMajorB(loops::TypeOf(nest, product)))
    return std::nullopt;
  const NodeId across = is_row_major ? product.k : product.n;
  const NodeId along = is_row_major ? product.n : product.k;
  // A run is of a panel's columns, or of a whole number of panels.
  const int64_t run = is_row_major ? product.columns : product.depth;
  const int64_t of_panel = kPanelRowBytes / bytes;
  if (of_panel % run != 0 && run % of_panel != 0) return std::nullopt;
  const int64_t begins = std::min(run, of_panel);
  if (!std::has_single_bit(static_cast<uint64_t>(begins)) ||
      !IsBlock(pool, b.indices[row_dim], across, kPanelRows) ||
      !IsBlock(pool, b.indices[rank - 1], along, begins)) {
    return std::nullopt;
  }
  for (size_t d = 0; d < rank; ++d) {
    const NodeId index = b.indices[d];
    const bool is_of_matrix = d != row_dim && d + 1 < rank &&
                              (tensor::DependsOn(pool, index, across) ||
                               tensor::DependsOn(pool, index, along));
    if (is_of_matrix || !IsOfAllWarps(pool, index, subgroup, warps))
      return std::nullopt;
  }
  return panels;
}

bool HasPanelsForWideProducts(const loops::LoopNest& nest) {
  const auto in_phase = [&](const loops::Phase& phase) {
    return HavePanels(nest, phase.body, std::nullopt);
  };
  return std::ranges::all_of(nest.phases, in_phase);
}

bool MayStoreToPanels(const loops::LoopNest& nest, const loops::Store& store,
                      std::optional<NodeId> lane) {
  if (store.update != tensor::Update::kAssign) return false;
  const auto moves = [&](NodeId index) {
    return tensor::DependsOn(nest.pool, index, *lane);
  };
  if (!lane || std::ranges::none_of(store.indices, moves)) return true;
  const std::span<const NodeId> indices(store.indices);
  const auto lanes = nest.pool.IntegerConstant(nest.pool[*lane].operands[0]);
  if (!lanes || !std::has_single_bit(static_cast<uint64_t>(*lanes)))
    return false;
  const int64_t bytes = DTypeByteSize(nest.buffers[store.buffer].type);
  return *lanes * bytes <= kPanelPieceBytes &&
         std::ranges::none_of(indices.first(indices.size() - 1), moves) &&
         IsBlock(nest.pool, indices.back(), *lane, *lanes);
}

}  // namespace ember::jit::gpu
