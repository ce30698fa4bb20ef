// Measures the dispatches of a session that has run with SessionOptions::trace:
// times, work, and the tier that ran them. The table of --explain and the page
// of vm-report show these numbers.
//
//   for (const DispatchMeasure& measure :
//        MeasureDispatches(*session, session->trace(), tiering)) …
#ifndef EMBER_TOOLS_LIB_REPORT_DISPATCH_MEASURES_H_
#define EMBER_TOOLS_LIB_REPORT_DISPATCH_MEASURES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/target/peak.h"
#include "tools/lib/report/dispatch_work.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::tools {

// Measures of one dispatch site, that is, of one call in the program.
struct DispatchMeasure {
  size_t site = 0;  // index in Module::sites and Session::Profile
  int64_t calls = 0;
  double total_ms = 0;
  double median_ms = 0;
  DispatchWork work;  // work of a call, for the parameters of the last call
  // The tier of the last call, with the reason if there was no kernel: "2", "0:
  // declined-reason" or "0: no kernel yet".
  std::string tier;
};

// The least time that a dispatch can take on a machine, by its arithmetic and
// by its memory traffic.
struct Roofline {
  double compute_ms = 0, memory_ms = 0;
  double ms() const { return compute_ms > memory_ms ? compute_ms : memory_ms; }
};
Roofline RooflineOf(const DispatchWork& work, const jit::MachineLimits& limits);

// Returns a measure for each site that was called, in the order of the sites.
// Sites whose work cannot be counted are left out. `tiering` is null at tier 0.
std::vector<DispatchMeasure> MeasureDispatches(
    const vm::Session& session, std::span<const vm::TraceEvent> calls,
    const vm::Tiering* tiering);

// Returns the name of the reason (a row of jit/backend/decline_reasons.h such
// as "float-remainder") that a text contains; if it has none, the beginning of
// the text.
std::string ReasonName(const std::string& reason);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_DISPATCH_MEASURES_H_
