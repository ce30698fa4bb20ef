// Every format tells ImportOptions::progress of each operator, and stops where
// it is told to.
#include "base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "frontends/caffe/testing/sample_models.h"
#include "frontends/caffe2/testing/sample_models.h"
#include "frontends/coreml/testing/sample_models.h"
#include "frontends/formats.h"
#include "frontends/keras/testing/sample_models.h"
#include "frontends/mxnet/testing/sample_models.h"
#include "frontends/onnx/testing/sample_models.h"
#include "frontends/stablehlo/testing/sample_models.h"
#include "frontends/tensorflow/testing/sample_models.h"
#include "frontends/tflite/testing/sample_models.h"
#include "frontends/torch_export/testing/sample_models.h"
#include "frontends/torchscript/testing/sample_models.h"

namespace ember::tests {
namespace {

using frontends::Format;
using testing::HasSubstr;

struct SampleFile {
  std::string_view format;
  std::string path;
  // Where the model does not say them.
  std::map<std::string, std::vector<std::optional<int64_t>>> shapes = {};
};

std::string Written(const std::string& name, std::string_view contents) {
  std::string path = testing::TempDir() + "progress_" + name;
  const Status status = WriteFileAtomically(path, contents);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return path;
}

std::vector<SampleFile> SampleFiles() {
  std::vector<SampleFile> files;
  for (const std::string_view name : onnx::SampleModelNames()) {
    if (name == "external") continue;  // its weights are in a file of their own
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
  return files;
}

// Notes what it is told, and stops before step `stop`.
class Recorder : public Progress {
 public:
  explicit Recorder(int64_t stop = INT64_MAX) : stop_(stop) {}

  bool Report(const ProgressEvent& event) override {
    EXPECT_EQ(event.stage, "import");
    EXPECT_NE(event.item, "");
    EXPECT_EQ(event.done, told_);
    EXPECT_GE(event.total, total_);
    EXPECT_GT(event.total, event.done);
    total_ = event.total;
    return told_++ < stop_;
  }

  int64_t told() const { return told_; }
  int64_t total() const { return total_; }

 private:
  int64_t stop_;
  int64_t told_ = 0;
  int64_t total_ = 0;
};

StatusOr<graph::Graph> Imported(const SampleFile& file, Progress* progress) {
  for (const Format* format : frontends::Formats()) {
    if (format->name == file.format)
      return format->import(
          file.path, {.input_shapes = file.shapes, .progress = progress});
  }
  return NotFoundError("no such format");
}

TEST(ImportProgress, TellsOfEachOperatorInOrder) {
  std::set<std::string_view> formats;
  for (const SampleFile& file : SampleFiles()) {
    SCOPED_TRACE(file.path);
    Recorder recorder;
    const auto graph = Imported(file, &recorder);
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    EXPECT_GT(recorder.told(), 0);
    EXPECT_EQ(recorder.told(), recorder.total());
    formats.insert(file.format);
  }
  for (const Format* format : frontends::Formats())
    EXPECT_TRUE(formats.contains(format->name)) << format->name;
}

TEST(ImportProgress, StopsWhereItIsToldTo) {
  for (const SampleFile& file : SampleFiles()) {
    SCOPED_TRACE(file.path);
    Recorder all;
    ASSERT_TRUE(Imported(file, &all).ok());
    for (const int64_t stop : {int64_t{0}, all.told() / 2, all.told() - 1}) {
      Recorder some(stop);
      const auto graph = Imported(file, &some);
      ASSERT_FALSE(graph.ok());
      EXPECT_EQ(graph.status().code(), StatusCode::kCancelled);
      EXPECT_THAT(graph.status().message(), HasSubstr("stopped in import"));
      EXPECT_EQ(some.told(), stop + 1);
    }
  }
}

}  // namespace
}  // namespace ember::tests
