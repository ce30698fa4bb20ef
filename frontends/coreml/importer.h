// The parts of the importer. Each kind of model reads features (named values)
// and produces further ones.
//
//   Features features;                       // of the model's description
//   features["x"] = {input};
//   EMBER_RETURN_IF_ERROR(ImportAny(context, model.root(), 0, features));
//   features["y"].value
//
// An array is a feature of the same shape; an image is u8 [1, H, W, channels].
// Numbers and texts are columns [N]; N is 1 unless all inputs of the model are
// columns. Probabilities of classes are rows [N, classes], or [classes] in a
// network.
#ifndef EMBER_FRONTENDS_COREML_IMPORTER_H_
#define EMBER_FRONTENDS_COREML_IMPORTER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/coreml/model.h"
#include "frontends/import_steps.h"
#include "frontends/model_errors.h"
#include "frontends/ops/tensor.h"

namespace ember::coreml {

// Largest nesting depth of pipelines.
inline constexpr int kMaxDepth = 8;

struct FeatureValue {
  ops::Tensor value;
  std::string logical_type = {};  // "string"
  // If the value is a dictionary: its keys, in the order of the columns of
  // `value`. Keys that are integers are written as digits.
  std::vector<std::string> keys = {};
};
using Features = std::map<std::string, FeatureValue>;

// The current value of a state that a program keeps between runs.
struct ModelState {
  std::string name;
  ops::Tensor value;
};

struct ModelContext {
  graph::GraphBuilder& builder;
  const Model& model;
  frontends::ImportSteps steps;
  // If the model has very many numeric inputs: the single input [N, names] that
  // replaces them, one column per name. Else absent.
  ops::Tensor table;
  std::vector<std::string> table_names;
  std::vector<ModelState> states = {};
};

// FindMissing collects the unsupported parts of a model of any kind, and
// ImportAny imports it. `model` is a Model message.
void FindMissing(const ProtobufView& model, int depth,
                 frontends::UnsupportedParts& missing);
Status ImportAny(ModelContext& context, const ProtobufView& model, int depth,
                 Features& features);

// network.cc
void FindMissingLayers(const ProtobufView& network,
                       frontends::UnsupportedParts& missing);
Status ImportNetwork(ModelContext& context, const ProtobufView& model,
                     uint64_t kind, Features& features);
// program.cc
void FindMissingOperations(const ProtobufView& program,
                           frontends::UnsupportedParts& missing);
Status ImportProgram(ModelContext& context, const ProtobufView& model,
                     Features& features);
// Returns the labels of a classifier that is an ML program; empty for other
// programs.
std::vector<std::string> ClassLabelsOf(const ProtobufView& program);
// classic.cc
bool IsClassic(uint64_t kind);
Status ImportClassic(ModelContext& context, const ProtobufView& model,
                     uint64_t kind, Features& features);

// Adds the results of a classifier: the label of the best score, and all
// scores. labels has a StringVector in field 100 or an Int64Vector in field
// 101. Scores are [N, classes] or [classes].
Status AddClasses(ModelContext& context, const ProtobufView& model,
                  const ProtobufView& labels, ops::Tensor scores,
                  Features& features);

// Adds the results of a classifier like AddClasses, for labels that have been
// read already: integers, or handles of texts (numbers of interned strings).
Status AddChoice(ModelContext& context, const ProtobufView& model,
                 const std::vector<int64_t>& values, bool are_texts,
                 ops::Tensor scores, Features& features);

// dictionaries.cc: returns all keys that a model's vectorizers look up in a
// dictionary of this name, each once; empty if the model lists none.
std::vector<std::string> DictionaryKeys(const ProtobufView& model,
                                        const std::string& name);

// Returns the feature of this name; fails if it is missing.
StatusOr<ops::Tensor> FindFeature(const Features& features,
                                  const std::string& name);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_IMPORTER_H_
