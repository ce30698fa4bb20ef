#include "compiler/passes/dequantize_late.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/operators/contract_spec.h"
#include "compiler/passes/constant_value.h"
#include "compiler/passes/dequantized_value.h"
#include "compiler/passes/eliminate.h"
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

bool IsPositive(const Value* scale) {
  const std::optional<double> number = UniformConstant(scale);
  return number && *number > 0;
}

// True if a sum of `count` terms, each of magnitude at most `bound`, fits into
// 32 bits.
bool SumFits(std::optional<int64_t> count, int64_t bound) {
  return count &&
         (bound == 0 || *count <= std::numeric_limits<int32_t>::max() / bound);
}

// Returns the product of the extents of these axes; nullopt if one is not
// constant or is above 2^20. A product above 2^40 counts as 2^40.
std::optional<int64_t> ProductOf(const Shape& shape,
                                 const std::vector<int64_t>& axes) {
  int64_t product = 1;
  for (int64_t axis : axes) {
    const std::optional<int64_t> extent =
        shape[static_cast<size_t>(axis)].AsConstant();
    if (!extent || *extent > (int64_t{1} << 20)) return std::nullopt;
    product = std::min(product * *extent, int64_t{1} << 40);
  }
  return product;
}

// Returns the shape with which a factor's scale can be multiplied into the
// contraction's result. `labels` are the labels of the factor's dims. Returns
// nullopt if the scale varies along several labels, or along one that is summed
// over.
std::optional<Shape> ScaleInResult(const Shape& scale, std::string_view labels,
                                   const std::string& result) {
  Shape shape;
  for (size_t d = 0; d < scale.size(); ++d) {
    if (scale[d] == Dim(1)) continue;
    const size_t at = result.find(labels[d]);
    const bool is_diagonal =
        std::count(labels.begin(), labels.end(), labels[d]) > 1;
    if (at == std::string::npos || is_diagonal || !shape.empty())
      return std::nullopt;
    shape.assign(result.size(), Dim(1));
    shape[at] = scale[d];
  }
  return shape;
}

class Dequantizer {
 public:
  explicit Dequantizer(Graph& graph) : graph_(graph) {}

  Status Run();

 private:
  using Rewrite = Status (Dequantizer::*)(Operation*);
  struct Row {
    std::string_view name;
    Rewrite rewrite;
  };
  static const Row kRows[];

  // --- operations that are added to the graph ---

  // Returns the zero point or scale of a dequantized value in the form in which
  // it applies to the value after its views: the same views are applied, or it
  // becomes a scalar if it has one element.
  StatusOr<Value*> Seen(Value* parameter, const DequantizedValue& value) {
    if (HasOneElement(parameter)) {
      if (parameter->rank() == 0) return parameter;
      return rewriter_.Reshape(parameter, {});
    }
    return ThroughViews(parameter, value);
  }

  StatusOr<Value*> ThroughViews(Value* seen, const DequantizedValue& value) {
    for (size_t i = value.views.size(); i-- > 0;) {
      const Operation& view = *value.views[i];
      std::vector<Value*> operands = OperandsOf(view);
      operands[0] = seen;
      EMBER_ASSIGN_OR_RETURN(seen,
                             rewriter_.MakeLike(view, std::move(operands)));
    }
    return seen;
  }

  // Returns i32(bytes) - zero, with the views of the dequantized value applied
  // to `bytes`.
  StatusOr<Value*> Centered(Value* bytes, const DequantizedValue& value) {
    EMBER_ASSIGN_OR_RETURN(Value * wide, rewriter_.Cast(bytes, DType::kI32));
    if (value.zero == nullptr) return wide;
    EMBER_ASSIGN_OR_RETURN(Value * zero, Seen(value.zero, value));
    return rewriter_.Make("subtract", {wide, zero});
  }

  StatusOr<Value*> IntegerOf(const DequantizedValue& value) {
    EMBER_ASSIGN_OR_RETURN(Value * bytes, ThroughViews(value.bytes, value));
    return Centered(bytes, value);
  }

  StatusOr<Value*> Scaled(Value* integer, Value* scale) {
    EMBER_ASSIGN_OR_RETURN(Value * number,
                           rewriter_.Cast(integer, DType::kF32));
    return rewriter_.Make("multiply", {number, scale});
  }

  // --- rewriting of sums of products ---

  struct Factors {
    DequantizedValue a, b;
  };
  static std::optional<Factors> FactorsOf(const Operation& operation) {
    if (operation.result()->dtype() != DType::kF32) return std::nullopt;
    const auto a = DequantizedValueOf(operation.operand(0));
    const auto b = DequantizedValueOf(operation.operand(1));
    if (!a || !b) return std::nullopt;
    return Factors{*a, *b};
  }

  // Rewrites a product of two dequantized factors as a product of integers,
  // which is then multiplied by both scales. `shape_a` and `shape_b` are the
  // shapes with which the scales broadcast against the result; an empty shape
  // means a scale of one element.
  Status RewriteProduct(Operation* operation, const Factors& factors,
                        const Shape& shape_a, const Shape& shape_b) {
    Value* integers[2];
    Value* scales[2];
    const DequantizedValue* values[2] = {&factors.a, &factors.b};
    const Shape* shapes[2] = {&shape_a, &shape_b};
    for (int i = 0; i < 2; ++i) {
      EMBER_ASSIGN_OR_RETURN(integers[i], IntegerOf(*values[i]));
      EMBER_ASSIGN_OR_RETURN(scales[i], Seen(values[i]->scale, *values[i]));
      if (!shapes[i]->empty() && scales[i]->shape() != *shapes[i]) {
        EMBER_ASSIGN_OR_RETURN(scales[i],
                               rewriter_.Reshape(scales[i], *shapes[i]));
      }
    }
    EMBER_ASSIGN_OR_RETURN(
        Value * sum,
        rewriter_.MakeLike(*operation, {integers[0], integers[1]}));
    EMBER_ASSIGN_OR_RETURN(Value * scale,
                           rewriter_.Make("multiply", {scales[0], scales[1]}));
    EMBER_ASSIGN_OR_RETURN(Value * result, Scaled(sum, scale));
    rewriter_.Replace(operation, result);
    return OkStatus();
  }

  Status RewriteContract(Operation* operation) {
    const std::optional<Factors> factors = FactorsOf(*operation);
    if (!factors) return OkStatus();
    const ContractSpec spec = SpecOf(*operation);
    const auto shape_a =
        ScaleInResult(factors->a.ScaleShape(), spec.a, spec.result);
    const auto shape_b =
        ScaleInResult(factors->b.ScaleShape(), spec.b, spec.result);
    std::optional<int64_t> count = 1;
    for (char label : spec.Reduced()) {
      const size_t in_a = spec.a.find(label);
      const auto extent =
          in_a != std::string::npos
              ? ProductOf(operation->operand(0)->shape(),
                          {static_cast<int64_t>(in_a)})
              : ProductOf(operation->operand(1)->shape(),
                          {static_cast<int64_t>(spec.b.find(label))});
      count = count && extent && *count <= (int64_t{1} << 20)
                  ? std::optional<int64_t>(*count * *extent)
                  : std::nullopt;
    }
    if (!shape_a || !shape_b ||
        !SumFits(count, factors->a.Bound() * factors->b.Bound())) {
      return OkStatus();
    }
    return RewriteProduct(operation, *factors, *shape_a, *shape_b);
  }

  // Rewrites a convolution. It sums over all dims of the weights except the
  // last one, which is the output channel and the last dim of the result.
  // conv_transpose without groups has the same form.
  Status RewriteConvolution(Operation* operation) {
    const std::optional<Factors> factors = FactorsOf(*operation);
    if (!factors) return OkStatus();
    const Shape& weights = operation->operand(1)->shape();
    std::vector<int64_t> summed(weights.size() - 1);
    for (size_t i = 0; i < summed.size(); ++i)
      summed[i] = static_cast<int64_t>(i);
    const Shape scale = factors->b.ScaleShape();
    const bool is_of_channels =
        scale.empty() ||
        std::all_of(scale.begin(), scale.end() - 1,
                    [](const Dim& dim) { return dim == Dim(1); });
    const bool is_split = operation->name() == "conv_transpose" &&
                          operation->attributes().Get<int64_t>("groups") != 1;
    if (!factors->a.ScaleShape().empty() || !is_of_channels ||
        (is_split && !scale.empty()) ||
        !SumFits(ProductOf(weights, summed),
                 factors->a.Bound() * factors->b.Bound())) {
      return OkStatus();
    }
    return RewriteProduct(operation, *factors, {}, scale);
  }

  // --- rewriting of sums, minima and maxima ---

  Status RewriteReduction(Operation* operation) {
    const auto value = DequantizedValueOf(operation->operand(0));
    if (!value || operation->result()->dtype() != DType::kF32 ||
        !HasOneElement(value->scale) ||
        (value->zero != nullptr && !HasOneElement(value->zero))) {
      return OkStatus();
    }
    const bool is_window = operation->name() == "reduce_window";
    const auto& combiner = operation->attributes().Get<std::string>("combiner");
    Value* result = nullptr;
    if (combiner == "sum") {
      const std::optional<int64_t> count =
          is_window
              ? WindowElements(*operation)
              : ProductOf(
                    operation->operand(0)->shape(),
                    operation->attributes().Get<std::vector<int64_t>>("axes"));
      if (!SumFits(count, value->Bound())) return OkStatus();
      EMBER_ASSIGN_OR_RETURN(Value * integer, IntegerOf(*value));
      EMBER_ASSIGN_OR_RETURN(result, rewriter_.MakeLike(*operation, {integer}));
    } else if (IsPositive(value->scale) &&
               (combiner == "maximum" || combiner == "minimum")) {
      EMBER_ASSIGN_OR_RETURN(Value * bytes, ThroughViews(value->bytes, *value));
      EMBER_ASSIGN_OR_RETURN(bytes, rewriter_.MakeLike(*operation, {bytes}));
      EMBER_ASSIGN_OR_RETURN(result, Centered(bytes, *value));
    } else {
      return OkStatus();
    }
    EMBER_ASSIGN_OR_RETURN(Value * scale, Seen(value->scale, *value));
    EMBER_ASSIGN_OR_RETURN(result, Scaled(result, scale));
    rewriter_.Replace(operation, result);
    return OkStatus();
  }

  static std::optional<int64_t> WindowElements(const Operation& operation) {
    int64_t count = 1;
    for (int64_t extent :
         operation.attributes().Get<std::vector<int64_t>>("window"))
      count = std::min(count * extent, int64_t{1} << 40);
    return count;
  }

  // --- quantization ---

  // Rewrites cast(round(x / scale) + zero), which quantizes x. If x was
  // dequantized with the same parameters, the bytes from which it was
  // dequantized are the result.
  Status RewriteQuantization(Operation* cast) {
    const DType type = cast->result()->dtype();
    if (!IsByte(type)) return OkStatus();
    Value* rounded = cast->operand(0);
    double zero = 0;
    if (IsResultOf(rounded, "add")) {
      const auto number = UniformConstant(rounded->producer()->operand(1));
      if (!number) return OkStatus();
      zero = *number;
      rounded = rounded->producer()->operand(0);
    }
    if (!IsResultOf(rounded, "round")) return OkStatus();
    Value* quotient = rounded->producer()->operand(0);
    if (!IsResultOf(quotient, "divide")) return OkStatus();
    const auto value = DequantizedValueOf(quotient->producer()->operand(0));
    if (!value || value->bytes->dtype() != type) return OkStatus();
    const auto scale = UniformConstant(value->scale);
    const auto zero_before =
        value->zero != nullptr ? UniformConstant(value->zero) : 0.0;
    if (!scale || *scale <= 0 || zero_before != zero ||
        UniformConstant(quotient->producer()->operand(1)) != scale) {
      return OkStatus();
    }
    EMBER_ASSIGN_OR_RETURN(Value * bytes, ThroughViews(value->bytes, *value));
    if (bytes->type() != cast->result()->type()) return OkStatus();
    rewriter_.Replace(cast, bytes);
    return OkStatus();
  }

  // Removes a division by a constant scale whose quotient is only rounded: the
  // constants from which the dividend is computed are divided by the scale
  // instead.
  Status RewriteDivision(Operation* divide) {
    Value* scale = divide->operand(1);
    const bool is_rounded = std::ranges::all_of(
        divide->result()->users(),
        [](const Operation* user) { return user->name() == "round"; });
    if (!is_rounded || divide->result()->is_graph_output() ||
        divide->result()->dtype() != DType::kF32 ||
        ConstantOf(scale) == nullptr || !IsPositive(scale) ||
        !HasOneElement(scale) || !TakesDivision(divide->operand(0))) {
      return OkStatus();
    }
    EMBER_ASSIGN_OR_RETURN(Value * result, Divided(divide->operand(0), scale));
    rewriter_.Replace(divide, result);
    return OkStatus();
  }

  // True if the division of the value can be moved to its producers' constants
  // at no cost: all paths through its producers end in constants, some of which
  // are factors.
  static bool TakesDivision(const Value* value) {
    const Operation* producer = value->producer();
    if (producer == nullptr || IsConstantParameter(value)) return false;
    const std::string_view name = producer->name();
    // A product may have other users; it is then computed a second time with
    // the divided factor.
    if (name == "multiply") {
      return IsConstantParameter(producer->operand(0)) ||
             IsConstantParameter(producer->operand(1));
    }
    if (!IsUsedOnce(value)) return false;
    if (name == "transpose" || name == "reshape")
      return TakesDivision(producer->operand(0));
    if (name == "divide") {
      return IsConstantParameter(producer->operand(1)) &&
             TakesDivision(producer->operand(0));
    }
    if (name != "add" && name != "subtract" && name != "maximum" &&
        name != "minimum") {
      return false;
    }
    int constants = 0;
    for (const Value* operand : producer->operands()) {
      if (IsConstantParameter(operand))
        ++constants;
      else if (!TakesDivision(operand))
        return false;
    }
    return constants < 2;
  }

  StatusOr<Value*> Divided(Value* value, Value* scale) {
    if (IsConstantParameter(value))
      return rewriter_.Make("divide", {value, scale});
    const Operation& producer = *value->producer();
    std::vector<Value*> operands = OperandsOf(producer);
    const std::string_view name = producer.name();
    if (name == "multiply") {
      const int constant = IsConstantParameter(operands[1]) ? 1 : 0;
      EMBER_ASSIGN_OR_RETURN(
          operands[constant],
          rewriter_.Make("divide", {operands[constant], scale}));
    } else {
      const bool is_of_first =
          name == "transpose" || name == "reshape" || name == "divide";
      for (size_t i = 0; i < (is_of_first ? 1 : operands.size()); ++i) {
        EMBER_ASSIGN_OR_RETURN(operands[i], Divided(operands[i], scale));
      }
    }
    return rewriter_.MakeLike(producer, std::move(operands));
  }

  Graph& graph_;
  Rewriter rewriter_{graph_};
};

// Says which function rewrites which operator. Elementwise operators have no
// row: they compute on dequantized values, but only the bytes are stored
// (compiler/lowering/storage.h).
const Dequantizer::Row Dequantizer::kRows[] = {
    {"contract", &Dequantizer::RewriteContract},
    {"conv", &Dequantizer::RewriteConvolution},
    {"conv_transpose", &Dequantizer::RewriteConvolution},
    {"reduce", &Dequantizer::RewriteReduction},
    {"reduce_window", &Dequantizer::RewriteReduction},
    {"cast", &Dequantizer::RewriteQuantization},
    {"divide", &Dequantizer::RewriteDivision},
};

Status Dequantizer::Run() {
  // Divisions are rewritten after all other operators, because the pattern of a
  // value that is quantized again with the same parameters contains a division.
  for (const bool divisions : {false, true}) {
    for (Operation* operation : graph_.Operations()) {
      if ((operation->name() == "divide") != divisions) continue;
      const auto row = std::ranges::find(kRows, operation->name(), &Row::name);
      if (row == std::end(kRows)) continue;
      rewriter_.StartAt(operation);
      EMBER_RETURN_IF_ERROR((this->*row->rewrite)(operation));
    }
  }
  // Replaced operations are removed here, because later passes count the users
  // of values.
  return EliminateDeadCode(graph_);
}

}  // namespace

Status DequantizeLate(Graph& graph) { return Dequantizer(graph).Run(); }

}  // namespace ember::compiler
