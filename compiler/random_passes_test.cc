// Checks that random graphs compute the same results, bit for bit, before and
// after each pass of the pipeline, and after all passes together.
//
//   export EMBER_SEEDS=10000 EMBER_FIRST_SEED=1000000
//   bazel run //compiler:random_passes_test
//   EMBER_SEED=1000042 bazel run //compiler:random_passes_test
#include <string>
#include <vector>

#include "base/testing/seeds.h"
#include "compiler/graph/testing/evaluate.h"
#include "compiler/graph/text/text.h"
#include "compiler/graph/verifier.h"
#include "compiler/pipeline.h"
#include "compiler/testing/random_movements.h"
#include "gtest/gtest.h"
#include "tensor/testing/random_values.h"

namespace ember::compiler {
namespace {

// Compares the results of a graph before and after a pass. Returns a
// description of the first difference; empty if there is none.
std::string Difference(const StatusOr<std::vector<graph::TensorData>>& expected,
                       const StatusOr<std::vector<graph::TensorData>>& found) {
  if (!expected.ok()) return "before: " + expected.status().ToString();
  if (!found.ok()) return found.status().ToString();
  for (size_t i = 0; i < expected->size(); ++i) {
    const graph::TensorData& a = (*expected)[i];
    const graph::TensorData& b = (*found)[i];
    if (a.dtype != b.dtype || a.extents != b.extents)
      return "output " + std::to_string(i) + ": another type or shape";
    const std::span<const uint8_t> x = a.data.bytes, y = b.data.bytes;
    const std::string difference = tensor::FirstDifferentElement(
        a.dtype, {x.begin(), x.end()}, {y.begin(), y.end()});
    if (!difference.empty())
      return "output " + std::to_string(i) + ": " + difference;
  }
  return "";
}

void ExpectPassesKeepMeaning(uint64_t seed) {
  RandomMovements random = MakeRandomMovements(seed);
  const std::string replay = "replay: EMBER_SEED=" + std::to_string(seed) +
                             " bazel run //compiler:random_passes_test\n";
  const Status verified = graph::Verify(random.graph);
  ASSERT_TRUE(verified.ok()) << replay << verified.ToString();
  const auto expected = graph::Evaluate(random.graph, random.inputs);
  for (const PipelineStep& pass : GraphPipeline()) {
    const std::string before = graph::Print(random.graph);
    const Status status = pass.pass(random.graph);
    ASSERT_TRUE(status.ok())
        << replay << pass.name << ": " << status.ToString() << "\n"
        << before;
    const std::string after = graph::Print(random.graph);
    if (after == before) continue;
    const Status still = graph::Verify(random.graph);
    ASSERT_TRUE(still.ok())
        << replay << pass.name << ": " << still.ToString() << "\n"
        << before << after;
    ASSERT_EQ(
        Difference(expected, graph::Evaluate(random.graph, random.inputs)), "")
        << replay << pass.name << "\n"
        << before << after;
  }
}

TEST(RandomPasses, KeepWhatGraphsCompute) {
  const SeedRange seeds = TestSeeds(1000, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed)
    ExpectPassesKeepMeaning(seed);
}

}  // namespace
}  // namespace ember::compiler
