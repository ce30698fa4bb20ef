// An executable of format "ptx" or "cubin" (hal/executable.h), or of
// "emulated-grid" on the emulated device: a function of a module.
//
//   ModuleCache modules(context);
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CudaExecutable> executable,
//                          CudaExecutable::Load(context, modules, definition));
//
// Code that is loaded already is not loaded again: executables whose code has
// the same bytes share a module, even if they use different entry points of it.
// Thread-safe.
#ifndef EMBER_HAL_CUDA_EXECUTABLE_H_
#define EMBER_HAL_CUDA_EXECUTABLE_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/cuda/context.h"
#include "hal/executable.h"

namespace ember::hal::cuda {

// A loaded module, which is unloaded when the object is destroyed. The context
// must outlive it.
class Module {
 public:
  Module(Context& context, CUmodule handle)
      : context_(context), handle_(handle) {}
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  CUmodule handle() const { return handle_; }

 private:
  Context& context_;
  const CUmodule handle_;
};

class ModuleCache {
 public:
  // Makes an empty cache. `context` must outlive the cache and its modules.
  explicit ModuleCache(Context& context) : context_(context) {}

  // Loads a module, or returns the loaded module that has the same code.
  // Errors: InvalidArgument with the driver's message about the code.
  StatusOr<std::shared_ptr<Module>> Load(std::span<const uint8_t> code);

 private:
  Context& context_;
  std::mutex mutex_;  // guards modules_
  // The loaded modules, by the bytes of their code. A module is unloaded when
  // no executable uses it.
  std::map<std::string, std::weak_ptr<Module>, std::less<>> modules_;
};

class CudaExecutable final : public Executable {
 public:
  // Loads an executable. Errors: Unimplemented for a format that the device
  // does not support, or for tensor maps if CUDA's driver does not support
  // them; InvalidArgument for code that the driver refuses, a missing entry
  // point, or impossible maps; ResourceExhausted for a limit of the device.
  static StatusOr<std::unique_ptr<CudaExecutable>> Load(
      Context& context, ModuleCache& modules,
      const ExecutableDefinition& definition);

  CUfunction function() const { return function_; }
  const std::array<unsigned, 3>& workgroup() const { return workgroup_; }
  unsigned shared_bytes() const { return shared_bytes_; }
  const std::vector<BoxMap>& maps() const { return maps_; }

 private:
  explicit CudaExecutable(const ExecutableDefinition& definition)
      : Executable(definition),
        maps_(definition.maps.begin(), definition.maps.end()) {}
  Status SetShape(Context& context, const ExecutableDefinition& definition);

  std::shared_ptr<Module> module_;
  CUfunction function_ = nullptr;
  std::array<unsigned, 3> workgroup_ = {1, 1, 1};
  unsigned shared_bytes_ = 0;
  const std::vector<BoxMap> maps_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EXECUTABLE_H_
