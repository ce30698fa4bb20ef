// Imports norms of vectors and matrices, distances, and limits of norms.
#include <cmath>
#include <utility>
#include <vector>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Returns the norms of matrices, whose rows and columns are along the axes
// `rows` and `columns` of x.
Tensor MatrixNorm(Call& c, const Tensor& x, double order, int rows, int columns,
                  bool keep) {
  const bool by_rows = std::isinf(order);
  if (!by_rows && std::abs(order) != 1) {
    c.FailUnsupported(
        "ord: expected a matrix norm of order 1, -1, inf, -inf or 'fro', as "
        "others need a decomposition of the matrix");
    return x;
  }
  const int summed = by_rows ? columns : rows;
  const int rest = by_rows ? rows : columns;
  const Tensor sums = ops::Reduce(ops::Absolute(x), "sum", {summed}, true);
  const Tensor best =
      ops::Reduce(sums, order > 0 ? "maximum" : "minimum", {rest}, true);
  if (keep) return best;
  return ops::Squeeze(best, {std::min(rows, columns), std::max(rows, columns)});
}
Tensor VectorNorm(Call& c, const Tensor& x, const Value& order,
                  const std::vector<int64_t>& axes, bool keep) {
  std::vector<Value> dims;
  for (const int64_t axis : axes) dims.push_back(Value::Int(Dim(axis)));
  return CallTensorRow(c, "aten::linalg_vector_norm",
                       {{"self", c.machine().NewTensor(x)},
                        {"ord", order},
                        {"dim", c.machine().NewList(std::move(dims))},
                        {"keepdim", Value::Bool(keep)}});
}
Tensor InNormType(Call& c, const Tensor& x) {
  return ops::Cast(x, c.dtype("dtype", x.is_float() ? x.dtype() : DType::kF32));
}
bool TwoAxes(Call& c, const std::vector<int64_t>& axes) {
  if (axes.size() == 2 && axes[0] != axes[1]) return c.ok();
  c.FailInvalid("dim: expected two axes that differ for a matrix norm");
  return false;
}
Tensor LinalgNorm(Call& c) {
  Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  x = InNormType(c, x);
  const bool keep = c.flag("keepdim");
  std::vector<int64_t> axes;
  if (c.has("dim"))
    for (const int64_t axis : c.integers("dim"))
      axes.push_back(NormalAxis(c.machine(), axis, x.rank()));
  if (!c.ok()) return x;
  const bool has_axes = !axes.empty();
  if (!has_axes) axes = AllAxes(x);
  const Value& order = c.value("ord");
  if (order.is_none()) return VectorNorm(c, x, Value::Float(2), axes, keep);
  if (axes.size() == 1) return VectorNorm(c, x, order, axes, keep);
  if (!TwoAxes(c, axes)) return x;
  return MatrixNorm(c, x, c.number("ord"), static_cast<int>(axes[0]),
                    static_cast<int>(axes[1]), keep);
}
Tensor NormByName(Call& c) {
  Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  x = InNormType(c, x);
  if (c.text("ord") != "fro") {
    c.FailUnsupported("ord: expected 'fro', found '" + c.text("ord") + "'");
    return x;
  }
  std::vector<int64_t> axes = AllAxes(x);
  if (c.has("dim")) axes = c.axes("dim", x.rank());
  return c.ok() ? VectorNorm(c, x, Value::Float(2), axes, c.flag("keepdim"))
                : x;
}
std::vector<int64_t> MatrixAxes(Call& c, const Tensor& x) {
  std::vector<int64_t> axes = {x.rank() - 2, x.rank() - 1};
  if (c.has("dim")) axes = c.integers("dim", 2);
  for (int64_t& axis : axes) axis = NormalAxis(c.machine(), axis, x.rank());
  return axes;
}
Tensor LinalgMatrixNorm(Call& c) {
  Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 2)) return x;
  x = InNormType(c, x);
  const std::vector<int64_t> axes = MatrixAxes(c, x);
  if (!TwoAxes(c, axes)) return x;
  return MatrixNorm(c, x, c.number("ord"), static_cast<int>(axes[0]),
                    static_cast<int>(axes[1]), c.flag("keepdim"));
}
Tensor MatrixNormByName(Call& c) {
  Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 2)) return x;
  x = InNormType(c, x);
  const std::vector<int64_t> axes = MatrixAxes(c, x);
  if (!TwoAxes(c, axes)) return x;
  if (c.text("ord") != "fro") {
    c.FailUnsupported("ord: expected 'fro', found '" + c.text("ord") + "'");
    return x;
  }
  return VectorNorm(c, x, Value::Float(2), axes, c.flag("keepdim"));
}

// Imports dist: the norm of the difference of two tensors.
Tensor Distance(Call& c) {
  const DType type = FloatResultType(c, {"self", "other"});
  const Tensor apart = c.scalar("self", type) - c.scalar("other", type);
  if (!c.ok()) return apart;
  return VectorNorm(c, apart, c.value("p"), AllAxes(apart), false);
}
Tensor PairwiseDistance(Call& c) {
  const DType type = FloatResultType(c, {"x1", "x2"});
  const Tensor apart =
      c.scalar("x1", type) - c.scalar("x2", type) + c.number("eps");
  if (!c.CheckRank("x1", apart, 1)) return apart;
  return VectorNorm(c, apart, c.value("p"), {apart.rank() - 1},
                    c.flag("keepdim"));
}
// Imports pdist: the distances of all pairs of rows, in the order (0, 1), (0,
// 2), …, (1, 2), ….
Tensor RowDistances(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 2, 2)) return x;
  const std::optional<int64_t> rows = x.dim(0).AsConstant();
  if (!rows || *rows > 4096) {
    c.FailUnsupported(
        "self: expected a known number of rows, at most 4096, "
        "found " +
        x.dim(0).ToString());
    return x;
  }
  std::vector<int64_t> first;
  std::vector<int64_t> second;
  for (int64_t i = 0; i < *rows; ++i)
    for (int64_t j = i + 1; j < *rows; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  const auto taken = [&](const std::vector<int64_t>& places) {
    return ops::Gather(x, Tensor(&c.builder(), c.builder().Integers(places)),
                       0);
  };
  return VectorNorm(c, taken(first) - taken(second), c.value("p"), {1}, false);
}

// Returns, for each slice along `axis`, the factor (at most 1) that scales its
// norm down to at most `most`. The other axes stay as dims of 1.
Tensor NormLimit(Call& c, const Tensor& x, const Value& order, double most,
                 int axis) {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) axes.push_back(i);
  const Tensor norm = VectorNorm(c, x, order, axes, true);
  if (!c.ok()) return x;
  return ops::Select(ops::Less(most, norm), most / (norm + 1e-7), norm.Like(1));
}
// Imports renorm, which scales down the slices whose norm is above a limit.
Tensor Renorm(Call& c) {
  const Tensor x = c.tensor("self");
  const double most = c.number("maxnorm");
  const int axis = c.axis("dim", x.rank());
  if (!c.CheckRank("self", x, 2)) return x;
  return x * NormLimit(c, x, c.value("p"), most, axis);
}
// Imports embedding_renorm, which scales down only those rows that the indices
// name.
Tensor EmbeddingRenorm(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor index = c.Indices("indices");
  const double most = c.number("max_norm");
  if (!c.CheckRank("self", x, 2, 2)) return x;
  const Tensor limit = NormLimit(c, x, c.value("norm_type"), most, 0);
  if (!c.ok()) return x;
  const Dim count = graph::ElementCount(index.shape());
  const Tensor none = ops::Broadcast(limit.Like(1), limit.shape());
  const Tensor flat = ops::Reshape(index, {count});
  const Tensor factors =
      Apply("scatter_nd",
            {none, ops::Unsqueeze(flat, {1}), ops::Gather(limit, flat, 0)},
            {{"update", std::string("assign")}});
  return x * factors;
}

constexpr OperatorRow kRows[] = {
    {"linalg_norm(Tensor self, Scalar? ord=None, int[]? dim=None, "
     "bool keepdim=False, *, ScalarType? dtype=None)",
     LinalgNorm},
    {"linalg_norm(Tensor self, str ord, int[]? dim=None, bool keepdim=False, "
     "*, ScalarType? dtype=None)",
     NormByName},
    {"linalg_matrix_norm(Tensor self, Scalar ord, int[]? dim=None, "
     "bool keepdim=False, *, ScalarType? dtype=None)",
     LinalgMatrixNorm},
    {"linalg_matrix_norm(Tensor self, str ord='fro', int[]? dim=None, "
     "bool keepdim=False, *, ScalarType? dtype=None)",
     MatrixNormByName},
    {"dist(Tensor self, Tensor other, Scalar p=2)", Distance},
    {"pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, "
     "bool keepdim=False)",
     PairwiseDistance},
    {"pdist(Tensor self, float p=2)", RowDistances},
    {"_pdist_forward(Tensor self, float p=2)", RowDistances},
    {"renorm(Tensor self, Scalar p, int dim, Scalar maxnorm)", Renorm},
    {"embedding_renorm(Tensor self, Tensor indices, float max_norm, "
     "float norm_type)",
     EmbeddingRenorm},
};

}  // namespace

std::span<const OperatorRow> NormRows() { return kRows; }

}  // namespace ember::torchscript
