#include "base/testing/seeds.h"

#include <cstdlib>
#include <optional>

#include "base/concat.h"

namespace ember {
namespace {

std::optional<uint64_t> NumberFromEnvironment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 0);
}

}  // namespace

SeedRange TestSeeds(uint64_t count, uint64_t first) {
  if (const auto seed = NumberFromEnvironment("EMBER_SEED"))
    return {*seed, *seed + 1, true};
  first = NumberFromEnvironment("EMBER_FIRST_SEED").value_or(first);
  count = NumberFromEnvironment("EMBER_SEEDS").value_or(count);
  return {first, first + count, false};
}

std::string ReplayOf(uint64_t seed, std::string_view target) {
  return Concat({"replay: bazel test ", target,
                 " --test_env=EMBER_SEED=", static_cast<int64_t>(seed)});
}

}  // namespace ember
