// Measures the speed of tier 0: contractions, the layers in
// shared/peers/layers.txt, strip programs and overheads. The machine's peak
// rate of FMA instructions is measured in the same run for comparison.
//
//   bazel run -c opt //vm/interpreter:bench -- [--threads=N] [--filter=TEXT]
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"

namespace ember::vm {
namespace {

// True: measures the processor time of this thread, which other work on the
// machine affects less. It is for runs with one thread.
bool use_thread_time = true;

double Seconds() {
  timespec time;
  clock_gettime(use_thread_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC,
                &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns the number of seconds per call: the best of several measurements of a
// batch of calls.
template <typename Function>
double TimePerCall(Function function, double seconds = 0.4) {
  function();
  int64_t calls = 1;
  double best = 1e30;
  const double end = Seconds() + seconds;
  while (Seconds() < end) {
    const double start = Seconds();
    for (int64_t i = 0; i < calls; ++i) function();
    const double elapsed = Seconds() - start;
    best = std::min(best, elapsed / static_cast<double>(calls));
    if (elapsed < 1e-3) calls *= 2;
  }
  return best;
}

// A pool whose threads wait in a busy loop. Its overhead is the smallest that a
// pool can have.
class SpinPool final : public ParallelRunner {
 public:
  explicit SpinPool(int workers) : workers_(workers) {
    for (int w = 1; w < workers; ++w)
      threads_.emplace_back([this, w] { Loop(w); });
  }
  ~SpinPool() override {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  int worker_count() const override { return workers_; }
  void Run(int64_t chunk_count, ChunkFunction function) override {
    function_ = &function;
    count_ = chunk_count;
    next_ = 0;
    busy_ = workers_ - 1;
    ++generation_;
    Work(0);
    while (busy_ != 0) __builtin_ia32_pause();
  }

 private:
  void Work(int worker) {
    for (int64_t chunk; (chunk = next_++) < count_;)
      (*function_)(chunk, worker);
  }
  void Loop(int worker) {
    int seen = 0;
    while (!stop_) {
      if (generation_ == seen) {
        __builtin_ia32_pause();
        continue;
      }
      ++seen;
      Work(worker);
      --busy_;
    }
  }

  const int workers_;
  std::vector<std::thread> threads_;
  const ChunkFunction* function_ = nullptr;
  std::atomic<int64_t> count_{0}, next_{0};
  std::atomic<int> busy_{0}, generation_{0};
  std::atomic<bool> stop_{false};
};

typedef float Wide __attribute__((vector_size(64)));

#ifdef __x86_64__
__attribute__((target("avx512f,fma"), noinline))
#else
__attribute__((noinline))
#endif
void FmaLoop(int64_t count, float* out) {
#define EMBER_EACH(step)                                                  \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) \
      step(9) step(10) step(11)
  Wide x = {}, y = {};
  x += 0.999f, y += 0.001f;
#define EMBER_STEP(i) Wide a##i = x;
  EMBER_EACH(EMBER_STEP)
#undef EMBER_STEP
  for (int64_t n = 0; n < count; ++n) {
#define EMBER_STEP(i)  \
  a##i = a##i * x + y; \
  __asm__ volatile("" : "+v"(a##i));
    EMBER_EACH(EMBER_STEP)
#undef EMBER_STEP
  }
#define EMBER_STEP(i) y += a##i;
  EMBER_EACH(EMBER_STEP)
#undef EMBER_STEP
#undef EMBER_EACH
  *out = y[0];
}

double FmaPeak() {
  float sink;
  const double seconds = TimePerCall([&] { FmaLoop(100000, &sink); });
  return 100000.0 * 12 * 32 / seconds * 1e-9;
}

struct Case {
  std::string name;
  std::string text;
  double flops;        // number of floating-point operations per call
  double bytes;        // number of bytes moved per call; 0 if the case does not
                       // measure bandwidth
  uint32_t constants;  // bit set of the inputs that are constants of the
                       // module, so that they are packed once
};

std::string Number(int64_t value) { return std::to_string(value); }

Case Gemm(const std::string& name, int64_t m, int64_t n, int64_t k,
          bool constant) {
  Case c{name, "",
         2.0 * static_cast<double>(m) * static_cast<double>(n) *
             static_cast<double>(k),
         0, constant ? 2u : 0u};
  c.text = "dispatch @gemm(%a: f32[" + Number(m) + ", " + Number(k) +
           "], %b: f32[" + Number(k) + ", " + Number(n) + "]) -> (%c: f32[" +
           Number(m) + ", " + Number(n) + "]) { %c[i, j] = sum(k < " +
           Number(k) + ") %a[i, k] * %b[k, j] }";
  return c;
}

Case Conv(const std::string& name, int64_t size, int64_t in, int64_t out,
          int64_t window, int64_t stride, int64_t pad, bool depthwise) {
  const int64_t result = (size + 2 * pad - window) / stride + 1;
  const double points =
      static_cast<double>(result * result * out * window * window);
  Case c{name, "", 2.0 * points * (depthwise ? 1.0 : static_cast<double>(in)),
         0, 2u | 4u};
  const auto index = [&](const std::string& axis, const std::string& tap) {
    return Number(stride) + " * " + axis + " + " + tap + " - " + Number(pad);
  };
  const std::string place =
      "n, " + index("h", "r") + ", " + index("w", "s") + ", ";
  const std::string r = Number(window), o = Number(out), hw = Number(result);
  const std::string shape = "f32[1, " + hw + ", " + hw + ", " + o + "]";
  c.text = "dispatch @conv(%x: f32[1, " + Number(size) + ", " + Number(size) +
           ", " + Number(in) + "], %w: f32[" + r + ", " + r + ", " +
           (depthwise ? "" : Number(in) + ", ") + o + "], %b: f32[" + o +
           "]) -> (%y: " + shape + ") {\n  temp %acc: " + shape +
           "\n  %acc[n, h, w, o] = sum(r < " + r + ", s < " + r +
           (depthwise ? "" : ", c < " + Number(in)) + ") " +
           (pad > 0 ? "pad(%x[" : "%x[") + place + (depthwise ? "o" : "c") +
           "]" + (pad > 0 ? ", 0.0)" : "") + " * %w[r, s, " +
           (depthwise ? "" : "c, ") +
           "o]\n  %y[n, h, w, o] = max(%acc[n, h, w, o] + %b[o], 0.0)\n}";
  return c;
}

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      Gemm("gemm 256", 256, 256, 256, false),
      Gemm("gemm 512", 512, 512, 512, false),
      Gemm("gemm 1024", 1024, 1024, 1024, false),
      Gemm("bert_qkv", 128, 768, 768, true),
      Gemm("bert_ff1", 128, 3072, 768, true),
      Gemm("bert_ff2", 128, 768, 3072, true),
      Gemm("gemv_768", 1, 768, 768, true),
      Gemm("gemv_logits", 1, 50257, 768, true),
      Gemm("sq1024", 1024, 1024, 1024, true),
      Conv("stem7x7", 224, 3, 64, 7, 2, 3, false),
      Conv("s1_1x1a", 56, 64, 64, 1, 1, 0, false),
      Conv("s1_3x3", 56, 64, 64, 3, 1, 1, false),
      Conv("s1_1x1b", 56, 64, 256, 1, 1, 0, false),
      Conv("s2_1x1", 56, 256, 128, 1, 1, 0, false),
      Conv("s2_3x3s2", 56, 128, 128, 3, 2, 1, false),
      Conv("s2_3x3", 28, 128, 128, 3, 1, 1, false),
      Conv("s3_3x3", 14, 256, 256, 3, 1, 1, false),
      Conv("s3_1x1", 14, 256, 1024, 1, 1, 0, false),
      Conv("s4_3x3", 7, 512, 512, 3, 1, 1, false),
      Conv("s4_1x1", 7, 2048, 512, 1, 1, 0, false),
      Conv("mb_1x1 16", 112, 32, 16, 1, 1, 0, false),
      Conv("mb_1x1 24", 56, 96, 24, 1, 1, 0, false),
      Conv("mb_dw3x3", 112, 32, 32, 3, 1, 1, true),
      Conv("mb_dw3x3s2", 56, 144, 144, 3, 2, 1, true),
      Conv("mb_dw3x3c", 14, 576, 576, 3, 1, 1, true),
  };
  cases.push_back(
      {"attention 12x128",
       R"(dispatch @attention(%q: f32[128, 12, 64], %k: f32[128, 12, 64], %v: f32[128, 12, 64]) -> (%o: f32[128, 12, 64]) {
    temp %s: f32[12, 128, 128]
    temp %m: f32[12, 128]
    temp %e: f32[12, 128, 128]
    temp %d: f32[12, 128]
    temp %p: f32[12, 128, 128]
    %s[h, i, j] = sum(c < 64) %q[i, h, c] * %k[j, h, c]
    %m[h, i] = maximum(j < 128) %s[h, i, j]
    %e[h, i, j] = exp(%s[h, i, j] - %m[h, i])
    %d[h, i] = sum(j < 128) %e[h, i, j]
    %p[h, i, j] = %e[h, i, j] / %d[h, i]
    for (i < 128, h < 12, c < 64) %o[i, h, c] = sum(j < 128) %p[h, i, j] * %v[j, h, c]
  })",
       4.0 * 12 * 128 * 128 * 64, 0, 0});
  const double million = 1 << 20;
  cases.push_back({"add 1M",
                   "dispatch @add(%x: f32[1048576], %y: f32[1048576]) -> (%z: "
                   "f32[1048576]) { %z[i] = %x[i] + %y[i] }",
                   0, 12 * million, 0});
  cases.push_back({"add 16K",
                   "dispatch @add(%x: f32[16384], %y: f32[16384]) -> (%z: "
                   "f32[16384]) { %z[i] = %x[i] + %y[i] }",
                   0, 12 * 16384, 0});
  cases.push_back({"exp 64K",
                   "dispatch @exp(%x: f32[65536]) -> (%z: f32[65536]) { %z[i] "
                   "= exp(%x[i]) }",
                   0, 8 * 65536, 0});
  cases.push_back({"gelu 64K",
                   "dispatch @gelu(%x: f32[65536]) -> (%z: f32[65536]) { %z[i] "
                   "= %x[i] * (erf(%x[i] * 0.70710677) + 1.0) * 0.5 }",
                   0, 8 * 65536, 0});
  cases.push_back({"tanh 64K",
                   "dispatch @tanh(%x: f32[65536]) -> (%z: f32[65536]) { %z[i] "
                   "= tanh(%x[i]) }",
                   0, 8 * 65536, 0});
  cases.push_back({"transpose 1K",
                   "dispatch @t(%x: f32[1024, 1024]) -> (%z: f32[1024, 1024]) "
                   "{ %z[i, j] = %x[j, i] }",
                   0, 8 * million, 0});
  cases.push_back(
      {"softmax 128x1000",
       R"(dispatch @softmax(%x: f32[128, 1000]) -> (%y: f32[128, 1000]) {
    temp %m: f32[128]
    temp %e: f32[128, 1000]
    temp %s: f32[128]
    %m[b] = maximum(k < 1000) %x[b, k]
    %e[b, k] = exp(%x[b, k] - %m[b])
    %s[b] = sum(k < 1000) %e[b, k]
    %y[b, k] = %e[b, k] / %s[b]
  })",
       0, 8 * 128000, 0});
  cases.push_back(
      {"layernorm 128x768",
       R"(dispatch @layer_norm(%x: f32[128, 768], %g: f32[768], %b: f32[768]) -> (%y: f32[128, 768]) {
    temp %m: f32[128]
    temp %v: f32[128]
    %m[i] = sum(k < 768) %x[i, k]
    %v[i] = sum(k < 768) (%x[i, k] - %m[i] / 768.0) * (%x[i, k] - %m[i] / 768.0)
    %y[i, k] = (%x[i, k] - %m[i] / 768.0) / sqrt(%v[i] / 768.0 + 1e-05) * %g[k] + %b[k]
  })",
       0, 8 * 98304, 0});
  cases.push_back(
      {"maxpool 3x3s2",
       R"(dispatch @pool(%x: f32[1, 112, 112, 64]) -> (%y: f32[1, 56, 56, 64]) {
    %y[n, h, w, c] = maximum(r < 3, s < 3) pad(%x[n, 2 * h + r - 1, 2 * w + s - 1, c], -inf)
  })",
       0, 4.0 * (112 * 112 * 64 + 56 * 56 * 64), 0});
  cases.push_back(
      {"global average",
       R"(dispatch @average(%x: f32[1, 7, 7, 2048]) -> (%y: f32[1, 2048]) {
    %y[n, c] = sum(h < 7, w < 7) %x[n, h, w, c]
  })",
       0, 4.0 * 7 * 7 * 2048, 0});
  cases.push_back({"argmax 50257",
                   R"(dispatch @argmax(%x: f32[1, 50257]) -> (%i: i64[1]) {
    for (i < 1) fold(k < 50257) {
      element %e0: i64 = k from 0
      element %e1: f32 = %x[i, k] from -inf
      let %t0 = and(not(%e1 <= %a1), %a1 == %a1)
      next %a0 = select(%t0, %e0, %a0)
      next %a1 = select(%t0, %e1, %a1)
      %i[i] = %a0
    }
  })",
                   0, 4.0 * 50257, 0});
  cases.push_back({"argmax in two 50257",
                   R"(dispatch @argmax(%x: f32[1, 50257]) -> (%i: i64[1]) {
    temp %m: f32[1]
    temp %p: i32[1]
    %m[i] = maximum(k < 50257) %x[i, k]
    %p[i] = minimum(k < 50257) select(or(%x[i, k] == %m[i], %x[i, k] != %x[i, k]), i32(k), 50257)
    %i[i] = i64(%p[i])
  })",
                   0, 4.0 * 50257, 0});
  cases.push_back({"one element",
                   "dispatch @one(%x: f32[1], %y: f32[1]) -> (%z: f32[1]) { "
                   "%z[i] = %x[i] + %y[i] }",
                   0, 0, 0});
  return cases;
}

void Measure(const Case& c, ParallelRunner& runner, double peak) {
  const auto dispatch = tensor::Parse(c.text);
  if (!dispatch.ok()) {
    std::printf("%-18s %s\n", c.name.c_str(),
                dispatch.status().ToString().c_str());
    return;
  }
  Plan::Options options;
  for (int i = 0; i < 32; ++i)
    options.constant_inputs.push_back(c.constants >> i & 1);
  auto plan = Plan::Make(*dispatch, {}, options);
  if (!plan.ok()) {
    std::printf("%-18s %s\n", c.name.c_str(), plan.status().ToString().c_str());
    return;
  }
  std::vector<std::vector<float>> memory;
  std::vector<void*> pointers;
  for (size_t i = 0; i < dispatch->input_count() + dispatch->output_count();
       ++i) {
    const int64_t bytes = (*plan)->facts().required_bytes[i];
    memory.emplace_back(static_cast<size_t>(bytes / 4 + 32));
    for (size_t j = 0; j < memory.back().size(); ++j) {
      memory.back()[j] = static_cast<float>(j * 37 % 101) * 0.01f - 0.5f;
    }
    pointers.push_back(reinterpret_cast<void*>(
        (reinterpret_cast<uintptr_t>(memory.back().data()) + 63) / 64 * 64));
  }
  const Status status = (*plan)->Run(pointers, runner);
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  const double run = TimePerCall([&] { (void)(*plan)->Run(pointers, runner); });
  const double make =
      TimePerCall([&] { (void)Plan::Make(*dispatch, {}, options); }, 0.05);
  std::printf("%-18s %10.2f us", c.name.c_str(), run * 1e6);
  if (c.flops > 0) {
    const double rate = c.flops / run * 1e-9;
    std::printf("  %7.1f GFLOP/s %4.0f%%", rate, 100 * rate / peak);
  } else if (c.bytes > 0) {
    std::printf("  %7.1f GB/s         ", c.bytes / run * 1e-9);
  } else {
    std::printf("                      ");
  }
  std::string how = (*plan)->Describe();
  for (char& letter : how) letter = letter == '\n' ? ';' : letter;
  std::printf("  plan %6.1f us  %s\n", make * 1e6, how.c_str());
}

int Main(int argc, char** argv) {
  int threads = 1;
  std::string_view filter;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--threads=")) threads = std::atoi(argv[i] + 10);
    if (argument.starts_with("--filter=")) filter = argument.substr(9);
  }
  const double peak = FmaPeak() * threads;
  use_thread_time = threads == 1;
  std::printf("FMA peak %.1f GFLOP/s with %d thread(s)\n", peak, threads);
  SpinPool pool(threads);
  for (const Case& c : Cases()) {
    if (c.name.find(filter) != std::string::npos) Measure(c, pool, peak);
  }
  return 0;
}

}  // namespace
}  // namespace ember::vm

int main(int argc, char** argv) { return ember::vm::Main(argc, argv); }
