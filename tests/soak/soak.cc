// Runs several sessions in several threads for minutes or hours, as a server
// does: shapes vary at random, kernels are made in the background (tier auto),
// limits are exceeded, runs are cancelled, sessions end and others begin. Every
// result is compared with tier 0's. Memory and latency over time are written as
// CSV and SVG.
//
// Exit status 1 if a result is wrong, an error was not provoked, or memory
// grows: the mean of the last fifth of the time is more than 5% and 4 MB above
// that of the second fifth.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "base/file.h"
#include "hal/cpu/device.h"
#include "jit/jit.h"
#include "tests/soak/plot.h"
#include "tests/soak/soak_model.h"
#include "tools/lib/benchmark/process.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/report/table.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"

namespace ember::tests {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> files;
  double minutes = 10;
  int64_t threads = 4, variants = 24, seed = 0, runs = 0;
  std::string output = "soak";
};

struct Counts {
  std::atomic<int64_t> runs{0}, limits{0}, cancelled{0}, sessions{0};
};

// Figures of one second, over all threads.
struct Sample {
  double seconds = 0, megabytes = 0;
  int64_t runs = 0, kernels = 0;
  double median_ms = 0, p99_ms = 0, largest_ms = 0;
};

struct Loaded {
  SoakModel model;
  std::shared_ptr<vm::Tiering> tiering;
};

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options) {}
  Status Run();

 private:
  // A thread that runs models, with the state that other threads access while
  // it runs.
  struct Worker {
    std::mutex mutex;  // guards the members that follow
    vm::Session* running = nullptr;
    // duration in ms of each run since the last sample
    std::vector<double> latencies_ms;
  };

  Status Load();
  Status Work(Worker& worker, uint64_t seed);
  Status RunOne(Worker& worker, const Loaded& loaded, vm::Session& session,
                bool is_limited, uint64_t choice);
  StatusOr<std::unique_ptr<vm::Session>> NewSession(
      const Loaded& loaded, const std::shared_ptr<hal::Device>& device,
      bool is_limited, uint64_t choice);
  void CancelSomething(std::mt19937_64& random);
  void TakeSample(Clock::time_point start);
  Status Report() const;
  bool IsOver() const {
    return is_over_ ||
           (options_.runs > 0 && counts_.runs.load() >= options_.runs);
  }

  const Options options_;
  std::shared_ptr<jit::Jit> jit_;
  std::vector<Loaded> models_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Counts counts_;
  std::atomic<bool> is_over_{false};
  std::vector<Sample> samples_;
};

Status Soak::Load() {
  EMBER_ASSIGN_OR_RETURN(jit_, jit::NewJit({.threads = 1}));
  for (const std::string& file : options_.files) {
    EMBER_ASSIGN_OR_RETURN(
        SoakModel model,
        SoakModel::Load(tools::UserPath(file), options_.variants,
                        static_cast<uint64_t>(options_.seed)));
    auto tiering = std::make_shared<vm::Tiering>(model.module(), jit_,
                                                 vm::Tiering::Options{});
    models_.push_back({std::move(model), std::move(tiering)});
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<vm::Session>> Soak::NewSession(
    const Loaded& loaded, const std::shared_ptr<hal::Device>& device,
    bool is_limited, uint64_t choice) {
  vm::SessionOptions options;
  options.device = device;
  options.strings = vm::NewStringSupport;
  options.tiering = loaded.tiering;
  if (is_limited) {
    switch (choice % 3) {
      case 0:
        options.memory_limit = 1 + static_cast<int64_t>(choice / 3 % 8192);
        break;
      case 1:
        options.work_limit = 1 + static_cast<int64_t>(choice / 3 % 4096);
        break;
      default:
        options.max_seconds = 1e-6;
        break;
    }
  }
  ++counts_.sessions;
  return vm::Session::Create(loaded.model.module(), options);
}

Status Soak::RunOne(Worker& worker, const Loaded& loaded, vm::Session& session,
                    bool is_limited, uint64_t choice) {
  const size_t number = choice % loaded.model.size();
  std::vector<vm::Tensor> results;
  {
    const std::scoped_lock lock(worker.mutex);
    worker.running = &session;
  }
  const Clock::time_point begin = Clock::now();
  const Status status =
      session.Run(loaded.model.variant(number).inputs, &results);
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
  {
    const std::scoped_lock lock(worker.mutex);
    worker.running = nullptr;
    if (!is_limited) worker.latencies_ms.push_back(took.count());
  }
  ++counts_.runs;
  if (status.code() == StatusCode::kCancelled) {
    ++counts_.cancelled;
    return OkStatus();
  }
  if (is_limited && status.code() == StatusCode::kResourceExhausted) {
    ++counts_.limits;
    return OkStatus();
  }
  return loaded.model.Check(number, status, results);
}

Status Soak::Work(Worker& worker, uint64_t seed) {
  std::mt19937_64 random(seed);
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Device> device,
                         hal::CreateCpuDevice({.threads = 1}));
  std::vector<std::unique_ptr<vm::Session>> sessions(models_.size());
  while (!IsOver()) {
    const size_t m = random() % models_.size();
    const Loaded& loaded = models_[m];
    if (sessions[m] == nullptr || random() % 500 == 0) {
      EMBER_ASSIGN_OR_RETURN(sessions[m], NewSession(loaded, device, false, 0));
    }
    if (random() % 50 == 0) {
      StatusOr<std::unique_ptr<vm::Session>> limited =
          NewSession(loaded, device, true, random());
      if (!limited.ok() &&
          limited.status().code() == StatusCode::kResourceExhausted) {
        ++counts_.limits;
        continue;
      }
      if (!limited.ok()) return limited.status();
      // A session can still be used after a run that exceeded a limit, because
      // limits apply to each run. So this session runs three times.
      for (int i = 0; i < 3; ++i) {
        EMBER_RETURN_IF_ERROR(
            RunOne(worker, loaded, **limited, true, random()));
      }
      continue;
    }
    EMBER_RETURN_IF_ERROR(
        RunOne(worker, loaded, *sessions[m], false, random()));
  }
  return OkStatus();
}

void Soak::CancelSomething(std::mt19937_64& random) {
  Worker& worker = *workers_[random() % workers_.size()];
  const std::scoped_lock lock(worker.mutex);
  if (worker.running != nullptr) worker.running->Cancel();
}

void Soak::TakeSample(Clock::time_point start) {
  std::vector<double> latencies;
  for (const auto& worker : workers_) {
    const std::scoped_lock lock(worker->mutex);
    latencies.insert(latencies.end(), worker->latencies_ms.begin(),
                     worker->latencies_ms.end());
    worker->latencies_ms.clear();
  }
  Sample sample;
  sample.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  sample.megabytes = tools::ResidentMegabytes();
  sample.kernels = jit_->totals().kernels;
  sample.runs = static_cast<int64_t>(latencies.size());
  if (!latencies.empty()) {
    std::ranges::sort(latencies);
    sample.median_ms = latencies[latencies.size() / 2];
    sample.p99_ms = latencies[latencies.size() * 99 / 100];
    sample.largest_ms = latencies.back();
  }
  samples_.push_back(sample);
}

// Returns the mean of a member over the samples between two fractions (0 to 1)
// of the time.
double Mean(const std::vector<Sample>& samples, double begin, double end,
            double Sample::* value) {
  const auto count = static_cast<double>(samples.size());
  const auto first = static_cast<size_t>(begin * count);
  const auto last = std::max(first + 1, static_cast<size_t>(end * count));
  double sum = 0;
  for (size_t i = first; i < last && i < samples.size(); ++i)
    sum += samples[i].*value;
  return sum / static_cast<double>(last - first);
}

Status Soak::Report() const {
  tools::Table table({"seconds", "resident_mb", "runs", "median_ms", "p99_ms",
                      "largest_ms", "kernels"});
  std::vector<double> times;
  PlotPanel memory{"resident memory (MB)", {{"resident", {}}}};
  PlotPanel latency{"latency (ms)", {{"median", {}}, {"p99", {}}}};
  PlotPanel speed{"runs per second, and kernels so far",
                  {{"runs", {}}, {"kernels", {}}}};
  for (const Sample& sample : samples_) {
    table.AddRow({tools::Cell(sample.seconds, 1),
                  tools::Cell(sample.megabytes, 2), sample.runs,
                  tools::Cell(sample.median_ms, 4),
                  tools::Cell(sample.p99_ms, 4),
                  tools::Cell(sample.largest_ms, 3), sample.kernels});
    times.push_back(sample.seconds);
    memory.lines[0].values.push_back(sample.megabytes);
    latency.lines[0].values.push_back(sample.median_ms);
    latency.lines[1].values.push_back(sample.p99_ms);
    speed.lines[0].values.push_back(static_cast<double>(sample.runs));
    speed.lines[1].values.push_back(static_cast<double>(sample.kernels));
  }
  const std::string path = tools::UserPath(options_.output);
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(
      path + ".csv", table.Print(tools::TableFormat::kCsv)));
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(
      path + ".svg", PlotOverTime({memory, latency, speed}, times)));
  const double before = Mean(samples_, 0.2, 0.4, &Sample::megabytes);
  const double after = Mean(samples_, 0.8, 1, &Sample::megabytes);
  const jit::JitTotals totals = jit_->totals();
  std::printf(
      "%lld runs in %lld sessions on %lld threads: %lld reached a limit, %lld "
      "were cancelled, all others gave tier 0's results; %lld kernels (%lld "
      "declined).\n"
      "Memory: %.1f MB in the second fifth of the time, %.1f MB in the last "
      "(peak %.1f). Median latency: %.3f and %.3f ms, p99: %.3f and %.3f ms.\n"
      "%s.csv, %s.svg\n",
      static_cast<long long>(counts_.runs.load()),
      static_cast<long long>(counts_.sessions.load()),
      static_cast<long long>(options_.threads),
      static_cast<long long>(counts_.limits.load()),
      static_cast<long long>(counts_.cancelled.load()),
      static_cast<long long>(totals.kernels),
      static_cast<long long>(totals.declined), before, after,
      tools::PeakResidentMegabytes(),
      Mean(samples_, 0.2, 0.4, &Sample::median_ms),
      Mean(samples_, 0.8, 1, &Sample::median_ms),
      Mean(samples_, 0.2, 0.4, &Sample::p99_ms),
      Mean(samples_, 0.8, 1, &Sample::p99_ms), path.c_str(), path.c_str());
  // Growth of memory is not judged for a given number of runs, which takes only
  // seconds: kernels are still being compiled then.
  if (options_.runs == 0 && after > 1.05 * before && after > before + 4)
    return InternalError("memory grows");
  return OkStatus();
}

Status Soak::Run() {
  if (options_.threads < 1 || options_.variants < 1 ||
      !(options_.minutes > 0)) {
    return InvalidArgumentError(
        "expected --threads and --variants of at least 1 and --minutes above "
        "0, found less");
  }
  EMBER_RETURN_IF_ERROR(Load());
  std::printf("seed %lld, %zu models\n", static_cast<long long>(options_.seed),
              models_.size());
  std::fflush(stdout);
  std::vector<Status> ends(static_cast<size_t>(options_.threads));
  for (size_t i = 0; i < ends.size(); ++i)
    workers_.push_back(std::make_unique<Worker>());
  const Clock::time_point start = Clock::now();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ends.size(); ++i) {
    threads.emplace_back([this, i, &ends] {
      ends[i] =
          Work(*workers_[i], static_cast<uint64_t>(options_.seed) * 1000 + i);
      if (!ends[i].ok()) is_over_ = true;
    });
  }
  std::mt19937_64 random(static_cast<uint64_t>(options_.seed));
  const auto until =
      start + std::chrono::duration<double>(60 * options_.minutes);
  auto next_sample = start + std::chrono::seconds(1);
  while (!IsOver() && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (random() % 5 == 0) CancelSomething(random);
    if (Clock::now() < next_sample) continue;
    TakeSample(start);
    next_sample += std::chrono::seconds(1);
  }
  is_over_ = true;
  for (std::thread& thread : threads) thread.join();
  // A last part of a second is not recorded as a sample, unless there is no
  // sample yet.
  if (samples_.empty()) TakeSample(start);
  for (const Status& end : ends) EMBER_RETURN_IF_ERROR(end);
  return Report();
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  options.seed = std::random_device()() % 1'000'000;
  ember::tools::Flags flags(
      "soak", "MODULE.vmfb... [flags]",
      "Runs modules in several threads for a long time, and watches memory, "
      "latency and results.");
  flags.Positional("MODULE.vmfb", 1, 1000, &options.files);
  flags.Add("minutes", &options.minutes, "M", "Runs for M minutes.");
  flags.Add("runs", &options.runs, "N",
            "Ends after N runs, and prints nothing about memory. 0: ends "
            "by time.");
  flags.Add("threads", &options.threads, "N",
            "Runs N threads, each with its own sessions.");
  flags.Add("variants", &options.variants, "N",
            "Uses N sets of inputs for each model.");
  flags.Add("seed", &options.seed, "N",
            "Seeds the inputs; the default is random.");
  flags.Add("o", &options.output, "PATH", "Writes PATH.csv and PATH.svg.");
  flags.Example("soak model.vmfb --minutes=60");
  return ember::tools::RunTool(argc, argv, flags, [&options] {
    return ember::tests::Soak(options).Run();
  });
}
