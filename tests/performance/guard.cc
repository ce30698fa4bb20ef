#include "tests/performance/guard.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/file.h"
#include "tests/performance/baseline.h"
#include "tests/performance/measure.h"

namespace ember::tests {
namespace {

#if defined(EMBER_SANITIZER) || !defined(__OPTIMIZE__)
constexpr bool kIsOptimized = false;
#else
constexpr bool kIsOptimized = true;
#endif

std::string Rounded(double speed) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", speed);
  return text;
}

// Measures a model until its relative speed is at least `enough`, or the
// attempts are used up, and returns the best speed. A low speed may be caused
// by a disturbance, which ends at some time, or by the memory that the model
// happens to have. A model that is really slow stays slow.
StatusOr<double> BestSpeed(const GuardedModel& model, double enough) {
  std::vector<std::unique_ptr<TimedModel>> attempts;
  double best = 0;
  for (const double seconds : {0.6, 2.0, 6.0}) {
    // The models of earlier attempts are kept, so that this attempt gets other
    // memory, which may be the cause of a low speed.
    onnx::ModelBuilder onnx_model = model.build();
    EMBER_ASSIGN_OR_RETURN(std::unique_ptr<TimedModel> timed,
                           TimedModel::Create(onnx_model, ""));
    attempts.push_back(std::move(timed));
    EMBER_ASSIGN_OR_RETURN(const Speed speed,
                           attempts.back()->Measure(seconds));
    best = std::max(best, speed.relative);
    if (best >= enough) break;
  }
  return best;
}

// Reads the file. If it has no baseline of this machine, returns an empty one
// and prints a line that says so.
StatusOr<Baseline> ReadBaseline(const std::string& file) {
  Baseline none;
  none.machine = ThisMachine();
  const StatusOr<std::string> text = ReadFile(file);
  if (text.status().code() == StatusCode::kNotFound) {
    std::printf("There is no baseline yet in %s: this run makes it.\n",
                file.c_str());
    return none;
  }
  EMBER_RETURN_IF_ERROR(text.status());
  StatusOr<Baseline> baseline = Baseline::Parse(*text);
  if (!baseline.ok())
    return baseline.status().WithContext(file + " (--record makes it anew)");
  if (baseline->machine == none.machine) return baseline;
  std::printf(
      "The baseline in %s is another machine's (%s): this run makes one for "
      "this machine (%s).\n",
      file.c_str(), baseline->machine.c_str(), none.machine.c_str());
  return none;
}

StatusOr<Baseline::Row> Record(const GuardedModel& model,
                               const std::string& version) {
  // The first speed is measured until it is as high as the model's usual speed
  // on other machines, or the attempts are used up.
  EMBER_ASSIGN_OR_RETURN(const double speed,
                         BestSpeed(model, model.usual_speed));
  std::printf("%s: %s of the reference's speed, recorded", model.name,
              Rounded(speed).c_str());
  if (speed < 0.5 * model.usual_speed) {
    std::printf(", though AMD Zen 3 has %s; %s",
                Rounded(model.usual_speed).c_str(), model.ReplayText().c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
  return Baseline::Row{model.name, speed, version};
}

// Compares a model with the baseline. Returns "", or a line that says what is
// wrong.
StatusOr<std::string> Compare(const GuardedModel& model,
                              const Baseline::Row& row) {
  const double least = kLeastPart * row.speed;
  EMBER_ASSIGN_OR_RETURN(const double speed, BestSpeed(model, least));
  const std::string text = std::string(model.name) + ": " + Rounded(speed) +
                           " of the reference's speed, " + Rounded(row.speed) +
                           " at " + row.version;
  const bool is_slow = speed < least;
  std::printf("%s%s\n", text.c_str(), is_slow ? ": SLOWER" : "");
  std::fflush(stdout);
  return is_slow ? text + "; " + model.ReplayText() : "";
}

}  // namespace

Status Guard(const GuardOptions& options) {
  if (!kIsOptimized) {
    return FailedPreconditionError(
        "times of a build that is not optimised say nothing");
  }
  Baseline baseline;
  baseline.machine = ThisMachine();
  // The old file is not read if all rows are recorded anew, so that a damaged
  // file can be replaced.
  if (!options.records || options.models.size() < GuardedModels().size()) {
    EMBER_ASSIGN_OR_RETURN(baseline, ReadBaseline(options.file));
  }
  std::string slower;
  size_t recorded = 0;
  for (const GuardedModel& model : options.models) {
    const Baseline::Row* const row = baseline.Find(model.name);
    if (row == nullptr || options.records) {
      EMBER_ASSIGN_OR_RETURN(Baseline::Row now, Record(model, options.version));
      baseline.Set(std::move(now));
      ++recorded;
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(const std::string problem, Compare(model, *row));
    if (!problem.empty()) slower += "\n  " + problem;
  }
  if (recorded > 0) {
    std::filesystem::create_directories(
        std::filesystem::path(options.file).parent_path());
    EMBER_RETURN_IF_ERROR(WriteFileAtomically(options.file, baseline.Print()));
    std::printf("%zu speeds were recorded in %s.\n", recorded,
                options.file.c_str());
  }
  if (slower.empty()) return OkStatus();
  return FailedPreconditionError("slower than they were on this machine:" +
                                 slower);
}

}  // namespace ember::tests
