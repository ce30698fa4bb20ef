#include "tools/lib/benchmark/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/report/statistics.h"

namespace ember::tools {
namespace {

// Returns the median of a field over all measurements (one per round).
double MedianOf(const std::vector<Measurement>& measurements,
                double Measurement::* field) {
  std::vector<double> values;
  for (const Measurement& m : measurements) values.push_back(m.*field);
  return Quantiles(std::move(values)).At(0.5);
}

Status NotATable(const std::string& path, std::string_view found) {
  return InvalidArgumentError(
      Concat({path, ": expected what vm-bench -o json prints, found ", found}));
}

// Returns the value of a text field of a JSON object, or "" if the field is
// missing or is no text.
std::string TextOf(const nlohmann::json& row, const char* field) {
  const auto found = row.find(field);
  return found != row.end() && found->is_string() ? found->get<std::string>()
                                                  : "";
}

double NumberOf(const nlohmann::json& row, const char* field) {
  const auto found = row.find(field);
  return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

std::vector<double> RoundsOf(const nlohmann::json& row) {
  std::vector<double> rounds;
  const auto found = row.find("rounds_ms");
  if (found != row.end() && found->is_array()) {
    for (const nlohmann::json& time : *found)
      rounds.push_back(time.is_number() ? time.get<double>() : 0);
  }
  if (rounds.empty()) rounds.push_back(NumberOf(row, "median_ms"));
  return rounds;
}

}  // namespace

void Rounds::Add(Measurement measurement) {
  measurements_.push_back(std::move(measurement));
}

std::vector<double> Rounds::Medians() const {
  std::vector<double> medians;
  for (const Measurement& m : measurements_) medians.push_back(m.median_ms);
  return medians;
}

Measurement Rounds::Combined() const {
  Measurement all = measurements_.back();
  for (double Measurement::* const field :
       {&Measurement::median_ms, &Measurement::p10_ms, &Measurement::p90_ms,
        &Measurement::load_ms, &Measurement::first_ms, &Measurement::rss_mb,
        &Measurement::peak_mb, &Measurement::host_ms}) {
    all.*field = MedianOf(measurements_, field);
  }
  all.runs = 0;
  for (const Measurement& m : measurements_) all.runs += m.runs;
  return all;
}

StatusOr<std::vector<EarlierRow>> ReadEarlier(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(UserPath(path)));
  const nlohmann::json table = nlohmann::json::parse(text, nullptr, false);
  if (table.is_discarded()) return NotATable(path, "text that is not JSON");
  if (!table.is_array()) return NotATable(path, "JSON that is no list");
  std::vector<EarlierRow> rows;
  for (const nlohmann::json& row : table) {
    if (!row.is_object()) return NotATable(path, "a list of something else");
    EarlierRow& earlier = rows.emplace_back();
    earlier.model = TextOf(row, "model");
    earlier.device = TextOf(row, "device");
    earlier.tier = TextOf(row, "tier");
    earlier.build = TextOf(row, "build");
    earlier.threads = static_cast<int64_t>(NumberOf(row, "threads"));
    earlier.peak_gflops = NumberOf(row, "peak_gflops");
    earlier.rounds_ms = RoundsOf(row);
    if (earlier.model.empty() ||
        std::ranges::any_of(earlier.rounds_ms,
                            [](double ms) { return !(ms > 0); })) {
      return NotATable(path, "a row without a model or its time");
    }
  }
  if (rows.empty()) return NotATable(path, "an empty list");
  return rows;
}

const EarlierRow* FindEarlier(const std::vector<EarlierRow>& rows,
                              const EarlierRow& wanted) {
  const auto found = std::ranges::find_if(rows, [&](const EarlierRow& row) {
    return row.model == wanted.model && row.device == wanted.device &&
           row.tier == wanted.tier && row.threads == wanted.threads;
  });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> DoubtsOf(const EarlierRow& before,
                                  const EarlierRow& now,
                                  const SpeedRatio& ratio) {
  constexpr double kSure = 0.95;
  // If the processor's peak rate differs by a larger share between the two
  // measurements, a line says that the times are hard to compare.
  constexpr double kPeakChange = 0.05;
  std::vector<std::string> doubts;
  if (ratio.sure < kSure) {
    doubts.push_back(
        Concat({now.model, ": ", before.rounds_ms.size(), " rounds before and ",
                now.rounds_ms.size(),
                " now are too few for 95%; measure both with --rounds=5"}));
  }
  if (before.peak_gflops <= 0 || now.peak_gflops <= 0) return doubts;
  const double change = now.peak_gflops / before.peak_gflops - 1;
  if (std::abs(change) < kPeakChange) return doubts;
  char text[160];
  std::snprintf(text, sizeof text,
                ": the processor itself is %.0f%% %s than before (its peak of "
                "multiply-adds, %.1f and now %.1f GFLOP/s)",
                100 * std::abs(change), change < 0 ? "slower" : "faster",
                before.peak_gflops, now.peak_gflops);
  doubts.push_back(now.model + text);
  return doubts;
}

}  // namespace ember::tools
