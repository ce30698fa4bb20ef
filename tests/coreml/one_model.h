// Imports Core ML models from memory and runs them on tier 0.
//
//   ExpectNumbers(RunLayer(830, Message().Float(2, 1), {x}), {y});
//
// For tests; not thread-safe.
#ifndef EMBER_TESTS_COREML_ONE_MODEL_H_
#define EMBER_TESTS_COREML_ONE_MODEL_H_

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "frontends/coreml/testing/sample_models.h"
#include "tests/formats/numbers.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

Numbers F64(std::vector<int64_t> dims, std::vector<double> values);

StatusOr<std::vector<vm::Tensor>> RunTensors(
    const std::string& bytes, const std::vector<Numbers>& inputs);
StatusOr<std::vector<Numbers>> RunModel(const std::string& bytes,
                                        const std::vector<Numbers>& inputs);

// Runs one layer of a network, of the kind with this number. Arrays keep their
// shapes.
StatusOr<std::vector<Numbers>> RunLayer(uint64_t kind,
                                        const coreml::Message& parameters,
                                        const std::vector<Numbers>& inputs,
                                        int outputs = 1);

using OperationInputs =
    std::vector<std::pair<std::string, std::vector<std::string>>>;
// Runs a program with one operation on x, after constants. x is the operation's
// input "x", unless another input is named x.
StatusOr<std::vector<Numbers>> RunOperation(
    const std::string& type, const Numbers& x,
    std::vector<coreml::Message> constants, OperationInputs inputs,
    const std::vector<std::string>& outputs = {"y"});

}  // namespace ember::tests

#endif  // EMBER_TESTS_COREML_ONE_MODEL_H_
