#include "jit/compile_queue.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace ember::jit {
namespace {

const CompileQueue::Options kOneThread{};

// Returns a job whose target is `name`, for a site that has taken `ns`
// nanoseconds.
CompileQueue::Job JobOf(const std::string& name, int64_t ns) {
  CompileQueue::Job job;
  job.request.target = name;
  job.slot = std::make_shared<vm::KernelSlot>();
  job.slot->Count(ns);
  return job;
}

class NoKernel : public vm::HostKernel {
 public:
  int tier() const override { return 1; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const vm::KernelCall&) const override { return OkStatus(); }
  std::string Describe() const override { return ""; }
};

// An object whose function Work does the jobs of a queue: it records the order
// of the jobs, and blocks in the first job until Release is called.
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
  // The last job's site takes more time while the job waits, so the job becomes
  // the hottest and is done first.
  late.slot->Count(1000);
  recorder.Release();
  queue.Wait();
  EXPECT_EQ(recorder.order(), "aecbd");
  EXPECT_FALSE(queue.is_busy());
}

TEST(CompileQueue, WaitsForAJobOrAnInterrupt) {
  std::atomic<bool> is_begun{false};
  std::atomic<bool> is_released{false};
  std::string done;
  CompileQueue queue(kOneThread, [&](const CompileQueue::Job& job) {
    if (job.request.target == "slow") {
      is_begun = true;
      is_begun.notify_all();
      is_released.wait(false);
    }
    done += job.request.target + " ";
  });
  Interrupt interrupt;
  queue.AddAndWait(JobOf("quick", 1), interrupt);
  EXPECT_EQ(done, "quick ");
  std::thread canceller([&] {
    is_begun.wait(false);
    interrupt.Cancel();
  });
  queue.AddAndWait(JobOf("slow", 1), interrupt);
  canceller.join();
  EXPECT_TRUE(queue.is_busy());
  // AddAndWait must also return if its interrupt asks to stop before its job
  // has begun.
  queue.AddAndWait(JobOf("late", 1), interrupt);
  is_released = true;
  is_released.notify_all();
  queue.Wait();
  EXPECT_EQ(done, "quick slow late ");
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
      // The references to the dropped jobs' slots expire only after the queue's
      // destructor has begun, so the first job is held until then.
      while (!dropped.expired()) std::this_thread::yield();
      recorder.Release();
    });
  }
  releaser.join();
  EXPECT_EQ(recorder.order(), "a");
}

TEST(CompileQueue, ThreadsStartWithJobsThatFindNoneFree) {
  // Threads are compared by their ids instead of counted, because threads of
  // earlier tests may still be ending.
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
  std::atomic<bool> is_released{false};
  CompileQueue queue({.threads = 3},
                     [&](const auto&) { is_released.wait(false); });
  EXPECT_EQ(new_threads(), 0);
  for (const int expected : {1, 2, 3, 3}) {
    queue.Add(JobOf("a", 1));
    EXPECT_EQ(new_threads(), expected);
  }
  is_released = true;
  is_released.notify_all();
  queue.Wait();
  queue.Add(JobOf("b", 1));
  EXPECT_EQ(new_threads(), 3);
}

TEST(CompileQueue, ThreadsStepBackAsFarAsTheyAreTold) {
  const auto niceness_of_thread = [] {
    return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
  };
  // The test's own priority may be any, so the threads' nice values are
  // compared with it.
  const int here = niceness_of_thread();
  for (const int niceness : {10, 19}) {
    std::atomic<int> found{-100};
    CompileQueue queue({.niceness = niceness},
                       [&](const auto&) { found = niceness_of_thread(); });
    queue.Add(JobOf("a", 1));
    queue.Wait();
    EXPECT_EQ(found, std::min(here + niceness, 19));
  }
  EXPECT_EQ(niceness_of_thread(), here);
}

}  // namespace
}  // namespace ember::jit
