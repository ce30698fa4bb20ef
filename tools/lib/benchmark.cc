#include "tools/lib/benchmark.h"

#include <chrono>
#include <sstream>

#include "tools/lib/bind.h"
#include "tools/lib/child.h"
#include "tools/lib/device.h"
#include "tools/lib/load_model.h"
#include "tools/lib/process.h"
#include "tools/lib/profile.h"
#include "tools/lib/statistics.h"
#include "tools/lib/tier.h"
#include "vm/runtime/session.h"
#include "vm/runtime/string_functions.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

StatusOr<std::vector<double>> TimeRuns(const BenchmarkOptions& options,
                                       vm::Session& session,
                                       const std::vector<vm::Tensor>& inputs) {
  std::vector<vm::Tensor> results;
  for (int64_t i = 0; i < options.warmup; ++i) {
    EMBER_RETURN_IF_ERROR(session.Run(inputs, &results));
  }
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  constexpr int64_t kFewest = 3;
  for (int64_t i = 0; i < std::max(options.runs, kFewest); ++i) {
    if (i >= kFewest && MillisecondsSince(start) >= 1000 * options.seconds)
      break;
    const Clock::time_point begin = Clock::now();
    EMBER_RETURN_IF_ERROR(session.Run(inputs, &results));
    times.push_back(MillisecondsSince(begin));
  }
  return times;
}

}  // namespace

StatusOr<Measurement> Measure(const BenchmarkOptions& options) {
  Measurement m;
  Clock::time_point start = Clock::now();
  EMBER_ASSIGN_OR_RETURN(
      const LoadedModel model,
      LoadModel(options.model, {.shapes = options.shapes, .compile = {}}));
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         OpenDevice(options.device, options.threads));
  EMBER_ASSIGN_OR_RETURN(const Tier tier, OpenTier(options.tier, model.module,
                                                   "", "", options.cache));
  EMBER_ASSIGN_OR_RETURN(
      const std::unique_ptr<vm::Session> session,
      vm::Session::Create(model.module, {.device = std::move(device),
                                         .strings = vm::NewStringSupport,
                                         .tiering = tier.tiering}));
  m.load_ms = MillisecondsSince(start);

  RandomTensors random(0);
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<vm::Tensor> inputs,
      BindInputs(*model.module, options.inputs, options.shapes, random));
  start = Clock::now();
  std::vector<vm::Tensor> results;
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  m.first_ms = m.load_ms + MillisecondsSince(start);

  EMBER_ASSIGN_OR_RETURN(std::vector<double> times,
                         TimeRuns(options, *session, inputs));
  m.runs = static_cast<int64_t>(times.size());
  const Quantiles quantiles(std::move(times));
  m.median_ms = quantiles.At(0.5);
  m.p10_ms = quantiles.At(0.1);
  m.p90_ms = quantiles.At(0.9);
  m.rss_mb = ResidentMegabytes();
  m.peak_mb = PeakResidentMegabytes();
  m.tier_mix = TierMix(session->Profile());
  return m;
}

StatusOr<Measurement> MeasureInChild(const BenchmarkOptions& options) {
  const auto work = [&options]() -> StatusOr<std::string> {
    EMBER_ASSIGN_OR_RETURN(const Measurement m, Measure(options));
    std::ostringstream text;
    text.precision(17);
    text << m.median_ms << ' ' << m.p10_ms << ' ' << m.p90_ms << ' '
         << m.load_ms << ' ' << m.first_ms << ' ' << m.rss_mb << ' '
         << m.peak_mb << ' ' << m.runs << ' ' << m.tier_mix;
    return text.str();
  };
  EMBER_ASSIGN_OR_RETURN(const std::string text, RunInChild(work, 0));
  Measurement m;
  std::istringstream fields(text);
  fields >> m.median_ms >> m.p10_ms >> m.p90_ms >> m.load_ms >> m.first_ms >>
      m.rss_mb >> m.peak_mb >> m.runs >> std::ws;
  std::getline(fields, m.tier_mix);
  return m;
}

}  // namespace ember::tools
