#include "compiler/graph/testing/random_graph.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "compiler/graph/operators.h"
#include "tensor/scalar.h"

namespace ember::graph {
namespace {

class GraphGenerator {
 public:
  explicit GraphGenerator(uint64_t seed)
      : random_(seed), graph_("random_" + std::to_string(seed)) {}

  Graph Make(int operations) {
    for (int i = Below(3); i >= 0; --i) AddInput();
    while (static_cast<int>(graph_.operations().size()) < operations)
      AddOperation();
    const int outputs = 1 + Below(3);
    for (int i = 0; i < outputs; ++i) {
      graph_.AddOutput(i == 0 ? "out" : "out/" + std::to_string(i), AnyValue());
    }
    return std::move(graph_);
  }

 private:
  int Below(int limit) {
    return static_cast<int>(random_() % static_cast<uint64_t>(limit));
  }
  bool Chance(int one_in) { return Below(one_in) == 0; }
  DType AnyDType() { return static_cast<DType>(Below(kDTypeCount)); }
  Value* AnyValue() {
    return values_[static_cast<size_t>(
        Below(static_cast<int>(values_.size())))];
  }

  Dim AnyDim() {
    switch (Below(6)) {
      case 0:
        return Dim::Symbol("N");
      case 1:
        return Dim::Symbol("H") * 2 + 1;
      case 2:
        return FloorDivide(Dim::Symbol("H") + 1, 2);
      default:
        return 1 + Below(4);
    }
  }
  Shape AnyShape() {
    Shape shape;
    for (int i = Below(4); i > 0; --i) shape.push_back(AnyDim());
    return shape;
  }

  void AddInput() {
    const std::string name = (Chance(2) ? "input" : "input.of/") +
                             std::to_string(graph_.inputs().size());
    values_.push_back(*graph_.AddInput(name, {AnyDType(), AnyShape()}));
  }

  // Tries to add an operation and leaves it out if it does not fit. Generating
  // by trial reaches all operators without a second copy of their rules.
  void Try(std::string_view name, std::vector<Value*> operands,
           Attributes attributes) {
    const std::string origin =
        Chance(3) ? "Node \"" + std::to_string(Below(100)) + "\"\n" : "";
    StatusOr<Operation*> operation =
        graph_.Add(OperatorNamed(name), std::move(operands),
                   std::move(attributes), origin);
    if (!operation.ok()) return;
    for (const auto& result : (*operation)->results()) {
      if (Chance(2))
        result->set_name("v" + std::to_string(Below(5)) +
                         (Chance(4) ? "/x" : ""));
      values_.push_back(result.get());
    }
  }

  Value* AddConstant() {
    const DType dtype = AnyDType();
    Shape shape;
    for (int i = Below(3); i > 0; --i) shape.push_back(Below(5));
    const int64_t count = ElementCount(shape).constant();
    std::vector<uint8_t> bytes(
        static_cast<size_t>(count * DTypeByteSize(dtype)));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(Below(256));
    if (dtype == DType::kBool) {
      for (uint8_t& byte : bytes) byte &= 1;
    }
    Try("constant", {},
        {{"value", ConstantData::Copy(bytes)},
         {"dtype", dtype},
         {"shape", shape}});
    return values_.back();
  }

  std::vector<int64_t> Integers(int count, int low, int high) {
    std::vector<int64_t> values;
    for (int i = 0; i < count; ++i)
      values.push_back(low + Below(high - low + 1));
    return values;
  }
  Shape Dims(int count, int low, int high) {
    const std::vector<int64_t> values = Integers(count, low, high);
    return Shape(values.begin(), values.end());
  }
  std::vector<int64_t> Permutation(int rank) {
    std::vector<int64_t> permutation;
    for (int i = 0; i < rank; ++i) permutation.push_back(i);
    for (int i = rank - 1; i > 0; --i) {
      std::swap(permutation[static_cast<size_t>(i)],
                permutation[static_cast<size_t>(Below(i + 1))]);
    }
    return permutation;
  }
  std::string Pick(std::initializer_list<const char*> names) {
    return names.begin()[Below(static_cast<int>(names.size()))];
  }

  void AddElementwise() {
    const auto table = OperatorTable();
    const OperatorRecord& record =
        table[static_cast<size_t>(Below(static_cast<int>(table.size())))];
    if (!record.is_instruction) return;
    std::vector<Value*> operands{AnyValue()};
    if (record.minimum_operands == 2) {
      operands.push_back(Chance(2) ? operands[0] : AnyValue());
    }
    Try(record.name, std::move(operands), {});
  }

  void AddOperation() {
    Value* const x = AnyValue();
    const int rank = x->rank();
    const int64_t axis = rank == 0 ? 0 : Below(rank);
    switch (Below(20)) {
      case 0:
        AddConstant();
        break;
      case 1:
        Try("shape_value", {}, {{"values", AnyShape()}});
        break;
      case 2:
        Try("iota", {},
            {{"shape", AnyShape()},
             {"axis", int64_t{0}},
             {"dtype", AnyDType()}});
        break;
      case 3:
        Try("cast", {x}, {{"dtype", AnyDType()}});
        break;
      case 4:
        Try("bitcast", {x}, {{"dtype", AnyDType()}});
        break;
      case 5:
        Try("reshape", {x},
            {{"shape", Chance(2) ? Shape{ElementCount(x->shape())}
                                 : Shape{1, ElementCount(x->shape()), 1}}});
        break;
      case 6:
        Try("transpose", {x}, {{"permutation", Permutation(rank)}});
        break;
      case 7: {
        Shape shape = x->shape();
        shape.insert(shape.begin(), AnyDim());
        Try("broadcast", {x}, {{"shape", shape}});
        break;
      }
      case 8:
        Try("slice", {x},
            {{"starts", Dims(rank, 0, 1)},
             {"steps", Integers(rank, -1, 2)},
             {"sizes", Dims(rank, 0, 2)}});
        break;
      case 9:
        Try("pad", {x},
            {{"low", Dims(rank, -1, 2)},
             {"high", Dims(rank, -1, 2)},
             {"mode", Pick({"edge", "reflect", "wrap"})}});
        break;
      case 10:
        Try("pad", {x, AddConstant()},
            {{"low", Dims(rank, 0, 2)},
             {"high", Dims(rank, 0, 2)},
             {"mode", "constant"}});
        break;
      case 11:
        Try("concat", {x, x, AnyValue()}, {{"axis", axis}});
        break;
      case 12:
        Try(Pick({"gather", "gather_elements"}), {x, AnyValue()},
            {{"axis", axis}});
        break;
      case 13:
        Try("gather_nd", {x, AnyValue()}, {});
        break;
      case 14:
        Try("scatter_elements", {x, AnyValue(), AnyValue()},
            {{"axis", axis}, {"update", Pick({"assign", "add", "maximum"})}});
        break;
      case 15:
        Try("reduce", {x},
            {{"combiner", Pick({"sum", "product", "minimum", "maximum"})},
             {"axes", std::vector<int64_t>{axis}}});
        break;
      case 16:
        Try("arg_reduce", {x},
            {{"mode", Pick({"minimum", "maximum"})},
             {"axis", axis},
             {"last", int64_t{Below(2)}}});
        break;
      case 17:
        Try("reduce_window", {x},
            {{"combiner", Pick({"sum", "maximum"})},
             {"window", Integers(rank, 1, 2)},
             {"strides", Integers(rank, 1, 2)},
             {"dilations", Integers(rank, 1, 2)},
             {"low", Dims(rank, 0, 1)},
             {"high", Dims(rank, 0, 1)}});
        break;
      case 18:
        AddContraction(x);
        break;
      default:
        AddElementwise();
        break;
    }
  }

  void AddContraction(Value* x) {
    if (x->rank() == 2 && Chance(2)) {
      Try("contract", {x, x},
          {{"spec", Pick({"ik,jk->ij", "ab,ab->", "ab,cb->acb"})}});
      return;
    }
    if (x->rank() < 2) return;
    // Reshapes x to [1, elements, 1] and tries a convolution of it with a
    // window of two positions, so that weights of one shape fit any x.
    Try("reshape", {x}, {{"shape", Shape{1, ElementCount(x->shape()), 1}}});
    Value* const image = values_.back();
    if (image->rank() != 3 || image->dtype() == DType::kBool) return;
    const std::vector<uint8_t> bytes(
        static_cast<size_t>(2 * DTypeByteSize(image->dtype())));
    Try("constant", {},
        {{"value", ConstantData::Copy(bytes)},
         {"dtype", image->dtype()},
         {"shape", Shape{2, 1, 1}}});
    Attributes attributes{{"strides", Integers(1, 1, 2)},
                          {"dilations", Integers(1, 1, 2)},
                          {"low", Dims(1, 0, 2)},
                          {"high", Dims(1, 0, 2)},
                          {"groups", int64_t{1}}};
    const bool transposed = Chance(2);
    if (transposed) attributes.Set("output_padding", Integers(1, 0, 1));
    Try(transposed ? "conv_transpose" : "conv", {image, values_.back()},
        std::move(attributes));
  }

  std::mt19937_64 random_;
  Graph graph_;
  std::vector<Value*> values_;
};

}  // namespace

Graph RandomGraph(uint64_t seed, int operations) {
  return GraphGenerator(seed).Make(operations);
}

}  // namespace ember::graph
