#include "frontends/onnx/import/metadata.h"

#include <utility>

#include "frontends/metadata.h"

namespace ember::onnx {

graph::Metadata MetadataOf(const ModelProto& model) {
  frontends::MetadataCollector metadata("onnx");
  metadata.Add("producer_name", model.producer_name());
  metadata.Add("producer_version", model.producer_version());
  metadata.Add("domain", model.domain());
  if (model.has_model_version())
    metadata.AddInteger("model_version", model.model_version());
  metadata.Add("doc_string", model.doc_string());
  for (const StringStringEntryProto& property : model.metadata_props())
    metadata.Add("metadata." + property.key(), property.value());
  const GraphProto& graph = model.graph();
  metadata.Add("graph.doc_string", graph.doc_string());
  for (const StringStringEntryProto& property : graph.metadata_props())
    metadata.Add("graph.metadata." + property.key(), property.value());
  return std::move(metadata).Take();
}

}  // namespace ember::onnx
