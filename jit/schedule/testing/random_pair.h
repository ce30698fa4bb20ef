// A random dispatch under a random schedule, and what it has to compute: for
// tests of lowering and of back ends.
//
//   RandomPair pair = MakeRandomPair(seed);
//   auto nest = Lower(pair.schedule);
//   std::string wrong = pair.Compare([&](std::span<void* const> buffers) {
//     return loops::Evaluate(*nest, pair.parameters, buffers);
//   });  // empty: equal
//
// Equal seeds give equal pairs. Even seeds have tensor::MakeRandomCase, odd
// ones MakeRandomModelDispatch. Some inputs are constants, and some are the
// same memory as the output that may overwrite them.
#ifndef EMBER_JIT_SCHEDULE_TESTING_RANDOM_PAIR_H_
#define EMBER_JIT_SCHEDULE_TESTING_RANDOM_PAIR_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/testing/random_schedule.h"
#include "tensor/random_dispatch.h"

namespace ember::schedule {

struct RandomPair {
  tensor::RandomCase random;
  // Of the nest: none where the dispatch was specialised.
  std::vector<int64_t> parameters;
  bool is_specialised = false;
  Computation computation;  // before the schedule
  Schedule schedule;
  RandomScheduleCounts counts;
  // Per input: the buffer number of the output that is the same memory, or -1.
  std::vector<int> same_memory;
  std::vector<std::vector<uint8_t>> expected;
  Status expected_status;

  // Runs on new buffers. Empty, or what is wrong.
  std::string Compare(
      const std::function<Status(std::span<void* const>)>& run) const;
  // For messages: dispatch and schedule.
  std::string ToText() const;
};

RandomPair MakeRandomPair(uint64_t seed);

// The seeds of a test: PAIRS=n of them from FIRST_SEED=n on, or SEED=n alone.
struct PairSeeds {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool is_replay = false;
};
PairSeeds SeedsOfPairs(uint64_t count);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_RANDOM_PAIR_H_
