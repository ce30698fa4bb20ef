// Tests whole models: both forms of nets, pairs of files, inputs, error
// messages, and damaged files.
#include "frontends/caffe2/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "frontends/caffe2/operator_table.h"
#include "frontends/caffe2/testing/sample_models.h"
#include "frontends/registry/formats.h"
#include "frontends/testing/damaged_bytes.h"
#include "tests/caffe2/one_operator.h"

namespace ember::tests {
namespace {

using caffe2::BinaryNet;
using caffe2::SampleModel;
using testing::HasSubstr;

const SampleModel& Sample(const std::string& name) {
  for (const SampleModel& model : caffe2::SampleModels())
    if (model.name == name) return model;
  ADD_FAILURE() << name;
  return caffe2::SampleModels()[0];
}

StatusOr<graph::Graph> Import(const std::string& predict,
                              const std::string& init,
                              const frontends::ImportOptions& options = {}) {
  return caffe2::ImportModelBytes(predict, init, options, "predict_net.pb");
}

std::string ErrorOf(const std::string& predict, const std::string& init = "") {
  const auto graph = Import(predict, init);
  return graph.ok() ? "imported" : std::string(graph.status().message());
}

TEST(Caffe2Models, BothFormsGiveTheSame) {
  // The image is all ones, padded by one, and the kernels are 2 x 2. So a
  // result of the convolution is the sum of those kernel elements that lie on
  // the image: at a corner one element, at an edge two, inside all four.
  const Numbers image = F32({1, 1, 4, 4}, std::vector<double>(16, 1));
  // Average pooling of 2 x 2 windows makes 3 x 3 results of the convolution's 5
  // x 5. Each element has the weight 0.25.
  const auto pooled_sum = [](const double(&k)[4], double bias) {
    double conv[5][5], sum = 0;
    for (int y = 0; y < 5; ++y) {
      for (int x = 0; x < 5; ++x) {
        double v = bias;
        for (int i = 0; i < 4; ++i) {
          const int row = y + i / 2 - 1, column = x + i % 2 - 1;
          if (row >= 0 && row < 4 && column >= 0 && column < 4) v += k[i];
        }
        conv[y][x] = std::max(v, 0.0);
      }
    }
    for (int y = 0; y < 5; y += 2) {
      for (int x = 0; x < 5; x += 2) {
        double mean = 0;
        int count = 0;
        for (int i = 0; i < 4; ++i) {
          if (y + i / 2 > 4 || x + i % 2 > 4) continue;
          mean += conv[y + i / 2][x + i % 2];
          ++count;
        }
        sum += mean / count;
      }
    }
    return sum;
  };
  const double total =
      0.25 * (pooled_sum({1, 2, 3, 4}, 0.5) + pooled_sum({-1, 0.5, 0, 2}, 0.5));
  const double first = 1 / (1 + std::exp((total - 1) - (total + 1)));
  for (const char* name : {"image", "text"}) {
    SCOPED_TRACE(name);
    const SampleModel& model = Sample(name);
    ExpectNumbers(RunCaffe2(model.predict_net, model.init_net, {image}),
                  {F32({1, 2}, {first, 1 - first})});
  }
}

// Returns a field of a protobuf message that holds bytes: a message, a string
// or packed numbers.
std::string Part(int field, const std::string& bytes) {
  std::string part(1, static_cast<char>(field << 3 | 2));
  for (size_t rest = bytes.size(); true; rest >>= 7) {
    part += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
    if (rest <= 127) return part + bytes;
  }
}

TEST(Caffe2Models, ManyFloats) {
  // The importer reads tensors of several kilobytes by code of its own instead
  // of protobuf's parser, so the tensors here are that large.
  constexpr int kCount = 6000;
  std::vector<double> values;
  std::string tagged, packed;
  for (int i = 0; i < kCount; ++i) {
    const auto value = static_cast<float>(i) * 0.5f;
    const std::string bytes(reinterpret_cast<const char*>(&value), 4);
    values.push_back(value);
    tagged += '\x2d' + bytes;
    packed += bytes;
  }
  const auto init_net = [&](const std::string& argument) {
    return BinaryNet("name: 'init'") +
           Part(2, Part(2, "w") + Part(4, "GivenTensorFill") +
                       Part(5, Part(1, "shape") + "\x30\xf0\x2e") +
                       Part(5, argument));
  };
  const std::string predict = BinaryNet(
      "op { type: 'Relu' input: 'w' output: 'y' } external_output: 'y'");
  const std::string name = Part(1, "values");
  const size_t half = tagged.size() / 2;
  for (const std::string& argument :
       {name + tagged, tagged + name, name + Part(5, packed),
        tagged.substr(0, half) + name + tagged.substr(half),
        tagged.substr(0, half) + Part(5, packed.substr(packed.size() / 2)) +
            name}) {
    ExpectNumbers(RunCaffe2(predict, init_net(argument), {}),
                  {F32({kCount}, values)});
  }
  for (const size_t cut : {size_t{1}, size_t{4}, half + 1}) {
    const std::string less = tagged.substr(0, tagged.size() - cut);
    EXPECT_THAT(ErrorOf(predict, init_net(name + less)),
                HasSubstr("do not parse as one"));
  }
  EXPECT_THAT(ErrorOf(predict, init_net(tagged + name + '\x0b')),
              HasSubstr("do not parse as one"));
  EXPECT_THAT(ErrorOf(predict, init_net(name + tagged.substr(5))),
              HasSubstr("expected 6000 floats"));
}

TEST(Caffe2Models, ConstantsAlone) {
  const SampleModel& model = Sample("elements");
  // The net's first external input is filled by the init net, so the model has
  // no inputs.
  ExpectNumbers(
      RunCaffe2(model.predict_net, model.init_net, {}),
      {F32({2, 2, 1}, {14, 12, 28, 26}), I64({2, 2, 1}, {1, 1, 1, 1})});
}

std::string ConvNet(const std::string& more) {
  return "op { type: 'Conv' input: 'data' input: 'w' output: 'y' "
         "arg { name: 'kernel' i: 1 }" +
         more + "} external_input: 'data' external_input: 'w'";
}

TEST(Caffe2Models, InputsAndTheirDims) {
  const auto type_of = [](const std::string& predict, const std::string& init) {
    const auto graph = Import(predict, init);
    if (!graph.ok()) return std::string(graph.status().message());
    return graph->inputs()[0]->name() + ": " +
           graph::ToString(graph->inputs()[0]->type());
  };
  const std::string weights =
      "op { type: 'ConstantFill' output: 'w' arg { name: 'shape' ints: 2 ints: "
      "3 ints: 1 ints: 1 } }";
  // The file gives no shape for "data". Its rank and number of channels follow
  // from the weights of the convolution.
  EXPECT_EQ(type_of(ConvNet(""), weights), "data: f32[N, 3, data_2, data_3]");
  const std::string last =
      "op { type: 'ConstantFill' output: 'w' arg { name: 'shape' ints: 2 ints: "
      "1 ints: 1 ints: 3 } }";
  EXPECT_EQ(type_of(ConvNet("arg { name: 'order' s: 'NHWC' }"), last),
            "data: f32[N, data_1, data_2, 3]");
  // If the init net fills "data", the file does say the input's shape: the one
  // with which the model was exported.
  EXPECT_EQ(
      type_of(ConvNet(""), weights + "op { type: 'ConstantFill' output: 'data' "
                                     "arg { name: 'shape' ints: 1 ints: 3 "
                                     "ints: 8 ints: 9 } }"),
      "data: f32[1, 3, 8, 9]");
  EXPECT_EQ(type_of("op { type: 'Relu' input: 'x' output: 'x' }", ""),
            "model 'predict_net.pb': input 'x': the model does not say how "
            "many dims it has: give its shape (--shape), or a value");
  // The input "i" gets the type of indices because Gather reads it. Later
  // operators write other values under the same name "i", which must not change
  // that.
  frontends::ImportOptions options;
  options.input_shapes["i"] = {2};
  const auto graph = Import(
      "op { type: 'Gather' input: 'w' input: 'i' output: 'i' }"
      "op { type: 'Relu' input: 'i' output: 'i' } external_output: 'i'",
      weights, options);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph::ToString(graph->inputs()[0]->type()), "i64[2]");
  EXPECT_EQ(graph->output_names()[0], "i");
}

TEST(Caffe2Models, ValueInfo) {
  const auto import = [](const std::string& value_info) {
    return caffe2::ImportModelBytes(
        "op { type: 'Relu' input: 'x' output: 'y' }", "", {}, "predict_net.pb",
        value_info);
  };
  const auto graph = import(R"({"x": [10, [2, 3]], "other": [1, []]})");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph::ToString(graph->inputs()[0]->type()), "i64[2, 3]");
  EXPECT_EQ(import("[1]").status().message(),
            "model 'predict_net.pb': value_info.json: expected a JSON object "
            "of blobs, found none");
  EXPECT_EQ(import(R"({"x": [1, [-2]]})").status().message(),
            "model 'predict_net.pb': value_info.json: 'x': expected [number of "
            "a type, [dims]]");
  frontends::TryEveryByteChanged(
      R"({"x": [1, [2, 3]]})",
      [&](const std::string& damaged) { return import(damaged).status(); });
}

std::string OneNode(const std::string& type) {
  return "op { type: '" + type + "' input: 'x' output: 'y' name: 'node' }";
}

TEST(Caffe2Errors, UnsupportedOperators) {
  EXPECT_EQ(ErrorOf(OneNode("wavelet") + OneNode("Int8Relu")),
            "model 'predict_net.pb': unsupported operators: Int8Relu (operator "
            "'node'; quantized operators are not here yet: give the net as it "
            "was before), wavelet (operator 'node')");
  EXPECT_THAT(ErrorOf(OneNode("RecurrentNetwork")),
              HasSubstr("recurrent nets inside of a net are not here yet"));
  EXPECT_THAT(ErrorOf(OneNode("ReluGradient")), HasSubstr("for training"));
  // A blob that a random filler makes is an error only if the net reads it.
  const std::string xavier =
      "op { type: 'XavierFill' output: 'w' arg { name: 'shape' ints: 2 } }";
  EXPECT_THAT(ErrorOf(ConvNet(""), xavier), HasSubstr("XavierFill"));
  EXPECT_THAT(ErrorOf(OneNode("Relu"), xavier), HasSubstr("give its shape"));
}

TEST(Caffe2Errors, ResultsThatAreNotComputed) {
  EXPECT_EQ(
      ErrorOf("op { type: 'Relu' input: 'x' output: 'y' output: 'z' name: "
              "'node' }",
              "op { type: 'ConstantFill' output: 'x' arg { name: 'shape' "
              "ints: 2 } }"),
      "model 'predict_net.pb': node 'node (Relu)': expected the results "
      "'y' alone, found 'z' (result 1), which is not computed here");
}

TEST(Caffe2Errors, Nets) {
  EXPECT_EQ(ErrorOf(std::string("\x0a\xff", 2)),
            "model 'predict_net.pb': expected the predict net of Caffe2 of at "
            "most 2 GB, found 2 bytes that do not parse as one");
  EXPECT_EQ(ErrorOf("op {\n  foo: 1 }"),
            "model 'predict_net.pb': expected a predict net: line 2, column 6: "
            "Message type \"ember.caffe2.OperatorDef\" has no field named "
            "\"foo\".");
  EXPECT_EQ(ErrorOf(""),
            "model 'predict_net.pb': predict net: expected operators, found "
            "none");
  EXPECT_EQ(ErrorOf("op { type: 'Copy' input: 'w' output: 'y' }",
                    "op { type: 'GivenTensorFill' output: 'w' arg { name: "
                    "'shape' ints: 2 } arg { name: 'values' floats: 1 } }"),
            "model 'predict_net.pb': node 'w (GivenTensorFill)': values: "
            "expected 2 floats, as the shape says, found 1");
  EXPECT_THAT(ErrorOf("op { type: 'Copy' input: 'w' output: 'y' }",
                      "op { type: 'ConstantFill' output: 'w' arg { name: "
                      "'shape' ints: 4611686018427387904 ints: 4 } }"),
              HasSubstr("shape: expected dims of 0 or more"));
}

std::string Written(const std::string& folder, const std::string& name,
                    const std::string& contents) {
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/" + name;
  EXPECT_TRUE(WriteFileAtomically(path, contents).ok());
  return path;
}

TEST(Caffe2Files, PairsOfNames) {
  const SampleModel& model = Sample("image");
  const std::string folder = testing::TempDir() + "caffe2_pairs";
  const std::vector<std::pair<std::string, std::string>> names = {
      {"predict_net.pb", "init_net.pb"},
      {"a_predict.pb", "a_init.pb"},
      {"b_predict_net.pb", "b_init_net.pb"},
      {"c_predict_net.pb", "c_init_net.pbtxt"},
  };
  for (const auto& [predict, init] : names) {
    SCOPED_TRACE(predict);
    const bool is_text = init.ends_with(".pbtxt");
    const std::string first = Written(folder, predict, model.predict_net);
    const std::string second = Written(
        folder, init, is_text ? Sample("text").init_net : model.init_net);
    for (const std::string& path : {first, second}) {
      frontends::ModelFile file(path);
      const auto graph = caffe2::ImportModel(file, {});
      EXPECT_TRUE(graph.ok()) << graph.status().ToString();
      const auto inputs = caffe2::ModelInputs(file, {});
      ASSERT_TRUE(inputs.ok()) << inputs.status().ToString();
      ASSERT_EQ(inputs->size(), 1u);
      EXPECT_EQ((*inputs)[0].name, "data");
      EXPECT_TRUE((*inputs)[0].has_rank);
    }
  }
  EXPECT_EQ(frontends::FileOfModel(folder), folder + "/predict_net.pb");
  frontends::ModelFile alone(
      Written(folder, "d_predict.pb", model.predict_net));
  EXPECT_EQ(caffe2::ImportModel(alone, {}).status().message(),
            "model 'd_predict.pb': expected 'd_init.pb' or 'd_init.pbtxt' "
            "beside it, found neither");
  frontends::ModelFile other(Written(folder, "net.pb", model.predict_net));
  EXPECT_EQ(caffe2::ImportModel(other, {}).status().message(),
            "model 'net.pb': expected a name with 'predict' or 'init', as "
            "predict_net.pb has init_net.pb beside it, found 'net.pb'");
}

TEST(Caffe2Files, OneFormatSaysSo) {
  for (const SampleModel& model : caffe2::SampleModels()) {
    for (const std::string& net : {model.predict_net, model.init_net}) {
      SCOPED_TRACE(model.name);
      for (const frontends::Format* format : frontends::Formats())
        EXPECT_EQ(format->sniff(net), format->name == "caffe2") << format->name;
    }
  }
}

// Imports sample models with each byte changed, and cut off after each byte.
// Each import may succeed or fail, but must not crash.
TEST(Caffe2Robustness, EveryByteChangedAndEveryTruncation) {
  for (const SampleModel& model : caffe2::SampleModels()) {
    const auto change_predict = [&](const std::string& damaged) {
      return Import(damaged, model.init_net).status();
    };
    const auto change_init = [&](const std::string& damaged) {
      return Import(model.predict_net, damaged).status();
    };
    frontends::TryEveryByteChanged(model.predict_net, change_predict);
    frontends::TryEveryByteChanged(model.init_net, change_init);
    frontends::TryEveryTruncation(model.predict_net, change_predict);
    frontends::TryEveryTruncation(model.init_net, change_init);
  }
}

TEST(Caffe2Robustness, DeepNets) {
  std::string text = "op { type: 'If' ", end = "}";
  for (int i = 0; i < 100000; ++i) {
    text += "arg { n { op { ";
    end += "} } }";
  }
  EXPECT_THAT(ErrorOf(text + end), HasSubstr("levels deep"));
}

TEST(Caffe2Table, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const caffe2::OperatorRow& row : caffe2::Operators()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(row.import != nullptr, !row.reason.empty()) << row.name;
    EXPECT_LE(row.minimum_inputs, row.maximum_inputs) << row.name;
  }
}

}  // namespace
}  // namespace ember::tests
