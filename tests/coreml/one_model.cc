#include "tests/coreml/one_model.h"

#include <algorithm>

#include "base/check.h"
#include "frontends/coreml/import.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tests {

using coreml::ArrayFeature;
using coreml::Description;
using coreml::LayerOf;
using coreml::Message;
using coreml::ModelOf;
using coreml::OperationOf;
using coreml::ProgramOf;

Numbers F64(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kF64, std::move(dims), std::move(values)};
}

namespace {

StatusOr<graph::Graph> Import(const std::string& bytes) {
  return coreml::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, nullptr,
      {});
}

}  // namespace

StatusOr<std::vector<vm::Tensor>> RunTensors(
    const std::string& bytes, const std::vector<Numbers>& inputs) {
  std::vector<vm::Tensor> tensors;
  for (const Numbers& input : inputs) tensors.push_back(MakeTensor(input));
  return RunGraph(Import(bytes), tensors);
}

StatusOr<std::vector<Numbers>> RunModel(const std::string& bytes,
                                        const std::vector<Numbers>& inputs) {
  return RunOnNumbers(Import(bytes), inputs);
}

StatusOr<std::vector<Numbers>> RunLayer(uint64_t kind,
                                        const Message& parameters,
                                        const std::vector<Numbers>& inputs,
                                        int outputs) {
  std::vector<std::string> ins, outs;
  std::vector<Message> features, results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ins.push_back("x" + std::to_string(i));
    features.push_back(ArrayFeature(ins.back(), inputs[i].dims));
  }
  for (int i = 0; i < outputs; ++i) {
    outs.push_back("y" + std::to_string(i));
    results.push_back(ArrayFeature(outs.back(), {}));
  }
  Message network;
  network.Put(1, LayerOf(kind, parameters, ins, outs)).Integer(5, 1);
  return RunModel(ModelOf(Description(features, results), 500, network).bytes(),
                  inputs);
}

StatusOr<std::vector<Numbers>> RunOperation(
    const std::string& type, const Numbers& x, std::vector<Message> constants,
    OperationInputs inputs, const std::vector<std::string>& outputs) {
  const bool takes_x =
      std::any_of(inputs.begin(), inputs.end(), [](const auto& input) {
        return input.second == std::vector<std::string>{"x"};
      });
  if (!takes_x) inputs.insert(inputs.begin(), {"x", {"x"}});
  Message operation = OperationOf(type, inputs, outputs[0]);
  std::vector<Message> results;
  for (const std::string& output : outputs) {
    if (output != outputs[0]) operation.Put(3, Message().Text(1, output));
    results.push_back(ArrayFeature(output, {}));
  }
  constants.push_back(operation);
  return RunModel(ModelOf(Description({ArrayFeature("x", x.dims)}, results),
                          502, ProgramOf(constants, outputs))
                      .bytes(),
                  {x});
}

}  // namespace ember::tests
