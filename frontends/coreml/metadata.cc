#include "frontends/coreml/metadata.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/coreml/importer.h"
#include "frontends/metadata.h"

namespace ember::coreml {
namespace {

// Numbers of the fields of a classifier's labels: texts (a StringVector), or
// integers (an Int64Vector).
constexpr uint64_t kTexts = 100, kIntegers = 101;

std::vector<std::string> LabelsOf(const ProtobufView& classifier) {
  std::vector<std::string> labels = classifier.Message(kTexts).Texts(1);
  for (const int64_t number : classifier.Message(kIntegers).Integers(1))
    labels.push_back(std::to_string(number));
  return labels;
}

// Returns the labels of the model, or of the last part of a pipeline that has
// any.
std::vector<std::string> FindLabels(const ProtobufView& model, int depth) {
  const uint64_t kind = KindOf(model);
  switch (kind) {
    case kGlmClassifier:
    case kSvmClassifier:
    case kTreeClassifier:
    case kNetworkClassifier:
      return LabelsOf(model.Message(kind));
    case kProgram:
      return ClassLabelsOf(model.Message(kind));
    case kPipeline:
    case kPipelineClassifier:
    case kPipelineRegressor:
      break;
    default:
      return {};
  }
  if (depth >= kMaxDepth) return {};
  const ProtobufView pipeline = model.Message(kind);
  std::vector<std::string> labels;
  for (const ProtobufView& part :
       (kind == kPipeline ? pipeline : pipeline.Message(1)).Messages(1)) {
    std::vector<std::string> found = FindLabels(part, depth + 1);
    if (!found.empty()) labels = std::move(found);
  }
  return labels;
}

// Numbers of the fields of ModelDescription, FeatureDescription and Metadata.
constexpr uint64_t kInputs = 1, kOutputs = 10, kPredictedLabel = 11,
                   kProbabilities = 12, kModelMetadata = 100;
constexpr uint64_t kFeatureName = 1, kFeatureDescription = 2;
constexpr uint64_t kUserDefined = 100, kMapKey = 1, kMapValue = 2;

}  // namespace

graph::Metadata MetadataOf(const Model& model) {
  frontends::MetadataCollector metadata("coreml");
  const ProtobufView description = model.root().Message(kDescription);
  const ProtobufView said = description.Message(kModelMetadata);
  constexpr std::string_view kNames[] = {"short_description", "version",
                                         "author", "license"};
  uint64_t field = 1;
  for (const std::string_view name : kNames)
    metadata.Add(name, said.Text(field++));
  for (const ProtobufView& entry : said.Messages(kUserDefined))
    metadata.Add("user." + entry.Text(kMapKey), entry.Text(kMapValue));
  for (const auto& [number, kind] :
       {std::pair(kInputs, "input."), std::pair(kOutputs, "output.")}) {
    for (const ProtobufView& feature : description.Messages(number))
      metadata.Add(kind + feature.Text(kFeatureName) + ".short_description",
                   feature.Text(kFeatureDescription));
  }
  for (const Feature& input : FeaturesOf(description, kInputs)) {
    std::string keys;
    if (input.kind == Feature::kDictionary)
      for (const std::string& key : DictionaryKeys(model.root(), input.name))
        keys += (keys.empty() ? "" : "\n") + key;
    metadata.Add("input." + input.name + ".keys", keys);
    if (input.kind == Feature::kImage) {
      metadata.Add("input." + input.name + ".color", input.is_gray  ? "GRAY"
                                                     : input.is_bgr ? "BGR"
                                                                    : "RGB");
    }
  }
  metadata.Add("predicted_feature", description.Text(kPredictedLabel));
  metadata.Add("predicted_probabilities", description.Text(kProbabilities));
  std::string lines;
  for (const std::string& label : FindLabels(model.root(), 0))
    lines += (lines.empty() ? "" : "\n") + label;
  metadata.Add("class_labels", lines);
  return std::move(metadata).Take();
}

}  // namespace ember::coreml
