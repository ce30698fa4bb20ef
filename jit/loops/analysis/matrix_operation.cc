#include "jit/loops/analysis/matrix_operation.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/float_format.h"
#include "jit/loops/analysis/divisibility.h"
#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/linear.h"

namespace ember::loops {
namespace {

using tensor::ExpressionPool;
using tensor::Node;
using tensor::Opcode;

Status Wrong(std::string_view expected) {
  return InvalidArgumentError(Concat({"a matrix loop: expected ", expected}));
}

bool IsMatrixLoop(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor &&
         statement.loop == LoopKind::kMatrix;
}

class Finder {
 public:
  Finder(const LoopNest& nest, NodeId subgroup)
      : nest_(nest), pool_(nest.pool), subgroup_(subgroup) {}

  StatusOr<MatrixOperation> Run(const Statement& loop) {
    EMBER_RETURN_IF_ERROR(FindLoops(loop));
    const Store& store = *result_.store;
    if (variables_.size() == 3) {
      EMBER_RETURN_IF_ERROR(FindProduct(store));
    } else if (pool_[store.value].opcode == Opcode::kConstant) {
      EMBER_RETURN_IF_ERROR(FindFill(store));
    } else {
      EMBER_RETURN_IF_ERROR(FindStore(store));
    }
    return result_;
  }

 private:
  Status FindLoops(const Statement& outermost) {
    const Statement* statement = &outermost;
    for (; IsMatrixLoop(*statement); statement = &statement->body[0]) {
      variables_.push_back(statement->variable);
      if (variables_.size() > 3 || statement->body.size() != 1)
        return Wrong("two or three loops, each alone in the one around it");
    }
    if (variables_.size() < 2)
      return Wrong("two or three loops, each alone in the one around it");
    if (statement->kind != Statement::Kind::kStore ||
        statement->stores.size() != 1) {
      return Wrong("one store of one value");
    }
    result_.store = &statement->stores[0];
    NodeId* const places[] = {&result_.m, &result_.n, &result_.k};
    int64_t* const extents[] = {&result_.rows, &result_.columns,
                                &result_.depth};
    for (size_t i = 0; i < variables_.size(); ++i) {
      *places[i] = variables_[i];
      *extents[i] =
          pool_.IntegerConstant(ExtentOf(pool_, variables_[i])).value_or(0);
    }
    return OkStatus();
  }

  Status FindFill(const Store& store) {
    result_.kind = MatrixOperation::Kind::kFill;
    result_.value = store.value;
    if (store.update != tensor::Update::kAssign)
      return Wrong("a matrix to be filled by an assignment");
    return FindAccumulator(store.buffer, store.indices);
  }

  Status FindStore(const Store& store) {
    result_.kind = MatrixOperation::Kind::kStore;
    const Node& value = pool_[store.value];
    if (store.update != tensor::Update::kAssign ||
        value.opcode != Opcode::kLoad) {
      return Wrong("a constant, or the assignment of an accumulator");
    }
    EMBER_RETURN_IF_ERROR(FindAccumulator(value.buffer, value.operands));
    EMBER_RETURN_IF_ERROR(FindInMemory(store.buffer, store.indices, result_.m,
                                       result_.n, result_.destination));
    const MatrixInMemory& to = result_.destination;
    const int64_t run = to.IsRowMajor() ? result_.columns : result_.rows;
    return to.stride() >= run ? OkStatus() : Wrong("rows that do not overlap");
  }

  Status FindProduct(const Store& store) {
    result_.kind = MatrixOperation::Kind::kProduct;
    const Node& product = pool_[store.value];
    if (store.update != tensor::Update::kAdd ||
        product.opcode != Opcode::kMultiply) {
      return Wrong("a product, added to an accumulator");
    }
    EMBER_RETURN_IF_ERROR(FindAccumulator(store.buffer, store.indices));
    std::vector<NodeId> loads;
    for (NodeId factor : product.operands) {
      const NodeId load = pool_[factor].opcode == Opcode::kCast
                              ? pool_[factor].operands[0]
                              : factor;
      if (pool_[load].opcode != Opcode::kLoad ||
          (load != factor) == (pool_[load].type == product.type)) {
        return Wrong("factors that are loads, cast to the sum's type");
      }
      loads.push_back(load);
    }
    if (tensor::DependsOn(pool_, loads[0], result_.n))
      std::swap(loads[0], loads[1]);
    const Node &a = pool_[loads[0]], &b = pool_[loads[1]];
    if (!IsMatrixProductType(a.type, b.type, product.type)) {
      return InvalidArgumentError(Concat(
          {"a matrix loop: there are no products of ", DTypeName(a.type),
           " and ", DTypeName(b.type), " in ", DTypeName(product.type)}));
    }
    if (tensor::DependsOn(pool_, loads[0], result_.n) ||
        tensor::DependsOn(pool_, loads[1], result_.m)) {
      return Wrong(
          "a factor without the variable of the columns, and one "
          "without that of the rows");
    }
    EMBER_RETURN_IF_ERROR(
        FindInMemory(a.buffer, a.operands, result_.m, result_.k, result_.a));
    return FindInMemory(b.buffer, b.operands, result_.k, result_.n, result_.b);
  }

  Status FindAccumulator(uint32_t number, std::span<const NodeId> indices) {
    const Buffer& buffer = nest_.buffers[number];
    const size_t rank = buffer.extents.size();
    const bool is_accumulator =
        buffer.scope == MemoryScope::kRegister && rank >= 3 &&
        indices.size() == rank && indices[0] == subgroup_ &&
        indices[rank - 2] == result_.m && indices[rank - 1] == result_.n &&
        pool_.IntegerConstant(buffer.extents[rank - 2]) == result_.rows &&
        pool_.IntegerConstant(buffer.extents[rank - 1]) == result_.columns;
    if (!is_accumulator) {
      return Wrong(
          "registers of the subgroup that are a matrix in their last "
          "two dims");
    }
    for (NodeId index : indices.subspan(1, rank - 3)) {
      for (NodeId variable : variables_) {
        if (tensor::DependsOn(pool_, index, variable))
          return Wrong("the same accumulator each time");
      }
    }
    result_.accumulator = number;
    result_.accumulator_indices = indices;
    return OkStatus();
  }

  // Fills in `matrix` from the indices of an access. `row` and `column` are the
  // loop variables that number the matrix's rows and columns.
  Status FindInMemory(uint32_t number, std::span<const NodeId> indices,
                      NodeId row, NodeId column, MatrixInMemory& matrix) {
    const Buffer& buffer = nest_.buffers[number];
    if (buffer.scope == MemoryScope::kRegister ||
        indices.size() != buffer.extents.size()) {
      return Wrong("factors and results in memory");
    }
    matrix.buffer = number;
    matrix.indices = indices;
    // `step`: the distance in elements between neighbouring indices of dim d;
    // nullopt if it depends on a parameter. `step_divisor`: a power of two that
    // divides the distance.
    std::optional<int64_t> step = 1;
    int64_t step_divisor = 1, begin_divisor = kLargestDivisor;
    const auto note = [&](int64_t divisor) {
      begin_divisor = std::min(begin_divisor, divisor);
    };
    for (size_t d = indices.size(); d-- > 0;) {
      const auto sum =
          tensor::Linearize(pool_, indices[d], /*by_ranges=*/false);
      if (!sum) return Wrong("indices that are sums");
      note(Times(PowerOfTwoIn(sum->constant), step_divisor));
      for (const tensor::LinearTerm& term : sum->terms) {
        if (term.node != row && term.node != column) {
          if (HasLoad(term.node)) return Wrong("indices without loads");
          if (tensor::DependsOn(pool_, term.node, row) ||
              tensor::DependsOn(pool_, term.node, column)) {
            return Wrong("indices that move evenly with the loops");
          }
          note(Times(Times(PowerOfTwoIn(term.coefficient),
                           DivisorOf(pool_, term.node)),
                     step_divisor));
          continue;
        }
        int64_t& stride =
            term.node == row ? matrix.row_stride : matrix.column_stride;
        int64_t more = 0;
        if (!step || __builtin_mul_overflow(*step, term.coefficient, &more) ||
            __builtin_add_overflow(stride, more, &stride)) {
          return Wrong("a constant stride between rows");
        }
      }
      const auto extent = pool_.IntegerConstant(buffer.extents[d]);
      step_divisor = Times(step_divisor, DivisorOf(pool_, buffer.extents[d]));
      int64_t next = 0;
      if (step && extent && !__builtin_mul_overflow(*step, *extent, &next))
        step = next;
      else
        step.reset();
    }
    if ((matrix.row_stride != 1 && matrix.column_stride != 1) ||
        matrix.row_stride < 1 || matrix.column_stride < 1) {
      return Wrong("one dim to move by 1 and the other by a stride");
    }
    return CheckAlignment(
        ExtentOfRun(matrix, row, column),
        std::min(begin_divisor, PowerOfTwoIn(matrix.stride())),
        DTypeByteSize(buffer.type));
  }

  int64_t ExtentOfRun(const MatrixInMemory& matrix, NodeId row,
                      NodeId column) const {
    const NodeId moves = matrix.IsRowMajor() ? column : row;
    return pool_.IntegerConstant(ExtentOf(pool_, moves)).value_or(0);
  }

  static Status CheckAlignment(int64_t run, int64_t divisor, int64_t bytes) {
    const int64_t wanted =
        std::min(kMatrixAlignment, PowerOfTwoIn(run * bytes));
    if (divisor * bytes >= wanted) return OkStatus();
    return InvalidArgumentError(
        Concat({"a matrix loop: expected rows that begin at multiples of ",
                wanted, " bytes, found a proof of ", divisor * bytes}));
  }

  bool HasLoad(NodeId root) const {
    return std::ranges::any_of(NodesUnder(pool_, {&root, 1}), [&](NodeId id) {
      return pool_[id].opcode == Opcode::kLoad ||
             pool_[id].opcode == Opcode::kPad;
    });
  }

  // Multiplies two powers of two; the result is at most kLargestDivisor.
  static int64_t Times(int64_t a, int64_t b) {
    return std::min(a * b, kLargestDivisor);
  }

  const LoopNest& nest_;
  const ExpressionPool& pool_;
  const NodeId subgroup_;
  // Variables of the matrix loops, outermost first.
  std::vector<NodeId> variables_;
  MatrixOperation result_;
};

}  // namespace

bool IsMatrixProductType(DType a, DType b, DType sum) {
  const auto is_byte = [](DType type) {
    return type == DType::kI8 || type == DType::kU8;
  };
  if (sum == DType::kI32) return is_byte(a) && is_byte(b);
  if (IsFloat8(a) && IsFloat8(b)) return sum == DType::kF32;
  if (a != b) return false;
  if (a == DType::kBF16 || a == DType::kF32) return sum == DType::kF32;
  return a == DType::kF16 && (sum == DType::kF32 || sum == DType::kF16);
}

std::optional<MatrixType> ParseMatrixType(std::string_view text) {
  MatrixType type;
  int64_t* const sizes[] = {&type.rows, &type.columns, &type.depth};
  DType* const types[] = {&type.a, &type.b, &type.sum};
  for (int i = 0; i < 3; ++i) {
    const size_t end = text.find(i < 2 ? 'x' : ':');
    if (end == std::string_view::npos) return std::nullopt;
    const char* const last = text.data() + end;
    const auto read = std::from_chars(text.data(), last, *sizes[i]);
    if (read.ec != std::errc() || read.ptr != last || *sizes[i] < 1 ||
        *sizes[i] > kMaxMatrixExtent) {
      return std::nullopt;
    }
    text.remove_prefix(end + 1);
  }
  for (int i = 0; i < 3; ++i) {
    const size_t end = i < 2 ? text.find(':') : text.size();
    if (end == std::string_view::npos) return std::nullopt;
    const std::optional<DType> named = DTypeFromName(text.substr(0, end));
    if (!named) return std::nullopt;
    *types[i] = *named;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!IsMatrixProductType(type.a, type.b, type.sum)) return std::nullopt;
  return type;
}

std::string ToText(const MatrixType& type) {
  return Concat({type.rows, "x", type.columns, "x", type.depth, ":",
                 DTypeName(type.a), ":", DTypeName(type.b), ":",
                 DTypeName(type.sum)});
}

MatrixType TypeOf(const LoopNest& nest, const MatrixOperation& product) {
  return {product.rows,
          product.columns,
          product.depth,
          nest.buffers[product.a.buffer].type,
          nest.buffers[product.b.buffer].type,
          nest.buffers[product.accumulator].type};
}

StatusOr<MatrixOperation> MatrixOperationOf(const LoopNest& nest,
                                            const Statement& loop,
                                            NodeId subgroup) {
  return Finder(nest, subgroup).Run(loop);
}

}  // namespace ember::loops
