#include "compiler/passes/index_comparisons.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/passes/constant_value.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::ConstantData;
using graph::Dim;
using graph::Operation;
using graph::Value;

constexpr std::string_view kComparisons[] = {"equal", "not_equal", "less",
                                             "less_equal"};

bool IsComparison(const Operation& operation) {
  return std::ranges::find(kComparisons, operation.name()) !=
         std::end(kComparisons);
}

// Describes a constant with the values start, start + 1, … along one axis; all
// its other dims have extent 1.
struct Counted {
  int64_t axis = 0;
  int64_t start = 0;
};

std::optional<Counted> CountedBy(const Value* value) {
  const Operation* constant = ConstantOf(value);
  if (constant == nullptr || value->dtype() != DType::kI64) return std::nullopt;
  Counted counted;
  int long_axes = 0;
  for (size_t d = 0; d < value->shape().size(); ++d) {
    if (value->shape()[d] == Dim(1)) continue;
    counted.axis = static_cast<int64_t>(d);
    ++long_axes;
  }
  const auto& bytes = constant->attributes().Get<ConstantData>("value").bytes;
  const auto element = [&](size_t i) {
    int64_t number;
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
    return number;
  };
  const size_t count = bytes.size() / sizeof(int64_t);
  if (long_axes != 1 || count < 2) return std::nullopt;
  counted.start = element(0);
  for (size_t i = 1; i < count; ++i) {
    // The expected next element is computed in unsigned arithmetic, because a
    // signed sum could overflow.
    if (static_cast<uint64_t>(element(i)) !=
        static_cast<uint64_t>(counted.start) + i) {
      return std::nullopt;
    }
  }
  return counted;
}

StatusOr<Value*> IndexFor(const Value& constant, const Counted& counted,
                          Rewriter& rewriter) {
  graph::Attributes attributes;
  attributes.Set("shape", constant.shape());
  attributes.Set("axis", counted.axis);
  attributes.Set("dtype", DType::kI64);
  EMBER_ASSIGN_OR_RETURN(Value * index,
                         rewriter.Make("iota", {}, std::move(attributes)));
  if (counted.start == 0) return index;
  uint8_t bytes[sizeof counted.start];
  std::memcpy(bytes, &counted.start, sizeof bytes);
  const graph::Shape ones(constant.shape().size(), Dim(1));
  EMBER_ASSIGN_OR_RETURN(
      Value * start,
      rewriter.Constant({DType::kI64, ones}, ConstantData::Copy(bytes)));
  return rewriter.Make("add", {index, start});
}

// Returns the operation that computes the elements of the value: its producer,
// or the one before any reshapes. Returns null for an input.
const Operation* SourceOf(const Value* value) {
  const Operation* producer = value->producer();
  while (producer != nullptr && producer->name() == "reshape")
    producer = producer->operand(0)->producer();
  return producer;
}

bool IsIndex(const Value* value) {
  const Operation* source = SourceOf(value);
  return source != nullptr && source->name() == "iota";
}

// True if all elements are one constant number, or if the value is a single dim
// of the model.
bool IsNumber(const Value* value) {
  if (UniformConstant(value).has_value()) return true;
  const Operation* source = SourceOf(value);
  return source != nullptr && source->name() == "shape_value" &&
         source->result()->shape() == graph::Shape{Dim(1)};
}

// True for an index plus or minus numbers: the form in which IndexFor writes
// counted constants, and the positions of a causal mask.
bool IsShiftedIndex(const Operation& operation) {
  if (operation.name() != "add" && operation.name() != "subtract") return false;
  const auto is_shifted = [](const Value* value) {
    const Operation* source = SourceOf(value);
    return IsIndex(value) ||
           (source != nullptr && source->name() == "add" &&
            IsIndex(source->operand(0)) && IsNumber(source->operand(1)));
  };
  return is_shifted(operation.operand(0)) && IsNumber(operation.operand(1));
}

bool IsComparisonOfIndices(const Operation& operation) {
  return IsComparison(operation) &&
         std::ranges::all_of(operation.operands(), [](const Value* operand) {
           const Operation* source = SourceOf(operand);
           return IsIndex(operand) || IsNumber(operand) ||
                  (source != nullptr && IsShiftedIndex(*source));
         });
}

}  // namespace

Status UseIndicesInComparisons(graph::Graph& graph) {
  Rewriter rewriter(graph);
  for (Operation* operation : graph.Operations()) {
    if (!IsComparison(*operation)) continue;
    std::vector<Value*> operands = OperandsOf(*operation);
    rewriter.StartAt(operation);
    bool has_changed = false;
    for (Value*& operand : operands) {
      const std::optional<Counted> counted = CountedBy(operand);
      if (!counted) continue;
      EMBER_ASSIGN_OR_RETURN(operand, IndexFor(*operand, *counted, rewriter));
      has_changed = true;
    }
    if (!has_changed) continue;
    EMBER_ASSIGN_OR_RETURN(Value * compared,
                           rewriter.MakeLike(*operation, std::move(operands)));
    rewriter.Replace(operation, compared);
  }
  return OkStatus();
}

bool IsOfIndices(const Operation& operation) {
  if (IsShiftedIndex(operation) || IsComparisonOfIndices(operation))
    return true;
  // The operation may also be the conjunction of two comparisons of indices, as
  // in the mask of a sliding window.
  return operation.name() == "and" &&
         std::ranges::all_of(operation.operands(), [](const Value* operand) {
           const Operation* source = SourceOf(operand);
           return source != nullptr && IsComparisonOfIndices(*source);
         });
}

}  // namespace ember::compiler
