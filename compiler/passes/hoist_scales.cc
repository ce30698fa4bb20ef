#include "compiler/passes/hoist_scales.h"

#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/operators/contract_spec.h"
#include "compiler/passes/queries.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::ContractSpec;
using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::Shape;
using graph::Value;

// A factor of a product, in the form view(… view(wide * scale)). `wide` is a
// cast of an 8-bit float.
struct Factor {
  // Views (transposes and reshapes) of the scaled value, the outermost first.
  std::vector<const Operation*> views;
  Value* wide = nullptr;
  Value* scale = nullptr;  // The scale; null if the factor is not scaled.
};

std::optional<Factor> FactorOf(Value* value) {
  Factor factor;
  while (IsResultOf(value, "transpose") || IsResultOf(value, "reshape")) {
    if (!IsUsedOnce(value)) return std::nullopt;
    factor.views.push_back(value->producer());
    value = value->producer()->operand(0);
  }
  factor.wide = value;
  if (IsResultOf(value, "multiply")) {
    const Operation& multiply = *value->producer();
    const int wide = IsWidenedFloat8(multiply.operand(0)) ? 0 : 1;
    factor.wide = multiply.operand(wide);
    factor.scale = multiply.operand(1 - wide);
    // The scale must not change the factor's shape: if multiplying by it adds
    // or repeats dims, the factor is not of the required form.
    if (factor.wide->shape() != value->shape()) return std::nullopt;
  }
  return IsWidenedFloat8(factor.wide) ? std::optional(factor) : std::nullopt;
}

// Returns the shape with which the factor's scale broadcasts against the
// result. Returns nothing if the scale varies along a dim that the result
// lacks, that the other factor has, too, or whose label occurs twice. `labels`
// are the labels of this factor, `others` those of the other factor.
std::optional<Shape> ShapeBehind(const Factor& factor,
                                 const std::string& labels,
                                 const std::string& others,
                                 const std::string& result) {
  const Shape& scale = factor.scale->shape();
  Shape behind(result.size(), Dim(1));
  for (size_t i = 0; i < scale.size(); ++i) {
    if (scale[i] == Dim(1)) continue;
    const char label = labels[labels.size() - scale.size() + i];
    const size_t place = result.find(label);
    if (place == std::string::npos || others.find(label) != std::string::npos ||
        labels.find(label) != labels.rfind(label))
      return std::nullopt;
    behind[place] = scale[i];
  }
  return behind;
}

class Hoister {
 public:
  explicit Hoister(Graph& graph) : rewriter_(graph) {}

  Status Hoist(Operation* product) {
    const bool is_contract = product->name() == "contract";
    if (!is_contract && product->name() != "conv") return OkStatus();
    std::vector<Factor> factors;
    std::vector<std::optional<Shape>> shapes;
    for (int i = 0; i < 2; ++i) {
      const std::optional<Factor> factor = FactorOf(product->operand(i));
      if (!factor) return OkStatus();
      factors.push_back(*factor);
      shapes.push_back(Shape());
      if (factor->scale == nullptr || HasOneElement(factor->scale)) continue;
      if (!is_contract || !factor->views.empty()) return OkStatus();
      const ContractSpec spec = SpecOf(*product);
      shapes.back() = i == 0
                          ? ShapeBehind(*factor, spec.a, spec.b, spec.result)
                          : ShapeBehind(*factor, spec.b, spec.a, spec.result);
      if (!shapes.back()) return OkStatus();
    }
    if (factors[0].scale == nullptr && factors[1].scale == nullptr)
      return OkStatus();
    rewriter_.StartAt(product);
    std::vector<Value*> operands;
    for (const Factor& factor : factors) {
      Value* value = factor.wide;
      for (size_t v = factor.views.size(); v-- > 0;) {
        EMBER_ASSIGN_OR_RETURN(value,
                               rewriter_.MakeLike(*factor.views[v], {value}));
      }
      operands.push_back(value);
    }
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(*product, operands));
    for (size_t i = 0; i < factors.size(); ++i) {
      if (factors[i].scale == nullptr) continue;
      EMBER_ASSIGN_OR_RETURN(Value * scale,
                             rewriter_.Reshape(factors[i].scale, *shapes[i]));
      EMBER_ASSIGN_OR_RETURN(result,
                             rewriter_.Make("multiply", {result, scale}));
    }
    rewriter_.Replace(product, result);
    return OkStatus();
  }

 private:
  Rewriter rewriter_;
};

}  // namespace

Status HoistScales(Graph& graph) {
  for (Operation* operation : graph.Operations())
    EMBER_RETURN_IF_ERROR(Hoister(graph).Hoist(operation));
  return OkStatus();
}

}  // namespace ember::compiler
