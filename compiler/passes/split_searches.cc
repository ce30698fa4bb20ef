#include "compiler/passes/split_searches.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::ConstantData;
using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::Shape;
using graph::Value;

constexpr int64_t kLeastExtent = 16;

// True if the pass splits this search: it runs along elements that are adjacent
// in memory (all later dims have extent 1), and their number is a constant of
// at least kLeastExtent and below 2^31 - 1.
bool IsSplit(const Operation& operation) {
  if (operation.name() != "arg_reduce") return false;
  const Shape& shape = operation.operand(0)->shape();
  const auto axis = operation.attributes().Get<int64_t>("axis");
  const auto extent = shape[static_cast<size_t>(axis)].AsConstant();
  return extent && *extent >= kLeastExtent &&
         *extent < std::numeric_limits<int32_t>::max() &&
         std::all_of(
             shape.begin() + axis + 1, shape.end(),
             [](const Dim& dim) { return dim == Dim(1); });
}

class Splitter {
 public:
  explicit Splitter(Graph& graph) : rewriter_(graph) {}

  Status Split(Operation* search) {
    const graph::Attributes& attributes = search->attributes();
    const auto axis = attributes.Get<int64_t>("axis");
    const auto* last = attributes.Find("last");
    const bool takes_last = last != nullptr && std::get<int64_t>(*last) != 0;
    Value* x = search->operand(0);
    Shape kept = x->shape();
    const auto extent =
        static_cast<int32_t>(kept[static_cast<size_t>(axis)].constant());
    kept[static_cast<size_t>(axis)] = Dim(1);
    rewriter_.StartAt(search);
    EMBER_ASSIGN_OR_RETURN(
        Value * best, Reduce(x, attributes.Get<std::string>("mode"), axis));
    EMBER_ASSIGN_OR_RETURN(best, rewriter_.Reshape(best, kept));
    EMBER_ASSIGN_OR_RETURN(Value * found, rewriter_.Make("equal", {x, best}));
    if (IsFloat(x->dtype())) {
      EMBER_ASSIGN_OR_RETURN(Value * is_nan,
                             rewriter_.Make("not_equal", {x, x}));
      EMBER_ASSIGN_OR_RETURN(found, rewriter_.Make("or", {found, is_nan}));
    }
    EMBER_ASSIGN_OR_RETURN(Value * places, Positions(*x, axis));
    EMBER_ASSIGN_OR_RETURN(Value * none, Number(takes_last ? -1 : extent));
    EMBER_ASSIGN_OR_RETURN(places,
                           rewriter_.Make("select", {found, places, none}));
    EMBER_ASSIGN_OR_RETURN(
        Value * place,
        Reduce(places, takes_last ? "maximum" : "minimum", axis));
    EMBER_ASSIGN_OR_RETURN(place, rewriter_.Cast(place, DType::kI64));
    rewriter_.Replace(search, place);
    return OkStatus();
  }

 private:
  StatusOr<Value*> Reduce(Value* x, std::string_view combiner, int64_t axis) {
    return rewriter_.Make("reduce", {x},
                          {{"combiner", std::string(combiner)},
                           {"axes", std::vector<int64_t>{axis}}});
  }

  StatusOr<Value*> Positions(const Value& x, int64_t axis) {
    Shape shape(x.shape().size(), Dim(1));
    shape[static_cast<size_t>(axis)] = x.shape()[static_cast<size_t>(axis)];
    return rewriter_.Make(
        "iota", {},
        {{"shape", std::move(shape)}, {"axis", axis}, {"dtype", DType::kI32}});
  }

  StatusOr<Value*> Number(int32_t number) {
    uint8_t bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof bytes);
    return rewriter_.Constant({DType::kI32, {}}, ConstantData::Copy(bytes));
  }

  Rewriter rewriter_;
};

}  // namespace

Status SplitSearches(Graph& graph) {
  Splitter splitter(graph);
  for (Operation* operation : graph.Operations()) {
    if (IsSplit(*operation)) EMBER_RETURN_IF_ERROR(splitter.Split(operation));
  }
  return OkStatus();
}

}  // namespace ember::compiler
