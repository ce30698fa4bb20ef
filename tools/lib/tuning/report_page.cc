#include "tools/lib/tuning/report_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "tune/space/point.h"
#include "tune/space/space.h"

namespace ember::tools {
namespace {

using tune::Outcome;
using tune::TrialRecord;

constexpr double kWidth = 420, kHeight = 120;
// Largest number of different failure reasons that are listed for a dispatch.
constexpr size_t kMaxReasons = 5;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>vm-tune</title><style>
body { font: 15px/1.4 sans-serif; margin: 2em; max-width: 60em }
table { border-collapse: collapse } td, th { padding: 2px 10px; text-align: right }
td:first-child, th:first-child { text-align: left }
pre { background: #f4f4f4; padding: 8px; overflow-x: auto }
.gone { color: #b00 } .new { color: #070 }
svg { background: #fafafa; border: 1px solid #ccc }
</style></head><body><h1>Tuning</h1>
)";

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Number(double number, const char* format = "%.3f") {
  char text[48];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Draws a curve of the smallest measured ratio so far, over the number of
// trials. The vertical axis goes from 1.05 at the top to 0 at the bottom.
std::string Curve(const std::vector<TrialRecord>& trials) {
  if (trials.empty()) return "";
  constexpr double kTop = 1.05;
  double best = 1;
  std::string points;
  const double step = kWidth / static_cast<double>(trials.size());
  for (size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].outcome == Outcome::kMeasured)
      best = std::min(best, trials[i].ratio);
    points += Number(step * static_cast<double>(i + 1), "%.1f") + "," +
              Number(kHeight * (1 - best / kTop), "%.1f") + " ";
  }
  const std::string line = Number(kHeight * (1 - 1 / kTop), "%.1f");
  return "<svg width=\"420\" height=\"120\"><line x1=\"0\" x2=\"420\" y1=\"" +
         line + "\" y2=\"" + line +
         "\" stroke=\"#999\" stroke-dasharray=\"4\"/><polyline fill=\"none\" "
         "stroke=\"#06c\" stroke-width=\"2\" points=\"" +
         points + "\"/></svg>\n";
}

// Returns a text with the number of trials for each outcome, and the most
// frequent reasons of failures.
std::string Outcomes(const std::vector<TrialRecord>& trials) {
  std::map<std::string_view, int> outcomes;
  std::map<std::string, int> reasons;
  for (const TrialRecord& trial : trials) {
    ++outcomes[NameOf(trial.outcome)];
    if (trial.outcome != Outcome::kMeasured &&
        trial.outcome != Outcome::kHopeless) {
      ++reasons[trial.reason];
    }
  }
  std::string text = "<p>";
  for (const auto& [name, count] : outcomes)
    text += std::to_string(count) + " " + std::string(name) + "; ";
  text += "</p>\n";
  std::vector<std::pair<int, std::string>> sorted;
  sorted.reserve(reasons.size());
  for (const auto& [reason, count] : reasons)
    sorted.emplace_back(count, reason);
  std::ranges::sort(sorted, std::greater<>());
  if (sorted.size() > kMaxReasons) sorted.resize(kMaxReasons);
  if (sorted.empty()) return text;
  text += "<ul>";
  for (const auto& [count, reason] : sorted)
    text += "<li>" + std::to_string(count) + ": " + Escaped(reason) + "</li>";
  return text + "</ul>\n";
}

std::string MarkedDifference(const std::string& before,
                             const std::string& after) {
  std::string text = "<pre>";
  const std::string difference = LineDifference(before, after);
  for (const std::string_view line : LinesOf(difference)) {
    const char* const kind = line.starts_with("-")   ? "gone"
                             : line.starts_with("+") ? "new"
                                                     : "";
    text += std::string("<span class=\"") + kind + "\">" + Escaped(line) +
            "</span>\n";
  }
  return text + "</pre>\n";
}

}  // namespace

std::string LineDifference(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = LinesOf(before), b = LinesOf(after);
  // common[i][j] is the length of the longest common subsequence of the lines
  // of a from i on and those of b from j on.
  std::vector<std::vector<size_t>> common(a.size() + 1,
                                          std::vector<size_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j]
                         ? common[i + 1][j + 1] + 1
                         : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string text;
  const auto add = [&](const char* mark, std::string_view line) {
    text += std::string(mark) + std::string(line) + "\n";
  };
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      add("  ", a[i++]);
      ++j;
    } else if (j == b.size() ||
               (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      add("- ", a[i++]);
    } else {
      add("+ ", b[j++]);
    }
  }
  return text;
}

StatusOr<std::string> ReportPage(const std::vector<tune::Task>& tasks,
                                 const tune::RecordStore& store) {
  std::string summary =
      "<table><tr><th>dispatch</th><th>calls</th><th>default us</th><th>tuned "
      "us</th><th>ratio</th><th>trials</th></tr>\n";
  std::string details;
  for (const tune::Task& task : tasks) {
    EMBER_ASSIGN_OR_RETURN(const std::optional<tune::BestRecord> best,
                           store.Best(task));
    EMBER_ASSIGN_OR_RETURN(const std::vector<TrialRecord> trials,
                           store.Trials(task));
    if (trials.empty() && !best) continue;
    const std::string name = Escaped(task.name);
    summary += "<tr><td><a href=\"#" + task.key + "\">" + name +
               "</a></td><td>" + Number(task.calls, "%.0f") + "</td>";
    summary += best ? "<td>" +
                          Number(best->seconds / best->ratio * 1e6, "%.1f") +
                          "</td><td>" + Number(best->seconds * 1e6, "%.1f") +
                          "</td><td>" + Number(best->ratio) + "</td>"
                    : "<td></td><td></td><td>1</td>";
    summary += "<td>" + std::to_string(trials.size()) + "</td></tr>\n";
    details += "<h2 id=\"" + task.key + "\">" + name + "</h2>\n" +
               Curve(trials) + Outcomes(trials);
    const StatusOr<tune::Space> space = tune::Space::Make(task, {});
    if (best && space.ok()) {
      details += MarkedDifference(TextOf(space->start().point), best->schedule);
    }
  }
  return kHead + summary + "</table>\n" + details + "</body></html>\n";
}

}  // namespace ember::tools
