// Tests that random points of the space compute what their dispatch defines.
//
//   EMBER_SEEDS=1000 bazel run -c opt //tune/space:space_test
#include "tune/space/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/seeds.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/math/expand.h"
#include "jit/schedule/primitives/primitives.h"
#include "jit/schedule/testing/random_model_dispatch.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"
#include "tune/task/task.h"

namespace ember::tune {
namespace {

constexpr const char* kTargets[] = {
    "x86_64-linux+avx2+fma+l1=32K+l2=512K+l3=16M+cores=4",
    "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+avx512vnni",
    "aarch64-linux+neon+dotprod",
    "vulkan1.3+subgroup32+shared49152+invocations1024",
    "sm_80+subgroup32+shared101376+invocations1024",
};
constexpr int kSamples = 3;

// Returns an estimate of the stores that the block executes; loops whose extent
// is not constant count with 20 iterations.
double StoresOf(const loops::LoopNest& nest, const loops::Block& block) {
  double stores = 0;
  for (const loops::Statement& statement : block) {
    double times = 1;
    if (statement.kind == loops::Statement::Kind::kFor) {
      times = static_cast<double>(
          nest.pool.IntegerConstant(nest.pool[statement.variable].operands[0])
              .value_or(20));
    }
    stores += times * (1 + StoresOf(nest, statement.body));
  }
  return stores;
}

// True if evaluating the nest would take too long for a test.
bool IsLong(const loops::LoopNest& nest) {
  double stores = 0;
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases) {
      const auto tasks =
          nest.pool.IntegerConstant(nest.pool[phase.task].operands[0]);
      stores +=
          static_cast<double>(tasks.value_or(20)) * StoresOf(nest, phase.body);
    }
  }
  return stores > 1e6;
}

struct Totals {
  int64_t equal = 0, too_long = 0, none = 0, wrong = 0;
  std::map<std::string, int64_t> origins;
};

// A random dispatch with its operands, expected results and task.
struct Case {
  explicit Case(uint64_t seed)
      : random(schedule::MakeRandomModelDispatch(seed)),
        expected(random.MakeBuffers()) {
    status = tensor::Evaluate(random.dispatch, random.parameters,
                              tensor::Pointers(expected), {});
    is_expanded = std::ranges::any_of(
        random.dispatch.instructions, [](const tensor::Instruction& one) {
          return jit::IsExpanded(one.opcode, one.type);
        });
    vm::KernelRequest request;
    request.dispatch = &random.dispatch;
    request.parameters = random.parameters;
    request.target = kTargets[seed % std::size(kTargets)];
    inputs = random.MakeBuffers();
    for (size_t i = 0; i < random.dispatch.input_count(); ++i) {
      const bool is_constant = (seed >> i) % 3 == 0;
      request.constant_inputs.push_back(is_constant);
      request.constant_data.emplace_back();
      if (is_constant) request.constant_data.back() = inputs[i];
    }
    task = MakeTask(request);
  }

  // Evaluates the candidate's nest and compares the results with the expected
  // ones. Returns a description of the first difference; empty if there is
  // none.
  std::string Check(const Space& space, const Candidate& candidate,
                    Totals& totals) const {
    const StatusOr<schedule::Schedule> schedule = space.Apply(candidate.point);
    if (!schedule.ok()) return schedule.status().ToString();
    if (IsLong(candidate.nest)) {
      ++totals.too_long;
      return "";
    }
    std::vector<std::vector<uint8_t>> actual = random.MakeBuffers();
    const Status run =
        loops::Evaluate(candidate.nest, {}, tensor::Pointers(actual),
                        {.seed = candidate.hash, .refuse_races = true});
    if (run.ok() != status.ok()) return run.ToString();
    if (!run.ok()) return "";
    // Results may differ in two cases. Functions that are expanded to
    // polynomials have errors of a few ULPs, which cancellation may enlarge.
    // Winograd's products and softmaxes in blocks round differently.
    const bool keeps_rounding = schedule::KeepsRounding(*schedule);
    const double absolute = !keeps_rounding ? 1e-2 : is_expanded ? 1e-5 : 0;
    const double relative = !keeps_rounding ? 1e-4 : absolute;
    std::string difference =
        tensor::FirstDifference(random, expected, actual, absolute, relative);
    totals.equal += difference.empty();
    ++totals.origins[candidate.point.origin.substr(
        0, candidate.point.origin.find_first_of(" ,"))];
    return difference;
  }

  tensor::RandomCase random;
  std::vector<std::vector<uint8_t>> expected, inputs;
  Status status;
  // True if the nests compute a function of the dispatch by a polynomial.
  bool is_expanded = false;
  Task task;
};

// Draws random points from the space of the case and checks each. Returns a
// description of the first wrong one with its schedule; empty if all are right.
std::string CheckSpace(const Case& random_case, uint64_t seed, Totals& totals) {
  const StatusOr<Space> space = Space::Make(random_case.task, {});
  // A dispatch without a default schedule is never compiled, so there is no
  // space.
  if (!space.ok()) return "";
  Random random(seed);
  std::vector<Candidate> candidates = {space->start()};
  for (int i = 0; i < kSamples; ++i) {
    std::optional<Candidate> sample = space->Sample(random);
    if (!sample) {
      ++totals.none;
      continue;
    }
    if (auto mutated = space->Mutate(sample->point, random))
      candidates.push_back(*std::move(mutated));
    if (auto child =
            space->Cross(sample->point, candidates.front().point, random))
      candidates.push_back(*std::move(child));
    candidates.push_back(*std::move(sample));
  }
  for (const Candidate& candidate : candidates) {
    const std::string wrong = random_case.Check(*space, candidate, totals);
    if (!wrong.empty()) {
      return wrong + "\n" + tensor::Print(*random_case.task.request.dispatch) +
             candidate.point.origin + ":\n" + TextOf(candidate.point) +
             loops::ToText(candidate.nest);
    }
  }
  return "";
}

TEST(Space, PointsComputeWhatTheDispatchSays) {
  const SeedRange seeds = TestSeeds(60);
  Totals totals;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const Case random_case(seed);
    const std::string wrong = CheckSpace(random_case, seed, totals);
    if (wrong.empty()) continue;
    if (totals.wrong++ == 0)
      ADD_FAILURE() << ReplayOf(seed, "//tune/space:space_test") << "\n"
                    << wrong;
    else
      std::printf("wrong: EMBER_SEED=%llu\n",
                  static_cast<unsigned long long>(seed));
  }
  std::printf("%lld points equal the dispatch, %lld too long, %lld not found\n",
              static_cast<long long>(totals.equal),
              static_cast<long long>(totals.too_long),
              static_cast<long long>(totals.none));
  for (const auto& [origin, times] : totals.origins)
    std::printf("  %s: %lld\n", origin.c_str(), static_cast<long long>(times));
  if (seeds.is_replay) return;
  EXPECT_GT(totals.equal, static_cast<int64_t>(seeds.end - seeds.begin) * 4);
  for (const char* origin :
       {"default", "model", "sketch", "mutation:", "cross"})
    EXPECT_GT(totals.origins[origin], 0) << origin;
}

Task ProductTask(const tensor::Dispatch& dispatch, const char* target) {
  vm::KernelRequest request;
  request.dispatch = &dispatch;
  request.target = target;
  return MakeTask(request);
}

constexpr const char* kProduct = R"(
    dispatch @gemm(%a: f32[64, 96], %b: f32[96, 128], %c: f32[128]) -> (%y: f32[64, 128]) {
      temp %acc: f32[64, 128]
      %acc[i, j] = sum(k < 96) %a[i, k] * %b[k, j]
      %y[i, j] = max(%acc[i, j] + %c[j], 0.0)
    })";

TEST(Space, ASeedGivesOneSequence) {
  const auto dispatch = tensor::Parse(kProduct);
  ASSERT_TRUE(dispatch.ok());
  const Task task = ProductTask(*dispatch, kTargets[0]);
  const auto space = Space::Make(task, {});
  ASSERT_TRUE(space.ok()) << space.status().ToString();
  std::vector<uint64_t> hashes[2];
  for (std::vector<uint64_t>& sequence : hashes) {
    Random random(7);
    for (int i = 0; i < 10; ++i) {
      const std::optional<Candidate> sample = space->Sample(random);
      sequence.push_back(sample ? sample->hash : 0);
    }
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  std::set<uint64_t> different(hashes[0].begin(), hashes[0].end());
  EXPECT_GT(different.size(), 6u);
}

TEST(Space, TextsOfPointsAreParsedAsThePoints) {
  const auto dispatch = tensor::Parse(kProduct);
  ASSERT_TRUE(dispatch.ok());
  const Task task = ProductTask(*dispatch, kTargets[1]);
  const auto space = Space::Make(task, {});
  ASSERT_TRUE(space.ok()) << space.status().ToString();
  Random random(3);
  for (int i = 0; i < 10; ++i) {
    const std::optional<Candidate> sample = space->Sample(random);
    if (!sample) continue;
    const auto parsed = ParsePoint(TextOf(sample->point), "text");
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    EXPECT_EQ(HashOf(*parsed), sample->hash);
    EXPECT_TRUE(space->Build(*parsed).ok());
  }
  EXPECT_EQ(
      ParsePoint("vectorize %y j\nunrol %y i", "").status().message(),
      "line 2: " +
          std::string(schedule::ParseStep("unrol %y i").status().message()));
}

TEST(Space, ExactSpacesRoundAsTheDispatchSays) {
  const auto dispatch = tensor::Parse(R"(
    dispatch @conv(%x: f32[1, 18, 18, 32], %w: f32[3, 3, 32, 32]) -> (%y: f32[1, 16, 16, 32]) {
      %y[n, i, j, o] = sum(a < 3, b < 3, c < 32) %x[n, i + a, j + b, c] * %w[a, b, c, o]
    })");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  vm::KernelRequest request;
  request.dispatch = &*dispatch;
  request.target = kTargets[0];
  const std::vector<uint8_t> weights(4 * 9 * 32 * 32);
  request.constant_inputs = {false, true};
  request.constant_data = {{}, weights};
  const Task task = MakeTask(request);
  for (const bool is_exact : {false, true}) {
    const auto space = Space::Make(task, {.is_exact = is_exact});
    ASSERT_TRUE(space.ok()) << space.status().ToString();
    Random random(1);
    int others = 0;
    for (int i = 0; i < 20; ++i) {
      const std::optional<Candidate> sample = space->Sample(random);
      if (!sample) continue;
      const auto schedule = space->Apply(sample->point);
      ASSERT_TRUE(schedule.ok());
      others += !schedule::KeepsRounding(*schedule);
    }
    EXPECT_EQ(others > 0, !is_exact) << others;
  }
}

}  // namespace
}  // namespace ember::tune
