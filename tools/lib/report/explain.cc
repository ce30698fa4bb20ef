#include "tools/lib/report/explain.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/shortened.h"
#include "jit/backend/decline_reasons.h"
#include "tools/lib/report/dispatch_work.h"
#include "tools/lib/report/profile.h"
#include "tools/lib/report/statistics.h"
#include "tools/lib/report/table.h"

namespace ember::tools {
namespace {

// Returns milliseconds of each call, by site.
std::vector<std::vector<double>> TimesBySite(const vm::Session& session) {
  std::vector<std::vector<double>> times(session.module().sites().size());
  for (const vm::TraceEvent& event : session.trace()) {
    times[event.site].push_back(
        1e-6 * static_cast<double>(event.end_ns - event.begin_ns));
  }
  return times;
}

// Returns the tier that ran a dispatch, with the reason if there was no kernel:
// "2", "0: declined-reason" or "0: no kernel yet".
std::string TierText(const vm::SiteProfile& site, const vm::Tiering* tiering,
                     uint32_t group) {
  std::string text = std::to_string(site.tier);
  if (site.tier > 0 || tiering == nullptr) return text;
  const vm::KernelSlot& slot = *tiering->slot(group);
  const vm::KernelSlot::Kernels* const kernels = slot.kernels();
  if (kernels != nullptr && !kernels->slow.empty()) return text + ": slower";
  const std::vector<std::string> reasons = slot.decline_reasons();
  return text +
         (reasons.empty() ? ": no kernel yet" : ": " + ReasonName(reasons[0]));
}

}  // namespace

std::string ReasonName(const std::string& reason) {
  // The reason's text may begin with words of the component that declined,
  // before the reason's name.
  for (const std::string_view name : {
#define EMBER_ROW(name, text, doc) std::string_view(text),
           EMBER_FOR_EACH_DECLINE_REASON(EMBER_ROW)
#undef EMBER_ROW
       }) {
    if (reason.find(std::string(name) + ": ") != std::string::npos)
      return std::string(name);
  }
  return Shortened(reason, 32);
}

std::string ExplainText(const vm::Session& session, const vm::Tiering* tiering,
                        const jit::MachineLimits& limits) {
  const std::vector<std::vector<double>> times = TimesBySite(session);
  const std::vector<vm::SiteProfile> profile = session.Profile();
  const std::span<const vm::DispatchSite> sites = session.module().sites();
  double total_ms = 0, roof_ms = 0;
  for (const auto& calls : times) {
    for (const double ms : calls) total_ms += ms;
  }
  Table table({"share", "calls", "µs", "roof %", "bound", "MFLOP", "MB", "tier",
               "dispatch", "computes", "nodes"});
  for (size_t i = 0; i < sites.size(); ++i) {
    if (times[i].empty()) continue;
    const StatusOr<DispatchWork> work =
        WorkOf(session.module().definition().dispatches[sites[i].dispatch],
               profile[i].parameters);
    if (!work.ok()) continue;
    const double median = Quantiles(times[i]).At(0.5);
    double sum = 0;
    for (const double ms : times[i]) sum += ms;
    const double compute_ms = work->operations * 1e-6 / limits.gflops;
    const double memory_ms =
        work->bytes * 1e-6 / limits.ReadRateFor(work->bytes);
    const double bound_ms = std::max(compute_ms, memory_ms);
    roof_ms += bound_ms * static_cast<double>(times[i].size());
    char share[16];
    std::snprintf(share, sizeof share, "%5.1f%%", 100 * sum / total_ms);
    table.AddRow({share, static_cast<int64_t>(times[i].size()),
                  Cell(1e3 * median, 1), Cell(100 * bound_ms / median, 1),
                  compute_ms > memory_ms ? "compute" : "memory",
                  Cell(1e-6 * work->operations, 2), Cell(1e-6 * work->bytes, 3),
                  TierText(profile[i], tiering, sites[i].group),
                  profile[i].dispatch, work->text,
                  Shortened(profile[i].origin, 48)});
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
  const std::vector<std::vector<double>> times = TimesBySite(session);
  const std::vector<vm::SiteProfile> profile = session.Profile();
  const std::span<const vm::DispatchSite> sites = session.module().sites();
  double total_ms = 0;
  for (const auto& calls : times) {
    for (const double ms : calls) total_ms += ms;
  }
  Table table({"share", "calls", "µs", "GFLOP/s", "GB/s", "MFLOP", "MB", "tier",
               "where", "dispatch", "computes", "nodes"});
  for (size_t i = 0; i < sites.size(); ++i) {
    if (times[i].empty()) continue;
    const StatusOr<DispatchWork> work =
        WorkOf(session.module().definition().dispatches[sites[i].dispatch],
               profile[i].parameters);
    if (!work.ok()) continue;
    double sum = 0;
    for (const double ms : times[i]) sum += ms;
    const double median = Quantiles(times[i]).At(0.5);
    char share[16];
    std::snprintf(share, sizeof share, "%5.1f%%", 100 * sum / total_ms);
    table.AddRow({share, static_cast<int64_t>(times[i].size()),
                  Cell(1e3 * median, 1),
                  Cell(work->operations * 1e-6 / median, 1),
                  Cell(work->bytes * 1e-6 / median, 2),
                  Cell(1e-6 * work->operations, 2), Cell(1e-6 * work->bytes, 3),
                  TierText(profile[i], tiering, sites[i].group),
                  WhereText(profile[i], device), profile[i].dispatch,
                  work->text, Shortened(profile[i].origin, 48)});
  }
  char summary[128];
  std::snprintf(summary, sizeof summary,
                "dispatches took %.3f ms in all, submitted and waited for one "
                "by one.\n",
                total_ms);
  return table.Print(TableFormat::kMarkdown) + summary;
}

}  // namespace ember::tools
