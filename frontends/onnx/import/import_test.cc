// Tests the graphs and errors that the importer gives for good and bad models.
// The meaning of operators is tested end to end in tests/onnx.
#include "frontends/onnx/import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "frontends/onnx/testing/model_builder.h"

namespace ember::onnx {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(ModelBuilder& m, const ImportOptions& options = {},
                    const std::string& folder = "") {
  StatusOr<graph::Graph> graph = m.Import(options, folder);
  return graph.ok() ? "OK" : std::string(graph.status().message());
}

std::string OutputShape(ModelBuilder& m, const ImportOptions& options = {}) {
  StatusOr<graph::Graph> graph = m.Import(options);
  if (!graph.ok()) return graph.status().ToString();
  return graph::ShapeToString(graph->outputs()[0]->shape());
}

ModelBuilder Relu() {
  ModelBuilder m;
  m.Input("x", {"N", 3});
  m.Node("Relu", {"x"}, {"y"});
  m.Output("y");
  return m;
}

TEST(Import, NamesAndSymbols) {
  ModelBuilder m = Relu();
  StatusOr<graph::Graph> graph = m.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  ASSERT_EQ(graph->inputs().size(), 1u);
  EXPECT_EQ(graph->inputs()[0]->name(), "x");
  EXPECT_EQ(graph->output_names()[0], "y");
  EXPECT_EQ(graph::ShapeToString(graph->outputs()[0]->shape()), "[N, 3]");
}

TEST(Import, OpenDimsWithoutNameGetTheInputsName) {
  ModelBuilder m;
  m.Input("im:age", {"", "?", 3});
  m.Node("Relu", {"im:age"}, {"y"});
  m.Output("y");
  EXPECT_EQ(OutputShape(m), "[im_age_0, im_age_1, 3]");
}

// The compiler names the dims that depend on data _0, _1 …. The test has input
// dims with such names, which must get others.
TEST(Import, OpenDimsDoNotGetNamesOfTheCompiler) {
  ModelBuilder m;
  m.Input("_x", {"_0", "", "d_0"});
  m.Node("Relu", {"_x"}, {"y"});
  m.Output("y");
  EXPECT_EQ(OutputShape(m), "[d_0, d_x_1, d_0_]");
}

TEST(Import, PinnedSymbolIsPinnedEverywhere) {
  ModelBuilder m;
  m.Input("a", {"N", 2});
  m.Input("b", {"N", 2});
  m.Node("Add", {"a", "b"}, {"y"});
  m.Output("y");
  ImportOptions options;
  options.input_shapes["b"] = {5, 2};
  EXPECT_EQ(OutputShape(m, options), "[5, 2]");
  options.input_shapes["a"] = {4, 2};
  EXPECT_THAT(ErrorOf(m, options),
              HasSubstr("input 'b' axis 0: expected pin 4, as another input "
                        "has for the same dim 'N', found 5"));
}

TEST(Import, WrongPins) {
  ModelBuilder m = Relu();
  ImportOptions options;
  options.input_shapes["z"] = {1};
  EXPECT_EQ(ErrorOf(m, options),
            "model 'test.onnx': pinned shape: expected one of the inputs 'x', "
            "found 'z'");
  options.input_shapes = {{"x", {1}}};
  EXPECT_THAT(ErrorOf(m, options),
              HasSubstr("expected a pinned shape of rank 2, found rank 1"));
  options.input_shapes = {{"x", {1, 4}}};
  EXPECT_THAT(ErrorOf(m, options),
              HasSubstr("input 'x' axis 1: expected 3, as the model fixes this "
                        "dim, found 4; give 3, or export the model with this "
                        "dim open"));
  // The user's '?' asks for an open dim, but the model fixes this one: that is
  // an error.
  options.input_shapes = {{"x", {1, std::nullopt}}};
  EXPECT_THAT(ErrorOf(m, options),
              HasSubstr("input 'x' axis 1: expected 3, as the model fixes this "
                        "dim, found '?' for an open one; give 3, "));
  options.input_shapes = {{"x", {-1, 3}}};
  EXPECT_THAT(ErrorOf(m, options),
              HasSubstr("input 'x' axis 0: expected pin 0 or more, found -1"));
}

TEST(Import, UnsupportedOperatorsAreListedAtOnce) {
  ModelBuilder m = Relu();
  m.Node("Obfuscate", {"x"}, {"a"}).set_name("lstm_1");
  m.Node("Obfuscate", {"x"}, {"b"}).set_name("lstm_2");
  NodeProto& other = m.Node("Frobnicate", {"x"}, {"c"});
  other.set_domain("com.microsoft");
  other.set_name("a");
  EXPECT_EQ(
      ErrorOf(m),
      "model 'test.onnx': 2 unsupported operators: Obfuscate (nodes 'lstm_1', "
      "'lstm_2'), "
      "com.microsoft::Frobnicate (node 'a')");
}

TEST(Import, ManyUnsupportedNodesAreCounted) {
  ModelBuilder m = Relu();
  for (int i = 0; i < 7; ++i)
    m.Node("Frobnicate", {"x"}, {"u" + std::to_string(i)});
  EXPECT_EQ(ErrorOf(m),
            "model 'test.onnx': 1 unsupported operator: Frobnicate (7 nodes: "
            "'Frobnicate_1', 'Frobnicate_2', "
            "'Frobnicate_3', 'Frobnicate_4', 'Frobnicate_5', …)");
}

TEST(Import, OperatorNewerThanTheOpset) {
  ModelBuilder m(11);
  m.Input("x", {1});
  m.Node("Gelu", {"x"}, {"y"});
  m.Output("y");
  EXPECT_EQ(
      ErrorOf(m),
      "model 'test.onnx': 1 unsupported operator: Gelu-11 (node 'Gelu_0'; it "
      "is there since opset 20)");
}

TEST(Import, UnsupportedOperatorsComeWithAdvice) {
  ModelBuilder m(20);
  m.Input("x", {10});
  m.Node("PythonOp", {"x"}, {"pixels"});
  m.Node("WhisperBeamSearch", {"pixels"}, {"y"}).set_domain("com.microsoft");
  m.Node("Gradient", {"y"}, {"z"}).set_domain("ai.onnx.preview.training");
  m.Output("z");
  const std::string error = ErrorOf(m);
  EXPECT_THAT(error, HasSubstr("PythonOp (node 'PythonOp_0'; it calls Python "
                               "code: export a model without it"));
  EXPECT_THAT(error, HasSubstr("com.microsoft::WhisperBeamSearch (node "
                               "'WhisperBeamSearch_1'; it holds a whole text "
                               "generation: export the decoder alone"));
  EXPECT_THAT(error, HasSubstr("Gradient (node 'Gradient_2'; Ember runs models "
                               "but does not train them"));
}

TEST(Import, MissingInput) {
  ModelBuilder m = Relu();
  m.Node("Add", {"y", "nowhere"}, {"z"}).set_name("sum");
  EXPECT_EQ(ErrorOf(m),
            "model 'test.onnx': node 'sum (Add)': input 'nowhere' is not "
            "produced by any node, "
            "input or initializer");
}

TEST(Import, MissingOperand) {
  ModelBuilder m;
  m.Input("x", {1});
  m.Node("Add", {"x"}, {"y"});
  m.Output("y");
  EXPECT_EQ(
      ErrorOf(m),
      "model 'test.onnx': node 'Add_0': expected 2 inputs, input 1 is missing");
}

TEST(Import, Cycle) {
  ModelBuilder m;
  m.Input("x", {1});
  m.Node("Add", {"x", "b"}, {"a"});
  m.Node("Relu", {"a"}, {"b"});
  m.Output("b");
  EXPECT_THAT(ErrorOf(m), HasSubstr("the nodes form a cycle"));
}

TEST(Import, NodesInAnyOrder) {
  ModelBuilder m;
  m.Input("x", {4});
  m.Node("Relu", {"a"}, {"y"});
  m.Node("Neg", {"x"}, {"a"});
  m.Output("y");
  EXPECT_EQ(OutputShape(m), "[4]");
}

TEST(Import, DuplicateNames) {
  ModelBuilder m = Relu();
  m.Node("Neg", {"x"}, {"y"});
  EXPECT_THAT(ErrorOf(m), HasSubstr("value 'y' is produced twice"));
  ModelBuilder inputs = Relu();
  inputs.Input("x", {1});
  EXPECT_THAT(ErrorOf(inputs), HasSubstr("input 'x' occurs twice"));
}

TEST(Import, AttributeOfWrongType) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  m.Node("Softmax", {"x"}, {"y"}, {{"axis", 1.0}});
  m.Output("y");
  EXPECT_THAT(ErrorOf(m),
              HasSubstr("attribute 'axis': expected type INT, found FLOAT"));
}

TEST(Import, CarriedTypesReachOnlyOperatorsThatKnowThem) {
  ModelBuilder m(19);
  m.Input("x", {4}, TensorProto::FLOAT8E4M3FNUZ);
  m.Node("Cast", {"x"}, {"y"}, {{"to", TensorProto::FLOAT}});
  m.Output("y");
  EXPECT_EQ(OutputShape(m), "[4]");
  m.Node("Relu", {"x"}, {"z"});
  EXPECT_EQ(ErrorOf(m),
            "model 'test.onnx': node 'Relu_1': input 0: operands of type "
            "FLOAT8E4M3FNUZ are not supported by this operator");
}

TEST(Import, GivenInputValueIsAConstant) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  m.Input("s", {2}, TensorProto::INT64);
  m.Node("Reshape", {"x", "s"}, {"y"});
  m.Output("y");
  ImportOptions options;
  const std::vector<int64_t> shape{3, -1};
  options.input_values["s"] = {
      .name = "s",
      .dtype = DType::kI64,
      .dims = {2},
      .bytes = {reinterpret_cast<const uint8_t*>(shape.data()), 16}};
  EXPECT_EQ(OutputShape(m, options), "[3, 2]");
}

TEST(Import, ShapeThatDependsOnDataIsReadWhenRun) {
  ModelBuilder m;
  m.Input("x", {2, 3});
  m.Input("s", {2}, TensorProto::INT64);
  m.Node("Reshape", {"x", "s"}, {"y"}).set_name("view");
  m.Output("y");
  StatusOr<graph::Graph> graph = m.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph::ShapeToString(graph->outputs()[0]->shape()), "[_0, _1]");
}

// Shows that axes may depend on data, but their number may not: the rank of the
// result follows from it.
TEST(Import, AxesWhoseNumberDependsOnData) {
  ModelBuilder m;
  m.Input("x", {2, 1});
  m.Input("axes", {"count"}, TensorProto::INT64);
  m.Node("Squeeze", {"x", "axes"}, {"y"}).set_name("drop");
  m.Output("y");
  ImportOptions options;
  std::set<std::string> needed;
  options.data_dependent_inputs = &needed;
  StatusOr<graph::Graph> graph = m.Import(options);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(needed, std::set<std::string>{"axes"});
  EXPECT_THAT(std::string(graph.status().message()),
              HasSubstr("node 'drop (Squeeze)': axes (input 1) depends on the "
                        "model's data"));
}

// Exporters express Flatten by the nodes Shape, Gather, Unsqueeze, Concat and
// Reshape. The test shows that the result's shape is nevertheless known when
// compiling.
TEST(Import, ShapeArithmeticFolds) {
  ModelBuilder m;
  m.Input("x", {"N", 3, 4, 5});
  m.graph().add_initializer()->CopyFrom([] {
    TensorProto zero;
    zero.set_name("zero");
    zero.set_data_type(TensorProto::INT64);
    zero.add_int64_data(0);
    return zero;
  }());
  m.Integers("axes", {0});
  m.Integers("rest", {-1});
  m.Node("Shape", {"x"}, {"shape"});
  m.Node("Gather", {"shape", "zero"}, {"n"});
  m.Node("Unsqueeze", {"n", "axes"}, {"n1"});
  m.Node("Concat", {"n1", "rest"}, {"target"}, {{"axis", 0}});
  m.Node("Reshape", {"x", "target"}, {"y"});
  m.Output("y");
  EXPECT_EQ(OutputShape(m), "[N, 60]");
}

TEST(Import, InitializerWithoutEnoughData) {
  ModelBuilder m = Relu();
  m.Floats("w", {2, 3}, {1, 2, 3});
  m.Node("Add", {"x", "w"}, {"z"});
  EXPECT_THAT(
      ErrorOf(m),
      HasSubstr("tensor 'w': expected 24 bytes for its dims, found 12"));
  m.graph().mutable_initializer(0)->set_dims(0, int64_t{1} << 62);
  m.graph().mutable_initializer(0)->set_dims(1, int64_t{1} << 62);
  EXPECT_THAT(ErrorOf(m), HasSubstr("product fits 64 bits"));
}

TEST(Import, FunctionsAreInlinedWithTheirAttributes) {
  ModelBuilder m;
  FunctionProto& function = *m.proto().add_functions();
  function.set_domain("mine");
  function.set_name("Tail");
  function.add_input("a");
  function.add_output("b");
  function.add_attribute("axis");
  function.add_opset_import()->set_version(17);
  NodeProto& body = *function.add_node();
  body.set_op_type("ReduceMax");
  body.add_input("a");
  body.add_output("b");
  AttributeProto& reference = *body.add_attribute();
  reference.set_name("axes");
  reference.set_ref_attr_name("axis");
  reference.set_type(AttributeProto::INTS);
  m.Input("x", {2, 3, 4});
  NodeProto& call =
      m.Node("Tail", {"x"}, {"y"}, {{"axis", std::vector<int64_t>{1}}});
  call.set_domain("mine");
  m.Output("y");
  EXPECT_EQ(OutputShape(m), "[2, 1, 4]");
  // A function that calls itself is refused with an error.
  body.set_op_type("Tail");
  body.set_domain("mine");
  EXPECT_THAT(ErrorOf(m), HasSubstr("levels deep"));
}

TEST(Import, NotAModel) {
  const std::string text = "this is no model";
  StatusOr<graph::Graph> graph = ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "", {},
      "x.onnx");
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(std::string(graph.status().message()),
              HasSubstr("expected an ONNX model"));
  EXPECT_EQ(ImportModel("/nonexistent/x.onnx", {}).status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace ember::onnx
