#include "jit/wgsl/testing/run_nest.h"

#include <utility>

#include "base/check.h"
#include "jit/wgsl/source.h"
#include "jit/wgsl/target.h"
#include "jit/wgsl/testing/webgpu_device.h"

namespace ember::jit::wgsl {
namespace {

const StatusOr<std::shared_ptr<hal::Device>>& FirstDevice() {
  static const StatusOr<std::shared_ptr<hal::Device>>& device =
      *new StatusOr<std::shared_ptr<hal::Device>>([] {
        auto made = CreateWebGpuDevice();
        EMBER_CHECK(made.ok() || made.status().code() == StatusCode::kNotFound)
            << made.status().ToString();
        return made;
      }());
  return device;
}

}  // namespace

std::shared_ptr<hal::Device> TestDevice() {
  return FirstDevice().ok() ? *FirstDevice() : nullptr;
}

std::string WhyNoDevice() {
  return std::string(FirstDevice().status().message());
}

bool KeepsSubnormals() {
  static const bool keeps = [] {
    const loops::LoopNest nest = gpu::ParseOrDie(
        "loops @sums(%x: input f32[1], %a: output f32[1]) {\n"
        "  phase i < 1 { %a[i] = %x[i] + %x[i] }\n}");
    gpu::Bytes buffers = {{1, 0, 0, 0}, std::vector<uint8_t>(4)};
    const Status status = RunOnDevice(nest, {}, buffers);
    EMBER_CHECK(status.ok()) << status.ToString();
    return buffers[1][0] == 2;
  }();
  return keeps;
}

Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters,
                   gpu::Bytes& buffers) {
  EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
                         EmitModule(nest, Target::Of(TestDevice()->target())));
  code.format = kTestFormat;
  return gpu::RunNest(TestDevice(), nest, std::move(code), parameters, buffers);
}

}  // namespace ember::jit::wgsl
