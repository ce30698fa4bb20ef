// Tests the back end for C: the kernel images that it makes, and that a process
// refuses to run them, because they are source texts.
#include "jit/c/backend.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/kernel/build_image.h"
#include "jit/kernel/build_kernel.h"
#include "tensor/text/text.h"
#include "vm/format/kernel_image_text.h"

namespace ember::jit {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kRelu[] = R"(
dispatch @relu<N>(%x: f32[N, 40]) -> (%y: f32[N, 40]) {
  %y[i, j] = max(%x[i, j], 0.0)
})";

// An object compiler that fails each call, because the back end for C must not
// need one.
class NoCompiler final : public ObjectCompiler {
 public:
  const std::string& identity() const override { return identity_; }
  StatusOr<std::string> CompileToObject(const loops::LoopNest&,
                                        const CompileOptions&,
                                        CompiledNest*) override {
    return InternalError("C needs no other compiler");
  }
  StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest&,
                                         const CompileOptions&,
                                         CompiledNest*) override {
    return InternalError("C needs no other compiler");
  }

 private:
  std::string identity_;
};

class CBackendTest : public ::testing::Test {
 protected:
  CBackendTest() {
    StatusOr<tensor::Dispatch> dispatch = tensor::Parse(kRelu);
    EXPECT_TRUE(dispatch.ok()) << dispatch.status().message();
    dispatch_ = *std::move(dispatch);
    request_.dispatch = &dispatch_;
    request_.constant_inputs = {false};
    request_.constant_data = {{}};
    request_.target = "c11";
    request_.tier = 2;
  }

  tensor::Dispatch dispatch_;
  vm::KernelRequest request_;
  NoCompiler compiler_;
};

TEST_F(CBackendTest, MakesImagesOfFunctions) {
  const auto image = BuildImage(request_, compiler_, {});
  ASSERT_TRUE(image.ok()) << image.status().message();
  EXPECT_EQ(image->code.format, vm::KernelFormat::kCSource);
  ASSERT_EQ(image->code.device.size(), image->phases.size());
  const std::string functions(image->code.bytes.begin(),
                              image->code.bytes.end());
  for (const vm::DevicePhase& phase : image->code.device) {
    EXPECT_THAT(phase.entry_point, StartsWith("ember_relu_"));
    EXPECT_THAT(functions, HasSubstr("int32_t " + phase.entry_point + "("));
  }
  const auto parsed = vm::ParseKernelImage(vm::PrintKernelImage(*image));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(*parsed == *image);
}

TEST_F(CBackendTest, NobodyRunsThem) {
  KernelReport report;
  const auto kernel =
      BuildKernel(request_, compiler_, {.keeps_code_text = true}, &report);
  EXPECT_EQ(kernel.status().code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(kernel.status().message()), StartsWith("target: "));
  ASSERT_EQ(report.code.size(), 1u);
  EXPECT_EQ(report.code[0].extension, ".c");
  EXPECT_THAT(report.code[0].text, StartsWith("/* Written by Ember."));
}

}  // namespace
}  // namespace ember::jit
