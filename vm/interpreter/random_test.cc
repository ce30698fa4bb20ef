// Random dispatches: the plan equals the definition bit for bit.
//
//   export EMBER_CASES=10000 EMBER_FIRST_SEED=1000000
//   bazel run //vm/interpreter:random_test
//   EMBER_SEED=1000042 bazel run //vm/interpreter:random_test
#include <cstdlib>

#include "gtest/gtest.h"
#include "vm/interpreter/testing.h"

namespace ember::vm {
namespace {

// Some cases have more elements than a tile, a block of a contraction, and the
// smallest work for a second thread.
void Expect(uint64_t seed) {
  ExpectRandomCase(seed, seed % 8 == 0 ? 2 : 1,
                   {.largest_elements = 60000, .subnormals = true});
}

TEST(RandomTest, PlansMatchTheDefinition) {
  if (const char* seed = std::getenv("EMBER_SEED")) {
    Expect(std::strtoull(seed, nullptr, 10));
    return;
  }
  const char* wanted = std::getenv("EMBER_CASES");
  const uint64_t cases =
      wanted == nullptr ? 2000 : std::strtoull(wanted, nullptr, 10);
  const char* first = std::getenv("EMBER_FIRST_SEED");
  const uint64_t begin =
      first == nullptr ? 1 : std::strtoull(first, nullptr, 10);
  for (uint64_t seed = begin; seed < begin + cases && !HasFailure(); ++seed)
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
