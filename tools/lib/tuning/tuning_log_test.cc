// Tests which schedules TuningLog leaves in the records after a search.
#include "tools/lib/tuning/tuning_log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensor/text/text.h"
#include "tune/records/record_store.h"
#include "tune/space/point.h"
#include "tune/task/task.h"

namespace ember::tools {
namespace {

class TuningLogTest : public ::testing::Test {
 protected:
  TuningLogTest() {
    const std::string path = ::testing::TempDir() + "/log.db";
    std::filesystem::remove(path);
    auto store = tune::RecordStore::Open(path, tune::Access::kTune);
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    store_ = *std::move(store);
    auto parsed = tensor::Parse(R"(
        dispatch @twice(%x: f32[64]) -> (%y: f32[64]) {
          %y[i] = %x[i] + %x[i]
        })");
    EXPECT_TRUE(parsed.ok());
    dispatch_ = *std::move(parsed);
    vm::KernelRequest request;
    request.dispatch = &dispatch_;
    request.target = "x86_64-linux";
    tasks_.push_back(tune::MakeTask(request));
    log_file_ = std::tmpfile();
  }
  ~TuningLogTest() override { std::fclose(log_file_); }

  // Records that a schedule was measured and found correct in a search by this
  // build.
  void Found(const std::string& build, const std::string& schedule,
             double ratio) {
    TuningLog log(tasks_, *store_, {.file = log_file_, .build = build});
    const auto point = tune::ParsePoint(schedule, "test");
    ASSERT_TRUE(point.ok()) << point.status().ToString();
    log.OnBest(0, *point, ratio, 1e-3);
    EXPECT_TRUE(log.status().ok()) << log.status().ToString();
  }
  std::string Best() const {
    const auto best = store_->Best(tasks_[0]);
    return best.ok() && *best ? (*best)->schedule : "none";
  }

  std::unique_ptr<tune::RecordStore> store_;
  tensor::Dispatch dispatch_;
  std::vector<tune::Task> tasks_;
  std::FILE* log_file_;
};

constexpr const char* kFirst = "unroll %y i\n";
constexpr const char* kSecond = "vectorize %y i\n";

TEST_F(TuningLogTest, AFasterScheduleIsNotReplacedByASlowerOne) {
  Found("a", kFirst, 0.5);
  Found("a", kSecond, 0.9);
  EXPECT_EQ(Best(), kFirst);
  Found("a", kSecond, 0.4);
  EXPECT_EQ(Best(), kSecond);
}

TEST_F(TuningLogTest, AScheduleThatIsMeasuredAgainHasItsNewRatio) {
  Found("a", kFirst, 0.5);
  Found("a", kFirst, 0.7);
  Found("a", kSecond, 0.6);
  EXPECT_EQ(Best(), kSecond);
}

TEST_F(TuningLogTest, AnotherBuildsScheduleIsReplaced) {
  Found("a", kFirst, 0.5);
  Found("b", kSecond, 0.9);
  EXPECT_EQ(Best(), kSecond);
}

}  // namespace
}  // namespace ember::tools
