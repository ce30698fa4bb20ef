#include "frontends/tflite/testing/sample_models.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "frontends/archive/testing/zip_builder.h"
#include "frontends/tflite/metadata_schema_generated.h"
#include "frontends/tflite/testing/model_builder.h"

namespace ember::tflite {
namespace {

namespace said = metadata_schema;

using Code = schema::BuiltinOperator;
using schema::BuiltinOptions;
using schema::TensorType;

// A model with a convolution, pooling, a slice by computed shapes and a dense
// layer.
std::string Layers() {
  ModelBuilder m;
  const int x = m.Input({.shape = {1, 6, 6, 2}, .signature = {-1, 6, 6, 2}});
  const int w =
      m.Constant<float>({.shape = {3, 3, 3, 2}}, std::vector<float>(54, 0.5f));
  const int bias = m.Constant<float>({.shape = {3}}, {1, 2, 3});
  const int y = m.Tensor({.shape = {1, 3, 3, 3}});
  m.Operator(Code::CONV_2D, {x, w, bias}, {y}, BuiltinOptions::Conv2DOptions,
             schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 2, 2,
                                         schema::ActivationFunctionType::RELU)
                 .Union());
  const int pooled = m.Tensor({.shape = {1, 1, 1, 3}});
  m.Operator(
      Code::MAX_POOL_2D, {y}, {pooled}, BuiltinOptions::Pool2DOptions,
      schema::CreatePool2DOptions(m.fbb(), schema::Padding::VALID, 1, 1, 3, 3)
          .Union());
  const int to =
      m.Constant<int32_t>({.type = TensorType::INT32, .shape = {2}}, {-1, 3});
  const int rows = m.Tensor({.shape = {1, 3}});
  m.Operator(Code::RESHAPE, {pooled, to}, {rows});
  const int dense = m.Constant<float>({.shape = {2, 3}}, {1, 2, 3, 4, 5, 6});
  const int out = m.Output({.shape = {1, 2}});
  m.Operator(Code::FULLY_CONNECTED, {rows, dense, -1}, {out});
  m.Signature("serve", 0, {{"image", x}}, {{"scores", out}});
  return m.Finish();
}

std::string Quantized() {
  ModelBuilder m;
  const auto stored = [](std::vector<int32_t> shape, float scale,
                         int64_t zero) {
    return TestTensor{.type = TensorType::INT8,
                      .shape = std::move(shape),
                      .scales = {scale},
                      .zero_points = {zero}};
  };
  const int x = m.Input(stored({1, 4, 4, 2}, 0.5f, 3));
  TestTensor weights{.type = TensorType::INT8,
                     .shape = {1, 3, 3, 2},
                     .scales = {0.1f, 0.2f},
                     .zero_points = {0, 0},
                     .axis = 3};
  const int w = m.Constant<int8_t>(weights, std::vector<int8_t>(18, 7));
  const int y = m.Tensor(stored({1, 4, 4, 2}, 0.25f, -1));
  m.Operator(Code::DEPTHWISE_CONV_2D, {x, w, -1}, {y},
             BuiltinOptions::DepthwiseConv2DOptions,
             schema::CreateDepthwiseConv2DOptions(
                 m.fbb(), schema::Padding::SAME, 1, 1, 1)
                 .Union());
  const int sum = m.Tensor(stored({1, 4, 4, 2}, 0.75f, 0));
  m.Operator(Code::ADD, {x, y}, {sum});
  const int axes =
      m.Constant<int32_t>({.type = TensorType::INT32, .shape = {2}}, {1, 2});
  const int mean = m.Tensor(stored({1, 2}, 0.5f, 1));
  m.Operator(Code::MEAN, {sum, axes}, {mean});
  const int soft = m.Tensor(stored({1, 2}, 1 / 256.0f, -128));
  m.Operator(Code::SOFTMAX, {mean}, {soft}, BuiltinOptions::SoftmaxOptions,
             schema::CreateSoftmaxOptions(m.fbb(), 1).Union());
  m.Operator(Code::DEQUANTIZE, {soft}, {m.Output({.shape = {1, 2}})});
  return m.Finish();
}

// A model with a loop, a branch and a variable.
std::string ControlFlow() {
  ModelBuilder m;
  const TestTensor counter{.type = TensorType::INT32};
  const TestTensor row{.shape = {2}};
  const int i = m.Input(counter), x = m.Input(row);
  const int last = m.Output(counter), grown = m.Tensor(row);
  m.Operator(Code::WHILE, {i, x}, {last, grown}, BuiltinOptions::WhileOptions,
             schema::CreateWhileOptions(m.fbb(), 1, 2).Union());
  const int handle = m.Tensor({.type = TensorType::RESOURCE});
  m.Operator(
      Code::VAR_HANDLE, {}, {handle}, BuiltinOptions::VarHandleOptions,
      schema::CreateVarHandleOptionsDirect(m.fbb(), "", "total").Union());
  const int before = m.Tensor(row), after = m.Output(row);
  m.Operator(Code::READ_VARIABLE, {handle}, {before});
  const int condition = m.Tensor({.type = TensorType::BOOL});
  const int limit = m.Constant<int32_t>(counter, {2});
  m.Operator(Code::GREATER, {last, limit}, {condition});
  m.Operator(Code::IF, {condition, before, grown}, {after},
             BuiltinOptions::IfOptions,
             schema::CreateIfOptions(m.fbb(), 3, 4).Union());
  m.Operator(Code::ASSIGN_VARIABLE, {handle, after}, {});
  m.Subgraph("condition");
  const int ci = m.Input(counter);
  m.Input(row);
  const int three = m.Constant<int32_t>(counter, {3});
  m.Operator(Code::LESS, {ci, three}, {m.Output({.type = TensorType::BOOL})});
  m.Subgraph("body");
  const int bi = m.Input(counter), bx = m.Input(row);
  const int one = m.Constant<int32_t>(counter, {1});
  m.Operator(Code::ADD, {bi, one}, {m.Output(counter)});
  m.Operator(Code::ADD, {bx, bx}, {m.Output(row)});
  for (const Code code : {Code::ADD, Code::SUB}) {
    m.Subgraph("branch");
    const int a = m.Input(row), b = m.Input(row);
    m.Operator(code, {a, b}, {m.Output(row)});
  }
  return m.Finish();
}

// A model with the metadata of image classifiers: normalisation, and labels
// behind the model.
std::string Described() {
  flatbuffers::FlatBufferBuilder fbb;
  const std::vector<float> mean = {123.675f, 116.5f}, one = {127.5f};
  const auto normalization =
      said::CreateNormalizationOptionsDirect(fbb, &mean, &one).Union();
  const std::vector units = {said::CreateProcessUnit(
      fbb, said::ProcessUnitOptions::NormalizationOptions, normalization)};
  const auto content = said::CreateContent(
      fbb, said::ContentProperties::ImageProperties,
      said::CreateImageProperties(fbb, said::ColorSpaceType::RGB).Union());
  const std::vector inputs = {said::CreateTensorMetadataDirect(
      fbb, "image", "a picture", nullptr, content, &units,
      said::CreateStatsDirect(fbb, &one, &mean))};
  const std::vector files = {
      said::CreateAssociatedFileDirect(
          fbb, "labels.txt", nullptr,
          said::AssociatedFileType::TENSOR_AXIS_LABELS),
      said::CreateAssociatedFileDirect(
          fbb, "labels_de.txt", nullptr,
          said::AssociatedFileType::TENSOR_AXIS_LABELS, "de"),
      said::CreateAssociatedFileDirect(fbb, "none.txt", nullptr,
                                       said::AssociatedFileType::VOCABULARY)};
  const std::vector outputs = {said::CreateTensorMetadataDirect(
      fbb, "scores", nullptr, nullptr, 0, nullptr, 0, &files)};
  const std::vector graphs = {said::CreateSubGraphMetadataDirect(
      fbb, nullptr, nullptr, &inputs, &outputs)};
  said::FinishModelMetadataBuffer(
      fbb, said::CreateModelMetadataDirect(fbb, "pets", "Cats and dogs.", "1",
                                           &graphs, "somebody", "MIT"));
  ModelBuilder m;
  const int x = m.Input({.shape = {1, 2}}), y = m.Output({.shape = {1, 2}});
  m.Operator(Code::ABS, {x}, {y});
  m.Metadata("min_runtime_version",
             std::string("1.5.0") + std::string(11, '\0'));
  m.Metadata("other", "\xff\x01");
  m.Metadata(
      "TFLITE_METADATA",
      {reinterpret_cast<const char*>(fbb.GetBufferPointer()), fbb.GetSize()});
  const std::string model = m.Finish();
  archive::ZipBuilder zip(model.size());
  zip.AddDeflated("labels.txt", "cat\ndog\n");
  zip.Add("labels_de.txt", "Katze\nHund\n");
  zip.Add("readme.md", "# Pets");
  zip.Add("weights.bin", "\xff");
  return model + zip.Finish();
}

struct Sample {
  std::string_view name;
  std::string (*make)();
};
constexpr Sample kSamples[] = {{"layers", Layers},
                               {"quantized", Quantized},
                               {"control_flow", ControlFlow},
                               {"described", Described}};
constexpr std::string_view kNames[] = {kSamples[0].name, kSamples[1].name,
                                       kSamples[2].name, kSamples[3].name};

}  // namespace

std::span<const std::string_view> SampleModelNames() { return kNames; }

std::string SampleModel(std::string_view name) {
  for (const Sample& sample : kSamples) {
    if (sample.name == name) return sample.make();
  }
  return "";
}

}  // namespace ember::tflite
