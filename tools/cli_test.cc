// Runs the tools as a user calls them and checks exit status and output.
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "frontends/registry/formats.h"
#include "gtest/gtest.h"
#include "third_party/onnx/onnx.pb.h"
#include "tools/testing/cli_fixture.h"
#include "vm/format/writer.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

TEST_F(CliTest, ModuleAndModelGiveTheSame) {
  const Outcome module =
      Run("vm-run model.vmfb --input=3x1x28x28xf32 --print=full");
  EXPECT_EQ(module.exit_status, 0) << module.output;
  EXPECT_EQ(module.output.substr(0, 27), "probabilities: 3x10xf32 = [")
      << module.output;
  EXPECT_EQ(Run("vm-run digits.onnx --input=3x1x28x28xf32 --print=full").output,
            module.output);
  // Without --input, vm-run says on stderr that the inputs are random.
  EXPECT_EQ(
      Run("vm-run model.vmfb --shape=image=3x1x28x28 --threads=1 --print=full")
          .output,
      "vm-run: random inputs (seed 0): image: 3x1x28x28xf32\n" + module.output);
}

TEST_F(CliTest, OutputsAreTheExpectedOnesOfTheNextRun) {
  for (const std::string name : {"@o.npy", "probabilities=@o.pb"}) {
    const std::string run =
        "vm-run model.vmfb --input=1x1x28x28xf32 --print=none ";
    EXPECT_EQ(Run(run + "--output=" + name).output, "");
    EXPECT_EQ(Run(run + "--expected=" + name).output,
              "probabilities is as expected; largest difference 0\n");
    const Outcome other = Run(run + "--seed=5 --expected=" + name);
    EXPECT_EQ(other.exit_status, 1);
    EXPECT_EQ(other.output.find(
                  "vm-run: result 'probabilities' is not as expected: [0, "),
              0u)
        << other.output;
  }
}

TEST_F(CliTest, RawInputIsWhatItSays) {
  EXPECT_EQ(Run("vm-run model.vmfb --input=1x1x28x28xf32 --output=@o.bin "
                "--print=none")
                .output,
            "");
  EXPECT_EQ(Read("o.bin").size(), 40u);
  ExpectError("vm-run model.vmfb --input=1x1x28x28xf32=@o.bin",
              "vm-run: '1x1x28x28xf32=@o.bin': o.bin: expected 3136 bytes for "
              "1x1x28x28xf32, found "
              "40");
}

// The model has functions that call each other twice at each of 25 levels: 33
// million nodes.
TEST_F(CliTest, CompilingWithinLimits) {
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
  // Importing a model in vm-run obeys --max-seconds, as the run itself does.
  ExpectError("vm-run doubling.onnx --max-seconds=0.05",
              "vm-run: doubling.onnx: expected compiling to take at most 0.05 "
              "s (--max-seconds), found it still running");
  const Outcome memory =
      Run("vm-compile doubling.onnx -o x.vmfb --max-memory=20M");
  // Under a sanitizer memory is not limited, because the sanitizer's own tables
  // would count. There the limit on the number of nodes ends the import, with
  // another message.
  if (memory.output.find("--max-memory") != std::string::npos) {
    EXPECT_EQ(memory.output,
              "vm-compile: doubling.onnx: expected compiling to take at most "
              "20971520 bytes more (--max-memory), found more\n");
  }
  EXPECT_EQ(memory.exit_status, 1);
}

TEST_F(CliTest, DiffWithinLimits) {
  for (const char* sides : {"-b tier:1", "model.vmfb -a tier:0 -b tier:0"}) {
    const Outcome outcome =
        Run("vm-diff model.vmfb " + std::string(sides) + " --max-work=10");
    EXPECT_EQ(outcome.exit_status, 2);
    EXPECT_NE(outcome.output.find("(--max-work)"), std::string::npos)
        << outcome.output;
  }
}

TEST_F(CliTest, PathsAreRelativeToWhereBazelRunWasCalled) {
  EXPECT_EQ(
      Run("env -C / BUILD_WORKING_DIRECTORY=" + Folder() + " PATH=" + Tools() +
          ":$PATH vm-run model.vmfb --input=1x1x28x28xf32 --print=none")
          .output,
      "");
}

TEST_F(CliTest, BadFiles) {
  const std::string module = Read("model.vmfb");
  Write("cut.vmfb", std::string_view(module).substr(0, 20000));
  ExpectError("vm-run cut.vmfb",
              "vm-run: cut.vmfb: module file: size in bytes: expected " +
                  std::to_string(module.size()) + ", found 20000");
  std::string flipped = module;
  flipped[100] ^= 1;
  Write("flipped.vmfb", flipped);
  const Outcome outcome = Run("vm-run flipped.vmfb");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.output.find("vm-run: flipped.vmfb: "), 0u)
      << outcome.output;
  EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1)
      << outcome.output;

  Write("cut.onnx", std::string_view(Read("digits.onnx")).substr(0, 20000));
  ExpectError("vm-run cut.onnx",
              "vm-run: cut.onnx: expected an ONNX model, found 20000 bytes "
              "that do not parse as one, or whose subgraphs are more than 64 "
              "levels deep");
  ExpectError(
      "vm-run none.vmfb",
      "vm-run: cannot open file 'none.vmfb': No such file or directory");
  Write("x.bin", "PK\x03\x04");
  ExpectError("vm-run x.bin",
              "vm-run: x.bin: expected a .vmfb module or a model (" +
                  frontends::ExtensionsText() +
                  "), found a ZIP archive (a PyTorch or Keras model?)");
  ExpectError("vm-compile model.vmfb -o x.vmfb",
              "vm-compile: model.vmfb: expected a model (" +
                  frontends::ExtensionsText() +
                  "), found a "
                  "compiled module");
}

TEST_F(CliTest, BadInputs) {
  ExpectError(
      "vm-run model.vmfb --input=2x1x28x27xf32=0",
      "vm-run: input 'image': expected Nx1x28x28xf32, found 2x1x28x27xf32");
  ExpectError(
      "vm-run model.vmfb --input=2x1x28x28xf64=0",
      "vm-run: input 'image': expected Nx1x28x28xf32, found 2x1x28x28xf64");
  ExpectError("vm-run model.vmfb --input=picture=28x28xf32=0",
              "vm-run: no input 'picture'; the module has image: Nx1x28x28xf32",
              2);
  ExpectError("vm-run model.vmfb --shape=image=1x1x2x2",
              "vm-run: --shape of input 'image': expected Nx1x28x28xf32, found "
              "1x1x2x2",
              2);
}

TEST_F(CliTest, UnsupportedOperatorsAreListedTogether) {
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

// A model from a stranger must not be able to write escape sequences to the
// user's terminal.
TEST_F(CliTest, NamesOfResultsArePrintedOnOneLine) {
  const auto module = vm::ParseModule(R"(module "m" from "test"
program main(x: f32[4]) -> ("a\x1b[31m\nb": f32[4]) {
  b0 = input x
  i0 = integer 4
  result "a\x1b[31m\nb" = b0 [i0]
  return
}
)");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  const auto bytes = vm::SerializeModule(*module);
  ASSERT_TRUE(bytes.ok());
  Write("escape.vmfb",
        {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  for (const std::string tool : {"vm-run", "vm-diff"}) {
    const Outcome outcome = Run(tool + " escape.vmfb");
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("a\\x1b[31m\\x0ab"), std::string::npos)
        << outcome.output;
    EXPECT_EQ(outcome.output.find('\x1b'), std::string::npos);
  }
}

TEST_F(CliTest, BadCommandLines) {
  ExpectError("vm-run",
              "vm-run: expected MODEL.vmfb or a model, found nothing (see "
              "vm-run --help)",
              2);
  ExpectError("vm-run model.vmfb --thread=2",
              "vm-run: unknown flag --thread; did you mean --threads?", 2);
  ExpectError("vm-run model.vmfb --device=toaster",
              "vm-run: --device: expected one of cpu, cuda, cuda-emulated, "
              "null, vulkan, with :NUMBER behind it for another one of its "
              "devices, found 'toaster'",
              2);
  ExpectError("vm-compile digits.onnx",
              "vm-compile: expected -o FILE to say where the module goes "
              "(see --help)",
              2);
  ExpectError(
      "vm-compile digits.onnx -o x.vmfb --dump-after=nothing",
      "vm-compile: --dump-after=nothing: expected all, import or a step "
      "(see vm-compile --print-pipeline)",
      2);
  ExpectError("vm-compile digits.onnx -o x.vmfb --disable-pass=emit",
              "vm-compile: --disable-pass=emit: no such pass can be disabled "
              "(see --print-pipeline)",
              2);
  ExpectError("vm-compile digits.onnx -o x.vmfb --disable-pass=import",
              "vm-compile: --disable-pass=import: no such pass can be disabled "
              "(see --print-pipeline)",
              2);
  ExpectError("vm-dump model.vmfb --dispatch=nothing",
              "vm-dump: --dispatch=nothing: the module has no such dispatch "
              "(--part=program shows their names)",
              2);
  ExpectError("vm-dump model.vmfb --part=graph",
              "vm-dump: --part=graph: expected a model (" +
                  frontends::ExtensionsText() +
                  "), found "
                  "model.vmfb (a module has no "
                  "graph any more)");
}

// Returns a model of reshaped = Reshape(x: f32[A, B], shape: i64[2]).
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

TEST_F(CliTest, MetadataIsKeptAndAdded) {
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
  // `vm-dump` shows the metadata of a model that is not compiled, too. Metadata
  // does not change the results.
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

TEST_F(CliTest, InputsBecomeConstants) {
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
  // --input may name a file. If all inputs are given, the extents of x are
  // taken from the value of x.
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
              "vm-compile: reshape.onnx: input 'shape' axis 0: expected pin 3, "
              "found 2");
  ExpectError(compile + "--input=shape=2xi64=3,2 --input=shape=2xi64=3,2",
              "vm-compile: input 'shape': expected one value, found two");
}

TEST_F(CliTest, EveryStepOfThePipelineCanBeDumped) {
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

TEST_F(CliTest, PassesOfKernelsArePrintedTimedAndLeftOut) {
  const Outcome pipeline = Run("vm-run --print-pipeline");
  EXPECT_EQ(pipeline.exit_status, 0);
  EXPECT_EQ(pipeline.output.find("  1   check-size "), 0u) << pipeline.output;
  EXPECT_EQ(Run("vm-prejit --print-pipeline").output, pipeline.output);
  const std::string run = "vm-run model.vmfb --tier=2 --print=none";
  const Outcome all = Run(run + " --time-passes");
  EXPECT_EQ(all.exit_status, 0);
  EXPECT_NE(all.output.find("| plan-prefetches "), std::string::npos)
      << all.output;
  const Outcome without =
      Run(run + " --time-passes --disable-pass=plan-prefetches");
  EXPECT_EQ(without.exit_status, 0);
  EXPECT_NE(without.output.find("| lower "), std::string::npos);
  EXPECT_EQ(without.output.find("plan-prefetches"), std::string::npos)
      << without.output;
  ExpectError("vm-run model.vmfb --tier=2 --disable-pass=pad-row",
              "vm-run: --disable-pass=pad-row: no such pass can be disabled; "
              "did you mean 'pad-rows'? (see --print-pipeline)",
              2);
  ExpectError("vm-run model.vmfb --tier=2 --disable-pass=lower",
              "vm-run: --disable-pass=lower: no such pass can be disabled "
              "(see --print-pipeline)",
              2);
}

TEST_F(CliTest, KernelsAreWrittenWhereOneAsks) {
  const Outcome dumped =
      Run("vm-run model.vmfb --tier=2 --print=none --dump-kernels=kernels");
  EXPECT_EQ(dumped.exit_status, 0) << dumped.output;
  const std::string files = Run("ls kernels").output;
  for (const char* extension :
       {".schedule", ".lower.loops", ".legalise.loops", ".tier2.loops", ".s"})
    EXPECT_NE(files.find(extension), std::string::npos) << extension;
  const Outcome refused =
      Run("vm-run model.vmfb --tier=2 --dump-kernels=model.vmfb");
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.output.find("--dump-kernels: expected a folder to write "
                                "to, found '"),
            std::string::npos)
      << refused.output;
}

TEST_F(CliTest, DumpsHoldWhatTheyShould) {
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

TEST_F(CliTest, TraceAndProfile) {
  const Outcome outcome = Run(
      "vm-run model.vmfb --profile --runs=3 --trace=trace.json --print=none");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("conv1"), std::string::npos) << outcome.output;
  const nlohmann::json trace =
      nlohmann::json::parse(Read("trace.json"), nullptr, false);
  ASSERT_FALSE(trace.is_discarded());
  EXPECT_GT(trace["traceEvents"].size(), 4u);
}

TEST_F(CliTest, ExplainSaysWhyAndHowFast) {
  const Outcome outcome =
      Run("vm-run model.vmfb --input=1x1x28x28xf32 --tier=0 --explain "
          "--print=none --threads=1");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("1 threads: "), 0u) << outcome.output;
  // The table's row of the convolution: an output of 28 x 28 points and 8
  // channels, sums over filters of 3 x 3, with bias and ReLU in the same
  // dispatch.
  EXPECT_NE(outcome.output.find(
                "| 0    | d0_conv_maximum            | 1x28x28x8xf32, sum "
                "of 9   | conv1 (Conv) + relu1 (Relu) "),
            std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("|    10 |"), std::string::npos)
      << "the first of 11 runs is left out";
  const Outcome compiled =
      Run("vm-run model.vmfb --tier=2 --explain --runs=2 --print=none");
  EXPECT_NE(compiled.output.find("| 2    | d0_conv_maximum "),
            std::string::npos)
      << compiled.output;
}

TEST_F(CliTest, BenchPrintsEveryField) {
  const Outcome outcome =
      Run("vm-bench model.vmfb digits.onnx --input=1x1x28x28xf32 "
          "--threads=1,2 --runs=3 --warmup=1 --settle=2 -o json");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  const nlohmann::json rows =
      nlohmann::json::parse(outcome.output, nullptr, false);
  ASSERT_FALSE(rows.is_discarded()) << outcome.output;
  ASSERT_EQ(rows.size(), 4u);
  for (const nlohmann::json& row : rows) {
    for (const char* field :
         {"median_ms", "p10_ms", "p90_ms", "load_ms", "first_ms", "rss_mb"}) {
      EXPECT_GT(row.at(field).get<double>(), 0.0) << field;
    }
    EXPECT_EQ(row.at("runs"), 3);
    EXPECT_EQ(row.at("tier"), "auto");
    EXPECT_EQ(row.at("tier_mix").get<std::string>().find("tier "), 0u);
    EXPECT_GE(row.at("first_ms").get<double>(),
              row.at("load_ms").get<double>());
  }
  EXPECT_EQ(rows[1].at("threads"), 2);
}

TEST_F(CliTest, OneRunCompilesNothing) {
  const Outcome outcome = Run("vm-run model.vmfb --profile --print=none");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("\n0 kernels of "), std::string::npos)
      << outcome.output;
}

TEST_F(CliTest, AutoGivesWhatTheInterpreterGives) {
  const std::string run = "vm-run model.vmfb --shape=image=16x1x28x28 ";
  EXPECT_EQ(Run(run + "--tier=0 --print=none --output=@tier0.npy").exit_status,
            0);
  // Depending on the number of runs, kernels arrive during the runs, or the
  // process ends while they are still being compiled.
  for (const char* runs : {"10", "50", "400"}) {
    const Outcome outcome = Run(run +
                                "--no-kernel-cache --rtol=1e-4 "
                                "--expected=@tier0.npy --runs=" +
                                runs);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  }
}

TEST_F(CliTest, LifeOfAProcess) {
  const Outcome outcome =
      Run("vm-bench model.vmfb --shape=image=16x1x28x28 --runs=3 "
          "--no-kernel-cache --life=life.json --tier=0,auto "
          "--settle=1000000");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  const nlohmann::json lives =
      nlohmann::json::parse(Read("life.json"), nullptr, false);
  ASSERT_FALSE(lives.is_discarded()) << Read("life.json");
  ASSERT_EQ(lives.size(), 2u);
  for (const nlohmann::json& life : lives) {
    EXPECT_TRUE(life.at("is_settled").get<bool>());
    EXPECT_EQ(life.at("waits_ms").size(), life.at("calls_ms").size());
    EXPECT_EQ(life.at("calls_ms").size(),
              life.at("warmup_calls").get<size_t>() + 3);
  }
  EXPECT_EQ(lives[0].at("kernels"), 0);
  EXPECT_EQ(lives[0].at("warmup_calls"), 6);
  EXPECT_GT(lives[1].at("kernels"), 0);
  EXPECT_GT(lives[1].at("compile_ms"), 0.0);
}

TEST_F(CliTest, KernelsAreKeptForLaterProcesses) {
  const auto line = [](const std::string& environment,
                       const std::string& flags) {
    const Outcome outcome =
        Run("env -u EMBER_CACHE HOME=" + Folder() + "/home " + environment +
            " vm-run model.vmfb --tier=2 --print=none --profile " + flags);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    const size_t begin = outcome.output.find("Code of ");
    EXPECT_NE(begin, std::string::npos) << outcome.output;
    return outcome.output.substr(begin,
                                 outcome.output.find('\n', begin) - begin);
  };
  const std::string compiled =
      "Code of 5 kernels was compiled, of 0 read from the cache, and of 0 "
      "shared with another kernel.";
  const std::string loaded =
      "Code of 0 kernels was compiled, of 5 read from the cache, and of 0 "
      "shared with another kernel.";
  EXPECT_EQ(line("", ""), compiled);
  EXPECT_EQ(line("", ""), loaded);
  EXPECT_EQ(line("", "--no-kernel-cache"), compiled);
  EXPECT_EQ(line("EMBER_CACHE=", ""), compiled);
  EXPECT_EQ(line("", "--kernel-cache=other"), compiled);
  EXPECT_EQ(line("EMBER_CACHE=other", ""), loaded);
  EXPECT_EQ(line("XDG_CACHE_HOME=" + Folder() + "/home/.cache", ""), loaded);
  EXPECT_EQ(line("XDG_CACHE_HOME=" + Folder() + "/xdg", ""), compiled);
  EXPECT_EQ(line("XDG_CACHE_HOME=" + Folder() + "/xdg", ""), loaded);
  // Another state folder has another secret key for the cache, so no kernel is
  // loaded from the cache.
  EXPECT_EQ(line("XDG_STATE_HOME=" + Folder() + "/state", ""), compiled);
}

TEST_F(CliTest, RunsWithoutAKernelCacheThatCannotBeUsed) {
  const std::string run = "vm-run model.vmfb --input=1x1x28x28xf32 --tier=2 ";
  const Outcome usual = Run(run + "--no-kernel-cache");
  EXPECT_EQ(usual.exit_status, 0) << usual.output;
  const Outcome outcome =
      Run("HOME=" + Folder() + " " + run + "--kernel-cache=/proc/none");
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.output,
            "running without kernel cache: cannot open folder '/proc/none': "
            "No such file or directory\n" +
                usual.output);
}

TEST_F(CliTest, HelpGoesToStdout) {
  for (const char* tool :
       {"vm-compile", "vm-run", "vm-bench", "vm-dump", "vm-diff"}) {
    const Outcome outcome = Run(std::string(tool) + " --help");
    EXPECT_EQ(outcome.exit_status, 0);
    EXPECT_EQ(outcome.output.find("Usage: " + std::string(tool)), 0u)
        << outcome.output;
    EXPECT_NE(outcome.output.find("\nExamples:\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace ember::tools
