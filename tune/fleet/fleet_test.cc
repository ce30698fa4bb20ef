// Tests a tuner that sends trials to worker processes through a shared folder.
// Each trial is measured once, even if a worker is lost, and invalid messages
// of strangers do no harm.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/text/text.h"
#include "tune/fleet/fleet_measure.h"
#include "tune/fleet/fleet_worker.h"
#include "tune/fleet/folder_queue.h"
#include "tune/fleet/job_id.h"
#include "tune/fleet/job_queue.h"
#include "tune/fleet/messages.h"
#include "tune/task/task.h"

namespace ember::tune {
namespace {

using std::chrono::milliseconds;

constexpr FolderQueueOptions kQuick{.lease = milliseconds(2500),
                                    .period = milliseconds(10)};

// Returns a worker that treats a trial's schedule as a command: "crash" and
// "kill the worker" do that, any other text gives a result. The result's reason
// is the target of the task.
WorkerPool::MakeServe Obey(const std::vector<Task>& tasks) {
  return [&tasks](const WorkerPool::Locks&) {
    return [&tasks](const Trial& trial) {
      if (trial.schedule == "crash") std::abort();
      if (trial.schedule == "kill the worker") {
        kill(getppid(), SIGKILL);
        usleep(10'000'000);
      }
      TrialResult result;
      result.outcome = Outcome::kMeasured;
      result.seconds = 0.25;
      result.ratio = trial.best * 2;
      result.reason = tasks[trial.task].request.target;
      return result;
    };
  };
}

class FleetTest : public ::testing::Test {
 protected:
  FleetTest() : folder_(::testing::TempDir() + "/queue") {
    std::filesystem::remove_all(folder_);
    auto parsed = tensor::Parse(R"(
        dispatch @twice(%x: f32[64]) -> (%y: f32[64]) {
          %y[i] = %x[i] + %x[i]
        })");
    EXPECT_TRUE(parsed.ok());
    dispatch_ = *std::move(parsed);
    for (const char* target : {"x86_64-linux+avx2+cores=4", "aarch64-linux"}) {
      vm::KernelRequest request;
      request.dispatch = &dispatch_;
      request.target = target;
      tasks_.push_back(MakeTask(request));
    }
    queue_ = Open();
  }
  ~FleetTest() override {
    for (const pid_t worker : workers_) kill(worker, SIGKILL);
    for (const pid_t worker : workers_) waitpid(worker, nullptr, 0);
  }

  std::unique_ptr<JobQueue> Open() const {
    auto queue = OpenFolderQueue(folder_, kQuick);
    EXPECT_TRUE(queue.ok()) << queue.status().ToString();
    return *std::move(queue);
  }

  // Starts a worker's process.
  void StartWorker(const std::string& target) {
    const pid_t process = fork();
    if (process == 0) {
      const std::unique_ptr<JobQueue> queue = Open();
      FleetWorker worker(*queue, {.target = target, .workers = 2}, Obey);
      _exit(worker.Serve().ok() ? 0 : 1);
    }
    workers_.push_back(process);
  }

  std::vector<TrialResult> Measure(const std::vector<Trial>& trials) {
    FleetMeasure measure(tasks_, *queue_, {});
    std::vector<TrialResult> results(trials.size());
    std::vector<int> times(trials.size());
    const Status status =
        measure.Run(trials, [&](size_t i, TrialResult result) {
          ++times[i];
          results[i] = std::move(result);
        });
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(times, std::vector<int>(trials.size(), 1));
    return results;
  }

  const std::string folder_;
  tensor::Dispatch dispatch_;
  std::vector<Task> tasks_;
  std::unique_ptr<JobQueue> queue_;
  std::vector<pid_t> workers_;
};

TEST_F(FleetTest, TwoWorkersRunEachTrialOnce) {
  StartWorker("x86_64-linux+avx2+cores=2");
  StartWorker("x86_64-linux+avx2+cores=8");
  std::vector<Trial> trials(20, Trial{.schedule = "x", .best = 0.3});
  trials[3].schedule = "crash";
  const std::vector<TrialResult> results = Measure(trials);
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].outcome,
              i == 3 ? Outcome::kCrashed : Outcome::kMeasured);
    EXPECT_EQ(results[i].ratio, i == 3 ? 0 : 0.6);
  }
}

TEST_F(FleetTest, TargetsHaveTheirOwnWorkers) {
  StartWorker("x86_64-linux+avx2");
  StartWorker("aarch64-linux+cores=1");
  std::vector<Trial> trials;
  for (size_t i = 0; i < 8; ++i) trials.push_back({.task = i % 2});
  const std::vector<TrialResult> results = Measure(trials);
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i].reason, tasks_[i % 2].request.target);
}

TEST_F(FleetTest, TrialsOfALostWorkerGoToAnother) {
  StartWorker("x86_64-linux+avx2");
  const std::string channel = ChannelOf(tasks_[0].request.target);
  // The forked process takes a job and exits without an answer. Its job stays
  // in taken/, where its lease is not renewed, until the worker gets it.
  kill(workers_[0], SIGSTOP);
  std::vector<Trial> trials(2, Trial{.schedule = "x", .best = 0.3});
  const pid_t thief = fork();
  if (thief == 0) {
    const std::unique_ptr<JobQueue> queue = Open();
    const auto job = queue->Take(channel, milliseconds(5000));
    kill(workers_[0], SIGCONT);
    _exit(job.ok() && *job ? 0 : 1);
  }
  const std::vector<TrialResult> results = Measure(trials);
  int state = 0;
  waitpid(thief, &state, 0);
  EXPECT_EQ(WEXITSTATUS(state), 0);
  for (const TrialResult& result : results)
    EXPECT_EQ(result.outcome, Outcome::kMeasured) << result.reason;
}

// Only the trial that kills its workers is given up. Another trial that the
// same worker had taken is measured by the next worker.
TEST_F(FleetTest, ATrialThatTakesWorkersWithItIsGivenUp) {
  for (int i = 0; i < 3; ++i) StartWorker("x86_64-linux+avx2");
  const std::vector<TrialResult> results =
      Measure({{.schedule = "kill the worker"}, {.schedule = "x"}});
  EXPECT_EQ(results[0].outcome, Outcome::kCrashed);
  EXPECT_EQ(results[0].reason, "2 workers were lost with it");
  EXPECT_EQ(results[1].outcome, Outcome::kMeasured) << results[1].reason;
}

TEST_F(FleetTest, JobsOfStrangersAreRefused) {
  StartWorker("x86_64-linux+avx2");
  const std::string session = NewSession();
  const std::string channel = ChannelOf("x86_64-linux+avx2");
  const std::string text = *WriteTask(tasks_[0]);
  const std::string name = NameOfTask(text);
  // A task's name is a hash of its text. Here a text is stored under a name
  // that is not its hash, as a stranger could do.
  const std::string other(32, 'a');
  ASSERT_TRUE(queue_->PutTask(name, text).ok());
  ASSERT_TRUE(queue_->PutTask(other, text).ok());
  const std::string messages[] = {
      "",
      "\177ELF",
      WriteJob({.task = name, .target = "aarch64-linux", .trial = {}}),
      WriteJob({.task = other, .target = "x86_64-linux+avx2", .trial = {}}),
      WriteJob({.task = std::string(32, 'b'),
                .target = "x86_64-linux+avx2",
                .trial = {}}),
      WriteJob({.task = name, .target = "x86_64-linux+avx2", .trial = {}})};
  for (size_t i = 0; i < std::size(messages); ++i) {
    ASSERT_TRUE(queue_
                    ->Submit({.channel = channel,
                              .id = JobId(session, i),
                              .message = messages[i]})
                    .ok());
  }
  std::vector<Answer> answers;
  while (answers.size() < std::size(messages)) {
    const auto more = queue_->Answers(session, milliseconds(500));
    ASSERT_TRUE(more.ok());
    answers.insert(answers.end(), more->begin(), more->end());
  }
  for (const Answer& answer : answers) {
    const auto result = ReadAnswer(answer.message);
    ASSERT_TRUE(result.ok()) << answer.message;
    const bool is_last = answer.id == JobId(session, std::size(messages) - 1);
    EXPECT_EQ(result->outcome, is_last ? Outcome::kMeasured : Outcome::kRefused)
        << answer.id << ' ' << result->reason;
  }
}

TEST_F(FleetTest, AnswersOfStrangersCostOneTrial) {
  const pid_t stranger = fork();
  if (stranger == 0) {
    const std::unique_ptr<JobQueue> queue = Open();
    const std::string channel = ChannelOf(tasks_[0].request.target);
    for (const char* answer : {"nonsense", "0\n1\n-5\n1\n"}) {
      const auto job = queue->Take(channel, milliseconds(5000));
      if (!job.ok() || !*job) _exit(1);
      // The first answer is to a job that does not exist; the tuner must ignore
      // it.
      Job unknown = **job;
      unknown.id = unknown.id.substr(0, 17) + "999";
      if (!queue->Reply(unknown, answer).ok()) _exit(2);
      if (!queue->Reply(**job, answer).ok()) _exit(3);
    }
    _exit(0);
  }
  const std::vector<TrialResult> results = Measure({Trial{}, Trial{}});
  int state = 0;
  waitpid(stranger, &state, 0);
  EXPECT_EQ(WEXITSTATUS(state), 0);
  for (const TrialResult& result : results) {
    EXPECT_EQ(result.outcome, Outcome::kCrashed);
    EXPECT_TRUE(result.reason.starts_with("a worker's answer was refused: "))
        << result.reason;
  }
}

TEST_F(FleetTest, SaysThatNoWorkerAnswers) {
  std::string notice;
  FleetMeasure measure(
      tasks_, *queue_,
      {.notice = [&](const std::string& line) { notice = line; },
       .first_notice = std::chrono::seconds(0),
       .most_silence = std::chrono::seconds(1)});
  const std::vector<Trial> trials(1);
  const Status status = measure.Run(trials, [](size_t, const TrialResult&) {});
  EXPECT_EQ(status.message(),
            "no worker for x86_64-linux+avx2+cores=4 has answered for 1 s; "
            "start one with vm-tune worker --connect");
  EXPECT_EQ(notice,
            "no worker for x86_64-linux+avx2+cores=4 has answered for 0 s: "
            "waiting");
}

TEST_F(FleetTest, AStoppedTunerWithdrawsItsJobs) {
  int asked = 0;
  FleetMeasure measure(tasks_, *queue_,
                       {.should_stop = [&] { return ++asked > 1; }});
  const std::vector<Trial> trials(3);
  EXPECT_EQ(measure.Run(trials, [](size_t, const TrialResult&) {}).code(),
            StatusCode::kCancelled);
  const auto job =
      queue_->Take(ChannelOf(tasks_[0].request.target), milliseconds(1));
  ASSERT_TRUE(job.ok());
  EXPECT_FALSE(job->has_value());
}

}  // namespace
}  // namespace ember::tune
