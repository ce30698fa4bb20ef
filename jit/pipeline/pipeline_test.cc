// Tests the list of passes and their runner. tests/cases/pipeline has a text
// case for each pass.
#include "jit/pipeline/pipeline.h"

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/seeds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/nest_passes.h"
#include "jit/pipeline/runner.h"
#include "jit/schedule/testing/random_pair.h"

namespace ember::jit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Pipeline, HasNamesAndDocs) {
  std::set<std::string_view> names;
  const std::string text = PrintPipeline();
  for (const PassInfo& pass : Pipeline()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_FALSE(pass.doc.empty()) << pass.name;
    EXPECT_THAT(text, HasSubstr(std::string(pass.name) + " "));
    EXPECT_THAT(text, HasSubstr(std::string(pass.doc) + "\n"));
  }
  EXPECT_THAT(text, HasSubstr(" 1   check-size            all   declines"));
  EXPECT_THAT(text, HasSubstr(" - own-tiles             GPUs  "));
}

// --- the runner

struct Counter {
  int value = 0;
  bool is_for_gpu = false;
  bool IsForGpu() const { return is_for_gpu; }
};

constexpr Pass<Counter> kPasses[] = {
    {{"set", "sets 1", PassTargets::kAll, /*may_be_disabled=*/true},
     [](Counter& c) { return c.value = 1, OkStatus(); },
     [](Counter& c) { return c.value = 10, OkStatus(); },
     nullptr,
     [](const Counter& c) { return std::to_string(c.value); }},
    {{"keep", "does nothing", PassTargets::kCpus},
     [](Counter&) { return OkStatus(); },
     nullptr,
     [](const Counter& c) {
       return c.value < 100 ? OkStatus() : InvalidArgumentError("too large");
     },
     [](const Counter& c) { return std::to_string(c.value); }},
    {{"add", "adds 100", PassTargets::kAll, /*may_be_disabled=*/true},
     [](Counter& c) { return c.value += 100, OkStatus(); },
     nullptr,
     [](const Counter& c) {
       return c.value < 100 ? OkStatus() : InvalidArgumentError("too large");
     },
     [](const Counter& c) { return std::to_string(c.value); }},
};

std::vector<std::string> NamesOf(const PassLog& log) {
  std::vector<std::string> names;
  for (const PassRecord& record : log.records) names.push_back(record.name);
  return names;
}

TEST(PassRunner, RunsPassesOfTheTarget) {
  Counter cpu, gpu = {.is_for_gpu = true};
  PassLog of_cpu = {.options = {.keeps_texts = true}}, of_gpu;
  ASSERT_TRUE(RunPasses<Counter>(kPasses, cpu, of_cpu).ok());
  ASSERT_TRUE(RunPasses<Counter>(kPasses, gpu, of_gpu).ok());
  EXPECT_THAT(NamesOf(of_cpu), ElementsAre("set", "keep", "add"));
  EXPECT_THAT(NamesOf(of_gpu), ElementsAre("set", "add"));
  EXPECT_EQ(TextAfter(of_cpu, "set"), "1");
  EXPECT_EQ(TextAfter(of_cpu, "keep"), "1");
  EXPECT_EQ(TextAfter(of_cpu, "add"), "101");
  EXPECT_TRUE(of_cpu.records[1].is_unchanged);
  EXPECT_FALSE(of_cpu.records[2].is_unchanged);
  EXPECT_EQ(TextAfter(of_gpu, "add"), "");
}

TEST(PassRunner, LeavesOutPassesThatMayBe) {
  Counter counter;
  PassLog log = {.options = {.disabled = {"set", "keep", "add", "other"}}};
  ASSERT_TRUE(RunPasses<Counter>(kPasses, counter, log).ok());
  EXPECT_THAT(NamesOf(log), ElementsAre("set", "keep"));
  EXPECT_EQ(counter.value, 10);
}

TEST(PassRunner, NamesThePassThatBreaksTheNest) {
  Counter counter;
  PassLog log = {.options = {.verifies = true}};
  const Status status = RunPasses<Counter>(kPasses, counter, log);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(), "after pass add: too large");
}

// --- the passes

// Runs the pipeline on random dispatches with each optional pass left out. Each
// pass must leave a nest that verifies, and the kernel must compute the same or
// be declined.
TEST(Pipeline, MayLeaveOutEachPass) {
  const SeedRange seeds = TestSeeds(12);
  int compared = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed));
    const schedule::RandomPair pair = schedule::MakeRandomPair(seed);
    std::vector<std::string_view> choices = {""};
    for (const Pass<NestBuild>& pass : LoweringPasses()) {
      if (pass.info.may_be_disabled) choices.push_back(pass.info.name);
    }
    for (const std::string_view left_out : choices) {
      SCOPED_TRACE(left_out);
      NestBuild build;
      build.schedule = &pair.schedule;
      PassLog log = {
          .options = {.verifies = true, .disabled = {std::string(left_out)}}};
      const Status status = RunPasses(LoweringPasses(), build, log);
      ASSERT_NE(status.code(), StatusCode::kInternal) << status.ToString();
      if (!status.ok()) continue;
      ++compared;
      ASSERT_EQ(pair.Compare([&](std::span<void* const> buffers) {
        return loops::Evaluate(build.nest, pair.parameters, buffers,
                               {.seed = seed});
      }),
                "")
          << pair.ToText() << loops::ToText(build.nest);
    }
  }
  EXPECT_GT(compared, seeds.is_replay ? 0 : 40);
}

}  // namespace
}  // namespace ember::jit
