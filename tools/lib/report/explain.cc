#include "tools/lib/report/explain.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "base/shortened.h"
#include "tools/lib/report/dispatch_measures.h"
#include "tools/lib/report/profile.h"
#include "tools/lib/report/table.h"

namespace ember::tools {
namespace {

// Returns the milliseconds of all calls of the session, including calls whose
// work cannot be counted.
double TotalMilliseconds(const vm::Session& session) {
  double total = 0;
  for (const vm::TraceEvent& call : session.trace())
    total += 1e-6 * static_cast<double>(call.end_ns - call.begin_ns);
  return total;
}

// Returns the measures sorted by the time that the dispatches took, the longest
// first.
std::vector<DispatchMeasure> SlowestFirst(const vm::Session& session,
                                          const vm::Tiering* tiering) {
  std::vector<DispatchMeasure> measures =
      MeasureDispatches(session, session.trace(), tiering);
  std::ranges::stable_sort(measures, std::greater(),
                           &DispatchMeasure::total_ms);
  return measures;
}

std::string ShareText(double part, double total) {
  char text[16];
  std::snprintf(text, sizeof text, "%5.1f%%", 100 * part / total);
  return text;
}

// Returns a line about the time of the dispatches that the table does not show;
// empty if it shows all.
std::string RestText(const std::vector<DispatchMeasure>& measures, size_t rows,
                     double total_ms) {
  if (measures.size() <= rows) return "";
  double rest = 0;
  for (size_t i = rows; i < measures.size(); ++i) rest += measures[i].total_ms;
  return std::to_string(measures.size() - rows) + " more dispatches took" +
         ShareText(rest, total_ms) +
         " (--profile-rows=" + std::to_string(measures.size()) +
         " shows them)\n";
}

// Returns the table as a JSON list. `more` returns the cells of the columns
// `more_columns` for a dispatch.
std::string Json(
    const vm::Session& session, const vm::Tiering* tiering,
    const std::vector<std::string>& more_columns,
    const std::function<std::vector<Cell>(const DispatchMeasure& measure)>&
        more) {
  const std::vector<vm::SiteProfile> profile = session.Profile();
  const double total_ms = TotalMilliseconds(session);
  std::vector<std::string> columns = {
      "dispatch", "nodes",      "calls", "total_ms", "median_us",
      "share",    "operations", "bytes", "tier",     "computes"};
  columns.insert(columns.end(), more_columns.begin(), more_columns.end());
  Table table(columns);
  for (const DispatchMeasure& measure : SlowestFirst(session, tiering)) {
    std::vector<Cell> row = {profile[measure.site].dispatch,
                             profile[measure.site].origin,
                             measure.calls,
                             Cell(measure.total_ms, 6),
                             Cell(1e3 * measure.median_ms, 3),
                             Cell(measure.total_ms / total_ms, 6),
                             Cell(measure.work.operations, 0),
                             Cell(measure.work.bytes, 0),
                             measure.tier,
                             measure.work.text};
    const std::vector<Cell> cells = more(measure);
    row.insert(row.end(), cells.begin(), cells.end());
    table.AddRow(std::move(row));
  }
  return table.Print(TableFormat::kJson);
}

// Returns a line with the bytes of constants that a run reads. In a language
// model these are the weights, and reading them bounds the time of a token.
std::string ConstantsText(const vm::Session& session,
                          const std::vector<DispatchMeasure>& measures) {
  const vm::Module& module = session.module();
  double all = 0, read = 0, bytes = 0;
  for (const vm::Constant& constant : module.definition().constants)
    all += static_cast<double>(constant.data.size());
  for (const DispatchMeasure& measure : measures) {
    bytes += measure.work.bytes;
    const std::vector<vm::ConstantSource>& inputs =
        module.sites()[measure.site].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].constant >= 0) read += measure.work.input_bytes[i];
    }
  }
  if (all == 0) return "";
  char text[160];
  std::snprintf(text, sizeof text,
                "One call of each dispatch moves %.6g MB at least, of which "
                "%.6g MB are constants; the module has constants of %.6g MB.\n",
                1e-6 * bytes, 1e-6 * read, 1e-6 * all);
  return text;
}

}  // namespace

std::string ExplainText(const vm::Session& session, const vm::Tiering* tiering,
                        const jit::MachineLimits& limits, size_t rows) {
  const std::vector<vm::SiteProfile> profile = session.Profile();
  const double total_ms = TotalMilliseconds(session);
  double roof_ms = 0;
  Table table({"share", "calls", "median µs", "roof %", "bound", "MFLOP", "MB",
               "tier", "dispatch", "computes", "nodes"});
  const std::vector<DispatchMeasure> measures = SlowestFirst(session, tiering);
  for (size_t i = 0; i < measures.size(); ++i) {
    const DispatchMeasure& measure = measures[i];
    const DispatchWork& work = measure.work;
    const Roofline roof = RooflineOf(work, limits);
    roof_ms += roof.ms() * static_cast<double>(measure.calls);
    if (i >= rows) continue;
    table.AddRow({ShareText(measure.total_ms, total_ms), measure.calls,
                  Cell(1e3 * measure.median_ms, 1),
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
  return limits.Text() + "\n" + table.Print(TableFormat::kMarkdown) +
         RestText(measures, rows, total_ms) + summary +
         ConstantsText(session, measures);
}

std::string ExplainDeviceText(const vm::Session& session,
                              const vm::Tiering* tiering,
                              const std::string& device, size_t rows) {
  const std::vector<vm::SiteProfile> profile = session.Profile();
  const double total_ms = TotalMilliseconds(session);
  Table table({"share", "calls", "median µs", "GFLOP/s", "GB/s", "MFLOP", "MB",
               "tier", "where", "dispatch", "computes", "nodes"});
  const std::vector<DispatchMeasure> measures = SlowestFirst(session, tiering);
  for (size_t i = 0; i < std::min(rows, measures.size()); ++i) {
    const DispatchMeasure& measure = measures[i];
    const DispatchWork& work = measure.work;
    table.AddRow({ShareText(measure.total_ms, total_ms), measure.calls,
                  Cell(1e3 * measure.median_ms, 1),
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
  return table.Print(TableFormat::kMarkdown) +
         RestText(measures, rows, total_ms) + summary;
}

std::string ExplainJson(const vm::Session& session, const vm::Tiering* tiering,
                        const jit::MachineLimits& limits) {
  return Json(session, tiering, {"roofline_us", "bound"},
              [&](const DispatchMeasure& measure) -> std::vector<Cell> {
                const Roofline roof = RooflineOf(measure.work, limits);
                return {
                    Cell(1e3 * roof.ms(), 3),
                    roof.compute_ms > roof.memory_ms ? "compute" : "memory"};
              });
}

std::string ExplainDeviceJson(const vm::Session& session,
                              const vm::Tiering* tiering,
                              const std::string& device) {
  const std::vector<vm::SiteProfile> profile = session.Profile();
  return Json(session, tiering, {"where"},
              [&](const DispatchMeasure& measure) -> std::vector<Cell> {
                return {WhereText(profile[measure.site], device)};
              });
}

}  // namespace ember::tools
