// Prints a model as one line of text, for reports.
#ifndef EMBER_TESTS_RANDOM_MODELS_MODEL_TEXT_H_
#define EMBER_TESTS_RANDOM_MODELS_MODEL_TEXT_H_

#include <string>

#include "tests/random_models/model.h"

namespace ember::tests {

// Returns the text of a model, such as "opset 17: x0: f32[2,3], c1 = f32[3]; v2
// = Add(x0, c1); v3 = Softmax(v2){axis=1} -> v3".
std::string ModelText(const onnx::ModelProto& model);

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_MODEL_TEXT_H_
