// Programs of MSL that this machine runs in tests: a C++ compiler compiles them
// with the header shim/metal_stdlib, and the emulated grid runs their
// threadgroups (hal/cuda/emulated/grid.h).
//
//   std::string problem;
//   auto program = MslProgram::Compile("kernel void f(…) {…}", problem);
//   const MslKernel* const kernel = program->Find("f");
//   problem = kernel->Run({4, 1, 1}, {64, 1, 1}, 256, addresses);
//
// EMBER_TEST_CXX names another compiler than c++, with options. Errors are
// texts, which may have several lines. Thread-safe.
#ifndef EMBER_HAL_METAL_TESTING_MSL_PROGRAM_H_
#define EMBER_HAL_METAL_TESTING_MSL_PROGRAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/cuda/emulated/grid.h"
#include "hal/metal/api/functions.h"

namespace ember::hal::metal::fake {

using BufferAddresses = std::array<void*, kBufferIndices>;

struct MslKernel {
  std::string name;
  // The indices of the buffers that the kernel has as arguments.
  std::vector<uint32_t> buffers;
  bool has_threadgroup_memory = false;  // [[threadgroup(0)]]
  // Value of max_total_threads_per_threadgroup; 0 if the kernel has none.
  uint64_t max_threads = 0;
  // Text of the call's arguments in C++.
  std::string call;
  cuda::GridKernel function = nullptr;

  // Runs all threads of all threadgroups. Returns an empty text or an error.
  std::string Run(const Extent& groups, const Extent& threads,
                  uint64_t threadgroup_bytes,
                  const BufferAddresses& addresses) const;
};

class MslProgram {
 public:
  // Compiles a program. Returns null and sets `problem` if the compiler refuses
  // it, or if it uses what the shim lacks.
  static std::shared_ptr<const MslProgram> Compile(std::string_view source,
                                                   std::string& problem);
  ~MslProgram();
  MslProgram(const MslProgram&) = delete;
  MslProgram& operator=(const MslProgram&) = delete;

  // Returns the kernel, which the program owns; null if there is none.
  const MslKernel* Find(std::string_view name) const;

 private:
  MslProgram() = default;

  std::vector<MslKernel> kernels_;
  void* library_ = nullptr;
};

}  // namespace ember::hal::metal::fake

#endif  // EMBER_HAL_METAL_TESTING_MSL_PROGRAM_H_
