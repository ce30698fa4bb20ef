#include "jit/compile_queue.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace ember::jit {
namespace {

// No other comes to help: the jobs that wait for something stand still.
const CompileQueue::Options kOneThread{.patience = std::chrono::hours(1)};

// A job that is known by its target, of a site that took so long.
CompileQueue::Job JobOf(const std::string& name, int64_t ns) {
  CompileQueue::Job job;
  job.request.target = name;
  job.slot = std::make_shared<vm::KernelSlot>();
  job.slot->Count(ns);
  return job;
}

class NoKernel : public vm::Kernel {
 public:
  int tier() const override { return 1; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const vm::KernelCall&) const override { return OkStatus(); }
  std::string Describe() const override { return ""; }
};

// Remembers what it worked on; the first job waits for Release.
class Recorder {
 public:
  void Work(const CompileQueue::Job& job) {
    if (order_.empty()) {
      begun_.set_value();
      released_.get_future().wait();
    }
    order_ += job.request.target;
  }
  void AwaitFirst() { begun_.get_future().wait(); }
  void Release() { released_.set_value(); }
  const std::string& order() const { return order_; }

 private:
  std::promise<void> begun_, released_;
  std::string order_;
};

TEST(CompileQueue, HottestFirstAsOfNow) {
  Recorder recorder;
  CompileQueue queue(kOneThread, [&](const auto& job) { recorder.Work(job); });
  queue.Add(JobOf("a", 1));
  recorder.AwaitFirst();
  const CompileQueue::Job late = JobOf("e", 1);
  queue.Add(JobOf("b", 200));
  queue.Add(JobOf("c", 300));
  queue.Add(JobOf("d", 200));
  queue.Add(late);
  late.slot->Count(1000);  // ran on while it waited
  recorder.Release();
  queue.Wait();
  EXPECT_EQ(recorder.order(), "aecbd");
  EXPECT_FALSE(queue.is_busy());
}

TEST(CompileQueue, SitesWithAKernelCanWait) {
  Recorder recorder;
  CompileQueue queue(kOneThread, [&](const auto& job) { recorder.Work(job); });
  queue.Add(JobOf("a", 1));
  recorder.AwaitFirst();
  CompileQueue::Job again = JobOf("b", 300);
  again.slot->Install(std::make_unique<NoKernel>());
  queue.Add(again);
  queue.Add(JobOf("c", 100));
  queue.Add(JobOf("d", 50));
  recorder.Release();
  queue.Wait();
  EXPECT_EQ(recorder.order(), "acbd");
}

TEST(CompileQueue, TheEndDropsWhatWaits) {
  Recorder recorder;
  std::weak_ptr<vm::KernelSlot> dropped;
  std::thread releaser;
  {
    CompileQueue queue(kOneThread,
                       [&](const auto& job) { recorder.Work(job); });
    queue.Add(JobOf("a", 1));
    recorder.AwaitFirst();
    EXPECT_TRUE(queue.is_busy());
    for (int i = 0; i < 100; ++i) {
      CompileQueue::Job job = JobOf("b", 1);
      dropped = job.slot;
      queue.Add(std::move(job));
    }
    releaser = std::thread([&] {
      // Only after the destructor began.
      while (!dropped.expired()) std::this_thread::yield();
      recorder.Release();
    });
  }
  releaser.join();
  EXPECT_EQ(recorder.order(), "a");
}

TEST(CompileQueue, ThreadsStartWithTheFirstJob) {
  // By number: threads of the tests before may be on their way out, still.
  const auto threads = [] {
    std::set<std::string> numbers;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/self/task"))
      numbers.insert(entry.path().filename());
    return numbers;
  };
  const std::set<std::string> before = threads();
  const auto new_threads = [&] {
    const std::set<std::string> now = threads();
    return std::ranges::count_if(now, [&](const std::string& number) {
      return !before.contains(number);
    });
  };
  CompileQueue queue({.threads = 3}, [](const auto&) {});
  EXPECT_EQ(new_threads(), 0);
  queue.Add(JobOf("a", 1));
  EXPECT_EQ(new_threads(), 4);
}

// Of each thread its own: it goes on where the test says so.
class PlayedTime : public QueueTime {
 public:
  int64_t Now() const override { return now; }
  void Yield() override { now += yield_ns; }
  int64_t RunTime(std::span<const ThreadClock>) const override {
    return run_time_is_known ? run_time += ran_between_looks : -1;
  }
  // The patience is over when the test lets it be.
  void WaitFor(std::condition_variable& changed,
               std::unique_lock<std::mutex>& lock, int64_t ns,
               const std::function<bool()>& ends) override {
    do {
      changed.wait_for(lock, std::chrono::microseconds(100));
    } while (!is_over && !ends());
    now += halted_ns + (ends() ? 0 : ns);
  }
  static thread_local int64_t now;

  std::atomic<bool> is_over{false};
  int64_t yield_ns = 0, halted_ns = 0, ran_between_looks = 0;
  bool run_time_is_known = true;
  mutable std::atomic<int64_t> run_time{0};
};
thread_local int64_t PlayedTime::now = 0;

constexpr std::chrono::milliseconds kPatience(500);
constexpr int64_t kPatienceNs = 500'000'000;

TEST(CompileQueue, AnotherThreadHelpsWhereTheFirstStandsStill) {
  const auto time = std::make_shared<PlayedTime>();
  time->ran_between_looks = kPatienceNs / 65;
  std::atomic<bool> helped{false};
  const auto niceness_of_thread = [] {
    return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
  };
  const int niceness_here = niceness_of_thread();
  std::atomic<int> niceness{-100};
  CompileQueue queue(
      {.patience = kPatience, .stoppable = nullptr, .time = time},
      [&](const CompileQueue::Job& job) {
        const bool is_background = sched_getscheduler(0) == SCHED_IDLE;
        EXPECT_EQ(is_background, job.request.target == "stand still");
        if (is_background) {
          time->is_over = true;
          return helped.wait(false);
        }
        niceness = niceness_of_thread();
        helped = true;
        helped.notify_all();
      });
  queue.Add(JobOf("stand still", 2));
  queue.Add(JobOf("help", 1));
  queue.Wait();
  // The test itself may run with any priority.
  EXPECT_GE(niceness, std::min(niceness_here + 15, 19));
}

TEST(CompileQueue, NothingBeginsWhereItWouldStandStill) {
  const auto time = std::make_shared<PlayedTime>();
  time->yield_ns = kPatienceNs / 10;
  time->is_over = true;
  std::atomic<int> in_background{0}, elsewhere{0};
  CompileQueue queue(
      {.patience = kPatience, .stoppable = nullptr, .time = time},
      [&](const auto&) {
        ++(sched_getscheduler(0) == SCHED_IDLE ? in_background : elsewhere);
      });
  for (int i = 0; i < 5; ++i) queue.Add(JobOf("a", 1));
  queue.Wait();
  EXPECT_EQ(in_background, 0);
  EXPECT_EQ(elsewhere, 5);
}

TEST(CompileQueue, ThreadsThatGetOnAreLeftAlone) {
  for (const bool is_halted : {false, true}) {
    for (const bool is_known : {true, false}) {
      // They run, or the machine was away as a whole, or nobody knows.
      const auto time = std::make_shared<PlayedTime>();
      time->is_over = true;
      time->run_time_is_known = is_known;
      time->halted_ns = is_halted ? kPatienceNs : 0;
      time->ran_between_looks = is_halted ? 0 : kPatienceNs / 64;
      std::atomic<int> elsewhere{0};
      CompileQueue queue(
          {.patience = kPatience, .stoppable = nullptr, .time = time},
          [&](const auto&) {
            elsewhere += sched_getscheduler(0) != SCHED_IDLE;
          });
      for (int i = 0; i < 5; ++i) queue.Add(JobOf("a", 1));
      queue.Wait();
      EXPECT_EQ(elsewhere, 0) << is_halted << is_known;
    }
  }
}

TEST(QueueTime, RunTimeIsWhatThreadsRan) {
  QueueTime time;
  const ThreadClock clock = ThreadClock::OfThisThread();
  const ThreadClock clocks[] = {clock, clock};
  if (clock.nanoseconds() < 0) GTEST_SKIP() << "not known here";
  const int64_t before = clock.nanoseconds();
  const int64_t both = time.RunTime(clocks);
  EXPECT_GE(both, 2 * before);
  EXPECT_LE(both, 2 * clock.nanoseconds());
}

}  // namespace
}  // namespace ember::jit
