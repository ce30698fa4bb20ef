// Tests tiering with a provider that takes the place of the JIT. The test sets
// the times of calls.
#include "vm/runtime/dispatch/tiering.h"

#include <algorithm>
#include <thread>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "tensor/open_parameter.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/isa/text.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

// The simulated time in nanoseconds. A call takes a microsecond, plus the time
// that its kernel or its runner adds.
int64_t clock_ns = 0;
int64_t Clock() { return clock_ns += 1000; }
void Take(int64_t ns) { clock_ns += ns; }

// A kernel for add_bias of the sample "loop". It adds a number to the result,
// by which a test recognises the kernel that ran.
class MarkingKernel : public HostKernel {
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

  // Creates a session with these options, changed so that requests depend only
  // on numbers of calls, and kernels stay in use however slow they are.
  void Start(Tiering::Options options) {
    options.least_ns = 0;
    options.keeps_slow_kernels = true;
    StartWith(options);
  }
  void StartWith(Tiering::Options options) {
    tiering_ = std::make_shared<Tiering>(module_, provider_, options);
    session_ = NewSession();
  }
  std::unique_ptr<Session> NewSession() {
    SessionOptions options;
    options.device = device_;
    options.tiering = tiering_;
    options.clock = Clock;
    return *Session::Create(module_, options);
  }
  // Runs the program and returns the first element of the result for n rows of
  // zeros. It is 3 at tier 0, and 300 more per tier of the kernel.
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

TEST_F(TieringTest, TheOnlyShapeGetsItsOwnKernelAtOnce) {
  Start({.tier1_calls = 4, .tier2_calls = 1000});
  EXPECT_EQ(Run(2), 3);
  // The program calls the dispatch three times. This is less than tier1_calls,
  // so nothing must have been requested.
  EXPECT_EQ(provider_->requests.size(), 0u);
  EXPECT_EQ(Run(2), 3);
  ASSERT_EQ(provider_->requests.size(), 1u);
  EXPECT_EQ(provider_->requests[0].tier, 2);
  EXPECT_EQ(provider_->requests[0].parameters, (std::vector<int64_t>{2}));
  EXPECT_EQ(provider_->requests[0].dispatch->name, "add_bias");
  EXPECT_EQ(provider_->requests[0].target, device_->target());
  EXPECT_NE(provider_->requests[0].owner, nullptr);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(provider_->requests.size(), 1u);
  EXPECT_EQ(tiering_->slot(0)->calls(), 12 * 3);
  EXPECT_GT(tiering_->slot(0)->total_ns(), 0);
}

TEST_F(TieringTest, ManyShapesGetOneKernelAndHotOnesTheirOwn) {
  Start({.tier1_calls = 4, .tier2_calls = 8});
  Run(1);
  Run(2);
  ASSERT_EQ(provider_->requests.size(), 1u);
  EXPECT_EQ(provider_->requests[0].tier, 1);
  EXPECT_TRUE(provider_->requests[0].parameters.empty());
  Run(2);
  EXPECT_EQ(provider_->requests.size(), 1u);
  Run(2);  // This run contains the ninth call with two rows, for which a
           // specialised kernel must be requested.
  ASSERT_EQ(provider_->requests.size(), 2u);
  EXPECT_EQ(provider_->requests[1].tier, 2);
  EXPECT_EQ(provider_->requests[1].parameters, (std::vector<int64_t>{2}));
}

TEST_F(TieringTest, WhatTheProfileNamesIsHotFromTheFirstCallOn) {
  ModuleDefinition definition = SampleNamed("loop");
  const auto named = std::ranges::find(definition.dispatches, "add_bias",
                                       &tensor::Dispatch::name);
  constexpr int64_t kRecorded = int64_t{1} << 40;
  definition.profile = {
      {static_cast<uint32_t>(named - definition.dispatches.begin()),
       {{{2}, 10, kRecorded}, {{7}, 1, 1}}}};
  module_ = *Module::FromDefinition(std::move(definition));
  Start({.tier1_calls = 1000, .tier2_calls = 1000});
  EXPECT_EQ(tiering_->slot(0)->heat_ns(), kRecorded + 1);
  // For shapes that the profile does not contain, the same kernels are
  // requested as without a profile, but at once.
  Run(1);
  ASSERT_EQ(provider_->requests.size(), 1u);
  Run(3);
  ASSERT_EQ(provider_->requests.size(), 2u);
  EXPECT_EQ(provider_->requests[1].tier, 1);
  Run(2);
  ASSERT_EQ(provider_->requests.size(), 3u);
  EXPECT_EQ(provider_->requests[2].tier, 2);
  EXPECT_EQ(provider_->requests[2].parameters, (std::vector<int64_t>{2}));
  EXPECT_GT(tiering_->slot(0)->heat_ns(), kRecorded + 1);
  // A process in which the module has run only for a short time must not load
  // the compiler.
  provider_->requests.clear();
  StartWith({.least_ns = int64_t{1} << 40});
  for (int i = 0; i < 50; ++i) Run(2);
  EXPECT_EQ(provider_->requests.size(), 0u);
}

TEST_F(TieringTest, KernelsOfOneShapeAreLimited) {
  Start({.tier1_calls = 1, .tier2_calls = 1, .most_specialised = 3});
  for (int round = 0; round < 3; ++round) {
    for (int64_t n = 1; n <= 6; ++n) Run(n);
  }
  EXPECT_EQ(tiering_->slot(0)->specialised(), 3);
  EXPECT_EQ(provider_->requests.size(), 4u) << "and one for all shapes";
}

TEST_F(TieringTest, NothingIsAskedForWhatTakesNoTime) {
  StartWith({.least_ns = int64_t{1} << 40, .tier1_calls = 1});
  for (int i = 0; i < 50; ++i) Run(2);
  EXPECT_EQ(provider_->requests.size(), 0u);
  EXPECT_FALSE(session_->IsSettled());
}

TEST_F(TieringTest, EagerAsksBeforeTheFirstCall) {
  for (const int tier : {1, 2}) {
    provider_->requests.clear();
    StartWith(Tiering::Eager(tier));
    for (int64_t n = 1; n <= 10; ++n) Run(n);
    EXPECT_EQ(provider_->requests.size(), tier == 1 ? 1u : 10u);
    EXPECT_EQ(provider_->requests[0].tier, tier);
  }
}

TEST_F(TieringTest, EagerStopsWhereShapesHaveNoEnd) {
  StartWith(Tiering::Eager(2));
  constexpr int kOwn = Tiering::kMaxEager;
  for (int64_t n = 1; n <= 3 * kOwn; ++n) Run(n);
  ASSERT_EQ(provider_->requests.size(), static_cast<size_t>(kOwn) + 1);
  EXPECT_EQ(provider_->requests.back().tier, 1);
  EXPECT_TRUE(provider_->requests.back().parameters.empty());
}

// The shape classes of a decoder that runs a prompt of seven tokens, then one
// token at a time. A class is [number of new tokens, number of earlier tokens].
TEST_F(TieringTest, ClassesWithValuesInCommonShareAKernel) {
  constexpr int64_t kOpen = tensor::kOpenParameter;
  using Shape = std::vector<int64_t>;
  // Returns the tier that is requested before the first call with a shape.
  const auto next = [&](const Shape& shape) {
    tiering_->slot(0)->NoteShape(shape);
    return tiering_->NextTier(0, shape, 0, 0);
  };
  StartWith(Tiering::Eager(2));
  EXPECT_EQ(next({7, 0}), 2);
  EXPECT_EQ(next({1, 7}), 2);
  EXPECT_EQ(next({1, 8}), 2);
  EXPECT_EQ(next({1, 9}), 1);
  EXPECT_EQ(tiering_->SharedShape(0, Shape{1, 9}), (Shape{1, kOpen}));
  EXPECT_EQ(tiering_->SharedShape(0, Shape{7, 0}), Shape{});
  EXPECT_EQ(tiering_->NextTier(0, Shape{1, 9}, 10, 1), 2) << "it is hot";
  // Another prompt of seven tokens is a shape class of its own and must not use
  // the decoder's shared kernel.
  EXPECT_EQ(next({7, 10}), 2);
  EXPECT_EQ(tiering_->SharedShape(0, Shape{1, 17}), Shape{});

  Start({.tier1_calls = 0, .tier2_calls = 1000});
  EXPECT_EQ(next({7, 0}), 2) << "the only class";
  EXPECT_EQ(next({1, 7}), 1) << "no value is common, so all are open";
  EXPECT_EQ(next({1, 8}), 0) << "the next class decides";
  EXPECT_EQ(tiering_->NextTier(0, Shape{1, 8}, 1, 0), 1);
  EXPECT_EQ(next({1, 9}), 1);
  EXPECT_EQ(tiering_->SharedShape(0, Shape{1, 10}), (Shape{1, kOpen}));
}

TEST_F(TieringTest, TheLeastOpenKernelIsTheBest) {
  class OpenKernel : public MarkingKernel {
   public:
    explicit OpenKernel(int open) : MarkingKernel(2, {}), open_(open) {}
    int open_parameters() const override { return open_; }

   private:
    int open_;
  };
  KernelSlot slot;
  for (const int open : {1, 0, 2})
    slot.Install(std::make_unique<OpenKernel>(open));
  std::vector<int> order;
  for (const Kernel* kernel : slot.kernels()->list)
    order.push_back(kernel->open_parameters());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
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
  // A specialised kernel must be used only for its own shape.
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
    // The program is run with more shapes than the number of plans that are
    // kept, so that entries are reused for other shapes.
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

// A kernel that adds a number to the result, like MarkingKernel, and whose
// calls take 2 ms of the test's clock.
class SlowMarkingKernel : public MarkingKernel {
 public:
  using MarkingKernel::MarkingKernel;
  Status Run(const KernelCall& call) const override {
    Take(2'000'000);
    return MarkingKernel::Run(call);
  }
};

TEST_F(TieringTest, SlowKernelsAreSetAsideForTheirShape) {
  StartWith({.least_ns = 0, .tier1_calls = 1});
  const auto other = NewSession();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Run(2), 3);
    EXPECT_EQ(Run(3), 3);
  }
  KernelSlot& slot = *tiering_->slot(0);
  slot.Install(std::make_unique<MarkingKernel>(1, std::vector<int64_t>{}));
  slot.Install(std::make_unique<SlowMarkingKernel>(2, std::vector<int64_t>{2}));
  for (int i = 0; i < 20; ++i) Run(2);
  ASSERT_EQ(slot.kernels()->slow.size(), 1u);
  const SlowKernel& slow = slot.kernels()->slow[0];
  EXPECT_EQ(slow.kernel, slot.kernels()->list[0]);
  EXPECT_EQ(slow.parameters, (std::vector<int64_t>{2}));
  EXPECT_GE(slow.kernel_ns, 2'000'000);
  EXPECT_LT(slow.interpreter_ns, slow.kernel_ns);
  EXPECT_EQ(Run(2), 303) << "the next best kernel";
  EXPECT_EQ(Run(*other, 2), 303) << "other sessions believe it";
  slot.SetAside(slow);
  EXPECT_EQ(slot.kernels()->slow.size(), 1u) << "once is enough";
  const std::vector<SiteProfile> profile = session_->Profile();
  EXPECT_EQ(profile[0].calls, 3 * 29);
  EXPECT_GE(profile[0].tier_calls[2], 3);
  EXPECT_LT(profile[0].tier_calls[2], 9);
  EXPECT_EQ(profile[0].tier_calls[0] + profile[0].tier_calls[1] +
                profile[0].tier_calls[2],
            profile[0].calls);
}

// This program computes y = x + 8 for `extent` elements, by eight dispatches
// that add 1 each.
constexpr int kChain = 8;
std::string ChainText(int extent = 1) {
  const std::string n = std::to_string(extent);
  const auto f32 = [&](const char* name) {
    return std::string(name) + ": f32[" + n + "]";
  };
  std::string text = "module \"chain\" from \"test\"\n", body;
  for (int i = 0; i < kChain; ++i) {
    const std::string name = "@increment" + std::to_string(i);
    text += "dispatch " + name + "(" + f32("%x") + ") -> (" + f32("%y") +
            ") {\n  %y[i] = %x[i] + 1.0\n}\n";
    const char* from = i == 0 ? "b0" : i % 2 == 1 ? "b2" : "b3";
    body += "  dispatch " + name + "(" + from + " -> " +
            (i % 2 == 0 ? "b2" : "b3") + ")\n";
  }
  return text + "program main(" + f32("x") + ") -> (" + f32("y") +
         ") {\n  b0 = input x\n  b1 = arena " + std::to_string(128 * extent) +
         "\n  i0 = integer " + std::to_string(4 * extent) +
         "\n  i1 = integer " + n + "\n  b2 = view b1, i0, 0\n" +
         "  b3 = view b1, i0, " + std::to_string(64 * extent) + "\n" + body +
         "  result y = b3 [i1]\n  return\n}\n";
}

class SlowIncrement : public HostKernel {
 public:
  int tier() const override { return 2; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const KernelCall& call) const override {
    Take(1'000'000);
    static_cast<float*>(call.buffers[1])[0] =
        static_cast<const float*>(call.buffers[0])[0] + 1;
    return OkStatus();
  }
  std::string Describe() const override { return ""; }
};

TEST_F(TieringTest, KernelsOnTrialCostARunLittle) {
  module_ = *Module::FromDefinition(*ParseModule(ChainText()));
  StartWith({.least_ns = 0, .tier1_calls = 1});
  const Tensor x = *Tensor::Allocate(DType::kF32, {1});
  std::vector<Tensor> results;
  const auto run = [&] {
    ASSERT_TRUE(session_->Run({&x, 1}, &results).ok());
    EXPECT_EQ(results[0].elements<float>()[0], kChain);
  };
  const auto kernel_calls = [&] {
    int64_t calls = 0;
    for (const SiteProfile& site : session_->Profile())
      calls += site.tier_calls[2];
    return calls;
  };
  for (int i = 0; i < 4; ++i) run();
  for (size_t group = 0; group < kChain; ++group)
    tiering_->slot(group)->Install(std::make_unique<SlowIncrement>());
  int64_t last = 0;
  for (int i = 0; i < 40; ++i) {
    run();
    EXPECT_LE(kernel_calls(), last + 1) << "run " << i;
    last = kernel_calls();
  }
  EXPECT_EQ(last, 3 * kChain) << "three calls decide about each";
  EXPECT_TRUE(session_->IsSettled());
}

// A kernel that takes a tenth of the time of other kernels.
class NoWorkKernel : public MarkingKernel {
 public:
  using MarkingKernel::MarkingKernel;
  Status Run(const KernelCall&) const override {
    Take(-900);
    return OkStatus();
  }
};

// A runner that makes every second call slower.
class UnsteadyRunner : public ParallelRunner {
 public:
  int worker_count() const override { return 2; }
  void Run(int64_t chunk_count, ChunkFunction function) override {
    if (++runs % 2 == 0) Take(300'000);
    SerialRunner().Run(chunk_count, function);
  }
  int64_t runs = 0;
};

TEST_F(TieringTest, KernelsOnTrialDoNotPayForTierZero) {
  // The extent is so large that tier 0 splits the work among threads, so it
  // uses the runner.
  constexpr int kExtent = 1 << 16;
  UnsteadyRunner runner;
  device_ = *hal::CreateCpuDevice({.host_runner = &runner});
  module_ = *Module::FromDefinition(*ParseModule(ChainText(kExtent)));
  StartWith({.least_ns = 0, .tier1_calls = 1});
  const Tensor x = *Tensor::Allocate(DType::kF32, {kExtent});
  std::vector<Tensor> results;
  const auto run = [&] { ASSERT_TRUE(session_->Run({&x, 1}, &results).ok()); };
  for (int i = 0; i < 20; ++i) run();
  EXPECT_GE(runner.runs, 20 * kChain);
  tiering_->slot(kChain - 1)
      ->Install(std::make_unique<NoWorkKernel>(2, std::vector<int64_t>{}));
  for (int i = 0; i < 8; ++i) run();
  EXPECT_EQ(session_->Profile()[kChain - 1].tier_calls[2], 8);
}

TEST_F(TieringTest, SlowKernelsStayWhereThatIsWanted) {
  StartWith({.least_ns = 0, .tier1_calls = 1, .keeps_slow_kernels = true});
  for (int i = 0; i < 4; ++i) Run(2);
  tiering_->slot(0)->Install(
      std::make_unique<SlowMarkingKernel>(2, std::vector<int64_t>{}));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(Run(2), 603);
  EXPECT_TRUE(tiering_->slot(0)->kernels()->slow.empty());
}

TEST_F(TieringTest, SettledSessionsMeasureNoMore) {
  Start({.tier1_calls = 1});
  Run(2);
  Run(2);
  EXPECT_FALSE(session_->IsSettled()) << "a request waits for its answer";
  provider_->slots[0]->Install(
      std::make_unique<MarkingKernel>(2, std::vector<int64_t>{2}));
  Run(2);
  EXPECT_TRUE(session_->IsSettled());
  const int64_t timed = tiering_->slot(0)->calls();
  EXPECT_EQ(Run(2), 603);
  EXPECT_EQ(tiering_->slot(0)->calls(), timed);
  EXPECT_EQ(session_->Profile()[0].tier_calls[2], 6);
  // A better kernel that arrives later must still be noticed, and so must other
  // shapes.
  provider_->slots[0]->Install(
      std::make_unique<MarkingKernel>(2, std::vector<int64_t>{}));
  EXPECT_EQ(Run(4), 603);
  EXPECT_FALSE(session_->IsSettled()) << "that shape asks for its own kernel";
}

TEST_F(TieringTest, DeclinedSitesSettle) {
  Start({.tier1_calls = 1});
  Run(2);
  Run(2);
  provider_->slots[0]->Decline("no");
  Run(2);
  EXPECT_TRUE(session_->IsSettled());
  EXPECT_EQ(Run(2), 3);
}

TEST_F(TieringTest, WithdrawnKernelsAreNotUsedAnyMore) {
  StartWith({.least_ns = 0, .tier1_calls = 1, .keeps_slow_kernels = true});
  const auto other = NewSession();
  Run(2);
  Run(2);
  KernelSlot& slot = *provider_->slots[0];
  slot.Install(std::make_unique<MarkingKernel>(1, std::vector<int64_t>{}));
  slot.Install(std::make_unique<MarkingKernel>(2, std::vector<int64_t>{}));
  EXPECT_EQ(Run(2), 603);
  EXPECT_EQ(Run(*other, 2), 603);
  slot.Withdraw(slot.kernels()->list[0], "wrong");
  EXPECT_EQ(Run(2), 303);
  EXPECT_EQ(Run(*other, 2), 303);
  slot.Withdraw(slot.kernels()->list[0], "wrong, too");
  EXPECT_EQ(Run(2), 3);
  EXPECT_EQ(session_->Profile()[0].tier, 0);
  EXPECT_EQ(slot.decline_reasons(),
            (std::vector<std::string>{"wrong", "wrong, too"}));
  EXPECT_TRUE(slot.kernels()->list.empty());
}

// Reasons contain sizes, and each iteration of a loop may have another size, so
// the number of reasons must be limited.
TEST(KernelSlotTest, ReasonsOfWhatCannotBeCheckedAreBounded) {
  KernelSlot slot;
  for (int bytes = 0; bytes < 1000; ++bytes)
    slot.NoteUnchecked("no room for " + std::to_string(bytes) + " bytes");
  EXPECT_EQ(slot.decline_reasons().size(), 64u);
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
