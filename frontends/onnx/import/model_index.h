// Lookups in a model that the importer and the checks share: functions by name,
// opset versions, node labels.
#ifndef EMBER_FRONTENDS_ONNX_IMPORT_MODEL_INDEX_H_
#define EMBER_FRONTENDS_ONNX_IMPORT_MODEL_INDEX_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/status.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

using NodeList = google::protobuf::RepeatedPtrField<NodeProto>;

// Maps domains of operators to their versions. The default domain is "".
class Opsets {
 public:
  Opsets() = default;
  explicit Opsets(
      const google::protobuf::RepeatedPtrField<OperatorSetIdProto>& imports);
  // Returns the version of the operator set of a domain. It is 1 for a domain
  // that the model does not import, because optimizers forget to import domains
  // that they use; for the default domain it is then 0.
  int VersionOf(std::string_view domain) const;
  void SetDefault(int version) { versions_.emplace("", version); }

 private:
  std::map<std::string, int, std::less<>> versions_;
};

class ModelIndex {
 public:
  // Builds the index of a model. The model must outlive the index.
  explicit ModelIndex(const ModelProto& model);

  const ModelProto& model() const { return model_; }
  const Opsets& opsets() const { return opsets_; }
  // Returns the model-local function that a node calls, or null.
  const FunctionProto* FunctionOf(const NodeProto& node) const;

 private:
  using FunctionKey = std::tuple<std::string, std::string, std::string>;
  const ModelProto& model_;
  Opsets opsets_;
  std::map<FunctionKey, const FunctionProto*> functions_;
};

// Returns "" for the default domain under either of its names.
std::string_view CanonicalDomain(std::string_view domain);

// Returns one line about versions of the format and of operator sets that are
// newer than those that this importer knows; empty if there are none.
std::string NewerThanKnown(const ModelProto& model);
// Returns the node's name, or OpType_index without one, on one line; a long
// name is cut.
std::string NodeLabel(const NodeProto& node, int index);
// Returns "conv1 (Conv)", or "Conv_3" for a node without a name.
std::string NodeOrigin(const NodeProto& node, int index);

// Returns an Unimplemented error that lists every operator of the model that
// has no row in the operator table, with its nodes; OK if there is none.
Status CheckOperatorsSupported(const ModelIndex& index,
                               std::string_view model_name);

// Returns the positions of `nodes` in an order in which definitions come before
// uses; the given order is kept where it is right. `is_known(name)` is true for
// names from outside. Errors: a name that is produced twice or nowhere, a
// cycle.
StatusOr<std::vector<int>> OrderNodes(
    const NodeList& nodes,
    const std::function<bool(const std::string&)>& is_known);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_MODEL_INDEX_H_
