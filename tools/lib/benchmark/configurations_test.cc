#include "tools/lib/benchmark/configurations.h"

#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Configuration> ConfigurationsOf(
    const std::vector<std::string>& models) {
  std::vector<Configuration> configurations;
  for (const std::string& model : models) {
    BenchmarkOptions& options = configurations.emplace_back().options;
    options.model = model;
    options.reports_random = true;
  }
  return configurations;
}

// Replaces the functions that measure by ones that record their calls. The
// median that they return is the number of the call.
class Recorder {
 public:
  RoundsOptions Options(int64_t rounds, bool has_peer = false) {
    return {.rounds = rounds,
            .has_peer = has_peer,
            .measure = [this](const auto& o) { return Measure(o); },
            .measure_peer = [this](const auto& o,
                                   const auto&) -> StatusOr<PeerMeasurement> {
              calls_.push_back("peer " + o.model);
              return PeerMeasurement{.median_ms = 1};
            }};
  }
  // Name of the model whose measurement fails, from call number `fails_at` on
  // (counted from 1, over all models).
  std::string fails;
  size_t fails_at = 0;

  const std::vector<std::string>& calls() const { return calls_; }

 private:
  StatusOr<Measurement> Measure(const BenchmarkOptions& options) {
    calls_.push_back(
        Concat({options.model, options.reports_random ? " reports" : "",
                options.peer_inputs != nullptr ? " inputs" : ""}));
    if (options.model == fails && calls_.size() >= fails_at)
      return InvalidArgumentError("cannot measure " + options.model);
    return Measurement{.median_ms = static_cast<double>(calls_.size())};
  }

  std::vector<std::string> calls_;
};

TEST(Configurations, AlternateInEachRound) {
  Recorder recorder;
  auto configurations = ConfigurationsOf({"a", "b"});
  EXPECT_TRUE(MeasureConfigurations(recorder.Options(2), configurations).ok());
  // The line about random inputs is printed in the first round only.
  EXPECT_THAT(recorder.calls(),
              ElementsAre("a reports", "b reports", "a", "b"));
  EXPECT_THAT(configurations[0].rounds.Medians(), ElementsAre(1, 3));
  EXPECT_THAT(configurations[1].rounds.Medians(), ElementsAre(2, 4));
  EXPECT_THAT(configurations[0].peer, IsEmpty());
  EXPECT_THAT(configurations[0].peaks, IsEmpty());
}

TEST(Configurations, PeerFollowsEachMeasurement) {
  Recorder recorder;
  auto configurations = ConfigurationsOf({"a", "b"});
  EXPECT_TRUE(
      MeasureConfigurations(recorder.Options(2, true), configurations).ok());
  EXPECT_THAT(
      recorder.calls(),
      ElementsAre("a reports inputs", "peer a", "b reports inputs", "peer b",
                  "a inputs", "peer a", "b inputs", "peer b"));
  EXPECT_THAT(configurations[1].peer, SizeIs(2));
  // `peer_inputs` is reset after measuring, because the inputs to which it
  // points are destroyed then.
  EXPECT_EQ(configurations[1].options.peer_inputs, nullptr);
}

TEST(Configurations, AnErrorEndsOnlyItsConfiguration) {
  Recorder recorder;
  recorder.fails = "b";
  recorder.fails_at = 5;  // the fifth call is that of model b in the second
                          // round
  auto configurations = ConfigurationsOf({"a", "b", "c"});
  const Status error =
      MeasureConfigurations(recorder.Options(3), configurations);
  EXPECT_EQ(error.message(), "cannot measure b");
  EXPECT_THAT(recorder.calls(),
              ElementsAre("a reports", "b reports", "c reports", "a", "b", "c",
                          "a", "c"));
  // Model b failed in the second round; its measurement of the first round is
  // kept.
  EXPECT_THAT(configurations[1].rounds.Medians(), ElementsAre(2));
  EXPECT_EQ(configurations[1].error.message(), "cannot measure b");
  EXPECT_THAT(configurations[2].rounds.Medians(), SizeIs(3));
}

TEST(Configurations, MeasuresThePeakBeforeEachRound) {
  Recorder recorder;
  auto configurations = ConfigurationsOf({"a"});
  RoundsOptions options = recorder.Options(2);
  options.measures_peak = true;
  EXPECT_TRUE(MeasureConfigurations(options, configurations).ok());
  ASSERT_THAT(configurations[0].peaks, SizeIs(2));
  EXPECT_GT(configurations[0].peaks[0], 0);
}

TEST(Configurations, NamesAreThoseOfFiles) {
  EXPECT_EQ(NameOf({.model = "models/a.onnx"}), "a.onnx");
  EXPECT_EQ(NameOf({.model = "a.onnx"}), "a.onnx");
}

}  // namespace
}  // namespace ember::tools
