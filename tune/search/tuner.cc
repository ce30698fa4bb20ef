#include "tune/search/tuner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ember::tune {
namespace {

// Number of careful trials with which a promising candidate is verified.
constexpr size_t kVerifications = 3;
// A trial is stopped as hopeless if it is much slower than Trial::best. This
// value of Trial::best prevents that for the default schedule: if other
// programs disturb the measurement, it may seem much slower than it is.
constexpr double kNeverHopeless = 1000;
// Largest number of candidates of a batch that are verified, the fastest first.
constexpr size_t kVerified = 2;

}  // namespace

Tuner::Tuner(const std::vector<Task>& tasks, TunerOptions options,
             Measure measure, Scorer& scorer, TunerListener& listener)
    : tasks_(tasks),
      options_(std::move(options)),
      measure_(std::move(measure)),
      scorer_(scorer),
      listener_(listener),
      random_(options_.seed),
      rows_(tasks.size()),
      slot_(tasks.size()),
      start_(std::chrono::steady_clock::now()) {}

double Tuner::elapsed_seconds() const {
  const std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start_;
  return elapsed.count();
}

Status Tuner::Prepare() {
  EMBER_RETURN_IF_ERROR(NewStrategy(options_.strategy).status());
  const auto decline = [&](size_t task, std::string reason) {
    rows_[task].declined = std::move(reason);
    listener_.OnDeclined(task, rows_[task].declined);
  };
  std::vector<std::optional<Space>> spaces(tasks_.size());
  std::vector<Trial> trials;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    StatusOr<Space> space = Space::Make(tasks_[i], options_.space);
    if (!space.ok()) {
      decline(i, std::string(space.status().message()));
      continue;
    }
    spaces[i] = *std::move(space);
    trials.push_back({.task = i, .best = kNeverHopeless});
  }
  EMBER_RETURN_IF_ERROR(measure_(trials, [&](size_t number,
                                             TrialResult result) {
    const size_t task = trials[number].task;
    if (result.outcome == Outcome::kMeasured) {
      rows_[task].seconds = result.seconds;
    } else {
      decline(task, std::string(NameOf(result.outcome)) + ": " + result.reason);
    }
  }));
  std::vector<double> shares;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (is_declined(i)) continue;
    slot_[i] = active_.size();
    active_.push_back(i);
    spaces_.push_back(*std::move(spaces[i]));
    EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Strategy> strategy,
                           NewStrategy(options_.strategy));
    strategies_.push_back(std::move(strategy));
    shares.push_back(rows_[i].seconds * tasks_[i].calls);
    listener_.OnStart(i, rows_[i].seconds);
  }
  for (const Space& space : spaces_) {
    states_.emplace_back(space);
    states_.back().MarkSeen(space.start());
  }
  suggested_.resize(active_.size());
  recalled_.resize(active_.size());
  scheduler_.emplace(std::move(shares));
  return OkStatus();
}

Status Tuner::Suggest(size_t task, const Point& point) {
  EMBER_CHECK(!is_declined(task)) << tasks_[task].name;
  const size_t slot = slot_[task];
  EMBER_ASSIGN_OR_RETURN(Candidate candidate, spaces_[slot].Build(point));
  if (states_[slot].WasSeen(candidate)) return OkStatus();
  states_[slot].MarkSeen(candidate);
  suggested_[slot].push_back(std::move(candidate));
  return OkStatus();
}

void Tuner::Recall(size_t task, Tried tried) {
  const size_t slot = slot_[task];
  // An earlier trial is ignored if its schedule no longer applies to the task:
  // no strategy can propose that schedule.
  const StatusOr<Candidate> candidate = spaces_[slot].Build(tried.point);
  if (!candidate.ok() || states_[slot].WasSeen(*candidate)) return;
  states_[slot].MarkSeen(*candidate);
  tried.features = candidate->features;
  recalled_[slot].push_back(std::move(tried));
}

bool Tuner::IsAtEnd() const {
  return (options_.most_trials > 0 && trials_ >= options_.most_trials) ||
         (options_.most_seconds > 0 &&
          elapsed_seconds() >= options_.most_seconds);
}

void Tuner::LearnRecalled() {
  for (size_t i = 0; i < active_.size(); ++i) {
    scorer_.Learn(recalled_[i], rows_[active_[i]].seconds);
    for (Tried& tried : recalled_[i]) states_[i].Add(std::move(tried));
    recalled_[i].clear();
  }
}

Status Tuner::Run() {
  LearnRecalled();
  while (!IsAtEnd()) {
    // Tasks with suggested schedules come first, because those are the best
    // schedules that earlier searches found.
    size_t next = 0;
    while (next < active_.size() && suggested_[next].empty()) ++next;
    if (next == active_.size()) next = scheduler_->Next(states_);
    if (next == active_.size()) break;
    const Status ran = RunBatch(next);
    if (ran.code() == StatusCode::kCancelled) return OkStatus();
    EMBER_RETURN_IF_ERROR(ran);
  }
  return OkStatus();
}

Status Tuner::RunBatch(size_t active) {
  TaskState& state = states_[active];
  size_t count = options_.batch;
  if (options_.most_trials > 0)
    count = std::min(count, options_.most_trials - trials_);
  std::vector<Candidate> candidates =
      std::exchange(suggested_[active], std::vector<Candidate>());
  if (candidates.empty()) {
    candidates = strategies_[active]->Propose(state, scorer_, count, random_);
    if (candidates.empty()) scheduler_->MarkExhausted(active);
  }
  for (const Candidate& candidate : candidates) state.MarkSeen(candidate);
  std::vector<Tried> tried;
  // The status is checked only after Learn: if MeasureAll is cancelled, the
  // models still learn from the trials that have ended.
  const Status measured = MeasureAll(active, candidates, tried);
  scorer_.Learn(tried, rows_[active_[active]].seconds);
  EMBER_RETURN_IF_ERROR(measured);
  std::ranges::stable_sort(tried, {}, [](const Tried& one) {
    return one.outcome == Outcome::kMeasured ? one.ratio : 1e9;
  });
  for (size_t i = 0; i < std::min(kVerified, tried.size()); ++i) {
    if (tried[i].outcome == Outcome::kMeasured &&
        tried[i].ratio < options_.keep * state.best_ratio()) {
      EMBER_RETURN_IF_ERROR(Verify(active, tried[i]));
    }
  }
  return OkStatus();
}

Status Tuner::MeasureAll(size_t active, std::vector<Candidate>& candidates,
                         std::vector<Tried>& tried) {
  TaskState& state = states_[active];
  const size_t task = active_[active];
  std::vector<Trial> trials;
  trials.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    trials.push_back({.task = task,
                      .schedule = TextOf(candidate.point),
                      .best = state.least_ratio()});
  }
  return measure_(trials, [&](size_t number, TrialResult result) {
    Tried one{.point = candidates[number].point,
              .outcome = result.outcome,
              .ratio = result.ratio,
              .features = candidates[number].features};
    ++trials_;
    state.Add(one);
    listener_.OnTrial(task, one, result, trials_);
    tried.push_back(std::move(one));
  });
}

Status Tuner::Verify(size_t active, const Tried& tried) {
  TaskState& state = states_[active];
  const size_t task = active_[active];
  const std::vector<Trial> trials(kVerifications,
                                  Trial{.task = task,
                                        .schedule = TextOf(tried.point),
                                        .best = state.best_ratio(),
                                        .is_careful = true});
  std::vector<double> ratios;
  bool is_good = true;
  EMBER_RETURN_IF_ERROR(measure_(trials, [&](size_t, TrialResult result) {
    is_good &= result.outcome == Outcome::kMeasured;
    ratios.push_back(result.ratio);
  }));
  if (!is_good) return OkStatus();
  std::ranges::sort(ratios);
  const double median = ratios[ratios.size() / 2];
  if (median >= options_.keep * state.best_ratio()) return OkStatus();
  state.Keep(tried.point, median);
  rows_[task].ratio = median;
  rows_[task].origin = tried.point.origin;
  listener_.OnBest(task, tried.point, median, median * rows_[task].seconds);
  return OkStatus();
}

std::vector<Tuner::Row> Tuner::rows() const {
  std::vector<Row> rows = rows_;
  for (size_t i = 0; i < active_.size(); ++i)
    rows[active_[i]].trials = states_[i].trials();
  return rows;
}

double Tuner::total_ratio() const {
  double before = 0, after = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double time = rows_[i].seconds * tasks_[i].calls;
    before += time;
    after += time * rows_[i].ratio;
  }
  return before > 0 ? after / before : 1;
}

}  // namespace ember::tune
