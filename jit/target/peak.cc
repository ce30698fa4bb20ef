#include "jit/target/peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <span>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ember::jit {
namespace {

// Each of the following functions runs kSteps steps of several independent
// chains of multiply-adds, enough chains to hide the latency, and returns the
// number of operations. It stores a value that depends on all chains, so that
// the compiler cannot remove the operations.
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
  // Number of chains on a processor with sixteen vector registers: twelve
  // chains leave room for the constants.
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
  constexpr int kPlainChains = 4 * kChains;
  float chains[kPlainChains];
  for (int i = 0; i < kPlainChains; ++i) chains[i] = static_cast<float>(i);
  for (int64_t step = 0; step < kSteps; ++step) {
    for (float& chain : chains) chain = chain * 0.999f + 0.001f;
  }
  for (int i = 1; i < kPlainChains; ++i) chains[0] += chains[i];
  *sink = chains[0];
  return kSteps * kPlainChains * 2;
}

int64_t RunOnce(float* sink) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return RunAvx512(sink);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return RunAvx2(sink);
#endif
  return RunPlain(sink);
}

// Each of the following functions reads all elements once (those after the last
// multiple of kLanes are left out) and returns a value that depends on each
// load, so that the compiler cannot remove the loads.
constexpr size_t kLanes = 64;

#if defined(__x86_64__)
__attribute__((target("avx2"))) float ReadAvx2(std::span<const float> data) {
  __m256 sums[8] = {};
  for (size_t i = 0; i + kLanes <= data.size(); i += kLanes) {
#pragma GCC unroll 8
    for (size_t k = 0; k < 8; ++k)
      sums[k] = _mm256_add_ps(sums[k], _mm256_loadu_ps(&data[i + 8 * k]));
  }
  for (size_t k = 1; k < 8; ++k) sums[0] = _mm256_add_ps(sums[0], sums[k]);
  return _mm256_cvtss_f32(sums[0]);
}
#endif

float ReadPlain(std::span<const float> data) {
  float sums[kLanes] = {};
  for (size_t i = 0; i + kLanes <= data.size(); i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) sums[k] += data[i + k];
  }
  return std::accumulate(std::begin(sums), std::end(sums), 0.0f);
}

float ReadOnce(std::span<const float> data) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return ReadAvx2(data);
#endif
  return ReadPlain(data);
}

using Clock = std::chrono::steady_clock;

// Runs `run`, which returns its amount of work, many times for a short time
// each, and returns the best rate. The best one is the rate of the processor
// itself; the others may be lower because other programs ran.
template <typename Run>
double BestRate(Clock::time_point stop, const Run& run) {
  double best = 0;
  do {
    const auto start = Clock::now();
    const double work = run();
    const std::chrono::duration<double> time = Clock::now() - start;
    best = std::max(best, work / time.count());
  } while (Clock::now() < stop);
  return best;
}

// Runs `run` repeatedly in several threads at once. Returns the sum of the best
// rates of the threads, in 10^9 per second.
template <typename Run>
double BestOfThreads(int threads, double seconds, const Run& run) {
  const auto stop = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(seconds));
  std::vector<double> rates(static_cast<size_t>(std::max(threads, 1)));
  std::vector<std::thread> others;
  for (size_t i = 1; i < rates.size(); ++i) {
    others.emplace_back(
        [&, i] { rates[i] = BestRate(stop, [&] { return run(i); }); });
  }
  rates[0] = BestRate(stop, [&] { return run(size_t{0}); });
  for (std::thread& thread : others) thread.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0) * 1e-9;
}

std::string SizeText(int64_t bytes) {
  return bytes < 1 << 20 ? std::to_string(bytes >> 10) + " KiB"
                         : std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

double MeasureFmaPeak(int threads, double seconds) {
  std::atomic<float> sink{0};
  return BestOfThreads(threads, seconds, [&](size_t) {
    float value = 0;
    const auto operations = static_cast<double>(RunOnce(&value));
    sink.store(value, std::memory_order_relaxed);
    return operations;
  });
}

double MeasureReadRate(int threads, int64_t bytes, double seconds) {
  const auto count = static_cast<size_t>(std::max(threads, 1));
  const size_t part =
      std::max(static_cast<size_t>(bytes) / sizeof(float) / count, kLanes);
  const std::vector<float> data(part * count, 1.0f);
  std::atomic<float> sink{0};
  return BestOfThreads(threads, seconds, [&](size_t thread) {
    const std::span<const float> own(data.data() + thread * part, part);
    // Each thread reads its part several times, so that one measurement is long
    // enough for the clock's resolution.
    const size_t times = std::max<size_t>(1, (size_t{1} << 18) / part);
    float sum = 0;
    for (size_t i = 0; i < times; ++i) sum += ReadOnce(own);
    sink.store(sum, std::memory_order_relaxed);
    return static_cast<double>(times * part * sizeof(float));
  });
}

double MachineLimits::ReadRateFor(double bytes) const {
  const auto above = std::ranges::find_if(reads, [&](const ReadRate& rate) {
    return static_cast<double>(rate.bytes) >= bytes;
  });
  if (above == reads.begin()) return reads.front().gigabytes_per_second;
  if (above == reads.end()) return reads.back().gigabytes_per_second;
  const ReadRate& below = *(above - 1);
  const double share = std::log(bytes / static_cast<double>(below.bytes)) /
                       std::log(static_cast<double>(above->bytes) /
                                static_cast<double>(below.bytes));
  return below.gigabytes_per_second +
         share * (above->gigabytes_per_second - below.gigabytes_per_second);
}

std::string MachineLimits::Text() const {
  char text[96];
  std::snprintf(text, sizeof text,
                "%d threads: %.0f GFLOP/s of f32 multiply-adds; reads", threads,
                gflops);
  std::string line = text;
  for (const ReadRate& rate : reads) {
    std::snprintf(text, sizeof text, "%s of %s at %.0f GB/s",
                  &rate == &reads.front() ? "" : ",",
                  SizeText(rate.bytes).c_str(), rate.gigabytes_per_second);
    line += text;
  }
  return line;
}

MachineLimits MeasureMachineLimits(int threads) {
  MachineLimits limits;
  limits.threads = threads;
  limits.gflops = MeasureFmaPeak(threads, 0.15);
  for (int64_t bytes = 1 << 16; bytes <= 1 << 28; bytes <<= 2) {
    limits.reads.push_back({bytes, MeasureReadRate(threads, bytes, 0.05)});
    // A larger working set cannot be read faster than a smaller one. If it
    // seems so, other programs disturbed the measurement of the smaller set, so
    // the smaller set gets the larger rate.
    for (size_t i = limits.reads.size() - 1; i-- > 0;) {
      limits.reads[i].gigabytes_per_second =
          std::max(limits.reads[i].gigabytes_per_second,
                   limits.reads[i + 1].gigabytes_per_second);
    }
  }
  return limits;
}

}  // namespace ember::jit
