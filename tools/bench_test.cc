// Runs vm-bench as a user calls it.
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

class BenchTest : public CliTest {};

TEST_F(BenchTest, BenchPrintsEveryField) {
  const Outcome outcome =
      Run("vm-bench model.vmfb digits.onnx --input=1x1x28x28xf32 "
          "--threads=1,2 --runs=3 --warmup=1 --settle=2 -o json");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  const nlohmann::json rows =
      nlohmann::json::parse(outcome.output, nullptr, false);
  ASSERT_FALSE(rows.is_discarded()) << outcome.output;
  ASSERT_EQ(rows.size(), 4u);
  for (const nlohmann::json& row : rows) {
    for (const char* field :
         {"median_ms", "p10_ms", "p90_ms", "load_ms", "first_ms", "rss_mb"}) {
      EXPECT_GT(row.at(field).get<double>(), 0.0) << field;
    }
    EXPECT_EQ(row.at("runs"), 3);
    EXPECT_EQ(row.at("tier"), "auto");
    EXPECT_EQ(row.at("tier_mix").get<std::string>().find("tier "), 0u);
    EXPECT_GE(row.at("first_ms").get<double>(),
              row.at("load_ms").get<double>());
  }
  EXPECT_EQ(rows[1].at("threads"), 2);
}

TEST_F(BenchTest, LifeOfAProcess) {
  const Outcome outcome =
      Run("vm-bench model.vmfb --shape=image=16x1x28x28 --runs=3 "
          "--no-kernel-cache --life=life.json --tier=0,auto "
          "--settle=1000000");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  const nlohmann::json lives =
      nlohmann::json::parse(Read("life.json"), nullptr, false);
  ASSERT_FALSE(lives.is_discarded()) << Read("life.json");
  ASSERT_EQ(lives.size(), 2u);
  for (const nlohmann::json& life : lives) {
    EXPECT_TRUE(life.at("is_settled").get<bool>());
    EXPECT_EQ(life.at("waits_ms").size(), life.at("calls_ms").size());
    EXPECT_EQ(life.at("calls_ms").size(),
              life.at("warmup_calls").get<size_t>() + 3);
  }
  EXPECT_EQ(lives[0].at("kernels"), 0);
  EXPECT_EQ(lives[0].at("warmup_calls"), 6);
  EXPECT_GT(lives[1].at("kernels"), 0);
  EXPECT_GT(lives[1].at("compile_ms"), 0.0);
}

}  // namespace
}  // namespace ember::tools
