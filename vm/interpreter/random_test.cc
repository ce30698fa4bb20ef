// Random dispatches: the plan equals the definition bit for bit.
#include <cstdlib>

#include "gtest/gtest.h"
#include "vm/interpreter/testing.h"

namespace ember::vm {
namespace {

TEST(RandomTest, PlansMatchTheDefinition) {
  if (const char* seed = std::getenv("EMBER_SEED")) {
    ExpectRandomCase(std::strtoull(seed, nullptr, 10), 1, {});
    return;
  }
  const char* wanted = std::getenv("EMBER_CASES");
  const uint64_t cases =
      wanted == nullptr ? 2000 : std::strtoull(wanted, nullptr, 10);
  for (uint64_t seed = 1; seed <= cases && !HasFailure(); ++seed) {
    ExpectRandomCase(seed, seed % 8 == 0 ? 2 : 1, {});
  }
}

TEST(RandomTest, DeepExpressions) {
  for (uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    ExpectRandomCase(
        seed, 1, {.maximum_stages = 10, .maximum_depth = 7, .simplify = false});
  }
}

}  // namespace
}  // namespace ember::vm
