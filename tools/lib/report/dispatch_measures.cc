#include "tools/lib/report/dispatch_measures.h"

#include <string_view>
#include <utility>

#include "base/shortened.h"
#include "jit/backend/decline_reasons.h"
#include "tools/lib/report/statistics.h"

namespace ember::tools {
namespace {

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

Roofline RooflineOf(const DispatchWork& work,
                    const jit::MachineLimits& limits) {
  return {.compute_ms = work.operations * 1e-6 / limits.gflops,
          .memory_ms = work.bytes * 1e-6 / limits.ReadRateFor(work.bytes)};
}

std::vector<DispatchMeasure> MeasureDispatches(
    const vm::Session& session, std::span<const vm::TraceEvent> calls,
    const vm::Tiering* tiering) {
  const std::span<const vm::DispatchSite> sites = session.module().sites();
  std::vector<std::vector<double>> times(sites.size());
  for (const vm::TraceEvent& call : calls) {
    times[call.site].push_back(
        1e-6 * static_cast<double>(call.end_ns - call.begin_ns));
  }
  const std::vector<vm::SiteProfile> profile = session.Profile();
  std::vector<DispatchMeasure> measures;
  for (size_t i = 0; i < sites.size(); ++i) {
    if (times[i].empty()) continue;
    StatusOr<DispatchWork> work =
        WorkOf(session.module().definition().dispatches[sites[i].dispatch],
               profile[i].parameters);
    if (!work.ok()) continue;
    DispatchMeasure& measure = measures.emplace_back();
    measure.site = i;
    measure.calls = static_cast<int64_t>(times[i].size());
    for (const double ms : times[i]) measure.total_ms += ms;
    measure.median_ms = Quantiles(std::move(times[i])).At(0.5);
    measure.work = *std::move(work);
    measure.tier = TierText(profile[i], tiering, sites[i].group);
  }
  return measures;
}

std::string ReasonName(const std::string& reason) {
  // The text of a reason may begin with other words, those of the component
  // that declined. So the name of the reason is searched for in the whole text.
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

}  // namespace ember::tools
