#include "tests/formats/sample_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "frontends/caffe/testing/sample_models.h"
#include "frontends/caffe2/testing/sample_models.h"
#include "frontends/coreml/testing/sample_models.h"
#include "frontends/gguf/testing/sample_models.h"
#include "frontends/keras/testing/sample_models.h"
#include "frontends/mxnet/testing/sample_models.h"
#include "frontends/onnx/testing/sample_models.h"
#include "frontends/registry/formats.h"
#include "frontends/safetensors/testing/hub_model.h"
#include "frontends/stablehlo/testing/sample_models.h"
#include "frontends/tensorflow/testing/sample_models.h"
#include "frontends/tflite/testing/sample_models.h"
#include "frontends/torch_export/testing/sample_models.h"
#include "frontends/torchscript/testing/sample_models.h"

namespace ember::tests {
namespace {

std::string WriteToTestFolder(const std::string& name,
                              std::string_view contents) {
  std::string path = testing::TempDir() + name;
  const Status status = WriteFileAtomically(path, contents);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return path;
}

std::string Written(const std::string& name, std::string_view contents) {
  return WriteToTestFolder("sample_" + name, contents);
}

}  // namespace

std::vector<SampleFile> SampleFiles() {
  std::vector<SampleFile> files;
  for (const std::string_view name : onnx::SampleModelNames()) {
    // The sample "external" is left out, because its weights are in a separate
    // file.
    if (name == "external") continue;
    files.push_back(
        {"onnx", Written(std::string(name) + ".onnx",
                         onnx::SampleModel(name).proto().SerializeAsString())});
  }
  for (const std::string_view name : tflite::SampleModelNames()) {
    files.push_back({"tflite", Written(std::string(name) + ".tflite",
                                       tflite::SampleModel(name))});
  }
  for (const std::string& name : tensorflow::SampleModelNames()) {
    files.push_back(
        {"tensorflow", Written(name + ".pb", tensorflow::SampleModel(name))});
  }
  for (const std::string_view name : keras::SampleModelNames()) {
    files.push_back(
        {"keras", Written(std::string(name), keras::SampleModel(name))});
  }
  for (const std::string_view name : mxnet::SampleModelNames()) {
    const std::string both = mxnet::SampleModel(name);
    const size_t zero = both.find('\0');
    const std::string stem(name);
    files.push_back({"mxnet", Written(stem + "-symbol.json",
                                      std::string_view(both).substr(0, zero))});
    Written(stem + "-0000.params", std::string_view(both).substr(zero + 1));
  }
  for (const caffe::SampleModel& model : caffe::SampleModels()) {
    std::string path;
    if (!model.caffemodel.empty())
      path = Written(model.name + ".caffemodel", model.caffemodel);
    if (!model.prototxt.empty())
      path = Written(model.name + ".prototxt", model.prototxt);
    files.push_back({"caffe", path});
  }
  for (const caffe2::SampleModel& model : caffe2::SampleModels()) {
    Written(model.name + "_init_net.pb", model.init_net);
    files.push_back(
        {"caffe2", Written(model.name + "_predict_net.pb", model.predict_net)});
  }
  for (const std::string_view name : stablehlo::SampleModelNames()) {
    files.push_back({"stablehlo", Written(std::string(name) + ".mlir",
                                          stablehlo::SampleModel(name))});
  }
  for (const std::string_view name : torchscript::SampleModelNames()) {
    files.push_back(
        {"torchscript",
         Written(std::string(name) + ".pt", torchscript::SampleModel(name)),
         {{"x", {2, 3}}}});
  }
  for (const std::string_view name : torch_export::SampleModelNames()) {
    files.push_back({"torch-export", Written(std::string(name) + ".pt2",
                                             torch_export::SampleModel(name))});
  }
  for (const auto& [name, file] : coreml::SampleModels())
    files.push_back({"coreml", Written(name + ".mlmodel", file)});
  for (const std::string_view name : {"llama", "qwen2moe", "lfm2", "bert"}) {
    files.push_back({"gguf", Written(std::string(name) + ".gguf",
                                     gguf::SampleModel(name))});
  }
  // A model of Hugging Face needs a file named config.json in the same folder,
  // so only one of them can be written.
  const safetensors::HubModel hub = safetensors::MakeHubModel("gpt2");
  WriteToTestFolder("config.json", hub.config);
  files.push_back({"safetensors", Written("gpt2.safetensors", hub.weights)});
  return files;
}

const frontends::Format& FormatOf(const SampleFile& file) {
  const auto formats = frontends::Formats();
  const auto found =
      std::ranges::find(formats, file.format, &frontends::Format::name);
  EMBER_CHECK(found != formats.end());
  return **found;
}

StatusOr<graph::Graph> Import(const SampleFile& file,
                              frontends::ImportOptions options) {
  options.input_shapes = file.shapes;
  frontends::ModelFile model(file.path);
  return FormatOf(file).import(model, options);
}

}  // namespace ember::tests
