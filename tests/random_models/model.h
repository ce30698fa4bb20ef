// A generated model, with the operands to run it on.
#ifndef EMBER_TESTS_RANDOM_MODELS_MODEL_H_
#define EMBER_TESTS_RANDOM_MODELS_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "third_party/onnx/onnx.pb.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

using NamedTensors = std::vector<std::pair<std::string, vm::Tensor>>;

struct RandomModel {
  uint64_t seed = 0;
  onnx::ModelProto proto;
  NamedTensors inputs;
  // The values of the main graph, as they were when the model was generated. If
  // shrinking drops a node, the node's result becomes an input with this value.
  std::map<std::string, vm::Tensor> values;
};

// Declares the opsets of all domains, besides the default one, that the model's
// nodes use.
void AddDomains(onnx::ModelProto& model, int ml_opset);

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_MODEL_H_
