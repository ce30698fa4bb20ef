#include "jit/kernel/build_kernel.h"

#include <utility>

#include "jit/backend/stopwatch.h"
#include "jit/backends.h"
#include "jit/kernel/build_nest.h"

namespace ember::jit {
namespace {

// As the report asks for, with its texts.
StatusOr<loops::LoopNest> BuildReportedNest(const vm::KernelRequest& request,
                                            KernelReport& report) {
  NestText text;
  StatusOr<loops::LoopNest> nest = BuildNest(
      request,
      {.given_schedule = report.given_schedule, .is_exact = report.is_exact},
      report.keep_text ? &text : nullptr, &report.error_growth);
  report.schedule = std::move(text.schedule);
  report.nest = std::move(text.nest);
  return nest;
}

}  // namespace

StatusOr<std::unique_ptr<vm::Kernel>> BuildKernel(
    const vm::KernelRequest& request, Compiler& compiler,
    KernelReport* report) {
  KernelReport own;
  if (report == nullptr) report = &own;
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest,
                         BuildReportedNest(request, *report));
  report->schedule_ms = stopwatch.Lap();
  return BackendFor(request.target)
      .build(request, std::move(nest), {.host = compiler}, *report);
}

}  // namespace ember::jit
