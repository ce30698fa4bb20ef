#include "jit/target/shared_panels.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "jit/loops/analysis/divisibility.h"
#include "jit/loops/walk.h"
#include "jit/target/matrix_instructions.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/linear.h"

namespace ember::jit {

using loops::NodeId;
using tensor::ExpressionPool;
using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::Node;
using tensor::Opcode;

namespace {

// True if the index is the variable, with coefficient 1, plus terms that do not
// depend on it and are multiples of `begins`, a power of two. Terms that depend
// on the variable `apart` are not examined; the caller examines them.
bool IsBlockOf(const ExpressionPool& pool, const LinearSum& index,
               NodeId variable, int64_t begins,
               std::optional<NodeId> apart = std::nullopt) {
  if (loops::PowerOfTwoIn(index.constant) < begins) return false;
  bool moves = false;
  for (const LinearTerm& term : index.terms) {
    if (term.node == variable) {
      moves = term.coefficient == 1;
      if (!moves) return false;
      continue;
    }
    if (tensor::DependsOn(pool, term.node, variable)) return false;
    if (apart && tensor::DependsOn(pool, term.node, *apart)) continue;
    // The product cannot overflow, because each factor is at most 2^30.
    const int64_t multiple = loops::PowerOfTwoIn(term.coefficient) *
                             loops::DivisorOf(pool, term.node);
    if (multiple < begins) return false;
  }
  return moves;
}

// Returns the value that the expression has in subgroup number `number`;
// nothing if it depends on anything but the subgroup's number, or uses
// operations other than sums, products, quotients and remainders.
std::optional<int64_t> ValueFor(const ExpressionPool& pool, NodeId value,
                                NodeId subgroup, int64_t number) {
  if (value == subgroup) return number;
  if (const auto constant = pool.IntegerConstant(value)) return constant;
  const Node& node = pool[value];
  if (node.opcode != Opcode::kFloorDivide && node.opcode != Opcode::kModulo &&
      node.opcode != Opcode::kAdd && node.opcode != Opcode::kMultiply) {
    return std::nullopt;
  }
  const auto a = ValueFor(pool, node.operands[0], subgroup, number);
  const auto b = ValueFor(pool, node.operands[1], subgroup, number);
  if (!a || !b) return std::nullopt;
  if (node.opcode == Opcode::kAdd) return *a + *b;
  if (node.opcode == Opcode::kMultiply) return *a * *b;
  if (*a < 0 || *b <= 0) return std::nullopt;
  return node.opcode == Opcode::kFloorDivide ? *a / *b : *a % *b;
}

// The index of a buffer's dim along which a matrix extends: along the matrix's
// rows or along its columns.
struct PanelDim {
  LinearSum index;
  // variable of the matrix loop that this index moves with
  NodeId variable = 0;
  // A power of two, of which the index of the matrix's first element must be a
  // multiple.
  int64_t begins = 1;
  // distance in this dim from one warp's matrix to the next warp's
  int64_t warp_step = 0;
};

// Checks indices inside a loop over subgroups. Every `warps` consecutive
// subgroups form a group that executes an instruction together.
class PanelFinder {
 public:
  PanelFinder(const ExpressionPool& pool, NodeId subgroup, int64_t subgroups,
              int64_t warps)
      : pool_(pool),
        subgroup_(subgroup),
        subgroups_(subgroups),
        warps_(warps) {}

  // True if the index has one value for the whole matrix and for all warps of a
  // group.
  bool IsFixed(NodeId index, const PanelDim& across,
               const PanelDim& along) const {
    const auto sum = tensor::Linearize(pool_, index, /*by_ranges=*/false);
    return sum && !tensor::DependsOn(pool_, index, across.variable) &&
           !tensor::DependsOn(pool_, index, along.variable) &&
           HasSteps(*sum, /*begins=*/1, /*step=*/0);
  }

  // True if the matrix is aligned in this dim: the matrix of a group's first
  // warp begins at a multiple of dim.begins, and that of each next warp begins
  // dim.warp_step later.
  bool IsBlock(const PanelDim& dim) const {
    return IsBlockOf(pool_, dim.index, dim.variable, dim.begins, subgroup_) &&
           HasSteps(dim.index, dim.begins, dim.warp_step);
  }

 private:
  // True if the part of the index that depends on the subgroup is a multiple of
  // `begins` for the first warp of a group and grows by `step` from one warp to
  // the next.
  bool HasSteps(const LinearSum& sum, int64_t begins, int64_t step) const {
    int64_t first = 0;
    for (int64_t number = 0; number < subgroups_; ++number) {
      int64_t value = 0;
      for (const LinearTerm& term : sum.terms) {
        if (!tensor::DependsOn(pool_, term.node, subgroup_)) continue;
        const auto part = ValueFor(pool_, term.node, subgroup_, number);
        if (!part) return false;
        value += term.coefficient * *part;
      }
      const int64_t warp = number % warps_;
      if (warp == 0) first = value;
      if (first % begins != 0 || value != first + warp * step) return false;
    }
    return true;
  }

  const ExpressionPool& pool_;
  const NodeId subgroup_;
  const int64_t subgroups_;
  const int64_t warps_;
};

// A factor of a product that is read from panels. across: the index of the
// buffer's row; along: the index within a row; run: number of elements of a row
// that are read together.
struct PanelFactor {
  const loops::MatrixInMemory& matrix;
  PanelDim across, along;
  int64_t run = 0;
};

std::optional<SharedPanels> PanelsOf(const loops::LoopNest& nest,
                                     PanelFactor factor, NodeId subgroup,
                                     int64_t warps) {
  const ExpressionPool& pool = nest.pool;
  const loops::MatrixInMemory& matrix = factor.matrix;
  const loops::Buffer& buffer = nest.buffers[matrix.buffer];
  const size_t rank = buffer.extents.size();
  if (buffer.scope != loops::MemoryScope::kTask || rank < 2)
    return std::nullopt;
  const auto extent = [&](size_t dim) {
    return pool.IntegerConstant(buffer.extents[dim]);
  };
  size_t row_dim = rank - 2;
  while (row_dim > 0 && extent(row_dim) == 1) --row_dim;
  const auto rows = extent(row_dim), columns = extent(rank - 1);
  const auto count = pool.IntegerConstant(loops::ExtentOf(pool, subgroup));
  if (!rows || !columns || !count || *count % warps != 0) return std::nullopt;
  const int64_t bytes = DTypeByteSize(buffer.type);
  const SharedPanels panels = {{*rows, *columns * bytes}};
  if (*rows % kPanelRows != 0 || panels.row_bytes % kPanelRowBytes != 0)
    return std::nullopt;
  // The elements that are read together must lie within one panel or fill whole
  // panels.
  const int64_t of_panel = kPanelRowBytes / bytes;
  if (of_panel % factor.run != 0 && factor.run % of_panel != 0)
    return std::nullopt;
  const PanelFinder finder(pool, subgroup, *count, warps);
  const auto is_fixed = [&](size_t dim) {
    return finder.IsFixed(matrix.indices[dim], factor.across, factor.along);
  };
  const auto add = [&](size_t dim, int64_t stride, LinearSum& index) {
    const auto sum =
        tensor::Linearize(pool, matrix.indices[dim], /*by_ranges=*/false);
    if (sum) tensor::AddLinear(index, *sum, stride);
    return sum.has_value();
  };
  if (!add(row_dim, 1, factor.across.index) ||
      !add(rank - 1, 1, factor.along.index)) {
    return std::nullopt;
  }
  // If a row is one panel long, the rows of a matrix may continue in the next
  // outer dim of the buffer, as pixels continue in the next line of an image.
  size_t outer = row_dim;
  for (int64_t stride = *rows; outer > 0 && !is_fixed(outer - 1); --outer) {
    const auto more = extent(outer - 1);
    if (!more || panels.row_bytes != kPanelRowBytes ||
        !add(outer - 1, stride, factor.across.index)) {
      return std::nullopt;
    }
    stride *= *more;
  }
  factor.across.begins = kPanelRows;
  factor.along.begins = std::min(factor.run, of_panel);
  if (!std::has_single_bit(static_cast<uint64_t>(factor.along.begins)) ||
      !finder.IsBlock(factor.across) || !finder.IsBlock(factor.along)) {
    return std::nullopt;
  }
  for (size_t d = 0; d + 1 < rank; ++d) {
    const bool is_row = d >= outer && d <= row_dim;
    if (!is_row && !is_fixed(d)) return std::nullopt;
  }
  return panels;
}

// True if each product of the block whose instruction needs several warps can
// read matrix b from panels, and matrix a too if rows_too. subgroup: the
// variable of the surrounding loop over subgroups, if any.
bool HavePanels(const loops::LoopNest& nest, const loops::Block& block,
                std::optional<NodeId> subgroup, bool rows_too) {
  return std::ranges::all_of(block, [&](const loops::Statement& statement) {
    const bool is_loop = statement.kind == loops::Statement::Kind::kFor;
    if (!is_loop || statement.loop != loops::LoopKind::kMatrix) {
      const bool is_subgroup =
          is_loop && statement.loop == loops::LoopKind::kSubgroup;
      return HavePanels(nest, statement.body,
                        is_subgroup ? statement.variable : subgroup, rows_too);
    }
    if (!subgroup) return true;
    const auto operation = loops::MatrixOperationOf(nest, statement, *subgroup);
    if (!operation.ok() ||
        operation->kind != loops::MatrixOperation::Kind::kProduct) {
      return true;
    }
    const int64_t warps = WarpsOfMatrix(loops::TypeOf(nest, *operation));
    return warps == 1 ||
           (PanelsOfColumns(nest, *operation, *subgroup, warps) &&
            (!rows_too || PanelsOfRows(nest, *operation, *subgroup, warps)));
  });
}

}  // namespace

int64_t SharedPanels::PositionOf(int64_t offset) const {
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

std::optional<SharedPanels> PanelsOfColumns(
    const loops::LoopNest& nest, const loops::MatrixOperation& product,
    NodeId subgroup, int64_t warps) {
  const bool is_row_major = product.b.IsRowMajor();
  if (is_row_major && !ReadsRowMajorB(loops::TypeOf(nest, product)))
    return std::nullopt;
  return PanelsOf(nest,
                  {.matrix = product.b,
                   .across = {.variable = is_row_major ? product.k : product.n},
                   .along = {.variable = is_row_major ? product.n : product.k},
                   .run = is_row_major ? product.columns : product.depth},
                  subgroup, warps);
}

std::optional<SharedPanels> PanelsOfRows(const loops::LoopNest& nest,
                                         const loops::MatrixOperation& product,
                                         NodeId subgroup, int64_t warps) {
  PanelFactor factor = {
      .matrix = product.a,
      .across = {.variable = product.m, .warp_step = product.rows},
      .along = {.variable = product.k},
      .run = product.depth};
  if (!product.a.IsRowMajor()) {
    if (!TransposesMatricesOf(nest.buffers[product.a.buffer].type))
      return std::nullopt;
    std::swap(factor.across, factor.along);
    factor.run = warps * product.rows;
  }
  return PanelsOf(nest, factor, subgroup, warps);
}

int64_t BytesToNextWarp(const loops::LoopNest& nest,
                        const loops::MatrixOperation& product) {
  const int64_t bytes = DTypeByteSize(nest.buffers[product.a.buffer].type);
  return product.rows * (product.a.IsRowMajor() ? kPanelRowBytes : bytes);
}

bool HasPanelsForWideProducts(const loops::LoopNest& nest, bool rows_too) {
  const auto in_phase = [&](const loops::Phase& phase) {
    return HavePanels(nest, phase.body, std::nullopt, rows_too);
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
  const auto last =
      tensor::Linearize(nest.pool, indices.back(), /*by_ranges=*/false);
  return *lanes * bytes <= kPanelPieceBytes && last &&
         std::ranges::none_of(indices.first(indices.size() - 1), moves) &&
         IsBlockOf(nest.pool, *last, *lane, *lanes);
}

}  // namespace ember::jit
