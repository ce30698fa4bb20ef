#include "tools/lib/models/bind.h"

#include "gtest/gtest.h"
#include "tools/lib/cli/command_line_error.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

class BindTest : public ::testing::Test {
 protected:
  BindTest() {
    StatusOr<vm::ModuleDefinition> definition = vm::ParseModule(R"(
module "by hand" from "bind_test"

dispatch @copy<N>(%x: f32[N, 4], %m: i64[N]) -> (%y: f32[N, 4]) {
  %y[i, j] = %x[i, j]
}

program main<N>(x: f32[N, 4], mask: i64[N]) -> (y: f32[N, 4]) {
  i0 = input_dim x, 0
  i1 = integer 16
  i2 = mul i0, i1
  i3 = integer 4
  b0 = input x
  b1 = input mask
  b2 = allocate i2
  dispatch @copy(i0; b0, b1 -> b2)
  result y = b2 [i0, i3]
  return
}
)");
    EXPECT_TRUE(definition.ok()) << definition.status().ToString();
    StatusOr<std::shared_ptr<const vm::Module>> module =
        vm::Module::FromDefinition(*std::move(definition));
    EXPECT_TRUE(module.ok()) << module.status().ToString();
    module_ = *module;
  }

  std::string Types(const std::vector<std::string>& specs,
                    const std::vector<std::string>& shapes) {
    std::vector<NamedShape> parsed;
    for (const std::string& shape : shapes)
      parsed.push_back(*ParseShapeSpec(shape));
    RandomTensors random(1);
    const StatusOr<std::vector<vm::Tensor>> inputs =
        BindInputs(*module_, specs, parsed, random);
    if (!inputs.ok()) return std::string(inputs.status().message());
    return (*inputs)[0].TypeText() + " " + (*inputs)[1].TypeText();
  }

  std::shared_ptr<const vm::Module> module_;
};

TEST_F(BindTest, OpenDimsComeFromShapesThenOtherInputsThenAreOne) {
  EXPECT_EQ(Types({}, {}), "1x4xf32 1xi64");
  EXPECT_EQ(Types({}, {"x=3x4"}), "3x4xf32 3xi64");
  EXPECT_EQ(Types({}, {"mask=5"}), "5x4xf32 5xi64");
  EXPECT_EQ(Types({"mask=2xi64=1"}, {}), "2x4xf32 2xi64");
}

TEST_F(BindTest, MissingInputsAreAnErrorBesideGivenOnes) {
  const auto bind = [&](const std::vector<std::string>& specs,
                        MissingInputs missing) {
    RandomTensors random(1);
    const StatusOr<std::vector<vm::Tensor>> inputs =
        BindInputs(*module_, specs, {}, random, {}, &missing);
    std::string text(inputs.status().message());
    EXPECT_EQ(text.empty(), !IsCommandLineError(inputs.status()));
    for (const std::string& made : missing.made) text += "{" + made + "}";
    return text;
  };
  EXPECT_EQ(bind({"mask=2xi64=1"}, {}),
            "1 of 2 inputs is not given: x: Nx4xf32; expected "
            "--input=x=Nx4xf32=VALUE or --input=x=@FILE.npy, or "
            "--random-inputs");
  EXPECT_EQ(bind({"mask=2xi64=1"}, {.may_be_random = true, .made = {}}),
            "{x: 2x4xf32}");
  EXPECT_EQ(bind({}, {}), "{x: 1x4xf32}{mask: 1xi64}");
  EXPECT_EQ(bind({"2x4xf32=1", "2xi64=1"}, {}), "");
  EXPECT_EQ(bind({"2x4xf32", "2xi64"}, {}), "") << "random as it says";
}

TEST_F(BindTest, NamesAndOrder) {
  EXPECT_EQ(Types({"mask=2xi64=1", "2x4xf32=1"}, {}), "2x4xf32 2xi64");
  EXPECT_EQ(Types({"2x4xf32=1", "2xi64=1"}, {}), "2x4xf32 2xi64");
  // BindInputs accepts a tensor of a wrong type: the session checks types,
  // because it knows what the program needs.
  EXPECT_EQ(Types({"7xf64=1"}, {}), "7xf64 7xi64");
}

TEST_F(BindTest, WhatNobodyGivesIsLimited) {
  const auto bind = [&](const std::vector<std::string>& specs) {
    RandomTensors random(1);
    return std::string(BindInputs(*module_, specs,
                                  {*ParseShapeSpec("x=1000x4")}, random,
                                  {.max_memory = "20k"})
                           .status()
                           .message());
  };
  EXPECT_EQ(bind({}),
            "input 'mask': expected at most 4480 more bytes of inputs that are "
            "not given (--max-memory), found 8000");
  EXPECT_EQ(bind({"mask=1000xi64=1"}), "");
}

TEST_F(BindTest, ErrorsListWhatThereIs) {
  const std::string there = "the module has x: Nx4xf32, mask: Nxi64";
  EXPECT_EQ(Types({"z=1xf32=1"}, {}), "no input 'z'; " + there);
  EXPECT_EQ(Types({"x=1x4xf32=1", "x=1x4xf32=1"}, {}),
            "input 'x' is given twice; " + there);
  EXPECT_EQ(Types({"1x4xf32", "1xi64", "1xi64"}, {}),
            "more than 2 inputs; " + there);
  EXPECT_EQ(Types({}, {"x=3x5"}),
            "--shape of input 'x': expected Nx4xf32, found 3x5; only dims "
            "with names are open");
}

TEST_F(BindTest, AReaderMakesValuesFromFilesThatOnlyItKnows) {
  std::vector<std::string> calls;
  const InputReader reader =
      [&](const std::string& path,
          size_t number) -> std::optional<StatusOr<vm::Tensor>> {
    calls.push_back(path + " " + std::to_string(number));
    if (path == "bad.png") return InvalidArgumentError("bad.png: no picture");
    if (!path.ends_with(".png")) return std::nullopt;
    return vm::Tensor::Allocate(DType::kF32, {2, 4});
  };
  const auto bind = [&](const std::vector<std::string>& specs) {
    RandomTensors random(1);
    const StatusOr<std::vector<vm::Tensor>> inputs =
        BindInputs(*module_, specs, {}, random, {}, nullptr, reader);
    return inputs.ok() ? (*inputs)[0].TypeText() + " " + (*inputs)[1].TypeText()
                       : std::string(inputs.status().message());
  };
  EXPECT_EQ(bind({"mask=2xi64=1", "@a.png"}), "2x4xf32 2xi64");
  EXPECT_EQ(bind({"x=@b.png"}), "2x4xf32 2xi64");
  EXPECT_EQ(bind({"@bad.png"}), "bad.png: no picture");
  // A specification with a type reads a file as raw elements, even if its name
  // ends in .npy or .pb.
  EXPECT_NE(bind({"x=2x4xf32=@no.png"}).find("no.png"), std::string::npos);
  EXPECT_NE(bind({"@no.npy"}).find("no.npy"), std::string::npos);
  EXPECT_EQ(calls, (std::vector<std::string>{"a.png 0", "b.png 0", "bad.png 0",
                                             "no.npy 0"}));
}

}  // namespace
}  // namespace ember::tools
