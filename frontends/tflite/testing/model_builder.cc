#include "frontends/tflite/testing/model_builder.h"

#include <algorithm>

namespace ember::tflite {

int ModelBuilder::Subgraph(const std::string& name) {
  graphs_.push_back({name, {}, {}, {}, {}});
  return static_cast<int>(graphs_.size()) - 1;
}

int ModelBuilder::Tensor(TestTensor tensor) {
  Graph& graph = graphs_.back();
  const int number = static_cast<int>(graph.tensors.size());
  if (tensor.name.empty()) tensor.name = "t" + std::to_string(number);
  uint32_t buffer = 0;
  if (!tensor.data.empty()) {
    buffer = static_cast<uint32_t>(buffers_.size());
    buffers_.push_back(tensor.data);
  }
  flatbuffers::Offset<schema::QuantizationParameters> quantization = 0;
  if (!tensor.scales.empty()) {
    quantization = schema::CreateQuantizationParametersDirect(
        fbb_, nullptr, nullptr, &tensor.scales, &tensor.zero_points,
        schema::QuantizationDetails::NONE, 0, tensor.axis);
  }
  graph.tensors.push_back(schema::CreateTensorDirect(
      fbb_, &tensor.shape, tensor.type, buffer, tensor.name.c_str(),
      quantization, tensor.is_variable,
      tensor.sparse ? sparsity_
                    : flatbuffers::Offset<schema::SparsityParameters>(0),
      tensor.signature.empty() ? nullptr : &tensor.signature,
      /*has_rank=*/true));
  return number;
}

int ModelBuilder::Input(TestTensor tensor) {
  const int number = Tensor(std::move(tensor));
  graphs_.back().inputs.push_back(number);
  return number;
}

int ModelBuilder::Output(TestTensor tensor) {
  const int number = Tensor(std::move(tensor));
  graphs_.back().outputs.push_back(number);
  return number;
}

uint32_t ModelBuilder::Code(schema::BuiltinOperator code,
                            const std::string& custom) {
  const auto [entry, added] =
      code_numbers_.emplace(std::pair(static_cast<int>(code), custom),
                            static_cast<uint32_t>(codes_.size()));
  if (added) {
    codes_.push_back(schema::CreateOperatorCodeDirect(
        fbb_, static_cast<int8_t>(std::min(static_cast<int>(code), 127)),
        custom.empty() ? nullptr : custom.c_str(), 1, code));
  }
  return entry->second;
}

void ModelBuilder::Operator(schema::BuiltinOperator code,
                            const std::vector<int32_t>& inputs,
                            const std::vector<int32_t>& outputs,
                            schema::BuiltinOptions kind,
                            flatbuffers::Offset<void> options) {
  graphs_.back().operators.push_back(schema::CreateOperatorDirect(
      fbb_, Code(code, ""), &inputs, &outputs, kind, options));
}

void ModelBuilder::Custom(const std::string& name,
                          const std::vector<int32_t>& inputs,
                          const std::vector<int32_t>& outputs,
                          const std::vector<uint8_t>& options) {
  graphs_.back().operators.push_back(schema::CreateOperatorDirect(
      fbb_, Code(schema::BuiltinOperator::CUSTOM, name), &inputs, &outputs,
      schema::BuiltinOptions::NONE, 0, &options));
}

void ModelBuilder::Signature(
    const std::string& key, int subgraph,
    const std::vector<std::pair<std::string, int>>& inputs,
    const std::vector<std::pair<std::string, int>>& outputs) {
  const auto maps = [&](const auto& names) {
    std::vector<flatbuffers::Offset<schema::TensorMap>> entries;
    for (const auto& [name, tensor] : names) {
      entries.push_back(schema::CreateTensorMapDirect(
          fbb_, name.c_str(), static_cast<uint32_t>(tensor)));
    }
    return entries;
  };
  const auto in = maps(inputs), out = maps(outputs);
  signatures_.push_back(schema::CreateSignatureDefDirect(
      fbb_, &in, &out, key.c_str(), static_cast<uint32_t>(subgraph)));
}

void ModelBuilder::Metadata(const std::string& name, const std::string& data) {
  metadata_.push_back(schema::CreateMetadataDirect(
      fbb_, name.c_str(), static_cast<uint32_t>(buffers_.size())));
  buffers_.push_back(data);
}

std::string ModelBuilder::Finish() {
  std::vector<flatbuffers::Offset<schema::SubGraph>> graphs;
  for (const Graph& graph : graphs_) {
    graphs.push_back(schema::CreateSubGraphDirect(
        fbb_, &graph.tensors, &graph.inputs, &graph.outputs, &graph.operators,
        graph.name.c_str()));
  }
  std::vector<flatbuffers::Offset<schema::Buffer>> buffers;
  for (const std::string& data : buffers_) {
    const auto* begin = reinterpret_cast<const uint8_t*>(data.data());
    fbb_.ForceVectorAlignment(data.size(), 1, 16);
    const auto bytes = fbb_.CreateVector(begin, data.size());
    buffers.push_back(schema::CreateBuffer(fbb_, data.empty() ? 0 : bytes));
  }
  schema::FinishModelBuffer(
      fbb_, schema::CreateModelDirect(
                fbb_, version_, &codes_, &graphs, "made for a test", &buffers,
                nullptr, metadata_.empty() ? nullptr : &metadata_,
                signatures_.empty() ? nullptr : &signatures_));
  return {reinterpret_cast<const char*>(fbb_.GetBufferPointer()),
          fbb_.GetSize()};
}

}  // namespace ember::tflite
