// Checks that every step of the pipeline is named, timed and dumped and can be
// disabled, and that the result of dispatch formation is verified.
#include "compiler/pipeline.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "compiler/graph/text/text.h"
#include "compiler/lowering/fusion.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::compiler {
namespace {

using ::testing::HasSubstr;

graph::Graph Model() {
  auto graph = graph::Parse(R"(graph @g(%x: f32[4, 3], %w: f32[3, 2]) -> (%y) {
    %h = contract(%x, %w) {spec = "ik,kj->ij"}
    %e = exp(%h)
    %s = reduce(%e) {combiner = "sum", axes = [1]}
    %y = sqrt(%s)
  })");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return *std::move(graph);
}

TEST(Pipeline, EveryStageIsTimedAndDumped) {
  std::map<std::string, std::string> dumps;
  std::vector<std::string> dumped, timed;
  CompileOptions options;
  options.dump_after = "all";
  options.dump = [&](std::string_view step, int number, std::string_view text) {
    EXPECT_EQ(number, static_cast<int>(dumped.size()));
    dumped.emplace_back(step);
    dumps[std::string(step)] = text;
  };
  options.timing = [&](std::string_view step, double) {
    timed.emplace_back(step);
  };
  ASSERT_TRUE(Compile(Model(), options).ok());
  ASSERT_EQ(dumped.size(), Pipeline().size() + 1);
  EXPECT_EQ(dumped[0], kImport);
  for (size_t i = 0; i < Pipeline().size(); ++i) {
    EXPECT_EQ(dumped[i + 1], Pipeline()[i].name);
    EXPECT_EQ(timed[i], Pipeline()[i].name);
    EXPECT_TRUE(HasDump(Pipeline()[i].name));
    EXPECT_THAT(PrintPipeline(), HasSubstr(Pipeline()[i].name));
  }
  EXPECT_THAT(dumps[std::string(kImport)], HasSubstr("graph @g("));
  EXPECT_THAT(dumps["form-dispatches"], HasSubstr("dispatch @d0_contract"));
  EXPECT_THAT(dumps["emit"], HasSubstr("module \"ember\" from \"g\""));
}

TEST(Pipeline, StagesCanBeDisabledWhereThatHasMeaning) {
  const auto joined = Compile(Model(), {});
  ASSERT_TRUE(joined.ok());
  for (const PipelineStep& step : Pipeline()) {
    SCOPED_TRACE(step.name);
    CompileOptions options;
    options.disabled_passes = {std::string(step.name)};
    const auto module = Compile(Model(), options);
    ASSERT_EQ(module.ok(), step.name != "emit") << module.status().ToString();
    if (step.name == "form-dispatches") {
      EXPECT_GT(module->dispatches.size(), joined->dispatches.size());
    }
  }
  EXPECT_FALSE(Compile(Model(), {.disabled_passes = {"no-such-step"}}).ok());
}

TEST(FusionPlan, SaysWhatIsWrongWithIt) {
  const graph::Graph graph = Model();
  const auto plan = FormDispatches(graph, {.join_groups = false});
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(VerifyPlan(*plan).ok());
  ASSERT_GT(plan->groups.size(), 1u);

  FusionPlan missing = *plan;
  missing.groups.pop_back();
  EXPECT_THAT(VerifyPlan(missing).message(), HasSubstr("is in no group"));
  FusionPlan twice = *plan;
  twice.groups.push_back(plan->groups.back());
  EXPECT_THAT(VerifyPlan(twice).message(), HasSubstr("is in two groups"));
  FusionPlan backwards = *plan;
  std::swap(backwards.groups.front(), backwards.groups.back());
  EXPECT_THAT(VerifyPlan(backwards).message(),
              HasSubstr("reads what no group before it has made"));
}

}  // namespace
}  // namespace ember::compiler
