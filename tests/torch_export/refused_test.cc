// Tests refused programs and their error messages.
#include <gtest/gtest.h>

#include <string>

#include "frontends/archive/testing/zip_builder.h"
#include "frontends/torch_export/import.h"
#include "frontends/torch_export/testing/program_builder.h"
#include "frontends/torch_export/testing/sample_models.h"
#include "tests/torch_export/one_node.h"

namespace ember::tests {
namespace {

using torch_export::GraphText;
using torch_export::Int;
using torch_export::ProgramBuilder;

torch_export::Given T(const std::string& name) {
  return torch_export::Tensor(name);
}

// Returns the archive of a small program of x: f32[2], in whose JSON the text
// `from` is replaced by `to`.
std::string Changed(const std::string& from, const std::string& to) {
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2"});
  p.Node("aten.neg.default", {T("x")}, "neg");
  p.Output("neg");
  std::string json = p.ProgramJson();
  const size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  json.replace(at, from.size(), to);
  archive::ZipBuilder zip;
  zip.Add("models/model.json", json);
  zip.Add("archive_format", "pt2");
  return zip.Finish();
}

TEST(Refused, AllOperatorsAtOnce) {
  GraphText inner;
  inner.TensorInput("a", DType::kF32, {"2"});
  inner.Node("mine.fold.default", {T("a")}, "fold");
  inner.Result(T("fold"));
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2"});
  p.Node("mine.thing.default", {T("x")}, "thing");
  p.Node("aten.bernoulli.p", {T("thing")}, "drawn");
  p.Node("mine.thing.default", {T("drawn")}, "thing_1");
  p.ListNode("higher_order.cond",
             {torch_export::Bool(true), torch_export::Graph("t", inner),
              torch_export::Graph("f", inner), torch_export::Tensors({"x"})},
             {"chosen"});
  p.Output("chosen");
  ExpectImportError(
      p.Archive(),
      "unsupported operators: aten.bernoulli.p (node 'drawn'; random numbers: "
      "make "
      "them an input of the model), "
      "mine.fold.default (node 'fold', 2 nodes), mine.thing.default (node "
      "'thing', 2 nodes)");
}

TEST(Refused, OtherVersionsOfTheSchema) {
  ProgramBuilder p = torch_export::SampleProgram("branch");
  p.Version(9, 1);
  ExpectImportError(
      p.Archive(),
      "schema_version: expected 5 to 8, found version 9 (PyTorch 2.8.0)");
  p.Version(1, 0);
  ExpectImportError(p.OldArchive(), "expected 5 to 8, found version 1");
}

TEST(Refused, ResultsThatNothingComputes) {
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2", "2"});
  p.TupleNode("aten.native_layer_norm.default",
              {T("x"), torch_export::Ints({2}), torch_export::None(),
               torch_export::None(), torch_export::Float(1e-5)},
              {"normal", "mean", "deviation"});
  p.Node("aten.add.Tensor", {T("mean"), Int(1)}, "add");
  p.Output("add");
  ExpectImportError(p.Archive(),
                    "node 'add (aten.add.Tensor)': expected one "
                    "kind of value, found the mean and deviation of");
}

TEST(Refused, AutocastThatIsEnabled) {
  GraphText inner;
  inner.TensorInput("a", DType::kF32, {"2"});
  inner.Result(T("a"));
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2"});
  p.ListNode("higher_order.wrap_with_autocast",
             {torch_export::Text("cpu"), torch_export::Type(DType::kBF16),
              torch_export::Bool(true), torch_export::None(),
              torch_export::Graph("submod", inner), T("x")},
             {"y"});
  p.Output("y");
  ExpectImportError(p.Archive(),
                    "autocast: expected a graph for which it is "
                    "disabled");
}

TEST(Refused, TypesThatNoGraphHas) {
  ExpectImportError(Changed("\"dtype\": 7", "\"dtype\": 10"),
                    "input 'x': expected a type of integers, floats or "
                    "booleans, found ScalarType 9");
}

TEST(Refused, WhatIsNoProgram) {
  ExpectImportError(Changed("\"graph_module\"", "\"module\""),
                    "models/model.json: expected a member 'graph_module', "
                    "found none");
  ExpectImportError(Changed("\"inputs\": [{", "\"inputs\": {\"a\": [{"),
                    "models/model.json: expected JSON");
  ExpectImportError(Changed("{\"as_int\": 2}", "{\"as_int\": -2}"),
                    "input 'x': expected an extent from 0 on, found -2");
  ExpectImportError(Changed("{\"as_int\": 2}", "{\"as_expr\": {}}"),
                    "tensor 'x': expected a member 'expr_str', found none");
  ExpectImportError(
      Changed("{\"as_tensor\": {\"name\": \"x\"}}, \"kind\"",
              "{\"as_tensor\": {\"name\": \"y\"}}, \"kind\""),
      "node 'neg (aten.neg.default)': expected a value that the graph has, "
      "found 'y'");
  ExpectImportError(Changed("\"user_output\"", "\"gift\""),
                    "output_specs: expected a kind of output, found 'gift'");
  ExpectImportError(
      Changed("\"output_specs\": [", "\"output_specs\": [{\"token\": {}}, "),
      "expected an entry of the signature for each output of the graph (1), "
      "found 2");
  ExpectImportError(
      Changed(
          "\"outputs\": [{\"as_tensor\": {\"name\": \"neg\"}}], \"metadata\"",
          "\"outputs\": [{\"as_tensors\": [{\"name\": \"neg\"}, {\"name\": "
          "\"more\"}]}], \"metadata\""),
      "expected at most 1 results, found 2");
}

TEST(Refused, LoopsThatCarryWhatIsNoTensor) {
  std::string archive = torch_export::SampleModel("loop");
  const std::string result =
      R"("outputs": [{"as_tensor": {"name": "doubled"}}])";
  const size_t at = archive.find(result);
  ASSERT_NE(at, std::string::npos);
  archive[at + result.find("as_tensor") + 4] = 'a';
  ExpectImportError(archive,
                    "expected tensors and numbers to be carried by a "
                    "loop, found an argument 'as_tansor'");
}

TEST(Refused, GraphsThatAreNestedWithoutEnd) {
  GraphText graph;
  graph.TensorInput("a", DType::kF32, {"2"});
  graph.Result(T("a"));
  for (int i = 0; i < 40; ++i) {
    GraphText outer;
    outer.TensorInput("a", DType::kF32, {"2"});
    outer.ListNode(
        "higher_order.invoke_subgraph",
        {torch_export::Graph("g", graph), torch_export::Text("g"), T("a")},
        {"b"});
    outer.Result(T("b"));
    graph = outer;
  }
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2"});
  p.ListNode("higher_order.invoke_subgraph",
             {torch_export::Graph("g", graph), torch_export::Text("g"), T("x")},
             {"y"});
  p.Output("y");
  ExpectImportError(p.Archive(),
                    "expected at most 32 graphs within each other");
}

// The names of a program's results may be nested to any depth. Beyond a limit
// results get the names of their nodes.
TEST(Refused, NamesOfResultsThatAreNestedWithoutEnd) {
  constexpr size_t kDepth = 1'000'000;
  ProgramBuilder p;
  p.Input("x", DType::kF32, {"2"});
  p.Node("aten.neg.default", {T("x")}, "neg");
  p.Output("neg");
  p.Arranged(
      R"([1, {"type": "builtins.dict", "children_spec": [], "context": )" +
      std::string(kDepth, '[') + std::string(kDepth, ']') + "}]");
  const StatusOr<graph::Graph> graph = ImportArchive(p.Archive());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->output_names()[0], "neg");
}

TEST(Refused, WeightsThatAreNotThere) {
  ProgramBuilder p;
  p.Parameter("p_w", "w", DType::kF32, {4}, {0, 0, 0, 0});
  p.Input("x", DType::kF32, {"4"});
  p.Node("aten.add.Tensor", {T("x"), T("p_w")}, "add");
  p.Output("add");
  ExpectImportError(p.Archive(),
                    "tensor 'w': entry 'net/data/weights/weight_0': expected "
                    "at least 4 elements, found 1");
  archive::ZipBuilder zip;
  zip.Add("models/model.json", p.ProgramJson());
  zip.Add("archive_format", "pt2");
  ExpectImportError(zip.Finish(),
                    "tensor 'w': expected it among the archive's "
                    "weights and constants, found none");
}

TEST(Refused, CodeOfAotInductor) {
  archive::ZipBuilder zip;
  zip.Add("net/archive_format", "pt2");
  zip.Add("net/data/aotinductor/model/a.so", "");
  const std::string archive = zip.Finish();
  EXPECT_TRUE(torch_export::IsArchive(archive));
  ExpectImportError(archive,
                    "expected a program as torch.export.save writes "
                    "it (models/NAME.json), found none");
}

}  // namespace
}  // namespace ember::tests
