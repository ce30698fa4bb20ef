#include "frontends/tflite/entry.h"

#include <map>
#include <span>

#include "base/one_line.h"
#include "base/unique_names.h"
#include "frontends/model_errors.h"

namespace ember::tflite {
namespace {

using TensorMaps = flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>;

// Returns the names that a signature gives to tensors, by the number of the
// tensor.
std::map<uint32_t, std::string> NamesOf(const TensorMaps* maps) {
  std::map<uint32_t, std::string> names;
  if (maps == nullptr) return names;
  for (const schema::TensorMap* map : *maps)
    names.emplace(map->tensor_index(), TextOf(map->name()));
  return names;
}

std::vector<EntryTensor> Named(const Model& model, int subgraph,
                               std::span<const int32_t> tensors,
                               const std::map<uint32_t, std::string>& names,
                               const std::string& otherwise) {
  std::vector<EntryTensor> result;
  UniqueNames unique;
  for (const int32_t tensor : tensors) {
    const auto given = names.find(static_cast<uint32_t>(tensor));
    std::string name = given != names.end()
                           ? given->second
                           : NameOfTensor(model.tensor(subgraph, tensor));
    if (name.empty()) name = otherwise + std::to_string(result.size());
    result.push_back({unique.Take(name), tensor});
  }
  return result;
}

const schema::SignatureDef* FindSignature(const Model& model,
                                          const std::string& signature) {
  if (model.root().signature_defs() == nullptr) return nullptr;
  for (const schema::SignatureDef* candidate : *model.root().signature_defs()) {
    const bool matches = signature.empty()
                             ? candidate->subgraph_index() == 0
                             : TextOf(candidate->signature_key()) == signature;
    if (matches) return candidate;
  }
  return nullptr;
}

}  // namespace

StatusOr<Entry> FindEntry(const Model& model, const std::string& signature) {
  const schema::SignatureDef* found = FindSignature(model, signature);
  if (found == nullptr && !signature.empty()) {
    std::vector<std::string> there;
    if (model.root().signature_defs() != nullptr) {
      for (const schema::SignatureDef* candidate :
           *model.root().signature_defs())
        there.push_back(TextOf(candidate->signature_key()));
    }
    return frontends::NoSuchEntry("signatures", there, signature);
  }
  Entry entry;
  if (found != nullptr)
    entry.subgraph = static_cast<int>(found->subgraph_index());
  const auto inputs = NamesOf(found == nullptr ? nullptr : found->inputs());
  const auto outputs = NamesOf(found == nullptr ? nullptr : found->outputs());
  entry.inputs = Named(model, entry.subgraph, model.InputsOf(entry.subgraph),
                       inputs, "input_");
  entry.outputs = Named(model, entry.subgraph, model.OutputsOf(entry.subgraph),
                        outputs, "output_");
  return entry;
}

}  // namespace ember::tflite
