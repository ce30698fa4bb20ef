#include "tools/lib/benchmark/result_tables.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration Measured(std::string model, const std::vector<double>& medians) {
  Configuration configuration;
  configuration.options.model = std::move(model);
  configuration.options.tier = "2";
  for (const double ms : medians) {
    configuration.rounds.Add({.median_ms = ms,
                              .first_ms = 10 * ms,
                              .rss_mb = 100,
                              .runs = 3,
                              .tier_mix = "tier 2",
                              .calls_ms = {ms, 2 * ms},
                              .waits_ms = {0, 1}});
  }
  return configuration;
}

nlohmann::json Rows(const Table& table) {
  return nlohmann::json::parse(table.Print(TableFormat::kJson), nullptr, false);
}

TEST(ResultTables, ARowForEachMeasuredConfiguration) {
  const std::vector<Configuration> configurations = {
      Measured("m/a.onnx", {3, 1, 2}), Measured("m/failed.onnx", {}),
      Measured("m/b.onnx", {5})};
  const nlohmann::json rows = Rows(MeasuredTable({}, configurations));
  ASSERT_EQ(rows.size(), 2u) << rows;
  EXPECT_EQ(rows[0]["model"], "a.onnx");
  EXPECT_EQ(rows[0]["median_ms"], 2);
  EXPECT_EQ(rows[0]["first_ms"], 20);
  EXPECT_EQ(rows[0]["runs"], 9);
  EXPECT_EQ(rows[1]["model"], "b.onnx");
  for (const char* name :
       {"host_ms", "cancelled", "gflops", "rounds_ms", "peak_gflops"})
    EXPECT_FALSE(rows[0].contains(name)) << name;
}

TEST(ResultTables, ColumnsThatAreAskedFor) {
  std::vector<Configuration> configurations = {Measured("a.onnx", {4, 2})};
  configurations[0].options.device = "vulkan";
  configurations[0].peaks = {90, 100};
  const auto row = [&](double operations) {
    return Rows(MeasuredTable({.device = "vulkan",
                               .has_cancels = true,
                               .has_gflops = true,
                               .operations = operations,
                               .has_rounds = true,
                               .has_peak = true},
                              configurations))[0];
  };
  // The model's time is 4 ms, so 8e6 operations give a rate of 2 GFLOP/s.
  EXPECT_EQ(row(8e6)["gflops"], 2);
  EXPECT_TRUE(row(0)["gflops"].is_null());
  EXPECT_EQ(row(0)["on_cpu"], "no dispatch");
  EXPECT_EQ(row(0)["cancelled"], 0);
  EXPECT_EQ(row(0)["rounds_ms"], nlohmann::json({4, 2}));
  EXPECT_EQ(row(0)["peak_gflops"], 100);
}

TEST(ResultTables, ComparesWithTheRowOfTheSameConfiguration) {
  const std::vector<Configuration> configurations = {
      Measured("a.onnx", {20, 21, 22, 23, 24}), Measured("failed.onnx", {})};
  std::vector<EarlierRow> earlier = {{.model = "b.onnx",
                                      .device = "cpu",
                                      .tier = "2",
                                      .threads = 1,
                                      .rounds_ms = {1}},
                                     {.model = "a.onnx",
                                      .device = "cpu",
                                      .tier = "2",
                                      .threads = 1,
                                      .rounds_ms = {10, 10.5, 11, 11.5, 12}}};
  const auto found = CompareWithEarlier("before.json", earlier, configurations);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  const nlohmann::json rows = Rows(found->table);
  ASSERT_EQ(rows.size(), 1u) << rows;
  EXPECT_EQ(rows[0]["before_ms"], 11);
  EXPECT_EQ(rows[0]["now_ms"], 22);
  EXPECT_EQ(rows[0]["ratio"], 2);
  EXPECT_EQ(rows[0]["verdict"], "slower");
  EXPECT_THAT(found->doubts, IsEmpty());

  // An earlier table with only two rounds makes the comparison unsure.
  earlier[1].rounds_ms = {10, 12};
  const auto unsure =
      CompareWithEarlier("before.json", earlier, configurations);
  ASSERT_TRUE(unsure.ok());
  EXPECT_THAT(unsure->doubts, ElementsAre(HasSubstr("a.onnx: 2 rounds")));

  earlier.pop_back();
  EXPECT_EQ(CompareWithEarlier("before.json", earlier, configurations)
                .status()
                .message(),
            "before.json: expected a row of a.onnx with device cpu, tier 2 and "
            "1 threads, found none");
}

TEST(ResultTables, ComparesWithThePeer) {
  std::vector<Configuration> configurations = {Measured("a.onnx", {1, 2, 3}),
                                               Measured("alone.onnx", {1})};
  for (const double ms : {4.0, 6.0, 5.0}) {
    configurations[0].peer.push_back(
        {.version = "1.30", .first_ms = 7, .median_ms = ms, .rss_mb = 50});
  }
  const nlohmann::json rows = Rows(CompareWithPeer(configurations));
  ASSERT_EQ(rows.size(), 1u) << rows;
  EXPECT_EQ(rows[0]["ember_ms"], 2);
  EXPECT_EQ(rows[0]["onnxruntime_ms"], 5);
  // The ratio is Ember's time divided by the peer's, so it is below 1 if Ember
  // is faster.
  EXPECT_LT(rows[0]["ratio"], 1);
  EXPECT_EQ(rows[0]["onnxruntime"], "1.30");
  EXPECT_EQ(rows[0]["onnxruntime_first_ms"], 7);
}

TEST(ResultTables, LifeHasAnObjectForEachRound) {
  const std::vector<Configuration> configurations = {
      Measured("m/\"a\".onnx", {1, 2}), Measured("b.onnx", {3})};
  const nlohmann::json lives =
      nlohmann::json::parse(LifeText(configurations), nullptr, false);
  ASSERT_EQ(lives.size(), 3u) << lives;
  EXPECT_EQ(lives[1]["model"], "\"a\".onnx");
  EXPECT_EQ(lives[1]["calls_ms"], nlohmann::json({2, 4}));
  EXPECT_EQ(lives[2]["waits_ms"], nlohmann::json({0, 1}));
  EXPECT_EQ(LifeText({}), "[]\n");
}

}  // namespace
}  // namespace ember::tools
