// Tests branches and loops of neural networks and ML programs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/coreml/testing/sample_models.h"
#include "tests/coreml/one_model.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

using coreml::ArrayFeature;
using coreml::BlockOf;
using coreml::ConstBool;
using coreml::ConstInts;
using coreml::ConstText;
using coreml::Description;
using coreml::LayerOf;
using coreml::Message;
using coreml::ModelOf;
using coreml::OperationOf;
using coreml::ProgramOf;

// The numbers that Core ML's format gives to kinds of layers.
constexpr uint64_t kAdd = 230, kCopy = 600, kBranch = 605, kLoop = 615,
                   kBreak = 620, kContinue = 625, kGreater = 830,
                   kSubtract = 905, kConcat = 980;

Message Network(const std::vector<Message>& layers) {
  Message network;
  for (const Message& layer : layers) network.Put(1, layer);
  return network;
}
// AddTo returns a layer that computes y = x + value; Copy returns one that
// computes y = x.
Message AddTo(const std::string& x, float value, const std::string& y) {
  return LayerOf(kAdd, Message().Float(1, value), {x}, {y});
}
Message Copy(const std::string& x, const std::string& y) {
  return LayerOf(kCopy, Message(), {x}, {y});
}
Message Above(const std::string& x, float value, const std::string& y) {
  return LayerOf(kGreater, Message().Float(2, value), {x}, {y});
}
Message Branch(const std::string& condition, const std::vector<Message>& yes,
               const std::vector<Message>& no) {
  return LayerOf(kBranch, Message().Put(1, Network(yes)).Put(2, Network(no)),
                 {condition}, {});
}
Message Jump(uint64_t kind) { return LayerOf(kind, Message(), {}, {}); }

// Makes a model with the input "x" or, if `inputs` is 2, the inputs "x" and
// "n". Each has one number, and so has the result "y".
std::string ModelOfLayers(const std::vector<Message>& layers, int inputs = 1) {
  std::vector<Message> features = {ArrayFeature("x", {1})};
  if (inputs == 2) features.push_back(ArrayFeature("n", {1}));
  return ModelOf(Description(features, {ArrayFeature("y", {})}), 500,
                 Network(layers).Integer(5, 1))
      .bytes();
}

void ExpectResult(const std::string& model, const std::vector<double>& inputs,
                  double expected) {
  std::vector<Numbers> numbers;
  for (const double input : inputs) numbers.push_back(F32({1}, {input}));
  SCOPED_TRACE(inputs[0]);
  ExpectNumbers(RunModel(model, numbers), {F32({1}, {expected})});
}

std::string ErrorOf(const std::string& model) {
  const auto results = RunModel(model, {F32({1}, {1})});
  return results.ok() ? "no error" : std::string(results.status().message());
}

TEST(Branches, BothWays) {
  // The value z exists before the branch. Only the second branch changes it;
  // the first one must leave it unchanged.
  const std::string model =
      ModelOfLayers({Copy("x", "z"), Above("x", 2, "c"),
                     Branch("c", {AddTo("x", 10, "a")},
                            {AddTo("x", -10, "a"), AddTo("z", 100, "z")}),
                     LayerOf(kAdd, Message(), {"a", "z"}, {"y"})});
  ExpectResult(model, {3}, 3 + 10 + 3);
  ExpectResult(model, {1}, 1 - 10 + 101);
}

TEST(Branches, WhatOneSideGivesIsNotThere) {
  const std::string model =
      ModelOfLayers({Branch("x", {AddTo("x", 10, "a")}, {}), Copy("a", "y")});
  EXPECT_EQ(ErrorOf(model),
            "model 'model': node 'layer (copy)': expected a blob 'a' of a "
            "layer before it, found one of a branch or loop that need not give "
            "it, or not always of one type");
}

TEST(Loops, AKnownNumberOfTimes) {
  const Message body = Network({AddTo("y", 3, "t"), Copy("t", "y")});
  const std::string model = ModelOfLayers(
      {Copy("x", "y"),
       LayerOf(kLoop, Message().Integer(1, 4).Put(4, body), {}, {})});
  ExpectResult(model, {1}, 13);
  // The same loop with the number of iterations as an input of the model, which
  // may be 0.
  const std::string counted = ModelOfLayers(
      {Copy("x", "y"),
       LayerOf(kLoop, Message().Integer(1, 4).Put(4, body), {"n"}, {})},
      2);
  ExpectResult(counted, {1, 2}, 7);
  ExpectResult(counted, {1, 0}, 1);
}

// Returns a model of: while (y > 0) y = y - 3. The loop has at most `most`
// iterations; 0 means no limit.
std::string Countdown(int64_t most) {
  const Message loop = Message()
                           .Integer(1, most)
                           .Text(2, "c")
                           .Put(3, Network({Above("y", 0, "c")}))
                           .Put(4, Network({AddTo("y", -3, "y")}));
  return ModelOfLayers({Copy("x", "y"), LayerOf(kLoop, loop, {}, {})});
}
TEST(Loops, WhileAConditionHolds) {
  ExpectResult(Countdown(0), {10}, -2);
  ExpectResult(Countdown(0), {-5}, -5);
  ExpectResult(Countdown(2), {10}, 4);
}

// Each iteration adds 1 to i and then i to the sum, except that the iteration
// with i = 2 continues before the addition. The loop breaks once the sum is
// above 7: 1 + 3 + 4 = 8 with i = 4.
TEST(Loops, BreakAndContinue) {
  const Message body = Network(
      {AddTo("i", 1, "i"), AddTo("i", -2, "less"),
       LayerOf(kSubtract, Message(), {"less", "less"}, {"zero"}),
       Branch("less", {Copy("less", "unused")}, {Jump(kContinue)}),
       LayerOf(kAdd, Message(), {"y", "i"}, {"y"}), Above("y", 7, "enough"),
       Branch("enough", {Jump(kBreak)}, {}), AddTo("turns", 1, "turns")});
  const std::string model = ModelOfLayers(
      {Copy("x", "y"), Copy("x", "i"), Copy("x", "turns"),
       LayerOf(kLoop, Message().Integer(1, 100).Put(4, body), {}, {}),
       LayerOf(kConcat, Message().Integer(1, 0), {"y", "i", "turns"}, {"all"}),
       Copy("all", "y")});
  // The last result, 2, counts the iterations that reach the end of the body:
  // those with i = 1 and i = 3.
  ExpectNumbers(RunModel(model, {F32({1}, {0})}), {F32({3}, {8, 4, 2})});
}

TEST(Loops, BreakBeforeTheCondition) {
  // The network of the condition counts how often it runs: once before the
  // first iteration, and after each of the first two iterations, but not after
  // the third one, which breaks.
  const Message loop =
      Message()
          .Text(2, "c")
          .Put(3, Network({AddTo("n", 1, "n"), Above("n", 0, "c")}))
          .Put(4, Network({AddTo("i", 1, "i"), Above("i", 2, "enough"),
                           Branch("enough", {Jump(kBreak)}, {})}));
  const std::string model =
      ModelOfLayers({Copy("x", "n"), Copy("x", "i"),
                     LayerOf(kLoop, loop, {}, {}), Copy("n", "y")});
  ExpectResult(model, {0}, 3);
}

TEST(Loops, ShapesThatGrow) {
  const Message body =
      Network({LayerOf(kConcat, Message().Integer(1, 0), {"y", "x"}, {"y"})});
  const std::string model = ModelOfLayers(
      {Copy("x", "y"), LayerOf(kLoop, Message().Put(4, body), {"n"}, {})}, 2);
  ExpectNumbers(RunModel(model, {F32({1}, {5}), F32({1}, {3})}),
                {F32({4}, {5, 5, 5, 5})});
}

// Loops are nested, and the shape of a value grows in the innermost one. Then
// each import of a loop imports the loop's body twice, so the number of imports
// doubles with each level.
TEST(Loops, ManyInEachOther) {
  const auto nested = [](int depth) {
    Message inner =
        Network({LayerOf(kConcat, Message().Integer(1, 0), {"y", "x"}, {"y"})});
    for (int i = 1; i < depth; ++i)
      inner = Network(
          {LayerOf(kLoop, Message().Integer(1, 1).Put(4, inner), {}, {})});
    return ModelOfLayers(
        {Copy("x", "y"),
         LayerOf(kLoop, Message().Integer(1, 2).Put(4, inner), {}, {})});
  };
  ExpectNumbers(RunModel(nested(8), {F32({1}, {5})}), {F32({3}, {5, 5, 5})});
  EXPECT_NE(ErrorOf(nested(16)).find("in 65536 steps"), std::string::npos);
}

TEST(Loops, Refused) {
  EXPECT_EQ(ErrorOf(ModelOfLayers({Copy("x", "y"), Jump(kBreak)})),
            "model 'model': node 'layer (loopBreak)': expected to be in a "
            "loop, found none");
  // The error names an unsupported layer also if the layer is inside a branch
  // or a loop.
  EXPECT_NE(
      ErrorOf(ModelOfLayers(
                  {Copy("x", "y"),
                   Branch("x", {LayerOf(500, Message(), {"x"}, {"a"})}, {})}))
          .find("custom"),
      std::string::npos);
  Message deep = Network({AddTo("y", 1, "y")});
  for (int i = 0; i < 40; ++i)
    deep =
        Network({LayerOf(kLoop, Message().Integer(1, 2).Put(4, deep), {}, {})});
  EXPECT_NE(ErrorOf(ModelOfLayers(
                        {Copy("x", "y"),
                         LayerOf(kLoop, Message().Integer(1, 2).Put(4, deep),
                                 {}, {})}))
                .find("too deep"),
            std::string::npos);
}

// Makes an operation of an ML program with nested blocks, such as a loop with
// its condition and body.
Message WithBlocks(const std::string& type, const std::string& argument,
                   const std::vector<std::string>& values,
                   const std::vector<std::string>& outputs,
                   const std::vector<Message>& blocks) {
  Message operation = OperationOf(type, {{argument, values}}, outputs[0]);
  for (size_t i = 1; i < outputs.size(); ++i)
    operation.Put(3, Message().Text(1, outputs[i]));
  for (const Message& block : blocks) operation.Put(4, block);
  return operation;
}
Message Op(const std::string& type, const std::string& x, const std::string& y,
           const std::string& result) {
  return OperationOf(type, {{"x", {x}}, {"y", {y}}}, result);
}
std::string ModelOfOperations(const std::vector<Message>& operations,
                              const std::string& output) {
  return ModelOf(
             Description({ArrayFeature("x", {1})}, {ArrayFeature(output, {})}),
             502, ProgramOf(operations, {output}))
      .bytes();
}

TEST(Program, Cond) {
  const std::string model = ModelOfOperations(
      {coreml::ConstFloats("two", {1}, {2}), Op("greater", "x", "two", "c"),
       WithBlocks("cond", "pred", {"c"}, {"y"},
                  {BlockOf({}, {Op("mul", "x", "two", "m")}, {"m"}),
                   BlockOf({}, {Op("sub", "x", "two", "s")}, {"s"})})},
      "y");
  ExpectResult(model, {5}, 10);
  ExpectResult(model, {1}, -1);
}

// The program begins with i = 0 and total = 0. While i < x, each iteration
// computes total + i and i + 1.
TEST(Program, WhileLoop) {
  const std::string model = ModelOfOperations(
      {coreml::ConstFloats("zero", {1}, {0}),
       coreml::ConstFloats("one", {1}, {1}),
       WithBlocks("while_loop", "loop_vars", {"zero", "zero"}, {"last", "y"},
                  {BlockOf({"i", "total"}, {Op("less", "i", "x", "c")}, {"c"}),
                   BlockOf({"i", "total"},
                           {Op("add", "total", "i", "more"),
                            Op("add", "i", "one", "next")},
                           {"next", "more"})})},
      "y");
  ExpectResult(model, {4}, 6);
  ExpectResult(model, {0}, 0);
}

// The program makes a list of i * 2 that grows while i < x.
TEST(Program, Lists) {
  const Message write = OperationOf(
      "list_write", {{"ls", {"list"}}, {"index", {"i"}}, {"value", {"twice"}}},
      "longer");
  const auto model = [&](bool grows, int64_t length) {
    return ModelOfOperations(
        {ConstInts("zero", {0}), ConstInts("one", {1}),
         coreml::ConstFloats("two", {1}, {2}), ConstInts("length", {length}),
         ConstBool("grows", grows), ConstText("type", "fp32"),
         OperationOf("make_list",
                     {{"init_length", {"length"}},
                      {"dynamic_length", {"grows"}},
                      {"elem_shape", {"one"}},
                      {"dtype", {"type"}}},
                     "start"),
         ConstText("to", "fp32"),
         WithBlocks(
             "while_loop", "loop_vars", {"zero", "start"}, {"last", "full"},
             {BlockOf(
                  {"i", "list"},
                  {OperationOf("cast", {{"x", {"i"}}, {"dtype", {"to"}}}, "f"),
                   Op("less", "f", "x", "c")},
                  {"c"}),
              BlockOf(
                  {"i", "list"},
                  {OperationOf("cast", {{"x", {"i"}}, {"dtype", {"to"}}}, "g"),
                   Op("mul", "g", "two", "twice"), write,
                   Op("add", "i", "one", "next")},
                  {"next", "longer"})}),
         ConstInts("places", {2, 0}),
         OperationOf("list_gather", {{"ls", {"full"}}, {"indices", {"places"}}},
                     "y")},
        "y");
  };
  const std::vector<Numbers> four = {F32({1}, {4})};
  ExpectNumbers(RunModel(model(true, 1), four), {F32({2, 1}, {4, 0})});
  ExpectNumbers(RunModel(model(false, 4), four), {F32({2, 1}, {4, 0})});
  // A write after the end of a list that does not grow must be an error of the
  // run.
  const auto beyond = RunModel(model(false, 3), four);
  ASSERT_FALSE(beyond.ok());
  EXPECT_NE(beyond.status().message().find("expected an index of the list"),
            std::string::npos)
      << beyond.status().ToString();
}

TEST(Program, ListOperations) {
  // The program scatters [7, 8, 9] to positions 2 and 0 of four, and reads the
  // length and one element.
  const std::vector<Message> before = {
      ConstInts("length", {4}),
      ConstBool("grows", false),
      ConstInts("one", {1}),
      OperationOf("make_list",
                  {{"init_length", {"length"}},
                   {"dynamic_length", {"grows"}},
                   {"elem_shape", {"one"}}},
                  "start"),
      ConstInts("places", {2, 0}),
      coreml::ConstFloats("v", {2, 1}, {7, 8}),
      OperationOf(
          "list_scatter",
          {{"ls", {"start"}}, {"indices", {"places"}}, {"value", {"v"}}},
          "list")};
  auto with = [&](const Message& last) {
    std::vector<Message> all = before;
    all.push_back(last);
    return ModelOfOperations(all, "y");
  };
  const std::vector<Numbers> x = {F32({1}, {0})};
  ExpectNumbers(
      RunModel(with(OperationOf("list_read",
                                {{"ls", {"list"}}, {"index", {"one"}}}, "y")),
               x),
      {F32({1}, {0})});
  ExpectNumbers(RunModel(with(OperationOf(
                             "list_gather",
                             {{"ls", {"list"}}, {"indices", {"places"}}}, "y")),
                         x),
                {F32({2, 1}, {7, 8})});
  ExpectNumbers(
      RunModel(with(OperationOf("list_length", {{"ls", {"list"}}}, "y")), x),
      {I32({}, {4})});
}

TEST(Program, RefusedBlocks) {
  EXPECT_EQ(ErrorOf(ModelOfOperations({WithBlocks("cond", "pred", {"x"}, {"y"},
                                                  {BlockOf({}, {}, {"x"})})},
                                      "y")),
            "model 'model': node 'y (cond)': expected 2 blocks, found 1");
  EXPECT_NE(ErrorOf(ModelOfOperations(
                        {WithBlocks(
                            "cond", "pred", {"x"}, {"y"},
                            {BlockOf({}, {Op("wonder", "x", "x", "m")}, {"m"}),
                             BlockOf({}, {}, {"x"})})},
                        "y"))
                .find("wonder"),
            std::string::npos);
}

}  // namespace
}  // namespace ember::tests
