// TensorFlow graphs that have been read and checked, so that all references
// that the rest of the frontend follows are in range.
//
//   frontends::ModelFile file("saved_model.pb");
//   EMBER_ASSIGN_OR_RETURN(auto model, Model::Open(file));
//   const Node& node = model->main().nodes[3];
//   node.op             // "Conv2D"
//   node.inputs[0]      // {node 1, output 0}
//
// Files: GraphDef and SavedModel, each in its binary and its text form; for a
// SavedModel also its variables (variables/variables.index in the same folder).
// They are read in pieces, so that weights in graphs are in memory once;
// variables stay in the mapped files.
//
// The reader checks the schema, that names are unique, and that each input
// names a result of a node. The bodies of functions are checked when they are
// first requested. Errors are one line. Except for that check a model is
// immutable. It is thread-compatible.
#ifndef EMBER_FRONTENDS_TENSORFLOW_MODEL_H_
#define EMBER_FRONTENDS_TENSORFLOW_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "frontends/model_file.h"
#include "frontends/tensorflow/checkpoint.h"
#include "third_party/tensorflow/tensorflow.pb.h"

namespace ember::tensorflow {

// A reference to a result of a node.
struct Source {
  int node = 0;
  int output = 0;
  bool operator==(const Source&) const = default;
  auto operator<=>(const Source&) const = default;
};

struct Node {
  // The node's definition in the file; null for a node that represents an
  // argument of a function.
  const NodeDef* def = nullptr;
  std::string_view name;
  // Name of the operator; "_Arg" for an argument of a function.
  std::string_view op;
  std::vector<Source> inputs;
  // Nodes that must run before this node (control edges).
  std::vector<int> controls;
};

// The main graph of a model, or a function. The nodes of a function begin with
// its arguments.
struct Body {
  std::string name;  // Name of the function; empty for the main graph.
  const FunctionDef* function = nullptr;
  int arguments = 0;
  std::vector<Node> nodes;
  std::vector<Source> results;  // The results of a function, in order.
  // The nodes of a function that each call runs for their effects.
  std::vector<int> control_results;
  std::unordered_map<std::string_view, int> by_name;
};

class Model {
 public:
  // Largest number of nodes of a file, all functions together.
  static constexpr int kMaxNodes = 1 << 20;

  // Reads the file once; later calls return the same model.
  static StatusOr<std::shared_ptr<const Model>> Open(
      frontends::ModelFile& file);
  // Reads a model from memory. `folder`: where the variables of a SavedModel
  // are; empty if there are none.
  static StatusOr<std::shared_ptr<const Model>> Read(
      std::span<const uint8_t> bytes, const std::string& folder = "");
  // True if a file's contents begin like a GraphDef or a SavedModel, in binary
  // or text form.
  static bool IsModel(std::string_view contents);

  const Body& main() const { return main_; }
  // Returns the checked body of a function. Fails if there is no function of
  // this name, or if it is malformed.
  StatusOr<const Body*> Function(std::string_view name) const;
  // Returns the definition of a function; null if there is none of this name.
  const FunctionDef* Definition(std::string_view name) const;
  bool is_saved_model() const { return meta_ != nullptr; }
  // Returns the SavedModel's MetaGraphDef; null for a GraphDef.
  const MetaGraphDef* meta() const { return meta_; }
  // The folder of a SavedModel's files; empty if there is none.
  const std::string& folder() const { return folder_; }
  // The signatures by key; empty for a GraphDef.
  const std::map<std::string, const SignatureDef*>& signatures() const {
    return signatures_;
  }
  // Finds a result of a node of the main graph by its name, "node" or "node:1".
  StatusOr<Source> FindSource(std::string_view name) const;

  // HasVariable is true if the checkpoint has the tensor from which a variable
  // is restored. Variable returns that tensor.
  bool HasVariable(const std::string& name) const {
    return variables_.contains(name);
  }
  StatusOr<CheckpointTensor> Variable(const std::string& name) const;

 private:
  Model() = default;
  Status Index();
  Status IndexVariables();
  Status RestoreByFunction(const Node& restore);
  void AddRestored(const Body& body, Source value, const std::string& name);

  GraphDef graph_;
  SavedModel saved_;
  const MetaGraphDef* meta_ = nullptr;
  const GraphDef* root_ = nullptr;
  Body main_;
  std::map<std::string, const FunctionDef*, std::less<>> functions_;
  mutable std::map<std::string, std::unique_ptr<Body>, std::less<>> bodies_;
  std::map<std::string, const SignatureDef*> signatures_;
  // The key in the checkpoint of each variable, by the name of the variable.
  std::map<std::string, std::string> variables_;
  std::shared_ptr<const Checkpoint> checkpoint_;
  // Variables that have been looked up. Looking one up verifies its checksum,
  // and each call of a function may look up the same variables.
  mutable std::map<std::string, CheckpointTensor> found_variables_;
  std::string folder_;
};

// Returns the name that a node gives its variable: shared_name, else the node's
// own name.
std::string VariableName(const Node& node);
// Returns an attribute; null if it is omitted.
const AttrValue* FindAttribute(const Node& node, std::string_view name);
// Returns the name of a node in errors, on one line: "conv1 (Conv2D)".
std::string OriginOf(const Node& node);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_MODEL_H_
