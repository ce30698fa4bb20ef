#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/concat.h"
#include "base/did_you_mean.h"
#include "tune/search/strategy.h"
#include "tune/space/step_numbers.h"

namespace ember::tune {
namespace {

// The number of attempts to find new candidates is this number times the number
// of candidates that are requested.
constexpr size_t kAttempts = 8;

// A list of candidates that all differ from each other and from those that the
// task's search has seen before.
class Collection {
 public:
  explicit Collection(const TaskState& state) : state_(state) {}

  // Adds the candidate if neither this list nor the task's search has an equal
  // one. Returns true if it was added.
  bool Add(std::optional<Candidate> candidate) {
    if (!candidate || state_.WasSeen(*candidate) ||
        !hashes_.insert(candidate->hash).second ||
        !features_.insert(candidate->features).second) {
      return false;
    }
    items_.push_back(*std::move(candidate));
    return true;
  }
  std::vector<Candidate>& items() { return items_; }
  size_t size() const { return items_.size(); }

 private:
  const TaskState& state_;
  std::set<uint64_t> hashes_;
  std::set<std::vector<float>> features_;
  std::vector<Candidate> items_;
};

// Moves the candidates at these positions out of the list and returns them.
std::vector<Candidate> Take(std::vector<Candidate>& from,
                            const std::vector<size_t>& numbers) {
  std::vector<Candidate> taken;
  taken.reserve(numbers.size());
  for (const size_t number : numbers) taken.push_back(std::move(from[number]));
  return taken;
}

// Returns the positions of the scores, the position of the highest score first.
std::vector<size_t> Ranked(const std::vector<double>& scores) {
  std::vector<size_t> numbers(scores.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  std::ranges::stable_sort(
      numbers, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return numbers;
}

// Returns the scores of candidates. `optimism` times a candidate's deviation is
// added to its score, so that uncertain candidates are tried.
std::vector<double> ScoresOf(const Scorer& scorer,
                             std::span<const Candidate> candidates,
                             double optimism) {
  std::vector<double> scores;
  for (const CostModel::Prediction& one : scorer.Score(candidates))
    scores.push_back(one.score + optimism * one.deviation);
  return scores;
}

// Chooses the candidates with the best scores. About a tenth are chosen at
// random instead, so that the model also learns about candidates that it
// predicts to be slow.
std::vector<Candidate> Choose(std::vector<Candidate>& candidates,
                              const std::vector<double>& scores, size_t count,
                              Random& random) {
  constexpr double kExploring = 0.1;
  std::vector<size_t> ranked = Ranked(scores);
  const size_t taken = std::min(count, ranked.size());
  for (size_t i = 0; i < taken; ++i) {
    if (random.Chance(kExploring))
      std::swap(ranked[i], ranked[i + random.Below(ranked.size() - i)]);
  }
  ranked.resize(taken);
  return Take(candidates, ranked);
}

// Returns a point to start from: mostly one of the fastest, otherwise the best
// verified one, which is the default at first.
const Point& Parent(const TaskState& state,
                    const std::vector<const Tried*>& fastest, Random& random) {
  if (fastest.empty() || random.Chance(0.1)) return state.best();
  // The smaller one of two random ranks makes faster points more likely.
  const size_t rank =
      std::min(random.Below(fastest.size()), random.Below(fastest.size()));
  return fastest[rank]->point;
}

class RandomStrategy final : public Strategy {
 public:
  std::vector<Candidate> Propose(const TaskState& state, const Scorer&,
                                 size_t count, Random& random) override {
    Collection found(state);
    for (size_t i = 0; i < count * kAttempts && found.size() < count; ++i)
      found.Add(state.space().Sample(random));
    return std::move(found.items());
  }
};

class DraftStrategy final : public Strategy {
 public:
  std::vector<Candidate> Propose(const TaskState& state, const Scorer& scorer,
                                 size_t count, Random& random) override {
    // For each candidate to be proposed, kDrawn candidates are drawn. The quick
    // score of the analytic model keeps kRanked of them; only these get the
    // slower score of the learned model.
    constexpr size_t kDrawn = 8, kRanked = 4;
    constexpr size_t kParents = 8;
    const std::vector<const Tried*> fastest = state.Fastest(kParents);
    Collection drawn(state);
    // Share of candidates that are independent random samples: a half up to 32
    // trials, then a quarter. All others are mutations and crossings of the
    // fastest schedules.
    const double fresh = state.trials() < 32 ? 0.5 : 0.25;
    for (size_t i = 0; i < count * kDrawn * 2 && drawn.size() < count * kDrawn;
         ++i) {
      if (random.Chance(fresh)) {
        drawn.Add(state.space().Sample(random));
      } else if (random.Chance(0.75)) {
        drawn.Add(state.space().Mutate(Parent(state, fastest, random), random));
      } else {
        drawn.Add(state.space().Cross(Parent(state, fastest, random),
                                      Parent(state, fastest, random), random));
      }
    }
    std::vector<size_t> kept = Ranked(scorer.Draft(drawn.items()));
    kept.resize(std::min(kept.size(), count * kRanked));
    std::vector<Candidate> ranked = Take(drawn.items(), kept);
    return Choose(ranked, ScoresOf(scorer, ranked, 0.5), count, random);
  }
};

class EvolutionStrategy final : public Strategy {
 public:
  std::vector<Candidate> Propose(const TaskState& state, const Scorer& scorer,
                                 size_t count, Random& random) override {
    constexpr size_t kGenerations = 3, kPopulation = 32, kParents = 16;
    const std::vector<const Tried*> fastest = state.Fastest(kParents);
    std::vector<Point> parents;
    parents.reserve(kPopulation);
    for (const Tried* tried : fastest) parents.push_back(tried->point);
    Collection all(state);
    while (parents.size() < kPopulation / 2) {
      std::optional<Candidate> sample = state.space().Sample(random);
      if (!sample) break;
      parents.push_back(sample->point);
      all.Add(std::move(sample));
    }
    if (parents.empty()) parents.push_back(state.best());
    for (size_t generation = 0; generation < kGenerations; ++generation) {
      for (size_t i = 0; i < kPopulation; ++i) {
        const Point& parent = random.Pick(parents);
        all.Add(random.Chance(0.8) ? state.space().Mutate(parent, random)
                                   : state.space().Cross(
                                         parent, random.Pick(parents), random));
      }
      const std::vector<size_t> ranked =
          Ranked(ScoresOf(scorer, all.items(), 0));
      const size_t survivors = std::min(ranked.size(), kPopulation / 2);
      parents.resize(std::min(parents.size(), fastest.size()));
      for (size_t i = 0; i < survivors; ++i)
        parents.push_back(all.items()[ranked[i]].point);
    }
    return Choose(all.items(), ScoresOf(scorer, all.items(), 0), count, random);
  }
};

class AnnealingStrategy final : public Strategy {
 public:
  std::vector<Candidate> Propose(const TaskState& state, const Scorer& scorer,
                                 size_t count, Random& random) override {
    constexpr size_t kChains = 8, kSteps = 12;
    constexpr double kCooling = 0.98, kColdest = 0.02;
    while (chains_.size() < kChains) {
      std::optional<Candidate> start =
          chains_.empty() ? std::nullopt : state.space().Sample(random);
      chains_.push_back(
          {start ? start->point : state.space().start().point, std::nullopt});
    }
    // The model may have changed since the last call, so the chains' old scores
    // are discarded.
    for (Chain& chain : chains_) chain.score.reset();
    Collection visited(state);
    for (size_t step = 0; step < kSteps; ++step) {
      for (Chain& chain : chains_) {
        if (!chain.score) {
          StatusOr<Candidate> current = state.space().Build(chain.point);
          if (current.ok())
            chain.score = ScoresOf(scorer, {&*current, 1}, 0)[0];
        }
        std::optional<Candidate> next =
            state.space().Mutate(chain.point, random);
        if (!next) continue;
        const double score = ScoresOf(scorer, {&*next, 1}, 0)[0];
        const double gain = score - chain.score.value_or(score);
        if (gain >= 0 || random.Chance(std::exp(gain / temperature_))) {
          chain = {next->point, score};
          visited.Add(std::move(next));
        }
      }
      temperature_ = std::max(temperature_ * kCooling, kColdest);
    }
    return Choose(visited.items(), ScoresOf(scorer, visited.items(), 0), count,
                  random);
  }

 private:
  struct Chain {
    Point point;
    std::optional<double> score;
  };
  std::vector<Chain> chains_;
  double temperature_ = 0.5;
};

class GridStrategy final : public Strategy {
 public:
  std::vector<Candidate> Propose(const TaskState& state, const Scorer&,
                                 size_t count, Random&) override {
    if (knobs_.empty() && !is_at_end_) FindKnobs(state.space().start().point);
    Collection found(state);
    for (size_t i = 0; i < count * kAttempts * 4 && found.size() < count; ++i) {
      if (is_at_end_) break;
      StatusOr<Candidate> candidate =
          state.space().Build(Current(state.space().start().point));
      if (candidate.ok()) found.Add(*std::move(candidate));
      Advance();
    }
    return std::move(found.items());
  }

 private:
  // A dimension of the grid: a number that occurs in the default schedule, and
  // the values that replace all its occurrences.
  struct Knob {
    int64_t number = 0;
    std::vector<int64_t> values;
    size_t choice = 0;
  };

  void FindKnobs(const Point& start) {
    std::set<int64_t> numbers;
    for (schedule::Step step : start.steps)
      ForEachNumber(step, [&](int64_t& number) { numbers.insert(number); });
    for (const int64_t number : numbers) {
      Knob knob{.number = number};
      for (const int64_t value : {number, number / 2, number * 2, number / 4,
                                  number * 4, number + 1, number - 1}) {
        if (value >= 1) knob.values.push_back(value);
      }
      knobs_.push_back(std::move(knob));
    }
    is_at_end_ = knobs_.empty();
  }

  Point Current(const Point& start) const {
    Point point = start;
    point.origin = "grid";
    for (schedule::Step& step : point.steps) {
      ForEachNumber(step, [&](int64_t& number) {
        const auto knob = std::ranges::find(knobs_, number, &Knob::number);
        if (knob != knobs_.end()) number = knob->values[knob->choice];
      });
    }
    return point;
  }

  // Advances to the next combination of the knobs' values, like a counter.
  void Advance() {
    for (Knob& knob : knobs_) {
      if (++knob.choice < knob.values.size()) return;
      knob.choice = 0;
    }
    is_at_end_ = true;
  }

  std::vector<Knob> knobs_;
  bool is_at_end_ = false;
};

template <typename One>
std::unique_ptr<Strategy> Make() {
  return std::make_unique<One>();
}

struct Row {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)();
};
constexpr Row kRows[] = {
    {"draft", Make<DraftStrategy>},
    {"evolution", Make<EvolutionStrategy>},
    {"annealing", Make<AnnealingStrategy>},
    {"grid", Make<GridStrategy>},
    {"random", Make<RandomStrategy>},
};

}  // namespace

std::vector<std::string_view> StrategyNames() {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

StatusOr<std::unique_ptr<Strategy>> NewStrategy(std::string_view name) {
  std::string all;
  for (const Row& row : kRows) {
    if (row.name == name) return row.make();
    all += (all.empty() ? "" : ", ") + std::string(row.name);
  }
  return InvalidArgumentError(
      Concat({"expected a strategy of ", all, ", found '", name, "'",
              DidYouMean(name, StrategyNames())}));
}

}  // namespace ember::tune
