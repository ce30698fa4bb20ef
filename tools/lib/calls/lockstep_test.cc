// Tests Lockstep, on which vm-diff is based, with kernels that the test makes
// wrong.
#include "tools/lib/calls/lockstep.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "tools/lib/calls/module_trace.h"
#include "tools/lib/calls/side.h"
#include "tools/lib/testing/faulty_kernel.h"
#include "tools/lib/testing/interpreting_kernel.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Provides kernels that are correct, except for a wrong one for the dispatch
// `wrong`, and none for the dispatch `declined`.
class FakeJit : public jit::Jit {
 public:
  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    requests.push_back(request);
    const std::string& name = request.dispatch->name;
    if (name == declined) return slot->Decline("no luck");
    std::unique_ptr<vm::Kernel> kernel =
        std::make_unique<InterpretingKernel>(*request.dispatch, request.tier);
    if (name == wrong) {
      kernel = std::make_unique<FaultyKernel>(
          std::move(kernel), [](const vm::KernelCall& call) {
            static_cast<float*>(call.buffers.back())[0] += 1;
          });
    }
    slot->Install(std::move(kernel));
  }
  void Wait() override {}
  void Stop() override {}
  bool is_busy() const override { return false; }
  jit::JitTotals totals() const override { return {}; }
  std::string cache_problem() const override { return ""; }

  std::string wrong, declined;
  std::vector<vm::KernelRequest> requests;
};

class LockstepTest : public testing::Test {
 protected:
  LockstepTest() {
    x_ = *vm::Tensor::Allocate(DType::kF32, {1, 3});
    const float values[] = {2, 1, 2};
    std::copy(std::begin(values), std::end(values),
              x_.elements<float>().begin());
  }

  std::unique_ptr<Lockstep> Start(int a, int b) {
    return *Lockstep::Create(
        module_,
        {.device = device_, .a = {.tier = a}, .b = {.tier = b}, .jit = jit_});
  }
  static std::vector<float> Values(
      const StatusOr<std::vector<vm::Tensor>>& results) {
    EXPECT_TRUE(results.ok()) << results.status().ToString();
    const auto y = (*results)[0].elements<float>();
    return {y.begin(), y.end()};
  }

  vm::Tensor x_;
  std::shared_ptr<hal::Device> device_ = *hal::CreateCpuDevice({.threads = 1});
  std::shared_ptr<const vm::Module> module_ =
      *vm::Module::FromDefinition(*vm::ParseModule(kGemmReluModule));
  std::shared_ptr<FakeJit> jit_ = std::make_shared<FakeJit>();
};

TEST_F(LockstepTest, EqualSides) {
  const auto lockstep = Start(0, 2);
  EXPECT_THAT(Values(lockstep->Run({&x_, 1})), ElementsAre(0.625f, 0));
  EXPECT_THAT(Values(lockstep->RunB({&x_, 1})), ElementsAre(0.625f, 0));
  EXPECT_EQ(lockstep->report().calls, 2);
  EXPECT_EQ(lockstep->report().compared, 2);
  EXPECT_EQ(lockstep->report().differing, 0);
  ASSERT_EQ(jit_->requests.size(), 2u) << "RunB uses the same kernels";
  EXPECT_EQ(jit_->requests[0].tier, 2);
  EXPECT_THAT(jit_->requests[0].parameters, ElementsAre(1));
}

// Side a's result of the first dispatch is the operand of the second one on
// both sides. So the wrong kernel of side b causes one difference, not two.
TEST_F(LockstepTest, ErrorsDoNotAddUp) {
  jit_->wrong = "gemm";
  const auto lockstep = Start(0, 1);
  EXPECT_THAT(Values(lockstep->Run({&x_, 1})), ElementsAre(0.625f, 0));
  EXPECT_THAT(Values(lockstep->RunB({&x_, 1})), ElementsAre(1.625f, 0));
  const LockstepReport& report = lockstep->report();
  EXPECT_EQ(report.differing, 1);
  ASSERT_EQ(report.differences.size(), 1u);
  EXPECT_EQ(report.differences[0].call, 1);
  EXPECT_EQ(report.differences[0].dispatch, "gemm");
  EXPECT_EQ(report.differences[0].origin, "Gemm_0");
  EXPECT_EQ(report.differences[0].parameters, "N=1");
  EXPECT_EQ(report.differences[0].difference,
            "%y[0, 0]: got 1.5, want 0.5; 1 of 2 elements differ, by up to 1");
  EXPECT_THAT(jit_->requests[0].parameters, IsEmpty()) << "tier 1: all shapes";
}

// This dispatch computes in place, so side a overwrites the operand. Side b
// must get the operand's former value.
TEST_F(LockstepTest, DispatchesInPlace) {
  jit_->wrong = "bias_relu";
  const auto lockstep = Start(0, 2);
  EXPECT_THAT(Values(lockstep->Run({&x_, 1})), ElementsAre(0.625f, 0));
  ASSERT_EQ(lockstep->report().differences.size(), 1u);
  EXPECT_EQ(lockstep->report().differences[0].call, 2);
  EXPECT_EQ(
      lockstep->report().differences[0].difference,
      "%y[0, 0]: got 1.625, want 0.625; 1 of 2 elements differ, by up to 1");
}

TEST_F(LockstepTest, WhatIsNotCompiledIsNotCompared) {
  jit_->declined = "bias_relu";
  const auto lockstep = Start(0, 2);
  EXPECT_THAT(Values(lockstep->Run({&x_, 1})), ElementsAre(0.625f, 0));
  EXPECT_EQ(lockstep->report().calls, 2);
  EXPECT_EQ(lockstep->report().compared, 1);
  EXPECT_THAT(lockstep->report().declined, ElementsAre("@bias_relu: no luck"));
}

// The second module numbers its dispatches differently, has one more dispatch,
// and has another constant. The traces must pair the dispatches all the same.
TEST_F(LockstepTest, ModulesByTheDispatchesThatTheyShare) {
  std::string text(kGemmReluModule);
  const auto replace = [&text](std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("@gemm", "@d3_gemm");
  replace("0.125, -0.5", "0.25, -0.5");
  const auto one = *vm::Module::FromDefinition(*vm::ParseModule(text));
  replace("@d3_gemm", "@d4_gemm");
  replace("0.25, -0.5", "0.125, -0.5");
  replace("  i3 = integer 2\n",
          "  dispatch @bias_relu(i0; b1, b3 -> b1)\n  i3 = integer 2\n");
  const auto other = *vm::Module::FromDefinition(*vm::ParseModule(text));
  const auto a = ModuleTrace::Record(one, {}, nullptr, device_, {&x_, 1});
  const auto b = ModuleTrace::Record(other, {}, nullptr, device_, {&x_, 1});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->calls.size(), 2u);
  EXPECT_EQ(b->calls.size(), 3u);
  const TraceComparison comparison = CompareTraces(*b, *a, {});
  EXPECT_EQ(comparison.compared, 2);
  EXPECT_EQ(comparison.without_partner, 1);
  EXPECT_EQ(comparison.differing, 1);
  ASSERT_EQ(comparison.differences.size(), 1u);
  EXPECT_EQ(comparison.differences[0].call, 2);
  EXPECT_EQ(
      comparison.differences[0].difference,
      "%y[0, 0]: got 0.625, want 0.75; 1 of 2 elements differ, by up to 0.125");
}

TEST(SideTest, TierAndDevice) {
  EXPECT_EQ(ParseSide("-a", "tier:1")->tier, 1);
  EXPECT_EQ(ParseSide("-a", "tier:2,device:cpu")->tier, 2);
  EXPECT_EQ(ParseSide("-a", "device:null")->device, "null");
  EXPECT_EQ(ParseSide("-a", "device:null")->tier, 2);
  EXPECT_EQ(ParseSide("-a", "device:null,tier:1")->tier, 1);
  EXPECT_EQ(ParseSide("-a", "device:null:3")->device, "null:3");
  EXPECT_EQ(ParseSide("-a", "device:cpu")->tier, 0);
  for (const char* text : {"", "tier:3", "tier:0,", "cpu", "device:gpu"}) {
    const auto side = ParseSide("-a", text);
    ASSERT_FALSE(side.ok()) << text;
    EXPECT_EQ(side.status().message().find(
                  "-a: expected one of tier:0, tier:1, tier:2, device:"),
              0u)
        << side.status().ToString();
  }
}

}  // namespace
}  // namespace ember::tools
