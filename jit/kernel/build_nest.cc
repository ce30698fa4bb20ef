#include "jit/kernel/build_nest.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "jit/kernel/content_key.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/nest_passes.h"
#include "jit/pipeline/runner.h"
#include "jit/registry/backends.h"
#include "jit/schedule/primitives/replay.h"

namespace ember::jit {
namespace {

// Returns a build of the request's dispatch, parameters and constants that has
// no schedule yet.
NestBuild BuildOf(const vm::KernelRequest& request) {
  NestBuild build;
  build.dispatch = request.dispatch;
  build.parameters = request.parameters;
  for (size_t i = 0; i < request.constant_inputs.size(); ++i) {
    build.constants.emplace_back();
    if (request.constant_inputs[i])
      build.constants.back() = request.constant_data[i];
  }
  return build;
}

NestBuild BuildOf(const vm::KernelRequest& request,
                  const NestOptions& options) {
  NestBuild build = BuildOf(request);
  build.ranges = options.ranges;
  build.choose = [&](schedule::Schedule& schedule) -> Status {
    if (!options.given_schedule.empty())
      return Replay(options.given_schedule, schedule);
    return BackendFor(request.target)
        .schedule(request.target,
                  {.is_exact = options.is_exact, .cpu = options.cpu}, schedule);
  };
  return build;
}

// Takes two texts from the log of passes: that of the schedule, and that of the
// nest after the last pass that ran.
NestText TextOf(const PassLog& log) {
  constexpr std::string_view kSchedule = "schedule";
  NestText text;
  text.schedule = TextAfter(log, kSchedule);
  for (const PassRecord& record : log.records) {
    if (!record.text.empty() && record.name != kSchedule)
      text.nest = record.text;
  }
  return text;
}

}  // namespace

void RestoreNames(const tensor::Dispatch& dispatch, loops::LoopNest& nest) {
  nest.name = dispatch.name;
  // A nest that is specialised for values of its parameters has no parameters,
  // so there are no names to restore.
  if (!nest.parameters.empty()) nest.parameters = dispatch.parameters;
  const size_t count = dispatch.input_count() + dispatch.output_count();
  std::set<std::string> taken;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    std::string& name = nest.buffers[i].name;
    if (i < count) name = dispatch.buffers[i].name;
    while (!taken.insert(name).second) name += "_";
  }
}

StatusOr<schedule::Computation> ComputationOf(
    const vm::KernelRequest& request) {
  PassLog log;
  NestBuild build = BuildOf(request);
  EMBER_RETURN_IF_ERROR(RunPasses(ComputationPasses(), build, log));
  return std::move(build.computation);
}

StatusOr<loops::LoopNest> BuildNest(const vm::KernelRequest& request,
                                    const NestOptions& options, NestText* text,
                                    double* error_growth) {
  if (options.has_canonical_names) {
    const vm::KernelRequest canonical = WithCanonicalNames(request);
    NestOptions inner = options;
    inner.has_canonical_names = false;
    EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest,
                           BuildNest(canonical, inner, text, error_growth));
    RestoreNames(*request.dispatch, nest);
    if (text != nullptr) text->nest = loops::ToText(nest);
    return nest;
  }
  PassLog own;
  PassLog& log = options.log != nullptr ? *options.log : own;
  log.options.keeps_texts |= text != nullptr;
  NestBuild build = BuildOf(request, options);
  const Status status = RunPasses(NestPasses(), build, log);
  if (text != nullptr) *text = TextOf(log);
  EMBER_RETURN_IF_ERROR(status);
  if (error_growth != nullptr) *error_growth = build.schedule->ErrorGrowth();
  return std::move(build.nest);
}

}  // namespace ember::jit
