// Tests that each defect of a model gives an error of one line, which names the
// object, what was expected and what was found. External data has a test of its
// own (malformed_external_data_test.cc). Run it with --config=asan, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/testing/model_builder.h"
#include "frontends/onnx/testing/sample_models.h"

namespace ember::onnx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ErrorOf(ModelBuilder& m) {
  StatusOr<graph::Graph> graph = m.Import();
  return graph.ok() ? "no error" : std::string(graph.status().message());
}

void ExpectError(ModelBuilder m, const std::string& expected) {
  const std::string error = ErrorOf(m);
  EXPECT_THAT(error, HasSubstr(expected));
  EXPECT_THAT(error, Not(HasSubstr("\n")));
}

// Returns a model that computes y from x: f32[2, 3] by one node, whose first
// input is x.
ModelBuilder OneNode(const std::string& op_type,
                     const std::vector<TestAttribute>& attributes = {},
                     const std::vector<std::string>& inputs = {"x"}) {
  ModelBuilder m(17);
  m.Input("x", {2, 3});
  m.Node(op_type, inputs, {"y"}, attributes);
  m.Output("y");
  return m;
}

NodeProto& LastNode(ModelBuilder& m) {
  return *m.graph().mutable_node()->rbegin();
}

GraphProto& BodyOf(ModelBuilder& m) {
  return *LastNode(m).mutable_attribute()->rbegin()->mutable_g();
}

TypeProto::Tensor& TypeOf(ValueInfoProto& info) {
  return *info.mutable_type()->mutable_tensor_type();
}

TEST(Malformed, AttributesOfWrongTypes) {
  ExpectError(OneNode("Softmax", {{"axis", "last"}}),
              "node 'Softmax_0': attribute 'axis': expected type INT, found "
              "STRING");
  ExpectError(OneNode("Transpose", {{"perm", 1}}),
              "node 'Transpose_0': attribute 'perm': expected type INTS, found "
              "INT");
  ExpectError(OneNode("LeakyRelu", {{"alpha", 1}}),
              "node 'LeakyRelu_0': attribute 'alpha': expected type FLOAT, "
              "found INT");
  ExpectError(OneNode("Cast", {{"to", "float"}}),
              "node 'Cast_0': attribute 'to': expected type INT, found STRING");
  ModelBuilder constant(17);
  constant.Node("Constant", {}, {"y"}, {{"value", 3}});
  constant.Output("y");
  ExpectError(std::move(constant),
              "node 'Constant_0': attribute 'value': expected type TENSOR, "
              "found INT");
}

TEST(Malformed, SubgraphsOfWrongTypes) {
  for (const char* name : {"loop", "scan"}) {
    ModelBuilder m = SampleModel(name);
    AttributeProto& body = *LastNode(m).mutable_attribute()->rbegin();
    body.clear_g();
    body.set_type(AttributeProto::INT);
    ExpectError(std::move(m),
                "attribute 'body': expected type GRAPH, found INT");
  }
  ModelBuilder m = SampleModel("if");
  LastNode(m).mutable_attribute()->RemoveLast();
  ExpectError(std::move(m), "node 'If_0': attribute 'else_branch' is missing");
  m = SampleModel("scan");
  AttributeProto& count = *LastNode(m).mutable_attribute(0);
  count.set_type(AttributeProto::STRING);
  ExpectError(std::move(m),
              "node 'Scan_0': attribute 'num_scan_inputs': expected type INT, "
              "found STRING");
}

TEST(Malformed, AttributesTwiceAndByTheThousand) {
  ExpectError(OneNode("Softmax", {{"axis", 0}, {"axis", 1}}),
              "node 'Softmax_0': attribute 'axis' occurs twice");
  ModelBuilder m = OneNode("Relu");
  for (int i = 0; i < 100000; ++i) {
    AttributeProto& attribute = *LastNode(m).add_attribute();
    attribute.set_name("__a" + std::to_string(i));
    attribute.set_type(AttributeProto::INT);
  }
  EXPECT_EQ(ErrorOf(m), "no error");
  LastNode(m).mutable_attribute(99999)->set_name("a");
  ExpectError(m, "attribute 'a': Relu has no such attribute at opset 17");
}

TEST(Malformed, InvalidEnumValues) {
  ModelBuilder m = OneNode("Relu");
  TypeOf(*m.graph().mutable_input(0)).set_elem_type(99);
  ExpectError(std::move(m), "input 'x': element type 99 is not supported");
  m = OneNode("Add", {}, {"x", "w"});
  m.Floats("w", {1}, {1});
  m.graph().mutable_initializer(0)->set_data_type(-5);
  ExpectError(std::move(m), "tensor 'w': element type -5 is not supported");
  ExpectError(OneNode("Cast", {{"to", 99}}),
              "node 'Cast_0': attribute 'to': element type 99 is not "
              "supported");
  ExpectError(OneNode("Cast", {{"to", 0}}),
              "node 'Cast_0': attribute 'to': element type UNDEFINED is not "
              "supported");
}

TEST(Malformed, Cycles) {
  ModelBuilder m(17);
  m.Input("x", {2});
  m.Node("Add", {"x", "c"}, {"a"});
  m.Node("Relu", {"a"}, {"b"});
  m.Node("Relu", {"b"}, {"c"});
  m.Output("c");
  ExpectError(std::move(m),
              "the nodes form a cycle through or before node "
              "'Add_0'");
  // A node in a branch of the If reads `later`, and `later` is computed from
  // the result y of the If: the cycle leads through a captured name.
  m = SampleModel("if");
  NodeProto& add =
      *LastNode(m).mutable_attribute(0)->mutable_g()->mutable_node(0);
  add.set_input(0, "later");
  m.Node("Relu", {"y"}, {"later"});
  ExpectError(std::move(m),
              "the nodes form a cycle through or before node 'If_0'");
  m = OneNode("Relu", {}, {"y"});
  ExpectError(std::move(m),
              "the nodes form a cycle through or before node 'Relu_0'");
}

TEST(Malformed, MissingInputs) {
  ExpectError(OneNode("Add", {}, {"x", "nobody"}),
              "node 'Add_0': input 'nobody' is not produced by any node, input "
              "or initializer");
  ExpectError(OneNode("Add"),
              "node 'Add_0': expected 2 inputs, input 1 is missing");
  ExpectError(OneNode("Add", {}, {"x", ""}),
              "node 'Add_0': expected 2 inputs, input 1 is missing");
  ExpectError(OneNode("Relu", {}, {"x", "x"}),
              "node 'Relu_0': expected at most 1 inputs, found 2");
  ModelBuilder m = SampleModel("loop");
  BodyOf(m).mutable_node(0)->set_input(1, "nobody");
  ExpectError(std::move(m),
              "input 'nobody' is not produced by any node, input "
              "or initializer");
  m = OneNode("Relu");
  m.Output("nobody");
  ExpectError(std::move(m),
              "output 'nobody' is not produced by any node, "
              "input or initializer");
}

TEST(Malformed, AbsurdDimsOfInputs) {
  const int64_t large = int64_t{1} << 62;
  ModelBuilder m(17);
  m.Input("x", {2, -7});
  m.Node("Relu", {"x"}, {"y"});
  m.Output("y");
  ExpectError(std::move(m),
              "input 'x' axis 1: expected a dim of at least 0, "
              "or -1 for an open one, found -7");
  m = ModelBuilder(17);
  m.Input("x", {large, 4});
  m.Node("Relu", {"x"}, {"y"});
  m.Output("y");
  ExpectError(std::move(m), "input 'x'");
  m = ModelBuilder(17);
  m.Input("x", std::vector<TestDim>(17, int64_t{1}));
  m.Node("Relu", {"x"}, {"y"});
  m.Output("y");
  ExpectError(std::move(m), "input 'x': expected at most 16 dims, found 17");
}

TEST(Malformed, AbsurdDimsOfTensors) {
  const auto with_dims = [](const std::vector<int64_t>& dims) {
    ModelBuilder m = OneNode("Add", {}, {"x", "w"});
    m.Floats("w", dims, {});
    return m;
  };
  ExpectError(with_dims({3, -1}),
              "tensor 'w': expected non-negative dims whose product fits 64 "
              "bits, found -1");
  ExpectError(with_dims({int64_t{1} << 62, 4}),
              "tensor 'w': expected non-negative dims whose product fits 64 "
              "bits, found 4");
  // The dims of a tensor claim 4 GB, but the file has less than 1 KB. The
  // import must refuse it before it allocates memory.
  ModelBuilder claim = with_dims({int64_t{1} << 30});
  EXPECT_LT(claim.proto().ByteSizeLong(), 1024u);
  ExpectError(std::move(claim),
              "tensor 'w': expected 4294967296 bytes for its dims, found 0");
  ModelBuilder carried = with_dims({int64_t{1} << 33});
  carried.graph().mutable_initializer(0)->set_data_type(TensorProto::INT4);
  ExpectError(std::move(carried),
              "tensor 'w': expected 4294967296 bytes for its dims, found 0");
  ExpectError(with_dims({int64_t{1} << 61}), "tensor 'w': expected");
}

TEST(Malformed, OperandsOfTooFewDims) {
  ModelBuilder m(17);
  m.Input("x", {1, 16, 1});
  m.Input("window", {});
  m.Integers("step", {4});
  m.Node("STFT", {"x", "step", "window"}, {"y"});
  m.Output("y");
  ExpectError(std::move(m),
              "node 'STFT_0': expected an operand with a dim 0, "
              "found f32[]");
  m = ModelBuilder(17);
  m.Input("x", {});
  m.Input("scale", {2});
  m.Node("QuantizeLinear", {"x", "scale"}, {"y"}, {{"axis", 0}});
  m.Output("y");
  ExpectError(std::move(m), "node 'QuantizeLinear_0': ");
}

TEST(Malformed, AbsurdNumbersOfSizes) {
  const int64_t large = int64_t{1} << 36;
  ModelBuilder m(17);
  m.Input("x", {2, 3});
  m.Input("shape", {large}, TensorProto::INT64);
  m.Node("Reshape", {"x", "shape"}, {"y"});
  m.Output("y");
  ExpectError(std::move(m),
              "node 'Reshape_0': shape (input 1): expected at "
              "most 16 dims, found 68719476736");
  m = ModelBuilder(17);
  m.Input("x", {2, 3});
  m.Input("starts", {large}, TensorProto::INT64);
  m.Node("Slice", {"x", "starts", "starts"}, {"y"});
  m.Output("y");
  ExpectError(std::move(m),
              "node 'Slice_0': starts (input 1): expected at "
              "most 2, found 68719476736");
  m = ModelBuilder(17);
  m.Input("sizes", {large}, TensorProto::INT64);
  m.Node("ConstantOfShape", {"sizes"}, {"y"});
  m.Output("y");
  ExpectError(std::move(m),
              "'ConstantOfShape_0': expected a known number of "
              "sizes, at most 4096, found i64[68719476736]");
}

TEST(Malformed, AbsurdDimsOfOperators) {
  const int64_t large = int64_t{1} << 62;
  const auto shaped = [](const char* op_type,
                         const std::vector<int64_t>& values) {
    ModelBuilder m = OneNode(op_type, {}, {"x", "s"});
    m.Integers("s", values);
    return m;
  };
  ExpectError(shaped("Reshape", {large, 4}),
              "reshape 'Reshape_0': shape: expected 6 elements as f32[2, 3], "
              "found invalid dim in [4611686018427387904, 4]");
  ExpectError(shaped("Reshape", {-7, 3}),
              "reshape 'Reshape_0': shape: expected 6 elements as f32[2, 3], "
              "found -21 in [-7, 3]");
  ExpectError(
      shaped("Expand", {large, large, 2, 3}),
      "broadcast 'Expand_0': result: shape [4611686018427387904, "
      "4611686018427387904, 2, 3]: the size in bytes overflows 64 bits");
  ExpectError(shaped("Tile", {large, 8}),
              "broadcast 'Tile_0': result: shape [4611686018427387904, 2, 8, "
              "3]: the size in bytes overflows 64 bits");
  ExpectError(shaped("Tile", {-1, 1}),
              "broadcast 'Tile_0': result: shape [-1, 2, 3]: expected dims of "
              "at least 0, found -1");
  ExpectError(
      shaped("Pad", {large, 0, large, 0}),
      "pad 'Pad_0': result: a dim overflows 64 bits, divides by 0 or is "
      "too long an expression of open dims (fix dims of the inputs: "
      "--shape)");
  ModelBuilder fill(17);
  fill.Integers("s", {large, 4});
  fill.Node("ConstantOfShape", {"s"}, {"y"});
  fill.Output("y");
  ExpectError(std::move(fill),
              "broadcast 'ConstantOfShape_0': result: shape "
              "[4611686018427387904, 4]: the size in bytes overflows 64 bits");
}

TEST(Malformed, NamesOfSeveralLines) {
  ModelBuilder m = OneNode("Relu");
  LastNode(m).set_name("a\nb");
  LastNode(m).set_input(0, "\x7f");
  ExpectError(std::move(m),
              "node 'a\\x0ab (Relu)': input '\\x7f' is not "
              "produced by any node");
  m = OneNode("Relu");
  m.graph().mutable_input(0)->set_name("x\n");
  LastNode(m).set_input(0, "x\n");
  ExpectError(std::move(m),
              "input 'x\\x0a': expected a name without control "
              "characters");
  m = OneNode("Relu\n");
  ExpectError(std::move(m), "1 unsupported operator: Relu\\x0a (node ");
  m = OneNode("Relu");
  m.graph().mutable_output(0)->set_name("y\t");
  LastNode(m).set_output(0, "y\t");
  ExpectError(std::move(m),
              "output 'y\\x09': expected a name without control "
              "characters");
}

TEST(Malformed, DuplicateNames) {
  ModelBuilder m = OneNode("Add", {}, {"x", "w"});
  m.Floats("w", {1}, {1});
  m.Floats("w", {1}, {2});
  ExpectError(std::move(m), "initializer 'w' occurs twice");
  m = OneNode("Relu");
  m.Input("x", {2});
  ExpectError(std::move(m), "input 'x' occurs twice");
  m = OneNode("Relu");
  m.Node("Neg", {"x"}, {"y"});
  ExpectError(std::move(m),
              "value 'y' is produced twice: by node 'Relu_0' and "
              "by node 'Neg_1'");
  m = OneNode("Relu");
  LastNode(m).set_output(0, "x");
  ExpectError(std::move(m),
              "value 'x' is produced by node 'Relu_0' and is "
              "also an input or initializer");
  m = SampleModel("loop");
  BodyOf(m).mutable_input(2)->set_name("i");
  ExpectError(std::move(m), "input 'i' of the subgraph occurs twice");
}

TEST(Malformed, SubgraphsWithWrongCounts) {
  ModelBuilder m = SampleModel("loop");
  BodyOf(m).mutable_input()->RemoveLast();
  ExpectError(std::move(m),
              "'Loop_0/': expected 3 inputs of the subgraph, found 2");
  m = SampleModel("loop");
  BodyOf(m).clear_output();
  ExpectError(std::move(m),
              "node 'Loop_0': expected at least 2 outputs of the "
              "body, found 0");
  m = SampleModel("loop");
  LastNode(m).add_output("more");
  ExpectError(std::move(m),
              "node 'Loop_0': expected 3 outputs of the subgraph, found 2");
  m = SampleModel("scan");
  BodyOf(m).add_input()->set_name("more");
  ExpectError(std::move(m),
              "'Scan_0/': expected 2 inputs of the subgraph, found 3");
  m = SampleModel("scan");
  LastNode(m).mutable_attribute(0)->set_i(7);
  ExpectError(std::move(m),
              "node 'Scan_0': num_scan_inputs: expected 1 to the "
              "number of inputs, found 7");
  m = SampleModel("if");
  BodyOf(m).add_input()->set_name("more");
  ExpectError(std::move(m),
              "'If_0/': expected 0 inputs of the subgraph, found 1");
  m = SampleModel("if");
  BodyOf(m).clear_output();
  ExpectError(std::move(m),
              "node 'If_0': expected as many outputs of both "
              "branches, found 1 and 0");
  m = SampleModel("scan");
  ValueInfoProto& initial = *m.graph().mutable_input(0);
  const TypeProto element = initial.type();
  *initial.mutable_type()->mutable_sequence_type()->mutable_elem_type() =
      element;
  ExpectError(std::move(m),
              "node 'Scan_0': input 0: expected a tensor, found "
              "a sequence");
}

TEST(Malformed, ScanDirectionsAndAxes) {
  ModelBuilder m = SampleModel("scan");
  LastNode(m).mutable_attribute(1)->set_ints(0, 7);
  ExpectError(std::move(m),
              "node 'Scan_0': attribute 'scan_input_directions': "
              "expected 0 or 1, found 7");
  m = SampleModel("scan");
  LastNode(m).mutable_attribute(1)->set_name("scan_input_axes");
  LastNode(m).mutable_attribute(1)->set_ints(0, -3);
  ExpectError(std::move(m),
              "node 'Scan_0': axis: expected a value in [-2, 1], found -3");
}

TEST(Malformed, CarriedValuesThatChangeTheirType) {
  const auto with_last = [](const char* op_type,
                            const std::vector<TestAttribute>& attributes) {
    ModelBuilder m = SampleModel("loop");
    ModelBuilder changed(17);
    *BodyOf(m).add_node() =
        changed.Node(op_type, {"next"}, {"changed"}, attributes);
    BodyOf(m).mutable_output(1)->set_name("changed");
    return m;
  };
  ExpectError(with_last("Cast", {{"to", 7}}),
              "loop 'Loop_0': carried value 0: expected f32[2] from the "
              "body, found i64[2]");
  ModelBuilder m = with_last("Flatten", {{"axis", 0}});
  ExpectError(std::move(m),
              "loop 'Loop_0': carried value 0: expected "
              "f32[2] from the body, found f32[1, 2]");
}

// Returns a model of `depth` nested If nodes.
ModelBuilder Nested(int depth) {
  GraphProto graph = SampleModel("if").graph();
  const GraphProto leaf = graph.node(0).attribute(0).g();
  GraphProto inner = leaf;
  for (int i = 0; i < depth; ++i) {
    GraphProto outer;
    NodeProto& node = *outer.add_node();
    node.set_op_type("If");
    node.add_input("condition");
    node.add_output("y");
    for (const char* name : {"then_branch", "else_branch"}) {
      AttributeProto& branch = *node.add_attribute();
      branch.set_name(name);
      branch.set_type(AttributeProto::GRAPH);
      *branch.mutable_g() = name[0] == 't' ? inner : leaf;
    }
    outer.add_output()->set_name("y");
    inner = std::move(outer);
  }
  ModelBuilder m(17);
  m.Input("x", {"N", 2});
  m.Input("condition", {}, TensorProto::BOOL);
  *m.graph().mutable_node() = inner.node();
  m.Output("y");
  return m;
}

TEST(Malformed, DeepNesting) {
  ModelBuilder fine = Nested(30);
  EXPECT_EQ(ErrorOf(fine), "no error");
  ExpectError(Nested(1000),
              "that do not parse as one, or whose subgraphs are "
              "more than 64 levels deep");
}

// Returns a model with a chain of `count` local functions: local::F0 calls
// local::F1, and so on. The last one consists of a node of the operator `last`.
ModelBuilder Calls(int count, const std::string& last, const char* domain) {
  ModelBuilder m(17);
  OperatorSetIdProto& import = *m.proto().add_opset_import();
  import.set_domain("local");
  import.set_version(1);
  for (int i = 0; i < count; ++i) {
    FunctionProto& function = *m.proto().add_functions();
    function.set_domain("local");
    function.set_name("F" + std::to_string(i));
    function.add_input("a");
    function.add_output("b");
    *function.mutable_opset_import() = m.proto().opset_import();
    NodeProto& node = *function.add_node();
    node.set_op_type(i + 1 < count ? "F" + std::to_string(i + 1) : last);
    node.set_domain(i + 1 < count ? "local" : domain);
    node.add_input("a");
    node.add_output("b");
  }
  m.Input("x", {2});
  m.Node("F0", {"x"}, {"y"}).set_domain("local");
  m.Output("y");
  return m;
}

TEST(Malformed, FunctionsThatRecur) {
  ModelBuilder fine = Calls(60, "Relu", "");
  EXPECT_EQ(ErrorOf(fine), "no error");
  ExpectError(Calls(1, "F0", "local"),
              "functions call each other more than 64 levels deep");
  ExpectError(Calls(3, "F1", "local"),
              "functions call each other more than 64 levels deep");
  ExpectError(Calls(50000, "Relu", ""),
              "functions call each other more than 64 levels deep");
}

// F0 calls F1 twice, F1 calls F2 twice, and so on: inlining this file of 3 kB
// would give 2^40 nodes, so the import must refuse it.
TEST(Malformed, FunctionsThatDouble) {
  ModelBuilder m = Calls(40, "Identity", "");
  for (int i = 0; i + 1 < 40; ++i) {
    NodeProto& first = *m.proto().mutable_functions(i)->mutable_node(0);
    NodeProto& second = *m.proto().mutable_functions(i)->add_node();
    second = first;
    first.set_output(0, "t");
    second.set_input(0, "t");
  }
  ExpectError(std::move(m),
              "expected at most 2000000 nodes after inlining functions, found "
              "more");
}

// Inlining prefixes the names of a function's nodes with those of the calls.
// The names must stay short here, although each call has a name of 100,000
// characters.
TEST(Malformed, FunctionsWithLongNames) {
  ModelBuilder m = Calls(10, "Abs", "");
  for (int i = 0; i < 10; ++i) {
    NodeProto& first = *m.proto().mutable_functions(i)->mutable_node(0);
    NodeProto& second = *m.proto().mutable_functions(i)->add_node();
    first.set_name(std::string(100'000, 'n'));
    second = first;
    first.set_output(0, std::string(100'000, 't'));
    second.set_input(0, first.output(0));
  }
  const StatusOr<graph::Graph> graph = m.Import();
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  for (const auto& operation : graph->operations()) {
    EXPECT_LE(operation->origin().size(), 520u);
    EXPECT_LE(operation->result()->name().size(), 256u);
  }
}

TEST(Malformed, SparseTensors) {
  // Each model computes y = x + w, where w is a sparse tensor that states two
  // elements by `indices`.
  const auto with_indices = [](const std::vector<int64_t>& dims,
                               const std::vector<int64_t>& indices) {
    ModelBuilder m = OneNode("Add", {}, {"x", "w"});
    SparseTensorProto& sparse = *m.graph().add_sparse_initializer();
    TensorProto& values = *sparse.mutable_values();
    values.set_name("w");
    values.set_data_type(TensorProto::FLOAT);
    values.add_dims(2);
    values.add_float_data(5);
    values.add_float_data(6);
    TensorProto& positions = *sparse.mutable_indices();
    positions.set_data_type(TensorProto::INT64);
    positions.add_dims(static_cast<int64_t>(indices.size()));
    for (const int64_t index : indices) positions.add_int64_data(index);
    for (const int64_t dim : dims) sparse.add_dims(dim);
    return m;
  };
  ModelBuilder fine = with_indices({2, 3}, {1, 5});
  EXPECT_EQ(ErrorOf(fine), "no error");
  ExpectError(with_indices({2, 3}, {1, 6}),
              "sparse tensor 'w': expected indices from 0 to 5, found 6");
  ExpectError(with_indices({2, 3}, {1, -1}),
              "sparse tensor 'w': expected indices from 0 to 5, found -1");
  ExpectError(with_indices({2, 3}, {1}),
              "sparse tensor 'w': expected i64 indices, one per value");
  ExpectError(with_indices({2, -3}, {1, 2}),
              "sparse tensor 'w': expected dims "
              "of up to 1 GB in all, found -3");
  ExpectError(with_indices({int64_t{1} << 40, 2}, {1, 2}),
              "sparse tensor 'w': expected dims of up to 1 GB in all, found ");
}

TEST(Malformed, ModelsWithoutWhatAModelHas) {
  ModelBuilder m(17);
  m.Input("x", {2});
  ExpectError(std::move(m), "the graph has no outputs");
  m = OneNode("Relu");
  m.graph().mutable_input(0)->clear_name();
  ExpectError(std::move(m), "an input of the graph has no name");
  m = OneNode("Relu");
  m.graph().mutable_input(0)->clear_type();
  ExpectError(std::move(m), "input 'x': expected");
  m = OneNode("Relu");
  TypeOf(*m.graph().mutable_input(0)).clear_shape();
  ExpectError(std::move(m),
              "input 'x': the model does not give its rank; pin its shape");
  m = OneNode("Relu");
  m.proto().clear_graph();
  ExpectError(std::move(m), "expected an ONNX model with a graph");
}

}  // namespace
}  // namespace ember::onnx
