#include "tools/lib/peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ember::tools {
namespace {

// Each of these does kSteps steps of as many independent chains of
// multiply-adds as hide the latency, gives the number of operations, and stores
// a value that depends on all of them.
constexpr int64_t kSteps = 20000;
constexpr int kChains = 16;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) int64_t RunAvx512(float* sink) {
  __m512 chains[kChains];
  for (int i = 0; i < kChains; ++i)
    chains[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 factor = _mm512_set1_ps(0.999f), term = _mm512_set1_ps(0.001f);
  for (int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i)
      chains[i] = _mm512_fmadd_ps(chains[i], factor, term);
  }
  for (int i = 1; i < kChains; ++i)
    chains[0] = _mm512_add_ps(chains[0], chains[i]);
  *sink = _mm512_cvtss_f32(chains[0]);
  return kSteps * kChains * 16 * 2;
}

__attribute__((target("avx2,fma"))) int64_t RunAvx2(float* sink) {
  // Sixteen registers in all: twelve chains leave room for the constants.
  constexpr int kFewer = 12;
  __m256 chains[kFewer];
  for (int i = 0; i < kFewer; ++i)
    chains[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 factor = _mm256_set1_ps(0.999f), term = _mm256_set1_ps(0.001f);
  for (int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kFewer; ++i)
      chains[i] = _mm256_fmadd_ps(chains[i], factor, term);
  }
  for (int i = 1; i < kFewer; ++i)
    chains[0] = _mm256_add_ps(chains[0], chains[i]);
  *sink = _mm256_cvtss_f32(chains[0]);
  return kSteps * kFewer * 8 * 2;
}
#endif

int64_t RunPlain(float* sink) {
  constexpr int kLanes = 4 * kChains;
  float chains[kLanes];
  for (int i = 0; i < kLanes; ++i) chains[i] = static_cast<float>(i);
  for (int64_t step = 0; step < kSteps; ++step) {
    for (float& chain : chains) chain = chain * 0.999f + 0.001f;
  }
  for (int i = 1; i < kLanes; ++i) chains[0] += chains[i];
  *sink = chains[0];
  return kSteps * kLanes * 2;
}

int64_t RunOnce(float* sink) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return RunAvx512(sink);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return RunAvx2(sink);
#endif
  return RunPlain(sink);
}

// The best of many short stretches: what the processor can do, not what is left
// over by others.
double BestOfThread(std::chrono::steady_clock::time_point stop,
                    std::atomic<float>& sink) {
  double best = 0;
  do {
    float value = 0;
    const auto start = std::chrono::steady_clock::now();
    const auto operations = static_cast<double>(RunOnce(&value));
    const std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    sink.store(value, std::memory_order_relaxed);
    best = std::max(best, operations / time.count());
  } while (std::chrono::steady_clock::now() < stop);
  return best;
}

}  // namespace

double MeasureFmaPeak(int threads, double seconds) {
  const auto stop =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(
          std::chrono::duration<double>(seconds));
  std::atomic<float> sink{0};
  std::vector<double> rates(static_cast<size_t>(std::max(threads, 1)));
  std::vector<std::thread> others;
  for (size_t i = 1; i < rates.size(); ++i) {
    others.emplace_back([&, i] { rates[i] = BestOfThread(stop, sink); });
  }
  rates[0] = BestOfThread(stop, sink);
  for (std::thread& thread : others) thread.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum * 1e-9;
}

}  // namespace ember::tools
