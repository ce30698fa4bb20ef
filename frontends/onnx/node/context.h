// The node as the importer of an ONNX operator sees it: operands, attributes
// with defaults, operands read as shapes, and the results to set.
//
//   void ImportLeakyRelu(NodeContext& c) {
//     Tensor x = c.Input(0);
//     c.SetOutput(0, Select(Less(x, 0), x * c.Float("alpha", 0.01), x));
//   }
//
// Errors and lifetime are those of ImportContext.
#ifndef EMBER_FRONTENDS_ONNX_NODE_CONTEXT_H_
#define EMBER_FRONTENDS_ONNX_NODE_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/onnx/node/tensor.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "frontends/ops/axes.h"
#include "frontends/ops/import_context.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

class NodeContext : public ops::ImportContext {
 public:
  struct Source {
    const NodeProto* node = nullptr;
    // Keeps alive the model's message, which holds the node and its tensors.
    std::shared_ptr<const void> owner;
    ExternalFiles* files = nullptr;
    std::string origin;  // "conv1 (Conv)"
    int opset = 0;       // Version of the operator set of the node's domain.
    std::set<std::string>* data_dependent_inputs =
        nullptr;  // see ImportOptions
    // Imports a subgraph of the node into the graph that contains the node, and
    // returns the outputs of the subgraph.
    std::function<StatusOr<std::vector<Tensor>>(
        const GraphProto& graph, const std::vector<Tensor>& inputs)>
        import_subgraph;
    // Names of the node's attributes that the importer has read, so that others
    // can be reported as unknown. Copies of the context share the set.
    std::shared_ptr<std::set<std::string, std::less<>>> read_attributes =
        std::make_shared<std::set<std::string, std::less<>>>();
  };
  NodeContext(graph::GraphBuilder& builder, Source source,
              std::vector<Tensor> inputs);

  const NodeProto& node() const { return *source_.node; }
  int opset() const { return source_.opset; }
  // Label of the node, unique in the model unless nodes share a name.
  const std::string& origin() const { return source_.origin; }
  // Returns a context for the same node that adds operators to `region` instead
  // of the graph. It has no operands, because they belong to the graph.
  NodeContext Inside(graph::GraphBuilder& region) const {
    return NodeContext(region, source_, {});
  }

  // Access to the node's operands. An optional operand that is not given is
  // Tensor().
  int input_count() const { return static_cast<int>(inputs_.size()); }
  Tensor Input(int index) const;
  const std::vector<Tensor>& inputs() const { return inputs_; }

  // Results.
  int output_count() const { return node().output_size(); }
  bool WantsOutput(int index) const;
  void SetOutput(int index, Tensor value);
  const std::vector<Tensor>& outputs() const { return outputs_; }

  // These functions return attributes. An attribute of another type than the
  // function returns is an error.
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
  // Returns the tensor in an attribute as a constant of the graph; absent if
  // the node has no such attribute.
  Tensor TensorAttribute(std::string_view name);
  std::optional<std::vector<std::string>> Strings(std::string_view name);
  std::optional<DType> TypeAttribute(std::string_view name);
  const AttributeProto* FindAttribute(std::string_view name) const;
  const std::set<std::string, std::less<>>& read_attributes() const {
    return *source_.read_attributes;
  }
  // Returns the subgraph of an attribute; null after an error.
  const GraphProto* Subgraph(std::string_view name);
  // Imports the subgraph of an attribute in the graph that contains this node,
  // and returns its outputs. Empty after an error.
  std::vector<Tensor> ImportSubgraph(std::string_view attribute,
                                     const std::vector<Tensor>& inputs);

  // Reads an operand whose contents must be known when compiling. Fails (and
  // returns nullopt) if they depend on the model's data, or if the operand is
  // absent.
  std::optional<Shape> Contents(int input, std::string_view what);
  // Reads sizes, none of which may be negative: their contents if they are
  // known when compiling, else symbols that are read when the program runs.
  std::optional<Shape> Sizes(int input, std::string_view what);
  using ImportContext::Sizes;  // for any tensor
  // Reads integers of either sign: their contents if they are known when
  // compiling, else symbols that are read when the program runs; nullopt after
  // an error.
  std::optional<Shape> SignedSizesOf(Tensor values, std::string_view what);
  // True if the contents of an operand are integers that are known when
  // compiling, maybe with symbols.
  bool IsKnown(int input) const;
  std::optional<std::vector<int64_t>> ConstantIntegers(int input,
                                                       std::string_view what);
  std::optional<std::vector<double>> ConstantNumbers(int input,
                                                     std::string_view what);
  std::optional<double> ConstantNumber(int input, std::string_view what);
  // Returns the integers of the attribute `name` or, without it, the contents
  // of operand `input`. If the node has neither, it returns nullopt without an
  // error.
  std::optional<std::vector<int64_t>> IntegersFromAttributeOrInput(
      std::string_view name, int input);

  // Returns the axes in their order, normalized to 0 … rank - 1. Fails for axes
  // out of range, and for an axis that occurs twice.
  std::vector<int64_t> DistinctAxes(const std::vector<int64_t>& axes,
                                    int rank) {
    return ops::DistinctAxes(builder(), axes, rank);
  }
  // Returns false, with an error, unless the operand is present and has a rank
  // in [minimum, maximum].
  bool CheckRank(int input, int minimum, int maximum = kMaxRank) {
    return ImportContext::CheckRank(
        Input(input), "input " + std::to_string(input), minimum, maximum);
  }

  Tensor Integers64(const std::vector<int64_t>& values) {
    return Wrap(builder().Integers(values));
  }
  Tensor FromBytes(const TensorBytes& bytes);
  // Return strings as constants in the graph, which represents each string by a
  // handle: as a scalar and as a vector.
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

// Returns a tensor that was read from a file as a constant of the graph.
// Strings become handles.
Tensor ConstantOf(graph::GraphBuilder& builder, const TensorBytes& bytes);

// Adds to `names` the names of all graph inputs from which `value` is computed.
void CollectInputs(const graph::Value* value, std::set<std::string>& names);

// Returns false, with an error, unless the operands with these indices are
// present. It is for operators whose optional inputs precede required ones.
bool CheckPresent(NodeContext& c, std::initializer_list<int> inputs);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_NODE_CONTEXT_H_
