#include "tools/lib/report/session_life.h"

#include <cstdio>
#include <utility>

#include "tools/lib/report/statistics.h"
#include "vm/runtime/steady_clock.h"

namespace ember::tools {
namespace {

std::string OriginText(jit::CodeOrigin origin) {
  switch (origin) {
    case jit::CodeOrigin::kShared:
      return "shared with an equal kernel";
    case jit::CodeOrigin::kLoaded:
      return "read from the cache";
    case jit::CodeOrigin::kCompiled:
      break;
  }
  return "compiled";
}

}  // namespace

void KernelLog::Observe(const jit::KernelEvent& event) {
  const jit::KernelReport& report = event.report;
  MadeKernel made = {
      .dispatch = event.request.dispatch->name,
      .tier = event.request.tier,
      .parameters = event.request.parameters,
      .slot = &event.slot,
      .requested_ns = event.requested_ns,
      .begin_ns = event.begin_ns,
      .end_ns = event.end_ns,
      .thread = event.thread,
      .is_in_worker = event.is_in_worker,
      .origin = OriginText(report.origin),
      .declined = event.status.ok() ? "" : event.status.ToString(),
      .schedule_ms = report.schedule_ms,
      .optimize_ms = report.optimize_ms,
      .codegen_ms = report.codegen_ms,
      .pack_ms = report.pack_ms,
      .code_bytes = report.code_bytes,
      .schedule = report.schedule,
      .nest = report.nest,
      .code = {}};
  // The compiler reports the code in several forms; the last one is the machine
  // code.
  if (!report.code.empty()) made.code = report.code.back().text;
  const std::lock_guard<std::mutex> lock(mutex_);
  kernels_.push_back(std::move(made));
}

std::vector<MadeKernel> KernelLog::Kernels() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return kernels_;
}

Status RunOnce(vm::Session& session, std::span<const vm::Tensor> inputs,
               std::vector<vm::Tensor>* results, SessionLife& life) {
  RunOfLife run;
  run.begin_ns = vm::SteadyNanoseconds();
  EMBER_RETURN_IF_ERROR(session.Run(inputs, results));
  run.end_ns = vm::SteadyNanoseconds();
  run.memory = session.memory();
  life.runs.push_back(run);
  return OkStatus();
}

void TakeCalls(vm::Session& session, SessionLife& life) {
  const std::span<const vm::TraceEvent> calls = session.trace();
  life.calls.insert(life.calls.end(), calls.begin(), calls.end());
  session.ResetProfile();
}

std::vector<double> MillisecondsOf(const SessionLife& life) {
  std::vector<double> milliseconds;
  for (const RunOfLife& run : life.runs) {
    milliseconds.push_back(1e-6 *
                           static_cast<double>(run.end_ns - run.begin_ns));
  }
  return milliseconds;
}

std::string LatencyText(const SessionLife& life) {
  std::vector<double> milliseconds = MillisecondsOf(life);
  const double first = milliseconds.front();
  const size_t runs = milliseconds.size();
  milliseconds.erase(milliseconds.begin());
  const Quantiles others(std::move(milliseconds));
  char text[160];
  std::snprintf(
      text, sizeof text,
      "%zu runs: the first %.3g ms, the others %.3g ms (median), %.3g to %.3g "
      "ms\n",
      runs, first, others.At(0.5), others.At(0), others.At(1));
  return text;
}

}  // namespace ember::tools
