#include "tests/performance/measure.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "compiler/compile.h"
#include "jit/target/peak.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/report/dispatch_work.h"
#include "tools/lib/report/explain.h"

namespace ember::tests {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

StatusOr<std::unique_ptr<TimedModel>> TimedModel::Create(
    onnx::ModelBuilder& model, const std::string& schedule_folder) {
  std::unique_ptr<TimedModel> timed(new TimedModel);
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, model.Import());
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         compiler::Compile(std::move(graph), {}));
  EMBER_ASSIGN_OR_RETURN(timed->module_,
                         vm::Module::FromDefinition(std::move(definition)));
  EMBER_ASSIGN_OR_RETURN(timed->device_, tools::OpenDevice("cpu", 1));
  EMBER_ASSIGN_OR_RETURN(timed->tier_,
                         tools::OpenTier({.tier = "2",
                                          .schedule_folder = schedule_folder,
                                          .has_schedules_of_others = true},
                                         timed->device_, timed->module_));
  EMBER_ASSIGN_OR_RETURN(timed->session_, timed->NewSession(false));
  tools::RandomTensors random(0);
  EMBER_ASSIGN_OR_RETURN(timed->inputs_,
                         tools::BindInputs(*timed->module_, {}, {}, random));
  EMBER_RETURN_IF_ERROR(timed->CountWork());
  return timed;
}

StatusOr<std::unique_ptr<vm::Session>> TimedModel::NewSession(
    bool trace) const {
  return vm::Session::Create(
      module_, {.device = device_, .tiering = tier_.tiering, .trace = trace});
}

Status TimedModel::CountWork() {
  std::vector<vm::Tensor> results;
  session_->ResetProfile();
  EMBER_RETURN_IF_ERROR(session_->Run(inputs_, &results));
  const std::vector<vm::SiteProfile> profile = session_->Profile();
  for (size_t i = 0; i < profile.size(); ++i) {
    const uint32_t dispatch = module_->sites()[i].dispatch;
    EMBER_ASSIGN_OR_RETURN(
        const tools::DispatchWork work,
        tools::WorkOf(module_->definition().dispatches[dispatch],
                      profile[i].parameters));
    operations_ += work.operations * static_cast<double>(profile[i].calls);
    bytes_ += work.bytes * static_cast<double>(profile[i].calls);
    working_set_ += work.bytes;
  }
  return OkStatus();
}

StatusOr<Speed> TimedModel::Measure(double seconds) {
  constexpr int kFewestRounds = 10;
  constexpr double kPeakSeconds = 0.0003, kReadSeconds = 0.001;
  Speed speed;
  std::vector<vm::Tensor> results;
  const Clock::time_point start = Clock::now();
  for (int round = 0; round < kFewestRounds || SecondsSince(start) < seconds;
       ++round) {
    speed.gigaflops =
        std::max(speed.gigaflops, jit::MeasureFmaPeak(1, kPeakSeconds));
    speed.gigabytes_per_second =
        std::max(speed.gigabytes_per_second,
                 jit::MeasureReadRate(1, static_cast<int64_t>(working_set_),
                                      kReadSeconds));
    // Reading the reference's buffer has evicted the model's data from the
    // caches. This first call, which is not measured, loads the data again, as
    // the buffer, too, was written just before it was read.
    EMBER_RETURN_IF_ERROR(session_->Run(inputs_, &results));
    for (int call = 0; call < 2; ++call) {
      const Clock::time_point begin = Clock::now();
      EMBER_RETURN_IF_ERROR(session_->Run(inputs_, &results));
      const double milliseconds = 1e3 * SecondsSince(begin);
      if (speed.model_ms == 0 || milliseconds < speed.model_ms)
        speed.model_ms = milliseconds;
    }
    ++speed.rounds;
  }
  speed.reference_ms = 1e-6 * (operations_ / speed.gigaflops +
                               bytes_ / speed.gigabytes_per_second);
  speed.relative = speed.reference_ms / speed.model_ms;
  return speed;
}

std::vector<std::string> TimedModel::Dispatches() const {
  std::vector<std::string> names;
  for (const vm::SiteProfile& site : session_->Profile())
    names.emplace_back(site.dispatch);
  return names;
}

std::vector<std::string> TimedModel::Interpreted() const {
  std::vector<std::string> names;
  for (const vm::SiteProfile& site : session_->Profile()) {
    if (site.calls > site.tier_calls[2]) names.emplace_back(site.dispatch);
  }
  return names;
}

StatusOr<std::string> TimedModel::Explain() const {
  constexpr int kRuns = 11;
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         NewSession(true));
  std::vector<vm::Tensor> results;
  for (int run = 0; run < kRuns; ++run) {
    if (run == 1) session->ResetProfile();
    EMBER_RETURN_IF_ERROR(session->Run(inputs_, &results));
  }
  return tools::ExplainText(*session, tier_.tiering.get(),
                            jit::MeasureMachineLimits(1), SIZE_MAX) +
         tools::JitText(tier_, *module_);
}

}  // namespace ember::tests
