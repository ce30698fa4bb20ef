#include "tune/fleet/fleet_measure.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "tune/fleet/job_id.h"
#include "tune/fleet/messages.h"

namespace ember::tune {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{200};

}  // namespace

FleetMeasure::FleetMeasure(const std::vector<Task>& tasks, JobQueue& queue,
                           FleetOptions options)
    : tasks_(tasks),
      queue_(queue),
      options_(std::move(options)),
      session_(NewSession()),
      names_(tasks.size()) {}

FleetMeasure::~FleetMeasure() { WithdrawAll(); }

void FleetMeasure::WithdrawAll() {
  std::set<std::string> channels;
  for (const Task& task : tasks_)
    channels.insert(ChannelOf(task.request.target));
  // Errors of Withdraw are ignored: if the queue cannot be reached, it discards
  // the jobs by itself.
  for (const std::string& channel : channels)
    static_cast<void>(queue_.Withdraw(channel, session_));
  pending_.clear();
}

StatusOr<bool> FleetMeasure::Submit(
    const Trial& trial, size_t number,
    const std::function<void(size_t, TrialResult)>& done) {
  const Task& task = tasks_[trial.task];
  std::string& name = names_[trial.task];
  if (name.empty()) {
    const StatusOr<std::string> text = WriteTask(task);
    if (!text.ok()) {
      TrialResult refused;
      refused.reason = text.status().message();
      done(number, std::move(refused));
      return false;
    }
    name = NameOfTask(*text);
    EMBER_RETURN_IF_ERROR(queue_.PutTask(name, *text));
  }
  Job job{.channel = ChannelOf(task.request.target),
          .id = JobId(session_, ++submitted_)};
  job.message =
      WriteJob({.task = name, .target = task.request.target, .trial = trial});
  pending_[job.id] = number;
  EMBER_RETURN_IF_ERROR(queue_.Submit(job));
  return true;
}

void FleetMeasure::Take(const Answer& answer,
                        const std::function<void(size_t, TrialResult)>& done) {
  const auto found = pending_.find(answer.id);
  if (found == pending_.end()) return;
  const size_t number = found->second;
  pending_.erase(found);
  StatusOr<TrialResult> result = ReadAnswer(answer.message);
  if (result.ok()) return done(number, *std::move(result));
  TrialResult lost;
  lost.outcome = Outcome::kCrashed;
  lost.reason =
      Concat({"a worker's answer was refused: ", result.status().message()});
  if (options_.notice) options_.notice(lost.reason);
  done(number, std::move(lost));
}

Status FleetMeasure::Run(std::span<const Trial> trials,
                         const std::function<void(size_t, TrialResult)>& done) {
  pending_.clear();
  for (size_t i = 0; i < trials.size(); ++i)
    EMBER_RETURN_IF_ERROR(Submit(trials[i], i, done).status());
  auto heard = SteadyClock::now();
  auto next_notice = heard + options_.first_notice;
  while (!pending_.empty()) {
    if (options_.should_stop && options_.should_stop()) {
      WithdrawAll();
      return CancelledError("stopped");
    }
    EMBER_ASSIGN_OR_RETURN(const std::vector<Answer> answers,
                           queue_.Answers(session_, kPatience));
    for (const Answer& answer : answers) Take(answer, done);
    const auto now = SteadyClock::now();
    if (!answers.empty()) {
      heard = now;
      next_notice = now + options_.first_notice;
      continue;
    }
    const std::string& target = tasks_[trials[0].task].request.target;
    const auto silent =
        std::chrono::duration_cast<std::chrono::seconds>(now - heard);
    if (silent >= options_.most_silence) {
      constexpr std::string_view kAdvice =
          " s; start one with vm-tune worker --connect";
      return InternalError(
          Concat({"no worker for ", target, " has answered for ",
                  silent.count(), kAdvice}));
    }
    if (now >= next_notice && options_.notice) {
      options_.notice(Concat({"no worker for ", target, " has answered for ",
                              silent.count(), " s: waiting"}));
      next_notice = now + options_.first_notice * 3;
    }
  }
  return OkStatus();
}

}  // namespace ember::tune
