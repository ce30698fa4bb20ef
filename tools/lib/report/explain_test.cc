#include "tools/lib/report/explain.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "tools/lib/report/dispatch_measures.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

class DecliningProvider : public vm::KernelProvider {
 public:
  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    if (request.dispatch->name == "gemm")
      slot->Decline("UNIMPLEMENTED: no-proof: an index cannot be: proved");
  }
};

std::string Explain(const std::shared_ptr<const vm::Module>& module,
                    const std::shared_ptr<vm::Tiering>& tiering,
                    size_t rows = 30) {
  const auto session = *vm::Session::Create(
      module, {.device = *hal::CreateCpuDevice({.threads = 1}),
               .tiering = tiering,
               .trace = true});
  const vm::Tensor x = *vm::Tensor::Allocate(DType::kF32, {2, 3});
  std::vector<vm::Tensor> results;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(session->Run({&x, 1}, &results).ok());
  jit::MachineLimits limits;
  limits.gflops = 1e-3;
  limits.reads = {{1 << 16, 1e-3}};
  return ExplainText(*session, tiering.get(), limits, rows);
}

TEST(ExplainTest, WorkAndBoundsOfEachDispatch) {
  const auto module = *vm::Module::FromDefinition(vm::SampleNamed("static"));
  const std::string text = Explain(module, nullptr);
  EXPECT_THAT(text, HasSubstr("GFLOP/s of f32 multiply-adds; reads of 64 KiB"));
  // The dispatch does 24 operations, and reads and writes 4 * (6 + 6 + 4)
  // bytes. On this machine the bytes take more time than the operations.
  EXPECT_THAT(text, HasSubstr("| memory |  0.00 | 0.000 | 0    | gemm      | "
                              "2x2xf32, sum of 3 | Gemm_0 + Relu_1 |"));
  EXPECT_THAT(text, HasSubstr("| bias_relu | 2x2xf32 "));
  EXPECT_THAT(text, HasSubstr("|     3 |"));
  // The constants of the model are a 3x2 matrix and a bias of 2 numbers. The
  // second dispatch reads and writes 4 * (4 + 2 + 4) bytes.
  EXPECT_THAT(text, HasSubstr("moves 0.000104 MB at least, of which 3.2e-05 MB "
                              "are constants; the module has constants of "
                              "3.2e-05 MB."));
}

TEST(ExplainTest, WhyThereIsNoKernel) {
  const auto module = *vm::Module::FromDefinition(vm::SampleNamed("static"));
  const std::string text =
      Explain(module, std::make_shared<vm::Tiering>(
                          module, std::make_shared<DecliningProvider>(),
                          vm::Tiering::Eager(2)));
  EXPECT_THAT(text, HasSubstr("| 0: no-proof      | gemm "));
  EXPECT_THAT(text, HasSubstr("| 0: no kernel yet | bias_relu "));
}

TEST(ExplainTest, SlowestDispatchesFirst) {
  const auto module = *vm::Module::FromDefinition(vm::SampleNamed("static"));
  const std::string text = Explain(module, nullptr, 1);
  const bool has_gemm = text.find("| gemm ") != std::string::npos;
  const bool has_other = text.find("| bias_relu ") != std::string::npos;
  EXPECT_NE(has_gemm, has_other) << text;
  EXPECT_THAT(text, HasSubstr("1 more dispatches took"));
  EXPECT_THAT(text, HasSubstr("(--profile-rows=2 shows them)"));
}

TEST(ExplainTest, NamesOfReasons) {
  EXPECT_EQ(ReasonName("UNIMPLEMENTED: no-proof: an index: x"), "no-proof");
  EXPECT_EQ(ReasonName("UNIMPLEMENTED: loops @d0_remainder: float-remainder: "
                       "remainders of floats"),
            "float-remainder");
  EXPECT_EQ(ReasonName("INTERNAL: odd"), "INTERNAL: odd");
}

}  // namespace
}  // namespace ember::tools
