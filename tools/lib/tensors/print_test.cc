#include "tools/lib/tensors/print.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

vm::Tensor Counting(DType type, std::vector<int64_t> dims) {
  vm::Tensor tensor = *vm::Tensor::Allocate(type, std::move(dims));
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    EXPECT_TRUE(ParseElement(std::to_string(i), tensor, i).ok());
  }
  return tensor;
}

TEST(TensorPrintTest, FullShowsEveryElement) {
  EXPECT_EQ(PrintTensor(Counting(DType::kI64, {})), "i64 = 0");
  EXPECT_EQ(PrintTensor(Counting(DType::kF32, {2, 3})),
            "2x3xf32 = [[0, 1, 2],\n [3, 4, 5]]");
  EXPECT_EQ(PrintTensor(Counting(DType::kF32, {0, 3})), "0x3xf32 = []");
}

TEST(TensorPrintTest, StringsInQuotes) {
  const vm::Tensor tensor = *vm::Tensor::OfStrings({2, 1}, {"a \"b\"\n", "é"});
  EXPECT_EQ(PrintTensor(tensor),
            "2x1xi64 as string = [[\"a \\\"b\\\"\\n\"],\n [\"é\"]]");
  EXPECT_EQ(DescribeTensor(tensor),
            "2x1xi64 as string: \"a \\\"b\\\"\\n\" \"é\"");
}

TEST(TensorPrintTest, SummaryIsOneLine) {
  EXPECT_EQ(DescribeTensor(Counting(DType::kF16, {3})), "3xf16: 0 1 2");
  vm::Tensor tensor = Counting(DType::kF32, {2, 4});
  EXPECT_EQ(DescribeTensor(tensor),
            "2x4xf32, from 0 to 7, mean 3.5: 0 1 2 3 4 5 …");
  tensor.elements<float>()[0] = NAN;
  EXPECT_EQ(DescribeTensor(tensor),
            "2x4xf32, from 1 to 7, mean 4, 1 of 8 not finite: nan 1 2 3 4 5 …");
}

}  // namespace
}  // namespace ember::tools
