// Tests Core ML models of each kind against formulas.
#include "frontends/coreml/import.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/file.h"
#include "frontends/coreml/model.h"
#include "frontends/coreml/testing/sample_models.h"
#include "tests/coreml/one_model.h"
#include "tests/formats/numbers.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tests {
namespace {

using coreml::ArrayFeature;
using coreml::BranchOf;
using coreml::ConstFloats;
using coreml::ConstInts;
using coreml::ConstText;
using coreml::Description;
using coreml::DoubleFeature;
using coreml::ImageFeature;
using coreml::LayerOf;
using coreml::LeafOf;
using coreml::Message;
using coreml::ModelOf;
using coreml::OperationOf;
using coreml::ProgramOf;
using coreml::StringFeature;

std::string ErrorOf(const std::string& bytes) {
  const auto results = RunModel(bytes, {});
  return results.ok() ? "no error" : std::string(results.status().message());
}

const std::string& Sample(const std::string& name) {
  for (const auto& [sample, bytes] : coreml::SampleModels())
    if (sample == name) return bytes;
  ADD_FAILURE() << name;
  return coreml::SampleModels()[0].second;
}

TEST(Network, ClassifierOfImages) {
  // The image's preprocessing halves the pixels. All weights of the convolution
  // are 1/4.
  const std::vector<double> pixels(48, 8);
  const auto results =
      RunTensors(Sample("network"), {U8({1, 4, 4, 3}, pixels)});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ASSERT_EQ(results->size(), 1u);
  // The scores are -p for the first class and 3 p for "dog", where p is the sum
  // of the pixels.
  ExpectStrings((*results)[0], {}, {"dog"});
}

TEST(Program, Classifier) {
  const auto results =
      RunTensors(Sample("classifying program"), {F32({1, 3}, {1, 4, 2})});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ASSERT_EQ(results->size(), 2u);
  ExpectStrings((*results)[0], {}, {"dog"});
  const double sum = std::exp(1.0) + std::exp(4.0) + std::exp(2.0);
  const std::vector<int64_t> dims = (*results)[1].dims;
  EXPECT_EQ(dims, (std::vector<int64_t>{3}));
  const auto* scores = static_cast<const float*>((*results)[1].data);
  EXPECT_NEAR(scores[1], std::exp(4.0) / sum, 1e-5);
  // In an ML program, class labels may be integers.
  const auto classify = [](const std::vector<int64_t>& labels) {
    return RunOperation("classify", F32({3}, {0.25, 0.25, 0.5}),
                        {coreml::ConstInts("c", labels)},
                        {{"probabilities", {"x"}}, {"classes", {"c"}}},
                        {"y", "p"});
  };
  ExpectNumbers(classify({7, 8, 9}),
                {I64({}, {9}), F32({3}, {0.25, 0.25, 0.5})});
  EXPECT_EQ(classify({7, 8}).status().message(),
            "model 'model': node 'y (classify)': expected a label for each of "
            "3 classes, found 2");
}

TEST(Network, Layers) {
  const Numbers x = F32({1, 2, 2, 2}, {1, -2, 3, -4, 5, -6, 7, -8});
  struct Case {
    uint64_t kind;
    Message parameters;
    std::function<double(double)> f;
  };
  const Case cases[] = {
      {130, Message().Put(15, Message().Float(1, 0.5f)),
       [](double v) { return v < 0 ? v / 2 : v; }},
      {130, Message().Put(5, Message().Float(1, 2).Float(2, 1)),
       [](double v) { return 2 * v + 1; }},
      {130, Message().Put(60, Message()),
       [](double v) { return v / (1 + std::abs(v)); }},
      {220, Message().Integer(1, 7).Float(2, -3),
       [](double v) { return std::max(v, -3.0); }},
      {220, Message().Integer(1, 2).Float(3, 1).Float(5, 2),
       [](double v) { return 1 / (2 * v + 1); }},
      {230, Message().Float(1, 4), [](double v) { return v + 4; }},
      {660, Message().Float(1, -2).Float(2, 5),
       [](double v) { return std::min(std::max(v, -2.0), 5.0); }},
      {680, Message(), [](double v) { return v < 0 ? -1.0 : 1.0; }},
      {750, Message(), [](double v) { return std::sinh(v); }},
      {770, Message(), [](double v) { return std::asinh(v); }},
      {740, Message(), [](double v) { return std::atan(v); }},
      {830, Message().Float(2, 1), [](double v) { return v > 1 ? 1.0 : 0.0; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.kind);
    Numbers y = x;
    for (double& value : y.values) value = c.f(value);
    ExpectNumbers(RunLayer(c.kind, c.parameters, {x}), {y});
  }
  const Numbers row = F32({1, 2, 1, 1}, {10, 100});
  ExpectNumbers(RunLayer(900, Message(), {x, row}),
                {F32({1, 2, 2, 2}, {10, -20, 30, -40, 500, -600, 700, -800})});
  ExpectNumbers(RunLayer(280, Message().Integer(3, 1), {x}),
                {F32({1, 2, 1, 1}, {-2, -2})});
  ExpectNumbers(
      RunLayer(120, Message().Integers(10, {2, 2}).Integers(20, {2, 2}), {x}),
      {F32({1, 2, 1, 1}, {3, 7})});
  ExpectNumbers(RunLayer(210, Message().Integers(1, {1, 2}).Integer(5, 1),
                         {F32({1, 1, 1, 2}, {0, 4})}),
                {F32({1, 1, 1, 4}, {0, 2, 4, 4})});
  ExpectNumbers(RunLayer(345, Message().Integer(1, 0).Integer(2, 2),
                         {F32({1, 2, 2}, {1, 2, 3, 4})}),
                {F32({4, 1, 1}, {1, 2, 3, 4})});
  ExpectNumbers(RunLayer(960, Message().Integers(1, {0, 1}),
                         {F32({2, 3}, {1, 2, 3, 4, 5, 6})}),
                {F32({2, 3}, {3, 2, 1, 6, 5, 4})});
  ExpectNumbers(RunLayer(1065, Message(), {x}), {F32({4}, {1, 2, 2, 2})});
  ExpectNumbers(
      RunLayer(635, Message().Float(1, 2).Float(2, -1).Float(3, 1.5f), {}),
      {F32({2}, {-1, 0.5})});
  const Numbers square = F32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  ExpectNumbers(RunLayer(1315, Message().Integer(1, 1).Integer(2, 0), {square}),
                {F32({3, 3}, {1, 0, 0, 4, 5, 0, 0, 8, 9})});
  ExpectNumbers(
      RunLayer(1315, Message().Integer(1, -1).Integer(2, 1), {square}),
      {F32({3, 3}, {1, 2, 0, 4, 5, 6, 7, 8, 9})});
  ExpectNumbers(RunLayer(1320, Message().Integer(1, -1), {square}),
                {F32({3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0})});
  ExpectNumbers(RunLayer(1325, Message().Integer(1, 1), {square}),
                {F32({3, 3}, {0, 2, 3, 0, 0, 6, 0, 0, 0})});
  ExpectNumbers(RunLayer(1455, Message().Integer(1, 1), {square}),
                {F32({3, 3}, {1, 3, 6, 4, 9, 15, 7, 15, 24})});
  ExpectNumbers(
      RunLayer(1455, Message().Integer(1, -1).Integer(2, 1).Integer(3, 1),
               {square}),
      {F32({3, 3}, {5, 3, 0, 11, 6, 0, 17, 9, 0})});
  const Numbers part = F32({3}, {-1, 0.25, 0.5});
  ExpectNumbers(RunLayer(1460, Message().Float(1, 2).Float(2, 0.4f), {part}),
                {F32({3}, {-2, 0.25, 0.4})});
  ExpectNumbers(RunLayer(1461, Message().Integer(1, 0), {part}),
                {F32({3}, {0, 1, 2})});
  ExpectNumbers(RunLayer(1461, Message().Integer(1, -1).Integer(2, 1), {part}),
                {F32({3}, {2, 1, 0})});
  ExpectNumbers(RunLayer(730, Message(), {part}),
                {F32({3}, {std::asin(-1.0), std::asin(0.25), std::asin(0.5)})});
  ExpectNumbers(RunLayer(735, Message(), {part}),
                {F32({3}, {std::acos(-1.0), std::acos(0.25), std::acos(0.5)})});
  ExpectNumbers(RunLayer(995,
                         Message()
                             .Integers(1, {0, -2})
                             .Integers(2, {1, 0})
                             .Integers(3, {1, 0})
                             .Integers(4, {0, 1})
                             .Integers(5, {1, 1}),
                         {F32({2, 3}, {1, 2, 3, 4, 5, 6})}),
                {F32({1, 2}, {2, 3})});
  ExpectNumbers(
      RunLayer(330, Message().Integer(1, 2), {x}, 2),
      {F32({1, 1, 2, 2}, {1, -2, 3, -4}), F32({1, 1, 2, 2}, {5, -6, 7, -8})});
  // The weights of this inner product are stored as 16-bit floats: 0x3c00 is 1,
  // 0x4000 is 2.
  ExpectNumbers(
      RunLayer(140,
               Message().Integer(1, 2).Integer(2, 1).Put(
                   20, Message().Text(2, std::string("\x00\x3c\x00\x40", 4))),
               {F32({1, 2}, {3, 4})}),
      {F32({1, 1}, {11})});
}

TEST(Network, DeconvolutionOfShape) {
  const Message weights = Message().Floats(1, {1, 2, 3, 4});
  ExpectNumbers(RunLayer(100,
                         Message()
                             .Integer(1, 1)
                             .Integer(2, 1)
                             .Integers(20, {2, 2})
                             .Integers(30, {2, 2})
                             .Integer(60, 1)
                             .Put(90, weights),
                         {F32({1, 1, 1, 2}, {1, 10})}),
                {F32({1, 1, 2, 4}, {1, 2, 10, 20, 3, 4, 30, 40})});
}

// Tests trees with each of the six comparisons, on rows of which some values
// are missing (NaN).
TEST(Tables, TreesOfAllBehaviors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> xs = {1, 2, 3, nan};
  const std::vector<std::vector<bool>> holds = {
      {true, true, false},  {true, false, false}, {false, true, true},
      {false, false, true}, {false, true, false}, {true, false, true}};
  for (int64_t behavior = 0; behavior < 6; ++behavior) {
    for (const bool missing : {false, true}) {
      Message ensemble;
      ensemble.Put(1, BranchOf(0, behavior, 0, 2, 1, 2, missing));
      ensemble.Put(1, LeafOf(1, {{0, 10}}));
      ensemble.Put(1, LeafOf(2, {{0, 20}}));
      ensemble.Integer(2, 1).Doubles(3, {0.5});
      std::vector<double> expected;
      for (size_t i = 0; i < 3; ++i)
        expected.push_back(holds[static_cast<size_t>(behavior)][i] ? 10.5
                                                                   : 20.5);
      expected.push_back(missing ? 10.5 : 20.5);
      SCOPED_TRACE(behavior);
      ExpectNumbers(RunModel(ModelOf(Description({DoubleFeature("x")},
                                                 {DoubleFeature("y")})
                                         .Text(11, "y"),
                                     302, Message().Put(1, ensemble))
                                 .bytes(),
                             {F64({4}, xs)}),
                    {F64({4}, expected)});
    }
  }
}

TEST(Tables, TreeClassifier) {
  Message ensemble;
  ensemble.Put(1, BranchOf(0, 1, 0, 0, 1, 2));
  ensemble.Put(1, LeafOf(1, {{0, 1}}));
  ensemble.Put(1, LeafOf(2, {{1, 1}}));
  ensemble.Integer(2, 2);
  const Message classifier = Message()
                                 .Put(1, ensemble)
                                 .Integer(2, 1)
                                 .Put(101, Message().Integers(1, {7, 9}));
  const double high = 1 / (1 + std::exp(-1)), low = 1 - high;
  ExpectNumbers(
      RunModel(ModelOf(Description({DoubleFeature("x")},
                                   {DoubleFeature("label"), DoubleFeature("p")})
                           .Text(11, "label")
                           .Text(12, "p"),
                       402, classifier)
                   .bytes(),
               {F64({2}, {-1, 1})}),
      {I64({2}, {7, 9}), F64({2, 2}, {high, low, low, high})});
}

TEST(Tables, PipelineOfScalerAndLinearModel) {
  // The scaler computes s = (x + shift) * 3. The linear model computes s[0] * 1
  // + s[1] * 10 + 0.5.
  ExpectNumbers(RunModel(Sample("linear"), {F32({2}, {1, 2})}),
                {F64({1}, {3 * 2 + 30 * 4 + 0.5})});
}

TEST(Tables, LinearClassifiers) {
  const auto run = [](const Message& glm) {
    return RunModel(
        ModelOf(Description({DoubleFeature("a"), DoubleFeature("b")},
                            {DoubleFeature("label"), DoubleFeature("p")})
                    .Text(11, "label")
                    .Text(12, "p"),
                400, glm)
            .bytes(),
        {F64({1}, {1}), F64({1}, {2})});
  };
  const Message two = Message().Integers(1, {5, 6});
  const double p = 1 / (1 + std::exp(-(1 - 2 + 0.25)));
  ExpectNumbers(run(Message()
                        .Put(1, Message().Doubles(1, {1, -1}))
                        .Doubles(2, {0.25})
                        .Put(101, two)),
                {I64({1}, {5}), F64({1, 2}, {1 - p, p})});
  const double a = 1 / (1 + std::exp(-1.0)), b = 1 / (1 + std::exp(-2.0));
  ExpectNumbers(run(Message()
                        .Put(1, Message().Doubles(1, {1, 0}))
                        .Put(1, Message().Doubles(1, {0, 1}))
                        .Integer(4, 1)
                        .Put(101, two)),
                {I64({1}, {6}), F64({1, 2}, {a / (a + b), b / (a + b)})});
}

TEST(Tables, Preparation) {
  const auto run = [](uint64_t kind, const Message& parameters,
                      const Numbers& x, int64_t outputs) {
    return RunModel(ModelOf(Description({ArrayFeature("x", x.dims)},
                                        {ArrayFeature("y", {outputs})}),
                            kind, parameters)
                        .bytes(),
                    {x});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ExpectNumbers(run(601, Message().Double(1, 9), F32({2}, {nan, 1}), 2),
                {F32({2}, {9, 1})});
  ExpectNumbers(
      run(601, Message().Double(1, 9).Double(11, 1), F32({2}, {5, 1}), 2),
      {F32({2}, {5, 9})});
  ExpectNumbers(run(607, Message().Integer(1, 2), F32({2}, {3, -4}), 2),
                {F32({2}, {0.6, -0.8})});
  ExpectNumbers(run(607, Message().Integer(1, 1), F32({2}, {1, -3}), 2),
                {F32({2}, {0.25, -0.75})});
  ExpectNumbers(run(609, Message().Integers(1, {2, 0}), F32({3}, {1, 2, 3}), 2),
                {F32({2}, {3, 1})});
}

TEST(Program, Operations) {
  ExpectNumbers(
      RunModel(Sample("program"), {F32({1, 2, 3}, {1, 2, 3, 4, 5, 6})}),
      {F32({1, 2, 1}, {6, 30})});
  const Numbers x = F32({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectNumbers(
      RunOperation("slice_by_index", x,
                   {ConstInts("b", {0, 0, -1, 0}), ConstInts("e", {1, 1, 0, 3}),
                    ConstInts("s", {1, 1, 1, 2}), ConstInts("em", {0, 0, 1, 0}),
                    ConstInts("sq", {1, 0, 0, 0})},
                   {{"begin", {"b"}},
                    {"end", {"e"}},
                    {"stride", {"s"}},
                    {"end_mask", {"em"}},
                    {"squeeze_mask", {"sq"}}}),
      {F32({1, 1, 2}, {4, 6})});
  ExpectNumbers(
      RunOperation("pad", x,
                   {ConstInts("p", {0, 0, 1, 0}), ConstText("m", "reflect")},
                   {{"pad", {"p"}}, {"mode", {"m"}}}),
      {F32({1, 1, 2, 4}, {2, 1, 2, 3, 5, 4, 5, 6})});
  ExpectNumbers(
      RunOperation("conv", x,
                   {ConstFloats("w", {1, 1, 1, 2}, {1, 10}),
                    ConstFloats("b", {1}, {0.5}), ConstText("t", "same")},
                   {{"weight", {"w"}}, {"bias", {"b"}}, {"pad_type", {"t"}}}),
      {F32({1, 1, 2, 3}, {21.5, 32.5, 3.5, 54.5, 65.5, 6.5})});
  ExpectNumbers(
      RunOperation("batch_norm", x,
                   {ConstFloats("m", {1}, {1}), ConstFloats("v", {1}, {3}),
                    ConstFloats("e", {}, {1})},
                   {{"mean", {"m"}}, {"variance", {"v"}}, {"epsilon", {"e"}}}),
      {F32({1, 1, 2, 3}, {0, 0.5, 1, 1.5, 2, 2.5})});
  ExpectNumbers(RunOperation("concat", x, {ConstInts("a", {3})},
                             {{"values", {"x", "x"}}, {"axis", {"a"}}}),
                {F32({1, 1, 2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6})});
  ExpectNumbers(
      RunOperation("pixel_shuffle", F32({1, 4, 1, 1}, {1, 2, 3, 4}),
                   {ConstInts("f", {2})}, {{"upscale_factor", {"f"}}}),
      {F32({1, 1, 2, 2}, {1, 2, 3, 4})});
}

// A package as Apple's tools write it: a manifest, the model, and a file of
// weights.
TEST(Package, WeightsOfAnotherFile) {
  namespace fs = std::filesystem;
  const fs::path package = fs::path(::testing::TempDir()) / "m.mlpackage";
  const fs::path folder = package / "Data" / "com.apple.CoreML";
  fs::create_directories(folder / "weights");
  std::string blob(64, '\0');
  const uint32_t head[] = {0xdeadbeef, 2};
  const uint64_t place[] = {8, 128};
  const float values[] = {3, 5};
  blob.append(reinterpret_cast<const char*>(head), 8);
  blob.append(reinterpret_cast<const char*>(place), 16);
  blob.append(40, '\0');
  blob.append(reinterpret_cast<const char*>(values), 8);
  const auto write = [&](const std::string& file, uint64_t offset) {
    const Message type =
        Message().Put(1, Message().Integer(1, 11).Integer(2, 1).Put(
                             3, Message().Put(1, Message().Integer(1, 2))));
    const Message value = Message().Put(2, type).Put(
        5, Message().Text(1, file).Integer(2, static_cast<int64_t>(offset)));
    const Message constant =
        Message()
            .Text(1, "const")
            .Put(3, Message().Text(1, "w"))
            .Put(5, Message().Text(1, "val").Put(2, value));
    const Message model = ModelOf(
        Description({ArrayFeature("x", {2})}, {ArrayFeature("y", {2})}), 502,
        ProgramOf(
            {constant, OperationOf("add", {{"x", {"x"}}, {"y", {"w"}}}, "y")},
            {"y"}));
    ASSERT_TRUE(
        WriteFileAtomically((folder / "model.mlmodel").string(), model.bytes())
            .ok());
  };
  ASSERT_TRUE(
      WriteFileAtomically((folder / "weights/weight.bin").string(), blob).ok());
  const auto run = [&]() -> StatusOr<std::vector<vm::Tensor>> {
    frontends::ModelFile file(package.string());
    return RunGraph(coreml::ImportModel(file, {}),
                    {MakeTensor(F32({2}, {1, 2}))});
  };
  write("@model_path/weights/weight.bin", 64);
  const auto results = run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ(tools::FloatElement((*results)[0], 0), 4);
  EXPECT_EQ(tools::FloatElement((*results)[0], 1), 7);
  // The package's files are replaced by links to files in one folder, as a
  // download cache makes them.
  const fs::path blobs = fs::path(package) += ".blobs";
  fs::remove_all(blobs);
  fs::create_directories(blobs);
  fs::rename(folder / "model.mlmodel", blobs / "m");
  fs::rename(folder / "weights/weight.bin", blobs / "w");
  fs::create_symlink(blobs / "m", folder / "model.mlmodel");
  fs::create_symlink(blobs / "w", folder / "weights/weight.bin");
  EXPECT_TRUE(run().ok()) << run().status().ToString();
  fs::remove(folder / "model.mlmodel");
  fs::rename(blobs / "m", folder / "model.mlmodel");
  EXPECT_NE(run().status().message().find("found a link out of it"),
            std::string_view::npos);
  fs::remove(folder / "weights/weight.bin");
  fs::rename(blobs / "w", folder / "weights/weight.bin");
  fs::remove_all(blobs);
  write("@model_path/weights/weight.bin", 65);
  EXPECT_NE(run().status().message().find("expected a blob at byte 65"),
            std::string_view::npos);
  write("@model_path/../../../secret", 64);
  EXPECT_NE(run().status().message().find("inside the model's folder"),
            std::string_view::npos);
  // The package's folder "Data" is replaced by a link to a folder outside of
  // the package.
  const fs::path elsewhere = fs::path(package) += ".elsewhere";
  fs::remove_all(elsewhere);
  fs::rename(package / "Data", elsewhere);
  fs::create_directory_symlink(elsewhere, package / "Data");
  EXPECT_NE(run().status().message().find("found a link out of it"),
            std::string_view::npos)
      << run().status().ToString();
  fs::remove_all(elsewhere);
  fs::remove_all(package);
}

TEST(Import, AllThatIsNotSupportedInOneError) {
  Message network;
  network.Put(1, LayerOf(500, Message(), {"x"}, {"a"}));
  network.Put(1, LayerOf(212, Message(), {"a"}, {"b"}));
  network.Put(1, LayerOf(212, Message(), {"b"}, {"y"}));
  EXPECT_EQ(ErrorOf(ModelOf(Description({ArrayFeature("x", {1})},
                                        {ArrayFeature("y", {})}),
                            500, network)
                        .bytes()),
            "model 'model': unsupported operators: cropResize (layer 'layer', "
            "2 layers; no model known here uses it), custom (layer 'layer'; "
            "it is a program beside the model)");
  EXPECT_EQ(ErrorOf(ModelOf(Description({}, {}), 501, Message()).bytes()),
            "model 'model': unsupported operators: item similarity "
            "recommender (layer ''; models of this kind are not read)");
  EXPECT_EQ(ErrorOf("nonsense").substr(0, 53),
            "model 'model': expected a Core ML model, found 8 byte");
}

}  // namespace
}  // namespace ember::tests
