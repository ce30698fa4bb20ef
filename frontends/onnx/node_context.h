// What the importer of one ONNX operator sees of its node: operands, attributes
// with defaults, operands read as shapes, and where the results go.
//
//   void ImportLeakyRelu(NodeContext& c) {
//     Tensor x = c.Input(0);
//     c.SetOutput(0, Select(Less(x, 0), x * c.Float("alpha", 0.01), x));
//   }
//
// Errors and lifetime as for ImportContext.
#ifndef EMBER_FRONTENDS_ONNX_NODE_CONTEXT_H_
#define EMBER_FRONTENDS_ONNX_NODE_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/builder.h"
#include "frontends/onnx/tensor.h"
#include "frontends/onnx/tensor_proto.h"
#include "frontends/ops/axes.h"
#include "frontends/ops/import_context.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

class NodeContext : public ops::ImportContext {
 public:
  struct Source {
    const NodeProto* node = nullptr;
    std::shared_ptr<const void> owner;  // keeps the node's tensors alive
    ExternalFiles* files = nullptr;
    std::string origin;  // "conv1 (Conv)"
    int opset = 0;       // of the node's domain
    std::set<std::string>* data_dependent_inputs =
        nullptr;  // see ImportOptions
    // The outputs of a subgraph of the node, its nodes imported in place.
    std::function<StatusOr<std::vector<Tensor>>(
        const GraphProto& graph, const std::vector<Tensor>& inputs)>
        import_subgraph;
  };
  NodeContext(graph::GraphBuilder& builder, Source source,
              std::vector<Tensor> inputs);

  const NodeProto& node() const { return *source_.node; }
  int opset() const { return source_.opset; }
  // Label of the node, unique in the model unless nodes share a name.
  const std::string& origin() const { return source_.origin; }
  // The same node, in a region that it builds.
  NodeContext Inside(graph::GraphBuilder& region) const {
    return NodeContext(region, source_, {});
  }

  // Operands. Absent ones are Tensor().
  int input_count() const { return static_cast<int>(inputs_.size()); }
  Tensor Input(int index) const;
  const std::vector<Tensor>& inputs() const { return inputs_; }

  // Results.
  int output_count() const { return node().output_size(); }
  bool WantsOutput(int index) const;
  void SetOutput(int index, Tensor value);
  const std::vector<Tensor>& outputs() const { return outputs_; }

  // Attributes; an attribute of another type than asked for is an error.
  bool HasAttribute(std::string_view name) const {
    return FindAttribute(name) != nullptr;
  }
  int64_t Integer(std::string_view name, int64_t otherwise);
  double Float(std::string_view name, double otherwise);
  std::string String(std::string_view name, std::string_view otherwise);
  std::optional<std::vector<int64_t>> Integers(std::string_view name);
  std::vector<int64_t> Integers(std::string_view name,
                                std::vector<int64_t> otherwise);
  std::optional<std::vector<double>> Floats(std::string_view name);
  // The tensor as a constant of the graph; absent if the attribute is.
  Tensor TensorAttribute(std::string_view name);
  std::optional<std::vector<std::string>> Strings(std::string_view name);
  std::optional<DType> TypeAttribute(std::string_view name);
  const AttributeProto* FindAttribute(std::string_view name) const;
  // The subgraph that an attribute holds; null after an error.
  const GraphProto* Subgraph(std::string_view name);
  // The outputs of the subgraph that an attribute holds, its nodes imported
  // where this one stands. Empty after an error.
  std::vector<Tensor> ImportSubgraph(std::string_view attribute,
                                     const std::vector<Tensor>& inputs);

  // Operands whose contents must be known when compiling. Fails (and gives
  // nullopt) where they depend on the model's data, or where the operand is
  // absent.
  std::optional<Shape> Contents(int input, std::string_view what);
  // Sizes, of which none may be negative: their contents where they are known
  // when compiling, else symbols that are read when the program runs.
  std::optional<Shape> Sizes(int input, std::string_view what);
  using ImportContext::Sizes;  // of any tensor
  // Integers of either sign, read in the same way.
  std::optional<Shape> SignedSizesOf(Tensor values, std::string_view what);
  // Whether the contents of an operand are known when compiling.
  bool IsKnown(int input) const;
  std::optional<std::vector<int64_t>> ConstantIntegers(int input,
                                                       std::string_view what);
  std::optional<std::vector<double>> ConstantNumbers(int input,
                                                     std::string_view what);
  std::optional<double> ConstantNumber(int input, std::string_view what);
  // Attribute `name`, else operand `input`, else nullopt (without failing).
  std::optional<std::vector<int64_t>> IntegersFromAttributeOrInput(
      std::string_view name, int input);

  // Axes in their order, brought into 0 … rank - 1; fails for others, and for
  // one that is named twice.
  std::vector<int64_t> DistinctAxes(const std::vector<int64_t>& axes,
                                    int rank) {
    return ops::DistinctAxes(builder(), axes, rank);
  }
  // Fails unless the operand is there and has a rank in [minimum, maximum].
  bool CheckRank(int input, int minimum, int maximum = kMaximumRank) {
    return ImportContext::CheckRank(
        Input(input), "input " + std::to_string(input), minimum, maximum);
  }

  Tensor Integers64(const std::vector<int64_t>& values) {
    return Wrap(builder().Integers(values));
  }
  Tensor FromBytes(const TensorBytes& bytes);
  // Constants of strings, as handles: a scalar, and a vector.
  Tensor StringScalar(std::string_view text);
  Tensor StringVector(const std::vector<std::string>& texts);

 private:
  const AttributeProto* Typed(std::string_view name,
                              AttributeProto::AttributeType type);
  void FailDataDependent(const Tensor& operand, std::string_view what) override;

  Source source_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

// A tensor of a file as a constant of the graph; strings as handles.
Tensor ConstantOf(graph::GraphBuilder& builder, const TensorBytes& bytes);

// Adds the graph inputs that a value is computed from.
void CollectInputs(const graph::Value* value, std::set<std::string>& names);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_CONTEXT_H_
