// Imports FlexAttention (ai.onnx.preview): attention whose scores and
// probabilities pass through subgraphs of the node. The subgraphs compute on
// whole tensors, so their nodes are imported into the graph like any others.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"

namespace ember::onnx {
namespace {

constexpr char kDomain[] = "ai.onnx.preview";

// Applies the node's subgraph `attribute` (which modifies scores or
// probabilities) to x; returns x if the node has no such subgraph.
Tensor Modified(NodeContext& c, std::string_view attribute, Tensor x) {
  if (!c.HasAttribute(attribute) || !c.ok()) return x;
  const std::vector<Tensor> results = c.ImportSubgraph(attribute, {x});
  if (!c.ok()) return x;
  if (results.size() == 1 && results.front() &&
      results.front().shape() == x.shape()) {
    return Cast(results.front(), x.dtype());
  }
  c.FailInvalid("attribute '" + std::string(attribute) +
                "': expected a subgraph with one output of the shape of its "
                "input");
  return x;
}

// Splits the dim of query heads of q[b, query heads, …] by the key head that
// they share: [b, key heads, queries per key head, …]. `heads`: number of key
// heads.
Tensor GroupHeads(Tensor q, const Dim& heads) {
  return Reshape(
      q, {q.dim(0), heads, FloorDivide(q.dim(1), heads), q.dim(2), q.dim(3)});
}

Tensor MergeGroups(Tensor x, const Dim& heads) {
  return Reshape(x, {x.dim(0), heads, x.dim(3), x.dim(4)});
}

void ImportFlexAttention(NodeContext& c) {
  for (int i = 0; i < 3; ++i) {
    if (!c.CheckRank(i, 4, 4)) return;
  }
  Tensor q = c.Input(0);
  Tensor k = c.Input(1);
  Tensor v = c.Input(2);
  const DType type = q.dtype();
  const Dim query_heads = q.dim(1);
  const Dim& heads = k.dim(1);
  const Dim& size = q.dim(3);
  if (heads == Dim(0))
    return c.FailInvalid("expected at least one head of keys");
  if (!size.is_constant() && !c.HasAttribute("scale"))
    return c.FailUnsupported("expected a constant head size");
  const double scale =
      c.HasAttribute("scale")
          ? c.Float("scale", 1)
          : 1 / std::sqrt(static_cast<double>(size.constant()));
  // Queries and keys are each multiplied by the root of the scale, as the
  // specification says. A negative scale has its sign in the queries.
  const double root = std::sqrt(std::abs(scale));
  Tensor scores = Contract(GroupHeads(q * (scale < 0 ? -root : root), heads),
                           k * root, "bhgqd,bhkd->bhgqk");
  const DType precision =
      c.TypeAttribute("softmax_precision").value_or(ComputeType(type));
  scores = Modified(c, "score_mod",
                    Cast(MergeGroups(scores, query_heads), precision));
  Tensor probabilities = Modified(c, "prob_mod", Softmax(scores, 3));
  Tensor y = Contract(GroupHeads(probabilities, heads), Cast(v, precision),
                      "bhgqk,bhkd->bhgqd");
  c.SetOutput(0, Cast(MergeGroups(y, query_heads), type));
}

constexpr OperatorRow kRows[] = {
    {"FlexAttention", 1, 3, 3, ImportFlexAttention, kDomain},
};

}  // namespace

std::span<const OperatorRow> FlexAttentionOperators() { return kRows; }

}  // namespace ember::onnx
