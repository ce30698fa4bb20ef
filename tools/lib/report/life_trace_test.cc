#include "tools/lib/report/life_trace.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "tools/lib/report/testing/chrome_trace_rules.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The recorded life of a session of the sample "static", which has two
// dispatches (gemm and bias_relu), with three runs.
class LifeTraceTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto module = *vm::Module::FromDefinition(vm::SampleNamed("static"));
    tiering_ =
        std::make_shared<vm::Tiering>(module, nullptr, vm::Tiering::Options{});
    session_ = *vm::Session::Create(
        module, {.device = *hal::CreateCpuDevice({.threads = 1}),
                 .tiering = tiering_,
                 .trace = true});
    const vm::Tensor x = *vm::Tensor::Allocate(DType::kF32, {2, 3});
    std::vector<vm::Tensor> results;
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE(RunOnce(*session_, {&x, 1}, &results, life_).ok());
      TakeCalls(*session_, life_);
    }
    life_.model = "m.onnx";
    life_.inputs = "x: 2x3xf32";
    life_.load_begin_ns = life_.runs[0].begin_ns - 2000;
    life_.load_end_ns = life_.runs[0].begin_ns - 1000;
  }

  std::string Trace() const {
    return PrintChromeTrace(LifeTrace(life_, *session_, tiering_.get()));
  }

  // Adds a kernel of the first dispatch, whose compilation lies within run 1.
  MadeKernel& AddKernel() {
    MadeKernel& kernel = life_.kernels.emplace_back();
    kernel.dispatch = "gemm";
    kernel.tier = 2;
    kernel.slot = tiering_->slot(0).get();
    kernel.requested_ns = kernel.begin_ns = life_.runs[1].begin_ns;
    kernel.end_ns = life_.runs[1].end_ns;
    kernel.schedule_ms = kernel.optimize_ms = kernel.codegen_ms =
        kernel.pack_ms = 1e-6;
    return kernel;
  }

  std::shared_ptr<vm::Tiering> tiering_;
  std::unique_ptr<vm::Session> session_;
  SessionLife life_;
};

TEST_F(LifeTraceTest, HasLoadingAndEachRunWithItsShapes) {
  const std::string text = Trace();
  EXPECT_THAT(ChromeTraceProblems(text), IsEmpty()) << text;
  EXPECT_THAT(text, HasSubstr("\"name\": \"load the module\", \"ts\": 0.000, "
                              "\"dur\": 1.000"));
  EXPECT_THAT(text, HasSubstr("\"name\": \"run 1\""));
  EXPECT_THAT(text, HasSubstr("\"name\": \"run 3\""));
  EXPECT_THAT(text, HasSubstr("\"args\": {\"inputs\": \"x: 2x3xf32\"}"));
  EXPECT_THAT(text, HasSubstr("\"name\": \"memory of the session, MB\""));
  EXPECT_EQ(life_.calls.size(), 6u);
}

TEST_F(LifeTraceTest, AnArrowLeadsFromAKernelToItsFirstCall) {
  AddKernel();
  AddKernel().declined = "no-proof";
  const auto calls = FirstCalls(life_, *session_, tiering_.get());
  ASSERT_TRUE(calls[0].has_value());
  EXPECT_EQ(*calls[0], 4u);  // index of the first call in run 3
  EXPECT_FALSE(calls[1].has_value());
  life_.kernels.pop_back();
  const std::string text = Trace();
  EXPECT_THAT(ChromeTraceProblems(text), IsEmpty()) << text;
  EXPECT_THAT(text, HasSubstr("\"ph\": \"s\""));
  EXPECT_THAT(text, HasSubstr("{\"tier 1\": 0, \"tier 2\": 1}"));
  EXPECT_THAT(text, HasSubstr("{\"requests\": 1}"));
  EXPECT_THAT(text, HasSubstr("\"name\": \"LLVM or driver, thread 1\""));
}

TEST_F(LifeTraceTest, TheCompileWorkerIsATrack) {
  AddKernel().is_in_worker = true;
  EXPECT_THAT(Trace(), HasSubstr("\"name\": \"compile worker, for thread 1\""));
}

}  // namespace
}  // namespace ember::tools
