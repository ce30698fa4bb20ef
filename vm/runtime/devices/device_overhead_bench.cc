// Measures the runtime's overhead per dispatch that becomes a command of a
// device: the CPU time of the calling thread from the beginning of a run to its
// submission. The program is a chain of dispatches in one arena, which issues
// the same commands in each run. The device is a fake one, on which a
// submission takes no time.
//
//   device_overhead_bench [DISPATCHES]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "vm/isa/text.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"
#include "vm/runtime/testing/fake_device.h"

namespace ember::vm {
namespace {

std::string ChainText(int count) {
  std::string text =
      "module \"bench\" from \"bench\"\n"
      "constant b: f32[1] = [1]\n"
      "dispatch @add(%x: f32[1], %b: f32[1]) -> (%y: f32[1]) {\n"
      "  %y[i] = %x[i] + %b[i]\n}\n"
      "program main(x: f32[1]) -> (y: f32[1]) {\n  b0 = input x\n"
      "  b1 = arena 128\n  i0 = integer 4\n  i1 = integer 1\n"
      "  b2 = view b1, i0, 0\n  b3 = view b1, i0, 64\n  b4 = constant 0 (b)\n";
  for (int i = 0; i < count; ++i) {
    const std::string from = i == 0 ? "b0" : i % 2 == 1 ? "b2" : "b3";
    const std::string to = i % 2 == 0 ? "b2" : "b3";
    text += "  dispatch @add(" + from + ", b4 -> " + to + ")\n";
  }
  return text + "  result y = " + (count % 2 == 1 ? "b2" : "b3") +
         " [i1]\n  return\n}\n";
}

template <typename T>
T Unwrap(StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

int Main(int count) {
  const auto module =
      Unwrap(Module::FromDefinition(Unwrap(ParseModule(ChainText(count)))));
  for (const bool shares : {true, false}) {
    const auto session = Unwrap(Session::Create(
        module,
        {.device = std::make_shared<FakeDevice>(
             FakeDeviceOptions{.limits = {.shares_memory = shares}}),
         .device_support = NewDeviceSupport,
         .tiering = std::make_shared<Tiering>(
             module, std::make_shared<FakeProvider>(FakeProviderOptions{}),
             Tiering::Eager(2))}));
    const Tensor x = Unwrap(Tensor::Allocate(DType::kF32, {1}));
    std::vector<Tensor> results;
    std::vector<double> times;
    for (int run = 0; run < 300; ++run) {
      session->ResetProfile();
      if (!session->Run({&x, 1}, &results).ok()) return 1;
      const DeviceWork work = session->device_report().work;
      if (work.submissions != 1 || (run > 1 && work.recorded != 0)) {
        std::fprintf(stderr, "not replayed\n");
        return 1;
      }
      times.push_back(static_cast<double>(work.host_ns) / count);
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2,
                     times.end());
    std::printf("%s memory: %6.1f ns per dispatch, replayed\n",
                shares ? "shared  " : "separate", times[times.size() / 2]);
  }
  return 0;
}

}  // namespace
}  // namespace ember::vm

int main(int argc, char** argv) {
  return ember::vm::Main(argc > 1 ? std::atoi(argv[1]) : 1000);
}
