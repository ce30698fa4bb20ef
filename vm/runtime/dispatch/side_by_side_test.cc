// Tests batches of kernels that run concurrently. The test sets the kernels'
// times and simulates the workers.
#include "vm/runtime/dispatch/side_by_side.h"

#include <algorithm>
#include <memory>
#include <random>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"

namespace ember::vm {
namespace {

int64_t clock_ns = 0;

// Simulates two workers. The chunks run one after another, but the clock
// advances as if two workers claimed them alternately.
class TwoWorkers final : public ParallelRunner {
 public:
  int worker_count() const override { return 2; }
  void Run(int64_t chunk_count, ChunkFunction function) override {
    most_at_once = std::max(most_at_once, std::min<int64_t>(chunk_count, 2));
    const int64_t begin = clock_ns;
    int64_t ends[2] = {begin, begin};
    for (int64_t chunk = 0; chunk < chunk_count && !is_stopped; ++chunk) {
      const int worker = ends[1] < ends[0];
      clock_ns = ends[worker];
      function(chunk, worker);
      ends[worker] = clock_ns;
    }
    clock_ns = std::max(ends[0], ends[1]);
  }
  int64_t most_at_once = 1;
  bool is_stopped = false;  // true if chunks are skipped, as after
                            // Session::Cancel
};

// A kernel that stores the sum of its inputs and a number. Its time on one
// worker, and its time on several workers, are given.
class TimedKernel : public HostKernel {
 public:
  struct Times {
    int alone_ns = 0;
    int shared_ns = 0;
  };
  TimedKernel(Times times, int number) : times_(times), number_(number) {}
  int tier() const override { return 2; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const KernelCall& call) const override {
    if (times_.alone_ns > 0) {
      clock_ns +=
          call.runner.worker_count() > 1 ? times_.shared_ns : times_.alone_ns;
    }
    unsigned sum = static_cast<unsigned>(number_);
    for (size_t i = 0; i + 1 < call.buffers.size(); ++i)
      sum = 31 * sum + *static_cast<const unsigned*>(call.buffers[i]);
    *static_cast<unsigned*>(call.buffers.back()) = sum;
    if (fails) return InvalidArgumentError("kernel " + std::to_string(number_));
    return OkStatus();
  }
  std::string Describe() const override { return "timed"; }

  bool fails = false;

 private:
  const Times times_;
  const int number_;
};

class SideBySideTest : public testing::Test {
 protected:
  using Cells = std::vector<unsigned>;
  // A call that reads the cells `reads` of memory and writes the cell `write`.
  struct Step {
    std::vector<size_t> reads;
    size_t write = 0;
  };

  void AddKernel(TimedKernel::Times times) {
    kernels_.push_back(std::make_unique<TimedKernel>(
        times, static_cast<int>(kernels_.size()) + 1));
  }
  Status Call(size_t site, const Step& step, Cells& cells,
              ParallelRunner& runner) {
    std::vector<void*> buffers;
    for (size_t cell : step.reads) buffers.push_back(&cells[cell]);
    buffers.push_back(&cells[step.write]);
    const std::vector<int64_t> bytes(buffers.size(), sizeof cells[0]);
    return side_by_side_->Call(site, {{}, buffers, runner}, *kernels_[site],
                               bytes, step.reads.size());
  }
  Status Run(const std::vector<Step>& steps, Cells& cells,
             ParallelRunner& runner) {
    side_by_side_->StartRun(true);
    Status status;
    for (size_t i = 0; i < steps.size() && status.ok(); ++i)
      status = Call(i, steps[i], cells, runner);
    const Status last = side_by_side_->Synchronize();
    side_by_side_->EndRun();
    return status.ok() ? last : status;
  }
  Status Run(const std::vector<Step>& steps, Cells& cells) {
    return Run(steps, cells, workers_);
  }
  // Runs the steps until all batches are decided.
  void Decide(const std::vector<Step>& steps) {
    side_by_side_ = std::make_unique<SideBySide>(workers_, kernels_.size(),
                                                 [] { return clock_ns; });
    for (int i = 0; i < 500 && !side_by_side_->is_decided(); ++i) {
      Cells cells(8);
      EXPECT_TRUE(Run(steps, cells).ok());
    }
    EXPECT_TRUE(side_by_side_->is_decided());
  }
  int64_t MostAtOnce(const std::vector<Step>& steps) {
    workers_.most_at_once = 1;
    Cells cells(8);
    EXPECT_TRUE(Run(steps, cells).ok());
    return workers_.most_at_once;
  }

  TwoWorkers workers_;
  std::vector<std::unique_ptr<TimedKernel>> kernels_;
  std::unique_ptr<SideBySide> side_by_side_;
};

TEST_F(SideBySideTest, WhatWorkersDoNotMakeFasterRunsAtOnce) {
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  const std::vector<Step> steps = {{{0}, 1}, {{0}, 2}};
  Decide(steps);
  EXPECT_EQ(side_by_side_->batch_count(), 1);
  EXPECT_EQ(MostAtOnce(steps), 2);
  Cells cells(8);
  ASSERT_TRUE(Run(steps, cells).ok());
  EXPECT_EQ(cells[1], 31u);
  EXPECT_EQ(cells[2], 62u);
}

TEST_F(SideBySideTest, WhatIsFasterOnAllWorkersRunsApart) {
  AddKernel({.alone_ns = 6000, .shared_ns = 1000});
  AddKernel({.alone_ns = 6000, .shared_ns = 1000});
  Decide({{{0}, 1}, {{0}, 2}});
  EXPECT_EQ(side_by_side_->batch_count(), 0);
  EXPECT_EQ(MostAtOnce({{{0}, 1}, {{0}, 2}}), 1);
}

// On two workers three concurrent calls take as long as four would, so the
// batch of three is not faster. A part of the batch with two calls is faster.
TEST_F(SideBySideTest, PartsOfWhatIsTooMuchAtOnce) {
  for (int i = 0; i < 3; ++i) AddKernel({.alone_ns = 6400, .shared_ns = 4000});
  const std::vector<Step> steps = {{{0}, 1}, {{0}, 2}, {{0}, 3}};
  Decide(steps);
  EXPECT_EQ(side_by_side_->batch_count(), 1);
  EXPECT_EQ(MostAtOnce(steps), 2);
}

TEST_F(SideBySideTest, DependentCallsStayInOrder) {
  for (int i = 0; i < 3; ++i) AddKernel({.alone_ns = 1000, .shared_ns = 1000});
  // In three cases the second call depends on the first: it reads the first
  // call's result, writes the first call's operand, or writes the first call's
  // result. The calls must not run concurrently.
  for (const Step& second : {Step{{1}, 2}, Step{{3}, 0}, Step{{3}, 1}}) {
    Decide({{{0}, 1}, second});
    EXPECT_EQ(side_by_side_->batch_count(), 0);
    EXPECT_EQ(MostAtOnce({{{0}, 1}, second}), 1);
  }
}

// Memory must be compared in every run, because calls that were independent
// once may overlap later.
TEST_F(SideBySideTest, MemoryThatComesToOverlap) {
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  Decide({{{0}, 1}, {{0}, 2}});
  ASSERT_EQ(side_by_side_->batch_count(), 1);
  Cells cells(8);
  ASSERT_TRUE(Run({{{0}, 1}, {{1}, 2}}, cells).ok());
  EXPECT_EQ(cells[2], 31u * 2 + 31);
  EXPECT_EQ(MostAtOnce({{{0}, 1}, {{1}, 2}}), 1);
  // The two calls are independent again in this run, so they may run
  // concurrently.
  EXPECT_EQ(MostAtOnce({{{0}, 1}, {{0}, 2}}), 2);
}

TEST_F(SideBySideTest, SynchronizeRunsWhatIsKept) {
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  Decide({{{0}, 1}, {{0}, 2}});
  ASSERT_EQ(side_by_side_->batch_count(), 1);
  Cells cells(8);
  side_by_side_->StartRun(true);
  ASSERT_TRUE(Call(0, {{0}, 1}, cells, workers_).ok());
  EXPECT_EQ(cells[1], 0u);
  ASSERT_TRUE(side_by_side_->Synchronize().ok());
  EXPECT_EQ(cells[1], 31u);
  ASSERT_TRUE(Call(1, {{0}, 2}, cells, workers_).ok());
  EXPECT_EQ(cells[2], 62u);
  side_by_side_->EndRun();
}

TEST_F(SideBySideTest, TheFirstErrorInOrderCounts) {
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  AddKernel({.alone_ns = 2000, .shared_ns = 3000});
  const std::vector<Step> steps = {{{0}, 1}, {{0}, 2}};
  Decide(steps);
  ASSERT_EQ(side_by_side_->batch_count(), 1);
  Cells cells(8);
  kernels_[0]->fails = kernels_[1]->fails = true;
  EXPECT_EQ(Run(steps, cells).message(), "kernel 1");
  kernels_[0]->fails = false;
  EXPECT_EQ(Run(steps, cells).message(), "kernel 2");
  kernels_[1]->fails = false;
  EXPECT_TRUE(Run(steps, cells).ok());
}

// Comparing the memory of calls with many buffers takes long and cannot be
// interrupted, so such calls must not be in batches.
TEST_F(SideBySideTest, CallsOfManyBuffersRunApart) {
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  const std::vector<size_t> many(64, 0);
  const std::vector<size_t> fewer(63, 0);
  const std::vector<Step> steps = {{fewer, 1}, {many, 2}, {fewer, 3}};
  Decide(steps);
  EXPECT_EQ(MostAtOnce(steps), 1);
  const std::vector<Step> others = {{fewer, 1}, {fewer, 2}, {many, 3}};
  Decide(others);
  EXPECT_EQ(MostAtOnce(others), 2);
}

// A run that is stopped must not return an error of an earlier run.
TEST_F(SideBySideTest, CallsThatAreLeftOutHaveNoError) {
  AddKernel({.alone_ns = 3000, .shared_ns = 3000});
  AddKernel({.alone_ns = 2000, .shared_ns = 3000});
  const std::vector<Step> steps = {{{0}, 1}, {{0}, 2}};
  Decide(steps);
  ASSERT_EQ(side_by_side_->batch_count(), 1);
  Cells cells(8);
  kernels_[0]->fails = kernels_[1]->fails = true;
  EXPECT_EQ(Run(steps, cells).message(), "kernel 1");
  workers_.is_stopped = true;
  EXPECT_EQ(Run(steps, cells).message(), "");
}

// On real threads every program must compute the same results in each run,
// whichever way is being tried.
TEST_F(SideBySideTest, RandomPrograms) {
  const std::shared_ptr<hal::Device> device =
      *hal::CreateCpuDevice({.threads = 2});
  const SeedRange seeds = TestSeeds(100);
  int batches = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto pick = [&](uint64_t below) { return random() % below; };
    kernels_.clear();
    std::vector<Step> steps(2 + pick(10));
    for (Step& step : steps) {
      AddKernel({});
      for (uint64_t i = pick(3); i > 0; --i) step.reads.push_back(pick(8));
      step.write = pick(8);
    }
    Cells expected(8);
    for (size_t i = 0; i < steps.size(); ++i) {
      unsigned sum = static_cast<unsigned>(i) + 1;
      for (size_t cell : steps[i].reads) sum = 31 * sum + expected[cell];
      expected[steps[i].write] = sum;
    }
    // Each step of the simulated clock is shorter than the last one, so the way
    // that is tried later seems faster.
    clock_ns = 0;
    side_by_side_ = std::make_unique<SideBySide>(
        device->host_runner(), kernels_.size(),
        [] { return clock_ns += 1000 - clock_ns / 100; });
    for (int run = 0; run < 60; ++run) {
      Cells cells(8);
      ASSERT_TRUE(Run(steps, cells, device->host_runner()).ok());
      ASSERT_EQ(cells, expected) << "run " << run;
    }
    batches += side_by_side_->batch_count();
  }
  if (!seeds.is_replay) {
    EXPECT_GT(batches, 0);
  }
}

}  // namespace
}  // namespace ember::vm
