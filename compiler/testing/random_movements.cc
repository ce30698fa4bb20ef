#include "compiler/testing/random_movements.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/rounding.h"
#include "compiler/graph/operators.h"
#include "tensor/scalar.h"
#include "tensor/testing/random_values.h"

namespace ember::compiler {
namespace {

using graph::Attributes;
using graph::Dim;
using graph::Graph;
using graph::Shape;
using graph::Value;

// Values with many more elements than this are not made, so that evaluating the
// graph is fast.
constexpr int64_t kMaxElements = 3000;

class Generator : private tensor::RandomChoices {
 public:
  explicit Generator(uint64_t seed)
      : RandomChoices(seed),
        graph_("movements_" + std::to_string(seed)),
        type_(Chance(3) ? DType::kF32 : DType::kI32) {
    symbols_ = {{"N", 1 + Below(4)}, {"M", Chance(3) ? 1 : 2 + Below(5)}};
  }

  RandomMovements Run() {
    std::vector<graph::TensorData> inputs;
    // The first input has one dim for each symbol, which gives the symbols
    // their values.
    inputs.push_back(AddInput({Dim::Symbol("N"), Dim::Symbol("M")}));
    for (int i = 1 + Below(2); i > 0; --i)
      inputs.push_back(AddInput(AnyShape()));
    for (int i = 2 + Below(10); i > 0; --i) AddOperation();
    const int outputs = 1 + Below(2);
    for (int i = 0; i < outputs; ++i) {
      // The first output of the graph is the value that was made last; other
      // outputs are picked at random.
      Value* const value = i == 0 ? values_.back() : Pick(values_);
      graph_.AddOutput("y" + std::to_string(i), value);
    }
    return {std::move(graph_), std::move(inputs)};
  }

 private:
  // --- dims ---

  int64_t Number(const Dim& dim) const {
    const StatusOr<int64_t> value = dim.Evaluate(symbols_);
    EMBER_CHECK(value.ok()) << value.status().ToString();
    return *value;
  }
  int64_t Number(const Shape& shape) const {
    int64_t count = 1;
    for (const Dim& dim : shape) count *= Number(dim);
    return count;
  }
  Dim AnyDim() {
    switch (Below(12)) {
      case 0:
        return Dim::Symbol("N");
      case 1:
        return Dim::Symbol("M");
      case 2:
        return Dim::Symbol("N") * (1 + Below(4));
      case 3:
      case 4:
      case 5:
        return 1;
      default: {
        constexpr int64_t kSizes[] = {2, 2, 3, 4, 6, 6, 12, 17};
        return kSizes[Below(8)];
      }
    }
  }
  Shape AnyShape() {
    Shape shape;
    for (int i = 1 + Below(5); i > 0; --i) {
      shape.push_back(AnyDim());
      if (Number(shape) > kMaxElements) shape.back() = 1;
    }
    return shape;
  }

  graph::ConstantData Elements(int64_t count) {
    std::vector<uint8_t> bytes(
        static_cast<size_t>(count * DTypeByteSize(type_)));
    // Makes an input's elements almost all different, so that a test notices if
    // elements are moved wrongly.
    const int64_t first = Below(1000);
    for (int64_t i = 0; i < count; ++i) {
      tensor::StoreElement(
          bytes.data(), i, type_,
          tensor::DoubleToBits(static_cast<double>((first + i * 7) % 8191),
                               type_));
    }
    return graph::ConstantData::Copy(bytes);
  }

  graph::TensorData AddInput(const Shape& shape) {
    values_.push_back(
        *graph_.AddInput("x" + std::to_string(values_.size()), {type_, shape}));
    graph::TensorData data;
    data.dtype = type_;
    for (const Dim& dim : shape) data.extents.push_back(Number(dim));
    data.data = Elements(Number(shape));
    return data;
  }

  // --- operations ---

  Value* Try(std::string_view name, std::vector<Value*> operands,
             Attributes attributes) {
    const auto operation =
        graph_.Add(graph::OperatorNamed(name), std::move(operands),
                   std::move(attributes), "");
    if (!operation.ok() || (*operation)->results().size() != 1) return nullptr;
    Value* const result = (*operation)->result();
    if (Number(result->shape()) > kMaxElements) return nullptr;
    values_.push_back(result);
    return result;
  }

  std::vector<int64_t> AnyPermutation(int rank) {
    std::vector<int64_t> permutation;
    for (int i = 0; i < rank; ++i) permutation.push_back(i);
    for (int i = rank; i > 1; --i)
      std::swap(permutation[static_cast<size_t>(i - 1)],
                permutation[static_cast<size_t>(Below(i))]);
    return permutation;
  }

  // Returns a random shape for a reshape: it splits and merges dims, and
  // removes and adds dims of extent 1.
  Shape Reshaped(const Shape& from) {
    Shape shape;
    for (const Dim& dim : from) {
      if (dim == Dim(1) && Chance(2)) continue;
      if (Chance(8)) shape.push_back(1);
      const std::optional<int64_t> size = dim.AsConstant();
      if (!shape.empty() && Chance(3)) {
        shape.back() = shape.back() * dim;
      } else if (size && *size > 2 && Chance(3)) {
        int64_t factor = 2 + Below(3);
        while (*size % factor != 0) --factor;
        shape.push_back(Chance(2) ? factor : *size / factor);
        shape.push_back(FloorDivide(dim, shape.back()));
      } else {
        shape.push_back(dim);
      }
    }
    if (Chance(6)) shape.push_back(1);
    return shape;
  }

  Value* AddConstant(const Shape& shape) {
    return Try("constant", {},
               {{"value", Elements(Number(shape))},
                {"dtype", type_},
                {"shape", shape}});
  }

  // Combines x elementwise with another value of the same shape, or of a shape
  // that broadcasts with the shape of x.
  void AddElementwise(Value* x) {
    static constexpr std::string_view kNames[] = {"maximum", "minimum", "add",
                                                  "subtract"};
    // Values of f32 are only combined by maximum and minimum, not added, so
    // that all their elements stay small integers, which are exact.
    const int kinds = type_ == DType::kF32 ? 2 : 4;
    Value* other = Pick(values_);
    for (int i = 0; i < 6 && other->shape() != x->shape(); ++i)
      other = Pick(values_);
    const bool is_constant = graph::IsConstant(x->shape());
    if (is_constant && Chance(2)) {
      Shape shape = x->shape();
      for (Dim& dim : shape) {
        if (Chance(2)) dim = 1;
      }
      while (!shape.empty() && Chance(2)) shape.erase(shape.begin());
      other = AddConstant(shape);
    }
    if (other == nullptr) return;
    const bool swaps = Chance(2);
    Try(kNames[Below(kinds)], {swaps ? other : x, swaps ? x : other}, {});
  }

  void AddSlice(Value* x) {
    Shape starts, sizes;
    std::vector<int64_t> steps;
    for (const Dim& dim : x->shape()) {
      const std::optional<int64_t> size = dim.AsConstant();
      const bool cuts = size && *size > 1 && Chance(2);
      const int64_t start = cuts ? Below(static_cast<int>(*size)) : 0;
      starts.push_back(start);
      const int64_t step = cuts && Chance(3) ? 2 : 1;
      steps.push_back(step);
      sizes.push_back(cuts ? Dim(DivideRoundingUp(*size - start, step)) : dim);
    }
    Try("slice", {x}, {{"starts", starts}, {"steps", steps}, {"sizes", sizes}});
  }

  void AddPad(Value* x) {
    Shape low, high;
    for (int i = 0; i < x->rank(); ++i) {
      low.push_back(Chance(3) ? Below(3) : 0);
      high.push_back(Chance(3) ? Below(3) : 0);
    }
    if (Value* const value = AddConstant({})) {
      Try("pad", {x, value},
          {{"low", low}, {"high", high}, {"mode", "constant"}});
    }
  }

  void AddReduce(Value* x) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < x->rank(); ++axis) {
      if (Chance(3)) axes.push_back(axis);
    }
    const bool sums = type_ == DType::kI32 && Chance(2);
    Try("reduce", {x},
        {{"combiner", sums ? "sum" : "maximum"}, {"axes", axes}});
  }

  void AddWindow(Value* x) {
    std::vector<int64_t> window, ones;
    Shape none;
    for (const Dim& dim : x->shape()) {
      window.push_back(dim.AsConstant().value_or(1) > 1 ? 1 + Below(2) : 1);
      ones.push_back(1);
      none.push_back(0);
    }
    Try("reduce_window", {x},
        {{"combiner", "maximum"},
         {"window", window},
         {"strides", ones},
         {"dilations", ones},
         {"low", none},
         {"high", none}});
  }

  void AddGather(Value* x) {
    const int axis = Below(x->rank());
    const std::optional<int64_t> size =
        x->shape()[static_cast<size_t>(axis)].AsConstant();
    if (!size || *size == 0) return;
    Shape shape;
    if (Chance(2)) shape.push_back(1 + Below(3));
    std::vector<int64_t> indices;
    for (int64_t i = Number(shape); i > 0; --i)
      indices.push_back(Below(static_cast<int>(*size)));
    std::vector<uint8_t> bytes(indices.size() * sizeof(int64_t));
    std::memcpy(bytes.data(), indices.data(), bytes.size());
    const auto constant =
        graph_.Add(graph::OperatorNamed("constant"), {},
                   {{"value", graph::ConstantData::Copy(bytes)},
                    {"dtype", DType::kI64},
                    {"shape", shape}},
                   "");
    if (!constant.ok()) return;
    Try("gather", {x, (*constant)->result()}, {{"axis", int64_t{axis}}});
  }

  void AddOperation() {
    // The first operand is mostly the value that was made last, so that most
    // graphs are chains.
    Value* const x = Chance(4) ? Pick(values_) : values_.back();
    const int rank = x->rank();
    if (rank == 0) {
      Try("broadcast", {x}, {{"shape", AnyShape()}});
      return;
    }
    switch (Below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        Try("transpose", {x}, {{"permutation", AnyPermutation(rank)}});
        return;
      case 4:
      case 5:
      case 6:
      case 7:
        Try("reshape", {x}, {{"shape", Reshaped(x->shape())}});
        return;
      case 8:
        return AddSlice(x);
      case 9:
        return AddPad(x);
      case 10: {
        Shape shape = x->shape();
        for (Dim& dim : shape) {
          if (dim == Dim(1) && Chance(2)) dim = AnyDim();
        }
        if (Chance(3)) shape.insert(shape.begin(), AnyDim());
        Try("broadcast", {x}, {{"shape", shape}});
        return;
      }
      case 11:
        return AddReduce(x);
      case 12:
        Try("concat", {x, Chance(2) ? x : Pick(values_)},
            {{"axis", int64_t{Below(rank)}}});
        return;
      case 13:
        return Chance(2) ? AddWindow(x) : AddGather(x);
      default:
        return AddElementwise(x);
    }
  }

  Graph graph_;
  const DType type_;
  std::map<std::string, int64_t> symbols_;
  std::vector<Value*> values_;
};

}  // namespace

RandomMovements MakeRandomMovements(uint64_t seed) {
  return Generator(seed).Run();
}

}  // namespace ember::compiler
