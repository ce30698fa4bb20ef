#include "tools/lib/tensors/elements.h"

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

TEST(ElementsTest, EveryTypeReadsBackWhatItPrints) {
  for (int raw = 0; raw < kDTypeCount; ++raw) {
    const DType type = static_cast<DType>(raw);
    vm::Tensor tensor = *vm::Tensor::Allocate(type, {1});
    for (const char* text : {"0", "1", "100", "-3", "0.5", "true", "inf"}) {
      if (!ParseElement(text, tensor, 0).ok()) continue;
      const std::string printed = ElementText(tensor, 0);
      vm::Tensor again = *vm::Tensor::Allocate(type, {1});
      ASSERT_TRUE(ParseElement(printed, again, 0).ok())
          << DTypeName(type) << " " << printed;
      EXPECT_EQ(FloatElement(again, 0), FloatElement(tensor, 0))
          << DTypeName(type) << " " << text;
    }
  }
}

TEST(ElementsTest, ValuesOutOfRangeAreErrors) {
  const auto error = [](DType type, const char* text) {
    vm::Tensor tensor = *vm::Tensor::Allocate(type, {});
    const Status status = ParseElement(text, tensor, 0);
    return std::string(status.message());
  };
  EXPECT_EQ(error(DType::kI8, "127"), "");
  EXPECT_EQ(error(DType::kI8, "128"),
            "expected a value of type i8, found '128'");
  EXPECT_EQ(error(DType::kU8, "-1"), "expected a value of type u8, found '-1'");
  EXPECT_EQ(error(DType::kBool, "2"),
            "expected a value of type bool, found '2'");
  EXPECT_EQ(error(DType::kF32, ""), "expected a value of type f32, found ''");
  EXPECT_EQ(error(DType::kF32, "1.5x"),
            "expected a value of type f32, found '1.5x'");
  EXPECT_EQ(error(DType::kU64, "18446744073709551615"), "");
}

TEST(ElementsTest, IndexText) {
  const std::vector<int64_t> dims = {2, 3, 4};
  EXPECT_EQ(IndexText(dims, 0), "[0, 0, 0]");
  EXPECT_EQ(IndexText(dims, 23), "[1, 2, 3]");
  EXPECT_EQ(IndexText({}, 0), "[]");
}

}  // namespace
}  // namespace ember::tools
