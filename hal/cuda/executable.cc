#include "hal/cuda/executable.h"

#include <algorithm>
#include <string_view>

#include "base/concat.h"
#include "base/rounding.h"
#include "hal/cuda/api/functions.h"
#include "hal/cuda/api/result.h"
#include "hal/cuda/library.h"
#include "hal/cuda/tensor_maps.h"
#include "hal/executable_checks.h"

namespace ember::hal::cuda {
namespace {

// Number of bytes of the buffer for the messages of the CUDA driver's compiler.
constexpr size_t kLogBytes = 4096;

// Returns the first line that is not empty of the messages of CUDA's compiler.
std::string_view FirstLine(std::string_view log) {
  const size_t begin = log.find_first_not_of(" \n\r\t");
  if (begin == std::string_view::npos) return "no reason given";
  log.remove_prefix(begin);
  return log.substr(0, log.find('\n'));
}

// Largest number of bytes of a kernel's arguments, according to NVIDIA's "CUDA
// C++ Programming Guide". Drivers from CUDA 12.1 on support more.
constexpr int64_t kMaxArgumentBytes = 4096;

// Checks that the kernel's arguments fit into kMaxArgumentBytes: pointers and
// numbers, then tensor maps.
Status CheckArguments(const ExecutableDefinition& definition) {
  const auto maps = static_cast<int64_t>(definition.maps.size());
  const int64_t numbers =
      8 * (int64_t{definition.binding_count} + definition.parameter_count);
  const int64_t bytes =
      maps == 0 ? numbers
                : RoundUp(numbers, int64_t{alignof(CUtensorMap)}) +
                      maps * static_cast<int64_t>(sizeof(CUtensorMap));
  if (bytes <= kMaxArgumentBytes) return OkStatus();
  return ResourceExhaustedError(Concat(
      {"expected at most ", kMaxArgumentBytes, " bytes of arguments, found ",
       bytes, " of ", definition.binding_count, " bindings, ",
       definition.parameter_count, " parameters and ", maps, " tensor maps"}));
}

Status CheckShape(const DeviceProperties& device,
                  const ExecutableDefinition& definition) {
  int64_t threads = 1;
  for (size_t i = 0; i < definition.workgroup.size(); ++i) {
    const int64_t size = definition.workgroup[i];
    if (size < 1 || size > device.block_dims[i]) {
      return ResourceExhaustedError(Concat(
          {"expected 1 to ", device.block_dims[i], " invocations in dimension ",
           i, " of a workgroup, found ", size}));
    }
    threads *= size;
  }
  if (threads > device.block_threads) {
    return ResourceExhaustedError(
        Concat({"expected at most ", device.block_threads,
                " invocations in a workgroup, found ", threads}));
  }
  if (definition.shared_bytes < 0 ||
      definition.shared_bytes > device.shared_bytes) {
    return ResourceExhaustedError(Concat(
        {"expected at most ", device.shared_bytes,
         " bytes of a workgroup's memory, found ", definition.shared_bytes}));
  }
  return OkStatus();
}

bool Takes(const Context& context, std::string_view format) {
  if (context.is_emulated()) return format == "emulated-grid";
  return format == "ptx" || format == "cubin";
}

}  // namespace

Module::~Module() {
  const Context::Current current(context_);
  if (current.status().ok()) context_.cu().ModuleUnload(handle_);
}

StatusOr<std::shared_ptr<Module>> ModuleCache::Load(
    std::span<const uint8_t> code) {
  const std::string_view bytes(reinterpret_cast<const char*>(code.data()),
                               code.size());
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(modules_,
                [](const auto& entry) { return entry.second.expired(); });
  const auto found = modules_.find(bytes);
  if (found != modules_.end()) {
    if (std::shared_ptr<Module> module = found->second.lock()) return module;
  }
  // The copy of the code ends with a zero byte, which text needs, and is
  // aligned as the driver requires.
  std::string copy(bytes);
  std::string log(kLogBytes, '\0');
  CUjit_option options[] = {kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(kLogBytes)};
  CUmodule handle = nullptr;
  const Context::Current current(context_);
  EMBER_RETURN_IF_ERROR(current.status());
  Status status = context_.Check(
      "cuModuleLoadDataEx", context_.cu().ModuleLoadDataEx(
                                &handle, copy.c_str(), 2, options, values));
  if (status.code() == StatusCode::kInvalidArgument) {
    return InvalidArgumentError(Concat(
        {status.message(), ": ", FirstLine(std::string_view(log.c_str()))}));
  }
  EMBER_RETURN_IF_ERROR(status);
  auto module = std::make_shared<Module>(context_, handle);
  modules_.insert_or_assign(std::move(copy), module);
  return module;
}

Status CudaExecutable::SetShape(Context& context,
                                const ExecutableDefinition& definition) {
  const Functions& cu = context.cu();
  for (size_t i = 0; i < workgroup_.size(); ++i)
    workgroup_[i] = static_cast<unsigned>(definition.workgroup[i]);
  shared_bytes_ = static_cast<unsigned>(definition.shared_bytes);
  // The largest workgroup of this kernel may be below the device's limit,
  // because its code uses many registers. So the kernel's own limit is checked.
  int most = 0;
  EMBER_RETURN_IF_ERROR(context.Check(
      "cuFuncGetAttribute",
      cu.FuncGetAttribute(&most, kFunctionMaxThreadsPerBlock, function_)));
  const int64_t threads = definition.workgroup[0] * definition.workgroup[1] *
                          definition.workgroup[2];
  if (threads > most) {
    return ResourceExhaustedError(
        Concat({"expected at most ", most,
                " invocations in a workgroup of this code, found ", threads}));
  }
  if (definition.shared_bytes <= context.properties().static_shared_bytes)
    return OkStatus();
  return context.Check(
      "cuFuncSetAttribute",
      cu.FuncSetAttribute(function_, kFunctionMaxDynamicSharedSizeBytes,
                          static_cast<int>(definition.shared_bytes)));
}

StatusOr<std::unique_ptr<CudaExecutable>> CudaExecutable::Load(
    Context& context, ModuleCache& modules,
    const ExecutableDefinition& definition) {
  const std::string name = Concat({"executable '", definition.name, "'"});
  if (!Takes(context, definition.format)) {
    return UnimplementedError(
        Concat({"cuda device: ", name, ": expected format ",
                context.is_emulated() ? "'emulated-grid'" : "'ptx' or 'cubin'",
                ", found '", definition.format, "'"}));
  }
  if (!definition.maps.empty() && !context.properties().has_tensor_maps) {
    return UnimplementedError(
        Concat({"cuda device: ", name,
                ": expected a driver for CUDA 12.0 or newer, as the code takes "
                "tensor maps, found one for CUDA ",
                VersionText(context.driver_version())}));
  }
  Status status = CheckCounts(context.properties().Limits(), definition);
  if (status.ok())
    status = CheckMaps(definition.maps, definition.binding_count);
  if (status.ok()) status = CheckArguments(definition);
  if (status.ok()) status = CheckShape(context.properties(), definition);
  if (!status.ok()) return status.WithContext(name);
  StatusOr<std::shared_ptr<Module>> module = modules.Load(definition.code);
  if (!module.ok()) return module.status().WithContext(name);
  std::unique_ptr<CudaExecutable> executable(new CudaExecutable(definition));
  executable->module_ = *std::move(module);
  const Context::Current current(context);
  EMBER_RETURN_IF_ERROR(current.status());
  status =
      context.Check("cuModuleGetFunction",
                    context.cu().ModuleGetFunction(
                        &executable->function_, executable->module_->handle(),
                        definition.entry_point.c_str()));
  if (status.ok()) status = executable->SetShape(context, definition);
  if (!status.ok()) {
    return status.WithContext(
        Concat({name, ": entry point '", definition.entry_point, "'"}));
  }
  return executable;
}

}  // namespace ember::hal::cuda
