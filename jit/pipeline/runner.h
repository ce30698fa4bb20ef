// Runs passes of the JIT's pipeline. The JIT, the compile worker and tests run
// all passes by this runner. It leaves out disabled passes, and measures,
// verifies and prints the others.
//
//   PassLog log = {.options = {.disabled = {"plan-prefetches"}}};
//   EMBER_RETURN_IF_ERROR(RunPasses<NestBuild>(NestPasses(), build, log));
//
// Thread-safe for distinct builds.
#ifndef EMBER_JIT_PIPELINE_RUNNER_H_
#define EMBER_JIT_PIPELINE_RUNNER_H_

#include <span>
#include <string>

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/backend/stopwatch.h"
#include "jit/pipeline/pass.h"

namespace ember::jit {

// The state of a run of passes, as far as it does not depend on the type of the
// build.
class PassRun {
 public:
  explicit PassRun(PassLog& log) : log_(log) {}

  const PassOptions& options() const { return log_.options; }
  bool IsDisabled(const PassInfo& pass) const {
    return pass.may_be_disabled && options().disabled.contains(pass.name);
  }
  // Returns kInternal if the build was valid before the pass and is no longer.
  // A build that was never valid is no error here: the pass that proves bounds
  // will decline it.
  Status CheckAfter(const PassInfo& pass, const Status& verified);
  void Record(const PassInfo& pass, double milliseconds, std::string text);

 private:
  PassLog& log_;
  bool was_valid_ = false;
  std::string before_;  // text of the build after the previous pass
};

// True if the pass runs for builds of this kind.
bool IsFor(const PassInfo& pass, bool is_for_gpu);

// Runs the passes on the build. build.IsForGpu() says whether passes for GPUs
// or those for CPUs are run. Adds a record for each pass that ran to the log.
// Errors: those of the passes; kInternal for a pass whose result does not
// verify.
template <typename Build>
Status RunPasses(std::span<const Pass<Build>> passes, Build& build,
                 PassLog& log) {
  PassRun run(log);
  for (const Pass<Build>& pass : passes) {
    if (!IsFor(pass.info, build.IsForGpu())) continue;
    const bool is_disabled = run.IsDisabled(pass.info);
    auto* const function = is_disabled ? pass.run_disabled : pass.run;
    if (function == nullptr) continue;
    Stopwatch stopwatch;
    EMBER_RETURN_IF_ERROR(function(build));
    const double milliseconds = stopwatch.Lap();
    if (run.options().verifies && pass.verify != nullptr)
      EMBER_RETURN_IF_ERROR(run.CheckAfter(pass.info, pass.verify(build)));
    const bool has_text = run.options().keeps_texts && pass.print != nullptr;
    run.Record(pass.info, milliseconds,
               has_text ? pass.print(build) : std::string());
  }
  return OkStatus();
}

}  // namespace ember::jit

#endif  // EMBER_JIT_PIPELINE_RUNNER_H_
