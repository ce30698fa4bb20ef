// Small Core ML models of each kind, made in memory.
#ifndef EMBER_FRONTENDS_COREML_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_COREML_TESTING_SAMPLE_MODELS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontends/coreml/testing/message.h"

namespace ember::coreml {

// Make parts of a ModelDescription: features, and lists of inputs and outputs.
// Arrays are f32, images are RGB.
Message ArrayFeature(const std::string& name, const std::vector<int64_t>& dims);
Message ImageFeature(const std::string& name, int64_t height, int64_t width);
Message DoubleFeature(const std::string& name);
Message StringFeature(const std::string& name);
Message Description(const std::vector<Message>& inputs,
                    const std::vector<Message>& outputs);
// Makes a model of the given kind, a ModelField of coreml/model.h.
Message ModelOf(const Message& description, uint64_t kind,
                const Message& parameters);
// Makes a layer of a network.
Message LayerOf(uint64_t kind, const Message& parameters,
                const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs);
// Makes a branch node of a tree. Behavior 6 makes a leaf.
Message BranchOf(int64_t node, int64_t behavior, int64_t feature, double value,
                 int64_t yes, int64_t no, bool missing_is_true = false);
Message LeafOf(int64_t node,
               const std::vector<std::pair<int64_t, double>>& votes);

// An operation of a program. Its inputs are earlier values, by name.
Message OperationOf(
    const std::string& type,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& inputs,
    const std::string& output);
Message ConstFloats(const std::string& name, const std::vector<int64_t>& dims,
                    const std::vector<float>& values);
Message ConstInts(const std::string& name, const std::vector<int64_t>& values);
Message ConstBool(const std::string& name, bool value);
Message ConstText(const std::string& name, const std::string& text);
// Makes a block of an operation. The inputs of the block have the given names.
Message BlockOf(const std::vector<std::string>& inputs,
                const std::vector<Message>& operations,
                const std::vector<std::string>& outputs);
Message ProgramOf(const std::vector<Message>& operations,
                  const std::vector<std::string>& outputs);

// Pairs of name and file, for tests that damage the files.
const std::vector<std::pair<std::string, std::string>>& SampleModels();

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_TESTING_SAMPLE_MODELS_H_
