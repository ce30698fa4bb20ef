// Measures the runtime's overhead per dispatch, for a chain of dispatches of
// one element in one arena, like that of a compiled model with static shapes.
//
//   dispatch_overhead_bench [DISPATCHES]
//
// Prints nanoseconds per dispatch for five cases: the whole run at tier 0;
// Plan::Run alone, to be subtracted; a kernel that does nothing, once the
// choice of the kernel is final; such a kernel with the clock readings and
// counters that are needed before the choice is final; and tier 0 with these.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "hal/cpu/device.h"
#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"
#include "vm/isa/text.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

template <typename T>
T Unwrap(StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

constexpr const char* kDispatch =
    "dispatch @increment(%x: f32[1]) -> (%y: f32[1]) {\n  %y[i] = %x[i] + "
    "1.0\n}\n";

// Returns the text of a program of `count` dispatches that computes x + count.
// It alternates between two positions in the arena.
std::string ChainText(int count) {
  std::string text = "module \"bench\" from \"bench\"\n";
  text += kDispatch;
  text +=
      "program main(x: f32[1]) -> (y: f32[1]) {\n  b0 = input x\n  b1 = arena "
      "128\n"
      "  i0 = integer 4\n  i1 = integer 1\n  b2 = view b1, i0, 0\n  b3 = view "
      "b1, i0, 64\n";
  for (int i = 0; i < count; ++i) {
    const std::string from = i == 0 ? "b0" : i % 2 == 1 ? "b2" : "b3";
    const std::string to = i % 2 == 0 ? "b2" : "b3";
    text += "  dispatch @increment(" + from + " -> " + to + ")\n";
  }
  return text + "  result y = " + (count % 2 == 1 ? "b2" : "b3") +
         " [i1]\n  return\n}\n";
}

class NothingKernel : public HostKernel {
 public:
  int tier() const override { return 1; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const KernelCall&) const override { return OkStatus(); }
  std::string Describe() const override { return "nothing"; }
};

class NothingProvider : public KernelProvider {
 public:
  void RequestKernel(const KernelRequest&,
                     std::shared_ptr<KernelSlot> slot) override {
    slot->Install(std::make_unique<NothingKernel>());
  }
};

// Returns the median of the times of some hundred calls in nanoseconds. The
// first calls are not measured.
double MedianNs(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) call();
  for (int i = 0; i < 300; ++i) {
    const auto begin = Clock::now();
    call();
    times.push_back(
        std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

double SessionNs(const std::shared_ptr<const Module>& module,
                 SessionOptions options, float expected) {
  options.device = Unwrap(hal::CreateCpuDevice({.threads = 1}));
  const auto session = Unwrap(Session::Create(module, options));
  const Tensor x = Unwrap(Tensor::Allocate(DType::kF32, {1}));
  std::vector<Tensor> results;
  const double ns = MedianNs([&] {
    const Status status = session->Run({&x, 1}, &results);
    if (!status.ok())
      std::exit((std::fprintf(stderr, "%s\n", status.ToString().c_str()), 1));
  });
  if (expected >= 0 && results[0].elements<float>()[0] != expected) {
    std::fprintf(stderr, "wrong result %f\n", results[0].elements<float>()[0]);
    std::exit(1);
  }
  return ns;
}

int Main(int count) {
  const auto module =
      Unwrap(Module::FromDefinition(Unwrap(ParseModule(ChainText(count)))));
  const double per = 1.0 / count;
  const double tier0 = SessionNs(module, {}, static_cast<float>(count)) * per;
  std::printf("tier 0, in all:              %7.1f ns per dispatch\n", tier0);

  const tensor::Dispatch dispatch = Unwrap(tensor::Parse(kDispatch));
  const std::unique_ptr<Plan> plan =
      Unwrap(Plan::Make(dispatch, {}, {.constant_inputs = {false}}));
  SerialRunner runner;
  float values[2] = {0, 0};
  void* pointers[2] = {&values[0], &values[1]};
  const double bare = MedianNs([&] {
                        for (int i = 0; i < count; ++i)
                          (void)plan->Run(pointers, runner).ok();
                      }) *
                      per;
  std::printf("Plan::Run alone:             %7.1f ns\n", bare);
  std::printf("VM at tier 0 (difference):   %7.1f ns\n", tier0 - bare);

  SessionOptions options;
  options.tiering = std::make_shared<Tiering>(
      module, std::make_shared<NothingProvider>(), Tiering::Eager(1));
  std::printf("empty kernel, settled:       %7.1f ns\n",
              SessionNs(module, options, -1) * per);
  options.profile = true;
  std::printf("empty kernel, measured:      %7.1f ns\n",
              SessionNs(module, options, -1) * per);
  std::printf(
      "tier 0 with profile:         %7.1f ns\n",
      SessionNs(module, {.profile = true}, static_cast<float>(count)) * per);
  return 0;
}

}  // namespace
}  // namespace ember::vm

int main(int argc, char** argv) {
  return ember::vm::Main(argc > 1 ? std::atoi(argv[1]) : 1000);
}
