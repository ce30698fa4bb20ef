// Tier slots with a provider that stands for the JIT.
#include "vm/runtime/tiering.h"

#include <thread>

#include "gtest/gtest.h"
#include "hal/cpu/cpu_device.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

// Of add_bias in the sample "loop"; adds a mark, so that a test sees who ran.
class MarkingKernel : public Kernel {
 public:
  MarkingKernel(int tier, std::vector<int64_t> only)
      : tier_(tier), only_(std::move(only)) {}
  int tier() const override { return tier_; }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return only_.empty() || std::ranges::equal(only_, parameters);
  }
  Status Run(const KernelCall& call) const override {
    const float* x = static_cast<const float*>(call.buffers[0]);
    const float* bias = static_cast<const float*>(call.buffers[1]);
    float* y = static_cast<float*>(call.buffers[2]);
    for (int64_t i = 0; i < 4 * call.parameters[0]; ++i) {
      y[i] = x[i] + bias[i % 4] + 100 * static_cast<float>(tier_);
    }
    return OkStatus();
  }
  std::string Describe() const override {
    return "marking tier " + std::to_string(tier_);
  }

 private:
  int tier_;
  std::vector<int64_t> only_;
};

class RecordingProvider : public KernelProvider {
 public:
  void RequestKernel(const KernelRequest& request,
                     std::shared_ptr<KernelSlot> slot) override {
    requests.push_back(request);
    slots.push_back(std::move(slot));
  }
  std::vector<KernelRequest> requests;
  std::vector<std::shared_ptr<KernelSlot>> slots;
};

class TieringTest : public testing::Test {
 protected:
  TieringTest() : module_(*Module::FromDefinition(SampleNamed("loop"))) {}

  void Start(Tiering::Options options) {
    tiering_ = std::make_shared<Tiering>(module_, provider_, options);
    session_ = NewSession();
  }
  std::unique_ptr<Session> NewSession() {
    SessionOptions options;
    options.device = device_;
    options.tiering = tiering_;
    return *Session::Create(module_, options);
  }
  // The first element of the result for n rows of zeros: 3 at tier 0, plus 300
  // per tier.
  float Run(int64_t n) { return Run(*session_, n); }
  static float Run(Session& session, int64_t n) {
    const Tensor x = *Tensor::Allocate(DType::kF32, {n, 4});
    std::vector<Tensor> results;
    const Status status = session.Run({&x, 1}, &results);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return results[0].elements<float>()[0];
  }

  std::shared_ptr<const Module> module_;
  std::shared_ptr<hal::Device> device_ = *hal::CreateCpuDevice({.threads = 1});
  std::shared_ptr<RecordingProvider> provider_ =
      std::make_shared<RecordingProvider>();
  std::shared_ptr<Tiering> tiering_;
  std::unique_ptr<Session> session_;
};

TEST_F(TieringTest, AsksOncePastTheThresholdsAndNeverWaits) {
  Start({.tier1_calls = 4, .tier2_calls = 8});
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(provider_->requests.size(), 0u);  // three calls
  EXPECT_EQ(Run(2), 3);
  ASSERT_EQ(provider_->requests.size(), 1u);
  EXPECT_EQ(provider_->requests[0].tier, 1);
  EXPECT_TRUE(provider_->requests[0].parameters.empty());
  EXPECT_EQ(provider_->requests[0].dispatch->name, "add_bias");
  EXPECT_EQ(provider_->requests[0].target, device_->target());
  EXPECT_EQ(Run(2), 3);
  ASSERT_EQ(provider_->requests.size(), 2u);
  EXPECT_EQ(provider_->requests[1].tier, 2);
  EXPECT_EQ(provider_->requests[1].parameters, (std::vector<int64_t>{2}));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(provider_->requests.size(), 2u);
  EXPECT_EQ(tiering_->slot(0)->calls(), 13 * 3);
  EXPECT_GT(tiering_->slot(0)->total_ns(), 0);
}

TEST_F(TieringTest, TellsWhichInputsAreConstant) {
  Start({.tier1_calls = 1});
  Run(1);
  ASSERT_EQ(provider_->requests.size(), 1u);
  EXPECT_EQ(provider_->requests[0].constant_inputs,
            (std::vector<bool>{false, true}));
  EXPECT_EQ(provider_->requests[0].constant_data[0].size(), 0u);
  EXPECT_EQ(provider_->requests[0].constant_data[1].data(),
            module_->definition().constants[0].data.data());
}

TEST_F(TieringTest, SwapsKernelsInForEverySession) {
  Start({.tier1_calls = 1, .tier2_calls = 1000});
  const auto other = NewSession();
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(Run(*other, 2), 3);
  ASSERT_EQ(provider_->slots.size(), 1u) << "one request for both sessions";
  provider_->slots[0]->Install(
      std::make_unique<MarkingKernel>(1, std::vector<int64_t>{}));
  EXPECT_EQ(Run(2), 303);
  EXPECT_EQ(Run(*other, 2), 303);
  EXPECT_EQ(session_->Profile()[0].tier, 1);
  EXPECT_EQ(session_->Profile()[0].plan, "marking tier 1");
  // A specialised one only for its own shape.
  provider_->slots[0]->Install(
      std::make_unique<MarkingKernel>(2, std::vector<int64_t>{3}));
  EXPECT_EQ(Run(2), 303);
  EXPECT_EQ(Run(3), 603);
  EXPECT_EQ(Run(*other, 3), 603);
}

TEST_F(TieringTest, SpecialisedKernelsOfManyShapesDoNotMixUp) {
  Start({.tier1_calls = 1, .tier2_calls = 1000});
  Run(1);
  provider_->slots[0]->Install(
      std::make_unique<MarkingKernel>(2, std::vector<int64_t>{5}));
  for (int round = 0; round < 3; ++round) {
    // More shapes than plans are kept.
    for (int64_t n = 1; n <= 20; ++n) EXPECT_EQ(Run(n), n == 5 ? 603 : 3) << n;
  }
}

TEST_F(TieringTest, DecliningKeepsTierZero) {
  Start({.tier1_calls = 1});
  Run(2);
  provider_->slots[0]->Decline("no vector unit");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(tiering_->slot(0)->decline_reasons(),
            (std::vector<std::string>{"no vector unit"}));
  EXPECT_EQ(provider_->requests.size(), 1u);
}

TEST_F(TieringTest, MaxTierIsKept) {
  Start({.tier1_calls = 1, .tier2_calls = 1, .max_tier = 1});
  Run(2);
  ASSERT_EQ(provider_->requests.size(), 1u);
  provider_->slots[0]->Install(
      std::make_unique<MarkingKernel>(2, std::vector<int64_t>{}));
  EXPECT_EQ(Run(2), 3);
}

TEST_F(TieringTest, KernelsMayComeFromOtherThreadsAtAnyTime) {
  Start({.tier1_calls = 1, .tier2_calls = 1000});
  Run(2);
  std::shared_ptr<KernelSlot> slot = provider_->slots[0];
  std::thread compiler([slot] {
    for (int i = 0; i < 50; ++i) {
      slot->Install(
          std::make_unique<MarkingKernel>(1 + i / 25, std::vector<int64_t>{}));
      std::this_thread::yield();
    }
  });
  float last = 0;
  while (last != 603) {
    const float value = Run(2);
    EXPECT_GE(value, last) << "never back to a lower tier";
    last = value;
  }
  compiler.join();
}

}  // namespace
}  // namespace ember::vm
