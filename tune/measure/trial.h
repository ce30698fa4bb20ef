// A trial: one candidate of one task, compiled, checked and measured.
//
//   Trial trial{.task = 3, .schedule = TextOf(point), .best = 0.9};
//   TrialResult result = bench.Run(trial);     // tune/measure/bench.h
//   result.ratio;    // 0.85: the candidate takes 0.85 of the default's time
//
// Values. WriteTrial and the like are the messages between a tuner and its
// workers, which are built from the same sources.
#ifndef EMBER_TUNE_MEASURE_TRIAL_H_
#define EMBER_TUNE_MEASURE_TRIAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::tune {

struct Trial {
  size_t task = 0;       // number of the task in the worker's list
  std::string schedule;  // steps, one per line
  // The smallest ratio that was measured for the task so far. A trial that is
  // clearly slower is stopped early.
  double best = 1;
  // True: the trial decides if a schedule is kept, so it is measured for longer
  // and never stopped early.
  bool is_careful = false;
};

enum class Outcome : uint8_t {
  kMeasured,
  kHopeless,  // stopped early; the ratio is a rough one
  kRefused,   // no kernel could be made, or it failed
  kWrong,     // its results are not the dispatch's
  kCrashed,   // the worker died
  kHung       // the worker was killed after a time limit
};

struct TrialResult {
  Outcome outcome = Outcome::kRefused;
  double seconds = 0;  // time of a call
  // The time of a call divided by that of the default schedule's kernel in the
  // same interleaved run. Only for kMeasured and kHopeless.
  double ratio = 0;
  double compile_ms = 0;
  std::string reason;  // one line; empty for kMeasured
};

std::string_view NameOf(Outcome outcome);  // "measured", "hopeless", ...

std::string WriteTrial(const Trial& trial);
StatusOr<Trial> ReadTrial(std::string_view text);
std::string WriteResult(const TrialResult& result);
StatusOr<TrialResult> ReadResult(std::string_view text);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_TRIAL_H_
