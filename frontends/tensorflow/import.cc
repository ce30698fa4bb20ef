#include "frontends/tensorflow/import.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/model_errors.h"
#include "frontends/tensorflow/entry.h"
#include "frontends/tensorflow/graph_importer.h"
#include "frontends/tensorflow/metadata.h"
#include "frontends/tensorflow/model.h"
#include "frontends/tensorflow/operator_table.h"

namespace ember::tensorflow {
namespace {

// Collects the unsupported operators that the entry needs: each once, with how
// often it occurs and the reason.
class UnsupportedOperators {
 public:
  explicit UnsupportedOperators(const Model& model) : model_(model) {}

  // Number of operators of the main body that the entry needs.
  StatusOr<size_t> Check(const Entry& entry) {
    std::set<Source> given;
    for (const EntryInput& input : entry.inputs) given.insert(input.source);
    std::vector<int> roots;
    for (const EntryOutput& output : entry.outputs) {
      if (!given.contains(output.source)) roots.push_back(output.source.node);
    }
    const size_t operators = Scan(model_.main(), roots, given, "");
    // Scans the functions that the scanned operators call, each once.
    while (!functions_.empty()) {
      const std::string name = *functions_.begin();
      functions_.erase(functions_.begin());
      if (!scanned_.insert(name).second) continue;
      EMBER_ASSIGN_OR_RETURN(const Body* body, model_.Function(name));
      std::vector<int> all = body->control_results;
      for (const Source& result : body->results) all.push_back(result.node);
      Scan(*body, all, {}, OnOneLine(name) + "/");
    }
    EMBER_RETURN_IF_ERROR(missing_.ToStatus());
    return operators;
  }

 private:
  // Collects the unsupported operators among the nodes that the nodes on the
  // stack need, and returns how many of them are operators of the table.
  // Control flow is not counted, because it is not known how often its parts
  // are imported.
  size_t Scan(const Body& body, std::vector<int> stack,
              const std::set<Source>& given, const std::string& prefix) {
    size_t count = 0;
    std::vector<bool> seen(body.nodes.size());
    while (!stack.empty()) {
      const int number = stack.back();
      stack.pop_back();
      if (seen[static_cast<size_t>(number)]) continue;
      seen[static_cast<size_t>(number)] = true;
      const Node& node = body.nodes[static_cast<size_t>(number)];
      Add(node, prefix);
      const OperatorRow* row = FindRow(node.op);
      if (row != nullptr && row->kind == OperatorKind::kOperator) ++count;
      for (const Source& input : node.inputs)
        if (!given.contains(input)) stack.push_back(input.node);
    }
    return count;
  }

  void Add(const Node& node, const std::string& prefix) {
    if (node.def == nullptr) return;
    const OperatorRow* row = FindRow(node.op);
    if (row == nullptr && model_.Definition(node.op) != nullptr) {
      functions_.insert(std::string(node.op));
      return;
    }
    if (row == nullptr || !row->reason.empty()) {
      missing_.Add(std::string(node.op), prefix + std::string(node.name),
                   row != nullptr ? row->reason : "");
      return;
    }
    for (const auto& [name, attribute] : node.def->attr()) {
      if (attribute.has_func()) functions_.insert(attribute.func().name());
      if (!attribute.has_list()) continue;
      for (const NameAttrList& function : attribute.list().func())
        functions_.insert(function.name());
    }
  }

  const Model& model_;
  std::set<std::string> functions_, scanned_;
  frontends::UnsupportedParts missing_{"operators", "node"};
};

StatusOr<graph::Graph> ImportRead(std::shared_ptr<const Model> model,
                                  const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const Entry entry, FindEntry(*model, options.entry));
  EMBER_ASSIGN_OR_RETURN(const size_t operators,
                         UnsupportedOperators(*model).Check(entry));
  return GraphImporter(std::move(model), entry, options, operators).Import();
}

StatusOr<graph::Graph> Imported(
    const StatusOr<std::shared_ptr<const Model>>& model,
    const frontends::ImportOptions& options, std::string_view name) {
  if (!model.ok()) return frontends::OfModel(model.status(), name);
  StatusOr<graph::Graph> graph = ImportRead(*model, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  graph->set_metadata(MetadataOf(**model));
  return graph;
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        const frontends::ImportOptions& options,
                                        std::string_view name,
                                        const std::string& folder) {
  return Imported(Model::Read(bytes, folder), options, name);
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  return Imported(Model::Open(file), options, file.name());
}

}  // namespace ember::tensorflow
