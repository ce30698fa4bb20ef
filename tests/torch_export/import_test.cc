// Tests whole programs: layers, open dims, control flow, state, and both
// layouts of archives.
#include "frontends/torch_export/import.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "frontends/archive/testing/zip_builder.h"
#include "frontends/torch_export/extents.h"
#include "frontends/torch_export/testing/program_builder.h"
#include "frontends/torch_export/testing/sample_models.h"
#include "tests/torch_export/one_node.h"

namespace ember::tests {
namespace {

using torch_export::GraphText;
using torch_export::Int;
using torch_export::None;
using torch_export::ProgramBuilder;
using torch_export::SampleModel;
using torch_export::SampleProgram;
using torch_export::SymInt;
using torch_export::SymInts;
using torch_export::Tensors;

torch_export::Given T(const std::string& name) {
  return torch_export::Tensor(name);
}

std::vector<uint8_t> Floats(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Returns images with the values -3 … 3, again and again.
Numbers Images(int64_t count) {
  Numbers images = F32({count, 1, 4, 4}, {});
  for (int64_t i = 0; i < count * 16; ++i)
    images.values.push_back(static_cast<double>(i % 7 - 3));
  return images;
}
const std::vector<double> kLayersResult = {-4.84375, 5.34375, -3.1796875,
                                           5.1328125};

TEST(Import, ConvolutionBatchNormAndLinearForAnyBatch) {
  const std::string archive = SampleModel("layers");
  ExpectNumbers(RunArchive(archive, {Images(2)}), {F32({2, 2}, kLayersResult)});
  ExpectNumbers(RunArchive(archive, {Images(1)}),
                {F32({1, 2}, {kLayersResult[0], kLayersResult[1]})});
  const StatusOr<graph::Graph> graph = ImportArchive(archive);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph::ToString(graph->inputs()[0]->type()), "f32[s0, 1, 4, 4]");
  EXPECT_EQ(graph->inputs()[0]->name(), "x");
  ASSERT_EQ(graph->outputs().size(), 1u);
}

TEST(Import, OldLayout) {
  ExpectNumbers(RunArchive(SampleProgram("layers").OldArchive(), {Images(2)}),
                {F32({2, 2}, kLayersResult)});
  ExpectNumbers(
      RunArchive(SampleProgram("loop").OldArchive(), {F32({2}, {1, 2})}),
      {F32({2}, {64, 128})});
  ExpectNumbers(
      RunArchive(SampleProgram("layers").OldArchive(/*with_attributes=*/true),
                 {Images(2)}),
      {F32({2, 2}, kLayersResult)});
}

TEST(Import, TransformerBlockForAnyLength) {
  const Numbers x = F32({1, 3, 4}, {1, 2, 3, 4, 0, -1, 1, 2, 2, 2, 0, 1});
  const Numbers y = F32(
      {1, 3, 4}, {1.192667, 2.234749, 3.276831, 4.318913, 0.232373, -0.702856,
                  1.361915, 2.426685, 1.958618, 1.932879, -0.092859, 0.881402});
  ExpectNumbers(RunArchive(SampleModel("block"), {x}), {y});
  // The old layout of archives does not say which arguments are keyword
  // arguments. An operator of this model has one, the element type of its mask.
  ExpectNumbers(RunArchive(SampleProgram("block").OldArchive(), {x}), {y});
}

TEST(Import, BranchesThatTheRunDecides) {
  const std::string archive = SampleModel("branch");
  ExpectNumbers(RunArchive(archive, {F32({3}, {1, 2, -1})}),
                {F32({3}, {2, 4, -2})});
  ExpectNumbers(RunArchive(archive, {F32({3}, {1, 2, -4})}),
                {F32({3}, {-1, -2, 4})});
}

TEST(Import, LoopsThatTheRunCounts) {
  const std::string archive = SampleModel("loop");
  ExpectNumbers(RunArchive(archive, {F32({2}, {1, 2})}), {F32({2}, {64, 128})});
  ExpectNumbers(RunArchive(archive, {F32({2}, {200, 2})}),
                {F32({2}, {200, 2})});
}

// Tests map and scan over an open axis.
TEST(Import, ScansAndMaps) {
  GraphText add;
  add.TensorInput("total", DType::kF32, {"2"});
  add.TensorInput("row", DType::kF32, {"2"});
  add.Node("aten.add.Tensor", {T("total"), T("row")}, "sum");
  add.Node("aten.mul.Tensor", {T("sum"), Int(10)}, "scaled");
  add.Result(T("sum"));
  add.Result(T("scaled"));
  GraphText shift;
  shift.TensorInput("row", DType::kF32, {"2"});
  shift.TensorInput("by", DType::kF32, {"2"});
  shift.Node("aten.sub.Tensor", {T("row"), T("by")}, "shifted");
  shift.Result(T("shifted"));
  ProgramBuilder p;
  p.Input("start", DType::kF32, {"2"});
  p.Input("rows", DType::kF32, {"s0", "2"});
  p.TupleNode("higher_order.scan",
              {torch_export::Graph("combine", add), Tensors({"start"}),
               Tensors({"rows"}), Tensors({})},
              {"last", "all"});
  p.ListNode("higher_order.map_impl",
             {torch_export::Graph("body", shift), Tensors({"rows"}),
              Tensors({"start"})},
             {"mapped"});
  p.Output("last");
  p.Output("all");
  p.Output("mapped");
  ExpectNumbers(RunArchive(p.Archive(),
                           {F32({2}, {1, 2}), F32({3, 2}, {1, 1, 2, 2, 3, 3})}),
                {F32({2}, {7, 8}), F32({3, 2}, {20, 30, 40, 50, 70, 80}),
                 F32({3, 2}, {0, -1, 1, 0, 2, 1})});
}

TEST(Import, GraphsThatAreOnlyWrapped) {
  GraphText inner;
  inner.TensorInput("a", DType::kF32, {"2"});
  inner.Node("aten.neg.default", {T("a")}, "negative");
  inner.Result(T("negative"));
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2"});
  p.ListNode(
      "higher_order.wrap_with_set_grad_enabled",
      {torch_export::Bool(false), torch_export::Graph("submod", inner), T("x")},
      {"first"});
  p.ListNode("higher_order.wrap_with_autocast",
             {torch_export::Text("cpu"), None(), torch_export::Bool(false),
              None(), torch_export::Graph("submod_1", inner), T("first")},
             {"second"});
  p.Output("first");
  p.Output("second");
  ExpectNumbers(RunArchive(p.Archive(), {F32({2}, {1, -2})}),
                {F32({2}, {-1, 2}), F32({2}, {1, -2})});
}

// The model adds x to its buffer in each call. The buffer is 10, 20 before the
// first call.
TEST(Import, BuffersThatChangeAreState) {
  const std::string archive = SampleModel("counter");
  const StatusOr<graph::Graph> graph = ImportArchive(archive);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->inputs().size(), 3u);
  EXPECT_EQ(graph->inputs()[1]->name(), "total");
  EXPECT_EQ(graph->inputs()[2]->name(), "started");
  EXPECT_EQ(graph->input_logical_types()[1], frontends::kStateType);
  const Numbers x = F32({2}, {1, 2});
  const Numbers on = {DType::kBool, {}, {1}};
  ExpectNumbers(
      RunArchive(archive, {x, F32({2}, {0, 0}), {DType::kBool, {}, {0}}}),
      {F32({2}, {12, 24}), F32({2}, {11, 22}), on});
  ExpectNumbers(RunArchive(archive, {x, F32({2}, {11, 22}), on}),
                {F32({2}, {13, 26}), F32({2}, {12, 24}), on});
}

// Operators with a final _, such as add_, write in place. The program changes a
// buffer and an input by them.
TEST(Import, WhatIsWrittenInPlaceIsStateToo) {
  ProgramBuilder p;
  p.Buffer("b_count", "count", DType::kF32, {2}, Floats({0, 0}));
  p.Input("x", DType::kF32, {"2"});
  p.Node("aten.add_.Tensor", {T("b_count"), Int(1)}, "add_");
  p.Node("aten.mul_.Tensor", {T("x"), Int(3)}, "mul_");
  p.Node("aten.add.Tensor", {T("x"), T("b_count")}, "add");
  p.Output("add");
  // The program changes its input x in place, so x * 3 is one of its results.
  // The buffer is zeros at first, so it needs no flag that says whether it has
  // been set.
  ExpectNumbers(RunArchive(p.Archive(), {F32({2}, {1, 2}), F32({2}, {5, 5})}),
                {F32({2}, {9, 12}), F32({2}, {3, 6}), F32({2}, {6, 6})});
}

TEST(Import, MutatedInputsAreResults) {
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2"});
  p.Node("aten.add.Tensor", {T("x"), Int(1)}, "add");
  p.InputMutation("add", "x");
  p.Output("add");
  const StatusOr<graph::Graph> graph = ImportArchive(p.Archive());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->outputs().size(), 2u);
  EXPECT_EQ(graph->output_names()[0], "x_after");
  ExpectNumbers(RunArchive(p.Archive(), {F32({2}, {1, 2})}),
                {F32({2}, {2, 3}), F32({2}, {2, 3})});
}

TEST(Import, ResultsAreCalledAsTheKeysOfDicts) {
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2"});
  p.Node("aten.neg.default", {T("x")}, "neg");
  p.Node("aten.abs.default", {T("x")}, "abs_1");
  p.Output("neg");
  p.Output("abs_1");
  p.Output("neg");
  const std::string leaf =
      R"({"type": null, "context": null, "children_spec": []})";
  p.Arranged(R"([1, {"type": "builtins.dict", "context": "[\"y\", \"all\"]", )"
             R"("children_spec": [)" +
             leaf +
             R"(, {"type": "builtins.tuple", "context": "null", )"
             R"("children_spec": [)" +
             leaf + ", " + leaf + "]}]}]");
  const auto names = [](const std::string& archive) {
    const StatusOr<graph::Graph> graph = ImportArchive(archive);
    if (!graph.ok()) return std::vector<std::string>();
    return std::vector<std::string>(graph->output_names().begin(),
                                    graph->output_names().end());
  };
  EXPECT_EQ(names(p.Archive()),
            (std::vector<std::string>{"y", "all_0", "all_1"}));
  // The description of the results' structure has fewer leaves than the program
  // has results, so it is not used: results are named after their nodes.
  p.Arranged("[1, " + leaf + "]");
  EXPECT_EQ(names(p.Archive()),
            (std::vector<std::string>{"neg", "abs_1", "neg_2"}));
}

// The program has dims that are expressions of others, and arithmetic on them.
TEST(Import, ExpressionsOfDims) {
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"s0", "2"});
  p.Input("y", DType::kF32, {"2*s0"});
  p.SymNode("aten.sym_size.int", {T("x"), Int(0)}, "sym_size");
  p.SymNode("_operator.mul", {SymInt("sym_size"), Int(2)}, "mul");
  p.SymNode("_operator.add", {SymInt("mul"), Int(3)}, "add");
  p.SymNode("_operator.floordiv", {SymInt("add"), Int(2)}, "floordiv");
  p.Node("aten.view.default", {T("x"), SymInts({"mul"})}, "view");
  p.Node("aten.add.Tensor", {T("view"), T("y")}, "sum");
  p.Node("aten.arange.start_step",
         {Int(0), SymInt("floordiv"), Int(1),
          torch_export::Named("dtype", torch_export::Type(DType::kI64))},
         "arange");
  p.Output("sum");
  p.Output("arange");
  p.SymOutput("add");
  const std::string archive = p.Archive();
  const StatusOr<graph::Graph> graph = ImportArchive(archive);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph::ToString(graph->inputs()[1]->type()), "f32[y_0]");
  ExpectNumbers(
      RunArchive(archive,
                 {F32({2, 2}, {1, 2, 3, 4}), F32({4}, {10, 20, 30, 40})}),
      {F32({4}, {11, 22, 33, 44}), I64({3}, {0, 1, 2}), I64({}, {7})});
  // At run time the second input's dim must be twice the first input's, so a
  // run with 2 and 3 fails.
  EXPECT_FALSE(
      RunArchive(archive, {F32({2, 2}, {1, 2, 3, 4}), F32({3}, {1, 2, 3})})
          .ok());
  // The two dims depend on each other, so fixing one of them fixes the other,
  // too.
  const StatusOr<graph::Graph> pinned =
      ImportArchive(archive, {.input_shapes = {{"y", {6}}}});
  ASSERT_TRUE(pinned.ok()) << pinned.status().message();
  EXPECT_EQ(graph::ToString(pinned->inputs()[0]->type()), "f32[3, 2]");
  EXPECT_EQ(graph::ToString(pinned->inputs()[1]->type()), "f32[6]");
  ExpectImportError(archive,
                    "input 'y' axis 0: expected 4, which is 2*s0, found 5",
                    {.input_shapes = {{"x", {2, 2}}, {"y", {5}}}});
}

TEST(Import, RangesAreChecked) {
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"s0"});
  p.Node("aten.neg.default", {T("x")}, "neg");
  p.Output("neg");
  p.Range("s0", 2, 3);
  ExpectNumbers(RunArchive(p.Archive(), {F32({1}, {4})}), {F32({1}, {-4})});
  const auto results = RunArchive(p.Archive(), {F32({4}, {1, 2, 3, 4})});
  ASSERT_FALSE(results.ok());
  EXPECT_NE(
      results.status().message().find("input 'x' axis 0: expected at most 3"),
      std::string::npos)
      << results.status().message();
  ExpectImportError(p.Archive(),
                    "input 'x' axis 0: expected at most 3, found 9",
                    {.input_shapes = {{"x", {9}}}});
}

// Inputs of the program are numbers: n is given at run time, mode was fixed
// when the program was exported.
TEST(Import, NumbersAsInputs) {
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"4"});
  p.SymInput("n");
  p.Constant("mode", 7);
  p.Node("aten.slice.Tensor", {T("x"), Int(0), Int(0), SymInt("n")}, "slice");
  p.Output("slice");
  ExpectNumbers(RunArchive(p.Archive(), {F32({4}, {1, 2, 3, 4}), I64({}, {3})}),
                {F32({3}, {1, 2, 3})});
}

TEST(Import, SeveralProgramsInAnArchive) {
  archive::ZipBuilder zip;
  for (const char* name : {"double", "negate"}) {
    ProgramBuilder p;
    p.Input("x", DType::kF32, {"2"});
    if (name[0] == 'd')
      p.Node("aten.mul.Tensor", {T("x"), Int(2)}, "y");
    else
      p.Node("aten.neg.default", {T("x")}, "y");
    p.Output("y");
    zip.Add(std::string("models/") + name + ".json", p.ProgramJson());
  }
  zip.Add("archive_format", "pt2");
  const std::string archive = zip.Finish();
  ExpectNumbers(RunArchive(archive, {F32({2}, {1, 2})}, {.entry = "negate"}),
                {F32({2}, {-1, -2})});
  ExpectImportError(archive,
                    "--entry: expected one of the programs 'double', 'negate', "
                    "found none");
}

TEST(Extents, AreReadAsSymPyPrintsThem) {
  const auto text = [](std::string_view extent) {
    const StatusOr<graph::Dim> dim = torch_export::ParseExtent(extent);
    return dim.ok() ? dim->ToString() : std::string(dim.status().message());
  };
  EXPECT_EQ(text("s0"), "s0");
  EXPECT_EQ(text("2*s0 + 1"), "2*s0 + 1");
  EXPECT_EQ(text("(s0//2)"), "floordiv(s0, 2)");
  EXPECT_EQ(text("s0**2"), "s0*s0");
  EXPECT_EQ(text("Mod(s1, 8)"), "mod(s1, 8)");
  EXPECT_EQ(text("Max(1, s77 - 3)"), "max(1, s77 - 3)");
  EXPECT_EQ(text("FloorDiv(6*s0, 3)"), "2*s0");
  // PyTorch 2.6 and later write expressions in the following form.
  const std::string s0 = "Symbol('s0', positive=True, integer=True)";
  EXPECT_EQ(text(s0), "s0");
  EXPECT_EQ(text("Add(Mul(Integer(2), " + s0 + "), Integer(-1))"), "2*s0 - 1");
  EXPECT_EQ(text("Pow(" + s0 + ", Integer(2))"), "s0*s0");
  EXPECT_EQ(text("FloorDiv(" + s0 + ", Integer(2))"), "floordiv(s0, 2)");
  EXPECT_EQ(text("Mul(" + s0 + ", Symbol('u1', integer=True), Integer(3))"),
            "3*s0*u1");
  EXPECT_EQ(text("Max(Integer(1), " + s0 + ")"), "max(1, s0)");
  EXPECT_NE(text("Rational(1, 2) + " + s0).find("found 'Rational(1, 2)"),
            std::string::npos);
  EXPECT_NE(text("Mod(" + s0 + ")").find("two arguments of Mod, found 1"),
            std::string::npos);
  EXPECT_NE(text("Pow(" + s0 + ", Integer(-1))").find("from 1 to 8, found -1"),
            std::string::npos);
  EXPECT_NE(text("Integer(99999999999999999999)").find("64 bits"),
            std::string::npos);
  EXPECT_NE(text(s0 + ")").find("expected the end"), std::string::npos);
  std::string deep = s0;
  for (int i = 0; i < 200; ++i) deep = "Add(" + deep + ")";
  EXPECT_NE(text(deep).find("at most 100 calls"), std::string::npos);
  EXPECT_NE(text("sqrt(s0)").find("found 'sqrt'"), std::string::npos);
  EXPECT_NE(text("s0**s1").find("found '**s1'"), std::string::npos);
  EXPECT_NE(text(std::string(5000, '(')).find("4096"), std::string::npos);
}

}  // namespace
}  // namespace ember::tests
