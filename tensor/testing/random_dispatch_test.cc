// Tests random dispatches: their text parses back, the evaluator runs them,
// simplification keeps every bit of their results, and the generator makes all
// but three opcodes. EMBER_SEED=n replays one seed.
#include "tensor/testing/random_dispatch.h"

#include <string>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/text/text.h"
#include "tensor/verifier/verifier.h"

namespace ember::tensor {
namespace {

std::string Replay(uint64_t seed) {
  return "replay: EMBER_SEED=" + std::to_string(seed) +
         " bazel run //tensor/testing:random_dispatch_test";
}

TEST(RandomDispatchTest, TextParsesBackExactly) {
  const SeedRange seeds = TestSeeds(600, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomCase c = MakeRandomCase(seed, {.exact = seed % 2 == 0});
    const std::string text = Print(c.dispatch);
    const StatusOr<Dispatch> parsed = Parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n"
                             << Replay(seed) << "\n"
                             << text;
    ASSERT_EQ(*parsed, c.dispatch) << Replay(seed) << "\n"
                                   << text << "\n"
                                   << Print(*parsed);
    EXPECT_EQ(Print(*parsed), text) << Replay(seed);
  }
}

TEST(RandomDispatchTest, EvaluatesWithoutErrorsAndDeterministically) {
  const SeedRange seeds = TestSeeds(150, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomCase c = MakeRandomCase(seed, {});
    std::vector<std::vector<uint8_t>> first = c.MakeBuffers(),
                                      second = c.MakeBuffers();
    const Status status =
        Evaluate(c.dispatch, c.parameters, Pointers(first), {});
    ASSERT_TRUE(status.ok()) << status.message() << "\n"
                             << Replay(seed) << "\n"
                             << Print(c.dispatch);
    ASSERT_TRUE(Evaluate(c.dispatch, c.parameters, Pointers(second), {}).ok());
    EXPECT_EQ(FirstDifference(c, first, second), "") << Replay(seed);
  }
}

// In exact mode all sums and products are exact, so accumulating in another
// type must not change the results.
TEST(RandomDispatchTest, ExactCasesDoNotDependOnAccumulation) {
  const SeedRange seeds = TestSeeds(150, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomCase c = MakeRandomCase(seed, {});
    std::vector<std::vector<uint8_t>> first = c.MakeBuffers(),
                                      second = c.MakeBuffers();
    ASSERT_TRUE(Evaluate(c.dispatch, c.parameters, Pointers(first), {}).ok());
    ASSERT_TRUE(Evaluate(c.dispatch, c.parameters, Pointers(second),
                         {.accumulate_in_f64 = true})
                    .ok());
    EXPECT_EQ(FirstDifference(c, first, second), "") << Replay(seed) << "\n"
                                                     << Print(c.dispatch);
  }
}

TEST(RandomDispatchTest, SimplificationKeepsEveryBit) {
  const SeedRange seeds = TestSeeds(400, 0);
  size_t written = 0, left = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomCase plain = MakeRandomCase(seed, {.simplify = false});
    const RandomCase simplified = MakeRandomCase(seed, {});
    std::vector<std::vector<uint8_t>> first = plain.MakeBuffers();
    std::vector<std::vector<uint8_t>> second = simplified.MakeBuffers();
    const Status status =
        Evaluate(plain.dispatch, plain.parameters, Pointers(first), {});
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << Replay(seed);
    ASSERT_TRUE(Evaluate(simplified.dispatch, simplified.parameters,
                         Pointers(second), {})
                    .ok());
    EXPECT_EQ(FirstDifference(plain, first, second), "")
        << Replay(seed) << "\n"
        << Print(plain.dispatch) << Print(simplified.dispatch);
    written += plain.dispatch.instructions.size();
    left += simplified.dispatch.instructions.size();
  }
  EXPECT_LT(left, written);
}

TEST(RandomDispatchTest, CoversTheInstructionTable) {
  bool seen[kOpcodeCount] = {};
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const RandomCase c = MakeRandomCase(seed, {.exact = false});
    for (const Instruction& instruction : c.dispatch.instructions) {
      seen[static_cast<int>(instruction.opcode)] = true;
    }
  }
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    // The generator does not make these instructions, which have tests of their
    // own, so they are not expected in the cases.
    if (opcode == Opcode::kBitcast || opcode == Opcode::kIsNan ||
        opcode == Opcode::kIsInfinite) {
      continue;
    }
    EXPECT_TRUE(seen[i]) << InfoOf(opcode).text;
  }
}

}  // namespace
}  // namespace ember::tensor
