// Tests kernels for devices that are stored in a module: they are made without
// the device, and run on one.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/spirv/testing/run_nest.h"
#include "tools/testing/cli_fixture.h"
#include "vm/api/ember.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCheck = " --expected=@want.npy --rtol=1e-4 --print=none";
constexpr char kCuda[] =
    "sm_80+subgroup32+shared166912+invocations1024+processors108";

class PrejitDeviceTest : public CliTest {
 protected:
  static void SetUpTestSuite() {
    CliTest::SetUpTestSuite();
    const Outcome expected =
        Run("vm-run model.vmfb --tier=0 --output=@want.npy --print=none");
    ASSERT_EQ(expected.exit_status, 0) << expected.output;
  }
};

TEST_F(PrejitDeviceTest, KernelsForVulkanRunThere) {
  if (jit::spirv::TestDevice() == nullptr)
    GTEST_SKIP() << jit::spirv::kNoDevice;
  const std::string target(jit::spirv::TestDevice()->target());
  const Outcome made = Run("vm-prejit model.vmfb --target='" + target +
                           "' -o vulkan.vmfb --verbose");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  EXPECT_THAT(made.output, HasSubstr(target + ": 5 kernels of 5, "));
  // The JIT is off, so the kernels that run must be those of the module.
  const std::string run = "vm-run vulkan.vmfb --device=vulkan --jit=off";
  const Outcome with = Run(run + " --allow-native --profile" + kCheck);
  EXPECT_EQ(with.exit_status, 0) << with.output;
  EXPECT_THAT(with.output, HasSubstr("native kernels for 5 of 5 dispatches"));
  EXPECT_THAT(with.output, HasSubstr("of the module, for vulkan"));
  EXPECT_THAT(with.output, HasSubstr("is as expected"));
  EXPECT_THAT(with.output, Not(HasSubstr("| 0    | ")));
  // Kernels for a device need the user's permission, too, because their code
  // can access all of the device's memory of this process.
  const Outcome without = Run(run + kCheck);
  EXPECT_EQ(without.exit_status, 0) << without.output;
  EXPECT_THAT(without.output, HasSubstr("native kernels are not used"));
  // If there is a JIT, its kernels may replace those of the module. The results
  // must be right all the same.
  const Outcome both =
      Run("vm-run vulkan.vmfb --device=vulkan --tier=2 --allow-native" +
          std::string(kCheck));
  EXPECT_EQ(both.exit_status, 0) << both.output;
  EXPECT_THAT(both.output, HasSubstr("is as expected"));
  // A session on the host does not use kernels that were made for a device.
  const Outcome host =
      Run("vm-run vulkan.vmfb --tier=0 --allow-native" + std::string(kCheck));
  EXPECT_EQ(host.exit_status, 0) << host.output;
  EXPECT_THAT(host.output, HasSubstr("this machine lacks vulkan1.3"));
}

// Runs the model in a session of the C API with these options. Returns the
// first result, or an empty vector after a failure.
std::vector<float> RunBy(const EmberSessionOptions& options,
                         const std::string& path, std::string* native) {
  const EmberApi& api = *ember_get_api(EMBER_API_VERSION);
  EmberModule* module = nullptr;
  EXPECT_EQ(api.module_load_file(path.c_str(), &module), EMBER_OK)
      << api.error_message();
  EmberSession* session = nullptr;
  EXPECT_EQ(api.session_create(module, &options, &session), EMBER_OK)
      << api.error_message();
  api.module_release(module);
  if (session == nullptr) return {};
  *native = api.session_native_kernels(session);
  std::vector<float> image(28 * 28);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<float>(i % 17) / 17;
  const int64_t dims[4] = {1, 1, 28, 28};
  const EmberTensor tensor = {EMBER_F32, 4, dims, image.data(),
                              image.size() * sizeof(float)};
  EXPECT_EQ(api.session_set_input(session, 0, &tensor), EMBER_OK)
      << api.error_message();
  EXPECT_EQ(api.session_run(session), EMBER_OK) << api.error_message();
  EmberTensor result = {};
  EXPECT_EQ(api.session_result(session, 0, &result), EMBER_OK);
  const auto* const data = static_cast<const float*>(result.data);
  const std::vector<float> values(data,
                                  data + result.byte_size / sizeof(float));
  api.session_release(session);
  return values;
}

// This test runs the model through the C API from a folder without
// libember_jit.so, so that only the module's kernels can run.
TEST_F(PrejitDeviceTest, TheCApiRunsThem) {
  if (jit::spirv::TestDevice() == nullptr)
    GTEST_SKIP() << jit::spirv::kNoDevice;
  const std::string target(jit::spirv::TestDevice()->target());
  const Outcome made =
      Run("vm-prejit model.vmfb --target='" + target + "' -o api.vmfb");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  const std::string folder = Folder(), path = folder + "/api.vmfb";
  EmberSessionOptions options = {};
  options.struct_size = sizeof(options);
  options.threads = 1;
  options.library_folder = folder.c_str();
  std::string native;
  const std::vector<float> want = RunBy(options, path, &native);
  EXPECT_THAT(native, HasSubstr("native kernels are not allowed"));
  options.device = "vulkan";
  options.tier = EMBER_TIER_AUTO;
  options.allow_native = 1;
  const std::vector<float> got = RunBy(options, path, &native);
  EXPECT_THAT(native, HasSubstr("native kernels for 5 of 5 dispatches"));
  EXPECT_THAT(native, HasSubstr("(vulkan1.3+"));
  ASSERT_EQ(got.size(), want.size());
  ASSERT_GT(want.size(), 0u);
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-5) << i;
  // The options forbid the file's kernels, and there is no JIT. So the
  // interpreter must run everything.
  options.allow_native = 0;
  EmberModule* module = nullptr;
  EmberSession* session = nullptr;
  const EmberApi& api = *ember_get_api(EMBER_API_VERSION);
  ASSERT_EQ(api.module_load_file(path.c_str(), &module), EMBER_OK);
  EXPECT_EQ(api.session_create(module, &options, &session), EMBER_NOT_FOUND)
      << api.error_message();
  api.module_release(module);
}

TEST_F(PrejitDeviceTest, WhatADeviceLacksIsLeftOut) {
  if (jit::spirv::TestDevice() == nullptr)
    GTEST_SKIP() << jit::spirv::kNoDevice;
  const Outcome made =
      Run("vm-prejit model.vmfb --target=vulkan1.3+subgroup64+shared1048576"
          "+invocations4096+iterations65535 -o other.vmfb");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  const Outcome run =
      Run("vm-run other.vmfb --device=vulkan --jit=off --allow-native" +
          std::string(kCheck));
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("the device lacks subgroup64, "));
}

TEST_F(PrejitDeviceTest, PtxIsMadeWithoutADevice) {
  const Outcome made = Run(std::string("vm-prejit model.vmfb --target=host,") +
                           kCuda + " -o cuda.vmfb");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  EXPECT_THAT(made.output,
              HasSubstr(std::string(kCuda) + ": 5 kernels of 5, "));
  EXPECT_THAT(Run("vm-dump cuda.vmfb --part=kernels").output,
              HasSubstr(std::string("target ") + kCuda + ": "));
  EXPECT_THAT(Read("cuda.vmfb"), HasSubstr(".target sm_80"));
  EXPECT_THAT(Read("cuda.vmfb"), HasSubstr(".visible .entry phase0("));
  const Outcome host =
      Run("vm-run cuda.vmfb --tier=0 --allow-native --profile" +
          std::string(kCheck));
  EXPECT_EQ(host.exit_status, 0) << host.output;
  EXPECT_THAT(host.output, HasSubstr("native kernels for "));
  EXPECT_THAT(
      Run("vm-prejit model.vmfb --target=sm_80+emulated -o x.vmfb").output,
      HasSubstr("expected a device that files can have code of"));
  EXPECT_THAT(
      Run("vm-prejit model.vmfb --target=sm_a -o x.vmfb").output,
      HasSubstr("expected vulkan, sm_, opencl or metal with a version"));
}

}  // namespace
}  // namespace ember::tools
