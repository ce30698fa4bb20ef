// Chooses the seeds of random tests. The seeds are fixed, so that a test does
// not fail by chance at an unrelated change; environment variables select other
// seeds.
//
//   const SeedRange seeds = TestSeeds(400);
//   for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
//     SCOPED_TRACE(ReplayOf(seed, "//tensor/analysis:index_algebra_test"));
//
//   EMBER_SEED=n        replays one seed
//   EMBER_FIRST_SEED=n  begins with n
//   EMBER_SEEDS=n       tries n seeds instead of the test's own number
//
// `./dev nightly` sets EMBER_FIRST_SEED and EMBER_SEEDS. Thread-safe.
#ifndef EMBER_BASE_TESTING_SEEDS_H_
#define EMBER_BASE_TESTING_SEEDS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember {

// A range of seeds: begin, begin + 1, ..., end - 1.
struct SeedRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  // True if EMBER_SEED selects one seed. A test then skips its checks that the
  // seeds covered enough different cases.
  bool is_replay = false;
};

// Returns `count` seeds that begin with `first`, or the seeds that the
// environment asks for.
SeedRange TestSeeds(uint64_t count, uint64_t first = 1);

// Returns the command that runs one seed of a test target again.
std::string ReplayOf(uint64_t seed, std::string_view target);

}  // namespace ember

#endif  // EMBER_BASE_TESTING_SEEDS_H_
