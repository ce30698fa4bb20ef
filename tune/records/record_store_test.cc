#include "tune/records/record_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "base/file.h"

namespace ember::tune {
namespace {

class RecordStoreTest : public ::testing::Test {
 protected:
  RecordStoreTest() {
    static int number = 0;
    path_ = ::testing::TempDir() + "/records" + std::to_string(getpid()) + "_" +
            std::to_string(number++) + ".db";
  }

  std::unique_ptr<RecordStore> Open(Access access = Access::kTune) {
    auto store = RecordStore::Open(path_, access);
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    return *std::move(store);
  }

  static Task MakeTask(char digit, const std::string& name = "d0_conv") {
    Task task;
    task.key = std::string(32, digit);
    task.name = name;
    task.request.target = "x86_64-linux+avx2";
    return task;
  }

  std::string path_;
};

TEST_F(RecordStoreTest, KeepsTrialsAndTheBest) {
  const Task task = MakeTask('a');
  {
    const auto store = Open();
    ASSERT_TRUE(store
                    ->AddTrial(task, {.schedule = "unroll %y0 i0\n",
                                      .outcome = Outcome::kMeasured,
                                      .ratio = 0.9,
                                      .seconds = 0.5,
                                      .compile_ms = 20,
                                      .origin = "sketch",
                                      .reason = "why"})
                    .ok());
    ASSERT_TRUE(
        store->AddTrial(task, {.schedule = "x", .outcome = Outcome::kCrashed})
            .ok());
    ASSERT_TRUE(store->SetBest(task, {"unroll %y0 i0\n", 0.9, 0.5, "b"}).ok());
  }
  const auto store = Open(Access::kRead);
  const auto trials = store->Trials(task);
  ASSERT_TRUE(trials.ok());
  ASSERT_EQ(trials->size(), 2u);
  EXPECT_EQ((*trials)[0].schedule, "unroll %y0 i0\n");
  EXPECT_EQ((*trials)[0].origin, "sketch");
  EXPECT_EQ((*trials)[0].reason, "why");
  EXPECT_EQ((*trials)[1].outcome, Outcome::kCrashed);
  const auto best = store->Best(task);
  ASSERT_TRUE(best.ok() && *best);
  EXPECT_EQ((*best)->ratio, 0.9);
  Task other = task;
  other.request.target = "aarch64-linux";
  EXPECT_FALSE(store->Best(other)->has_value());
}

TEST_F(RecordStoreTest, ATrialOfTheSameScheduleIsReplaced) {
  const auto store = Open();
  for (const double ratio : {0.9, 0.8}) {
    ASSERT_TRUE(
        store->AddTrial(MakeTask('a'), {.schedule = "s", .ratio = ratio}).ok());
  }
  const auto trials = store->Trials(MakeTask('a'));
  ASSERT_EQ(trials->size(), 1u);
  EXPECT_EQ((*trials)[0].ratio, 0.8);
}

TEST_F(RecordStoreTest, OneTunerAtATime) {
  auto store = Open();
  const auto second = RecordStore::Open(path_, Access::kTune);
  EXPECT_EQ(second.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(second.status().message(),
            path_ +
                ": another tuner uses these records; wait for it, or give "
                "other records with --records");
  EXPECT_TRUE(RecordStore::Open(path_, Access::kRead).ok());
  store.reset();
  EXPECT_TRUE(RecordStore::Open(path_, Access::kTune).ok());
}

// The child inherits the store's lock and has it for 0.4 s after the store is
// gone, as workers of a killed tuner do. Opening the file waits for its end.
TEST_F(RecordStoreTest, WaitsForTheProcessesOfAKilledTuner) {
  auto store = Open();
  const pid_t child = fork();
  if (child == 0) {
    usleep(400'000);
    _exit(0);
  }
  store.reset();
  const auto second = RecordStore::Open(path_, Access::kTune);
  EXPECT_TRUE(second.ok()) << second.status().ToString();
  waitpid(child, nullptr, 0);
}

TEST_F(RecordStoreTest, OtherFilesAreRefused) {
  EXPECT_FALSE(RecordStore::Open(path_, Access::kRead).ok());
  ASSERT_TRUE(WriteFileAtomically(path_,
                                  "not a database, but a long text that "
                                  "has nothing to do with one")
                  .ok());
  for (const Access access : {Access::kRead, Access::kTune}) {
    const auto store = RecordStore::Open(path_, access);
    EXPECT_EQ(store.status().message(), path_ + ": file is not a database");
  }
}

TEST_F(RecordStoreTest, ExportsImportsAndMerges) {
  const std::string first = path_;
  {
    const auto store = Open();
    ASSERT_TRUE(
        store->SetBest(MakeTask('a'), {"unroll %y0 i0\n", 0.9, 1}).ok());
    ASSERT_TRUE(
        store->SetBest(MakeTask('b'), {"unroll %y0 i1\n", 0.5, 1}).ok());
    ASSERT_TRUE(store->AddTrial(MakeTask('b'), {.schedule = "s"}).ok());
  }
  path_ += ".other";
  const auto store = Open();
  ASSERT_TRUE(store->SetBest(MakeTask('a'), {"unroll %y0 i2\n", 0.7, 1}).ok());
  ASSERT_TRUE(store->SetBest(MakeTask('b'), {"unroll %y0 i3\n", 0.8, 1}).ok());
  ASSERT_TRUE(store->Merge(first).ok());
  EXPECT_EQ((*store->Best(MakeTask('a')))->schedule, "unroll %y0 i2\n");
  EXPECT_EQ((*store->Best(MakeTask('b')))->schedule, "unroll %y0 i1\n");
  EXPECT_EQ(store->Trials(MakeTask('b'))->size(), 1u);
  EXPECT_FALSE(store->Merge(first + ".none").ok());
  const auto exported = store->Export();
  ASSERT_TRUE(exported.ok());
  const auto parsed = jit::TunedSchedules::Parse(exported->Print());
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->size(), 2u);
  path_ += ".third";
  const auto third = Open();
  EXPECT_EQ(*third->Import(*parsed), 2);
  EXPECT_EQ(*third->Import(*parsed), 0);
  EXPECT_EQ((*third->Best(MakeTask('b')))->ratio, 0.5);
}

TEST_F(RecordStoreTest, NearTasksHaveTheSameKind) {
  const auto store = Open();
  ASSERT_TRUE(store->SetBest(MakeTask('a', "d1_conv"), {"a", 0.9, 1}).ok());
  ASSERT_TRUE(store->SetBest(MakeTask('b', "d2_conv"), {"b", 0.5, 1}).ok());
  ASSERT_TRUE(store->SetBest(MakeTask('c', "d3_sum"), {"c", 0.1, 1}).ok());
  const auto near = store->Near(MakeTask('d', "d9_conv"), 8);
  ASSERT_TRUE(near.ok());
  ASSERT_EQ(near->size(), 2u);
  EXPECT_EQ((*near)[0].schedule, "b");
}

// Kills a process that adds trials, several times. Each trial that the process
// reported as added must be in the file afterwards.
TEST_F(RecordStoreTest, AKilledTunerLosesNothingThatItWrote) {
  constexpr int kRounds = 5;
  int expected = 0;
  for (int round = 0; round < kRounds; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto store = RecordStore::Open(path_, Access::kTune);
      for (int i = 0; store.ok(); ++i) {
        const std::string schedule =
            std::to_string(round) + " " + std::to_string(i);
        if (!(*store)->AddTrial(MakeTask('a'), {.schedule = schedule}).ok())
          break;
        if (write(ends[1], "x", 1) != 1) break;
      }
      _exit(1);
    }
    close(ends[1]);
    char written[40];
    int left = 40;
    while (left > 0) {
      const ssize_t count = read(ends[0], written, static_cast<size_t>(left));
      if (count <= 0) break;
      left -= static_cast<int>(count);
    }
    EXPECT_EQ(left, 0);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ends[0]);
    expected += 40;
    const auto store = Open();
    const auto count = store->TrialCount();
    ASSERT_TRUE(count.ok());
    EXPECT_GE(*count, expected);
    expected = static_cast<int>(*count);
  }
}

}  // namespace
}  // namespace ember::tune
