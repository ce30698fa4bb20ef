// A device for tests that runs modules of WGSL with WebGPU: Dawn for Node, in a
// process of its own (runner.mjs).
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          CreateWebGpuDevice());
//   device->target();   // "webgpu+shared32768+invocations256+buffers12"
//
// Environment variables: EMBER_WEBGPU is a folder in which the npm package
// `webgpu` is installed; EMBER_WEBGPU_ICD, which may be missing, describes the
// Vulkan driver to use. `./dev web shaders` sets both.
//
// Memory is the host's and is not counted. Each dispatch copies its bindings to
// buffers of WebGPU and back, so that neither offsets nor sizes need an
// alignment; it is done when Submit returns. Bindings that overlap are refused
// where one of them is written, as WebGPU refuses them.
//
// Thread-safe as hal::Device says, except that one thread at a time submits.
// kNotFound: there is no package, no Node, or no adapter.
#ifndef EMBER_JIT_WGSL_TESTING_WEBGPU_DEVICE_H_
#define EMBER_JIT_WGSL_TESTING_WEBGPU_DEVICE_H_

#include <memory>

#include "base/status.h"
#include "hal/device.h"

namespace ember::jit::wgsl {

// The format of executables of the device. It is OpenCL's, since kernel images
// have no format for WGSL yet (vm/format/kernel_image.h).
inline constexpr char kTestFormat[] = "opencl-c";

StatusOr<std::shared_ptr<hal::Device>> CreateWebGpuDevice();

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_TESTING_WEBGPU_DEVICE_H_
