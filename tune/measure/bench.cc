#include "tune/measure/bench.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/parallel.h"

namespace ember::tune {
namespace {

// Number of tasks for which the bench keeps operands and the default kernel
// (Prepared). The least recently used one is dropped first.
constexpr size_t kKept = 4;
constexpr size_t kCacheLine = 64;
// Factor for the duration and the rounds of a careful trial
// (Trial::is_careful), compared with other trials.
constexpr int kCareful = 3;

TrialResult Failed(Outcome outcome, const Status& status) {
  TrialResult result;
  result.outcome = outcome;
  result.reason = status.message();
  std::ranges::replace(result.reason, '\n', ' ');
  return result;
}

Status Call(const vm::KernelRequest& request, const Operands& operands,
            const vm::Kernel& kernel) {
  SerialRunner runner;
  return vm::RunOnHost(kernel, {.parameters = request.parameters,
                                .buffers = operands.buffers(),
                                .runner = runner});
}

}  // namespace

StatusOr<Bench::Prepared*> Bench::Prepare(size_t task) {
  const auto found = std::ranges::find(prepared_, task, &Prepared::task);
  if (found != prepared_.end()) {
    prepared_.splice(prepared_.begin(), prepared_, found);
    return &prepared_.front();
  }
  const vm::KernelRequest& request = tasks_[task].request;
  Prepared prepared;
  prepared.task = task;
  EMBER_ASSIGN_OR_RETURN(prepared.operands, Operands::Make(request));
  EMBER_ASSIGN_OR_RETURN(prepared.reference, make_kernel_(request, ""));
  const Status status = Call(request, *prepared.operands, *prepared.reference);
  const std::string wrong =
      prepared.operands->Compare(*prepared.reference, status);
  if (!wrong.empty()) {
    return InternalError("the default kernel of @" + tasks_[task].name +
                         " differs from tier 0: " + wrong);
  }
  if (prepared_.size() >= kKept) prepared_.pop_back();
  prepared_.push_front(std::move(prepared));
  return &prepared_.front();
}

StatusOr<Timing> Bench::Measure(const Prepared& prepared,
                                const vm::Kernel& kernel, const Trial& trial) {
  const vm::KernelRequest& request = tasks_[prepared.task].request;
  InterleaveOptions options;
  options.most_ns = options_.most_ns;
  options.most_rounds = options_.most_rounds;
  options.most_ratio = trial.best * options_.most_ratio;
  if (trial.is_careful) {
    options.most_ns *= kCareful;
    options.most_rounds *= kCareful;
    options.most_ratio = std::numeric_limits<double>::infinity();
  }
  evicted_.resize(static_cast<size_t>(options_.evict_bytes));
  options.evict = [this] {
    for (size_t i = 0; i < evicted_.size(); i += kCacheLine) ++evicted_[i];
  };
  Status failed;
  const auto work = [&](const vm::Kernel& one) {
    return [&request, &prepared, &one, &failed] {
      Status status = Call(request, *prepared.operands, one);
      if (!status.ok()) failed = std::move(status);
    };
  };
  const std::function<void()> reference = work(*prepared.reference);
  const std::function<void()> candidate = work(kernel);
  if (options_.lock) options_.lock();
  const Timing timing =
      Interleave(reference, candidate, options, ThreadClock());
  if (options_.unlock) options_.unlock();
  EMBER_RETURN_IF_ERROR(failed);
  return timing;
}

TrialResult Bench::Run(const Trial& trial) {
  if (trial.task >= tasks_.size())
    return Failed(Outcome::kRefused, InternalError("no such task"));
  const StatusOr<Prepared*> prepared = Prepare(trial.task);
  if (!prepared.ok()) return Failed(Outcome::kRefused, prepared.status());
  const vm::KernelRequest& request = tasks_[trial.task].request;
  const auto start = std::chrono::steady_clock::now();
  const StatusOr<std::unique_ptr<vm::Kernel>> kernel =
      make_kernel_(request, trial.schedule);
  if (!kernel.ok()) return Failed(Outcome::kRefused, kernel.status());
  const std::chrono::duration<double, std::milli> compiling =
      std::chrono::steady_clock::now() - start;
  Operands& operands = *(*prepared)->operands;
  operands.ClearOutputs();
  const Status status = Call(request, operands, **kernel);
  const std::string wrong = operands.Compare(**kernel, status);
  if (!wrong.empty()) return Failed(Outcome::kWrong, InternalError(wrong));
  const StatusOr<Timing> timing = Measure(**prepared, **kernel, trial);
  if (!timing.ok()) return Failed(Outcome::kRefused, timing.status());
  TrialResult result;
  result.outcome =
      timing->is_hopeless ? Outcome::kHopeless : Outcome::kMeasured;
  result.seconds = timing->candidate_ns * 1e-9;
  result.ratio = timing->ratio;
  result.compile_ms = compiling.count();
  if (timing->is_hopeless) result.reason = "much slower than the best one";
  return result;
}

}  // namespace ember::tune
