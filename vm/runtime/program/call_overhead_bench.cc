// Measures the time of an iteration of a loop whose body is a program: 100,000
// iterations of a call with one dispatch of one element. move_buffer carries
// the loop's state, and a scan output is appended to.
//
//   call_overhead_bench [ITERATIONS]
//
// Prints nanoseconds per iteration, and the allocations of the system and of
// the device in one run after the first ones.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "hal/cpu/device.h"
#include "vm/isa/text.h"
#include "vm/runtime/session.h"

namespace {
std::atomic<int64_t> allocations = 0;
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace ember::vm {
namespace {

// The module's text. The first %s is the loop's use of the body's result, the
// second one the instruction in the body that gets the result's memory.
constexpr const char* kText = R"(
module "bench" from "bench"
dispatch @increment(%%x: f32[1]) -> (%%y: f32[1]) {
  %%y[i] = %%x[i] + 1.0
}
program main(x: f32[1], n: i64[]) -> (y: f32[1]) {
  b0 = input x
  b1 = input n
  i0 = load_integer b1, i64, 0
  i1 = integer 1
  i2 = integer 4
  i3 = integer 0
  i4 = integer 0
  b2 = allocate i3
L8:
  %s
  i4 = add i4, i1
  i5 = less i4, i0
  branch_if i5, L8
  result y = b0 [i1]
  return
}
program body[i](x: f32[1]) -> (y: f32[1]) {
  i1 = integer 1
  i2 = integer 4
  b0 = input x
  b1 = %s
  dispatch @increment(b0 -> b1)
  result y = b1 [i1]
  return
}
)";

template <typename T>
T Unwrap(StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

void Measure(const char* what, const char* loop, const char* result,
             int64_t rounds) {
  char text[2048];
  std::snprintf(text, sizeof(text), kText, loop, result);
  SessionOptions options;
  options.device = Unwrap(hal::CreateCpuDevice({.threads = 1}));
  const auto session = Unwrap(Session::Create(
      Unwrap(Module::FromDefinition(Unwrap(ParseModule(text)))), options));
  const Tensor inputs[] = {Unwrap(Tensor::Allocate(DType::kF32, {1})),
                           Tensor::Borrow(DType::kI64, {}, &rounds)};
  std::vector<Tensor> results;
  double best = 1e9;
  int64_t system = 0, device = 0;
  for (int run = 0; run < 5; ++run) {
    const int64_t system_before = allocations;
    const int64_t device_before =
        options.device->memory_statistics().allocations;
    const auto begin = std::chrono::steady_clock::now();
    const Status status = session->Run(inputs, &results);
    const std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - begin;
    if (!status.ok() ||
        results[0].elements<float>()[0] != static_cast<float>(rounds)) {
      std::fprintf(stderr, "wrong: %s\n", status.ToString().c_str());
      std::exit(1);
    }
    best = std::min(best, time.count() / static_cast<double>(rounds));
    system = allocations - system_before;
    device = options.device->memory_statistics().allocations - device_before;
  }
  std::printf(
      "%-36s %7.1f ns per round; in all %lld allocations of the system, "
      "%lld of the device\n",
      what, best, static_cast<long long>(system),
      static_cast<long long>(device));
}

int Main(int64_t rounds) {
  const char* call = "call_program body(i4; b0 -> b0 [i6])";
  Measure("result in memory of its own", call, "allocate i2", rounds);
  Measure("result in the arena", call, "arena 64", rounds);
  Measure("and appended to a scan output",
          "call_program body(i4; b0 -> b0 [i6])\n  append b2, i3, b0, i2\n"
          "  i3 = add i3, i2",
          "allocate i2", rounds);
  Measure("no call",
          "b3 = allocate i2\ndispatch @increment(b0 -> b3)\n"
          "b0 = move_buffer b3",
          "allocate i2", rounds);
  return 0;
}

}  // namespace
}  // namespace ember::vm

int main(int argc, char** argv) {
  return ember::vm::Main(argc > 1 ? std::atoll(argv[1]) : 100000);
}
