// Returns the device on which the tests of jit/ptx run kernels: the emulated
// grid, or the GPU that EMBER_CUDA_TEST_DEVICE names, so that the same tests
// check a GPU where there is one.
//
//   EMBER_CUDA_TEST_DEVICE=cuda bazel-bin/jit/ptx/attention_test
//
// The whole process shares one device. The process ends with the reason if the
// device cannot be opened: a test that was asked for must not silently pass.
#ifndef EMBER_JIT_PTX_TESTING_DEVICE_H_
#define EMBER_JIT_PTX_TESTING_DEVICE_H_

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "hal/registry/drivers.h"

namespace ember::jit::ptx {

inline std::shared_ptr<hal::Device> TestDevice() {
  static const std::shared_ptr<hal::Device>& device = *[] {
    const char* name = std::getenv("EMBER_CUDA_TEST_DEVICE");
    auto opened = hal::CreateDevice(name == nullptr ? "cuda-emulated" : name,
                                    {.threads = 1});
    if (!opened.ok()) {
      std::fprintf(stderr, "EMBER_CUDA_TEST_DEVICE: %s\n",
                   opened.status().ToString().c_str());
      std::exit(2);
    }
    return new std::shared_ptr<hal::Device>(*std::move(opened));
  }();
  return device;
}

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_TESTING_DEVICE_H_
