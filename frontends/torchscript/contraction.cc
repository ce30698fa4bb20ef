// Imports products of matrices, and attention.
#include <cmath>
#include <limits>

#include "frontends/ops/einsum.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Returns false, with a message, if two operands cannot be multiplied: the
// extents of the summed axes are known to differ, or the types differ.
bool CheckProduct(Call& c, std::string_view name, const Tensor& x,
                  std::string_view weight_name, const Tensor& weight,
                  int weight_axis) {
  if (!CheckNumbers(c, name, x, weight_name, weight)) return false;
  const Dim& taken = weight.dim(weight_axis);
  const Dim apart = x.dim(-1) - taken;
  if (!apart.is_constant() || apart == Dim(0)) return true;
  c.FailInvalid(std::string(name) + ": expected a last dim of " +
                taken.ToString() + ", as '" + std::string(weight_name) +
                "' takes, found " + x.dim(-1).ToString() + " in " +
                std::string(DTypeName(x.dtype())) +
                graph::ShapeToString(x.shape()));
  return false;
}
// Computes a linear layer: x times the transpose of the weight [out, in], plus
// bias.
Tensor LinearOf(Call& c, const Tensor& x, const Tensor& weight,
                const Tensor& bias) {
  if (!c.CheckRank("input", x, 1) || !c.CheckRank("weight", weight, 1, 2))
    return x;
  if (!CheckProduct(c, "input", x, "weight", weight, -1)) return x;
  std::vector<int64_t> swapped = {0};
  if (weight.rank() == 2) swapped = {1, 0};
  const Tensor y = ops::MatMul(x, ops::Transpose(weight, swapped));
  return bias ? y + bias : y;
}
Tensor Linear(Call& c) {
  return LinearOf(c, c.tensor("input"), c.tensor("weight"), c.tensor("bias"));
}
Tensor MatMul(Call& c) {
  const Tensor a = c.tensor("self");
  const Tensor b = c.tensor("other");
  if (!c.CheckRank("self", a, 1) || !c.CheckRank("other", b, 1)) return a;
  if (!CheckProduct(c, "self", a, "other", b, b.rank() > 1 ? -2 : -1)) return a;
  return ops::MatMul(a, b);
}
// Returns `count` letters for an equation of dims: 'a' + first and the
// following ones.
std::string Labels(int first, int count) {
  std::string labels;
  for (int i = 0; i < count; ++i) labels += static_cast<char>('a' + first + i);
  return labels;
}
// Imports a product (mm, mv, dot, bmm) whose operands must have exactly the
// given ranks.
Tensor Product(Call& c, int a_rank, std::string_view other, int b_rank) {
  const Tensor a = c.tensor("self");
  const Tensor b = c.tensor(other);
  if (!c.CheckRank("self", a, a_rank, a_rank) ||
      !c.CheckRank(other, b, b_rank, b_rank) ||
      !CheckProduct(c, "self", a, other, b, b_rank > 1 ? -2 : -1))
    return a;
  return ops::MatMul(a, b);
}
Tensor Mm(Call& c) { return Product(c, 2, "mat2", 2); }
Tensor Bmm(Call& c) { return Product(c, 3, "mat2", 3); }
Tensor Mv(Call& c) { return Product(c, 2, "vec", 1); }
Tensor Dot(Call& c) { return Product(c, 1, "tensor", 1); }
Tensor Vdot(Call& c) { return Product(c, 1, "other", 1); }
Tensor Outer(Call& c) {
  const DType type = ResultType(c, {"self", "vec2"});
  const Tensor a = c.scalar("self", type);
  const Tensor b = c.scalar("vec2", type);
  if (!c.CheckRank("self", a, 1, 1) || !c.CheckRank("vec2", b, 1, 1)) return a;
  return Times(ops::AlongAxis(a, 0, 2), ops::AlongAxis(b, 1, 2));
}
// Imports inner: the sums of products along the last axes of both operands. If
// an operand has no dims, the result is the product with this number.
Tensor Inner(Call& c) {
  const Tensor a = c.tensor("self");
  const Tensor b = c.tensor("tensor");
  if (!c.ok()) return a;
  if (a.rank() == 0 || b.rank() == 0) return a * b;
  if (a.rank() == 1 && b.rank() == 1) return ops::MatMul(a, b);
  const std::string left = Labels(0, a.rank() - 1);
  const std::string right = Labels(a.rank() - 1, b.rank() - 1);
  if (left.size() + right.size() > 25) {
    c.FailUnsupported("expected at most 25 dims in the result");
    return a;
  }
  return ops::Einsum(c.builder(), left + "z," + right + "z->" + left + right,
                     {a, b});
}

// Returns beta * self + alpha * (a b), given the product a b. As in PyTorch, a
// factor of 0 leaves its term out, even if the term has NaNs.
Tensor Accumulated(Call& c, const Tensor& product) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  const Value& alpha = c.value("alpha");
  const Value& beta = c.value("beta");
  Tensor y = product;
  const bool no_product = alpha.is_known_number() && alpha.known_number() == 0;
  if (no_product)
    y = ops::Broadcast(product.Like(0), product.shape());
  else if (!alpha.is_known_number() || alpha.known_number() != 1)
    y = y * c.scalar("alpha", y.dtype());
  if (beta.is_known_number() && beta.known_number() == 0) return y;
  if (beta.is_known_number() && beta.known_number() == 1) return y + x;
  return y + x * c.scalar("beta", x.dtype());
}
Tensor ProductOf(Call& c, std::string_view a_name, int a_rank,
                 std::string_view b_name, int b_rank) {
  const Tensor a = c.tensor(a_name);
  const Tensor b = c.tensor(b_name);
  if (!c.CheckRank(a_name, a, a_rank, a_rank) ||
      !c.CheckRank(b_name, b, b_rank, b_rank) ||
      !CheckProduct(c, a_name, a, b_name, b, b_rank > 1 ? -2 : -1))
    return a;
  return ops::MatMul(a, b);
}
Tensor AddMm(Call& c) {
  return Accumulated(c, ProductOf(c, "mat1", 2, "mat2", 2));
}
Tensor AddMv(Call& c) {
  return Accumulated(c, ProductOf(c, "mat", 2, "vec", 1));
}
Tensor BAddBmm(Call& c) {
  return Accumulated(c, ProductOf(c, "batch1", 3, "batch2", 3));
}
Tensor AddBmm(Call& c) {
  const Tensor products = ProductOf(c, "batch1", 3, "batch2", 3);
  return Accumulated(c, ops::Reduce(products, "sum", {0}, false));
}

// True if an einsum sums over a label that only one operand has, so that this
// operand is summed before any product.
bool SumsOneOperand(const std::string& equation) {
  const size_t arrow = equation.find("->");
  const bool has_result = arrow != std::string::npos;
  const std::string result = has_result ? equation.substr(arrow + 2) : "";
  const std::string operands = equation.substr(0, arrow);
  const bool is_one = operands.find(',') == std::string::npos;
  for (size_t i = 0; i < operands.size(); ++i) {
    const char label = operands[i];
    if (label == ' ' || label == ',' || (label == '.' && !is_one)) continue;
    if (!has_result && label == '.') continue;
    if (result.find(label) != std::string::npos) continue;
    // The label is not in the result, so it is summed; `in_one`: only one
    // operand has it. If the equation states no result, a label that occurs
    // once is not summed but part of the result.
    const size_t first = operands.find(label);
    const size_t last = operands.rfind(label);
    const bool in_one = operands.find(',', first) >= last;
    if (in_one && (has_result || first != last)) return true;
  }
  return false;
}
Tensor Einsum(Call& c) {
  std::vector<Tensor> operands = InOneType(c, c.tensors("tensors"));
  const std::string equation = c.text("equation");
  if (!c.ok()) return {};
  if (operands.empty()) {
    c.FailInvalid("expected operands, found none");
    return {};
  }
  // PyTorch sums the dims of a single operand by torch.sum, which sums integers
  // in i64, so all integer operands are cast to i64.
  if (!operands[0].is_float() && SumsOneOperand(equation))
    for (Tensor& operand : operands) operand = ops::Cast(operand, DType::kI64);
  return ops::Einsum(c.builder(), equation, operands);
}
// Imports tensordot, which contracts given axes of both operands.
Tensor TensorDot(Call& c) {
  const Tensor a = c.tensor("self");
  const Tensor b = c.tensor("other");
  std::vector<int64_t> of_a = c.integers("dims_self");
  std::vector<int64_t> of_b = c.integers("dims_other");
  if (!CheckNumbers(c, "self", a, "other", b)) return a;
  if (of_a.size() != of_b.size() || a.rank() + b.rank() > 26) {
    c.FailInvalid("expected as many axes of one operand as of the other");
    return a;
  }
  std::string left;
  std::string right;
  for (int i = 0; i < a.rank(); ++i) left += static_cast<char>('a' + i);
  for (int i = 0; i < b.rank(); ++i)
    right += static_cast<char>('a' + a.rank() + i);
  for (size_t i = 0; i < of_a.size(); ++i) {
    const int x = NormalAxis(c.machine(), of_a[i], a.rank());
    const int y = NormalAxis(c.machine(), of_b[i], b.rank());
    if (!c.ok()) return a;
    right[static_cast<size_t>(y)] = left[static_cast<size_t>(x)];
  }
  std::string result;
  for (const char label : left)
    if (right.find(label) == std::string::npos) result += label;
  for (const char label : right)
    if (left.find(label) == std::string::npos) result += label;
  return ops::Einsum(c.builder(), left + "," + right + "->" + result, {a, b});
}
// Imports bilinear: the sum over i, j of a[…, i] w[o, i, j] b[…, j], plus bias.
Tensor Bilinear(Call& c) {
  const Tensor a = c.tensor("input1");
  const Tensor b = c.tensor("input2");
  const Tensor w = c.tensor("weight");
  const Tensor bias = c.tensor("bias");
  if (!c.CheckRank("weight", w, 3, 3)) return a;
  const Tensor half = ops::Einsum(c.builder(), "...i,oij->...oj", {a, w});
  const Tensor y = ops::Einsum(c.builder(), "...oj,...j->...o", {half, b});
  return bias ? y + bias : y;
}
Tensor ChainMatMul(Call& c) {
  const std::vector<Tensor> matrices = c.tensors("matrices");
  if (!c.ok() || matrices.empty()) {
    c.FailInvalid("expected matrices, found none");
    return {};
  }
  Tensor y = matrices[0];
  for (size_t i = 1; i < matrices.size(); ++i) y = ops::MatMul(y, matrices[i]);
  return y;
}

// Imports scaled_dot_product_attention: softmax(q k^T scale + mask) v.
Tensor Attention(Call& c) {
  Tensor query = c.tensor("query");
  Tensor key = c.tensor("key");
  Tensor value = c.tensor("value");
  if (!c.CheckRank("query", query, 2) || !c.CheckRank("key", key, 2) ||
      !c.CheckRank("value", value, 2))
    return query;
  // In grouped-query attention there are fewer key heads than query heads. The
  // keys and values are repeated, so that each query head has its own.
  if (c.flag("enable_gqa") && query.rank() == 4) {
    const Dim times = FloorDivide(query.dim(1), key.dim(1));
    key = ops::RepeatEach(key, 1, times);
    value = ops::RepeatEach(value, 1, times);
  }
  const DType type = query.dtype();
  const DType wide = ComputeType(type);
  Tensor scale;
  if (c.has("scale")) {
    scale = c.scalar("scale", wide);
  } else {
    const Tensor width =
        ops::Cast(ops::DimScalar(c.builder(), query.dim(-1)), wide);
    scale = 1.0 / ops::Sqrt(width);
  }
  std::vector<int64_t> swapped(static_cast<size_t>(key.rank()));
  for (size_t i = 0; i < swapped.size(); ++i)
    swapped[i] = static_cast<int64_t>(i);
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  Tensor scores = ops::MatMul(ops::Cast(query, wide) * scale,
                              ops::Transpose(ops::Cast(key, wide), swapped));
  const double lowest = -std::numeric_limits<double>::infinity();
  if (c.flag("is_causal")) {
    const Tensor rows = ops::AlongAxis(
        IotaVector(c.builder(), scores.dim(-2), DType::kI64), 0, 2);
    const Tensor columns = ops::AlongAxis(
        IotaVector(c.builder(), scores.dim(-1), DType::kI64), 1, 2);
    scores =
        ops::Select(ops::LessEqual(columns, rows), scores, scores.Like(lowest));
  }
  if (c.has("attn_mask")) {
    const Tensor mask = c.tensor("attn_mask");
    scores = mask.dtype() == DType::kBool
                 ? ops::Select(mask, scores, scores.Like(lowest))
                 : scores + ops::Cast(mask, wide);
  }
  if (!c.ok()) return query;
  const Tensor weights = ops::Softmax(scores, scores.rank() - 1);
  return ops::Cast(ops::MatMul(weights, ops::Cast(value, wide)), type);
}

// Imports cdist: the distances between the rows of x1 [.., P, M] and those of
// x2 [.., R, M].
Tensor Cdist(Call& c) {
  const Tensor a = c.tensor("x1");
  const Tensor b = c.tensor("x2");
  const double p = c.number("p");
  if (!c.CheckRank("x1", a, 2) || !c.CheckRank("x2", b, 2)) return a;
  const Tensor apart = ops::Absolute(ops::Unsqueeze(a, {a.rank() - 1}) -
                                     ops::Unsqueeze(b, {b.rank() - 2}));
  const std::vector<int64_t> last = {apart.rank() - 1};
  if (std::isinf(p)) return ops::Reduce(apart, "maximum", last, false);
  if (p == 0) {
    const Tensor differs = ops::NotEqual(apart, 0);
    return ops::Reduce(ops::Cast(differs, apart.dtype()), "sum", last, false);
  }
  if (p == 1) return ops::Reduce(apart, "sum", last, false);
  if (p == 2) return ops::Sqrt(ops::Reduce(apart * apart, "sum", last, false));
  return ops::Power(ops::Reduce(ops::Power(apart, p), "sum", last, false),
                    1 / p);
}

Tensor Cross(Call& c) {
  Tensor a = c.tensor("self");
  Tensor b = c.tensor("other");
  if (!BroadcastTogether(c, a, b)) return a;
  const int axis = c.has("dim") ? c.axis("dim", a.rank()) : a.rank() - 1;
  if (!c.CheckRank("self", a, 1)) return a;
  if (a.dim(axis) != Dim(3)) {
    c.FailInvalid("expected an axis of 3 elements, found " +
                  a.dim(axis).ToString());
    return a;
  }
  const auto part = [&](const Tensor& x, int64_t i) {
    return ops::SliceAxis(x, axis, Dim(i), Dim(1));
  };
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3;
    const int64_t k = (i + 2) % 3;
    parts.push_back(part(a, j) * part(b, k) - part(a, k) * part(b, j));
  }
  return Concat(parts, axis);
}

constexpr OperatorRow kRows[] = {
    {"linear(Tensor input, Tensor weight, Tensor? bias=None)", Linear},
    {"matmul(Tensor self, Tensor other)", MatMul},
    {"mm(Tensor self, Tensor mat2)", Mm},
    {"bmm(Tensor self, Tensor mat2)", Bmm},
    {"mv(Tensor self, Tensor vec)", Mv},
    {"dot(Tensor self, Tensor tensor)", Dot},
    {"vdot(Tensor self, Tensor other)", Vdot},
    {"inner(Tensor self, Tensor tensor)", Inner},
    {"outer(Tensor self, Tensor vec2)", Outer},
    {"ger(Tensor self, Tensor vec2)", Outer},
    {"addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
     "Scalar alpha=1)",
     AddMm},
    {"addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
     "Scalar alpha=1)",
     AddMv},
    {"baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
     "Scalar alpha=1)",
     BAddBmm},
    {"addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
     "Scalar alpha=1)",
     AddBmm},
    {"einsum(str equation, Tensor[] tensors, *, int[]? path=None)", Einsum},
    {"tensordot(Tensor self, Tensor other, int[] dims_self, "
     "int[] dims_other)",
     TensorDot},
    {"bilinear(Tensor input1, Tensor input2, Tensor weight, "
     "Tensor? bias=None)",
     Bilinear},
    {"chain_matmul(Tensor[] matrices)", ChainMatMul},
    {"linalg_multi_dot(Tensor[] matrices)", ChainMatMul},
    {"scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
     "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, "
     "float? scale=None, bool enable_gqa=False)",
     Attention},
    {"cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None)", Cdist},
    {"cross(Tensor self, Tensor other, int? dim=None)", Cross},
    {"linalg_cross(Tensor self, Tensor other, *, int? dim=None)", Cross},
};

}  // namespace

std::span<const OperatorRow> ContractionRows() { return kRows; }

}  // namespace ember::torchscript
