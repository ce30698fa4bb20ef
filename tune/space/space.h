// The space of a task: all schedules among which the tuner searches. There are
// no hand-written templates; schedules are derived from the structure of the
// dispatch.
//
//   EMBER_ASSIGN_OR_RETURN(Space space, Space::Make(task, {}));
//   Random random(1);
//   std::optional<Candidate> a = space.Sample(random);
//   std::optional<Candidate> b = space.Mutate(a->point, random);
//
// A sample is one of these:
//   model     the default schedule for a model of the target that is wrong on
//             purpose: other caches, vectors, registers (model_samples.h). Its
//             decisions fit each other, and it includes the alternatives that
//             default rules know: Winograd, softmax in blocks, dot products,
//             packing, matrices of subgroups
//   sketch    stages in groups, tiled on random levels and attached at random
//             loops, with random packing, vectors and unrolling (sketch.h)
// each of them with some mutations (mutate.h): another factor, order, loop of
// attachment; a step more or fewer.
//
// Every point is a schedule of the primitives, which refuse what is not legal.
// A candidate has been lowered and proved in bounds, so it computes what the
// dispatch says. The default schedule is a point of the space.
//
// The task must outlive the space. Thread-compatible: const functions may run
// in many threads at once, each with its own Random.
#ifndef EMBER_TUNE_SPACE_SPACE_H_
#define EMBER_TUNE_SPACE_SPACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "tune/space/point.h"
#include "tune/space/random.h"
#include "tune/task/task.h"

namespace ember::tune {

struct SpaceOptions {
  // True if only primitives are used that keep the rounding of the definition
  // (no Winograd, no softmax in blocks).
  bool is_exact = false;
  // Largest number of mutations that are applied to a random sample.
  size_t most_mutations = 3;
};

// A point that is known to be legal, with its loop nest.
struct Candidate {
  Point point;
  uint64_t hash = 0;  // HashOf(point)
  loops::LoopNest nest;
  std::vector<float> features;  // the nest's features (NestFeatures)
};

class Space {
 public:
  // Makes the space of a task. If the default schedule cannot be made, its
  // error is returned, because such a dispatch is never compiled.
  static StatusOr<Space> Make(const Task& task, const SpaceOptions& options);

  const Task& task() const { return *task_; }
  const schedule::Computation& computation() const { return computation_; }
  // The default schedule.
  const Candidate& start() const { return start_; }

  // Applies the point's steps to the task's computation. Errors: those of the
  // function Apply in jit/schedule/primitives/replay.h.
  StatusOr<schedule::Schedule> Apply(const Point& point) const;
  // Makes a candidate of a point. Errors, in one line: a primitive, the
  // lowering or the verifier refuses the schedule; kResourceExhausted if its
  // code would be much larger than the default schedule's.
  StatusOr<Candidate> Build(const Point& point) const;

  // Make a new candidate: at random, from one point by mutation, or from two
  // points. Return nullopt if no legal point was found after some attempts,
  // which is rare.
  std::optional<Candidate> Sample(Random& random) const;
  std::optional<Candidate> Mutate(const Point& point, Random& random) const;
  std::optional<Candidate> Cross(const Point& a, const Point& b,
                                 Random& random) const;

 private:
  Space(const Task& task, const SpaceOptions& options,
        schedule::Computation computation)
      : task_(&task), options_(options), computation_(std::move(computation)) {}

  StatusOr<Candidate> Build(schedule::Schedule schedule,
                            std::string origin) const;
  std::optional<schedule::Schedule> SampleSchedule(Random& random,
                                                   std::string& origin) const;

  const Task* task_;
  SpaceOptions options_;
  schedule::Computation computation_;
  Candidate start_;
  int64_t most_code_ = INT64_MAX;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_SPACE_H_
