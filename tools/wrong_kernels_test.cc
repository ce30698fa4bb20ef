// Tests what --shadow and vm-diff report about wrong kernels.
#include <cstring>

#include "gtest/gtest.h"
#include "third_party/onnx/onnx.pb.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

// Runs copies of the tools beside a replaced libember_jit.so, whose kernels are
// wrong on purpose.
class WrongKernelsTest : public CliTest {
 protected:
  static void SetUpTestSuite() {
    CliTest::SetUpTestSuite();
    const std::string copy =
        "mkdir -p wrong/tools wrong/jit && cp -fL " + Tools() + "/vm-run " +
        Tools() + "/vm-diff wrong/tools && cp -fL " + Tools() +
        "/lib/testing/libfaulty_jit.so wrong/jit/libember_jit.so && cp -fL " +
        Tools() + "/../jit/llvm/library/libember_llvm.so wrong/jit";
    const Outcome outcome = Run("true && " + copy);
    ASSERT_EQ(outcome.exit_status, 0) << outcome.output;
    Write("twice.onnx", TwiceModel().SerializeAsString());
  }

  // Returns a model that computes y = x + x for four f32.
  static onnx::ModelProto TwiceModel() {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_name("twice");
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Add");
    node.add_input("x");
    node.add_input("x");
    node.add_output("y");
    for (onnx::ValueInfoProto* value :
         {graph.add_input(), graph.add_output()}) {
      auto& type = *value->mutable_type()->mutable_tensor_type();
      type.set_elem_type(onnx::TensorProto::FLOAT);
      type.mutable_shape()->add_dim()->set_dim_value(4);
    }
    graph.mutable_input(0)->set_name("x");
    graph.mutable_output(0)->set_name("y");
    return model;
  }

  static void ExpectContains(const Outcome& outcome, const std::string& text,
                             int status) {
    EXPECT_NE(outcome.output.find(text), std::string::npos) << text << "\nin\n"
                                                            << outcome.output;
    EXPECT_EQ(outcome.exit_status, status) << outcome.output;
  }
};

TEST_F(WrongKernelsTest, ShadowFindsNothingInRightOnes) {
  const Outcome outcome =
      Run("vm-run model.vmfb --tier=2 --shadow=none --print=none --runs=5");
  ExpectContains(outcome,
                 "shadow: 5 kernels checked in 15 calls, 0 withdrawn\n", 0);
  EXPECT_EQ(Run("ls none").exit_status, 2);
  ExpectError("vm-run model.vmfb --tier=0 --shadow",
              "vm-run: --shadow: expected a --tier with kernels to check, "
              "found 0",
              2);
}

TEST_F(WrongKernelsTest, ShadowWithdrawsAndWritesWhatCanBeReplayed) {
  EXPECT_EQ(Run("rm -rf found").exit_status, 0);
  const Outcome outcome =
      Run("EMBER_FAULT=d2_conv wrong/tools/vm-run model.vmfb --tier=2 "
          "--shadow=found --runs=2 --profile --output=@shadowed.npy");
  ExpectContains(outcome, "vm-run: --shadow: 1 kernel gave other results", 1);
  ExpectContains(outcome, "; vm-diff --repro=found/d2_conv_maximum.tier2\n", 1);
  // The table of --profile must show that the wrong kernel was withdrawn, with
  // the reason.
  ExpectContains(outcome, "| 0    | d2_conv_maximum ", 1);
  ExpectContains(outcome, "| 2    | d0_conv_maximum ", 1);
  ExpectContains(outcome,
                 "UNIMPLEMENTED: differs: the kernel was "
                 "withdrawn, as a result differed from tier 0's: tier 2 with "
                 "N=1: %maximum[0, 13, 13, 15]: got ",
                 1);
  // Replaying with the JIT that makes wrong kernels finds the difference, and
  // reports that the machine code is wrong, not the loop nest. Replaying with
  // the right JIT finds none.
  const std::string replay = "vm-diff --repro=found/d2_conv_maximum.tier2";
  const Outcome wrong = Run("EMBER_FAULT=d2_conv wrong/tools/" + replay);
  ExpectContains(wrong, "the kernel differs from tier 0: %maximum[0, 13, 13, ",
                 1);
  ExpectContains(wrong, "its loop nest gives tier 0's results", 1);
  const Outcome right = Run(replay);
  EXPECT_EQ(right.output, "the kernel's results do not differ from tier 0's\n");
  EXPECT_EQ(right.exit_status, 0);
  // The replay uses the recorded schedule only if it differs from the one that
  // this build chooses.
  Write("found/d2_conv_maximum.tier2/d2_conv_maximum.schedule", "nonsense");
  const Outcome other = Run(replay);
  ExpectContains(other, "the recorded schedule was not tried: ", 0);
  ExpectContains(other, "nonsense", 0);
  const Outcome same =
      Run("vm-run model.vmfb --tier=0 --print=none --expected=@shadowed.npy");
  EXPECT_EQ(same.exit_status, 0) << same.output;
}

TEST_F(WrongKernelsTest, FirstCallsAreCheckedBeforeAnybodySeesThem) {
  EXPECT_EQ(Run("rm -rf checked").exit_status, 0);
  const std::string run =
      "EMBER_FAULT=d2_conv wrong/tools/vm-run model.vmfb --tier=2 "
      "--wrong-kernels=checked --runs=3 ";
  const Outcome outcome = Run(
      run + "--check-kernels=on --profile --print=none --output=@checked.npy");
  ExpectContains(outcome,
                 "a kernel of @d2_conv_maximum was wrong and is not used: "
                 "%maximum[0, 13, 13, 15]: got ",
                 0);
  ExpectContains(outcome,
                 "; see vm-diff --repro=checked/d2_conv_maximum.tier2\n", 0);
  ExpectContains(outcome, "| 0    | d2_conv_maximum ", 0);
  ExpectContains(outcome, "| 2    | d0_conv_maximum ", 0);
  ExpectContains(outcome,
                 "5 first calls of kernels were checked: 1 were wrong, ", 0);
  ExpectContains(outcome,
                 "UNIMPLEMENTED: differs: the kernel was withdrawn, as a "
                 "result differed from tier 0's: tier 2 with N=1: "
                 "%maximum[0, 13, 13, 15]: got ",
                 0);
  const std::string replay = "vm-diff --repro=checked/d2_conv_maximum.tier2";
  ExpectContains(Run("EMBER_FAULT=d2_conv wrong/tools/" + replay),
                 "the kernel differs from tier 0: %maximum[0, 13, 13, ", 1);
  EXPECT_EQ(Run(replay).exit_status, 0);
  const Outcome same =
      Run("vm-run model.vmfb --tier=0 --print=none --rtol=1e-4 "
          "--expected=@checked.npy");
  EXPECT_EQ(same.exit_status, 0) << same.output;
  // Kernels are not checked with --check-kernels=off. They are not checked with
  // --tier=2 either, unless a flag asks for it.
  const Outcome unchecked = Run(run + "--print=none --profile");
  ExpectContains(unchecked, "| 2    | d2_conv_maximum ", 0);
  EXPECT_EQ(unchecked.output.find("wrong"), std::string::npos)
      << unchecked.output;
}

TEST_F(WrongKernelsTest, WrongForSomeInputsOnly) {
  const std::string run =
      "EMBER_FAULT=add EMBER_FAULT_ABOVE=1 wrong/tools/vm-run twice.onnx "
      "--tier=2 --shadow=some --input=4xf32=";
  ExpectContains(Run(run + "1,2,3,4"), "1 calls, 0 withdrawn", 0);
  const Outcome outcome = Run(run + "2,2,3,4 --print=full");
  ExpectContains(outcome, "1 calls, 1 withdrawn", 1);
  ExpectContains(outcome, "[4, 4, 6, 8]", 1);
}

TEST_F(WrongKernelsTest, DiffNamesTheFirstDispatch) {
  const Outcome equal = Run("vm-diff model.vmfb");
  EXPECT_EQ(equal.exit_status, 0) << equal.output;
  ExpectContains(equal,
                 "5 dispatches ran; 5 with a kernel, compared on the same "
                 "operands: 0 differ",
                 0);
  const Outcome outcome =
      Run("EMBER_FAULT=conv wrong/tools/vm-diff model.vmfb");
  ExpectContains(outcome, "2 differ (got is b, tier 2; want is a, tier 0)", 1);
  // Both wrong dispatches got the operands of side a, which are correct. So
  // each has exactly one wrong element.
  ExpectContains(outcome,
                 "first to differ: dispatch 1 @d0_conv_maximum [conv1 (Conv) + "
                 "relu1 (Relu)] with N=1: %maximum[0, 27, 27, 7]: got ",
                 1);
  ExpectContains(outcome, "1 of 6272 elements differ, by up to 1\n", 1);
  ExpectContains(outcome, "then dispatch 3 @d2_conv_maximum", 1);
  ExpectContains(outcome, "1 of 3136 elements differ, by up to 1\n", 1);
  // The wrong kernel adds 1 to the last element of the result.
  ExpectContains(Run("EMBER_FAULT=add wrong/tools/vm-diff twice.onnx -b "
                     "tier:1 --input=4xf32=1,2,3,4"),
                 "result y differs: [3]: got 9, want 8; 1 of 4", 1);
}

TEST_F(WrongKernelsTest, DiffOfNothing) {
  onnx::ModelProto model = TwiceModel();
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  node.set_op_type("Mod");
  onnx::AttributeProto& fmod = *node.add_attribute();
  fmod.set_name("fmod");
  fmod.set_type(onnx::AttributeProto::INT);
  fmod.set_i(1);
  Write("remainder.onnx", model.SerializeAsString());
  const Outcome outcome = Run("vm-diff remainder.onnx --input=4xf32=1,2,3,4");
  ExpectContains(outcome, "not compiled: @d0_remainder: ", 2);
  ExpectContains(outcome,
                 "vm-diff: expected at least one dispatch with a kernel, found "
                 "none: nothing was compared",
                 2);
}

TEST_F(WrongKernelsTest, DiffOfTwoModules) {
  EXPECT_EQ(Run("vm-diff digits.onnx model.vmfb").exit_status, 0);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(Read("digits.onnx")));
  const auto diff_with_bias = [&](float more) {
    for (onnx::TensorProto& tensor :
         *model.mutable_graph()->mutable_initializer()) {
      if (tensor.name() != "conv2.bias") continue;
      float first = 0;
      std::memcpy(&first, tensor.raw_data().data(), sizeof first);
      first += more;
      std::memcpy(tensor.mutable_raw_data()->data(), &first, sizeof first);
    }
    Write("changed.onnx", model.SerializeAsString());
    return Run("vm-diff model.vmfb changed.onnx");
  };
  const std::string first =
      "first to differ: dispatch 3 @d2_conv_maximum [conv2 (Conv) + "
      "relu2 (Relu)]";
  // A small change of the bias makes dispatches differ, but not the model's
  // result: for random noise the probability of one class is 1 with both
  // biases.
  const Outcome small = diff_with_bias(0.5f);
  ExpectContains(small, "5 dispatches correspond, 0 do not; ", 0);
  ExpectContains(small, " differ on the way to equal results (", 0);
  ExpectContains(small, first, 0);
  const Outcome large = diff_with_bias(1000.0f);
  ExpectContains(large, "result probabilities differs: ", 1);
  ExpectContains(large, first, 1);
  ExpectContains(Run("vm-diff twice.onnx model.vmfb --input=4xf32=1"),
                 "vm-diff: model.vmfb: ", 2);
}

TEST_F(WrongKernelsTest, DiffWithoutSense) {
  ExpectError("vm-diff",
              "vm-diff: expected MODEL, MODEL MODEL or --repro=FOLDER, found "
              "nothing (see vm-diff --help)",
              2);
  ExpectError("vm-diff model.vmfb --repro=x",
              "vm-diff: expected MODEL or --repro=FOLDER, found both", 2);
  ExpectError("vm-diff model.vmfb --b=device:gpu",
              "vm-diff: -b: expected one of tier:0, tier:1, tier:2, "
              "device:cpu, device:cuda, device:cuda-emulated, device:metal, "
              "device:null, "
              "device:opencl, device:vulkan, found 'device:gpu'",
              2);
  ExpectError("vm-diff model.vmfb --b=device:null,tier:2",
              "vm-diff: device:null: expected a device that runs dispatches, "
              "which null does not",
              2);
  ExpectError("vm-diff model.vmfb -a tier:2",
              "vm-diff: -a, -b: expected two sides, found tier 2 twice", 2);
  ExpectError(
      "vm-diff none.vmfb",
      "vm-diff: cannot open file 'none.vmfb': No such file or directory", 2);
  ExpectError("vm-diff --repro=nowhere",
              "vm-diff: cannot open file 'nowhere/dispatch.txt': No such file "
              "or directory",
              2);
}

}  // namespace
}  // namespace ember::tools
