#include "frontends/tflite/import.h"

#include <string_view>
#include <utility>

#include "frontends/import_steps.h"
#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"
#include "frontends/tflite/entry.h"
#include "frontends/tflite/graph_importer.h"
#include "frontends/tflite/metadata.h"
#include "frontends/tflite/model.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {
namespace {

// Returns the text, for the error message, that says why a custom operator is
// unsupported and what the user can do.
std::string_view ReasonOfCustom(std::string_view name) {
  if (name.starts_with("Flex")) {
    return "it is an operator of TensorFlow itself: give the SavedModel that "
           "the file was converted from, or convert it without SELECT_TF_OPS";
  }
  if (name == "edgetpu-custom-op") {
    return "it is compiled for the Edge TPU: give the model that "
           "edgetpu_compiler was given";
  }
  return "only the program that the model was made for knows what it computes: "
         "convert the model without it";
}

Status CheckOperators(const Model& model) {
  frontends::UnsupportedParts missing("operators", "node");
  for (int subgraph = 0; subgraph < model.subgraph_count(); ++subgraph) {
    for (const schema::Operator* op : model.OperatorsOf(subgraph)) {
      const OperatorRow* row = FindRow(model, *op);
      if (row != nullptr && row->reason.empty()) continue;
      const bool custom = model.CodeOf(*op) == schema::BuiltinOperator::CUSTOM;
      const auto outputs = SpanOf(op->outputs());
      missing.Add((custom ? "custom operator " : "") + model.NameOf(*op),
                  outputs.empty()
                      ? ""
                      : NameOfTensor(model.tensor(subgraph, outputs[0])),
                  row != nullptr ? row->reason
                  : custom       ? ReasonOfCustom(model.NameOf(*op))
                                 : "");
    }
  }
  return missing.ToStatus();
}

struct OpenedModel {
  std::shared_ptr<const Model> model;
  // The bytes of the file, which `model` keeps alive.
  std::span<const uint8_t> bytes;
};

StatusOr<std::unique_ptr<OpenedModel>> Open(const graph::ConstantData& file) {
  auto opened = std::make_unique<OpenedModel>();
  opened->bytes = file.bytes;
  EMBER_ASSIGN_OR_RETURN(opened->model, Model::Read(file.bytes, file.owner));
  return opened;
}

StatusOr<graph::Graph> ImportOpened(const std::shared_ptr<const Model>& model,
                                    const frontends::ImportOptions& options) {
  EMBER_RETURN_IF_ERROR(CheckOperators(*model));
  EMBER_ASSIGN_OR_RETURN(const Entry entry, FindEntry(*model, options.entry));
  frontends::ImportSteps steps(options.progress);
  GraphImporter open(model, entry, options, steps, /*fixed=*/false);
  StatusOr<graph::Graph> graph = open.Import();
  if (graph.ok() || graph.status().code() == StatusCode::kResourceExhausted ||
      graph.status().code() == StatusCode::kCancelled) {
    return graph;
  }
  GraphImporter fixed(model, entry, options, steps, /*fixed=*/true);
  StatusOr<graph::Graph> again = fixed.Import();
  const bool counts =
      again.ok() || again.status().code() == StatusCode::kCancelled;
  return counts ? std::move(again) : std::move(graph);
}

template <typename Pointer>
StatusOr<graph::Graph> ImportRead(const StatusOr<Pointer>& opened,
                                  const frontends::ImportOptions& options,
                                  std::string_view name) {
  if (!opened.ok()) return frontends::OfModel(opened.status(), name);
  const OpenedModel& file = **opened;
  StatusOr<graph::Graph> graph = ImportOpened(file.model, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  graph->set_metadata(MetadataOf(*file.model, file.bytes));
  return graph;
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  return ImportRead(Open(frontends::KeptBytes(bytes, std::move(owner))),
                    options, name);
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  return ImportRead(file.Parsed<OpenedModel>(Open), options, file.name());
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<OpenedModel> opened,
                         file.Parsed<OpenedModel>(Open));
  EMBER_ASSIGN_OR_RETURN(const Entry entry,
                         FindEntry(*opened->model, options.entry));
  std::vector<frontends::InputInfo> inputs;
  for (const EntryTensor& input : entry.inputs) inputs.push_back({input.name});
  return inputs;
}

}  // namespace ember::tflite
