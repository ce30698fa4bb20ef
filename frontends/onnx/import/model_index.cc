#include "frontends/onnx/import/model_index.h"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/one_line.h"
#include "frontends/onnx/import/unsupported.h"
#include "frontends/onnx/registry/operator_table.h"

namespace ember::onnx {
namespace {

// Largest nesting depth to which subgraphs and calls are scanned. It need not
// be an error: the importer, whose limit is smaller, refuses such models.
constexpr int kMaxDepth = 130;

// Appends the names that a subgraph captures: values from outside that its
// nodes or outputs use.
void CollectCaptured(const GraphProto& graph, int depth,
                     std::vector<std::string>& names) {
  if (depth > kMaxDepth) return;
  std::vector<std::string> used;
  std::set<std::string> own;
  for (const ValueInfoProto& input : graph.input()) own.insert(input.name());
  for (const TensorProto& initializer : graph.initializer())
    own.insert(initializer.name());
  for (const NodeProto& node : graph.node()) {
    used.insert(used.end(), node.input().begin(), node.input().end());
    own.insert(node.output().begin(), node.output().end());
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectCaptured(attribute.g(), depth + 1, used);
    }
  }
  for (const ValueInfoProto& output : graph.output())
    used.push_back(output.name());
  for (std::string& name : used) {
    if (own.count(name) == 0) names.push_back(std::move(name));
  }
}

// The names of the values that a node reads. `required` are the node's inputs,
// and `captured` those that its subgraphs take from outside.
struct NodeUses {
  std::vector<std::string> required;
  std::vector<std::string> captured;
};

NodeUses UsesOf(const NodeProto& node) {
  NodeUses uses;
  for (const std::string& input : node.input()) {
    if (!input.empty()) uses.required.push_back(input);
  }
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) CollectCaptured(attribute.g(), 0, uses.captured);
  }
  return uses;
}

using Producers = std::unordered_map<std::string, int>;

StatusOr<Producers> FindProducers(
    const NodeList& nodes,
    const std::function<bool(const std::string&)>& is_known) {
  Producers producers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty()) continue;
      auto [entry, added] = producers.emplace(output, i);
      if (!added && nodes[i].op_type() == "Constant" &&
          nodes[entry->second].op_type() == "Constant") {
        // If several Constant nodes produce the same name, the last one is
        // used, as in other engines.
        entry->second = i;
        continue;
      }
      if (!added) {
        return InvalidArgumentError(
            "value '" + output + "' is produced twice: by node '" +
            NodeLabel(nodes[entry->second], entry->second) + "' and by node '" +
            NodeLabel(nodes[i], i) + "'");
      }
      if (is_known(output)) {
        return InvalidArgumentError(
            "value '" + output + "' is produced by node '" +
            NodeLabel(nodes[i], i) + "' and is also an input or initializer");
      }
    }
  }
  return producers;
}

// Lists the operators of a model that the frontend does not support, in order
// of appearance, each with the labels of its nodes.
class UnsupportedOperators {
 public:
  explicit UnsupportedOperators(const ModelIndex& index) : index_(index) {}

  void Scan(const NodeList& nodes, const Opsets& opsets,
            const std::string& prefix, int depth = 0) {
    if (depth > kMaxDepth) return;
    for (int i = 0; i < nodes.size(); ++i) {
      ScanNode(nodes[i], opsets, prefix + NodeLabel(nodes[i], i), depth + 1);
    }
  }

  Status ToStatus(std::string_view model_name) const {
    if (order_.empty()) return OkStatus();
    std::string text = "model '" + std::string(model_name) +
                       "': " + std::to_string(order_.size()) +
                       (order_.size() == 1 ? " unsupported operator: "
                                           : " unsupported operators: ");
    for (size_t i = 0; i < order_.size(); ++i) {
      if (i > 0) text += ", ";
      const Unsupported& found = nodes_.at(order_[i]);
      text += order_[i] + " (" + NodeText(found.labels) +
              (found.advice.empty() ? "" : "; " + found.advice) + ")";
    }
    return UnimplementedError(std::move(text));
  }

 private:
  struct Unsupported {
    std::vector<std::string> labels;
    std::string advice;
  };

  static std::string NodeText(const std::vector<std::string>& labels) {
    constexpr size_t kShown = 5;
    std::string text = labels.size() == 1 ? "node "
                       : labels.size() <= kShown
                           ? "nodes "
                           : std::to_string(labels.size()) + " nodes: ";
    for (size_t i = 0; i < std::min(labels.size(), kShown); ++i) {
      text += (i > 0 ? ", '" : "'") + labels[i] + "'";
    }
    return labels.size() > kShown ? text + ", …" : text;
  }

  void ScanNode(const NodeProto& node, const Opsets& opsets,
                const std::string& label, int depth) {
    if (const FunctionProto* function = index_.FunctionOf(node)) {
      // A function is scanned at its first call only: other calls have the same
      // nodes.
      if (scanned_.insert(function).second) {
        Scan(function->node(), Opsets(function->opset_import()), label + "/",
             depth);
      }
      return;
    }
    const std::string_view domain = CanonicalDomain(node.domain());
    const int opset = opsets.VersionOf(domain);
    if (FindOperator(domain, node.op_type(), opset) == nullptr) {
      std::string name = domain.empty() ? "" : std::string(domain) + "::";
      name += node.op_type();
      std::string advice(UnsupportedAdvice(domain, node.op_type()));
      if (const OperatorRow* newer =
              FindOperator(domain, node.op_type(), INT32_MAX)) {
        name += "-" + std::to_string(opset);
        advice = "it is there since opset " + std::to_string(newer->since);
      }
      auto [entry, added] = nodes_.emplace(name, Unsupported());
      if (added) order_.push_back(name);
      entry->second.labels.push_back(label);
      entry->second.advice = std::move(advice);
    }
    for (const AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g())
        Scan(attribute.g().node(), opsets, label + "/", depth);
    }
  }

  const ModelIndex& index_;
  std::vector<std::string> order_;
  std::map<std::string, Unsupported> nodes_;
  std::set<const FunctionProto*> scanned_;
};

}  // namespace

Opsets::Opsets(
    const google::protobuf::RepeatedPtrField<OperatorSetIdProto>& imports) {
  for (const OperatorSetIdProto& import : imports) {
    const int64_t version = std::clamp<int64_t>(import.version(), 0, INT32_MAX);
    versions_[std::string(CanonicalDomain(import.domain()))] =
        static_cast<int>(version);
  }
}

int Opsets::VersionOf(std::string_view domain) const {
  auto found = versions_.find(domain);
  if (found != versions_.end()) return found->second;
  return domain.empty() ? 0 : 1;
}

ModelIndex::ModelIndex(const ModelProto& model)
    : model_(model), opsets_(model.opset_import()) {
  // Models older than opset imports (IR version 2) use opset 1.
  opsets_.SetDefault(1);
  for (const FunctionProto& function : model.functions()) {
    functions_[{std::string(CanonicalDomain(function.domain())),
                function.name(), function.overload()}] = &function;
  }
}

const FunctionProto* ModelIndex::FunctionOf(const NodeProto& node) const {
  auto found = functions_.find({std::string(CanonicalDomain(node.domain())),
                                node.op_type(), node.overload()});
  return found == functions_.end() ? nullptr : found->second;
}

std::string_view CanonicalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

std::string NodeLabel(const NodeProto& node, int index) {
  if (node.name().empty())
    return OnOneLine(node.op_type() + "_" + std::to_string(index));
  // Largest number of bytes of a label. Labels are kept short, because a
  // function's nodes are imported again at each call.
  constexpr size_t kLongestLabel = 256;
  return OnOneLine(node.name().substr(0, kLongestLabel));
}

std::string NodeOrigin(const NodeProto& node, int index) {
  if (node.name().empty()) return NodeLabel(node, index);
  return NodeLabel(node, index) + " (" + OnOneLine(node.op_type()) + ")";
}

Status CheckOperatorsSupported(const ModelIndex& index,
                               std::string_view model_name) {
  UnsupportedOperators unsupported(index);
  unsupported.Scan(index.model().graph().node(), index.opsets(), "");
  return unsupported.ToStatus(model_name);
}

StatusOr<std::vector<int>> OrderNodes(
    const NodeList& nodes,
    const std::function<bool(const std::string&)>& is_known) {
  EMBER_ASSIGN_OR_RETURN(const Producers producers,
                         FindProducers(nodes, is_known));
  std::vector<std::vector<int>> users(nodes.size());
  std::vector<int> missing(nodes.size(), 0);
  for (int i = 0; i < nodes.size(); ++i) {
    const NodeUses uses = UsesOf(nodes[i]);
    auto depend_on = [&](const std::string& name) {
      auto producer = producers.find(name);
      if (producer == producers.end()) return false;
      users[producer->second].push_back(i);
      ++missing[i];
      return true;
    };
    for (const std::string& name : uses.required) {
      if (!depend_on(name) && !is_known(name)) {
        return InvalidArgumentError(
            "node '" + NodeOrigin(nodes[i], i) + "': input '" + name +
            "' is not produced by any node, input or initializer");
      }
    }
    for (const std::string& name : uses.captured) depend_on(name);
  }
  // Nodes become ready when their operands are computed. The ready node with
  // the smallest position comes next, so an order that is already right is
  // kept.
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (int user : users[node]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  if (static_cast<int>(order.size()) == nodes.size()) return order;
  const int stuck =
      static_cast<int>(std::find_if(missing.begin(), missing.end(),
                                    [](int count) { return count > 0; }) -
                       missing.begin());
  return InvalidArgumentError(
      "the nodes form a cycle through or before node '" +
      NodeOrigin(nodes[stuck], stuck) + "'");
}

std::string NewerThanKnown(const ModelProto& model) {
  struct Known {
    std::string_view domain;
    int64_t version;
  };
  constexpr int64_t kFormat = 13;
  constexpr Known kOperators[] = {{"", 28}, {"ai.onnx.ml", 5}};
  std::string text;
  const auto add = [&](const std::string& what, int64_t found, int64_t known) {
    if (found <= known) return;
    text += (text.empty() ? "the model states " : ", and ") + what + " " +
            std::to_string(found) + ", where the newest known one is " +
            std::to_string(known);
  };
  add("IR version", model.ir_version(), kFormat);
  for (const OperatorSetIdProto& opset : model.opset_import()) {
    for (const Known& known : kOperators) {
      if (CanonicalDomain(opset.domain()) != known.domain) continue;
      add(known.domain.empty() ? "opset"
                               : "opset of " + std::string(known.domain),
          opset.version(), known.version);
    }
  }
  return text;
}

}  // namespace ember::onnx
