#include "tools/lib/benchmark/rounds.h"

#include <string>

#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Written(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/earlier.json";
  EXPECT_TRUE(WriteFileAtomically(path, text).ok());
  return path;
}

TEST(Rounds, CombinedIsTheMedianOfTheRounds) {
  Rounds rounds;
  EXPECT_TRUE(rounds.empty());
  for (const double ms : {3.0, 1.0, 2.0})
    rounds.Add({.median_ms = ms, .load_ms = 10 * ms, .runs = 6});
  EXPECT_THAT(rounds.Medians(), ElementsAre(3, 1, 2));
  EXPECT_EQ(rounds.Combined().median_ms, 2);
  EXPECT_EQ(rounds.Combined().load_ms, 20);
  EXPECT_EQ(rounds.Combined().runs, 18);
}

TEST(Rounds, ReadsWhatIsPrinted) {
  const auto rows = ReadEarlier(Written(
      R"([{"model": "a.onnx", "device": "cpu", "tier": "auto", "threads": 2,
           "median_ms": 5, "rounds_ms": [4, 5, 6], "peak_gflops": 80.5},
          {"model": "b.onnx", "device": "cpu", "tier": "2", "threads": 1,
           "median_ms": 7}])"));
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  const EarlierRow* const a = FindEarlier(
      *rows,
      {.model = "a.onnx", .device = "cpu", .tier = "auto", .threads = 2});
  ASSERT_NE(a, nullptr);
  EXPECT_THAT(a->rounds_ms, ElementsAre(4, 5, 6));
  EXPECT_EQ(a->peak_gflops, 80.5);
  EXPECT_EQ(
      FindEarlier(
          *rows,
          {.model = "a.onnx", .device = "cpu", .tier = "auto", .threads = 1}),
      nullptr);
  // The second row was written by an earlier version and has only the median,
  // which becomes its only round.
  EXPECT_THAT((*rows)[1].rounds_ms, ElementsAre(7));
}

TEST(Rounds, OtherFilesAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"| model |", "text that is not JSON"},
      {"{}", "JSON that is no list"},
      {"[]", "an empty list"},
      {"[1]", "a list of something else"},
      {R"([{"threads": 1}])", "a row without a model or its time"},
      {R"([{"model": "a", "median_ms": -1}])",
       "a row without a model or its time"},
      {R"([{"model": "a", "median_ms": 1, "rounds_ms": [1, "x"]}])",
       "a row without a model or its time"}};
  for (const auto& [text, found] : cases) {
    const Status status = ReadEarlier(Written(text)).status();
    EXPECT_THAT(status.ToString(), HasSubstr("earlier.json: expected what "
                                             "vm-bench -o json prints, found " +
                                             std::string(found)));
  }
  EXPECT_EQ(ReadEarlier("/no/such/file").status().code(),
            StatusCode::kNotFound);
}

TEST(Rounds, Doubts) {
  const EarlierRow before = {
      .model = "m", .rounds_ms = {1, 1, 1, 1}, .peak_gflops = 100};
  EarlierRow now = before;
  now.peak_gflops = 97;
  const auto doubts = [&] {
    return DoubtsOf(before, now,
                    CompareSpeeds(before.rounds_ms, now.rounds_ms));
  };
  EXPECT_THAT(doubts(), IsEmpty());
  now.peak_gflops = 50;
  EXPECT_THAT(doubts(),
              ElementsAre("m: the processor itself is 50% slower than before "
                          "(its peak of multiply-adds, 100.0 and now 50.0 "
                          "GFLOP/s)"));
  now = before;
  now.rounds_ms = {1};
  EXPECT_THAT(doubts(),
              ElementsAre("m: 4 rounds before and 1 now are too few for 95%; "
                          "measure both with --rounds=5"));
}

}  // namespace
}  // namespace ember::tools
