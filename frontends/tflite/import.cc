#include "frontends/tflite/import.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/one_line.h"
#include "frontends/tflite/entry.h"
#include "frontends/tflite/graph_importer.h"
#include "frontends/tflite/model.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {
namespace {

// All of them, each once with how often it occurs and why it is not there.
Status CheckOperators(const Model& model) {
  struct Use {
    std::string node, reason;
    int count = 0;
  };
  std::map<std::string, Use> missing;
  for (int subgraph = 0; subgraph < model.subgraph_count(); ++subgraph) {
    for (const schema::Operator* op : model.OperatorsOf(subgraph)) {
      const OperatorRow* row = FindRow(model, *op);
      if (row != nullptr && row->reason.empty()) continue;
      const bool custom = model.CodeOf(*op) == schema::BuiltinOperator::CUSTOM;
      Use& use =
          missing[(custom ? "custom operator " : "") + model.NameOf(*op)];
      const auto outputs = SpanOf(op->outputs());
      if (use.count++ == 0 && !outputs.empty())
        use.node = NameOfTensor(model.tensor(subgraph, outputs[0]));
      if (row != nullptr) use.reason = row->reason;
    }
  }
  if (missing.empty()) return OkStatus();
  std::string text = "unsupported operators: ";
  bool first = true;
  for (const auto& [name, use] : missing) {
    text += (first ? "" : ", ") + name + " (node '" + use.node + "'" +
            (use.count > 1 ? ", " + std::to_string(use.count) + " nodes" : "") +
            (use.reason.empty() ? "" : "; " + use.reason) + ")";
    first = false;
  }
  return UnimplementedError(text);
}

StatusOr<graph::Graph> ImportRead(std::shared_ptr<const Model> model,
                                  const frontends::ImportOptions& options) {
  EMBER_RETURN_IF_ERROR(CheckOperators(*model));
  EMBER_ASSIGN_OR_RETURN(const Entry entry, FindEntry(*model, options.entry));
  GraphImporter open(model, entry, options, /*fixed=*/false);
  StatusOr<graph::Graph> graph = open.Import();
  if (graph.ok() || graph.status().code() == StatusCode::kResourceExhausted ||
      graph.status().code() == StatusCode::kCancelled) {
    return graph;
  }
  GraphImporter fixed(model, entry, options, /*fixed=*/true);
  StatusOr<graph::Graph> again = fixed.Import();
  return again.ok() ? std::move(again) : std::move(graph);
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  const std::string where = "model '" + OnOneLine(name) + "'";
  if (owner == nullptr) {
    // As aligned as a mapped file.
    constexpr std::align_val_t kAlignment{64};
    auto* copy = static_cast<uint8_t*>(
        ::operator new(std::max<size_t>(bytes.size(), 1), kAlignment));
    if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
    owner = std::shared_ptr<uint8_t>(
        copy, [](uint8_t* memory) { ::operator delete(memory, kAlignment); });
    bytes = {copy, bytes.size()};
  }
  auto model = Model::Read(bytes, std::move(owner));
  if (!model.ok()) return model.status().WithContext(where);
  StatusOr<graph::Graph> graph = ImportRead(*std::move(model), options);
  if (graph.ok()) return graph;
  return Status(graph.status().code(), OnOneLine(graph.status().message()))
      .WithContext(where);
}

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  auto owner = std::make_shared<const MappedFile>(std::move(file));
  return ImportModelBytes(owner->bytes(), owner, options,
                          std::filesystem::path(path).filename().string());
}

}  // namespace ember::tflite
