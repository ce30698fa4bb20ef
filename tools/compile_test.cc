// Tests vm-compile by running it as a user does: limits, metadata, constant
// inputs, and dumps of the pipeline.
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "third_party/onnx/onnx.pb.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

class CompileTest : public CliTest {};

// The model's functions call each other twice at each of 25 levels, so inlining
// them makes 33 million nodes. Its import takes so long that each limit of time
// or memory ends it.
TEST_F(CompileTest, CompilingWithinLimits) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Read("digits.onnx")));
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("local");
  opset.set_version(1);
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto call = [](onnx::NodeProto& node, int level, const char* from,
                       const char* to) {
    node.set_op_type("F" + std::to_string(level));
    node.set_domain("local");
    node.add_input(from);
    node.add_output(to);
  };
  for (int level = 0; level < 25; ++level) {
    onnx::FunctionProto& function = *model.add_functions();
    function.set_name("F" + std::to_string(level));
    function.set_domain("local");
    function.add_input("a");
    function.add_output("b");
    *function.mutable_opset_import() = model.opset_import();
    if (level < 24) {
      call(*function.add_node(), level + 1, "a", "t");
      call(*function.add_node(), level + 1, "t", "b");
    } else {
      onnx::NodeProto& node = *function.add_node();
      node.set_op_type("Neg");
      node.add_input("a");
      node.add_output("b");
    }
  }
  graph.clear_node();
  call(*graph.add_node(), 0, "image", "probabilities");
  Write("doubling.onnx", model.SerializeAsString());
  ExpectError("vm-compile doubling.onnx -o x.vmfb --max-seconds=0.05",
              "vm-compile: doubling.onnx: expected compiling to take at most "
              "0.05 s (--max-seconds), found it still running");
  // The time limit of vm-run includes importing and compiling the model.
  ExpectError("vm-run doubling.onnx --max-seconds=0.05",
              "vm-run: doubling.onnx: expected compiling to take at most 0.05 "
              "s (--max-seconds), found it still running");
  const Outcome memory =
      Run("vm-compile doubling.onnx -o x.vmfb --max-memory=20M");
  // Under a sanitizer --max-memory is not enforced, because the memory of the
  // sanitizer's own tables would count. Then the limit on the number of nodes
  // ends the import, with another message.
  if (memory.output.find("--max-memory") != std::string::npos) {
    EXPECT_EQ(memory.output,
              "vm-compile: doubling.onnx: expected compiling to take at most "
              "20971520 bytes more (--max-memory), found more\n");
  }
  EXPECT_EQ(memory.exit_status, 1);
}

TEST_F(CompileTest, UnsupportedOperatorsAreListedTogether) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Read("digits.onnx")));
  model.mutable_graph()->mutable_node(1)->set_op_type("Blur");
  model.mutable_graph()->mutable_node(4)->set_op_type("Sharpen");
  Write("odd.onnx", model.SerializeAsString());
  ExpectError("vm-compile odd.onnx -o odd.vmfb",
              "vm-compile: odd.onnx: 2 unsupported operators: Blur (node "
              "'relu1'), Sharpen (node "
              "'relu2')");
}

TEST_F(CompileTest, MetadataIsKeptAndAdded) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Read("digits.onnx")));
  model.clear_metadata_props();
  model.clear_doc_string();
  model.set_producer_name("somebody");
  model.set_producer_version("1.2");
  onnx::StringStringEntryProto& property = *model.add_metadata_props();
  property.set_key("note");
  property.set_value("of the model");
  Write("said.onnx", model.SerializeAsString());
  Write("labels.txt", "zero\none\n");
  const Outcome compiled =
      Run("vm-compile said.onnx -o said.vmfb --metadata labels=@labels.txt "
          "--metadata author=me --metadata onnx.producer_version=2");
  EXPECT_EQ(compiled.exit_status, 0) << compiled.output;
  const std::string dumped = Run("vm-dump said.vmfb --part=metadata").output;
  EXPECT_EQ(dumped.substr(0, 33), "author: me\nlabels:\n  zero\n  one\no")
      << dumped;
  EXPECT_NE(dumped.find("\nonnx.metadata.note: of the model\n"
                        "onnx.producer_name: somebody\n"
                        "onnx.producer_version: 2\n"),
            std::string::npos)
      << dumped;
  // vm-dump also shows the metadata of a model that is not compiled. Adding
  // metadata to a module does not change its results.
  EXPECT_NE(Run("vm-dump said.onnx --part=metadata")
                .output.find("onnx.producer_version: 1.2\n"),
            std::string::npos);
  EXPECT_EQ(Run("vm-run said.vmfb --print=full").output,
            Run("vm-run model.vmfb --print=full").output);
  Write("bytes.bin", "\xff");
  ExpectError("vm-compile said.onnx -o s.vmfb --metadata a=@bytes.bin",
              "vm-compile: --metadata: 'a=@bytes.bin': expected a value of at "
              "most 1048576 bytes in UTF-8 without a byte 0, found 1 bytes",
              2);
  ExpectError("vm-compile said.onnx -o s.vmfb --metadata author",
              "vm-compile: --metadata: 'author': expected KEY=VALUE, with a "
              "key of 1 to 1024 bytes in UTF-8",
              2);
}

// Returns a model that computes reshaped = Reshape(x: f32[A, B], shape:
// i64[2]).
onnx::ModelProto ReshapeModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("reshape");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("Reshape");
  node.add_input("x");
  node.add_input("shape");
  node.add_output("reshaped");
  onnx::ValueInfoProto& x = *graph.add_input();
  x.set_name("x");
  auto& x_type = *x.mutable_type()->mutable_tensor_type();
  x_type.set_elem_type(onnx::TensorProto::FLOAT);
  x_type.mutable_shape()->add_dim()->set_dim_param("A");
  x_type.mutable_shape()->add_dim()->set_dim_param("B");
  onnx::ValueInfoProto& shape = *graph.add_input();
  shape.set_name("shape");
  auto& shape_type = *shape.mutable_type()->mutable_tensor_type();
  shape_type.set_elem_type(onnx::TensorProto::INT64);
  shape_type.mutable_shape()->add_dim()->set_dim_value(2);
  onnx::ValueInfoProto& output = *graph.add_output();
  output.set_name("reshaped");
  output.mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::FLOAT);
  return model;
}

TEST_F(CompileTest, InputsBecomeConstants) {
  Write("reshape.onnx", ReshapeModel().SerializeAsString());
  const std::string compile = "vm-compile reshape.onnx -o r.vmfb ";
  const Outcome open = Run(compile);
  EXPECT_NE(open.output.find("inputs   x: AxBxf32, shape: 2xi64"),
            std::string::npos)
      << open.output;
  const Outcome one = Run(compile + "--input=shape=2xi64=3,2");
  EXPECT_NE(
      one.output.find("inputs   x: AxBxf32\n  results  reshaped: 3x2xf32"),
      std::string::npos)
      << one.output;
  const Outcome run =
      Run("vm-run r.vmfb --input=2x3xf32=1,2,3,4,5,6 "
          "--expected=3x2xf32=1,2,3,4,5,6");
  EXPECT_EQ(run.exit_status, 0) << run.output;
  // The value of --input may be a file. If --input gives the values of all
  // inputs, the dims of x are taken from the value of x.
  EXPECT_EQ(Run("vm-run r.vmfb --input=2x3xf32=6,5,4,3,2,1 --print=none "
                "--output=@six.npy")
                .output,
            "");
  EXPECT_EQ(
      Run(compile + "--input=x=@six.npy --input=shape=2xi64=-1,1").exit_status,
      0);
  const Outcome constant = Run("vm-run r.vmfb --expected=6x1xf32=6,5,4,3,2,1");
  EXPECT_EQ(constant.exit_status, 0) << constant.output;

  ExpectError(compile + "--input=2xi64=3,2",
              "vm-compile: --input: '2xi64=3,2': expected NAME=VALUE", 2);
  ExpectError(compile + "--input=shapes=2xi64=3,2",
              "vm-compile: reshape.onnx: pinned shape: expected one of the "
              "inputs 'x', 'shape', found 'shapes'");
  ExpectError(compile + "--input=shape=2xi32=3,2",
              "vm-compile: reshape.onnx: input 'shape': expected a value of "
              "type i64, found i32");
  ExpectError(compile + "--input=shape=3xi64=3,2,1",
              "vm-compile: reshape.onnx: input 'shape' axis 0: expected 2, as "
              "the model fixes this dim, found 3; give 2, or export the model "
              "with this dim open");
  ExpectError(compile + "--input=shape=2xi64=3,2 --input=shape=2xi64=3,2",
              "vm-compile: input 'shape': expected one value, found two");
}

TEST_F(CompileTest, EveryStepOfThePipelineCanBeDumped) {
  const Outcome pipeline = Run("vm-compile x.onnx --print-pipeline");
  EXPECT_EQ(pipeline.exit_status, 0);
  EXPECT_EQ(pipeline.output.find("  0  import "), 0u) << pipeline.output;
  std::istringstream lines(pipeline.output);
  std::set<std::string> steps;
  std::string line, number, step;
  while (std::getline(lines, line)) {
    std::istringstream(line) >> number >> step;
    steps.insert(step);
  }
  EXPECT_GT(steps.size(), 8u);
  for (const std::string& name : steps) {
    const Outcome dumped =
        Run("vm-compile digits.onnx -o x.vmfb --dump-after=" + name);
    EXPECT_EQ(dumped.output.find("// after " + name + "\n"), 0u)
        << dumped.output;
  }
}

TEST_F(CompileTest, DumpsHoldWhatTheyShould) {
  EXPECT_EQ(
      Run("vm-compile digits.onnx -o x.vmfb --dump-after=all --dump-dir=passes")
          .exit_status,
      0);
  EXPECT_NE(Read("passes/00-import.txt").find("graph @digits("),
            std::string::npos);
  EXPECT_EQ(Run("vm-compile digits.onnx -o x.vmfb --dump-after=import")
                .output.find("// after import\ngraph @digits("),
            0u);
  EXPECT_NE(Run("vm-dump model.vmfb").output.find("program main<N>("),
            std::string::npos);
  EXPECT_NE(
      Run("vm-dump model.vmfb --part=dispatches").output.find("dispatch @"),
      std::string::npos);
  EXPECT_NE(
      Run("vm-dump digits.onnx --part=graph").output.find("graph @digits("),
      std::string::npos);
  EXPECT_NE(
      Run("vm-dump model.vmfb --part=signature").output.find("Nx1x28x28xf32"),
      std::string::npos);
  EXPECT_EQ(Run("vm-dump model.vmfb --emit=svg").output.find("<svg "), 0u);
  EXPECT_EQ(
      Run("vm-dump model.vmfb --emit=dot").output.find("digraph \"digits\" {"),
      0u);
  EXPECT_EQ(Run("vm-dump model.vmfb --emit=netron -o netron.onnx").output, "");
  onnx::ModelProto netron;
  ASSERT_TRUE(netron.ParseFromString(Read("netron.onnx")));
  EXPECT_EQ(netron.graph().input(0).name(), "image");
  EXPECT_GT(netron.graph().node_size(), 2);
}

}  // namespace
}  // namespace ember::tools
