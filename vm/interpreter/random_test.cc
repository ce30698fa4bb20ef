// Runs random dispatches: the plan's results must equal those of the definition
// bit for bit.
//
//   export EMBER_SEEDS=10000 EMBER_FIRST_SEED=1000000
//   bazel run //vm/interpreter:random_test
//   EMBER_SEED=1000042 bazel run //vm/interpreter:random_test

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "vm/interpreter/testing/compare.h"

namespace ember::vm {
namespace {

// Runs the random case of a seed. Some cases are larger than a tile, than a
// block of a contraction, or than the smallest work for which a second thread
// is used.
void Expect(uint64_t seed) {
  ExpectRandomCase(seed, seed % 8 == 0 ? 2 : 1,
                   {.largest_elements = 60000, .subnormals = true});
}

TEST(RandomTest, PlansMatchTheDefinition) {
  const SeedRange seeds = TestSeeds(2000);
  for (uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed)
    Expect(seed);
}

TEST(RandomTest, DeepExpressions) {
  for (uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    ExpectRandomCase(
        seed, 1, {.maximum_stages = 10, .maximum_depth = 7, .simplify = false});
  }
}

}  // namespace
}  // namespace ember::vm
