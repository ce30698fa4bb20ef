// Predicts what tuning would gain, by the cost model alone, for --explain.
//
//   EMBER_ASSIGN_OR_RETURN(const PredictedGain gain,
//                          PredictGain(task, model, {}));
//   gain.seconds;   // 0.0012, the estimate for the default schedule
//   gain.factor;    // 1.3: the best of a few schedules takes 1 / 1.3 of that
//
// No schedule is compiled or measured. Only measuring a schedule, with vm-tune,
// shows if it really is faster.
#ifndef EMBER_TOOLS_LIB_TUNING_PREDICTED_GAIN_H_
#define EMBER_TOOLS_LIB_TUNING_PREDICTED_GAIN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/models/load_model.h"
#include "tune/model/cost_model.h"
#include "tune/task/task.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::tools {

struct GainOptions {
  int64_t schedules = 12;  // number of schedules that are tried, without the
                           // default one
  uint64_t seed = 1;
};

struct PredictedGain {
  double seconds = 0;
  double factor = 1;
  double deviation = 0;  // standard deviation of ln(factor) that the model
                         // expects
};

// Predicts the gain of tuning a task. Errors are those of tune::Space::Make:
// the dispatch has no kernel.
StatusOr<PredictedGain> PredictGain(const tune::Task& task,
                                    const tune::CostModel& model,
                                    const GainOptions& options);

// Returns a table with the dispatches that took at least 1% of the session's
// time: measured and predicted time, their ratio, and the predicted gain of
// tuning. Dispatches without a kernel are left out. The session must have been
// made with SessionOptions::trace. `shapes` are those of TasksOf. Errors are
// those of TasksOf.
StatusOr<std::string> PredictedGainText(
    const vm::Session& session, const std::shared_ptr<const vm::Module>& module,
    const std::vector<NamedShape>& shapes);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_PREDICTED_GAIN_H_
