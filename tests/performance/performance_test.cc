// Tests that no model executes many more instructions than before, and that
// each dispatch has a kernel. Tests of values do not show it: ShuffleNet once
// took 13 times as long, and all of them passed. The result is the same in each
// run and on any machine; `./dev bench --guard` measures times.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "base/file.h"
#include "tests/performance/code_properties.h"
#include "tests/performance/guarded_cpus.h"
#include "tests/performance/measure.h"
#include "tests/performance/model_code.h"
#include "tests/performance/model_instructions.h"
#include "tests/performance/models.h"

namespace ember::tests {

// GoogleTest calls these functions to print a model or CPU by its name.
void PrintTo(const GuardedModel& model, std::ostream* out) {
  *out << model.name;
}
void PrintTo(const GuardedCpu& cpu, std::ostream* out) { *out << cpu.name; }

namespace {

std::unique_ptr<TimedModel> MakeModel(const GuardedModel& model,
                                      const std::string& schedules = "") {
  onnx::ModelBuilder onnx_model = model.build();
  StatusOr<std::unique_ptr<TimedModel>> timed =
      TimedModel::Create(onnx_model, schedules);
  EXPECT_TRUE(timed.ok()) << timed.status().ToString();
  return timed.ok() ? *std::move(timed) : nullptr;
}

double MillionsOfInstructions(const GuardedModel& model, const GuardedCpu& cpu,
                              const std::string& schedules = "") {
  onnx::ModelBuilder onnx_model = model.build();
  const StatusOr<ModelInstructions> count =
      CountModel(onnx_model, cpu, schedules);
  EXPECT_TRUE(count.ok()) << count.status().ToString();
  return count.ok() ? 1e-6 * count->total : 0;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string ReplayText(const GuardedModel& model, const GuardedCpu& cpu) {
  return std::string("bazel run //tests/performance:measure_models -- ") +
         model.name + " --cpu=" + cpu.name + " --dump=DIR";
}

class PerformanceTest : public testing::TestWithParam<GuardedModel> {};

// Tests that each dispatch has a kernel, which means that LLVM compiles all of
// them, too.
TEST_P(PerformanceTest, HasKernels) {
  const GuardedModel& model = GetParam();
  const std::unique_ptr<TimedModel> timed = MakeModel(model);
  if (timed == nullptr) return;
  if (!timed->Interpreted().empty()) {
    ADD_FAILURE() << model.name
                  << ": expected kernels of tier 2 for all dispatches, found "
                     "none for "
                  << Joined(timed->Interpreted()) << "; " << model.ReplayText();
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PerformanceTest,
                         testing::ValuesIn(GuardedModels()),
                         [](const testing::TestParamInfo<GuardedModel>& info) {
                           return std::string(info.param.name);
                         });

// --- tests of code that is compiled for each guarded processor, whatever this
// machine's processor is

class CodeTest
    : public testing::TestWithParam<std::tuple<GuardedModel, GuardedCpu>> {};

TEST_P(CodeTest, ExecutesAsFewInstructions) {
  const auto& [model, cpu] = GetParam();
  const double found = MillionsOfInstructions(model, cpu);
  if (found <= model.most_instructions(cpu)) return;
  ADD_FAILURE() << model.name << ": expected at most "
                << model.most_instructions(cpu)
                << " million vector instructions, found " << found << "; "
                << ReplayText(model, cpu);
}

TEST_P(CodeTest, WaitsForAsLittle) {
  const auto& [model, cpu] = GetParam();
  onnx::ModelBuilder onnx_model = model.build();
  const StatusOr<std::vector<KernelCode>> kernels = CodeOf(onnx_model, cpu, "");
  ASSERT_TRUE(kernels.ok()) << kernels.status().ToString();
  CodeProperties found;
  for (const KernelCode& kernel : *kernels) found += kernel.properties;
  const std::string replay = ReplayText(model, cpu);
  const auto expect_at_most = [&](int most, int count, const char* what) {
    EXPECT_LE(count, most) << what << " in the innermost loops; " << replay;
  };
  expect_at_most(model.most_spills[static_cast<size_t>(cpu.kind)],
                 found.spilled_vectors, "accesses to spilled vectors");
  expect_at_most(0, found.gathers, "gathers");
  expect_at_most(0, found.scalar_arithmetic, "instructions on single floats");
  // The remaining checks would fail for NEON: it has no masks, so partial
  // vectors are stored to the stack lane by lane.
  if (cpu.kind == VectorKind::kNeon) return;
  expect_at_most(0, found.blocked_loads,
                 "loads of what was just stored in parts");
  expect_at_most(0, found.aliased_loads,
                 "loads from addresses that look like a store's");
}

INSTANTIATE_TEST_SUITE_P(
    Models, CodeTest,
    testing::Combine(testing::ValuesIn(GuardedModels()),
                     testing::ValuesIn(GuardedCpus())),
    [](const testing::TestParamInfo<CodeTest::ParamType>& info) {
      return std::string(std::get<0>(info.param).name) + "_" +
             std::get<1>(info.param).name;
    });

// Checks that the guard fails for bad schedules: loops as they are written,
// without vectors and tiles.
TEST(GuardTest, SeesBadSchedules) {
  const auto found =
      std::ranges::find_if(GuardedModels(), [](const GuardedModel& model) {
        return std::string(model.name) == "shuffled_groups";
      });
  ASSERT_NE(found, GuardedModels().end());
  const GuardedModel& model = *found;
  const std::unique_ptr<TimedModel> usual = MakeModel(model);
  ASSERT_NE(usual, nullptr);
  for (const std::string& name : usual->Dispatches()) {
    const Status written =
        WriteFileAtomically(testing::TempDir() + "/" + name + ".schedule",
                            "schedule @" + name + " {\n}\n");
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  EXPECT_GT(MillionsOfInstructions(model, GuardedCpus()[0], testing::TempDir()),
            2 * model.most_instructions(GuardedCpus()[0]));
  const std::unique_ptr<TimedModel> slow = MakeModel(model, testing::TempDir());
  ASSERT_NE(slow, nullptr);
  EXPECT_EQ(Joined(slow->Interpreted()), "");
}

}  // namespace
}  // namespace ember::tests
