#include "frontends/keras/testing/model_builder.h"

#include "frontends/archive/testing/zip_builder.h"
#include "frontends/hdf5/testing/file_builder.h"

namespace ember::keras {
namespace {

std::string TypeName(DType dtype) {
  switch (dtype) {
    case DType::kI32:
      return "int32";
    case DType::kI64:
      return "int64";
    case DType::kU8:
      return "uint8";
    case DType::kF16:
      return "float16";
    case DType::kBool:
      return "bool";
    default:
      return "float32";
  }
}

// Adds a name to a JSON object, for example converts {"a": 1} to {"name": "x",
// "a": 1}.
std::string WithName(const std::string& name, const std::string& config) {
  const std::string rest = config.substr(config.find('{') + 1);
  const bool is_empty = rest.find_first_not_of(" \n}") == std::string::npos;
  return "{\"name\": \"" + name + "\"" + (is_empty ? "" : ", ") + rest;
}

}  // namespace

TestWeight Weight(const std::vector<int64_t>& dims,
                  const std::vector<float>& values) {
  return {DType::kF32, dims,
          std::string(reinterpret_cast<const char*>(values.data()),
                      values.size() * sizeof(float))};
}

void ModelBuilder::Input(const std::string& name, DType dtype,
                         const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t dim : dims) {
    shape += (shape.empty() ? "" : ", ") +
             (dim < 0 ? std::string("null") : std::to_string(dim));
  }
  layers_ += (layers_.empty() ? "" : ", ") +
             std::string("{\"class_name\": \"InputLayer\", \"name\": \"") +
             name + "\", \"config\": {\"name\": \"" + name +
             "\", \"dtype\": \"" + TypeName(dtype) +
             "\", \"batch_input_shape\": [" + shape +
             "]}, \"inbound_nodes\": []}";
  inputs_ += (inputs_.empty() ? "[\"" : ", [\"") + name + "\", 0, 0]";
}

void ModelBuilder::Layer(const std::string& class_name, const std::string& name,
                         const std::string& config, const std::string& call,
                         const std::vector<TestWeight>& weights) {
  layers_ += (layers_.empty() ? "" : ", ") +
             std::string("{\"class_name\": \"") + class_name +
             "\", \"name\": \"" + name +
             "\", \"config\": " + WithName(name, config) +
             ", \"inbound_nodes\": [" + call + "]}";
  if (!weights.empty()) stored_.push_back({name, weights});
}

void ModelBuilder::Output(const std::string& layer, int call, int result) {
  outputs_ += (outputs_.empty() ? "[\"" : ", [\"") + layer + "\", " +
              std::to_string(call) + ", " + std::to_string(result) + "]";
}

std::string ModelBuilder::Finish() {
  std::vector<std::pair<std::string, std::vector<TestWeight>>> weights;
  for (const Stored& stored : stored_)
    weights.emplace_back(stored.layer, stored.weights);
  return Hdf5Model(
      "{\"class_name\": \"Functional\", \"config\": {\"name\": "
      "\"model\", \"layers\": [" +
          layers_ + "], \"input_layers\": [" + inputs_ +
          "], \"output_layers\": [" + outputs_ + "]}}",
      version_, weights);
}

std::string Hdf5Model(
    const std::string& config, const std::string& version,
    const std::vector<std::pair<std::string, std::vector<TestWeight>>>&
        weights) {
  hdf5::FileBuilder file;
  file.Text("", "keras_version", version);
  file.Text("", "model_config", config);
  file.Group("model_weights");
  for (const auto& [layer, list] : weights) {
    std::vector<std::string> names;
    const std::string group = "model_weights/" + layer;
    for (const TestWeight& weight : list) {
      names.push_back(layer + "/w" + std::to_string(names.size()) + ":0");
      file.Dataset(group + "/" + names.back(), weight.dtype, weight.dims,
                   weight.bytes);
    }
    file.Texts(group, "weight_names", names);
  }
  return file.Finish();
}

std::string ArchiveModel(
    const std::string& config, const std::string& version,
    const std::vector<std::pair<std::string, TestWeight>>& weights) {
  hdf5::FileBuilder file;
  file.Group("layers");
  for (const auto& [path, weight] : weights)
    file.Dataset(path, weight.dtype, weight.dims, weight.bytes);
  archive::ZipBuilder zip;
  zip.Add("metadata.json", "{\"keras_version\": \"" + version + "\"}");
  zip.AddDeflated("config.json", config);
  zip.Add("assets/words.txt", "one\ntwo");
  zip.Add("model.weights.h5", file.Finish());
  return zip.Finish();
}

}  // namespace ember::keras
