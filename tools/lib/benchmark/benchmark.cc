#include "tools/lib/benchmark/benchmark.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "base/progress.h"
#include "tools/lib/benchmark/child.h"
#include "tools/lib/benchmark/process.h"
#include "tools/lib/benchmark/thread_waits.h"
#include "tools/lib/cli/compile_limits.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/time_limit.h"
#include "tools/lib/media/image_decoder.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/tier.h"
#include "tools/lib/report/placement.h"
#include "tools/lib/report/profile.h"
#include "tools/lib/report/statistics.h"
#include "tools/lib/tuning/serving/serving_tuner.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// Waits until the other process allows the next call of the model (see
// `BenchmarkOptions::turns`). Returns false if it wants no further call.
StatusOr<bool> WaitForTurn(int file) {
  char byte = 0;
  ssize_t count = write(file, &byte, 1);
  if (count == 1) {
    do {
      count = read(file, &byte, 1);
    } while (count < 0 && errno == EINTR);
  }
  if (count >= 0) return count == 1;
  return InvalidArgumentError(
      "--turns: expected a descriptor to write to and read from, found " +
      std::to_string(file) + ": " + std::strerror(errno));
}

// Calls a session repeatedly, and records how long each call took.
class Caller {
 public:
  Caller(vm::Session& session, const std::vector<vm::Tensor>& inputs,
         const BenchmarkOptions& options, const hal::Device& device)
      : session_(session),
        inputs_(inputs),
        options_(options),
        device_(device),
        turns_(static_cast<int>(options.turns)) {}

  // Makes one call of the model. Returns false, without a call, if no further
  // call is wanted.
  StatusOr<bool> Call() {
    if (turns_ >= 0) {
      EMBER_ASSIGN_OR_RETURN(const bool is_next, WaitForTurn(turns_));
      if (!is_next) return false;
    }
    const std::unique_ptr<TimeLimit> limit =
        LimitRunOnDevice(options_.limits, device_, options_.device);
    const double waited = threads_.milliseconds();
    const Clock::time_point begin = Clock::now();
    EMBER_RETURN_IF_ERROR(session_.Run(inputs_, &results_));
    last_ms_ = MillisecondsSince(begin);
    constexpr size_t kMaxKept = 1'000'000;
    if (times_.size() < kMaxKept) {
      times_.push_back(last_ms_);
      waits_.push_back(threads_.milliseconds() - waited);
    }
    return true;
  }
  double last_ms() const { return last_ms_; }
  std::vector<double>& times() { return times_; }
  std::vector<double>& waits() { return waits_; }

 private:
  vm::Session& session_;
  const std::vector<vm::Tensor>& inputs_;
  std::vector<vm::Tensor> results_;
  const BenchmarkOptions& options_;
  const hal::Device& device_;
  const int turns_;
  // Measures how long the calling thread and the device's threads have waited
  // for a core. The threads that compile kernels are not included, because they
  // start later, with the first compilation.
  const ThreadWaits threads_;
  std::vector<double> times_;
  std::vector<double> waits_;
  double last_ms_ = 0;
};

TierOptions TierOptionsOf(const BenchmarkOptions& options) {
  return {.tier = options.tier,
          .jit = options.jit,
          .schedule_folder = options.schedules,
          .has_schedules_of_others = options.has_schedules_of_others,
          .cache = options.cache,
          .progress = options.load.progress,
          .rounding = options.rounding,
          .checks = options.checks,
          .native = options.native,
          // Overlays (files of kernels) are looked for beside the module's
          // file. A module that is not in a file has none.
          .model = options.module == nullptr ? options.model : ""};
}

StatusOr<std::shared_ptr<const vm::Module>> ModuleOf(
    const BenchmarkOptions& options) {
  if (options.module != nullptr) return options.module;
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<CompileLimits> limits,
                         CompileLimits::Start(options.limits, options.model));
  EMBER_ASSIGN_OR_RETURN(LoadedModel model,
                         LoadModel(options.model, options.load));
  return std::move(model.module);
}

Status WarmUp(const BenchmarkOptions& options, const Tier& tier,
              const vm::Session& session, Caller& caller, Measurement& m) {
  const Clock::time_point start = Clock::now();
  for (m.warmup_calls = 1;; ++m.warmup_calls) {
    m.is_settled =
        session.IsSettled() && (tier.jit == nullptr || !tier.jit->is_busy());
    const bool may_begin = m.is_settled || MillisecondsSince(start) >=
                                               1000 * options.settle_seconds;
    if (m.warmup_calls > options.warmup && may_begin) return OkStatus();
    EMBER_RETURN_IF_ERROR(ReportStep(options.load.progress.get(),
                                     {"warm-up", "", m.warmup_calls, 0}));
    EMBER_ASSIGN_OR_RETURN(const bool is_called, caller.Call());
    if (!is_called) return OkStatus();
  }
}

// Starts tuning the session while it runs, if the options ask for it.
StatusOr<std::unique_ptr<ServingTuner>> TuneWhileServing(
    const BenchmarkOptions& options, const vm::Session& session,
    const Tier& tier, const hal::Device& device) {
  if (options.while_serving == 0) return std::unique_ptr<ServingTuner>();
  return ServingTuner::Start(session, tier,
                             {.share = options.while_serving,
                              .target = std::string(device.target()),
                              .records = options.serving_records});
}

StatusOr<std::vector<double>> TimeRuns(const BenchmarkOptions& options,
                                       Caller& caller) {
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  constexpr int64_t kFewest = 3;
  for (int64_t i = 0; i < std::max(options.runs, kFewest); ++i) {
    if (i >= kFewest && MillisecondsSince(start) >= 1000 * options.seconds)
      break;
    EMBER_RETURN_IF_ERROR(
        ReportStep(options.load.progress.get(),
                   {"run", "", i, std::max(options.runs, kFewest)}));
    EMBER_ASSIGN_OR_RETURN(const bool is_called, caller.Call());
    if (!is_called) break;
    times.push_back(caller.last_ms());
  }
  if (times.empty()) times.push_back(caller.last_ms());
  return times;
}

void AddJitTotals(const Tier& tier, Measurement& m) {
  if (tier.jit == nullptr) return;
  const jit::JitTotals totals = tier.jit->totals();
  m.kernels = totals.kernels;
  m.kernels_loaded = totals.loaded;
  m.compile_ms = totals.schedule_ms + totals.optimize_ms + totals.codegen_ms +
                 totals.pack_ms;
}

void AddDeviceWork(const std::string& device, const vm::Session& session,
                   Measurement& m) {
  const vm::DeviceWork work = session.device_report().work;
  const double runs = static_cast<double>(std::max<int64_t>(work.runs, 1));
  m.is_on_device = true;
  m.submissions = static_cast<double>(work.submissions) / runs;
  m.commands = static_cast<double>(work.commands) / runs;
  m.host_ms = 1e-6 * static_cast<double>(work.host_ns) / runs;
  const Placement placement = PlacementOf(session.Profile());
  if (placement.on_host > 0) m.on_host = placement.Text(device);
}

}  // namespace

StatusOr<Measurement> Measure(const BenchmarkOptions& options) {
  Measurement m;
  Clock::time_point start = Clock::now();
  const TierOptions tier_options = TierOptionsOf(options);
  EMBER_RETURN_IF_ERROR(CheckTierOptions(tier_options));
  EMBER_ASSIGN_OR_RETURN(
      std::shared_ptr<hal::Device> device,
      OpenDevice(options.device, options.threads, options.cache.folder));
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const vm::Module> module,
                         ModuleOf(options));
  EMBER_ASSIGN_OR_RETURN(Tier tier, OpenTier(tier_options, device, module));
  vm::SessionOptions session_options = {
      .device = device,
      .device_support = vm::NewDeviceSupport,
      .strings = vm::NewStringSupport,
      .images = DecodeImage,
      .tiering = tier.tiering,
      .side_by_side = !options.no_side_by_side};
  EMBER_RETURN_IF_ERROR(SetLimits(options.limits, session_options));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         vm::Session::Create(module, session_options));
  m.load_ms = MillisecondsSince(start);

  constexpr uint64_t kSeed = 0;
  RandomTensors random(kSeed);
  MissingInputs missing = options.missing;
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<vm::Tensor> inputs,
      BindInputs(*module, options.load.inputs, options.load.shapes, random,
                 options.limits, &missing));
  if (options.reports_random) missing.Report("vm-bench", kSeed);
  if (options.peer_inputs != nullptr)
    EMBER_RETURN_IF_ERROR(options.peer_inputs->Write(*module, inputs));
  Caller caller(*session, inputs, options, *device);
  EMBER_RETURN_IF_ERROR(
      ReportStep(options.load.progress.get(), {"warm-up", "", 0, 0}));
  EMBER_RETURN_IF_ERROR(missing.ExplainError(caller.Call().status()));
  EMBER_RETURN_IF_ERROR(CheckSchedulesUsed(tier));
  m.first_ms = m.load_ms + caller.last_ms();
  EMBER_RETURN_IF_ERROR(WarmUp(options, tier, *session, caller, m));
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ServingTuner> tuner,
                         TuneWhileServing(options, *session, tier, *device));
  session->ResetProfile();
  EMBER_ASSIGN_OR_RETURN(std::vector<double> times, TimeRuns(options, caller));
  if (options.load.progress != nullptr) options.load.progress->Clear();
  if (tuner != nullptr) {
    m.kernels_tuned = tuner->kernels();
    if (const std::string problem = tuner->problem(); !problem.empty())
      std::fprintf(stderr, "--while-serving: %s\n", problem.c_str());
    tuner.reset();
  }
  m.runs = static_cast<int64_t>(times.size());
  const Quantiles quantiles(std::move(times));
  m.median_ms = quantiles.At(0.5);
  m.p10_ms = quantiles.At(0.1);
  m.p90_ms = quantiles.At(0.9);
  m.rss_mb = ResidentMegabytes();
  m.peak_mb = PeakResidentMegabytes();
  m.tier_mix = TierMix(session->Profile());
  if (session->side_by_side_count() > 0) {
    m.tier_mix +=
        ", " + std::to_string(session->side_by_side_count()) + " side by side";
  }
  if (!device->is_host()) AddDeviceWork(options.device, *session, m);
  if (options.cancels > 0) {
    EMBER_ASSIGN_OR_RETURN(
        m.cancel, MeasureCancel(*session, inputs, options.cancels, /*seed=*/1));
  }
  m.calls_ms = std::move(caller.times());
  m.waits_ms = std::move(caller.waits());
  AddJitTotals(tier, m);
  return m;
}

StatusOr<Measurement> MeasureInChild(const BenchmarkOptions& options) {
  const auto work = [&options]() -> StatusOr<std::string> {
    EMBER_ASSIGN_OR_RETURN(const Measurement m, Measure(options));
    std::ostringstream text;
    text.precision(17);
    text << m.median_ms << ' ' << m.p10_ms << ' ' << m.p90_ms << ' '
         << m.load_ms << ' ' << m.first_ms << ' ' << m.rss_mb << ' '
         << m.peak_mb << ' ' << m.runs << ' ' << m.warmup_calls << ' '
         << m.is_settled << ' ' << m.compile_ms << ' ' << m.kernels << ' '
         << m.kernels_loaded << ' ' << m.is_on_device << ' ' << m.submissions
         << ' ' << m.commands << ' ' << m.host_ms << ' ' << m.cancel.cancelled
         << ' ' << m.cancel.median_ms << ' ' << m.cancel.worst_ms << ' '
         << m.kernels_tuned << ' ' << m.calls_ms.size();
    for (const double ms : m.calls_ms) text << ' ' << ms;
    for (const double ms : m.waits_ms) text << ' ' << ms;
    text << ' ' << m.tier_mix << '\n' << m.on_host;
    return text.str();
  };
  EMBER_ASSIGN_OR_RETURN(const std::string text, RunInChild(work, 0));
  Measurement m;
  size_t calls = 0;
  std::istringstream fields(text);
  fields >> m.median_ms >> m.p10_ms >> m.p90_ms >> m.load_ms >> m.first_ms >>
      m.rss_mb >> m.peak_mb >> m.runs >> m.warmup_calls >> m.is_settled >>
      m.compile_ms >> m.kernels >> m.kernels_loaded >> m.is_on_device >>
      m.submissions >> m.commands >> m.host_ms >> m.cancel.cancelled >>
      m.cancel.median_ms >> m.cancel.worst_ms >> m.kernels_tuned >> calls;
  m.calls_ms.resize(calls);
  for (double& ms : m.calls_ms) fields >> ms;
  m.waits_ms.resize(calls);
  for (double& ms : m.waits_ms) fields >> ms;
  fields >> std::ws;
  std::getline(fields, m.tier_mix);
  std::getline(fields, m.on_host);
  return m;
}

}  // namespace ember::tools
