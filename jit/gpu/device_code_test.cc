#include "jit/gpu/device_code.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace ember::jit::gpu {
namespace {

// The converted code lists the phases of the prologue and of the nest in order,
// each with all fields that a launch needs.
TEST(DeviceCodeTest, PhasesHaveWhatEmittersSay) {
  DeviceCode code;
  code.format = "ptx";
  code.code = {'.', 'v'};
  code.prologue.resize(1);
  code.prologue[0].entry_point = "prologue0";
  PhaseCode& made = code.phases.emplace_back();
  made.entry_point = "phase0";
  made.bindings = {{.buffer = 3}, {.buffer = 1, .is_written = true}};
  made.has_checks = true;
  made.invocations = 128;
  made.tasks_per_workgroup = 2;
  made.dynamic_shared_bytes = 1024;
  made.iterations = 65535;
  const std::vector<vm::BoxMap> boxes = {{.binding = 0,
                                          .box = {8, 4, 64},
                                          .order = {1, 0, 2},
                                          .is_swizzled = true},
                                         {.binding = 1, .box = {32}}};
  made.boxes = boxes;
  made.most_workgroups = 132;
  const vm::KernelCode found = KernelCodeOf(std::move(code));
  EXPECT_EQ(found.format, vm::KernelFormat::kPtx);
  EXPECT_EQ(found.bytes.size(), 2u);
  vm::DevicePhase prologue;
  prologue.entry_point = "prologue0";
  vm::DevicePhase phase;
  phase.entry_point = "phase0";
  phase.bindings = {{3, false}, {1, false}};
  phase.has_checks = true;
  phase.invocations = 128;
  phase.tasks_per_workgroup = 2;
  phase.shared_bytes = 1024;
  phase.most_iterations = 65535;
  phase.boxes = boxes;
  phase.most_workgroups = 132;
  ASSERT_EQ(found.device.size(), 2u);
  EXPECT_EQ(found.device[0], prologue);
  EXPECT_EQ(found.device[1], phase);
}

}  // namespace
}  // namespace ember::jit::gpu
