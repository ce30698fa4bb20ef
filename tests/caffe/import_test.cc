// Tests nets of all ages, their weights, names of results, and refused nets.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/caffe/one_layer.h"

namespace ember::tests {
namespace {

std::string ErrorOf(const StatusOr<std::vector<Numbers>>& results) {
  return results.ok() ? "no error" : std::string(results.status().message());
}

const caffe::SampleModel& Sample(const std::string& name) {
  for (const caffe::SampleModel& model : caffe::SampleModels())
    if (model.name == name) return model;
  ADD_FAILURE() << name;
  return caffe::SampleModels().front();
}

// A net in the oldest format: padding is a separate layer, parameters are in
// V0LayerParameter, and layer types are numbers. The net computes 3x3 sums of a
// padded image and pools them.
TEST(Import, OldNets) {
  const caffe::SampleModel& old = Sample("old");
  std::vector<double> image(16, 0);
  // The image is 4 x 4 and 0, except for the pixel in row 1, column 1.
  image[5] = 1;
  // The image has a single pixel of 1, so the convolution gives the weights in
  // reverse order, in the rows and columns 0 to 2. The second pooling windows
  // cover the rows and columns 2 and 3.
  ExpectNumbers(
      RunNet(old.prototxt, old.caffemodel, {F32({1, 1, 4, 4}, image)}),
      {F32({1, 2, 2, 2}, {9, 7, 3, 1, 19, 17, 13, 11})});
}

TEST(Import, OldNetsAsText) {
  const std::string text = R"(
    input: "data" input_dim: 1 input_dim: 1 input_dim: 2 input_dim: 2
    layers { layer { name: "pad" type: "padding" pad: 1 }
             bottom: "data" top: "padded" }
    layers { layer { name: "conv" type: "conv" num_output: 1 kernelsize: 3
                     biasterm: false stride: 1 blobs_lr: 1. weight_decay: 0.
                     weight_filler { type: "constant" value: 2 } }
             bottom: "padded" top: "conv" }
    layers { name: "relu" type: RELU bottom: "conv" top: "conv"
             relu_param { negative_slope: 0.5 } })";
  ExpectNumbers(RunNet(text, "", {F32({1, 1, 2, 2}, {1, 2, 3, -20})}),
                {F32({1, 1, 2, 2}, {-14, -14, -14, -14})});
}

TEST(Import, WholeNetInACaffemodel) {
  const caffe::SampleModel& whole = Sample("whole");
  const auto results = RunNet("", whole.caffemodel, {SequenceOf({1, 2, 4, 4})});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ(results->front().dims, (std::vector<int64_t>{1, 3, 8, 8}));
}

// NVIDIA's fork of Caffe stores parameters as bytes, with a code of their type:
// 0 is double, 1 float, 2 half.
TEST(Import, RawBlobs) {
  const auto bytes_of = [](const auto& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()),
                       numbers.size() * sizeof(numbers[0]));
  };
  const std::string blobs[] = {
      bytes_of(std::vector<double>{1, -2.5}),
      bytes_of(std::vector<float>{1, -2.5}),
      bytes_of(std::vector<uint16_t>{0x3c00, 0xc100}),
  };
  const std::string layer = R"(type: "InnerProduct"
      inner_product_param { num_output: 1 bias_term: false })";
  for (int type = 0; type < 3; ++type) {
    const TestBlob blob{{1, 2}, {}, type, blobs[type]};
    ExpectNumbers(RunLayer(layer, {F32({1, 2}, {3, 2})}, {blob}),
                  {F32({1, 1}, {-2})});
  }
  EXPECT_EQ(ErrorOf(RunLayer(layer, {F32({1, 2}, {3, 2})},
                             {{{1, 2}, {}, 3, std::string(8, 'x')}})),
            "model 'model': layer 'layer': blob: expected raw numbers of type "
            "0 (double), 1 (float) or 2 (half), found 3: convert the weights "
            "to float before you save the net");
}

TEST(Import, ResultsInTheOrderOfNames) {
  const std::string text = R"(
    layer { name: "in" type: "Input" top: "x"
            input_param { shape { dim: 1 } } }
    layer { name: "b" type: "Power" bottom: "x" top: "zeta"
            power_param { shift: 1 } }
    layer { name: "a" type: "Power" bottom: "x" top: "alpha"
            power_param { shift: 2 } }
    layer { name: "in_place" type: "Power" bottom: "zeta" top: "zeta"
            power_param { scale: 10 } }
    layer { name: "unused" type: "Power" bottom: "x" top: "unused" }
    layer { name: "quiet" type: "Silence" bottom: "unused" })";
  ExpectNumbers(RunNet(text, "", {F32({1}, {3})}),
                {F32({1}, {5}), F32({1}, {40})});
}

TEST(Import, RulesOfPhases) {
  const std::string text = R"(
    input: "x" input_shape { dim: 1 }
    layer { name: "train" type: "Accuracy" bottom: "x" top: "y"
            include { phase: TRAIN } }
    layer { name: "both" type: "Power" bottom: "x" top: "y"
            power_param { shift: 1 } exclude { phase: TRAIN } }
    layer { name: "staged" type: "Power" bottom: "y" top: "y"
            power_param { shift: 10 } include { stage: "deploy" } })";
  ExpectNumbers(RunNet(text, "", {F32({1}, {1})}), {F32({1}, {2})});
  ExpectNumbers(
      RunNet("state { stage: \"deploy\" }" + text, "", {F32({1}, {1})}),
      {F32({1}, {12})});
}

TEST(Import, PinsReplaceDims) {
  const std::string text = R"(input: "x" input_shape { dim: 1 dim: 1 }
      layer { name: "a" type: "AbsVal" bottom: "x" top: "y" })";
  frontends::ImportOptions options;
  options.input_shapes["x"] = {2, 1};
  ExpectNumbers(RunNet(text, "", {F32({2, 1}, {-1, 2})}, options),
                {F32({2, 1}, {1, 2})});
  // If the user leaves the second dim open (nullopt), the model accepts extents
  // other than the net's own.
  options.input_shapes["x"] = {2, std::nullopt};
  ExpectNumbers(RunNet(text, "", {F32({2, 2}, {-1, 2, -3, 4})}, options),
                {F32({2, 2}, {1, 2, 3, 4})});
}

TEST(Import, Constants) {
  ExpectNumbers(RunNet(R"(input: "x" input_shape { dim: 2 }
      layer { name: "d" type: "DummyData" top: "d"
              dummy_data_param { data_filler { value: 4 } shape { dim: 2 } } }
      layer { name: "e" type: "Eltwise" bottom: "x" bottom: "d" top: "y" })",
                       "", {F32({2}, {1, 2})}),
                {F32({2}, {5, 6})});
}

TEST(Import, AllThatIsNotSupportedInOneError) {
  EXPECT_EQ(
      ErrorOf(RunNet(R"(input: "x" input_shape { dim: 1 }
        layer { name: "d" type: "Data" top: "data" }
        layer { name: "p1" type: "Python" bottom: "x" top: "a"
                python_param { module: "mine" layer: "Odd" } }
        layer { name: "f" type: "Filter" bottom: "x" bottom: "x" top: "b" }
        layer { name: "n1" type: "NeverHeardOf" bottom: "x" top: "c" }
        layer { name: "n2" type: "NeverHeardOf" bottom: "x" top: "d" })",
                     "", {})),
      "model 'model': unsupported operators: Data (layer 'd'; it reads data: "
      "name a net for deployment, which has inputs instead), Filter (layer "
      "'f'; the data decide how many images its tops have: filter after the "
      "model), NeverHeardOf (layer 'n1', 2 layers), Python (mine.Odd) (layer "
      "'p1'; it is a program in Python)");
}

TEST(Import, FieldsThatMayMeanSomething) {
  EXPECT_EQ(ErrorOf(RunNet(R"(input: "x" input_shape { dim: 1 }
layer { name: "r" type: "ReLU" bottom: "x" top: "y" param { lr_mult: 2 }
  relu_param { engine: MKL2017 sharpness: 3 } odd_param { a { b: 1 } } })",
                           "", {})),
            "model 'model': unknown fields, which may mean something: line 3: "
            "ReLUParameter has no field 'sharpness', line 3: LayerParameter "
            "has no field 'odd_param'");
}

TEST(Import, Mistakes) {
  const std::string input = R"(input: "x" input_shape { dim: 1 dim: 2 } )";
  struct Case {
    std::string text, error;
  };
  const Case cases[] = {
      {"layer { name: \"a\" ",
       "expected a prototxt: line 1, column 19: Expected identifier, got: "},
      {R"(layer { name: "a" type: "AbsVal" bottom: "x" top: "y" })",
       "expected a net with inputs, found none: name a net for deployment"},
      {input + R"(layer { name: "a" type: "AbsVal" bottom: "z" top: "y" })",
       "node 'a (AbsVal)': expected a blob 'z' of a layer before it, found "
       "none"},
      {input + R"(layer { name: "a" type: "AbsVal" bottom: "x" top: "y" }
                  layer { name: "b" type: "AbsVal" bottom: "x" top: "y" })",
       "blob 'y': expected one layer that gives it, found another: 'b'"},
      {input + R"(layer { name: "a" type: "AbsVal" bottom: "x" bottom: "x"
                          top: "y" })",
       "node 'a (AbsVal)': expected 1 bottoms, found 2"},
      {input + R"(layer { name: "a" type: "InnerProduct" bottom: "x" top: "y"
                          inner_product_param { num_output: 3 } })",
       "node 'a (InnerProduct)': expected weights 0 of shape [3, 2], found 0 "
       "blobs of this layer"},
      {input + R"(layer { name: "a" type: "Softmax" bottom: "x" top: "y"
                          softmax_param { axis: 4 } })",
       "node 'a (Softmax)': axis: expected a value in [-2, 1], found 4"},
      {R"(input: "x" input_dim: 1)",
       "expected 4 values of input_dim or an input_shape for each of 1 inputs, "
       "found 1 and 0"},
      {R"(input: "x" input_shape { dim: -4 })",
       "input 'x': expected dims of at least 0, found -4"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(ErrorOf(RunNet(c.text, "", {})), "model 'model': " + c.error);
  }
  EXPECT_EQ(ErrorOf(RunLayer(R"(type: "InnerProduct"
                                inner_product_param { num_output: 3 })",
                             {F32({1, 2}, {1, 2})}, {BlobOf({4, 2})})),
            "model 'model': node 'layer (InnerProduct)': weights 0: expected "
            "shape [3, 2], found [4, 2]");
  std::string deep = input;
  for (int i = 0; i < 100000; ++i) deep += "odd { ";
  EXPECT_EQ(ErrorOf(RunNet(deep, "", {})),
            "model 'model': expected a prototxt: messages are more than 32 "
            "levels deep");
  EXPECT_EQ(ErrorOf(RunNet("", "not a caffemodel", {})).substr(0, 50),
            "model 'model': expected a caffemodel, found a file");
}

}  // namespace
}  // namespace ember::tests
