// Tests properties of generated loop nests. EMBER_SEED=n replays one seed;
// EMBER_SEEDS=n tries n seeds.
#include "jit/loops/testing/random_nest.h"

#include <string>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"

namespace ember::loops {
namespace {

std::string Replay(const RandomNest& random) {
  return "replay: EMBER_SEED=" + std::to_string(random.seed) +
         " bazel run //jit/loops/testing:random_nest_test\n" +
         ToText(random.nest);
}

// Makes a random nest with options that depend on the seed.
RandomNest Make(uint64_t seed) {
  return MakeRandomNest(seed,
                        {.exact = seed % 3 != 0, .simplify = seed % 2 == 0});
}

TEST(RandomNestTest, TextParsesBackExactly) {
  const SeedRange seeds = TestSeeds(500, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomNest random = Make(seed);
    const std::string text = ToText(random.nest);
    const StatusOr<LoopNest> parsed = Parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n"
                             << Replay(random);
    ASSERT_EQ(ToText(*parsed), text) << Replay(random);
  }
}

TEST(RandomNestTest, IsLegal) {
  const SeedRange seeds = TestSeeds(500, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomNest random = Make(seed);
    const Status status = Verify(random.nest);
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << Replay(random);
  }
}

// Shows that results do not depend on the order of tasks, invocations and
// lanes, nor on the contents of memory that the nest has not written, and that
// a nest parsed from the text of another one gives the same results.
TEST(RandomNestTest, EvaluatesToOneResult) {
  const SeedRange seeds = TestSeeds(300, 0);
  int failed_checks = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomNest random = Make(seed);
    auto first = random.MakeBuffers(), second = random.MakeBuffers();
    const Status status =
        Evaluate(random.nest, random.parameters, tensor::Pointers(first),
                 {.refuse_races = true});
    if (status.code() == StatusCode::kInvalidArgument) {
      ++failed_checks;
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << Replay(random);
    const StatusOr<LoopNest> parsed = Parse(ToText(random.nest));
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    ASSERT_TRUE(Evaluate(*parsed, random.parameters, tensor::Pointers(second),
                         {.seed = 5, .backwards = true})
                    .ok());
    ASSERT_EQ(FirstDifference(random, first, second), "") << Replay(random);
  }
  EXPECT_LE(failed_checks * 2, static_cast<int>(seeds.end - seeds.begin));
}

TEST(RandomNestTest, SimplificationKeepsEveryBit) {
  const SeedRange seeds = TestSeeds(200, 0);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomNest plain = MakeRandomNest(seed, {.simplify = false});
    const RandomNest simplified = MakeRandomNest(seed, {.simplify = true});
    auto first = plain.MakeBuffers(), second = simplified.MakeBuffers();
    const Status status =
        Evaluate(plain.nest, plain.parameters, tensor::Pointers(first));
    const Status again = Evaluate(simplified.nest, simplified.parameters,
                                  tensor::Pointers(second));
    ASSERT_EQ(status.ToString(), again.ToString()) << Replay(plain);
    if (!status.ok()) continue;
    ASSERT_EQ(FirstDifference(plain, first, second), "")
        << Replay(plain) << Replay(simplified);
  }
}

// Shows that a nest that the verifier accepts never accesses memory out of
// bounds, also with parameters other than those for which it was generated.
TEST(RandomNestTest, VerifierIsSound) {
  const SeedRange seeds = TestSeeds(400, 0);
  int verified = 0, refused = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomNest random =
        MakeRandomNest(seed, {.simplify = seed % 2 == 0, .guarded = false});
    const Status status = Verify(random.nest);
    if (!status.ok()) {
      ++refused;
      continue;
    }
    ++verified;
    for (const int64_t change : {0, 1, -2}) {
      std::vector<int64_t> parameters = random.parameters;
      for (int64_t& parameter : parameters) {
        parameter = std::max<int64_t>(0, parameter + change);
      }
      // The buffers are made large enough for the changed parameters; their
      // contents do not matter.
      auto buffers = random.MakeBuffers();
      for (auto& buffer : buffers) buffer.resize(64 * buffer.size() + 65536);
      const Status ran =
          Evaluate(random.nest, parameters, tensor::Pointers(buffers));
      ASSERT_NE(ran.code(), StatusCode::kInternal) << ran.message() << "\n"
                                                   << Replay(random);
    }
  }
  if (seeds.end - seeds.begin < 100) return;
  EXPECT_GT(verified, 50);
  EXPECT_GT(refused, 50);
  RecordProperty("verified", verified);
}

TEST(RandomNestTest, CoversTheInstructionTable) {
  bool seen[tensor::kOpcodeCount] = {};
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const std::string text =
        ToText(MakeRandomNest(seed, {.exact = false}).nest);
    for (int i = 0; i < tensor::kOpcodeCount; ++i) {
      const tensor::InstructionInfo& info =
          tensor::InfoOf(static_cast<tensor::Opcode>(i));
      const bool infix = info.notation == tensor::Notation::Infix;
      const std::string name(info.text);
      seen[i] |=
          text.find(infix ? " " + name + " " : name + "(") != std::string::npos;
    }
  }
  for (int i = static_cast<int>(tensor::Opcode::kPad); i < tensor::kOpcodeCount;
       ++i) {
    const tensor::Opcode opcode = static_cast<tensor::Opcode>(i);
    // The text of a cast or bitcast is a type, not the instruction's name, so
    // the search for names in the texts of nests does not find them.
    if (opcode == tensor::Opcode::kCast || opcode == tensor::Opcode::kBitcast) {
      continue;
    }
    EXPECT_TRUE(seen[i]) << tensor::InfoOf(opcode).text;
  }
}

}  // namespace
}  // namespace ember::loops
