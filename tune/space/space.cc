#include "tune/space/space.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/concat.h"
#include "jit/kernel/build_nest.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/registry/backends.h"
#include "jit/schedule/core/normalise.h"
#include "jit/schedule/primitives/primitives.h"
#include "jit/schedule/primitives/replay.h"
#include "tune/model/nest_features.h"
#include "tune/space/code_size.h"
#include "tune/space/model_samples.h"
#include "tune/space/mutate.h"
#include "tune/space/sketch.h"

namespace ember::tune {
namespace {

// Number of attempts to find a legal point before nullopt is returned.
constexpr int kAttempts = 24;
// A candidate's code may be kMaxGrowth times as large as that of the default
// schedule, and kLeastCode in any case. Nests with more code would take seconds
// to compile.
constexpr int64_t kMaxGrowth = 4;
constexpr int64_t kLeastCode = 1024;
// Share of the random samples that are sketches; the others are default
// schedules of changed machines.
constexpr double kSketches = 0.35;

}  // namespace

StatusOr<Space> Space::Make(const Task& task, const SpaceOptions& options) {
  EMBER_ASSIGN_OR_RETURN(schedule::Computation computation,
                         jit::ComputationOf(task.request));
  schedule::Normalise(computation);
  Space space(task, options, std::move(computation));
  schedule::Schedule schedule(space.computation_);
  const jit::Backend& backend = jit::BackendFor(task.request.target);
  EMBER_RETURN_IF_ERROR(backend.schedule(
      task.request.target, {.is_exact = options.is_exact}, schedule));
  EMBER_ASSIGN_OR_RETURN(space.start_,
                         space.Build(std::move(schedule), "default"));
  space.most_code_ =
      std::max(kMaxGrowth * CodeSize(space.start_.nest), kLeastCode);
  return space;
}

StatusOr<schedule::Schedule> Space::Apply(const Point& point) const {
  schedule::Schedule schedule(computation_);
  for (const schedule::Step& step : point.steps)
    EMBER_RETURN_IF_ERROR(schedule::Apply(step, schedule));
  return schedule;
}

StatusOr<Candidate> Space::Build(const Point& point) const {
  EMBER_ASSIGN_OR_RETURN(schedule::Schedule schedule, Apply(point));
  return Build(std::move(schedule), point.origin);
}

StatusOr<Candidate> Space::Build(schedule::Schedule schedule,
                                 std::string origin) const {
  if (options_.is_exact && !schedule::KeepsRounding(schedule)) {
    return FailedPreconditionError(
        "expected a schedule that keeps rounding, found winograd or "
        "online_softmax");
  }
  EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, schedule::Lower(schedule));
  if (const int64_t size = CodeSize(nest); size > most_code_) {
    return ResourceExhaustedError(Concat(
        {"expected code of at most ", most_code_, " stores, found ", size}));
  }
  EMBER_RETURN_IF_ERROR(loops::Verify(nest));
  Candidate candidate;
  candidate.point = PointOf(schedule, std::move(origin));
  candidate.hash = HashOf(candidate.point);
  candidate.features = NestFeatures(nest, {}, task_->request.target);
  candidate.nest = std::move(nest);
  return candidate;
}

std::optional<schedule::Schedule> Space::SampleSchedule(
    Random& random, std::string& origin) const {
  schedule::Schedule schedule(computation_);
  if (random.Chance(kSketches)) {
    origin = "sketch";
    if (!ScheduleBySketch(task_->request.target, random, schedule).ok())
      return std::nullopt;
    return schedule;
  }
  StatusOr<std::string> what = ScheduleBySampledModel(
      task_->request.target, options_.is_exact, random, schedule);
  if (!what.ok()) return std::nullopt;
  origin = *std::move(what);
  return schedule;
}

std::optional<Candidate> Space::Sample(Random& random) const {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string origin;
    std::optional<schedule::Schedule> schedule = SampleSchedule(random, origin);
    if (!schedule) continue;
    const size_t mutations = random.Below(options_.most_mutations + 1);
    for (size_t i = 0; i < mutations; ++i) {
      const std::optional<Point> mutated = MutatePoint(*schedule, random);
      if (!mutated) continue;
      schedule::Schedule applied(computation_);
      if (!ApplyLeniently(mutated->steps, applied).ok()) continue;
      schedule = std::move(applied);
      origin += ", " + mutated->origin;
    }
    StatusOr<Candidate> candidate = Build(*std::move(schedule), origin);
    if (candidate.ok()) return *std::move(candidate);
  }
  return std::nullopt;
}

std::optional<Candidate> Space::Mutate(const Point& point,
                                       Random& random) const {
  const StatusOr<schedule::Schedule> schedule = Apply(point);
  if (!schedule.ok()) return std::nullopt;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::optional<Point> mutated = MutatePoint(*schedule, random);
    if (!mutated) continue;
    schedule::Schedule applied(computation_);
    if (!ApplyLeniently(mutated->steps, applied).ok()) continue;
    StatusOr<Candidate> candidate = Build(std::move(applied), mutated->origin);
    if (candidate.ok()) return *std::move(candidate);
  }
  return std::nullopt;
}

std::optional<Candidate> Space::Cross(const Point& a, const Point& b,
                                      Random& random) const {
  for (int attempt = 0; attempt < kAttempts / 4; ++attempt) {
    const Point child = CrossPoints(a, b, random);
    schedule::Schedule applied(computation_);
    if (!ApplyLeniently(child.steps, applied).ok()) continue;
    StatusOr<Candidate> candidate = Build(std::move(applied), child.origin);
    if (candidate.ok()) return *std::move(candidate);
  }
  return std::nullopt;
}

}  // namespace ember::tune
