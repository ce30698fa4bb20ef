#include "tools/lib/tuning/tuning_log.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ember::tools {
namespace {

using tune::Outcome;

std::string Ratio(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", ratio);
  return text;
}

}  // namespace

TuningLog::TuningLog(const std::vector<tune::Task>& tasks,
                     tune::RecordStore& store, TuningLogOptions options)
    : tasks_(tasks),
      store_(store),
      options_(std::move(options)),
      start_(std::chrono::steady_clock::now()),
      rows_(tasks.size()) {}

void TuningLog::Line(const std::string& text) {
  if (has_bar_) std::fputs("\r\033[K", options_.file);
  has_bar_ = false;
  std::fprintf(options_.file, "vm-tune: %s\n", text.c_str());
}

double TuningLog::Share() const {
  const std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start_;
  double share = 0;
  if (options_.most_trials > 0) {
    share = static_cast<double>(trials_) /
            static_cast<double>(options_.most_trials);
  }
  if (options_.most_seconds > 0)
    share = std::max(share, elapsed.count() / options_.most_seconds);
  return std::min(share, 1.0);
}

double TuningLog::TotalRatio() const {
  double before = 0, after = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    before += rows_[i].seconds * tasks_[i].calls;
    after += rows_[i].seconds * tasks_[i].calls * rows_[i].ratio;
  }
  return before > 0 ? after / before : 1;
}

void TuningLog::Bar() {
  if (!options_.is_terminal) return;
  constexpr int kWidth = 20;
  const int filled = static_cast<int>(Share() * kWidth);
  const std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start_;
  std::string bar(static_cast<size_t>(filled), '#');
  bar.resize(kWidth, '-');
  std::fprintf(options_.file,
               "\r\033[K[%s]  %zu trials  %.0f s  %s of the default  %s",
               bar.c_str(), trials_, elapsed.count(),
               Ratio(TotalRatio()).c_str(), last_.c_str());
  std::fflush(options_.file);
  has_bar_ = true;
}

void TuningLog::Finish() {
  if (has_bar_) std::fputs("\r\033[K", options_.file);
  has_bar_ = false;
}

void TuningLog::OnStart(size_t task, double seconds) {
  rows_[task].seconds = seconds;
}

void TuningLog::OnDeclined(size_t task, const std::string& reason) {
  Line("@" + tasks_[task].name + " is left out: " + reason);
}

void TuningLog::OnTrial(size_t task, const tune::Tried& tried,
                        const tune::TrialResult& result, size_t total) {
  trials_ = total;
  if (options_.records_trials) {
    const Status added =
        store_.AddTrial(tasks_[task], {.schedule = TextOf(tried.point),
                                       .outcome = result.outcome,
                                       .ratio = result.ratio,
                                       .seconds = result.seconds,
                                       .compile_ms = result.compile_ms,
                                       .origin = tried.point.origin,
                                       .reason = result.reason});
    if (status_.ok()) status_ = added;
  }
  const bool is_bad = result.outcome == Outcome::kWrong ||
                      result.outcome == Outcome::kCrashed ||
                      result.outcome == Outcome::kHung;
  if (is_bad) {
    ++bad_trials_;
    Line("@" + tasks_[task].name + ": a schedule (" + tried.point.origin +
         ") " + std::string(NameOf(result.outcome)) + ": " + result.reason);
  }
  Bar();
}

Status TuningLog::Record(size_t task, const tune::BestRecord& best) {
  EMBER_ASSIGN_OR_RETURN(const std::optional<tune::BestRecord> old,
                         store_.Best(tasks_[task]));
  // The recorded schedule stays if its ratio is better: it may have seemed slow
  // in this search only because of other programs. If another build measured
  // it, it is replaced, because that build's code may differ.
  const bool is_old_better = old && old->schedule != best.schedule &&
                             old->build == best.build &&
                             old->ratio <= best.ratio;
  return is_old_better ? OkStatus() : store_.SetBest(tasks_[task], best);
}

void TuningLog::OnBest(size_t task, const tune::Point& point, double ratio,
                       double seconds) {
  rows_[task].ratio = ratio;
  const Status set = Record(task, {.schedule = TextOf(point),
                                   .ratio = ratio,
                                   .seconds = seconds,
                                   .build = options_.build});
  if (status_.ok()) status_ = set;
  if (options_.on_best) options_.on_best();
  last_ = "@" + tasks_[task].name + " " + Ratio(ratio);
  if (!options_.is_terminal) {
    Line("after " + std::to_string(trials_) + " trials: " + last_ +
         " of the default (" + point.origin + "), all together " +
         Ratio(TotalRatio()));
  }
  Bar();
}

}  // namespace ember::tools
