// Tests vm-bench by running it as a user does.
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

// Divides the times of all rows of a table of vm-bench by `factor`, so that the
// table seems to be of a faster machine.
std::string Faster(const std::string& table, double factor) {
  nlohmann::json rows = nlohmann::json::parse(table, nullptr, false);
  EXPECT_TRUE(rows.is_array()) << table;
  for (nlohmann::json& row : rows) {
    for (nlohmann::json& ms : row.at("rounds_ms"))
      ms = ms.get<double>() / factor;
  }
  return rows.dump();
}

TEST_F(BenchTest, ComparesWithAnEarlierTable) {
  const std::string measure =
      "vm-bench model.vmfb --input=1x1x28x28xf32 --tier=0 --runs=15 "
      "--warmup=1 ";
  const Outcome before = Run(measure + "--rounds=5 -o json");
  ASSERT_EQ(before.exit_status, 0) << before.output;
  const nlohmann::json row =
      nlohmann::json::parse(before.output, nullptr, false).at(0);
  EXPECT_EQ(row.at("rounds_ms").size(), 5u);
  EXPECT_EQ(row.at("runs"), 15);
  EXPECT_GT(row.at("peak_gflops").get<double>(), 0);
  const auto compare = [&](double factor) {
    Write("before.json", Faster(before.output, factor));
    const Outcome outcome =
        Run("bash -c '" + measure + "--compare=before.json -o json 2>notes'");
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    return nlohmann::json::parse(outcome.output, nullptr, false).at(0);
  };
  // A factor of 1000 is much more than the slowdown that other programs on this
  // machine can cause, so the verdict is certain.
  EXPECT_EQ(compare(1000).at("verdict"), "slower");
  const nlohmann::json faster = compare(0.001);
  EXPECT_EQ(faster.at("verdict"), "faster");
  EXPECT_LT(faster.at("to").get<double>(), 1);
  EXPECT_NEAR(faster.at("sure").get<double>(), 0.968, 0.001);
}

TEST_F(BenchTest, WrongComparisons) {
  Write("other.json",
        R"([{"model": "x", "device": "cpu", "tier": "0", "threads": 1,
             "median_ms": 1}])");
  ExpectError(
      "vm-bench model.vmfb --tier=0 --runs=1 --rounds=1 "
      "--input=1x1x28x28xf32 --compare=other.json",
      "vm-bench: other.json: expected a row of model.vmfb with device "
      "cpu, tier 0 and 1 threads, found none");
  ExpectError("vm-bench model.vmfb --compare=none.json",
              "vm-bench: cannot open file 'none.json': No such file or "
              "directory");
  ExpectError("vm-bench model.vmfb --peer=onnxruntime",
              "vm-bench: --peer=onnxruntime: expected models that end in "
              ".onnx, found model.vmfb",
              2);
  ExpectError("vm-bench digits.onnx --peer=onnxruntime --compare=other.json",
              "vm-bench: --compare: expected no --peer beside it, found both",
              2);
  // $PATH has only the folder of Ember's tools, so vm-bench finds no node.
  ExpectError(
      "env PATH=" + Tools() + " vm-bench digits.onnx --peer=onnxruntime",
      "vm-bench: --peer=onnxruntime: expected node in $PATH, found "
      "none; on Debian: apt install nodejs npm");
}

// This test needs ONNX Runtime, which CI does not install.
TEST_F(BenchTest, ComparesWithOnnxRuntime) {
  const Outcome outcome =
      Run("bash -c 'vm-bench digits.onnx --peer=onnxruntime --runs=10 "
          "--rounds=2 --warmup=1 --tier=2 -o json 2>notes'");
  if (outcome.exit_status != 0) {
    EXPECT_NE(Read("notes").find("expected "), std::string::npos);
    GTEST_SKIP() << Read("notes");
  }
  const nlohmann::json row =
      nlohmann::json::parse(outcome.output, nullptr, false).at(0);
  EXPECT_GT(row.at("ember_ms").get<double>(), 0);
  EXPECT_GT(row.at("onnxruntime_ms").get<double>(), 0);
  EXPECT_GT(row.at("onnxruntime_first_ms").get<double>(),
            row.at("onnxruntime_ms").get<double>());
}

std::string Product(const std::string& flags) {
  return "vm-bench --expression='y[i, j] = sum(k) a[i, k] * b[k, j]' "
         "--shape=a=96x64 --shape=b=64x32 --runs=3 --warmup=1 "
         "--no-kernel-cache -o json " +
         flags;
}

TEST_F(BenchTest, AnExpressionHasARate) {
  const Outcome outcome = Run(Product("--tier=0,2"));
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  // vm-bench prints the line about random inputs to stderr, which is captured
  // before the JSON table.
  const size_t begin = outcome.output.find('[');
  ASSERT_NE(begin, std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.substr(0, begin),
            "vm-bench: random inputs (seed 0): a: 96x64xf32, b: 64x32xf32\n");
  const nlohmann::json rows =
      nlohmann::json::parse(outcome.output.substr(begin), nullptr, false);
  ASSERT_FALSE(rows.is_discarded()) << outcome.output;
  ASSERT_EQ(rows.size(), 2u);
  for (const nlohmann::json& row : rows) {
    EXPECT_EQ(row.at("model"), "y[i, j] = sum(k) a[i, k] * b[k, j]");
    // The table shows median_ms with four digits after the point, so the
    // tolerance below includes that rounding.
    const double median = row.at("median_ms").get<double>();
    const double operations = 2.0 * 96 * 64 * 32;
    EXPECT_NEAR(row.at("gflops").get<double>() * median, 1e-6 * operations,
                1e-6 * operations * (1e-4 / median + 0.02));
  }
  EXPECT_EQ(rows[0].at("tier_mix").get<std::string>().find("tier 0"), 0u);
  EXPECT_EQ(rows[1].at("tier_mix").get<std::string>().find("tier 2"), 0u);
}

TEST_F(BenchTest, AnExpressionTakesAScheduleFromAFile) {
  Write("mine.txt", "reorder %y i k j\nvectorize %y j\n");
  const Outcome mine = Run(Product("--schedules=mine.txt"));
  EXPECT_EQ(mine.exit_status, 0) << mine.output;
  Write("mine.txt", "vectorize %y m\n");
  const Outcome refused = Run(Product("--schedules=mine.txt"));
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_NE(refused.output.find(
                "vm-bench: --schedules: mine.txt: line 1: vectorize %y m: "
                "expected a loop of %y, found 'm'\n"),
            std::string::npos)
      << refused.output;
}

TEST_F(BenchTest, WrongExpressions) {
  ExpectError("vm-bench --expression='y[i] = x[i] +' --shape=x=4",
              "vm-bench: --expression: 1:14: expected an expression, found the "
              "end of the text",
              2);
  ExpectError("vm-bench --expression='y[i] = x[i]' --shape=x=?",
              "vm-bench: --shape of 'x': expected extents, found '?'", 2);
  ExpectError("vm-bench model.vmfb --expression='y[i] = x[i]' --shape=x=4",
              "vm-bench: --expression: expected no MODEL, found one", 2);
  ExpectError("vm-bench --expression='x: f32[N] y[i] = x[i]'",
              "vm-bench: --expression: expected numbers as extents, found N",
              2);
}

}  // namespace
}  // namespace ember::tools
