// Tests If, Loop and Scan end to end in cases that the conformance suite lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/testing/model_builder.h"
#include "tests/onnx/one_node.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelBuilder;
using onnx::NodeProto;
using onnx::TensorProto;
using ::testing::AllOf;
using ::testing::HasSubstr;

void SetGraph(NodeProto& node, const char* name, const GraphProto& graph) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::GRAPH);
  *attribute.mutable_g() = graph;
}

// Returns a graph of one node, for the branch of an If. Its inputs are values
// of the outer graph.
GraphProto Branch(const std::string& op_type,
                  const std::vector<std::string>& inputs,
                  const std::vector<onnx::TestAttribute>& attributes = {}) {
  ModelBuilder branch;
  branch.Node(op_type, inputs, {"result"}, attributes);
  branch.Output("result");
  return branch.graph();
}

vm::Tensor Vector(const std::vector<float>& values, std::vector<int64_t> dims) {
  return vm::Tensor::Borrow(DType::kF32, std::move(dims), values.data());
}

Status ErrorOf(const StatusOr<std::vector<vm::Tensor>>& results) {
  return results.ok() ? OkStatus() : results.status();
}

void ExpectFloats(const StatusOr<std::vector<vm::Tensor>>& results,
                  const std::vector<int64_t>& dims,
                  const std::vector<float>& values) {
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ(results->front().dims, dims);
  const auto got = results->front().elements<float>();
  EXPECT_EQ(std::vector<float>(got.begin(), got.end()), values);
}

// Returns a model of: squeezed = If(x.shape[1] == 1) x[:, 0] else x, as
// exporters write it.
ModelBuilder SqueezeIfOne() {
  ModelBuilder m(11);
  m.Input("x", {2, "n"});
  m.Integers("one", {1});
  m.Node("Shape", {"x"}, {"shape"});
  m.Node("Gather", {"shape", "one"}, {"n"});
  m.Node("Equal", {"n", "one"}, {"is_one"});
  NodeProto& branch = m.Node("If", {"is_one"}, {"squeezed"});
  branch.set_name("maybe");
  SetGraph(branch, "then_branch",
           Branch("Squeeze", {"x"}, {{"axes", std::vector<int64_t>{1}}}));
  SetGraph(branch, "else_branch", Branch("Identity", {"x"}));
  return m;
}

// The branches' results differ in rank, so only one branch can be compiled: the
// one for which the open dim need not be 1, unless the model states the
// result's rank.
TEST(If, SqueezesADimThatIsTakenNotToBeOne) {
  ModelBuilder m = SqueezeIfOne();
  m.Node("Neg", {"squeezed"}, {"y"});
  m.Output("y");
  const std::vector<float> x = {1, 2, 3, 4};
  ExpectFloats(RunGraph(m.Import(), {Vector(x, {2, 2})}), {2, 2},
               {-1, -2, -3, -4});
  const Status status = ErrorOf(RunGraph(m.Import(), {Vector(x, {2, 1})}));
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("'maybe (If)': this module was compiled for the else "
                      "branch, found a condition that is true"),
            HasSubstr("compile with other dims (--shape)")));
  auto& type = *m.graph().mutable_output(0)->mutable_type();
  type.mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  type.mutable_tensor_type()->mutable_shape()->add_dim();
  ExpectFloats(RunGraph(m.Import(), {Vector(x, {2, 1})}), {2}, {-1, -2});
  EXPECT_THAT(
      std::string(ErrorOf(RunGraph(m.Import(), {Vector(x, {2, 2})})).message()),
      AllOf(HasSubstr("'maybe (If)/"),
            HasSubstr("dim 2*n must be 2: expected 2, found 4")));
}

TEST(If, WhatFollowsIsThereForBothRanks) {
  ModelBuilder m = SqueezeIfOne();
  m.Node("Neg", {"squeezed"}, {"negative"});
  m.Integers("all", {-1});
  m.Node("Reshape", {"negative", "all"}, {"flat"});
  m.Node("Add", {"flat", "flat"}, {"y"});
  m.Output("y");
  const std::vector<float> x = {1, 2, 3, 4};
  ExpectFloats(RunGraph(m.Import(), {Vector(x, {2, 1})}), {2}, {-2, -4});
  ExpectFloats(RunGraph(m.Import(), {Vector(x, {2, 2})}), {4},
               {-2, -4, -6, -8});
}

TEST(If, WhatFollowsACallIsThereForBothRanks) {
  // The If is inside a function. The importer must keep both ranks that the
  // function's result may have until later nodes decide.
  ModelBuilder squeeze = SqueezeIfOne();
  ModelBuilder m(11);
  m.Input("x", {2, "n"});
  onnx::FunctionProto& function = *m.proto().add_functions();
  function.set_domain("own");
  function.set_name("Squeezed");
  function.add_input("x");
  function.add_output("squeezed");
  onnx::NodeProto& one = *function.add_node();
  one = m.Node("Constant", {}, {"one"},
               {{"value_ints", std::vector<int64_t>{1}}});
  m.graph().clear_node();
  for (const NodeProto& node : squeeze.graph().node())
    *function.add_node() = node;
  for (const char* domain : {"", "own"}) {
    onnx::OperatorSetIdProto& opset = *function.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(12);
  }
  onnx::OperatorSetIdProto& own = *m.proto().add_opset_import();
  own.set_domain("own");
  own.set_version(1);
  m.Node("Squeezed", {"x"}, {"squeezed"}).set_domain("own");
  m.Node("ReduceMax", {"squeezed"}, {"y"}, {{"keepdims", 0}});
  m.Output("y");
  const std::vector<float> x = {1, 2, 4, 3};
  ExpectFloats(RunGraph(m.Import(), {Vector(x, {2, 1})}), {}, {2});
  ExpectFloats(RunGraph(m.Import(), {Vector(x, {2, 2})}), {}, {4});
}

// The branches of the outer If have three ranks: one branch contains another
// If, whose branches have different ranks.
TEST(If, WhatFollowsIsThereForTheRanksOfAnIfInAnIf) {
  ModelBuilder inner;
  NodeProto& choice = inner.Node("If", {"b"}, {"chosen"});
  SetGraph(choice, "then_branch", Branch("Identity", {"x"}));
  SetGraph(choice, "else_branch",
           Branch("ReduceMax", {"x"},
                  {{"axes", std::vector<int64_t>{1}}, {"keepdims", 0}}));
  inner.Node("Neg", {"chosen"}, {"negative"});
  inner.Output("negative");
  for (const bool then : {true, false}) {
    ModelBuilder m(11);
    m.Input("x", {2, 3});
    m.Input("a", {}, TensorProto::BOOL);
    m.Input("b", {}, TensorProto::BOOL);
    NodeProto& outer = m.Node("If", {"a"}, {"y0"});
    SetGraph(outer, then ? "then_branch" : "else_branch", inner.graph());
    SetGraph(outer, then ? "else_branch" : "then_branch",
             Branch("Unsqueeze", {"x"}, {{"axes", std::vector<int64_t>{0}}}));
    m.Node("ReduceSum", {"y0"}, {"y"}, {{"keepdims", 0}});
    m.Output("y");
    const std::vector<float> x = {1, 2, 3, 4, 5, 7};
    for (const bool a : {true, false}) {
      for (const bool b : {true, false}) {
        const float sum = a != then ? 22 : b ? -22 : -10;
        ExpectFloats(
            RunGraph(m.Import(), {Vector(x, {2, 3}),
                                  vm::Tensor::Borrow(DType::kBool, {}, &a),
                                  vm::Tensor::Borrow(DType::kBool, {}, &b)}),
            {}, {sum});
      }
    }
  }
}

TEST(If, TheRestOfTheModelTellsTheBranch) {
  ModelBuilder m = SqueezeIfOne();
  // The node after the If, a Transpose, requires two dims, so it fits only one
  // of the If's branches.
  m.Node("Transpose", {"squeezed"}, {"y"},
         {{"perm", std::vector<int64_t>{1, 0}}});
  m.Output("y");
  const std::vector<float> x = {1, 2, 3, 4};
  ExpectFloats(RunGraph(m.Import(), {Vector(x, {2, 2})}), {2, 2}, {1, 3, 2, 4});
  const Status status = ErrorOf(RunGraph(m.Import(), {Vector(x, {2, 1})}));
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("'maybe (If)': this module was compiled for the else "
                      "branch, found a condition that is true")));
}

// Returns a model of: y = If(c) [x] (rank 2) else x. The model declares a type
// with `stated_rank` for the output y, or for the intermediate value `mid`.
ModelBuilder UnsqueezeIf(bool state_output, int stated_rank) {
  ModelBuilder m(11);
  m.Input("c", {}, TensorProto::BOOL);
  m.Input("x", {2});
  NodeProto& branch = m.Node("If", {"c"}, {"mid"});
  SetGraph(branch, "then_branch",
           Branch("Unsqueeze", {"x"}, {{"axes", std::vector<int64_t>{0}}}));
  SetGraph(branch, "else_branch", Branch("Identity", {"x"}));
  m.Node("Neg", {"mid"}, {"y"});
  m.Output("y");
  onnx::ValueInfoProto* stated = m.graph().mutable_output(0);
  if (!state_output) {
    stated = m.graph().add_value_info();
    stated->set_name("mid");
  }
  auto& type = *stated->mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT);
  for (int i = 0; i < stated_rank; ++i) type.mutable_shape()->add_dim();
  return m;
}

TEST(If, StatedTypesTellTheBranch) {
  const std::vector<float> x = {1, 2};
  for (const bool state_output : {true, false}) {
    for (const bool is_then : {true, false}) {
      ModelBuilder m = UnsqueezeIf(state_output, is_then ? 2 : 1);
      const auto run = [&](bool condition) {
        return RunGraph(
            m.Import(),
            {vm::Tensor::Borrow(DType::kBool, {}, &condition), Vector(x, {2})});
      };
      const std::vector<int64_t> dims =
          is_then ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2};
      ExpectFloats(run(is_then), dims, {-1, -2});
      EXPECT_THAT(std::string(ErrorOf(run(!is_then)).message()),
                  HasSubstr("the condition follows from 'c': compile with "
                            "--constant=c=VALUE"));
      EXPECT_THAT(
          std::string(ErrorOf(run(!is_then)).message()),
          HasSubstr(is_then ? "compiled for the then branch, found a condition "
                              "that is false"
                            : "compiled for the else branch, found a condition "
                              "that is true"));
    }
  }
}

// The model uses only the shape of the If's result, which is known at compile
// time. The run must nevertheless check that the condition is a single bool.
TEST(If, TheConditionIsCheckedThoughOnlyAShapeIsUsed) {
  ModelBuilder m(11);
  m.Input("c", {}, TensorProto::BOOL);
  m.Input("x", {2});
  m.Integers("row", {1, 2});
  m.Integers("flat", {-1});
  m.Integers("all", {2, 1, 1});
  NodeProto& branch = m.Node("If", {"c"}, {"shape"});
  SetGraph(branch, "then_branch", Branch("Identity", {"row"}));
  SetGraph(branch, "else_branch",
           Branch("Unsqueeze", {"all"}, {{"axes", std::vector<int64_t>{0}}}));
  m.Node("Reshape", {"x", "shape"}, {"y"});
  m.Output("y");
  const std::vector<float> x = {1, 2};
  bool condition = true;
  const auto run = [&] {
    return RunGraph(
        m.Import(),
        {vm::Tensor::Borrow(DType::kBool, {}, &condition), Vector(x, {2})});
  };
  ExpectFloats(run(), {1, 2}, {1, 2});
  condition = false;
  EXPECT_THAT(std::string(ErrorOf(run()).message()),
              HasSubstr("compiled for the then branch"));
}

// An If in a branch of another If checks its condition only if that branch
// runs.
TEST(If, InARegionIsCheckedWhereItRuns) {
  ModelBuilder inner(11);
  NodeProto& choice = inner.Node("If", {"d"}, {"result"});
  SetGraph(choice, "then_branch", Branch("Identity", {"x"}));
  SetGraph(choice, "else_branch",
           Branch("Unsqueeze", {"x"}, {{"axes", std::vector<int64_t>{0}}}));
  inner.Output("result");
  ModelBuilder m(11);
  m.Input("c", {}, TensorProto::BOOL);
  m.Input("d", {}, TensorProto::BOOL);
  m.Input("x", {2});
  NodeProto& branch = m.Node("If", {"c"}, {"y"});
  SetGraph(branch, "then_branch", inner.graph());
  SetGraph(branch, "else_branch", Branch("Neg", {"x"}));
  m.Output("y");
  const std::vector<float> x = {1, 2};
  const auto run = [&](bool c, bool d) {
    return RunGraph(m.Import(),
                    {vm::Tensor::Borrow(DType::kBool, {}, &c),
                     vm::Tensor::Borrow(DType::kBool, {}, &d), Vector(x, {2})});
  };
  ExpectFloats(run(true, true), {2}, {1, 2});
  ExpectFloats(run(false, false), {2}, {-1, -2});
  EXPECT_THAT(std::string(ErrorOf(run(true, false)).message()),
              HasSubstr("compiled for the then branch"));
}

TEST(If, NoBranchCanBeUsed) {
  ModelBuilder m = SqueezeIfOne();
  m.Node("Transpose", {"squeezed"}, {"y"},
         {{"perm", std::vector<int64_t>{0, 1, 2}}});
  m.Output("y");
  EXPECT_FALSE(m.Import().ok());
}

// Returns a model of y = concat of first[i] + second[i], for sequences of so
// many elements. If `by_data` is true, the first one has the elements of
// `parts`, whose number only the run knows.
ModelBuilder SumsOfSequences(int first, int second, bool by_data) {
  ModelBuilder body;
  body.Input("a", {1});
  body.Input("b", {1});
  body.Node("Add", {"a", "b"}, {"sum"});
  body.Output("sum");
  ModelBuilder m;
  m.Input("x", {1});
  m.Input("parts", {"n"});
  m.Node("SequenceConstruct", std::vector<std::string>(first, "x"), {"known"});
  m.Node("SplitToSequence", {"parts"}, {"split"}, {{"axis", 0}});
  m.Node("SequenceConstruct", std::vector<std::string>(second, "x"), {"other"});
  NodeProto& map =
      m.Node("SequenceMap", {by_data ? "split" : "known", "other"}, {"mapped"});
  SetGraph(map, "body", body.graph());
  m.Node("ConcatFromSequence", {"mapped"}, {"y"}, {{"axis", 0}});
  m.Output("y");
  return m;
}

TEST(SequenceMap, TheSequencesHaveOneLength) {
  const std::vector<float> x = {1}, parts = {10, 20, 30};
  const auto run = [&](int first, int second, bool by_data) {
    return RunGraph(SumsOfSequences(first, second, by_data).Import(),
                    {Vector(x, {1}), Vector(parts, {3})});
  };
  ExpectFloats(run(2, 2, false), {2}, {2, 2});
  EXPECT_THAT(std::string(ErrorOf(run(2, 3, false)).message()),
              HasSubstr("input 1: expected a sequence of the length 2 of input "
                        "0, found 3"));
  ExpectFloats(run(2, 3, true), {3}, {11, 21, 31});
  EXPECT_THAT(
      std::string(ErrorOf(run(2, 2, true)).message()),
      HasSubstr("input 1: expected a sequence of the length of input 0"));
}

// Runs a Scan of opset 8 on x[batch, time, 1]. It computes running sums from an
// initial state; the stacked output has all running sums.
StatusOr<std::vector<vm::Tensor>> SumsBefore9(
    int direction, const std::vector<int64_t>& lengths) {
  ModelBuilder body(8);
  body.Input("sum", {1});
  body.Input("x", {1});
  body.Node("Add", {"sum", "x"}, {"next"});
  body.Node("Identity", {"next"}, {"out"});
  body.Output("next");
  body.Output("out");
  ModelBuilder m(8);
  m.Input("lengths", {"b"}, TensorProto::INT64);
  m.Input("initial", {2, 1});
  m.Input("x", {2, "t", 1});
  NodeProto& scan =
      m.Node("Scan", {"lengths", "initial", "x"}, {"last", "sums"},
             {{"num_scan_inputs", 1},
              {"directions", std::vector<int64_t>{direction}}});
  SetGraph(scan, "body", body.graph());
  m.Output("sums");
  m.Output("last");
  const std::vector<float> initial = {10, 20};
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  return RunGraph(
      m.Import(),
      {vm::Tensor::Borrow(DType::kI64, {std::ssize(lengths)}, lengths.data()),
       Vector(initial, {2, 1}), Vector(x, {2, 3, 1})});
}

void ExpectSums(int direction, const std::vector<int64_t>& lengths,
                const std::vector<float>& sums,
                const std::vector<float>& last) {
  const auto results = SumsBefore9(direction, lengths);
  ExpectFloats(results, {2, 3, 1}, sums);
  ASSERT_TRUE(results.ok());
  const auto got = (*results)[1].elements<float>();
  EXPECT_EQ(std::vector<float>(got.begin(), got.end()), last);
}

// Makes a loop's body with one carried value: `make` adds the nodes that
// compute the next value from the iteration's number. The output `seen` is the
// carried value of each iteration.
GraphProto BodyThatCarriesTheIteration(
    const std::function<void(ModelBuilder&)>& make) {
  ModelBuilder body;
  body.Node("Identity", {"condition"}, {"continue"});
  // The caller's function adds nodes that compute the value "next" from
  // "iteration".
  make(body);
  body.Node("Identity", {"carried"}, {"seen"});
  for (const char* output : {"continue", "next", "seen"}) body.Output(output);
  GraphProto graph = body.graph();
  const std::pair<const char*, int> inputs[] = {
      {"iteration", TensorProto::INT64},
      {"condition", TensorProto::BOOL},
      {"carried", TensorProto::INT64}};
  for (const auto& [name, type] : inputs) {
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(name);
    input.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    input.mutable_type()->mutable_tensor_type()->mutable_shape();
  }
  return graph;
}
ModelBuilder CarriesTheIteration(
    const std::function<void(ModelBuilder&)>& make) {
  ModelBuilder m(16);
  m.Input("trips", {}, TensorProto::INT64);
  NodeProto& loop = m.Node("Loop", {"trips", "", "trips"}, {"last", "y"});
  SetGraph(loop, "body", BodyThatCarriesTheIteration(make));
  m.Output("last");
  m.Output("y");
  return m;
}

void ExpectNumbersOfIterations(ModelBuilder m) {
  const int64_t trips = 4;
  const auto results =
      RunGraph(m.Import(), {vm::Tensor::Borrow(DType::kI64, {}, &trips)});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ((*results)[0].elements<int64_t>()[0], 3);
  const auto seen = (*results)[1].elements<int64_t>();
  EXPECT_EQ(std::vector<int64_t>(seen.begin(), seen.end()),
            (std::vector<int64_t>{4, 0, 1, 2}));
}

TEST(Loop, TheIterationsNumberIsCarried) {
  ExpectNumbersOfIterations(CarriesTheIteration([](ModelBuilder& body) {
    body.Node("Identity", {"iteration"}, {"next"});
  }));
}

// The first loop carries its iteration number, so each number has new memory.
// The second loop's number has one memory, allocated before the loop. Results
// must be right also if the loops have no iterations.
TEST(Loop, ALoopBehindOneThatCarriesItsNumber) {
  for (const int64_t trips : {int64_t{0}, int64_t{4}}) {
    ModelBuilder m = CarriesTheIteration([](ModelBuilder& body) {
      body.Node("Identity", {"iteration"}, {"next"});
    });
    NodeProto& second =
        m.Node("Loop", {"last", "", "trips"}, {"second", "all"});
    SetGraph(second, "body", BodyThatCarriesTheIteration([](ModelBuilder& b) {
               b.Node("Neg", {"iteration"}, {"next"});
             }));
    m.Output("second");
    const auto results =
        RunGraph(m.Import(), {vm::Tensor::Borrow(DType::kI64, {}, &trips)});
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    // The first result is the last carried number, 3, or its initial value 0 if
    // there are no iterations.
    EXPECT_EQ((*results)[0].elements<int64_t>()[0], trips == 0 ? 0 : 3);
    EXPECT_EQ((*results)[2].elements<int64_t>()[0], trips == 0 ? 0 : -2);
  }
}

TEST(Loop, TheIterationsNumberIsCarriedThroughReshapes) {
  ExpectNumbersOfIterations(CarriesTheIteration([](ModelBuilder& body) {
    body.Integers("axes", {0});
    body.Node("Unsqueeze", {"iteration", "axes"}, {"vector"});
    body.Node("Squeeze", {"vector", "axes"}, {"next"});
  }));
}

TEST(Loop, TheIterationsNumberIsCarriedThroughAnIf) {
  ExpectNumbersOfIterations(CarriesTheIteration([](ModelBuilder& body) {
    NodeProto& choice = body.Node("If", {"condition"}, {"next"});
    SetGraph(choice, "then_branch", Branch("Identity", {"iteration"}));
    SetGraph(choice, "else_branch", Branch("Neg", {"iteration"}));
  }));
}

TEST(Scan8, EndsAtEachElementsLength) {
  ExpectSums(0, {2, 1}, {11, 13, 0, 24, 0, 0}, {13, 24});
  ExpectSums(0, {3, 3}, {11, 13, 16, 24, 29, 35}, {16, 35});
  ExpectSums(0, {0, 2}, {0, 0, 0, 24, 29, 0}, {10, 29});
}

TEST(Scan8, BackwardBeginsAtTheLastSliceThatCounts) {
  ExpectSums(1, {2, 1}, {12, 13, 0, 24, 0, 0}, {13, 24});
  ExpectSums(1, {3, 2}, {13, 15, 16, 25, 29, 0}, {16, 29});
}

TEST(Scan8, WrongLengths) {
  EXPECT_FALSE(SumsBefore9(0, {4, 1}).ok());
  EXPECT_THAT(std::string(ErrorOf(SumsBefore9(0, {1, 1, 1})).message()),
              HasSubstr("must be 2"));
}

}  // namespace
}  // namespace ember::tests
