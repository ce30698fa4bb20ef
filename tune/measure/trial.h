// A trial is a request to compile, check and measure one candidate schedule of
// one task.
//
//   Trial trial{.task = 3, .schedule = TextOf(point), .best = 0.9};
//   TrialResult result = bench.Run(trial);     // tune/measure/bench.h
//   result.ratio;    // 0.85: the candidate takes 0.85 of the default's time
//
// Values. The Write and Read functions convert them to the messages between a
// tuner and its workers, which are built from the same sources.
#ifndef EMBER_TUNE_MEASURE_TRIAL_H_
#define EMBER_TUNE_MEASURE_TRIAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::tune {

struct Trial {
  size_t task = 0;       // index in the worker's list of tasks
  std::string schedule;  // steps of the schedule, one per line
  // The smallest ratio (TrialResult::ratio) that was measured for the task so
  // far. The trial is stopped early if its ratio is clearly larger.
  double best = 1;
  // True for a trial that decides if a schedule is kept as the best one. It is
  // measured for longer and never stopped early.
  bool is_careful = false;
};

enum class Outcome : uint8_t {
  kMeasured,
  // Much slower than the best one, so measuring stopped early; the ratio is
  // rough.
  kHopeless,
  kRefused,  // no kernel could be compiled, or its call returned an error
  kWrong,    // the kernel's results are not those of the dispatch
  kCrashed,  // the worker died
  kHung      // the trial took too long, so its worker was killed
};

struct TrialResult {
  Outcome outcome = Outcome::kRefused;
  double seconds = 0;  // time of one call of the kernel
  // The time of a call divided by that of the default schedule's kernel in the
  // same interleaved run. It is set only for kMeasured and kHopeless.
  double ratio = 0;
  double compile_ms = 0;
  // Why the trial has another outcome than kMeasured, in one line.
  std::string reason;
};

std::string_view NameOf(Outcome outcome);  // "measured", "hopeless", ...

std::string WriteTrial(const Trial& trial);
StatusOr<Trial> ReadTrial(std::string_view text);
std::string WriteResult(const TrialResult& result);
StatusOr<TrialResult> ReadResult(std::string_view text);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_TRIAL_H_
