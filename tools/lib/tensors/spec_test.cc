#include "tools/lib/tensors/spec.h"

#include "base/file.h"
#include "gtest/gtest.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

class TensorSpecTest : public ::testing::Test {
 protected:
  NamedTensor Read(std::string_view spec) {
    StatusOr<NamedTensor> tensor = ReadTensorSpec(spec, random_);
    EXPECT_TRUE(tensor.ok()) << tensor.status().ToString();
    return tensor.ok() ? *tensor : NamedTensor();
  }
  std::string Error(std::string_view spec) {
    const StatusOr<NamedTensor> tensor = ReadTensorSpec(spec, random_);
    return tensor.ok() ? "" : std::string(tensor.status().message());
  }
  std::string Path(const std::string& name) {
    return ::testing::TempDir() + "/" + name;
  }

  RandomTensors random_{7};
};

TEST_F(TensorSpecTest, Values) {
  const NamedTensor x = Read("2x3xf32=1,2.5,-3,4,1e3,inf");
  EXPECT_FALSE(x.name.has_value());
  EXPECT_EQ(x.tensor.TypeText(), "2x3xf32");
  EXPECT_EQ(ElementText(x.tensor, 1), "2.5");
  EXPECT_EQ(ElementText(x.tensor, 5), "inf");
}

TEST_F(TensorSpecTest, NameOneValueForAllAndScalars) {
  const NamedTensor mask = Read("mask/in:0=1x4xi64=7");
  EXPECT_EQ(mask.name, "mask/in:0");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(IntegerElement(mask.tensor, i), 7);
  const NamedTensor scalar = Read("bool=true");
  EXPECT_EQ(scalar.tensor.TypeText(), "bool");
  EXPECT_EQ(Read("0xf32=").tensor.element_count(), 0);
}

TEST_F(TensorSpecTest, TypeAloneIsRandomInRange) {
  const NamedTensor x = Read("100xf32");
  for (float value : x.tensor.elements<float>()) {
    EXPECT_GE(value, -1.0f);
    EXPECT_LT(value, 1.0f);
  }
  EXPECT_NE(x.tensor.elements<float>()[0], x.tensor.elements<float>()[1]);
}

TEST_F(TensorSpecTest, Files) {
  vm::Tensor tensor = *vm::Tensor::Allocate(DType::kI32, {2, 2});
  for (int i = 0; i < 4; ++i) tensor.elements<int32_t>()[i] = i * i;
  for (const char* name :
       {"spec.npy", "spec.pb", "spec.bin", "spec.raw", "spec"}) {
    const std::string path = Path(name);
    ASSERT_TRUE(WriteTensorFile(path, "x", tensor).ok());
    const std::string type =
        name == std::string("spec.npy") || name == std::string("spec.pb")
            ? ""
            : "2x2xi32=";
    const NamedTensor read = Read("x=" + type + "@" + path);
    EXPECT_EQ(read.name, "x");
    EXPECT_EQ(read.tensor.TypeText(), "2x2xi32");
    EXPECT_EQ(ElementText(read.tensor, 3), "9");
  }
}

TEST_F(TensorSpecTest, UnknownEndingsAreNotWritten) {
  const vm::Tensor tensor = *vm::Tensor::Allocate(DType::kI32, {2, 2});
  const Status status = WriteTensorFile(Path("spec.json"), "x", tensor);
  EXPECT_EQ(status.message(),
            "expected a file that ends in .npy, .pb, or for raw elements in "
            ".bin or .raw, found '" +
                Path("spec.json") + "'");
  EXPECT_FALSE(ReadFile(Path("spec.json")).ok());
  EXPECT_TRUE(CheckTensorFile("a.b/c").ok()) << "the folder has a point";
}

TEST_F(TensorSpecTest, NamesOfTypesInOtherProgramsAreKnown) {
  EXPECT_EQ(Error("1x3xfloat32=1"),
            "'1x3xfloat32=1': expected a TYPE like 2x3xf32; did you mean "
            "1x3xf32?");
  EXPECT_EQ(Error("x=2xint64=1"),
            "'x=2xint64=1': expected TYPE=VALUES, TYPE=@file, @x.npy or @x.pb "
            "with a TYPE like 2x3xf32; did you mean 2xi64?");
  EXPECT_EQ(Error("double=1"),
            "'double=1': expected a TYPE like 2x3xf32; did you mean f64?");
}

TEST_F(TensorSpecTest, ErrorsAreOneLine) {
  EXPECT_EQ(Error("2x3xf32=1,2"),
            "'2x3xf32=1,2': expected 6 values, or one for all, found 2");
  EXPECT_EQ(Error("f32=1,2"), "'f32=1,2': expected 1 values, found 2");
  EXPECT_EQ(Error("2xf32=1,a"),
            "'2xf32=1,a': expected a value of type f32, found 'a'");
  EXPECT_EQ(Error("2x3"),
            "'2x3': expected TYPE=VALUES, TYPE=@file, @x.npy or @x.pb with a "
            "TYPE like 2x3xf32");
  EXPECT_EQ(
      Error("@x.bin"),
      "'@x.bin': expected a file that ends in .npy or .pb, or in vm-run a "
      "picture or .wav, found 'x.bin' (raw data needs its "
      "type: 2x3xf32=@x.bin)");
  ASSERT_TRUE(WriteFileAtomically(Path("short.bin"), "123").ok());
  EXPECT_EQ(Error("1xf32=@" + Path("short.bin")),
            "'1xf32=@" + Path("short.bin") + "': " + Path("short.bin") +
                ": expected 4 bytes for 1xf32, found 3");
}

TEST_F(TensorSpecTest, ShapesAndPaths) {
  EXPECT_EQ(ParseShapeSpec("x=1x?x3")->dims,
            (std::vector<std::optional<int64_t>>{1, std::nullopt, 3}));
  EXPECT_TRUE(ParseShapeSpec("x=")->dims.empty());
  EXPECT_EQ(ParseShapeSpec("1x3").status().message(),
            "'1x3': expected NAME=1x3x224x224 or NAME=1x3xi64");
  EXPECT_EQ(ParseShapeSpec("x=1xN").status().message(),
            "'x=1xN': expected NAME=1x3x224x224 or NAME=1x3xi64");
  EXPECT_EQ(ParseShapeSpec("x=1x?xi64")->dims.size(), 2u);
  EXPECT_EQ(ParseShapeSpec("x=1x?xi64")->type, DType::kI64);
  EXPECT_EQ(ParseShapeSpec("x=bool")->type, DType::kBool);
  EXPECT_TRUE(ParseShapeSpec("x=bool")->dims.empty());
  EXPECT_EQ(ParseShapeSpec("x=3")->type, std::nullopt);
  EXPECT_EQ(ParsePathSpec("@a.npy")->path, "a.npy");
  EXPECT_EQ(ParsePathSpec("y=@a.npy")->name, "y");
  EXPECT_EQ(ParsePathSpec("a.npy").status().message(),
            "'a.npy': expected [NAME=]@FILE");
  EXPECT_EQ(ParseShapeFlags({"x=1x3", "y="})->size(), 2u);
  EXPECT_EQ(ParseShapeFlags({"x=1x3", "1x3"}).status().message(),
            "--shape: '1x3': expected NAME=1x3x224x224 or NAME=1x3xi64");
}

TEST_F(TensorSpecTest, Strings) {
  RandomTensors random(0);
  const auto strings = [&](const char* spec) {
    const auto read = ReadTensorSpec(spec, random);
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    return *read->tensor.strings;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(strings("x=2xstring=a,b"), (Texts{"a", "b"}));
  EXPECT_EQ(strings("2xstring=a\\,b,c\\\\"), (Texts{"a,b", "c\\"}));
  EXPECT_EQ(strings("2xstring=@"), (Texts{"@", "@"}));
  EXPECT_EQ(strings("string="), Texts{""});
  EXPECT_EQ(strings("0xstring="), Texts{});
  EXPECT_FALSE(ReadTensorSpec("3xstring=a,b", random).ok());
}

}  // namespace
}  // namespace ember::tools
