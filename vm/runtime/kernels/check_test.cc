// Tests the checks of kernels' first calls: a kernel's results may be used only
// after a check has found the kernel right.
#include "vm/runtime/kernels/check.h"

#include <cmath>
#include <cstring>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/isa/text.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

// A kernel of y = x + bias for the sample "loop". It is wrong on purpose: it
// adds `error` to results above a limit.
class BiasKernel : public HostKernel {
 public:
  explicit BiasKernel(float error, float limit = -INFINITY, int tier = 2)
      : error_(error), limit_(limit), tier_(tier) {}
  int tier() const override { return tier_; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const KernelCall& call) const override {
    ++calls;
    if (fails) return InvalidArgumentError("an index is out of range");
    const float* x = static_cast<const float*>(call.buffers[0]);
    const float* bias = static_cast<const float*>(call.buffers[1]);
    float* y = static_cast<float*>(call.buffers[2]);
    for (int64_t i = 0; i < 4 * call.parameters[0]; ++i)
      y[i] = x[i] + bias[i % 4] + (x[i] > limit_ ? error_ : 0);
    return OkStatus();
  }
  std::string Describe() const override { return "biased"; }

  mutable int calls = 0;
  bool fails = false;

 private:
  const float error_, limit_;
  const int tier_;
};

class ExactJudge : public KernelJudge {
 public:
  KernelVerdict Judge(const ComparedCall& call) override {
    ++calls;
    last_shared.assign(call.shared.begin(), call.shared.end());
    if (call.got_status.ok() != call.want_status.ok())
      return {.wrong = "an error"};
    // The outputs have 16 bytes per row in the sample "loop", and 16 bytes in
    // all (two by two elements) in the sample "static", which has no
    // parameters.
    const int64_t rows = call.parameters.empty() ? 1 : call.parameters[0];
    const auto bytes = static_cast<size_t>(16 * rows);
    last_input = static_cast<const float*>(call.inputs[0])[0];
    last_got = static_cast<const float*>(call.got[0])[0];
    const bool is_equal = std::memcmp(call.want[0], call.got[0], bytes) == 0;
    return {.wrong = is_equal ? "" : "it differs",
            .tells_little = tells_little};
  }
  bool StoresAll(const tensor::Dispatch&, std::span<const int64_t>,
                 size_t) override {
    return stores_all;
  }
  bool tells_little = false, stores_all = true;
  float last_got = 0;
  int calls = 0;
  float last_input = NAN;
  std::vector<int> last_shared;
};

class JudgingProvider : public KernelProvider {
 public:
  void RequestKernel(const KernelRequest&,
                     std::shared_ptr<KernelSlot> slot) override {
    slots.push_back(std::move(slot));
  }
  std::shared_ptr<KernelJudge> judge() override { return exact; }
  std::shared_ptr<ExactJudge> exact = std::make_shared<ExactJudge>();
  std::vector<std::shared_ptr<KernelSlot>> slots;
};

class KernelCheckTest : public testing::Test {
 protected:
  KernelCheckTest() : module_(*Module::FromDefinition(SampleNamed("loop"))) {
    Start({});
  }

  void Start(Tiering::Options options, int64_t memory_limit = 0) {
    options.least_ns = 0;
    options.tier1_calls = 1;
    options.keeps_slow_kernels = true;
    tiering_ = std::make_shared<Tiering>(module_, provider_, options);
    session_ = NewSession(memory_limit);
  }
  std::unique_ptr<Session> NewSession(int64_t memory_limit = 0) {
    SessionOptions options;
    options.device = device_;
    options.tiering = tiering_;
    options.memory_limit = memory_limit;
    return *Session::Create(module_, options);
  }
  BiasKernel* Install(std::unique_ptr<BiasKernel> kernel) {
    BiasKernel* const raw = kernel.get();
    tiering_->slot(0)->Install(std::move(kernel));
    return raw;
  }
  // Runs the program and returns the first element of the result for n rows of
  // zeros. The right value is 3, because the program adds the bias of 1 three
  // times.
  float Run(int64_t n) { return Run(*session_, n); }
  static float Run(Session& session, int64_t n) {
    const Tensor x = *Tensor::Allocate(DType::kF32, {n, 4});
    std::vector<Tensor> results;
    const Status status = session.Run({&x, 1}, &results);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return results[0].elements<float>()[0];
  }
  std::vector<std::string> reasons() const {
    return tiering_->slot(0)->decline_reasons();
  }
  int64_t kernel_calls() const {
    const std::vector<SiteProfile> profile = session_->Profile();
    return profile[0].tier_calls[1] + profile[0].tier_calls[2];
  }

  std::shared_ptr<const Module> module_;
  std::shared_ptr<hal::Device> device_ = *hal::CreateCpuDevice({.threads = 1});
  std::shared_ptr<JudgingProvider> provider_ =
      std::make_shared<JudgingProvider>();
  ExactJudge& judge_ = *provider_->exact;
  std::shared_ptr<Tiering> tiering_;
  std::unique_ptr<Session> session_;
};

TEST_F(KernelCheckTest, RightKernelsAreCheckedOncePerShape) {
  Run(2);
  const BiasKernel* const kernel = Install(std::make_unique<BiasKernel>(0));
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(judge_.calls, 1);
  EXPECT_EQ(kernel->calls, 3) << "once for the check";
  EXPECT_EQ(kernel_calls(), 2);
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(judge_.calls, 1);
  EXPECT_EQ(Run(3), 3);
  EXPECT_EQ(judge_.calls, 2) << "another shape";
  const auto other = NewSession();
  EXPECT_EQ(Run(*other, 3), 3);
  EXPECT_EQ(judge_.calls, 2) << "another session believes it";
  EXPECT_TRUE(reasons().empty());
}

TEST_F(KernelCheckTest, KernelsForAllShapesAreBelievedAfterSome) {
  Run(1);
  Install(std::make_unique<BiasKernel>(0));
  for (int64_t n = 1; n <= 30; ++n) EXPECT_EQ(Run(n), 3);
  EXPECT_GE(judge_.calls, 1);
  EXPECT_LE(judge_.calls, 8);
  EXPECT_GE(kernel_calls(), 3 * 30 - 8);
}

TEST_F(KernelCheckTest, NobodySeesResultsOfWrongOnes) {
  Run(2);
  const BiasKernel* const wrong = Install(std::make_unique<BiasKernel>(1));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(wrong->calls, 1);
  EXPECT_EQ(kernel_calls(), 0);
  EXPECT_EQ(reasons(), (std::vector<std::string>{"it differs"}));
  EXPECT_TRUE(tiering_->slot(0)->kernels()->list.empty());
  EXPECT_TRUE(session_->IsSettled());
  // When a wrong kernel is withdrawn, the next best one must be checked, too.
  const BiasKernel* const right =
      Install(std::make_unique<BiasKernel>(0, -INFINITY, 1));
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(judge_.calls, 2);
  EXPECT_EQ(right->calls, 3);
}

// A kernel that does not change its outputs.
class LazyKernel : public HostKernel {
 public:
  int tier() const override { return 2; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const KernelCall&) const override { return OkStatus(); }
  std::string Describe() const override { return "lazy"; }
};

TEST_F(KernelCheckTest, RightResultsOfEarlierCallsDoNotCount) {
  module_ = *Module::FromDefinition(SampleNamed("static"));
  Start({});
  const Tensor x = *Tensor::Allocate(DType::kF32, {2, 3});
  std::vector<Tensor> results;
  ASSERT_TRUE(session_->Run({&x, 1}, &results).ok());
  tiering_->slot(0)->Install(std::make_unique<LazyKernel>());
  ASSERT_TRUE(session_->Run({&x, 1}, &results).ok());
  EXPECT_TRUE(std::isnan(judge_.last_got));
  EXPECT_EQ(reasons(), (std::vector<std::string>{"it differs"}));
}

TEST_F(KernelCheckTest, CallsThatTellLittleAreNotTheLast) {
  Run(2);
  judge_.tells_little = true;
  Install(std::make_unique<BiasKernel>(0));
  for (int run = 0; run < 3; ++run) EXPECT_EQ(Run(2), 3);
  EXPECT_GT(kernel_calls(), 0) << "in the end it is believed";
  EXPECT_EQ(judge_.calls, 4);
}

TEST_F(KernelCheckTest, WhatAnotherSessionFindsHoldsForAll) {
  const auto other = NewSession();
  Run(2);
  Run(*other, 2);
  // The check of this kernel's first call finds it right. The kernel is wrong
  // only in the second iteration of the program's loop, which is not checked.
  const BiasKernel* const kernel = Install(std::make_unique<BiasKernel>(1, 1));
  Run(2);
  EXPECT_EQ(judge_.calls, 1);
  EXPECT_TRUE(reasons().empty()) << "that is what one call can tell";
  EXPECT_NE(Run(*other, 5), 0);
  tiering_->slot(0)->Withdraw(kernel, "found otherwise");
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(Run(*other, 5), 3);
}

TEST_F(KernelCheckTest, KernelsMustFailWhereTierZeroDoes) {
  Run(2);
  BiasKernel* const kernel = Install(std::make_unique<BiasKernel>(0));
  kernel->fails = true;
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(reasons(), (std::vector<std::string>{"an error"}));
}

// This program computes y = x + 2 b. The output of the second dispatch is in
// the memory of its input.
constexpr std::string_view kInPlace = R"(
module "in place" from "test"
constant b: f32[4] = [1, 2, 3, 4]
dispatch @add<N>(%x: f32[N, 4], %b: f32[4]) -> (%y: f32[N, 4]) {
  %y[i, j] = %x[i, j] + %b[j]
}
dispatch @more<N>(%x: f32[N, 4], %b: f32[4]) -> (%y: f32[N, 4]) {
  %y[i, j] = %x[i, j] + %b[j]
}
program main<N>(x: f32[N, 4]) -> (y: f32[N, 4]) {
  i0 = input_dim x, 0
  b0 = input x
  i1 = integer 16
  i2 = mul i0, i1
  b1 = allocate i2
  b2 = constant 0 (b)
  dispatch @add(i0; b0, b2 -> b1)
  dispatch @more(i0; b1, b2 -> b1)
  i3 = integer 4
  result y = b1 [i0, i3]
  return
}
)";

TEST_F(KernelCheckTest, InPlaceOperandsAreAsTheyWere) {
  module_ = *Module::FromDefinition(*ParseModule(kInPlace));
  Start({});
  EXPECT_EQ(Run(2), 2);
  tiering_->slot(1)->Install(std::make_unique<BiasKernel>(0));
  EXPECT_EQ(Run(2), 2);
  EXPECT_EQ(Run(2), 2);
  EXPECT_TRUE(tiering_->slot(1)->decline_reasons().empty());
  EXPECT_EQ(judge_.last_shared, std::vector<int>{0});
  EXPECT_EQ(judge_.last_input, 1) << "before it was overwritten";
  tiering_->slot(1)->Install(std::make_unique<BiasKernel>(1));
  EXPECT_EQ(Run(2), 2);
  EXPECT_EQ(tiering_->slot(1)->decline_reasons().size(), 1u);
}

TEST_F(KernelCheckTest, OffByAnOption) {
  Start({.checks_kernels = false});
  Run(2);
  Install(std::make_unique<BiasKernel>(1));
  EXPECT_EQ(Run(2), 6);
  EXPECT_EQ(judge_.calls, 0);
}

TEST_F(KernelCheckTest, EagerKernelsAreCheckedIfThatIsWanted) {
  Tiering::Options options = Tiering::Eager(2);
  EXPECT_FALSE(options.checks_kernels);
  options.checks_kernels = true;
  Start(options);
  Run(2);
  Install(std::make_unique<BiasKernel>(1));
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(judge_.calls, 1);
}

TEST_F(KernelCheckTest, WithoutMemoryForItTierZeroStays) {
  // The limit suffices for the memory of a run with 1000 rows, but not for one
  // more copy of it.
  constexpr int64_t kRows = 1000, kBytes = kRows * 16;
  module_ = *Module::FromDefinition(*ParseModule(kInPlace));
  Start({});
  EXPECT_EQ(Run(kRows), 2);
  const int64_t needed = session_->memory().peak_bytes;
  Start({}, needed + kBytes / 2);
  EXPECT_EQ(Run(kRows), 2);
  Install(std::make_unique<BiasKernel>(1));
  EXPECT_EQ(Run(kRows), 2);
  EXPECT_EQ(Run(kRows), 2);
  EXPECT_EQ(judge_.calls, 0);
  ASSERT_EQ(reasons().size(), 1u);
  EXPECT_NE(reasons()[0].find("could not be checked"), std::string::npos)
      << reasons()[0];
  EXPECT_LE(session_->memory().peak_bytes, needed + kBytes / 2);
}

TEST_F(KernelCheckTest, CopiesOverlapAsTheCallDoes) {
  auto pool = std::make_shared<MemoryPool>(device_, 0);
  alignas(64) uint8_t memory[512];
  for (size_t i = 0; i < sizeof memory; ++i)
    memory[i] = static_cast<uint8_t>(i);
  // The three kinds of operands are an input that overlaps nothing, an input in
  // which an output begins, and an output behind that input.
  void* const buffers[] = {memory + 16, memory + 136, memory + 160,
                           memory + 320};
  const int64_t bytes[] = {64, 100, 40, 8};
  Interrupt interrupt;
  interrupt.Cancel();
  EXPECT_EQ(
      KernelCheck::Copy(pool, buffers, bytes, 2, &interrupt).status().code(),
      StatusCode::kCancelled);
  const auto check = KernelCheck::Copy(pool, buffers, bytes, 2, nullptr);
  ASSERT_TRUE(check.ok());
  const std::span<void* const> copies = check->buffers();
  EXPECT_EQ(copies[0], buffers[0]) << "nothing overwrites it";
  EXPECT_NE(copies[1], buffers[1]);
  EXPECT_EQ(static_cast<uint8_t*>(copies[2]) - static_cast<uint8_t*>(copies[1]),
            24);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(std::memcmp(copies[i], buffers[i], static_cast<size_t>(bytes[i])),
              0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(copies[i]) % 64,
              reinterpret_cast<uintptr_t>(buffers[i]) % 64);
  }
  std::memset(copies[1], 0, 100);
  EXPECT_EQ(static_cast<const uint8_t*>(check->inputs()[1])[30], 166);
  EXPECT_EQ(check->inputs()[0], buffers[0]);
  EXPECT_GT(pool->used_bytes(), 0);
}

}  // namespace
}  // namespace ember::vm
