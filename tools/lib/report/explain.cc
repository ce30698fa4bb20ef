#include "tools/lib/report/explain.h"

#include <cstdio>
#include <vector>

#include "base/shortened.h"
#include "tools/lib/report/dispatch_measures.h"
#include "tools/lib/report/profile.h"
#include "tools/lib/report/table.h"

namespace ember::tools {
namespace {

// Returns the milliseconds of all calls together, also of those whose work
// cannot be counted.
double TotalMilliseconds(const vm::Session& session) {
  double total = 0;
  for (const vm::TraceEvent& call : session.trace())
    total += 1e-6 * static_cast<double>(call.end_ns - call.begin_ns);
  return total;
}

}  // namespace

std::string ExplainText(const vm::Session& session, const vm::Tiering* tiering,
                        const jit::MachineLimits& limits) {
  const std::vector<vm::SiteProfile> profile = session.Profile();
  const double total_ms = TotalMilliseconds(session);
  double roof_ms = 0;
  Table table({"share", "calls", "µs", "roof %", "bound", "MFLOP", "MB", "tier",
               "dispatch", "computes", "nodes"});
  for (const DispatchMeasure& measure :
       MeasureDispatches(session, session.trace(), tiering)) {
    const DispatchWork& work = measure.work;
    const Roofline roof = RooflineOf(work, limits);
    roof_ms += roof.ms() * static_cast<double>(measure.calls);
    char share[16];
    std::snprintf(share, sizeof share, "%5.1f%%",
                  100 * measure.total_ms / total_ms);
    table.AddRow({share, measure.calls, Cell(1e3 * measure.median_ms, 1),
                  Cell(100 * roof.ms() / measure.median_ms, 1),
                  roof.compute_ms > roof.memory_ms ? "compute" : "memory",
                  Cell(1e-6 * work.operations, 2), Cell(1e-6 * work.bytes, 3),
                  measure.tier, profile[measure.site].dispatch, work.text,
                  Shortened(profile[measure.site].origin, 48)});
  }
  char summary[128];
  std::snprintf(summary, sizeof summary,
                "dispatches took %.3f ms in all; the roofline is %.1f%% of "
                "that.\n",
                total_ms, 100 * roof_ms / total_ms);
  return limits.Text() + "\n" + table.Print(TableFormat::kMarkdown) + summary;
}

std::string ExplainDeviceText(const vm::Session& session,
                              const vm::Tiering* tiering,
                              const std::string& device) {
  const std::vector<vm::SiteProfile> profile = session.Profile();
  const double total_ms = TotalMilliseconds(session);
  Table table({"share", "calls", "µs", "GFLOP/s", "GB/s", "MFLOP", "MB", "tier",
               "where", "dispatch", "computes", "nodes"});
  for (const DispatchMeasure& measure :
       MeasureDispatches(session, session.trace(), tiering)) {
    const DispatchWork& work = measure.work;
    char share[16];
    std::snprintf(share, sizeof share, "%5.1f%%",
                  100 * measure.total_ms / total_ms);
    table.AddRow({share, measure.calls, Cell(1e3 * measure.median_ms, 1),
                  Cell(work.operations * 1e-6 / measure.median_ms, 1),
                  Cell(work.bytes * 1e-6 / measure.median_ms, 2),
                  Cell(1e-6 * work.operations, 2), Cell(1e-6 * work.bytes, 3),
                  measure.tier, WhereText(profile[measure.site], device),
                  profile[measure.site].dispatch, work.text,
                  Shortened(profile[measure.site].origin, 48)});
  }
  char summary[128];
  std::snprintf(summary, sizeof summary,
                "dispatches took %.3f ms in all, submitted and waited for one "
                "by one.\n",
                total_ms);
  return table.Print(TableFormat::kMarkdown) + summary;
}

}  // namespace ember::tools
