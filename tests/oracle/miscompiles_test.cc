// Tests the live oracle with miscompiles that are made on purpose, in kernels
// of blocks of networks: no caller may get a wrong result.
//
// EMBER_MISCOMPILES=n tries until the oracle has checked n wrong kernels (200),
// EMBER_SEED=s begins with another seed.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/oracle/miscompiled_model.h"
#include "tests/performance/models.h"

namespace ember::tests {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

class MiscompilesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const GuardedModel& guarded : GuardedModels()) {
      auto model = MiscompiledModel::Make(guarded.name, guarded.build());
      ASSERT_TRUE(model.ok()) << model.status().ToString();
      models().push_back(*std::move(model));
    }
  }
  static void TearDownTestSuite() { models().clear(); }
  static std::vector<std::unique_ptr<MiscompiledModel>>& models() {
    static auto* const models =
        new std::vector<std::unique_ptr<MiscompiledModel>>();
    return *models;
  }
};

TEST_F(MiscompilesTest, RightKernelsStay) {
  for (const auto& model : models()) {
    EXPECT_GT(model->dispatch_count(), 0u) << model->name();
    for (const std::string& reason : model->TryRightKernels())
      ADD_FAILURE() << model->name() << ": " << reason;
  }
}

// Fewer wrong kernels are tried in builds with sanitizers or without
// optimisation, which are many times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    !defined(__OPTIMIZE__)
constexpr uint64_t kMiscompiles = 24;
#else
constexpr uint64_t kMiscompiles = 200;
#endif

TEST_F(MiscompilesTest, NobodySeesResultsOfWrongOnes) {
  const uint64_t wanted = FromEnvironment("EMBER_MISCOMPILES", kMiscompiles);
  const uint64_t first = FromEnvironment("EMBER_SEED", 0);
  std::vector<std::pair<size_t, size_t>> dispatches;
  for (size_t m = 0; m < models().size(); ++m) {
    for (size_t d = 0; d < models()[m]->dispatch_count(); ++d)
      dispatches.emplace_back(m, d);
  }
  std::map<MiscompileOutcome, int64_t> counts[loops::kMutantKindCount];
  int64_t caught = 0, missed = 0;
  // A seed's number decides the kind of mistake and the dispatch, so
  // consecutive seeds try all combinations.
  for (uint64_t seed = first; seed < first + 20 * wanted &&
                              caught + missed < static_cast<int64_t>(wanted);
       ++seed) {
    const auto kind =
        static_cast<loops::MutantKind>(seed % loops::kMutantKindCount);
    const auto [m, d] =
        dispatches[seed / loops::kMutantKindCount % dispatches.size()];
    const Trial trial = models()[m]->Try(d, kind, seed);
    ++counts[seed % loops::kMutantKindCount][trial.outcome];
    caught += trial.outcome == MiscompileOutcome::kCaught;
    missed += trial.outcome == MiscompileOutcome::kMissed;
    if (trial.outcome != MiscompileOutcome::kMissed) continue;
    std::printf(
        "missed: %s @%s, %s: %s; error %.3g; EMBER_SEED=%llu "
        "EMBER_MISCOMPILES=1 bazel run //tests/oracle:miscompiles_test\n",
        models()[m]->name().c_str(), models()[m]->dispatch_name(d).c_str(),
        loops::kMutantTexts[static_cast<int>(kind)], trial.what.c_str(),
        trial.error, static_cast<unsigned long long>(seed));
  }
  std::printf("| %-16s | caught | missed | rounding | equivalent | refused |\n",
              "kind");
  for (int kind = 0; kind < loops::kMutantKindCount; ++kind) {
    auto& count = counts[kind];
    std::printf("| %-16s | %6lld | %6lld | %8lld | %10lld | %7lld |\n",
                loops::kMutantTexts[kind],
                static_cast<long long>(count[MiscompileOutcome::kCaught]),
                static_cast<long long>(count[MiscompileOutcome::kMissed]),
                static_cast<long long>(count[MiscompileOutcome::kRounding]),
                static_cast<long long>(count[MiscompileOutcome::kEquivalent]),
                static_cast<long long>(count[MiscompileOutcome::kRefused]));
  }
  EXPECT_GE(caught + missed, static_cast<int64_t>(wanted));
  EXPECT_GE(caught * 100, (caught + missed) * 99);
}

}  // namespace
}  // namespace ember::tests
