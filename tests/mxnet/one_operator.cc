#include "tests/mxnet/one_operator.h"

#include "frontends/mxnet/import.h"
#include "frontends/mxnet/testing/params_builder.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

StatusOr<std::vector<Numbers>> RunMxnet(
    const std::string& symbol, const std::string& params,
    const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  return RunOnNumbers(
      mxnet::ImportModelBytes(
          symbol,
          {reinterpret_cast<const uint8_t*>(params.data()), params.size()},
          nullptr, options),
      inputs);
}

OneMxnetOperator& OneMxnetOperator::Input(Numbers value) {
  operands_.emplace_back(false, std::move(value));
  return *this;
}

OneMxnetOperator& OneMxnetOperator::Constant(Numbers value) {
  operands_.emplace_back(true, std::move(value));
  return *this;
}

StatusOr<graph::Graph> OneMxnetOperator::Import() const {
  mxnet::ParamsBuilder params;
  std::string nodes, entries, heads;
  frontends::ImportOptions options;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const auto& [is_parameter, value] = operands_[i];
    const std::string name = "x" + std::to_string(i);
    const int dtype = value.type == DType::kI32 ? 4 : 0;
    nodes += R"({"op": "null", "name": ")" + name +
             R"(", "attrs": {"__dtype__": ")" + std::to_string(dtype) +
             R"("}, "inputs": []}, )";
    entries += (i == 0 ? "[" : ", [") + std::to_string(i) + ", 0, 0]";
    if (is_parameter) {
      params.Add("arg:" + name, value.type, value.dims, BytesOf(value));
    } else {
      options.input_shapes[name].assign(value.dims.begin(), value.dims.end());
    }
  }
  std::string attributes;
  for (const auto& [key, value] : attributes_) {
    attributes +=
        (attributes.empty() ? "\"" : ", \"") + key + "\": \"" + value + "\"";
  }
  nodes += R"({"op": ")" + op_ + R"(", "name": "y", "attrs": {)" + attributes +
           "}, \"inputs\": [" + entries + "]}";
  for (int i = 0; i < results_; ++i) {
    heads += (i == 0 ? "[" : ", [") + std::to_string(operands_.size()) + ", " +
             std::to_string(i) + ", 0]";
  }
  const std::string bytes = params.Finish();
  return mxnet::ImportModelBytes(
      "{\"nodes\": [" + nodes + "], \"arg_nodes\": [], \"heads\": [" + heads +
          "]}",
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, nullptr,
      options);
}

StatusOr<std::vector<Numbers>> OneMxnetOperator::Run() const {
  std::vector<Numbers> inputs;
  for (const auto& [is_parameter, value] : operands_)
    if (!is_parameter) inputs.push_back(value);
  return RunOnNumbers(Import(), inputs);
}

}  // namespace ember::tests
