// An executable of format "opencl-c" (hal/executable.h): a kernel function of a
// program of OpenCL C.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<OpenClExecutable> executable,
//                          OpenClExecutable::Load(context, programs, limits,
//                                                 definition));
//   EMBER_ASSIGN_OR_RETURN(const cl_kernel kernel, executable->NewKernel());
//
// Arguments belong to OpenCL's kernel objects, so each recorded dispatch has a
// kernel object of its own. Thread-safe.
#ifndef EMBER_HAL_OPENCL_EXECUTABLE_H_
#define EMBER_HAL_OPENCL_EXECUTABLE_H_

#include <array>
#include <memory>
#include <string>

#include "base/status.h"
#include "hal/device_limits.h"
#include "hal/executable.h"
#include "hal/opencl/context.h"
#include "hal/opencl/program_cache.h"

namespace ember::hal::opencl {

class OpenClExecutable final : public Executable {
 public:
  // Loads an executable. Errors: Unimplemented for another format, or for
  // tensor maps; InvalidArgument for code that the driver refuses, a missing
  // entry point or another number of arguments than the definition says;
  // ResourceExhausted for a limit of the device.
  static StatusOr<std::unique_ptr<OpenClExecutable>> Load(
      Context& context, ProgramCache& programs, const DeviceLimits& limits,
      const ExecutableDefinition& definition);

  // Makes a kernel object, which the caller releases.
  StatusOr<cl_kernel> NewKernel() const;
  const std::array<size_t, 3>& workgroup() const { return workgroup_; }

 private:
  OpenClExecutable(Context& context, const ExecutableDefinition& definition)
      : Executable(definition),
        context_(context),
        entry_point_(definition.entry_point) {}
  Status CheckKernel(cl_kernel kernel) const;

  Context& context_;
  const std::string entry_point_;
  std::shared_ptr<Program> program_;
  std::array<size_t, 3> workgroup_ = {1, 1, 1};
};

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_EXECUTABLE_H_
