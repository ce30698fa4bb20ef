#include "tune/fleet/fleet_worker.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/one_line.h"
#include "jit/kernel/tuned_schedules.h"

namespace ember::tune {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Largest number of tasks that a worker keeps in memory. Each of them may have
// large constants.
constexpr size_t kMaxTasks = 256;
constexpr milliseconds kPatience{500};
// Time between two renewals of the leases of jobs. Queues have leases of 10 s
// or more, so there is time for several attempts.
constexpr milliseconds kPeriod{1000};

}  // namespace

FleetWorker::FleetWorker(JobQueue& queue, FleetWorkerOptions options,
                         MakeServeFor make_serve)
    : queue_(queue),
      options_(std::move(options)),
      make_serve_(std::move(make_serve)) {}

FleetWorker::~FleetWorker() = default;

Status FleetWorker::Serve() {
  auto busy = SteadyClock::now();
  while (!ShouldStop()) {
    EMBER_ASSIGN_OR_RETURN(const std::vector<Job> jobs, TakeJobs(kPatience));
    if (!jobs.empty()) {
      EMBER_RETURN_IF_ERROR(RunJobs(jobs));
      busy = SteadyClock::now();
    } else if (options_.idle.count() > 0 &&
               SteadyClock::now() - busy > options_.idle) {
      break;
    }
  }
  if (alone_) static_cast<void>(queue_.GiveBack(*alone_));
  return OkStatus();
}

StatusOr<std::vector<Job>> FleetWorker::TakeJobs(milliseconds patience) {
  const std::string channel = ChannelOf(options_.target);
  std::vector<Job> jobs;
  if (alone_) {
    jobs.push_back(*std::exchange(alone_, std::nullopt));
    return jobs;
  }
  while (jobs.size() < static_cast<size_t>(std::max(options_.workers, 1))) {
    EMBER_ASSIGN_OR_RETURN(
        std::optional<Job> job,
        queue_.Take(channel, jobs.empty() ? patience : milliseconds(1)));
    if (!job) break;
    if (job->deliveries > 1 && !jobs.empty()) {
      alone_ = *std::move(job);
      break;
    }
    jobs.push_back(*std::move(job));
    if (jobs.back().deliveries > 1) break;
  }
  return jobs;
}

StatusOr<size_t> FleetWorker::FindTask(const std::string& name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  EMBER_ASSIGN_OR_RETURN(const std::string text, queue_.Task(name));
  if (NameOfTask(text) != name)
    return DataLossError("the text of a task has another hash than its name");
  EMBER_ASSIGN_OR_RETURN(Task task, ReadTask(text));
  pool_.reset();
  tasks_.push_back(std::move(task));
  return names_[name] = tasks_.size() - 1;
}

StatusOr<Trial> FleetWorker::Prepare(const Job& job) {
  EMBER_ASSIGN_OR_RETURN(JobMessage message, ReadJob(job.message));
  const std::string own = jit::WithoutCores(options_.target);
  if (jit::WithoutCores(message.target) != own) {
    return InvalidArgumentError(Concat(
        {"expected a job for ", own, ", found one for ", message.target}));
  }
  EMBER_ASSIGN_OR_RETURN(message.trial.task, FindTask(message.task));
  if (jit::WithoutCores(tasks_[message.trial.task].request.target) != own)
    return InvalidArgumentError("the job's task is for another target");
  return message.trial;
}

Status FleetWorker::Refuse(const Job& job, Outcome outcome,
                           const std::string& reason) {
  TrialResult result;
  result.outcome = outcome;
  result.reason = OnOneLine(reason);
  if (options_.notice) options_.notice(job.id + ": " + result.reason);
  return queue_.Reply(job, WriteResult(result));
}

void FleetWorker::Extend(const std::vector<Job>& jobs) {
  const auto now = SteadyClock::now();
  if (now - last_extension_ < kPeriod) return;
  last_extension_ = now;
  // Errors are ignored: if a lease is not renewed, another worker runs the job
  // again, which does no harm.
  for (const Job& job : jobs) static_cast<void>(queue_.Extend(job));
  if (alone_) static_cast<void>(queue_.Extend(*alone_));
}

Status FleetWorker::RunJobs(const std::vector<Job>& jobs) {
  std::vector<Trial> trials;
  running_.clear();
  if (tasks_.size() + jobs.size() > kMaxTasks) {
    pool_.reset();
    tasks_.clear();
    names_.clear();
  }
  for (const Job& job : jobs) {
    if (job.deliveries > kMaxLost) {
      EMBER_RETURN_IF_ERROR(
          Refuse(job, Outcome::kCrashed,
                 Concat({kMaxLost, " workers were lost with it"})));
      continue;
    }
    const StatusOr<Trial> trial = Prepare(job);
    if (!trial.ok()) {
      EMBER_RETURN_IF_ERROR(Refuse(job, Outcome::kRefused,
                                   std::string(trial.status().message())));
      continue;
    }
    trials.push_back(*trial);
    running_.push_back(job);
  }
  if (trials.empty()) return OkStatus();
  if (pool_ == nullptr) {
    pool_ = std::make_unique<WorkerPool>(
        PoolOptions{.workers = options_.workers,
                    .most_time = options_.most_time,
                    .should_stop =
                        [this] {
                          Extend(running_);
                          return ShouldStop();
                        }},
        make_serve_(tasks_));
  }
  const std::vector<Job> jobs_of_trials = running_;
  Status failed;
  const Status ran =
      pool_->Run(trials, [&](size_t i, const TrialResult& result) {
        const Job& job = jobs_of_trials[i];
        Status replied = queue_.Reply(job, WriteResult(result));
        if (!replied.ok()) failed = std::move(replied);
        ++answered_;
        std::erase_if(running_,
                      [&](const Job& other) { return other.id == job.id; });
      });
  // The jobs without an answer are returned, so that other workers can take
  // them at once, before the leases end.
  for (const Job& job : running_) static_cast<void>(queue_.GiveBack(job));
  running_.clear();
  if (ran.code() == StatusCode::kCancelled) return failed;
  EMBER_RETURN_IF_ERROR(ran);
  return failed;
}

}  // namespace ember::tune
