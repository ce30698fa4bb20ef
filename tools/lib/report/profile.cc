#include "tools/lib/report/profile.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "base/shortened.h"
#include "tools/lib/report/table.h"

namespace ember::tools {
namespace {

std::vector<vm::SiteProfile> MergeByDispatch(
    std::span<const vm::SiteProfile> sites) {
  std::vector<vm::SiteProfile> merged;
  std::map<std::string_view, size_t> rows;
  for (const vm::SiteProfile& site : sites) {
    if (site.calls == 0) continue;
    const auto [row, inserted] = rows.emplace(site.dispatch, merged.size());
    if (inserted) {
      merged.push_back(site);
    } else {
      merged[row->second].calls += site.calls;
      merged[row->second].total_ns += site.total_ns;
      merged[row->second].device_calls += site.device_calls;
      for (int tier = 0; tier < 3; ++tier)
        merged[row->second].tier_calls[tier] += site.tier_calls[tier];
    }
  }
  std::stable_sort(
      merged.begin(), merged.end(),
      [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return merged;
}

// Returns the tier in which a site's calls ran, such as "2". If there were
// several, returns the number of calls in each: "0: 3, 2: 97".
std::string TierText(const vm::SiteProfile& site) {
  std::string text;
  for (int tier = 0; tier < 3; ++tier) {
    const int64_t calls = site.tier_calls[tier];
    if (calls == 0) continue;
    if (calls == site.calls) return std::to_string(tier);
    if (!text.empty()) text += ", ";
    text += std::to_string(tier) + ": " + std::to_string(calls);
  }
  return text;
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ';');
  while (!text.empty() && text.back() == ';') text.pop_back();
  return text;
}

}  // namespace

std::string WhereText(const vm::SiteProfile& site, const std::string& device) {
  if (site.device_calls == 0) return "cpu";
  if (site.device_calls == site.calls) return device;
  return device + " " + std::to_string(100 * site.device_calls / site.calls) +
         "%";
}

std::string ProfileText(std::span<const vm::SiteProfile> sites, size_t rows,
                        const std::string& device) {
  const std::vector<vm::SiteProfile> merged = MergeByDispatch(sites);
  int64_t total_ns = 0, calls = 0;
  for (const vm::SiteProfile& site : merged) {
    total_ns += site.total_ns;
    calls += site.calls;
  }
  std::vector<std::string> columns = {"share",    "calls", "µs each", "tier",
                                      "dispatch", "nodes", "how"};
  if (!device.empty()) columns.insert(columns.begin() + 4, "where");
  Table table(columns);
  for (size_t i = 0; i < std::min(rows, merged.size()); ++i) {
    const vm::SiteProfile& site = merged[i];
    const double share = total_ns == 0
                             ? 0
                             : 100.0 * static_cast<double>(site.total_ns) /
                                   static_cast<double>(total_ns);
    char share_text[16];
    std::snprintf(share_text, sizeof(share_text), "%5.1f%%", share);
    std::vector<Cell> row = {share_text,
                             site.calls,
                             Cell(1e-3 * static_cast<double>(site.total_ns) /
                                      static_cast<double>(site.calls),
                                  1),
                             TierText(site),
                             site.dispatch,
                             Shortened(site.origin, 48),
                             Shortened(OneLine(site.plan), 96)};
    if (!device.empty()) row.insert(row.begin() + 4, WhereText(site, device));
    table.AddRow(std::move(row));
  }
  std::string text;
  if (!device.empty()) {
    text = "Each dispatch on " + device +
           " was submitted and waited for by itself, which takes longer than a "
           "run without --profile.\n";
  }
  text += table.Print(TableFormat::kMarkdown);
  if (merged.size() > rows) {
    text += std::to_string(merged.size() - rows) +
            " more dispatches are not shown.\n";
  }
  char summary[128];
  std::snprintf(summary, sizeof(summary),
                "%lld calls of %zu dispatches took %.3f ms.\n",
                static_cast<long long>(calls), merged.size(),
                1e-6 * static_cast<double>(total_ns));
  return text + summary;
}

std::string ProfileJson(std::span<const vm::SiteProfile> sites,
                        const std::string& device) {
  const std::vector<vm::SiteProfile> merged = MergeByDispatch(sites);
  double total_ns = 0;
  for (const vm::SiteProfile& site : merged)
    total_ns += static_cast<double>(site.total_ns);
  std::vector<std::string> columns = {
      "dispatch",     "nodes",        "calls",        "total_ms", "share",
      "tier_0_calls", "tier_1_calls", "tier_2_calls", "how"};
  if (!device.empty()) columns.emplace_back("where");
  Table table(columns);
  for (const vm::SiteProfile& site : merged) {
    const auto ns = static_cast<double>(site.total_ns);
    std::vector<Cell> row = {site.dispatch,
                             site.origin,
                             site.calls,
                             Cell(1e-6 * ns, 6),
                             Cell(total_ns == 0 ? 0 : ns / total_ns, 6),
                             site.tier_calls[0],
                             site.tier_calls[1],
                             site.tier_calls[2],
                             OneLine(site.plan)};
    if (!device.empty()) row.emplace_back(WhereText(site, device));
    table.AddRow(std::move(row));
  }
  return table.Print(TableFormat::kJson);
}

std::string TierMix(std::span<const vm::SiteProfile> sites) {
  std::map<int, int64_t> calls;
  int64_t total = 0;
  for (const vm::SiteProfile& site : sites) {
    for (int tier = 0; tier < 3; ++tier) calls[tier] += site.tier_calls[tier];
    total += site.calls;
  }
  std::string text;
  for (const auto& [tier, count] : calls) {
    if (count == 0) continue;
    char part[48];
    std::snprintf(
        part, sizeof(part), "%stier %d %.0f%%", text.empty() ? "" : ", ", tier,
        100.0 * static_cast<double>(count) / static_cast<double>(total));
    text += part;
  }
  return text.empty() ? "no dispatches" : text;
}

}  // namespace ember::tools
