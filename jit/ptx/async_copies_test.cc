// Tests asynchronous copies to a workgroup's memory: which stores become
// cp.async, and that results equal those of the evaluator of nests. The results
// of other nests are tested by //tests/nests:conformance_test and tests/cases.
#include <optional>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "hal/cuda/emulated/grid.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/ptx/testing/assembler.h"
#include "jit/ptx/testing/device.h"
#include "tensor/testing/random_values.h"

namespace ember::jit::ptx {
namespace {

using gpu::Bytes;

void ExpectAsEvaluated(const std::string& text) {
  SCOPED_TRACE(text);
  const loops::LoopNest nest = gpu::ParseOrDie(text);
  const std::shared_ptr<hal::Device> device = TestDevice();
  const Target target = Target::Of(device->target());
  CodeTexts texts;
  auto code = CompileNest(nest, target, &texts);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  if (HasAssembler()) {
    ASSERT_EQ(Assemble(texts.ptx, target.processor), "");
  }
  Bytes expected = gpu::SmallContents(nest, {});
  Bytes actual = expected;
  ASSERT_TRUE(loops::Evaluate(nest, {}, tensor::Pointers(expected)).ok());
  const Status ran = gpu::RunNest(device, nest, *std::move(code), {}, actual);
  ASSERT_TRUE(ran.ok()) << ran.ToString();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tensor::FirstDifferentElement(nest.buffers[i].type, expected[i],
                                            actual[i], 0, 0),
              "")
        << "%" << nest.buffers[i].name;
  }
}

// Returns a nest that copies to a ring of `slots` slots, several iterations
// ahead of its reader. `value`: the expression whose value iteration
// `ITERATION` copies to element i * 4 + l of its slot. `row`: number of
// elements of a row of %x.
std::string Ring(const std::string& type, int slots, const std::string& value,
                 int row = 256) {
  const std::string ahead = std::to_string(slots - 1);
  const std::string copy =
      "invocation i < 8 { vector l < 4 { async %tile[mod("
      "ITERATION, " +
      std::to_string(slots) + "), i * 4 + l] = " + value + " } } ";
  const std::string await = " await " + std::to_string(slots - 2) + " ";
  const auto at = [&](const std::string& iteration) {
    std::string text = copy;
    constexpr std::string_view kName = "ITERATION";
    for (size_t found = 0;
         (found = text.find(kName, found)) != std::string::npos;) {
      text.replace(found, kName.size(), iteration);
    }
    return text;
  };
  std::string text =
      "loops @ring(%x: input " + type + "[5, " + std::to_string(row) +
      "], %y: output " + type + "[5, 32]) { task %tile: " + type + "[" +
      std::to_string(slots) + ", 32] register %sum: " + type +
      "[32] phase t < 5 { invocation i < 32 { %sum[i] = 0:" + type + " } ";
  for (int iteration = 0; iteration + 1 < slots; ++iteration)
    text += (iteration > 0 ? await : "") + at(std::to_string(iteration));
  text += "for k < 7 {" + await + "if k + " + ahead + " < 7 { " +
          at("(k + " + ahead + ")") +
          "} invocation i < 32 { for j < 32 { %sum[i] += %tile[mod(k, " +
          std::to_string(slots) +
          "), j] } } } invocation i < 32 { %y[t, i] = %sum[i] } } }";
  return text;
}

// Runs the nest, expects the evaluator's results, and returns how many
// asynchronous copies its threads made; nullopt on a GPU, which does not count
// them.
std::optional<uint64_t> AsyncCopiesOf(const std::string& text) {
  const hal::cuda::GridStatistics before = hal::cuda::TotalStatistics();
  ExpectAsEvaluated(text);
  if (!Target::Of(TestDevice()->target()).is_emulated) return std::nullopt;
  return hal::cuda::TotalStatistics().async_copies - before.async_copies;
}

TEST(AsyncCopiesTest, Rings) {
  for (const int slots : {2, 3, 4, 5}) {
    const auto copies =
        AsyncCopiesOf(Ring("f32", slots, "%x[t, ITERATION * 32 + i * 4 + l]"));
    EXPECT_EQ(copies.value_or(5u * 7 * 8), 5u * 7 * 8);
  }
  // In rows of 250 elements some vectors are not aligned to the size of an
  // asynchronous copy. Only the results are checked.
  AsyncCopiesOf(Ring("f16", 3, "%x[t, ITERATION * 32 + i * 4 + l]", 250));
  AsyncCopiesOf(Ring("i8", 3, "%x[t, ITERATION * 32 + i * 4 + l]", 250));
}

TEST(AsyncCopiesTest, OfWhatIsOutside) {
  const auto copies = AsyncCopiesOf(
      Ring("f32", 3, "pad(%x[t + ITERATION - 3, i * 4 + l], 0.0)"));
  EXPECT_EQ(copies.value_or(5u * 7 * 8), 5u * 7 * 8);
  // cp.async can only fill with zeros, and only a whole copy. So pads with
  // another value, and vectors of which only some lanes are in bounds, become
  // loads and stores.
  const auto others = AsyncCopiesOf(
      Ring("f32", 3, "pad(%x[t + ITERATION - 3, i * 4 + l], 1.0)"));
  EXPECT_EQ(others.value_or(0u), 0u);
  AsyncCopiesOf(Ring("f32", 3, "pad(%x[t, ITERATION * 40 + i * 4 + l], 0.0)"));
}

}  // namespace
}  // namespace ember::jit::ptx
