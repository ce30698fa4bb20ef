#include "tools/lib/prejit/kernel_shapes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensor/open_parameter.h"

namespace ember::tools {
namespace {

using testing::ElementsAre;
using Shape = std::vector<int64_t>;

constexpr int64_t kOpen = tensor::kOpenParameter;

vm::DispatchProfile ProfileOf(const std::vector<Shape>& shapes) {
  vm::DispatchProfile profile;
  for (const Shape& shape : shapes) profile.shapes.push_back({shape, 1, 1});
  return profile;
}

TEST(KernelShapes, TokensOfADecoderShareAKernel) {
  EXPECT_THAT(
      ShapesOfKernels(ProfileOf({{7, 0}, {1, 7}, {1, 8}, {1, 9}, {1, 10}})),
      ElementsAre(Shape{7, 0}, Shape{1, kOpen}));
}

TEST(KernelShapes, FewShapesHaveTheirOwn) {
  EXPECT_THAT(ShapesOfKernels(ProfileOf({{7, 0}, {1, 7}, {1, 8}})),
              ElementsAre(Shape{7, 0}, Shape{1, 7}, Shape{1, 8}));
  EXPECT_THAT(ShapesOfKernels(ProfileOf({{1}, {2}, {3}})),
              ElementsAre(Shape{1}, Shape{2}, Shape{3}));
  EXPECT_THAT(ShapesOfKernels(ProfileOf({{}})), ElementsAre());
}

}  // namespace
}  // namespace ember::tools
