// Compiled code that a device can run, made from a definition that names its
// format. Each driver documents the formats it takes and answers Unimplemented
// to the others:
//   "host-function"  cpu: `function`, code in this process (the JIT's output)
//   "spirv"          vulkan: `code` is a module whose `entry_point` is a compute
//                    shader: storage buffers in descriptor set 0, binding i is
//                    binding i; parameter i is 8 bytes of push constants at
//                    8 * i; workgroups are `chunks`
//   "ptx"            cuda: `code` is a module of PTX with an entry `entry_point`,
//                    whose parameters are 8 bytes each: the address of each
//                    binding, then the parameters; then 128 bytes aligned to 64
//                    (a CUtensorMap) for each of `maps`; blocks are `chunks`,
//                    of `workgroup` threads, with `shared_bytes` of dynamic
//                    memory
//   "cubin"          cuda: the same, compiled for the device
//   "msl"            metal: `code` is a program of the Metal Shading Language as
//                    text with a kernel function `entry_point`
//                    (hal/metal/device.h)
//   "emulated-grid"  cuda-emulated: the same as code of this process
//                    (hal/cuda/emulated/grid.h)
//   "opencl-c"       opencl: `code` is a program of OpenCL C with a kernel
//                    function `entry_point` (hal/opencl/device.h)
//
// Ownership: the device's copy; a host function's code must outlive the
// executable. Thread-safety: immutable.
#ifndef EMBER_HAL_EXECUTABLE_H_
#define EMBER_HAL_EXECUTABLE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace ember::hal {

// Runs one chunk of a dispatch on the host. `parameters` are the dispatch's
// scalar parameters; `buffers` has one pointer per binding; `chunk` is the
// chunk's number, below the chunk count of the command; `worker` is a number
// below the runner's worker_count(), which selects scratch memory.
using HostFunction = void (*)(const int64_t* parameters, void* const* buffers,
                              int64_t chunk, int32_t worker);

// Describes how code copies boxes of a binding, a row-major contiguous tensor,
// to a workgroup's memory. Each dispatch gives the tensor's extents
// (DispatchArguments::map_extents). Only for "ptx" and similar formats.
struct BoxMap {
  static constexpr int kMaxDims = 5;
  int binding = 0;
  int element_bytes = 1;  // number of bytes of an element: 1, 2, 4 or 8
  int dims = 1;
  // Number of elements of the box along each dim, the outermost first; each
  // number is 1 to 256. The size in bytes of a row (the innermost dim) must be
  // a multiple of 16.
  std::array<uint32_t, kMaxDims> box = {};
  // The numbers of the tensor's dims in the order in which the box has them in
  // the workgroup's memory, the outermost first. The innermost dim of the box
  // is the tensor's innermost dim.
  std::array<uint32_t, kMaxDims> order = {0, 1, 2, 3, 4};
  // True if the box is swizzled: a row has at most 128 bytes, and its piece p
  // of 16 bytes is stored at piece p ^ (r % 8), where r is the row's number.
  bool is_swizzled = false;
};

struct ExecutableDefinition {
  std::string name;    // name of the executable for messages and traces
  std::string format;  // One of the formats that the comment at the top of this
                       // file lists.
  std::span<const uint8_t> code;
  std::string entry_point;  // name of the entry point, a function in `code`
  // for the format "host-function": the function to call; null for other
  // formats
  HostFunction function = nullptr;
  int binding_count = 0;  // number of buffers
  int parameter_count = 0;
  // `workgroup` is the number of invocations of a workgroup along x, y and z.
  // `shared_bytes` is the size of a workgroup's memory in addition to that
  // which the code declares. Both are used only for formats whose code does not
  // contain them ("ptx" and similar).
  std::array<int64_t, 3> workgroup = {1, 1, 1};
  int64_t shared_bytes = 0;
  // The tensor maps that the code uses (see BoxMap), at most
  // DeviceLimits::map_count.
  std::span<const BoxMap> maps;
};

class Executable {
 public:
  virtual ~Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const std::string& name() const { return name_; }
  int binding_count() const { return binding_count_; }
  int parameter_count() const { return parameter_count_; }
  // Returns the sum of the numbers of dims of all tensor maps.
  int map_dim_count() const { return map_dim_count_; }

 protected:
  explicit Executable(const ExecutableDefinition& definition)
      : name_(definition.name),
        binding_count_(definition.binding_count),
        parameter_count_(definition.parameter_count) {
    for (const BoxMap& map : definition.maps) map_dim_count_ += map.dims;
  }

 private:
  std::string name_;
  int binding_count_;
  int parameter_count_;
  int map_dim_count_ = 0;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_EXECUTABLE_H_
