// The parts of the importer: each kind of model takes features by name, and
// gives others.
//
//   Features features;                       // of the model's description
//   features["x"] = {input};
//   EMBER_RETURN_IF_ERROR(ImportAny(context, model.root(), 0, features));
//   features["y"].value
//
// Features: arrays as they are, images u8 [1, H, W, channels], numbers and
// texts as columns [N], where N is 1 unless all inputs of the model are such.
// Probabilities of classes are rows [N, classes], or [classes] of a network.
#ifndef EMBER_FRONTENDS_COREML_IMPORTER_H_
#define EMBER_FRONTENDS_COREML_IMPORTER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder.h"
#include "frontends/coreml/model.h"
#include "frontends/import_steps.h"
#include "frontends/model_errors.h"
#include "frontends/ops/tensor.h"

namespace ember::coreml {

// Pipelines within pipelines.
inline constexpr int kMaxDepth = 8;

struct FeatureValue {
  ops::Tensor value;
  std::string logical_type = {};  // "string"
  // Of a dictionary, in the order of its columns; integers as digits.
  std::vector<std::string> keys = {};
};
using Features = std::map<std::string, FeatureValue>;

// What a program keeps from run to run, as it is so far.
struct ModelState {
  std::string name;
  ops::Tensor value;
};

struct ModelContext {
  graph::GraphBuilder& builder;
  const Model& model;
  frontends::ImportSteps steps;
  // The only input of a model of many numbers, [N, names]; else absent.
  ops::Tensor table;
  std::vector<std::string> table_names;
  std::vector<ModelState> states = {};
};

// Of any kind. `model` is a Model message.
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
// Of a program that classifies; none of others.
std::vector<std::string> ClassLabelsOf(const ProtobufView& program);
// classic.cc
bool IsClassic(uint64_t kind);
Status ImportClassic(ModelContext& context, const ProtobufView& model,
                     uint64_t kind, Features& features);

// The results of a classifier: the label of the best score, and all scores.
// labels has StringVector in field 100 or Int64Vector in field 101; scores are
// [N, classes] or [classes].
Status AddClasses(ModelContext& context, const ProtobufView& model,
                  const ProtobufView& labels, ops::Tensor scores,
                  Features& features);

// The same of labels that are read: integers, or handles of texts.
Status AddChoice(ModelContext& context, const ProtobufView& model,
                 const std::vector<int64_t>& values, bool are_texts,
                 ops::Tensor scores, Features& features);

// dictionaries.cc: all keys that a model's vectorizers look for in a dictionary
// of this name, each once; none where the model does not say any.
std::vector<std::string> DictionaryKeys(const ProtobufView& model,
                                        const std::string& name);

// A feature that must be there.
StatusOr<ops::Tensor> FindFeature(const Features& features,
                                  const std::string& name);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_IMPORTER_H_
