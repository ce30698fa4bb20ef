#include "tools/lib/tuning/predicted_gain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "hal/cpu/target.h"
#include "tools/lib/report/statistics.h"
#include "tools/lib/report/table.h"
#include "tools/lib/tuning/model_tasks.h"
#include "tune/model/analytic_model.h"
#include "tune/model/tree_model.h"
#include "tune/space/random.h"
#include "tune/space/space.h"

namespace ember::tools {
namespace {

// Maps the name of each dispatch to the times of its calls, in seconds.
std::map<std::string, std::vector<double>> TimesOf(const vm::Session& session) {
  const std::vector<vm::SiteProfile> profile = session.Profile();
  std::map<std::string, std::vector<double>> times;
  for (const vm::TraceEvent& event : session.trace()) {
    times[std::string(profile[event.site].dispatch)].push_back(
        1e-9 * static_cast<double>(event.end_ns - event.begin_ns));
  }
  return times;
}

}  // namespace

StatusOr<PredictedGain> PredictGain(const tune::Task& task,
                                    const tune::CostModel& model,
                                    const GainOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const tune::Space space, tune::Space::Make(task, {}));
  std::vector<std::vector<float>> features = {space.start().features};
  tune::Random random(options.seed);
  for (int64_t i = 0; i < options.schedules; ++i) {
    const bool is_near = i % 2 == 0;
    std::optional<tune::Candidate> candidate =
        is_near ? space.Mutate(space.start().point, random)
                : space.Sample(random);
    if (candidate) features.push_back(std::move(candidate->features));
  }
  const std::vector<tune::CostModel::Prediction> predictions =
      model.Predict(features);
  const auto& best = *std::ranges::max_element(
      predictions, {}, &tune::CostModel::Prediction::score);
  const auto& start = predictions.front();
  return PredictedGain{
      .seconds = tune::AnalyticModel::Seconds(space.start().features),
      .factor = std::exp(best.score - start.score),
      .deviation = std::hypot(best.deviation, start.deviation)};
}

StatusOr<std::string> PredictedGainText(
    const vm::Session& session, const std::shared_ptr<const vm::Module>& module,
    const std::vector<NamedShape>& shapes) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<tune::Task> tasks,
                         TasksOf(module, hal::HostTarget(), shapes));
  const std::map<std::string, std::vector<double>> times = TimesOf(session);
  double total = 0;
  for (const auto& [dispatch, calls] : times)
    total += std::accumulate(calls.begin(), calls.end(), 0.0);
  const tune::TreeModel model = tune::TreeModel::Shipped();
  Table table(
      {"dispatch", "µs", "predicted µs", "ratio", "tuning gains", "deviation"});
  double logs = 0;
  int64_t rows = 0;
  for (const tune::Task& task : tasks) {
    const auto found = times.find(task.name);
    if (found == times.end()) continue;
    const std::vector<double>& calls = found->second;
    constexpr double kLeastShare = 0.01;
    if (std::accumulate(calls.begin(), calls.end(), 0.0) < kLeastShare * total)
      continue;
    const StatusOr<PredictedGain> gain = PredictGain(task, model, {});
    if (!gain.ok()) continue;
    const double measured = Quantiles(calls).At(0.5);
    const double ratio = gain->seconds / measured;
    logs += std::abs(std::log(ratio));
    ++rows;
    char factor[16];
    std::snprintf(factor, sizeof factor, "%.2fx", gain->factor);
    table.AddRow({task.name, Cell(1e6 * measured, 1),
                  Cell(1e6 * gain->seconds, 1), Cell(ratio, 2), factor,
                  Cell(gain->deviation, 2)});
  }
  if (rows == 0) return std::string();
  char summary[160];
  std::snprintf(summary, sizeof summary,
                "The cost model's times are wrong by a factor of %.2f "
                "(geometric mean); vm-tune measures what tuning gains.\n",
                std::exp(logs / static_cast<double>(rows)));
  return table.Print(TableFormat::kMarkdown) + summary;
}

}  // namespace ember::tools
