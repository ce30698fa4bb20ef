#include "frontends/stablehlo/import.h"

#include <memory>
#include <utility>

#include "base/byte_cursor.h"
#include "base/one_line.h"
#include "frontends/metadata.h"
#include "frontends/model_errors.h"
#include "frontends/stablehlo/bytecode.h"
#include "frontends/stablehlo/elements.h"
#include "frontends/stablehlo/graph_importer.h"
#include "frontends/stablehlo/parser.h"

namespace ember::stablehlo {
namespace {

// Sets the bytes of each constant that names a resource. The resources follow
// the program in the file.
Status ResolveResources(Module& module, AttributeList& attributes);

Status ResolveResource(Module& module, Attribute& attribute) {
  for (Attribute& part : attribute.array)
    EMBER_RETURN_IF_ERROR(ResolveResource(module, part));
  EMBER_RETURN_IF_ERROR(ResolveResources(module, attribute.entries));
  if (attribute.kind != Attribute::Kind::kElements ||
      attribute.elements->resource.empty())
    return OkStatus();
  const std::string& name = attribute.elements->resource;
  const auto found = module.resources.find(name);
  if (found == module.resources.end())
    return DataLossError("expected a resource '" + OnOneLine(name) +
                         "' in the file, found none");
  auto elements = ElementsOfHeld(found->second, attribute.type);
  if (!elements.ok())
    return elements.status().WithContext("resource '" + OnOneLine(name) + "'");
  attribute.elements = std::make_shared<const Elements>(*std::move(elements));
  return OkStatus();
}

Status ResolveResources(Module& module, AttributeList& attributes) {
  for (auto& [name, attribute] : attributes)
    EMBER_RETURN_IF_ERROR(ResolveResource(module, attribute));
  return OkStatus();
}

// The recursion is bounded: the parser limits the depth of regions and
// attributes.
Status ResolveResources(Module& module, Region& region) {
  for (Operation& operation : region.operations) {
    EMBER_RETURN_IF_ERROR(ResolveResources(module, operation.attributes));
    for (Region& inner : operation.regions)
      EMBER_RETURN_IF_ERROR(ResolveResources(module, inner));
  }
  return OkStatus();
}

// Reads a module from text or bytecode. owner: keeps the contents alive; null
// if they may be freed.
StatusOr<Module> Read(std::string_view contents,
                      std::shared_ptr<const void> owner) {
  EMBER_ASSIGN_OR_RETURN(Module module,
                         IsBytecode(contents)
                             ? ReadBytecode(contents, std::move(owner))
                             : ParseModule(contents));
  for (Function& function : module.functions)
    EMBER_RETURN_IF_ERROR(ResolveResources(module, function.body));
  return module;
}

StatusOr<std::shared_ptr<Module>> Open(frontends::ModelFile& file) {
  return file.Parsed<Module>([](const graph::ConstantData& contents) {
    return Read(AsText(contents.bytes), contents.owner);
  });
}

// Returns the metadata: the attributes of the module that are texts or
// integers.
graph::Metadata MetadataOf(const Module& module) {
  frontends::MetadataCollector metadata("stablehlo");
  metadata.Add("name", module.name);
  metadata.Add("producer", module.producer);
  for (const auto& [name, attribute] : module.attributes) {
    const std::string key = "attribute." + name;
    if (attribute.kind == Attribute::Kind::kString)
      metadata.Add(key, attribute.text);
    if (attribute.kind == Attribute::Kind::kInteger)
      metadata.AddInteger(key, attribute.integer);
    if (attribute.kind == Attribute::Kind::kBool)
      metadata.Add(key, attribute.integer != 0 ? "true" : "false");
  }
  return std::move(metadata).Take();
}

StatusOr<graph::Graph> Import(const Module& module,
                              const frontends::ImportOptions& options,
                              std::string_view name) {
  StatusOr<graph::Graph> graph = GraphImporter(module, options).Import();
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  graph->set_metadata(MetadataOf(module));
  return graph;
}

}  // namespace

StatusOr<graph::Graph> ImportModelContents(
    std::string_view contents, const frontends::ImportOptions& options,
    std::string_view name) {
  const StatusOr<Module> module = Read(contents, nullptr);
  if (!module.ok()) return frontends::OfModel(module.status(), name);
  return Import(*module, options, name);
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  const auto module = Open(file);
  if (!module.ok()) return frontends::OfModel(module.status(), file.path());
  return Import(**module, options, file.path());
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options) {
  const auto module = Open(file);
  if (!module.ok()) return frontends::OfModel(module.status(), file.path());
  const auto inputs = GraphImporter(**module, options).Inputs();
  if (!inputs.ok()) return frontends::OfModel(inputs.status(), file.path());
  std::vector<frontends::InputInfo> infos;
  for (const frontends::ModelInput& input : *inputs)
    infos.push_back({.name = input.name, .has_rank = true});
  return infos;
}

}  // namespace ember::stablehlo
