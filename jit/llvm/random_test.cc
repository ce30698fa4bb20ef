// Random loop nests against the evaluator; random dispatches under the default
// schedules of several machines against the definition of the dispatch.
//
//   EMBER_SEEDS=1000 bazel run //jit/llvm:random_test
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/testing.h"
#include "jit/loops/evaluator.h"
#include "jit/loops/random_nest.h"
#include "jit/loops/text.h"
#include "jit/schedule/collapse_axes.h"
#include "jit/schedule/computation.h"
#include "jit/schedule/default_schedule.h"
#include "jit/schedule/lowering.h"
#include "jit/schedule/random_model_dispatch.h"
#include "jit/schedule/schedule.h"
#include "jit/schedule/split_dims.h"
#include "tensor/evaluator.h"
#include "tensor/random_dispatch.h"
#include "tensor/random_values.h"
#include "tensor/scalar.h"
#include "tensor/text.h"

namespace ember::jit {
namespace {

using Bytes = std::vector<std::vector<uint8_t>>;

// How to run the seed again. It is shown too if the code that was made, or
// LLVM, ends the process.
char replay[128];
void ShowReplay(int signal) {
  [[maybe_unused]] const auto written = write(2, replay, std::strlen(replay));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}
std::string ReplayOf(const char* test, uint64_t seed) {
  std::snprintf(replay, sizeof replay,
                "replay: EMBER_SEED=%llu bazel run //jit/llvm:random_test -- "
                "--gtest_filter=*%s\n",
                static_cast<unsigned long long>(seed), test);
  for (int signal : {SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGABRT})
    std::signal(signal, ShowReplay);
  return replay;
}

// Inputs, and what they give.
struct Expected {
  Bytes initial;
  Bytes final;
  Status status;
  std::function<std::string(const Bytes& found)> difference;
};

// "" or what is wrong.
std::string RunOnce(const Expected& expected, const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters,
                    const CompiledNest& code, bool is_at_end) {
  Bytes bytes = expected.initial;
  const Buffers buffers = MakeBuffers(
      nest, parameters,
      [&](const loops::Buffer& buffer, size_t number, int64_t element) {
        return number < bytes.size() ? tensor::LoadElement(bytes[number].data(),
                                                           element, buffer.type)
                                     : SmallValue(buffer, number, element);
      },
      is_at_end);
  const std::string error = RunCompiled(nest, code, parameters, buffers);
  if (error.empty() != expected.status.ok())
    return "expected " + expected.status.ToString() + ", found '" + error + "'";
  if (!error.empty()) return "";
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char* data = static_cast<const char*>(buffers[i]->data());
    bytes[i].assign(data, data + buffers[i]->bytes());
  }
  return expected.difference(bytes);
}

// With each effort. False if the nest is declined.
bool ExpectSame(const Expected& expected, const loops::LoopNest& nest,
                const std::vector<int64_t>& parameters) {
  for (const Effort effort : {Effort::kFast, Effort::kFull}) {
    auto code = TestCompiler().Compile(nest, {.effort = effort});
    if (code.status().code() == StatusCode::kUnimplemented) {
      // The only reason there is for what these nests contain.
      EXPECT_NE(code.status().message().find("float-remainder"),
                std::string_view::npos)
          << code.status().message();
      return false;
    }
    EXPECT_TRUE(code.ok()) << code.status().ToString() << loops::ToText(nest);
    if (!code.ok()) return true;
    for (const bool is_at_end : {false, true}) {
      const std::string wrong =
          RunOnce(expected, nest, parameters, **code, is_at_end);
      EXPECT_EQ(wrong, "") << (effort == Effort::kFast ? "fast" : "full")
                           << "\n"
                           << loops::ToText(nest);
      if (!wrong.empty()) return true;
    }
  }
  return true;
}

TEST(RandomTest, Nests) {
  const tensor::SeedRange seeds = tensor::Seeds(50);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf("Nests", seed));
    const loops::RandomNest random = loops::MakeRandomNest(
        seed, {.float_remainders = false, .simplify = seed % 2 == 0});
    Expected expected{.initial = random.MakeBuffers(),
                      .final = random.MakeBuffers()};
    expected.status = loops::Evaluate(random.nest, random.parameters,
                                      tensor::Pointers(expected.final));
    expected.difference = [&](const Bytes& found) {
      return loops::FirstDifference(random, expected.final, found);
    };
    // Nothing in these nests is declined.
    EXPECT_TRUE(ExpectSame(expected, random.nest, random.parameters));
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

Expected Define(const tensor::RandomCase& random) {
  Expected expected{.initial = random.MakeBuffers(),
                    .final = random.MakeBuffers()};
  expected.status = tensor::Evaluate(random.dispatch, random.parameters,
                                     tensor::Pointers(expected.final), {});
  return expected;
}

// False if it is declined.
bool ExpectScheduled(const Expected& expected, const tensor::RandomCase& random,
                     const char* target, bool is_specialised,
                     const schedule::ModelOptions& options = {}) {
  const std::vector<int64_t> none;
  schedule::Computation computation = schedule::Disassemble(
      random.dispatch, is_specialised ? random.parameters : none);
  // As kernels are made, with weights that are constants now and then.
  for (size_t i = 1; i < random.dispatch.input_count(); ++i) {
    if (random.parameters.empty() && random.seed % 2 == 0)
      schedule::MakeConstant(computation.buffers[i], expected.initial[i]);
  }
  schedule::CollapseAxes(computation);
  schedule::SplitDims(computation);
  schedule::Schedule schedule(std::move(computation));
  const Status chosen =
      schedule::ScheduleByModel(CpuModel::Of(target), schedule, options);
  EXPECT_TRUE(chosen.ok()) << chosen.ToString();
  SCOPED_TRACE(tensor::Print(random.dispatch) + schedule.ToText());
  const auto nest = schedule::Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  return nest.ok() &&
         ExpectSame(expected, *nest, is_specialised ? none : random.parameters);
}

TEST(RandomTest, DispatchesUnderDefaultSchedules) {
  int declined = 0;
  const tensor::SeedRange seeds = tensor::Seeds(25);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf("DefaultSchedules", seed));
    const tensor::RandomCase random =
        tensor::MakeRandomCase(seed, {.subnormals = true});
    Expected expected = Define(random);
    expected.difference = [&](const Bytes& found) {
      return tensor::FirstDifference(random, expected.final, found);
    };
    for (const char* target : {"x86_64-linux", "x86_64-linux+avx512f+fma"}) {
      for (const bool is_specialised : {false, true}) {
        declined += !ExpectScheduled(expected, random, target, is_specialised);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    }
  }
  EXPECT_LE(declined, static_cast<int>(seeds.end - seeds.begin) * 2 + 2);
}

// What models consist of: register tiles, dot loops, copies that widen.
TEST(RandomTest, ModelsUnderDefaultSchedules) {
  const tensor::SeedRange seeds = tensor::Seeds(40);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf("ModelsUnderDefaultSchedules", seed));
    const tensor::RandomCase random = schedule::MakeRandomModelDispatch(seed);
    Expected expected = Define(random);
    // Where functions are polynomials, results differ by their errors.
    expected.difference = [&](const Bytes& found) {
      return tensor::FirstDifference(random, expected.final, found, 1e-4, 1e-4);
    };
    for (const char* target :
         {"x86_64-linux+avx2+fma", "aarch64-linux+neon+dotprod"}) {
      EXPECT_TRUE(
          ExpectScheduled(expected, random, target, false, {.exact = true}));
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
  }
}

}  // namespace
}  // namespace ember::jit
