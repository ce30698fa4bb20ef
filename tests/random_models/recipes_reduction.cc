#include <algorithm>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

// Adds a reduction. Its axes are an attribute, and from opset 18 on (ReduceSum:
// 13) an operand.
bool Reduce(Builder& b, const Recipe& recipe) {
  const bool has_logarithm = recipe.name == "ReduceLogSum";
  const bool is_product = recipe.name == "ReduceProd";
  const bool has_order =
      recipe.name == "ReduceMax" || recipe.name == "ReduceMin";
  const Value x =
      b.Pick(recipe.name == "ReduceLogSumExp" ||
                     recipe.name == "ReduceLogSum" || recipe.name == "ReduceL2"
                 ? "ffdh"
             : has_order ? b.opset() >= 20   ? "fdhilcC?"
                           : b.opset() >= 12 ? "fdhilcC"
                                             : "fdil"
                         : "fffdhil",
             0, 5,
             has_logarithm ? Range{0.05, 9, false}
             : is_product  ? Range{-1.5, 1.5, false}
                           : Range{});
  // Tensors without elements are left out, because ONNX Runtime's results for
  // them have other shapes.
  if (x.count() == 0) return false;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (b.random().Chance(0.5)) axes.push_back(i);
  if (axes.size() > 1 && b.random().Chance(0.2))
    std::reverse(axes.begin(), axes.end());
  for (int64_t& axis : axes)
    if (b.opset() >= 11 && b.random().Chance(0.3)) axis -= x.rank();
  Attributes attributes = {{"keepdims", b.random().Chance(0.5) ? 1 : 0}};
  Names inputs = {x.name};
  const int operand_since = recipe.name == "ReduceSum" ? 13 : 18;
  if (b.opset() >= operand_since) {
    if (!axes.empty() || b.random().Chance(0.3))
      inputs.push_back(b.Integers(axes));
    if (axes.empty())
      attributes.emplace_back("noop_with_empty_axes",
                              b.random().Chance(0.5) ? 1 : 0);
  } else if (!axes.empty()) {
    attributes.emplace_back("axes", axes);
  }
  b.Node(std::string(recipe.name), inputs, attributes);
  return true;
}

bool ArgReduce(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("ffdil", 1, 5);
  if (x.count() == 0) return false;
  Attributes attributes = {{"axis", b.Axis(x)},
                           {"keepdims", b.random().Chance(0.5) ? 1 : 0}};
  if (b.opset() >= 12 && b.random().Chance(0.5))
    attributes.emplace_back("select_last_index", 1);
  b.Node(std::string(recipe.name), {x.name}, attributes);
  return true;
}

bool TopK(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(b.opset() < 11 ? "f" : "ffdil", 1, 4);
  const int axis = b.Axis(x);
  const int64_t extent =
      x.dims()[static_cast<size_t>((axis + x.rank()) % x.rank())];
  Attributes attributes = {{"axis", axis}};
  const int64_t k =
      b.random().Between(extent > 0 ? 1 : 0, std::min<int64_t>(extent, 9));
  if (b.opset() < 10) {
    attributes.emplace_back("k", static_cast<int>(k));
    b.Nodes("TopK", {x.name}, 2, attributes);
    return true;
  }
  if (b.opset() >= 11)
    attributes.emplace_back("largest", b.random().Chance(0.5) ? 1 : 0);
  b.Nodes("TopK", {x.name, b.Integers({k})}, 2, attributes);
  return true;
}

bool Cumulate(Builder& b, const Recipe& recipe) {
  const Value x =
      b.Pick("ffdil", 1, 4,
             recipe.name == "CumProd" ? Range{-1.2, 1.2, false} : Range{});
  const std::string axis =
      b.Integer(b.Axis(x), b.Type(b.random().Chance(0.5) ? "l" : "i"));
  b.Node(std::string(recipe.name), {x.name, axis},
         {{"exclusive", b.random().Chance(0.3) ? 1 : 0},
          {"reverse", b.random().Chance(0.3) ? 1 : 0}});
  return true;
}

bool Unique(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fdilc", 1, 3);
  Attributes attributes = {{"sorted", b.random().Chance(0.5) ? 1 : 0}};
  if (b.random().Chance(0.5)) attributes.emplace_back("axis", b.Axis(x));
  b.Nodes("Unique", {x.name}, 4, attributes);
  return true;
}

bool NonMaxSuppression(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 2), boxes = b.random().Between(1, 20),
                classes = b.random().Between(1, 3);
  const Value box =
      b.Operand(Builder::TypeOf('f'), {n, boxes, 4}, {0, 1, false});
  const Value score =
      b.Operand(Builder::TypeOf('f'), {n, classes, boxes}, {0, 1, false});
  Names inputs = {box.name, score.name, b.Integers({b.random().Between(1, 9)}),
                  b.Scalar(Builder::TypeOf('f'), b.random().Real(0.1, 0.9))};
  if (b.random().Chance(0.5))
    inputs.push_back(b.Scalar(Builder::TypeOf('f'), b.random().Real(0.1, 0.6)));
  b.Node("NonMaxSuppression", inputs,
         {{"center_point_box", b.random().Chance(0.4) ? 1 : 0}});
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "ArgMax", ArgReduce},
    {"", "ArgMin", ArgReduce},
    {"", "CumProd", Cumulate, 26},
    {"", "CumSum", Cumulate},
    {"", "Hardmax", "fd", "T[*1] axis=@a"},
    {"", "LogSoftmax", "ffdh", "T[*1] axis=@a"},
    // ONNX does not define the mean of an empty batch. Without class weights
    // ONNX Runtime's is 0; ours is NaN, as in ONNX's reference.
    {"", "NegativeLogLikelihoodLoss", "fd",
     "T[n,c,d] l[n,d]{0,c-1} T[c]{0.1,1}? reduction:mean|sum|none"},
    {"", "NonMaxSuppression", NonMaxSuppression},
    {"", "NonZero", "fil?", "T[*]"},
    {"", "ReduceL1", Reduce},
    {"", "ReduceL2", Reduce},
    {"", "ReduceLogSum", Reduce},
    {"", "ReduceLogSumExp", Reduce},
    {"", "ReduceMax", Reduce},
    {"", "ReduceMean", Reduce},
    {"", "ReduceMin", Reduce},
    {"", "ReduceProd", Reduce},
    {"", "ReduceSum", Reduce},
    {"", "ReduceSumSquare", Reduce},
    {"", "Softmax", "fffdh", "T[*1] axis=@a"},
    {"", "SoftmaxCrossEntropyLoss", "f",
     "T[n,c,d] l[n,d]{0,c-1} T[c]{0.1,1}? reduction:mean|sum|none", 2},
    {"", "TopK", TopK},
    {"", "Unique", Unique},
    {"com.microsoft", "BiasSoftmax", "f",
     "T[..,n,c] T[..,n,c] axis=-1 is_inner_broadcast=0|1"},
    {"com.microsoft", "CDist", "fd",
     "T[n,k] T[m,k] metric:sqeuclidean|euclidean"},
    {"com.microsoft", "ReduceSumInteger", "cC", "T[*1] axes=@a, keepdims=0|1"},
};

}  // namespace

std::span<const Recipe> ReductionRecipes() { return kRows; }

}  // namespace ember::tests
