#include "compiler/passes/narrow_products.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph/operators.h"
#include "compiler/graph/operators/contract_spec.h"
#include "compiler/passes/constant_value.h"
#include "compiler/passes/permutation.h"
#include "compiler/passes/queries.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::ConstantData;
using graph::ContractSpec;
using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::Shape;
using graph::Value;

bool IsContraction(const Operation& operation) {
  return operation.record().trait == graph::OperatorTrait::kContraction;
}

// True for operations that only move the elements of one operand.
bool IsView(const Operation& operation) {
  const std::string_view name = operation.name();
  return name == "reshape" || name == "transpose" || name == "broadcast";
}

// A factor of the form transpose(... transpose(i32(narrow) - zero) ...).
struct Factor {
  Value* narrow = nullptr;
  // Zero point that is subtracted from the widened elements: one element of
  // type i32. Null means 0.
  Value* zero = nullptr;
  // Permutations of the transposes between the operand and `narrow`, the
  // innermost last.
  std::vector<Permutation> transposes;
  bool is_constant = false;  // true if `narrow` is a constant, that is, weights
};

// --- constants ---

struct Range {
  int64_t low = 0, high = 0;
};

template <typename T>
Range RangeOf(std::span<const uint8_t> bytes) {
  Range range{std::numeric_limits<int64_t>::max(),
              std::numeric_limits<int64_t>::min()};
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    range.low = std::min<int64_t>(range.low, value);
    range.high = std::max<int64_t>(range.high, value);
  }
  return range;
}

// Returns the bytes of all elements minus `zero`, converted to the type To,
// which must be able to hold them.
template <typename From, typename To>
std::vector<uint8_t> Converted(std::span<const uint8_t> bytes, int64_t zero) {
  std::vector<uint8_t> result(bytes.size() / sizeof(From) * sizeof(To));
  for (size_t i = 0; i < bytes.size() / sizeof(From); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    const To converted = static_cast<To>(value - zero);
    std::memcpy(result.data() + i * sizeof converted, &converted,
                sizeof converted);
  }
  return result;
}

template <typename From>
std::vector<uint8_t> ConvertedTo(DType to, std::span<const uint8_t> bytes,
                                 int64_t zero) {
  if (to == DType::kI8) return Converted<From, int8_t>(bytes, zero);
  if (to == DType::kU8) return Converted<From, uint8_t>(bytes, zero);
  return Converted<From, int16_t>(bytes, zero);
}

int64_t ElementAt(const ConstantData& data, DType type, int64_t i) {
  const uint8_t* const bytes = data.bytes.data() + i * DTypeByteSize(type);
  if (type == DType::kU8) return *bytes;
  if (type == DType::kI8) return static_cast<int8_t>(*bytes);
  int16_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::optional<DType> NarrowestType(Range range) {
  if (range.low >= -128 && range.high <= 127) return DType::kI8;
  if (range.low >= 0 && range.high <= 255) return DType::kU8;
  if (range.low >= -32768 && range.high <= 32767) return DType::kI16;
  return std::nullopt;
}

class Narrower {
 public:
  explicit Narrower(Graph& graph) : graph_(graph) {}

  Status Run() {
    for (Operation* operation : graph_.Operations())
      EMBER_RETURN_IF_ERROR(SinkWidening(operation));
    for (Operation* operation : graph_.Operations()) {
      const bool is_conv = operation->name() == "conv";
      if (!is_conv && operation->name() != "contract") continue;
      if (operation->result()->dtype() != DType::kI32) continue;
      EMBER_RETURN_IF_ERROR(Narrow(operation));
    }
    return OkStatus();
  }

 private:
  // Rewrites view(cast(x)) as cast(view(x)) if x is not constant and only views
  // and contractions read cast(x), which is no result of the graph.
  Status SinkWidening(Operation* view) {
    if (!IsView(*view)) return OkStatus();
    const Operation* cast = view->operand(0)->producer();
    if (cast == nullptr || !WidensNumbers(*cast) ||
        cast->result()->is_graph_output())
      return OkStatus();
    // A cast of a constant stays where it is, because the rules for products
    // recognise constant weights also if views follow the cast.
    if (ConstantOf(cast->operand(0)) != nullptr) return OkStatus();
    const bool is_for_products = std::ranges::all_of(
        cast->result()->users(),
        [](const auto* user) { return IsView(*user) || IsContraction(*user); });
    if (!is_for_products) return OkStatus();
    rewriter_.StartAt(view);
    EMBER_ASSIGN_OR_RETURN(Value * narrow,
                           rewriter_.MakeLike(*view, {cast->operand(0)}));
    EMBER_ASSIGN_OR_RETURN(Value * wide,
                           rewriter_.Cast(narrow, cast->result()->dtype()));
    rewriter_.Replace(view, wide);
    return OkStatus();
  }

  // --- recognising the operands of products ---

  static Value* BehindTransposes(Value* value, Factor& factor) {
    while (IsResultOf(value, "transpose")) {
      factor.transposes.push_back(
          value->producer()->attributes().Get<Permutation>("permutation"));
      value = value->producer()->operand(0);
    }
    return value;
  }

  static std::optional<Factor> FactorOf(Value* value) {
    Factor factor;
    value = BehindTransposes(value, factor);
    Value* zero = nullptr;
    if (IsResultOf(value, "subtract")) {
      zero = value->producer()->operand(1);
      Value* wide = value->producer()->operand(0);
      if (wide->shape() != value->shape()) return std::nullopt;
      if (UniformConstant(zero) != 0.0) factor.zero = zero;
      value = BehindTransposes(wide, factor);
    }
    if (const Operation* constant = ConstantOf(value)) {
      factor.is_constant = true;
      factor.narrow = constant->operand_count() == 0 ? value : nullptr;
    } else if (IsResultOf(value, "cast")) {
      factor.narrow = value->producer()->operand(0);
      factor.is_constant = ConstantOf(factor.narrow) != nullptr;
    }
    if (factor.narrow == nullptr) return std::nullopt;
    const DType type = factor.narrow->dtype();
    if (factor.is_constant) {
      const bool fits =
          IsByte(type) || type == DType::kI16 || type == DType::kI32;
      const bool is_uniform =
          factor.zero == nullptr || UniformConstant(factor.zero).has_value();
      if (!fits || !is_uniform) return std::nullopt;
      return factor;
    }
    if (!IsByte(type)) return std::nullopt;
    if (factor.zero != nullptr &&
        (!HasOneElement(factor.zero) || !HoldsBytes(factor.zero, type))) {
      return std::nullopt;
    }
    return factor;
  }

  // --- operations that are added to the graph ---

  StatusOr<Value*> Transposed(Value* value, const Factor& factor) {
    for (size_t i = factor.transposes.size(); i-- > 0;) {
      EMBER_ASSIGN_OR_RETURN(value,
                             rewriter_.Transpose(value, factor.transposes[i]));
    }
    return value;
  }

  // Returns the constant minus its zero point in the narrowest type that holds
  // it; null if there is none.
  StatusOr<Value*> NarrowConstant(const Factor& factor) {
    const auto& data =
        factor.narrow->producer()->attributes().Get<ConstantData>("value");
    const DType from = factor.narrow->dtype();
    Range range = from == DType::kI8    ? RangeOf<int8_t>(data.bytes)
                  : from == DType::kU8  ? RangeOf<uint8_t>(data.bytes)
                  : from == DType::kI16 ? RangeOf<int16_t>(data.bytes)
                                        : RangeOf<int32_t>(data.bytes);
    // A constant without elements is not narrowed.
    if (range.low > range.high) return nullptr;
    const int64_t zero =
        factor.zero == nullptr
            ? 0
            : static_cast<int64_t>(*UniformConstant(factor.zero));
    const std::optional<DType> type =
        NarrowestType({range.low - zero, range.high - zero});
    if (!type) return nullptr;
    if (*type == from && zero == 0) return factor.narrow;
    const std::vector<uint8_t> bytes =
        from == DType::kI8    ? ConvertedTo<int8_t>(*type, data.bytes, zero)
        : from == DType::kU8  ? ConvertedTo<uint8_t>(*type, data.bytes, zero)
        : from == DType::kI16 ? ConvertedTo<int16_t>(*type, data.bytes, zero)
                              : ConvertedTo<int32_t>(*type, data.bytes, zero);
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.Constant({*type, factor.narrow->shape()},
                                              ConstantData::Copy(bytes)));
    result->set_name(factor.narrow->name());
    return result;
  }

  // Returns the factor minus its zero point as i16; the factor unchanged if it
  // has no zero point.
  StatusOr<Value*> Centered(const Factor& factor) {
    if (factor.zero == nullptr) return factor.narrow;
    EMBER_ASSIGN_OR_RETURN(Value * wide,
                           rewriter_.Cast(factor.narrow, DType::kI16));
    EMBER_ASSIGN_OR_RETURN(Value * zero,
                           rewriter_.Cast(factor.zero, DType::kI16));
    return rewriter_.Make("subtract", {wide, zero});
  }

  // Returns the shape with which sums of a contraction's weights broadcast
  // against its result: for each dim of the result, in order, the weights'
  // extent if they have its label, else 1. Returns nullopt if the weights have
  // the labels in another order than the result.
  std::optional<Shape> BroadcastShape(const Operation& contract, int weights) {
    const ContractSpec spec = SpecOf(contract);
    const std::string& labels = weights == 0 ? spec.a : spec.b;
    Shape shape(spec.result.size(), Dim(1));
    size_t next = 0;
    for (size_t i = 0; i < labels.size(); ++i) {
      const size_t at = spec.result.find(labels[i]);
      if (at == std::string::npos) continue;
      if (at < next) return std::nullopt;
      next = at + 1;
      shape[at] = contract.operand(weights)->shape()[i];
    }
    return shape;
  }

  std::vector<int64_t> SummedAxes(const Operation& operation, int weights) {
    std::vector<int64_t> axes;
    if (operation.name() == "conv") {
      for (int i = 0; i + 1 < operation.operand(1)->rank(); ++i)
        axes.push_back(i);
      return axes;
    }
    const ContractSpec spec = SpecOf(operation);
    const std::string& labels = weights == 0 ? spec.a : spec.b;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (spec.result.find(labels[i]) == std::string::npos)
        axes.push_back(static_cast<int64_t>(i));
    }
    return axes;
  }

  // Returns the sums of the constant weights along `axes`. The axes count the
  // dims of the weights after all their transposes.
  StatusOr<Value*> SumsOf(const Value* weights, const Factor& factor,
                          const std::vector<int64_t>& axes) {
    const size_t rank = weights->shape().size();
    // For each dim of the weights as the contraction reads them, the number of
    // that dim in the constant before its transposes.
    std::vector<size_t> dims(rank);
    std::iota(dims.begin(), dims.end(), size_t{0});
    for (size_t i = factor.transposes.size(); i-- > 0;) {
      std::vector<size_t> moved;
      for (int64_t dim : factor.transposes[i])
        moved.push_back(dims[static_cast<size_t>(dim)]);
      dims = std::move(moved);
    }
    // For each dim of the constant, the distance in the result between sums of
    // neighbouring indices; 0 for a dim that is summed over.
    std::vector<int64_t> steps(rank, 0);
    Shape shape;
    int64_t count = 1;
    for (size_t d = rank; d-- > 0;) {
      if (std::ranges::find(axes, static_cast<int64_t>(d)) != axes.end())
        continue;
      const Dim extent = weights->shape()[dims[d]];
      steps[dims[d]] = count;
      count *= extent.constant();
      shape.insert(shape.begin(), extent);
    }
    std::vector<uint32_t> sums(static_cast<size_t>(count), 0);
    const auto& data =
        weights->producer()->attributes().Get<ConstantData>("value");
    std::vector<int64_t> at(rank, 0);
    int64_t sum = 0;
    const int64_t elements = ElementCount(weights->shape()).constant();
    for (int64_t i = 0; i < elements; ++i) {
      sums[static_cast<size_t>(sum)] +=
          static_cast<uint32_t>(ElementAt(data, weights->dtype(), i));
      for (size_t d = rank; d-- > 0;) {
        sum += steps[d];
        if (++at[d] < weights->shape()[d].constant()) break;
        sum -= steps[d] * at[d];
        at[d] = 0;
      }
    }
    const std::span bytes(reinterpret_cast<const uint8_t*>(sums.data()),
                          sums.size() * sizeof(sums[0]));
    return rewriter_.Constant({DType::kI32, shape}, ConstantData::Copy(bytes));
  }

  // Returns the zero point times the sums of the weights, z * sum(w), in a
  // shape that broadcasts against the result.
  StatusOr<Value*> Correction(const Operation& operation, int weights,
                              const Value* narrow, const Factor& factor,
                              Value* zero) {
    EMBER_ASSIGN_OR_RETURN(
        Value * sums, SumsOf(narrow, factor, SummedAxes(operation, weights)));
    if (operation.name() == "contract") {
      EMBER_ASSIGN_OR_RETURN(
          sums, rewriter_.Reshape(sums, *BroadcastShape(operation, weights)));
    }
    EMBER_ASSIGN_OR_RETURN(Value * scalar, rewriter_.Reshape(zero, {}));
    return rewriter_.Make("multiply", {sums, scalar});
  }

  // Returns x padded with the zero point, for a convolution whose padding value
  // is not 0.
  StatusOr<Value*> Padded(Value* x, Value* zero,
                          graph::Attributes& attributes) {
    Shape low = attributes.Get<Shape>("low");
    Shape high = attributes.Get<Shape>("high");
    const auto is_zero = [](const Dim& dim) { return dim == Dim(0); };
    if (std::ranges::all_of(low, is_zero) && std::ranges::all_of(high, is_zero))
      return x;
    attributes.Set("low", Shape(low.size(), Dim(0)));
    attributes.Set("high", Shape(high.size(), Dim(0)));
    for (Shape* shape : {&low, &high}) {
      shape->insert(shape->begin(), Dim(0));
      shape->push_back(Dim(0));
    }
    EMBER_ASSIGN_OR_RETURN(Value * scalar, rewriter_.Reshape(zero, {}));
    EMBER_ASSIGN_OR_RETURN(Value * value, rewriter_.Cast(scalar, x->dtype()));
    return rewriter_.Make(
        "pad", {x, value},
        {{"low", low}, {"high", high}, {"mode", std::string("constant")}});
  }

  Status Narrow(Operation* operation) {
    rewriter_.StartAt(operation);
    std::optional<Factor> factors[2];
    for (int i = 0; i < 2; ++i) factors[i] = FactorOf(operation->operand(i));
    if (!factors[0] || !factors[1]) return OkStatus();
    if (factors[0]->is_constant && factors[1]->is_constant) return OkStatus();
    const bool is_conv = operation->name() == "conv";
    int weights = factors[1]->is_constant   ? 1
                  : factors[0]->is_constant ? 0
                                            : -1;
    if (is_conv && weights == 0) return OkStatus();
    Value* narrow[2] = {nullptr, nullptr};
    // The narrowed constant weights, to which their transposes have not been
    // applied yet.
    const Value* constant = nullptr;
    if (weights >= 0) {
      EMBER_ASSIGN_OR_RETURN(narrow[weights],
                             NarrowConstant(*factors[weights]));
      if (narrow[weights] == nullptr) return OkStatus();
      constant = narrow[weights];
    }
    graph::Attributes attributes = operation->attributes();
    // The zero point of the factor that is not constant. If it is not null,
    // zero point times sums of weights is subtracted from the result.
    Value* corrected_by = nullptr;
    for (int i = 0; i < 2; ++i) {
      const Factor& factor = *factors[i];
      if (i != weights) {
        const bool corrects =
            weights >= 0 && factor.zero != nullptr &&
            (is_conv || BroadcastShape(*operation, weights).has_value());
        if (corrects) corrected_by = factor.zero;
        if (corrects || factor.zero == nullptr) {
          narrow[i] = factor.narrow;
        } else {
          EMBER_ASSIGN_OR_RETURN(narrow[i], Centered(factor));
        }
      }
      EMBER_ASSIGN_OR_RETURN(narrow[i], Transposed(narrow[i], factor));
    }
    if (is_conv && corrected_by != nullptr) {
      EMBER_ASSIGN_OR_RETURN(narrow[0],
                             Padded(narrow[0], corrected_by, attributes));
    }
    Value* wide[2];
    for (int i = 0; i < 2; ++i) {
      EMBER_ASSIGN_OR_RETURN(wide[i], rewriter_.Cast(narrow[i], DType::kI32));
    }
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(*operation, {wide[0], wide[1]},
                                              std::move(attributes)));
    if (corrected_by != nullptr) {
      EMBER_ASSIGN_OR_RETURN(Value * correction,
                             Correction(*operation, weights, constant,
                                        *factors[weights], corrected_by));
      EMBER_ASSIGN_OR_RETURN(result,
                             rewriter_.Make("subtract", {result, correction}));
    }
    rewriter_.Replace(operation, result);
    return OkStatus();
  }

  Graph& graph_;
  Rewriter rewriter_{graph_};
};

}  // namespace

bool WidensNumbers(const Operation& operation) {
  if (operation.name() != "cast") return false;
  const DType from = operation.operand(0)->dtype();
  const DType to = operation.result()->dtype();
  const bool is_kept =
      (IsFloat(from) && IsFloat(to)) || (IsInteger(from) && IsInteger(to));
  return is_kept && DTypeByteSize(from) < DTypeByteSize(to);
}

bool IsReadByProductsOnly(const Value& value) {
  return !value.users().empty() && !value.is_graph_output() &&
         std::ranges::all_of(value.users(), [](const Operation* user) {
           return IsContraction(*user);
         });
}

bool WidensForProducts(const Operation& operation) {
  return WidensNumbers(operation) && IsReadByProductsOnly(*operation.result());
}

Status NarrowProducts(Graph& graph) { return Narrower(graph).Run(); }

}  // namespace ember::compiler
