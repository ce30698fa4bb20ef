// Tests which kernels a session gets, with a provider in place of the JIT.
#include "vm/runtime/dispatch/session_kernels.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "hal/cpu/device.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/module.h"
#include "vm/runtime/testing/fake_device.h"

namespace ember::vm {
namespace {

class SilentProvider : public KernelProvider {
 public:
  void RequestKernel(const KernelRequest& /*request*/,
                     std::shared_ptr<KernelSlot> /*slot*/) override {}
};

class SessionKernelsTest : public testing::Test {
 protected:
  // Opens kernels, and keeps the settings that the provider was asked for.
  StatusOr<SessionKernels> Open(KernelOptions options) {
    calls_ = 0;
    options.find_provider = [this](CompileSettings& settings)
        -> StatusOr<std::shared_ptr<KernelProvider>> {
      ++calls_;
      settings_ = settings;
      if (!has_provider_) return NotFoundError("no JIT");
      return std::shared_ptr<KernelProvider>(
          std::make_shared<SilentProvider>());
    };
    return OpenSessionKernels(module_, std::move(options));
  }

  const std::shared_ptr<const Module> module_ =
      *Module::FromDefinition(SampleNamed("loop"));
  const std::shared_ptr<hal::Device> host_ =
      *hal::CreateCpuDevice({.threads = 1});
  const std::shared_ptr<hal::Device> device_ =
      std::make_shared<FakeDevice>(FakeDeviceOptions{});
  bool has_provider_ = true;
  CompileSettings settings_;
  int calls_ = 0;
};

TEST_F(SessionKernelsTest, TheInterpreterNeedsNoProvider) {
  const auto kernels = Open({.device = host_});
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(kernels->tiering, nullptr);
  EXPECT_FALSE(kernels->compiles);
  EXPECT_FALSE(kernels->natives.has_value());
}

TEST_F(SessionKernelsTest, AutoCompilesInTheBackgroundOnTheHostOnly) {
  const KernelOptions options = {.tier = KernelTier::kAuto,
                                 .location = CompileLocation::kWorkerIfThere,
                                 .device = host_};
  auto kernels = Open(options);
  ASSERT_TRUE(kernels.ok());
  EXPECT_TRUE(kernels->compiles);
  EXPECT_NE(kernels->tiering, nullptr);
  EXPECT_TRUE(settings_.in_background);
  EXPECT_EQ(settings_.location, CompileLocation::kWorkerIfThere);
  EXPECT_GE(settings_.threads, 1);
  KernelOptions on_device = options;
  on_device.device = device_;
  ASSERT_TRUE(Open(on_device).ok());
  EXPECT_FALSE(settings_.in_background);
  EXPECT_EQ(settings_.location, CompileLocation::kThread);
  EXPECT_EQ(settings_.threads, 0);
}

TEST_F(SessionKernelsTest, AutoRunsWithoutAProviderIfItCan) {
  has_provider_ = false;
  KernelOptions options = {.tier = KernelTier::kAuto, .device = host_};
  auto kernels = Open(options);
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(kernels->warning, "tier 0 only: no JIT");
  EXPECT_FALSE(kernels->compiles);
  EXPECT_EQ(kernels->tiering, nullptr);
  options.device = device_;
  EXPECT_EQ(Open(options).status().message(), "no JIT");
  options.permission.kind = NativePermission::kAny;
  kernels = Open(options);
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(kernels->warning, "only kernels of files: no JIT");
  EXPECT_TRUE(kernels->natives.has_value());
}

TEST_F(SessionKernelsTest, OtherTiersNeedAProvider) {
  has_provider_ = false;
  for (const KernelTier tier :
       {KernelTier::kBaseline, KernelTier::kOptimized}) {
    EXPECT_EQ(Open({.tier = tier, .device = host_}).status().message(),
              "no JIT");
  }
}

TEST_F(SessionKernelsTest, NativeKernelsNeedPermission) {
  const auto kernels =
      Open({.device = host_,
            .permission = {.kind = NativePermission::kAny, .key = {}}});
  ASSERT_TRUE(kernels.ok());
  ASSERT_TRUE(kernels->natives.has_value());
  // The permission is given, but the module contains no native kernels.
  EXPECT_EQ(kernels->natives->kernels, 0);
  EXPECT_NE(kernels->tiering, nullptr);
  EXPECT_FALSE(kernels->compiles);
}

}  // namespace
}  // namespace ember::vm
