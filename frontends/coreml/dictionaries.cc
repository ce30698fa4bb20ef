// Imports dictionaries from texts or integers to numbers, and the
// DictVectorizer, which puts their values in a fixed order. A dictionary
// becomes a tensor with a column per key; the keys are known at import.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontends/coreml/tables.h"
#include "frontends/ops/compositions.h"

namespace ember::coreml {
namespace {

using ops::Dim;
using ops::Tensor;

// Numbers of the fields of DictVectorizer that hold its keys: a list of texts,
// or of integers.
constexpr uint64_t kTextKeys = 1, kIntegerKeys = 2;

std::vector<std::string> KeysOf(const ProtobufView& vectorizer) {
  std::vector<std::string> keys = vectorizer.Message(kTextKeys).Texts(1);
  for (const int64_t key : vectorizer.Message(kIntegerKeys).Integers(1))
    keys.push_back(std::to_string(key));
  return keys;
}

void AddKeys(const ProtobufView& model, const std::string& name, int depth,
             std::vector<std::string>& keys) {
  const uint64_t kind = KindOf(model);
  if (kind == kDictionaryVectorizer) {
    const std::vector<Feature> inputs =
        FeaturesOf(model.Message(kDescription), 1);
    if (inputs.size() != 1 || inputs[0].name != name) return;
    for (const std::string& key : KeysOf(model.Message(kind)))
      keys.push_back(key);
    return;
  }
  if (depth >= kMaxDepth) return;
  const ProtobufView pipeline = model.Message(kind);
  if (kind == kPipeline) {
    for (const ProtobufView& part : pipeline.Messages(1))
      AddKeys(part, name, depth + 1, keys);
  } else if (kind == kPipelineClassifier || kind == kPipelineRegressor) {
    for (const ProtobufView& part : pipeline.Message(1).Messages(1))
      AddKeys(part, name, depth + 1, keys);
  }
}

}  // namespace

std::vector<std::string> DictionaryKeys(const ProtobufView& model,
                                        const std::string& name) {
  std::vector<std::string> all, distinct;
  AddKeys(model, name, 0, all);
  std::set<std::string> seen;
  for (const std::string& key : all)
    if (seen.insert(key).second) distinct.push_back(key);
  return distinct;
}

Status ImportDictionaryVectorizer(ModelContext& context,
                                  const ProtobufView& model,
                                  Features& features) {
  const std::vector<Feature> inputs =
      FeaturesOf(model.Message(kDescription), 1);
  const auto found =
      inputs.size() == 1 ? features.find(inputs[0].name) : features.end();
  if (found == features.end() || found->second.keys.empty()) {
    return UnimplementedError(
        "a dictionary vectorizer of other than one dictionary whose keys are "
        "known");
  }
  const std::vector<std::string>& keys = found->second.keys;
  const Tensor rows = AsRows(found->second.value, /*is_column=*/false);
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const auto count = static_cast<int64_t>(keys.size());
  EMBER_RETURN_IF_ERROR(CheckColumns(rows, count, "dictionary"));
  std::map<std::string, int64_t> places;
  for (int64_t i = 0; i < count; ++i)
    places.emplace(keys[static_cast<size_t>(i)], i);
  // The dictionary's columns are followed by a column of zeros: the vectorizer
  // reads it for a key that the dictionary lacks.
  std::vector<int64_t> chosen;
  for (const std::string& key : KeysOf(model.Message(kDictionaryVectorizer))) {
    const auto place = places.find(key);
    chosen.push_back(place == places.end() ? count : place->second);
  }
  if (chosen.empty()) return DataLossError("expected keys, found none");
  const Tensor padded =
      ops::Concat({rows, Broadcast(rows.Like(0), {rows.dim(0), Dim(1)})}, 1);
  const Tensor which(&context.builder, context.builder.Integers(chosen));
  return SetRows(model, Gather(padded, which, 1), features);
}

}  // namespace ember::coreml
