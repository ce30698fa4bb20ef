// Compares random dispatches with their definition, under the default schedules
// of several machines and under random schedules. Random nests are tested in
// //tests/nests:conformance_test.
//
//   EMBER_SEEDS=1000 bazel-bin/jit/llvm/random_test
//   ./dev processors --seeds=1000
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/testing/say_if_killed.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "jit/backend/decline_reasons.h"
#include "jit/llvm/testing/run_counts.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/normalise.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "jit/schedule/testing/random_model_dispatch.h"
#include "jit/schedule/testing/random_pair.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/scalar.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/testing/random_values.h"
#include "tensor/text/text.h"

namespace ember::jit::llvm_ir {
namespace {

using Bytes = std::vector<std::vector<uint8_t>>;

// Returns the command that repeats the test with this seed. SayIfKilled also
// prints it if a crash of the kernel or of LLVM ends the process.
std::string ReplayOf(const char* test, uint64_t seed) {
  std::string suffix;
  if (TestProcessor() != nullptr) suffix += "_";
  if (TestProcessor() != nullptr) suffix += TestProcessor()->name;
  std::replace(suffix.begin(), suffix.end(), '-', '_');
  std::string replay = Concat(
      {"replay: bazel test --test_env=EMBER_SEED=", seed, " --test_filter=*",
       test, " //jit/llvm:random_test", suffix, "\n"});
  SayIfKilled(replay);
  return replay;
}

// A dispatch's inputs, and the results that kernels must compute from them.
struct Expected {
  Bytes initial;
  Bytes final;
  Status status;
  std::function<std::string(const Bytes& found)> difference;
};

// Runs the code on buffers of its own, and copies the results back. The first
// buffers of the nest are those in `given`: they get their contents, and share
// memory where those share it. (vm::CpuKernel::Run gets buffers in the same
// way.)
Status RunOnBuffers(const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters,
                    const CompiledNest& code, std::span<void* const> given,
                    bool is_at_end) {
  const Buffers buffers = MakeBuffers(
      nest, parameters,
      [&](const loops::Buffer& buffer, size_t number, int64_t element) {
        return number < given.size()
                   ? tensor::LoadElement(given[number], element, buffer.type)
                   : SmallValue(buffer, number, element);
      },
      is_at_end);
  std::vector<ForeignBuffer> memory;
  for (size_t i = 0; i < buffers.size(); ++i) {
    memory.push_back({buffers[i]->data(), buffers[i]->bytes()});
    if (i >= given.size()) continue;
    const auto first = std::find(given.begin(), given.end(), given[i]);
    memory[i].data = memory[static_cast<size_t>(first - given.begin())].data;
  }
  const std::string error = RunCompiled(nest, code, parameters, memory);
  if (!error.empty()) return FailedPreconditionError(error);
  for (size_t i = 0; i < given.size(); ++i)
    std::memcpy(given[i], memory[i].data, static_cast<size_t>(memory[i].bytes));
  return OkStatus();
}

// Runs the code once on the dispatch's inputs. Returns a description of the
// difference from the expected results; "" if there is none.
std::string RunOnce(const Expected& expected, const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters,
                    const CompiledNest& code, bool is_at_end) {
  Bytes bytes = expected.initial;
  const Status status =
      RunOnBuffers(nest, parameters, code, tensor::Pointers(bytes), is_at_end);
  if (status.ok() != expected.status.ok())
    return Concat({"expected ", expected.status.ToString(), ", found ",
                   status.ToString()});
  if (!status.ok()) return "";
  return expected.difference(bytes);
}

// Compiles and runs kernels for the seeds of one test, counts the outcomes and
// reports wrong results.
class SeedTest {
 public:
  SeedTest(const char* name, SeedRange seeds) : name_(name), seeds_(seeds) {}

  // Calls run(seed) for each seed of the test.
  void Run(const std::function<void(uint64_t seed)>& run) {
    for (uint64_t seed = seeds_.begin; seed < seeds_.end; ++seed) {
      replay_ = ReplayOf(name_, seed);
      run(seed);
    }
    counts_.Print(TestMachineName(), Concat({name_, ", seeds ", seeds_.begin,
                                             "..", seeds_.end - 1}));
  }

  const RunCounts& counts() const { return counts_; }
  void Refuse(const Status& status) { counts_.Refuse(status.message()); }

  // Compiles the nest with each effort and calls run(code, is_at_end) for the
  // code; counts the nest as refused if the compiler declines it. `run` returns
  // a description of the error, or "".
  void Compile(const loops::LoopNest& nest, const std::string& origin,
               const std::function<std::string(const CompiledNest& code,
                                               bool is_at_end)>& run) {
    for (const Effort effort : {Effort::kFast, Effort::kFull}) {
      const auto code = TestCompiler().Compile(nest, {.effort = effort});
      if (code.status().code() == StatusCode::kUnimplemented)
        return Refuse(code.status());
      for (const bool is_at_end : {false, true}) {
        const std::string wrong =
            code.ok() ? run(**code, is_at_end) : code.status().ToString();
        counts_.run += code.ok() && is_at_end;
        if (wrong.empty()) continue;
        return Wrong(
            Concat({wrong, effort == Effort::kFast ? ", fast" : ", full",
                    is_at_end ? ", at the end\n" : "\n"}),
            origin + loops::ToText(nest));
      }
    }
  }

 private:
  // Reports a wrong result. The first one is shown with the nest; for later
  // ones only the command that repeats the seed is printed.
  void Wrong(const std::string& what, const std::string& text) {
    if (counts_.wrong++ == 0) {
      ADD_FAILURE() << replay_ << what << text;
    } else {
      std::printf("wrong: %s%s", replay_.c_str(), what.c_str());
    }
  }

  const char* const name_;
  const SeedRange seeds_;
  std::string replay_;
  RunCounts counts_;
};

// Returns the seeds of a test. If EMBER_TEST_PROCESSOR names a processor there
// are fewer, because ./dev test runs these tests once for each processor.
SeedRange SeedsOf(uint64_t count) {
  return TestSeeds(TestProcessor() == nullptr ? count : count / 8, 0);
}

Expected Define(const tensor::RandomCase& random) {
  Expected expected{.initial = random.MakeBuffers(),
                    .final = random.MakeBuffers()};
  expected.status = tensor::Evaluate(random.dispatch, random.parameters,
                                     tensor::Pointers(expected.final), {});
  return expected;
}

// Returns the CPU models whose default schedules are tested: the model of the
// processor under test, or, if none is chosen, the models of the targets
// `others`.
std::vector<CpuModel> Models(const std::vector<const char*>& others) {
  if (TestProcessor() != nullptr) return {TestCpuModel()};
  std::vector<CpuModel> models;
  for (const char* target : others) models.push_back(CpuModel::Of(target));
  return models;
}

void RunScheduled(const Expected& expected, const tensor::RandomCase& random,
                  const CpuModel& cpu, bool is_specialised,
                  const schedule::ModelOptions& options, SeedTest& test) {
  const std::vector<int64_t> parameters =
      is_specialised ? std::vector<int64_t>() : random.parameters;
  schedule::Computation computation = schedule::Disassemble(
      random.dispatch,
      is_specialised ? random.parameters : std::vector<int64_t>());
  // In half of the cases without parameters, makes all inputs but the first
  // constants, as weights are in kernels of models.
  for (size_t i = 1; i < random.dispatch.input_count(); ++i) {
    if (random.parameters.empty() && random.seed % 2 == 0)
      schedule::MakeConstant(computation.buffers[i], expected.initial[i]);
  }
  schedule::Normalise(computation);
  schedule::Schedule schedule(std::move(computation));
  const Status chosen = schedule::ScheduleByModel(cpu, schedule, options);
  EXPECT_TRUE(chosen.ok()) << chosen.ToString();
  const auto nest = schedule::Lower(schedule);
  EXPECT_TRUE(nest.ok()) << "EMBER_SEED=" << random.seed << ": "
                         << nest.status().ToString() << "\n"
                         << tensor::Print(random.dispatch) << schedule.ToText();
  if (!nest.ok()) return;
  // The nest is verified, as the JIT does before it compiles one. A nest
  // without a proof of bounds counts as refused.
  if (const Status status = loops::Verify(*nest); !status.ok())
    return test.Refuse(Decline(DeclineReason::kNoProof, status.message()));
  test.Compile(*nest, tensor::Print(random.dispatch) + schedule.ToText(),
               [&](const CompiledNest& code, bool is_at_end) {
                 return RunOnce(expected, *nest, parameters, code, is_at_end);
               });
}

TEST(RandomTest, DispatchesUnderDefaultSchedules) {
  SeedTest test("DispatchesUnderDefaultSchedules", SeedsOf(25));
  test.Run([&](uint64_t seed) {
    const tensor::RandomCase random =
        tensor::MakeRandomCase(seed, {.subnormals = KeepsSubnormals()});
    Expected expected = Define(random);
    expected.difference = [&](const Bytes& found) {
      return tensor::FirstDifference(random, expected.final, found);
    };
    for (const CpuModel& cpu :
         Models({"x86_64-linux", "x86_64-linux+avx512f+fma"})) {
      for (const bool is_specialised : {false, true})
        RunScheduled(expected, random, cpu, is_specialised, {}, test);
    }
  });
  EXPECT_LE(test.counts().all_refused(), test.counts().run + 2);
}

// Tests dispatches that are typical of models. Their schedules have register
// tiles, dot loops, and copies that widen elements.
TEST(RandomTest, ModelsUnderDefaultSchedules) {
  SeedTest test("ModelsUnderDefaultSchedules", SeedsOf(40));
  test.Run([&](uint64_t seed) {
    const tensor::RandomCase random = schedule::MakeRandomModelDispatch(seed);
    Expected expected = Define(random);
    // Functions such as exp are polynomials in kernels, so results may differ
    // from the definition by the polynomials' errors.
    expected.difference = [&](const Bytes& found) {
      return tensor::FirstDifference(random, expected.final, found, 1e-4, 1e-4);
    };
    for (const CpuModel& cpu :
         Models({"x86_64-linux+avx2+fma", "aarch64-linux+neon+dotprod"})) {
      RunScheduled(expected, random, cpu, false, {.exact = true}, test);
    }
  });
  // Some nests are refused: a loop over a product of extents that are products
  // of parameters is split by quotients of quotients, for which there is no
  // proof of bounds yet.
  EXPECT_LE(test.counts().all_refused() * 15, test.counts().run);
}

// Tests kernels under random schedules, also with results that share memory
// with operands. Errors of lowering and verification are found without machine
// code in jit/schedule/testing:random_schedule_test.
TEST(RandomTest, RandomSchedules) {
  SeedTest test("RandomSchedules", SeedsOf(40));
  test.Run([&](uint64_t seed) {
    const schedule::RandomPair pair = schedule::MakeRandomPair(seed);
    const auto nest = schedule::Lower(pair.schedule);
    if (!nest.ok()) return test.Refuse(nest.status());
    if (const Status status = loops::Verify(*nest); !status.ok())
      return test.Refuse(Decline(DeclineReason::kNoProof, status.message()));
    test.Compile(*nest, pair.ToText(),
                 [&](const CompiledNest& code, bool is_at_end) {
                   return pair.Compare([&](std::span<void* const> buffers) {
                     return RunOnBuffers(*nest, pair.parameters, code, buffers,
                                         is_at_end);
                   });
                 });
  });
  EXPECT_LE(test.counts().all_refused(), test.counts().run + 2);
}

}  // namespace
}  // namespace ember::jit::llvm_ir
