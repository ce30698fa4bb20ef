// An executable of format "msl" (hal/executable.h): a kernel function of a
// program of MSL, ready to run.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<MetalExecutable> executable,
//                          MetalExecutable::Load(context, programs, limits,
//                                                definition));
//   executable->pipeline();
//
// Immutable, so thread-safe.
#ifndef EMBER_HAL_METAL_EXECUTABLE_H_
#define EMBER_HAL_METAL_EXECUTABLE_H_

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "hal/device_limits.h"
#include "hal/executable.h"
#include "hal/metal/api/functions.h"
#include "hal/metal/api/owned.h"
#include "hal/metal/context.h"
#include "hal/metal/programs.h"

namespace ember::hal::metal {

class MetalExecutable final : public Executable {
 public:
  // Loads an executable. Errors: Unimplemented for another format, or for
  // tensor maps; InvalidArgument for code that Metal refuses, or a missing
  // entry point; ResourceExhausted for a limit of the device or of the code.
  static StatusOr<std::unique_ptr<MetalExecutable>> Load(
      const Context& context, Programs& programs, const DeviceLimits& limits,
      const ExecutableDefinition& definition);

  PipelineRef pipeline() const { return pipeline_.get(); }
  const Extent& workgroup() const { return workgroup_; }
  // Bytes of threadgroup memory at index 0, a multiple of what Metal wants.
  uint64_t shared_bytes() const { return shared_bytes_; }

 private:
  explicit MetalExecutable(const ExecutableDefinition& definition);
  Status CheckPipeline(const Context& context) const;

  std::shared_ptr<Program> program_;
  Owned<PipelineRef> pipeline_;
  Extent workgroup_ = {1, 1, 1};
  uint64_t shared_bytes_ = 0;
};

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_EXECUTABLE_H_
