// Random dispatches under the default schedules of several machines, compiled,
// against the definition of the dispatch.
//
//   SEED=17 bazel run //jit/llvm:random_test
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/testing.h"
#include "jit/loops/text.h"
#include "jit/schedule/computation.h"
#include "jit/schedule/default_schedule.h"
#include "jit/schedule/lowering.h"
#include "jit/schedule/schedule.h"
#include "tensor/evaluator.h"
#include "tensor/random_dispatch.h"
#include "tensor/scalar.h"
#include "tensor/text.h"

namespace ember::jit {
namespace {

using Bytes = std::vector<std::vector<uint8_t>>;

struct Expected {
  tensor::RandomCase random;
  Bytes outputs;  // and inputs
  Status status;
};

Expected Define(uint64_t seed) {
  Expected result;
  result.random = tensor::MakeRandomCase(seed, {});
  result.outputs = result.random.MakeBuffers();
  result.status =
      tensor::Evaluate(result.random.dispatch, result.random.parameters,
                       tensor::Pointers(result.outputs), {});
  return result;
}

// "" or what is wrong.
std::string RunOnce(const Expected& expected, const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters,
                    const CompiledNest& code, bool is_at_end) {
  Bytes bytes = expected.random.MakeBuffers();
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
  return tensor::FirstDifference(expected.random, expected.outputs, bytes);
}

void ExpectSame(const Expected& expected, const schedule::Schedule& schedule,
                const std::vector<int64_t>& parameters, int& declined) {
  auto nest = schedule::Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  for (const Effort effort : {Effort::kFast, Effort::kFull}) {
    auto code = TestCompiler().Compile(*nest, {.effort = effort});
    if (code.status().code() == StatusCode::kUnimplemented) {
      ++declined;
      return;
    }
    ASSERT_TRUE(code.ok()) << code.status().ToString() << loops::ToText(*nest);
    for (const bool is_at_end : {false, true}) {
      ASSERT_EQ(RunOnce(expected, *nest, parameters, **code, is_at_end), "")
          << (effort == Effort::kFast ? "fast" : "full") << "\n"
          << tensor::Print(expected.random.dispatch) << schedule.ToText()
          << loops::ToText(*nest);
    }
  }
}

TEST(RandomTest, DispatchesUnderDefaultSchedules) {
  const char* const given = std::getenv("SEED");
  const uint64_t first = given ? std::strtoull(given, nullptr, 0) : 1;
  const char* const wanted = std::getenv("COUNT");
  const uint64_t count = wanted  ? std::strtoull(wanted, nullptr, 0)
                         : given ? 1
                                 : 60;
  int compiled = 0, declined = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("replay: SEED=" + std::to_string(seed) +
                 " bazel run //jit/llvm:random_test");
    const Expected expected = Define(seed);
    for (const char* target : {"x86_64-linux", "x86_64-linux+avx512f+fma"}) {
      for (const bool is_specialised : {false, true}) {
        const std::vector<int64_t> constants = is_specialised
                                                   ? expected.random.parameters
                                                   : std::vector<int64_t>();
        schedule::Schedule schedule(
            schedule::Disassemble(expected.random.dispatch, constants));
        ASSERT_TRUE(
            schedule::ScheduleByModel(CpuModel::Of(target), schedule).ok());
        ExpectSame(expected, schedule,
                   is_specialised ? std::vector<int64_t>()
                                  : expected.random.parameters,
                   declined);
        if (::testing::Test::HasFatalFailure()) return;
        ++compiled;
      }
    }
  }
  EXPECT_LT(declined, compiled / 2 + 4);
}

}  // namespace
}  // namespace ember::jit
