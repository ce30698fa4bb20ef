#include "tools/lib/tuning/model_tasks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/module.h"

namespace ember::tools {
namespace {

constexpr const char* kTarget = "x86_64-linux+avx2";

std::shared_ptr<const vm::Module> Sample(const char* name) {
  auto module = vm::Module::FromDefinition(vm::SampleNamed(name));
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return *std::move(module);
}

// The sample's loop calls its dispatch three times. The dispatch's parameter is
// the number of rows of the run's input.
TEST(ModelTasks, CountsCallsOfARun) {
  const auto tasks = TasksOf(Sample("loop"), kTarget, {});
  ASSERT_TRUE(tasks.ok()) << tasks.status().ToString();
  ASSERT_EQ(tasks->size(), 1u);
  EXPECT_EQ((*tasks)[0].calls, 3);
  EXPECT_EQ((*tasks)[0].request.parameters, std::vector<int64_t>{1});
  EXPECT_EQ((*tasks)[0].request.target, kTarget);
}

TEST(ModelTasks, EqualDispatchesAreOneTask) {
  auto tasks = TasksOf(Sample("loop"), kTarget, {});
  ASSERT_TRUE(tasks.ok());
  std::vector<tune::Task> all;
  MergeTasks(*tasks, all);
  MergeTasks(*tasks, all);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].calls, 6);
  (*tasks)[0].request.target = "aarch64-linux";
  MergeTasks(*tasks, all);
  EXPECT_EQ(all.size(), 2u);
}

}  // namespace
}  // namespace ember::tools
