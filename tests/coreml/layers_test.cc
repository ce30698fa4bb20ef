// Tests layers and operations against their formulas: those that read, write
// and reshape by numbers that other layers compute, layers of volumes, and
// suppression.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/coreml/testing/sample_models.h"
#include "tests/coreml/one_model.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

using coreml::ArrayFeature;
using coreml::ConstInts;
using coreml::Description;
using coreml::LayerOf;
using coreml::Message;
using coreml::ModelOf;
using coreml::OperationOf;
using coreml::ProgramOf;

const Numbers kSix = F32({2, 3}, {1, 2, 3, 4, 5, 6});
const Numbers kSquare = F32({2, 2}, {1, 2, 3, 4});

// Runs one layer whose first input is x; its other inputs are the constants.
StatusOr<std::vector<Numbers>> RunOnConstants(
    uint64_t kind, const Message& parameters, const Numbers& x,
    const std::vector<Numbers>& constants) {
  Message network;
  std::vector<std::string> inputs = {"x"};
  for (const Numbers& constant : constants) {
    inputs.push_back("c" + std::to_string(inputs.size()));
    const std::vector<float> values(constant.values.begin(),
                                    constant.values.end());
    network.Put(1, LayerOf(1070,
                           Message()
                               .Integers(1, constant.dims)
                               .Put(2, Message().Floats(1, values)),
                           {}, {inputs.back()}));
  }
  network.Put(1, LayerOf(kind, parameters, inputs, {"y"})).Integer(5, 1);
  return RunModel(
      ModelOf(Description({ArrayFeature("x", x.dims)}, {ArrayFeature("y", {})}),
              500, network)
          .bytes(),
      {x});
}

TEST(Layers, RemaindersAreExact) {
  const double part = 0.7f;
  ExpectNumbers(RunLayer(865, Message(),
                         {F32({3}, {-7, 7, 7}), F32({3}, {0.7, 0.7, -2})}),
                {F32({3}, {11 * part - 7, 7 - 10 * part, -1})});
}

TEST(Layers, UpsamplesByFractions) {
  const Numbers x = F32({1, 1, 2}, {0, 6});
  const auto upsampled = [&](int64_t mode, int64_t alignment,
                             const std::vector<float>& factors) {
    return RunLayer(
        210,
        Message().Integer(5, mode).Integer(6, alignment).Floats(7, factors),
        {x});
  };
  // Linear upsampling (mode 1) is tested with its three alignments of corners
  // (1, 2 and 0), and nearest-neighbour upsampling (mode 0) once.
  ExpectNumbers(upsampled(1, 1, {1, 2.5}),
                {F32({1, 1, 5}, {0, 1.5, 3, 4.5, 6})});
  ExpectNumbers(upsampled(1, 2, {1, 2.5}),
                {F32({1, 1, 5}, {0, 0.6, 3, 5.4, 6})});
  ExpectNumbers(upsampled(1, 0, {1, 2}), {F32({1, 1, 4}, {0, 3, 6, 6})});
  ExpectNumbers(upsampled(0, 0, {1, 2}), {F32({1, 1, 4}, {0, 0, 6, 6})});
  const auto message = [](const StatusOr<std::vector<Numbers>>& result) {
    return std::string(result.status().message());
  };
  const std::string fractions = "expected whole numbers for upsampling";
  EXPECT_NE(message(upsampled(0, 1, {1, 2.5})).find(fractions),
            std::string::npos);
  EXPECT_NE(message(upsampled(1, 0, {1.5, 1})).find(fractions),
            std::string::npos);
  EXPECT_NE(message(upsampled(1, 1, {1, 0})).find("two factors above 0"),
            std::string::npos);
  EXPECT_NE(message(upsampled(1, 3, {1, 2})).find("linearUpsampleMode"),
            std::string::npos);
}

TEST(Layers, ScattersAndGathers) {
  const Message along_columns = Message().Integer(1, 1).Integer(2, 1);
  ExpectNumbers(
      RunLayer(935, along_columns,
               {kSix, F32({2}, {2, -3}), F32({2, 2}, {10, 20, 30, 40})}),
      {F32({2, 3}, {21, 2, 13, 44, 5, 36})});
  // In a gather along an axis, the dims of the indices take the place of the
  // axis in the result.
  ExpectNumbers(RunLayer(935, Message().Integer(1, 0).Integer(2, 1),
                         {F32({3}, {0, 0, 0}), F32({2, 2}, {0, 1, 1, 2}),
                          F32({2, 2}, {1, 2, 3, 4})}),
                {F32({3}, {1, 5, 4})});
  ExpectNumbers(
      RunLayer(945, Message(), {kSquare, F32({1, 2}, {1, 0}), F32({1}, {9})}),
      {F32({2, 2}, {1, 2, 9, 4})});
  ExpectNumbers(RunLayer(954, Message().Integer(1, 0),
                         {kSquare, F32({1, 2}, {1, 0}), F32({1, 2}, {7, 8})}),
                {F32({2, 2}, {1, 8, 7, 4})});
  ExpectNumbers(RunLayer(940, Message(), {kSquare, F32({2, 1}, {1, 0})}),
                {F32({2, 2}, {3, 4, 1, 2})});
  const auto wrong = RunLayer(935, Message().Integer(2, 7),
                              {kSix, F32({1}, {0}), F32({1, 3}, {1, 2, 3})});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find(
                "mode: expected a value in [0, 6], found 7"),
            std::string::npos)
      << wrong.status().message();
}

TEST(Layers, PlacesWindowsAndSequences) {
  ExpectNumbers(RunLayer(1313, Message(), {F32({4}, {0, 1, 0, 2})}),
                {F32({2, 1}, {1, 3})});
  ExpectNumbers(RunLayer(1313, Message(), {F32({2, 2}, {0, 5, 6, 0})}),
                {F32({2, 2}, {0, 1, 1, 0})});
  ExpectNumbers(RunLayer(965, Message().Integer(1, 0).Integer(2, 1),
                         {kSix, F32({2}, {2, 3})}),
                {F32({2, 3}, {2, 1, 3, 6, 5, 4})});
  ExpectNumbers(
      RunLayer(1005, Message().Integer(1, 0).Integer(2, 2).Integer(3, 1),
               {F32({3}, {1, 2, 3})}),
      {F32({2, 2}, {1, 2, 2, 3})});
  const Message hot = Message().Integer(2, -1).Float(3, 5).Float(4, -1);
  ExpectNumbers(RunOnConstants(1450, hot, F32({2}, {2, -1}), {F32({1}, {4})}),
                {F32({2, 4}, {-1, -1, 5, -1, -1, -1, -1, -1})});
}

TEST(Layers, ShapesThatOthersCompute) {
  ExpectNumbers(
      RunLayer(640, Message().Float(2, 1).Float(3, 2), {F32({1}, {6})}),
      {F32({3}, {1, 3, 5})});
  ExpectNumbers(RunLayer(1090, Message().Float(1, 3), {F32({2}, {2, 1})}),
                {F32({2, 1}, {3, 3})});
  ExpectNumbers(
      RunLayer(1110, Message(), {F32({1, 2}, {1, 2}), F32({2}, {2, 2})}),
      {F32({2, 2}, {1, 2, 1, 2})});
  ExpectNumbers(RunLayer(1145, Message(), {kSix, F32({2}, {3, 2})}),
                {F32({3, 2}, {1, 2, 3, 4, 5, 6})});
  ExpectNumbers(RunOnConstants(1145, Message(), kSix, {F32({1}, {-1})}),
                {F32({6}, {1, 2, 3, 4, 5, 6})});
  ExpectNumbers(RunLayer(1470, Message().Integer(2, 2).Integer(3, 1),
                         {kSix, F32({1}, {1})}),
                {F32({2, 2}, {2, 3, 5, 6})});
}

TEST(Layers, SlicesAndPads) {
  const auto slice = [](const std::vector<int64_t>& squeeze) {
    return Message()
        .Integers(2, {1, 0})
        .Integers(3, {2, -1})
        .Integers(4, {0, 0})
        .Integers(5, {1, 1})
        .Integers(6, squeeze);
  };
  const Numbers begin = F32({2}, {1, 1});
  ExpectNumbers(RunOnConstants(1000, slice({0, 0}), kSix, {begin}),
                {F32({2, 1}, {2, 5})});
  ExpectNumbers(RunOnConstants(1000, slice({0, 1}), kSix, {begin}),
                {F32({2}, {2, 5})});
  ExpectNumbers(RunLayer(1155, Message().Float(1, 7).Integers(2, {1, 2}),
                         {F32({2}, {1, 2})}),
                {F32({5}, {7, 1, 2, 7, 7})});
  // If padToGivenOutputSize is set, the second number is not an amount of
  // padding but the length of the result, 4.
  ExpectNumbers(
      RunLayer(1155, Message().Float(1, 7).Integers(2, {0, 4}).Integer(3, 1),
               {F32({2}, {1, 2})}),
      {F32({4}, {1, 2, 7, 7})});
}

// If the model's description gives no shape for a result, dims of 1 are
// dropped.
TEST(Layers, Volumes) {
  std::vector<double> values;
  for (int i = 1; i <= 18; ++i) values.push_back(i);
  const Numbers volume = F32({1, 1, 2, 3, 3}, values);
  Message pool;
  for (uint64_t field = 2; field < 5; ++field) pool.Integer(field, 2);
  ExpectNumbers(RunLayer(1465, Message(pool).Integer(15, 1), {volume}),
                {F32({1, 2, 2}, {14, 15, 17, 18})});
  const Numbers column = F32({1, 1, 2, 1, 1}, {2, 4});
  const Message mean = Message().Integer(1, 1).Integer(2, 2).Integer(8, 1);
  ExpectNumbers(RunLayer(1465, mean, {column}), {F32({2}, {1, 3})});
  ExpectNumbers(RunLayer(1465, Message(mean).Integer(14, 1), {column}),
                {F32({2}, {2, 3})});
  ExpectNumbers(RunLayer(1466, Message(), {volume}), {F32({1}, {18})});
  ExpectNumbers(RunLayer(1466, Message().Integer(1, 1), {volume}),
                {F32({1}, {9.5})});
  const Message convolution =
      Message()
          .Integer(1, 1)
          .Integer(2, 1)
          .Integer(10, 1)
          .Integer(20, 2)
          .Integer(21, 1)
          .Integer(22, 2)
          .Integer(50, 1)
          .Put(60, Message().Floats(1, {1, 10, 100, 1000}))
          .Put(61, Message().Floats(1, {1}));
  ExpectNumbers(
      RunLayer(1471, convolution, {F32({1, 1, 2, 1, 2}, {1, 2, 3, 4})}),
      {F32({1}, {4322})});
  const Message transposed = Message()
                                 .Integer(1, 1)
                                 .Integer(10, 1)
                                 .Integer(20, 2)
                                 .Put(60, Message().Floats(1, {3, 5}))
                                 .Integer(86, 1);
  ExpectNumbers(RunLayer(1471, transposed, {F32({1, 1, 1, 1, 1}, {2})}),
                {F32({2}, {6, 10})});
}

TEST(Layers, Suppression) {
  const Numbers boxes = F32({1, 4, 4}, {9, 9, 2, 2, 0, 0, 2, 2,  //
                                        0.1f, 0, 2, 2, 5, 5, 2, 2});
  const Numbers scores = F32({1, 4, 1}, {0.05f, 0.9f, 0.8f, 0.3f});
  const auto run = [&](float least, int64_t most, const Numbers& ranks,
                       bool per_class) {
    return RunLayer(
        1400,
        Message().Float(1, 0.5f).Float(2, least).Integer(3, most).Integer(
            4, per_class ? 1 : 0),
        {boxes, ranks}, 4);
  };
  // The box with the second best score overlaps the best box and is suppressed.
  // The last box has a score below the threshold.
  ExpectNumbers(run(0.1f, 3, scores, false),
                {F32({1, 3, 4}, {0, 0, 2, 2, 5, 5, 2, 2, 0, 0, 0, 0}),
                 F32({1, 3, 1}, {0.9f, 0.3f, 0}), F32({1, 3}, {1, 3, -1}),
                 F32({1}, {2})});
  // Here the layer asks for five boxes, although only one is kept. The best box
  // is kept even though its score is below the threshold.
  ExpectNumbers(run(0.95f, 5, scores, false),
                {F32({1, 5, 4}, {0, 0, 2, 2, 0, 0, 0, 0, 0, 0,
                                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
                 F32({1, 5, 1}, {0.9f, 0, 0, 0, 0}),
                 F32({1, 5}, {1, -1, -1, -1, -1}), F32({1}, {1})});
  // In suppression per class, a box does not suppress boxes of another class.
  ExpectNumbers(
      run(0.1f, 3, F32({1, 4, 2}, {0.05f, 0, 0.9f, 0, 0, 0.8f, 0.3f, 0}), true),
      {F32({1, 3, 4}, {0, 0, 2, 2, 0.1f, 0, 2, 2, 5, 5, 2, 2}),
       F32({1, 3, 2}, {0.9f, 0, 0, 0.8f, 0.3f, 0}), F32({1, 3}, {1, 2, 3}),
       F32({1}, {3})});
}

TEST(Operations, PlacesWindowsAndSequences) {
  ExpectNumbers(RunOperation("non_zero", F32({2, 2}, {0, 5, 6, 0}), {}, {}),
                {I32({2, 2}, {0, 1, 1, 0})});
  ExpectNumbers(
      RunOperation(
          "reverse_sequence", kSix,
          {ConstInts("l", {2, 3}), ConstInts("s", {1}), ConstInts("b", {0})},
          {{"lengths", {"l"}}, {"seq_axis", {"s"}}, {"batch_axis", {"b"}}}),
      {F32({2, 3}, {2, 1, 3, 6, 5, 4})});
  ExpectNumbers(RunOperation("sliding_windows", F32({3}, {1, 2, 3}),
                             {ConstInts("a", {0}), ConstInts("n", {2})},
                             {{"axis", {"a"}}, {"size", {"n"}}}),
                {F32({2, 2}, {1, 2, 2, 3})});
}

// Makes a program that adds an input x of these dims to a state of two numbers.
std::string Summing(const std::vector<int64_t>& dims,
                    const OperationInputs& updated = {{"state", {"sum"}},
                                                      {"value", {"after"}}}) {
  Message description =
      Description({ArrayFeature("x", dims)}, {ArrayFeature("y", {})});
  const Message array = Message().Integers(1, {2}).Integer(2, 65568);
  description.Put(13, Message().Text(1, "sum").Put(
                          3, Message().Put(8, Message().Put(1, array))));
  return ModelOf(description, 502,
                 ProgramOf(
                     {OperationOf("read_state", {{"input", {"sum"}}}, "before"),
                      OperationOf("add", {{"x", {"before"}}, {"y", {"x"}}},
                                  "after"),
                      OperationOf("coreml_update_state", updated, "y")},
                     {"y"}))
      .bytes();
}

TEST(Operations, KeepState) {
  ExpectNumbers(RunModel(Summing({2}), {F32({2}, {10, 20}), F32({2}, {1, 2})}),
                {F32({2}, {11, 22}), F32({2}, {11, 22})});
  const auto wrong = RunModel(Summing({3, 1}), {});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find(
                "input 'value': expected the state's dims [2], found [3, 2]"),
            std::string::npos)
      << wrong.status().message();
}

TEST(Operations, InputsAreGivenOnce) {
  // The operation is given its input "state" twice, which must be an error. The
  // first time it is given without a name of a value.
  const auto wrong = RunModel(
      Summing({2}, {{"state", {}}, {"state", {"sum"}}, {"value", {"after"}}}),
      {});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find(
                "node 'y (coreml_update_state)': expected input 'state' once, "
                "found it twice"),
            std::string::npos)
      << wrong.status().message();
}

}  // namespace
}  // namespace ember::tests
