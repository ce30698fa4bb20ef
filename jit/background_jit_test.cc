// Tests kernels that are made in the background and swapped in while sessions
// run.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "hal/registry/drivers.h"
#include "jit/jit.h"
#include "jit/kernel/content_key.h"
#include "jit/kernel/tuned_schedules.h"
#include "tensor/text/text.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::jit {
namespace {

std::unique_ptr<vm::Session> NewSession(
    const std::shared_ptr<const vm::Module>& module,
    const std::shared_ptr<vm::Tiering>& tiering) {
  vm::SessionOptions options;
  options.device = *hal::CreateCpuDevice({.threads = 1});
  options.tiering = tiering;
  return *vm::Session::Create(module, options);
}

// Runs the sample module "loop" on `rows` rows of zeros and returns the
// results. The module adds a bias to its input three times.
std::vector<float> RunLoop(vm::Session& session, int64_t rows) {
  const vm::Tensor x = *vm::Tensor::Allocate(DType::kF32, {rows, 4});
  std::vector<vm::Tensor> results;
  const Status status = session.Run({&x, 1}, &results);
  EXPECT_TRUE(status.ok()) << status.ToString();
  const std::span<float> y = results[0].elements<float>();
  return {y.begin(), y.end()};
}

bool HasWritableCode() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rwx") != std::string::npos) return true;
  }
  return false;
}

// Sessions of the test measure kernels and stop using slow ones if the test's
// parameter is true.
class BackgroundJitTest : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Kernels, BackgroundJitTest, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "Measured" : "NotMeasured";
                         });

TEST_P(BackgroundJitTest, SessionsRunWhileKernelsAreSwappedIn) {
  constexpr int kSessions = 8;
  const std::shared_ptr<const vm::Module> module =
      *vm::Module::FromDefinition(vm::SampleNamed("loop"));
  auto jit = NewJit({.threads = 2, .dump_folder = ""});
  ASSERT_TRUE(jit.ok()) << jit.status().ToString();
  vm::Tiering::Options thresholds;
  thresholds.least_ns = 0;
  thresholds.tier1_calls = 5;
  thresholds.tier2_calls = 20;
  thresholds.keeps_slow_kernels = !GetParam();
  auto tiering = std::make_shared<vm::Tiering>(module, *jit, thresholds);
  std::atomic<int> wrong{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int s = 0; s < kSessions; ++s) {
    threads.emplace_back([&, s] {
      const auto session = NewSession(module, tiering);
      const auto expected = RunLoop(*NewSession(module, nullptr), s % 3 + 1);
      while (!stop.load()) {
        if (RunLoop(*session, s % 3 + 1) != expected) ++wrong;
      }
    });
  }
  // Waits until the slot has four kernels: one of tier 1 for all shapes, and
  // one of tier 2 for each of the three shapes.
  const auto& slot = tiering->slot(0);
  for (const vm::KernelSlot::Kernels* kernels = nullptr;
       kernels == nullptr || kernels->list.size() < 4;
       kernels = slot->kernels()) {
    EXPECT_FALSE(HasWritableCode());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  (*jit)->Wait();
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_TRUE(slot->decline_reasons().empty())
      << slot->decline_reasons().front();
  ASSERT_NE(slot->kernels(), nullptr);
  EXPECT_EQ(slot->kernels()->list.size(), 4u);
  EXPECT_EQ((*jit)->totals().kernels, 4);
  EXPECT_FALSE(HasWritableCode());
  // Sessions that measure kernels may drop slow ones, depending on the machine,
  // so tiers are checked only if they do not measure.
  if (GetParam()) return;
  const auto session = NewSession(module, tiering);
  RunLoop(*session, 2);
  EXPECT_EQ(session->Profile()[0].tier, 2);
  RunLoop(*session, 7);
  EXPECT_EQ(session->Profile()[0].tier, 1);
}

// A wrapper of kernels that keeps the JIT's thread waiting with the first
// kernel until Release is called.
class Holder : public KernelWrapper {
 public:
  std::unique_ptr<vm::Kernel> Wrap(
      const vm::KernelRequest&, vm::KernelSlot&, KernelText,
      std::unique_ptr<vm::Kernel> kernel) override {
    is_begun = true;
    is_begun.notify_all();
    is_released.wait(false);
    return kernel;
  }
  void AwaitFirst() { is_begun.wait(false); }
  void Release() {
    is_released = true;
    is_released.notify_all();
  }

  std::atomic<bool> is_begun{false};
  std::atomic<bool> is_released{false};
};

TEST(BackgroundJit, CancelEndsRunsThatWaitForTheirKernel) {
  const std::shared_ptr<const vm::Module> module =
      *vm::Module::FromDefinition(vm::SampleNamed("loop"));
  const auto holder = std::make_shared<Holder>();
  JitOptions options;
  options.threads = 0;
  options.wrapper = holder;
  auto jit = NewJit(options);
  ASSERT_TRUE(jit.ok()) << jit.status().ToString();
  const auto session = NewSession(
      module,
      std::make_shared<vm::Tiering>(module, *jit, vm::Tiering::Eager(2)));
  std::thread canceller([&] {
    holder->AwaitFirst();
    session->Cancel();
  });
  const vm::Tensor x = *vm::Tensor::Allocate(DType::kF32, {2, 4});
  std::vector<vm::Tensor> results;
  // The kernel is held back, so the run can only return because it was
  // cancelled; otherwise the test would hang.
  const Status status = session->Run({&x, 1}, &results);
  canceller.join();
  EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.ToString();
  // The kernel is not made yet, so the session interprets the dispatch; it uses
  // the kernel as soon as that is made.
  const std::vector<float> expected = RunLoop(*NewSession(module, nullptr), 2);
  EXPECT_EQ(RunLoop(*session, 2), expected);
  EXPECT_EQ(session->Profile()[0].tier, 0);
  holder->Release();
  (*jit)->Wait();
  EXPECT_EQ(RunLoop(*session, 2), expected);
  EXPECT_EQ(session->Profile()[0].tier, 2);
}

TEST(BackgroundJit, ClosingDropsWhatWaits) {
  const std::shared_ptr<const vm::Module> module =
      *vm::Module::FromDefinition(vm::SampleNamed("loop"));
  const auto holder = std::make_shared<Holder>();
  JitOptions options;
  options.wrapper = holder;
  auto jit = NewJit(options);
  ASSERT_TRUE(jit.ok()) << jit.status().ToString();
  auto tiering =
      std::make_shared<vm::Tiering>(module, *jit, vm::Tiering::Eager(2));
  std::unique_ptr<vm::Session> session = NewSession(module, tiering);
  constexpr size_t kShapes = vm::Tiering::kMaxEager;
  for (size_t n = 1; n <= kShapes; ++n)
    RunLoop(*session, static_cast<int64_t>(n));
  const std::shared_ptr<vm::KernelSlot> slot = tiering->slot(0);
  EXPECT_TRUE((*jit)->is_busy());
  // Each waiting request holds a reference to the slot, so the count shows how
  // many requests wait.
  EXPECT_GE(slot.use_count(), static_cast<long>(kShapes) - 1);
  std::thread releaser([&] {
    while (slot.use_count() > 10) std::this_thread::yield();
    holder->Release();
  });
  jit->reset();
  tiering.reset();
  // The session held the last reference to the JIT, so the JIT's destructor
  // runs here and drops the waiting requests.
  session.reset();
  releaser.join();
  const auto* kernels = slot->kernels();
  EXPECT_LE(kernels == nullptr ? 0 : kernels->list.size(), 2u);
  EXPECT_TRUE(slot->is_pending());
}

TEST(BackgroundJit, CompilesAtOnceWithoutThreads) {
  const std::shared_ptr<const vm::Module> module =
      *vm::Module::FromDefinition(vm::SampleNamed("loop"));
  auto jit = NewJit({.threads = 0, .dump_folder = ""});
  ASSERT_TRUE(jit.ok()) << jit.status().ToString();
  const auto session = NewSession(
      module,
      std::make_shared<vm::Tiering>(module, *jit, vm::Tiering::Eager(2)));
  EXPECT_EQ(RunLoop(*session, 2), RunLoop(*NewSession(module, nullptr), 2));
  EXPECT_EQ(session->Profile()[0].tier, 2);
  EXPECT_EQ((*jit)->totals().declined, 0);
}

class RecordingWrapper : public KernelWrapper {
 public:
  std::unique_ptr<vm::Kernel> Wrap(
      const vm::KernelRequest& request, vm::KernelSlot& slot, KernelText text,
      std::unique_ptr<vm::Kernel> kernel) override {
    dispatches.push_back(request.dispatch->name);
    slots.push_back(&slot);
    texts.push_back(std::move(text));
    return kernel;
  }
  std::vector<std::string> dispatches;
  std::vector<const vm::KernelSlot*> slots;
  std::vector<KernelText> texts;
};

TEST(BackgroundJit, TheWrapperSeesKernelsFirst) {
  const std::shared_ptr<const vm::Module> module =
      *vm::Module::FromDefinition(vm::SampleNamed("loop"));
  const auto wrapper = std::make_shared<RecordingWrapper>();
  JitOptions options;
  options.threads = 0;
  options.wrapper = wrapper;
  auto jit = NewJit(options);
  ASSERT_TRUE(jit.ok()) << jit.status().ToString();
  const auto tiering =
      std::make_shared<vm::Tiering>(module, *jit, vm::Tiering::Eager(2));
  RunLoop(*NewSession(module, tiering), 2);
  EXPECT_EQ(wrapper->dispatches, std::vector<std::string>{"add_bias"});
  EXPECT_EQ(wrapper->slots[0], tiering->slot(0).get());
  EXPECT_NE(wrapper->texts[0].nest.find("loops @add_bias"), std::string::npos)
      << wrapper->texts[0].nest;
}

class RecordingObserver : public KernelObserver {
 public:
  bool wants_texts() const override { return true; }
  void Observe(const KernelEvent& event) override {
    dispatches.push_back(event.request.dispatch->name);
    slots.push_back(&event.slot);
    times.push_back({event.requested_ns, event.begin_ns, event.end_ns});
    texts.push_back(event.report.code.back().text);
    is_empty &= event.slot.kernels() == nullptr;
    is_ok &= event.status.ok();
  }
  std::vector<std::string> dispatches;
  std::vector<const vm::KernelSlot*> slots;
  std::vector<std::vector<int64_t>> times;
  std::vector<std::string> texts;
  bool is_empty = true, is_ok = true;
};

TEST(BackgroundJit, TheObserverSeesKernelsBeforeSessions) {
  const std::shared_ptr<const vm::Module> module =
      *vm::Module::FromDefinition(vm::SampleNamed("loop"));
  const auto observer = std::make_shared<RecordingObserver>();
  JitOptions options;
  options.threads = 0;
  options.observer = observer;
  auto jit = NewJit(options);
  ASSERT_TRUE(jit.ok()) << jit.status().ToString();
  const auto tiering =
      std::make_shared<vm::Tiering>(module, *jit, vm::Tiering::Eager(2));
  RunLoop(*NewSession(module, tiering), 2);
  ASSERT_EQ(observer->dispatches, std::vector<std::string>{"add_bias"});
  EXPECT_EQ(observer->slots[0], tiering->slot(0).get());
  EXPECT_TRUE(observer->is_empty);
  EXPECT_TRUE(observer->is_ok);
  EXPECT_TRUE(std::ranges::is_sorted(observer->times[0]));
  EXPECT_NE(observer->texts[0].find("add_bias"), std::string::npos)
      << observer->texts[0];
}

// A wrapper that records the schedule of the kernel that was made last.
class ScheduleKeeper : public KernelWrapper {
 public:
  std::unique_ptr<vm::Kernel> Wrap(
      const vm::KernelRequest&, vm::KernelSlot&, KernelText text,
      std::unique_ptr<vm::Kernel> kernel) override {
    schedule = std::move(text.schedule);
    return kernel;
  }
  std::string schedule;
};

// Returns the schedule that the JIT chooses on the device for a matrix product
// of f32 by f32.
std::string ScheduleOfProduct(const std::shared_ptr<hal::Device>& device,
                              JitOptions options) {
  const auto dispatch = tensor::Parse(R"(
    dispatch @product(%a: f32[64, 128], %b: f32[128, 64]) -> (%y: f32[64, 64]) {
      %y[i, j] = sum(k < 128) %a[i, k] * %b[k, j]
    })");
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  const auto keeper = std::make_shared<ScheduleKeeper>();
  options.threads = 0;
  options.wrapper = keeper;
  const auto jit = NewJit(options);
  EXPECT_TRUE(jit.ok()) << jit.status().ToString();
  vm::KernelRequest request;
  request.dispatch = &*dispatch;
  request.tier = 2;
  if (!device->is_host()) request.device = device;
  request.target = device->target();
  const auto slot = std::make_shared<vm::KernelSlot>();
  (*jit)->RequestKernel(request, slot);
  (*jit)->Wait();
  for (const std::string& reason : slot->decline_reasons())
    ADD_FAILURE() << reason;
  return keeper->schedule;
}

// CUDA devices multiply f32 by tensor cores, which round to tf32, if the user
// allows it and does not ask for exact schedules. Kernels of other devices are
// unaffected.
TEST(BackgroundJit, Tf32IsAllowedByTheUser) {
  const auto cuda = hal::CreateDevice("cuda-emulated", {.threads = 1});
  ASSERT_TRUE(cuda.ok()) << cuda.status().ToString();
  const auto has_matrices = [&](const JitOptions& options) {
    return ScheduleOfProduct(*cuda, options).find("multiply_matrices") !=
           std::string::npos;
  };
  EXPECT_FALSE(has_matrices({}));
  EXPECT_TRUE(has_matrices({.allow_tf32 = true}));
  EXPECT_FALSE(has_matrices({.exact_schedules = true, .allow_tf32 = true}));
  const auto cpu = *hal::CreateCpuDevice({.threads = 1});
  const std::string schedule = ScheduleOfProduct(cpu, {});
  EXPECT_NE(schedule, "");
  EXPECT_EQ(ScheduleOfProduct(cpu, {.allow_tf32 = true}), schedule);
}

// The JIT uses a tuned schedule of the module if the dispatch's contents and
// the target are those that the schedule was tuned for, and if its steps apply.
TEST(BackgroundJit, UsesTheTunedSchedulesOfTheModule) {
  const auto dispatch = tensor::Parse(R"(
      dispatch @scale(%image: f32[6, 64], %w: f32[64]) -> (%y: f32[6, 64]) {
        %y[row, column] = %image[row, column] * %w[column]
      })");
  ASSERT_TRUE(dispatch.ok());
  vm::KernelRequest request;
  request.dispatch = &*dispatch;
  request.tier = 2;
  request.target = (*hal::CreateCpuDevice({.threads = 1}))->target();
  const auto schedule_with = [&](const TunedSchedule& tuned) {
    TunedSchedules schedules;
    schedules.Add(tuned);
    const std::string text = schedules.Print();
    vm::KernelRequest own = request;
    own.tuned_schedules = text;
    const auto keeper = std::make_shared<ScheduleKeeper>();
    const auto jit = NewJit({.threads = 0, .wrapper = keeper});
    EXPECT_TRUE(jit.ok()) << jit.status().ToString();
    const auto slot = std::make_shared<vm::KernelSlot>();
    (*jit)->RequestKernel(own, slot);
    (*jit)->Wait();
    EXPECT_TRUE(slot->decline_reasons().empty());
    return keeper->schedule;
  };
  const TunedSchedule tuned{
      .key = ContentKey(WithCanonicalNames(request)),
      .target = request.target,
      .steps = "split %y0 i1 8 -> tuned_outer tuned_inner\n"};
  EXPECT_NE(schedule_with(tuned).find("tuned_inner"), std::string::npos);
  TunedSchedule other = tuned;
  other.target += "+other";
  const std::string without = schedule_with(other);
  EXPECT_NE(without, "");
  EXPECT_EQ(without.find("tuned_inner"), std::string::npos);
  other = tuned;
  other.key[0] = other.key[0] == '0' ? '1' : '0';
  EXPECT_EQ(schedule_with(other), without);
  other = tuned;
  other.steps = "split %none i1 8 -> a b\n";
  EXPECT_EQ(schedule_with(other), without);
}

}  // namespace
}  // namespace ember::jit
