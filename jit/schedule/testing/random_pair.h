// A random dispatch under a random schedule, and the results that it has to
// compute. For tests of lowering and of back ends.
//
//   RandomPair pair = MakeRandomPair(seed);
//   auto nest = Lower(pair.schedule);
//   std::string wrong = pair.Compare([&](std::span<void* const> buffers) {
//     return loops::Evaluate(*nest, pair.parameters, buffers);
//   });  // empty: equal
//
// Equal seeds give equal pairs. Even seeds use tensor::MakeRandomCase, odd
// seeds MakeRandomModelDispatch. Some inputs are constants, and some share
// memory with the output that may overwrite them.
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
#include "tensor/testing/random_dispatch.h"

namespace ember::schedule {

struct RandomPair {
  tensor::RandomCase random;
  // values of the nest's parameters; none if the dispatch was specialised
  std::vector<int64_t> parameters;
  bool is_specialised = false;
  Computation computation;  // the computation to which no primitive has been
                            // applied
  Schedule schedule;
  RandomScheduleCounts counts;
  // For each input: the number of the output buffer that shares its memory; -1
  // if there is none.
  std::vector<int> same_memory;
  std::vector<std::vector<uint8_t>> expected;
  Status expected_status;

  // Calls `run` on new buffers. Returns a description of the first difference
  // between its results and the expected ones; "" if there is none.
  std::string Compare(
      const std::function<Status(std::span<void* const>)>& run) const;
  // Returns the dispatch and the schedule as text, for messages.
  std::string ToText() const;
};

RandomPair MakeRandomPair(uint64_t seed);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_RANDOM_PAIR_H_
