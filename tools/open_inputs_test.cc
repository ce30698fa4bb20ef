// Tests the messages about inputs whose dims, rank or type the model leaves
// open, and about indices that are out of range.
#include <gtest/gtest.h>

#include <string>

#include "frontends/onnx/testing/model_builder.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

using onnx::ModelBuilder;

void ExpectContains(const Outcome& outcome, const std::string& text,
                    int exit_status) {
  EXPECT_NE(outcome.output.find(text), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.exit_status, exit_status) << outcome.output;
}

class OpenInputsTest : public CliTest {
 protected:
  static void WriteModel(const std::string& name, ModelBuilder& model) {
    Write(name, model.proto().SerializeAsString());
  }
};

TEST_F(OpenInputsTest, ARankThatDependsOnADimIsThatOfTheInputs) {
  ModelBuilder m;
  m.Input("x", {"n", 3, 1});
  m.Node("Squeeze", {"x"}, {"y"});
  m.Output("y");
  WriteModel("squeeze.onnx", m);
  ExpectContains(Run("vm-run squeeze.onnx --input=1x3x1xf32"), "y: 3xf32", 0);
  ExpectContains(Run("vm-run squeeze.onnx --input=2x3x1xf32"), "y: 2x3xf32", 0);
  ASSERT_EQ(Run("vm-compile squeeze.onnx -o squeeze.vmfb").exit_status, 0);
  ExpectContains(Run("vm-run squeeze.vmfb --input=2x3x1xf32"), "y: 2x3xf32", 0);
  ExpectContains(Run("vm-run squeeze.vmfb --input=1x3x1xf32"),
                 "fix the dim when compiling (--shape)", 1);
}

TEST_F(OpenInputsTest, AValueOfTheModelMayBeGivenAnother) {
  ModelBuilder m;
  m.Input("x", {3});
  m.Input("w", {3});
  m.Floats("w", {3}, {1, 2, 3});
  m.Node("Add", {"x", "w"}, {"y"});
  m.Output("y");
  WriteModel("value.onnx", m);
  const std::string x = " --print=full --input=x=3xf32=10,20,30";
  ExpectContains(Run("vm-run value.onnx" + x), "[11, 22, 33]", 0);
  ExpectContains(Run("vm-run value.onnx" + x + " --input=w=3xf32=4,5,6"),
                 "[14, 25, 36]", 0);
  ASSERT_EQ(Run("vm-compile value.onnx -o value.vmfb --shape=w=3").exit_status,
            0);
  ExpectContains(Run("vm-run value.vmfb" + x + " --input=w=3xf32=4,5,6"),
                 "[14, 25, 36]", 0);
  ASSERT_EQ(Run("vm-compile value.onnx -o value.vmfb --input=w=3xf32=7,7,7")
                .exit_status,
            0);
  ExpectContains(Run("vm-run value.vmfb" + x), "[17, 27, 37]", 0);
  ExpectError("vm-run value.onnx --input=v=3xf32",
              "vm-run: no input 'v'; the module has x: 3xf32", 2);
}

TEST_F(OpenInputsTest, ANameOfADimMayStandForTwoLengths) {
  ModelBuilder m;
  m.Input("a", {2, "s"});
  m.Input("b", {2, "s"});
  m.Node("Add", {"a", "b"}, {"y"});
  m.Output("y");
  WriteModel("names.onnx", m);
  const std::string inputs =
      " --print=full --input=2x3xf32=1,2,3,4,5,6 --input=2x1xf32=10,20";
  ExpectContains(Run("vm-run names.onnx" + inputs), "--separate-dims", 1);
  const std::string sum = "[[11, 12, 13],\n [24, 25, 26]]";
  ExpectContains(Run("vm-run names.onnx --separate-dims" + inputs), sum, 0);
  ASSERT_EQ(
      Run("vm-compile names.onnx -o names.vmfb --separate-dims").exit_status,
      0);
  ExpectContains(Run("vm-run names.vmfb" + inputs), sum, 0);
}

TEST_F(OpenInputsTest, VersionsThatAreNewerThanWhatIsKnownAreSaid) {
  ModelBuilder m(99);
  m.proto().set_ir_version(50);
  m.Input("x", {3});
  m.Node("Abs", {"x"}, {"y"});
  m.Output("y");
  WriteModel("newer.onnx", m);
  ExpectContains(
      Run("vm-run newer.onnx"),
      "newer.onnx: note: the model states IR version 50, where the newest "
      "known one is 13, and opset 99, where the newest known one is 28",
      0);
  m.Node("NoSuchOperator", {"x"}, {"z"});
  m.Output("z");
  WriteModel("newer.onnx", m);
  ExpectContains(Run("vm-run newer.onnx"), "(the model states IR version 50",
                 1);
}

// An index that is out of range gives the same message at every tier.
TEST_F(OpenInputsTest, AnIndexErrorNamesTheNode) {
  ModelBuilder m;
  m.Input("table", {3, 64});
  m.Input("rows", {4}, onnx::TensorProto::INT64);
  m.Node("Gather", {"table", "rows"}, {"y"}).set_name("lookup");
  m.Output("y");
  WriteModel("lookup.onnx", m);
  const std::string command =
      "vm-run lookup.onnx --random-inputs --input=rows=4xi64=0,7,1,2 --tier=";
  const Outcome first = Run(command + "0");
  ExpectContains(first, "vm-run: 'lookup (Gather)': dispatch @", 1);
  ExpectContains(first, ": expected index 0 in 0..2, found 7\n", 1);
  for (const char* tier : {"1", "2"})
    EXPECT_EQ(Run(command + tier).output, first.output);
}

}  // namespace
}  // namespace ember::tools
