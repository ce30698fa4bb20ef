// Small valid models that tests damage. Together they use all code that reads
// numbers, names and subgraphs from a model.
//
//   ModelBuilder m = SampleModel("loop");
//
// "layers" and "more_layers" hold many operators with attributes and constant
// operands; "loop", "scan", "if", "quantized" and "function" contain the
// operator or construct that their name says; "external" has a weight of 16
// bytes at offset 64 of weights.bin.
#ifndef EMBER_FRONTENDS_ONNX_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_ONNX_TESTING_SAMPLE_MODELS_H_

#include <string_view>
#include <vector>

#include "frontends/onnx/testing/model_builder.h"

namespace ember::onnx {

std::vector<std::string_view> SampleModelNames();
// Returns a sample. `name` must be one of SampleModelNames(), which is checked.
ModelBuilder SampleModel(std::string_view name);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_TESTING_SAMPLE_MODELS_H_
