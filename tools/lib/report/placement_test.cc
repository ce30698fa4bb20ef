#include "tools/lib/report/placement.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/lib/report/profile.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/testing/fake_device.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

TEST(PlacementTest, CountsDispatchesThatRan) {
  const std::vector<vm::SiteProfile> sites = {
      {.dispatch = "a", .calls = 2, .device_calls = 2},
      {.dispatch = "b", .calls = 4, .device_calls = 3},
      {.dispatch = "c", .calls = 1},
      {.dispatch = "never"}};
  const Placement placement = PlacementOf(sites);
  EXPECT_EQ(placement.Text("vulkan"),
            "2 of 3 dispatches ran on the CPU, not on vulkan");
  EXPECT_FALSE(placement.is_on_device());
  EXPECT_TRUE(PlacementOf({sites.data(), 1}).is_on_device());
  EXPECT_EQ(PlacementOf({sites.data(), 1}).Text("vulkan"),
            "all 1 dispatches ran on vulkan");
  EXPECT_FALSE(PlacementOf({}).is_on_device());
  EXPECT_EQ(WhereText(sites[0], "vulkan"), "vulkan");
  EXPECT_EQ(WhereText(sites[1], "vulkan"), "vulkan 75%");
  EXPECT_EQ(WhereText(sites[2], "vulkan"), "cpu");
}

TEST(PlacementTest, WhatTheHostDidAndWhy) {
  const auto module = *vm::Module::FromDefinition(vm::SampleNamed("static"));
  const auto device = std::make_shared<vm::FakeDevice>(vm::FakeDeviceOptions{});
  const auto tiering = std::make_shared<vm::Tiering>(
      module,
      std::make_shared<vm::FakeProvider>(
          vm::FakeProviderOptions{.declined = {"gemm"}}),
      vm::Tiering::Eager(2));
  const auto session =
      *vm::Session::Create(module, {.device = device,
                                    .device_support = vm::NewDeviceSupport,
                                    .tiering = tiering});
  const vm::Tensor x = *vm::Tensor::Allocate(DType::kF32, {2, 3});
  std::vector<vm::Tensor> results;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(session->Run({&x, 1}, &results).ok());
  const std::string text = PlacementText(*session, tiering.get(), "fake");
  EXPECT_THAT(text,
              HasSubstr("1 of 2 dispatches ran on the CPU, not on fake."));
  EXPECT_THAT(text, HasSubstr("| dispatch @gemm | main    |         1.0 |"));
  EXPECT_THAT(text, HasSubstr("|               32.0 | declined for a test |"));
  const std::string memory = DeviceMemoryText(
      *session, {.peak_bytes = 3'500'000, .hidden_peak_bytes = 3'000'000},
      "fake");
  EXPECT_THAT(memory, HasSubstr("Buffers of fake took 3.500 MB at most, 0.500 "
                                "of them where the host sees them; the plan:"));
}

}  // namespace
}  // namespace ember::tools
