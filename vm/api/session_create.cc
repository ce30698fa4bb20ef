// Implements the creation of sessions from their options.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/ed25519.h"
#include "base/one_line.h"
#include "vm/api/handles.h"
#include "vm/api/parts.h"
#include "vm/format/module_signature.h"
#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/dispatch/session_kernels.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::api {
namespace {

// MakeKernels casts an EmberTier to a KernelTier.
static_assert(
    EMBER_TIER_INTERPRETER == static_cast<int>(vm::KernelTier::kInterpreter) &&
    EMBER_TIER_BASELINE == static_cast<int>(vm::KernelTier::kBaseline) &&
    EMBER_TIER_OPTIMIZED == static_cast<int>(vm::KernelTier::kOptimized) &&
    EMBER_TIER_AUTO == static_cast<int>(vm::KernelTier::kAuto));

constexpr char kHost[] = "cpu";

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

StatusOr<EmberSessionOptions> CopyOptions(const EmberSessionOptions* given) {
  EmberSessionOptions options = {};
  // If the caller's struct is of an older version, the fields that it does not
  // have keep their defaults.
  if (given != nullptr) {
    std::copy_n(reinterpret_cast<const char*>(given),
                std::min(given->struct_size, sizeof(options)),
                reinterpret_cast<char*>(&options));
  }
  constexpr int32_t kMaxThreads = 1024;
  if (options.threads > kMaxThreads) {
    return InvalidArgumentError(
        Concat({"threads: expected at most ", kMaxThreads, ", found ",
                options.threads}));
  }
  if (options.tier < EMBER_TIER_INTERPRETER || options.tier > EMBER_TIER_AUTO) {
    return InvalidArgumentError(
        Concat({"tier: expected one of EmberTier, found ", options.tier}));
  }
  if (options.compile_in < EMBER_COMPILE_IN_WORKER_IF_THERE ||
      options.compile_in > EMBER_COMPILE_IN_WORKER) {
    return InvalidArgumentError(
        Concat({"compile_in: expected one of EmberCompileIn, found ",
                options.compile_in}));
  }
  return options;
}

bool HasStrings(const vm::Module& module) {
  if (!module.definition().strings.empty()) return true;
  const auto is_string = [](const vm::TensorSignature& signature) {
    return signature.logical_type == vm::kStringType;
  };
  return std::ranges::any_of(module.inputs(), is_string) ||
         std::ranges::any_of(module.results(), is_string);
}

StatusOr<std::shared_ptr<hal::Device>> OpenSessionDevice(
    const EmberSessionOptions& options, EmberSession& session) {
  hal::DeviceOptions device_options;
  device_options.threads = options.threads;
  EMBER_ASSIGN_OR_RETURN(session.runner, RunnerOf(options.thread_pool));
  device_options.host_runner = session.runner.get();
  const std::string name = options.device == nullptr ? kHost : options.device;
  if (name == kHost) {
    EMBER_ASSIGN_OR_RETURN(const HostAllocator allocator,
                           AllocatorOf(options.allocator));
    return OpenHost(device_options, allocator);
  }
  device_options.cache_folder = OrEmpty(options.kernel_cache_folder);
  return OpenDevice(name, device_options);
}

vm::CompileLocation LocationOf(int32_t compile_in) {
  switch (compile_in) {
    case EMBER_COMPILE_IN_WORKER:
      return vm::CompileLocation::kWorker;
    case EMBER_COMPILE_IN_THREAD:
      return vm::CompileLocation::kThread;
    default:
      return vm::CompileLocation::kWorkerIfThere;
  }
}

bool HasNatives(const EmberModule& module) {
  return !module.module->definition().natives.empty() ||
         !module.overlays.empty();
}

// Returns which native code of the module and its overlays may run. If none
// may, *why is set to the reason.
vm::NativePermission PermissionOf(const EmberModule& module,
                                  const EmberSessionOptions& options,
                                  std::string* why) {
  vm::NativePermission permission;
  if (!HasNatives(module)) {
    *why = "the module has no native kernels";
  } else if (options.allow_native != 0) {
    permission.kind = vm::NativePermission::kAny;
  } else if (options.native_key == nullptr) {
    *why = "native kernels are not allowed";
  } else {
    Ed25519Key key;
    std::copy_n(options.native_key, key.size(), key.begin());
    const Status status = vm::VerifySignature(module.module->definition(), key);
    if (status.ok() || !module.overlays.empty()) {
      permission.kind = vm::NativePermission::kSigned;
      permission.key = key;
    } else {
      *why = std::string(status.message());
    }
  }
  return permission;
}

StatusOr<SharedKernels> MakeKernels(const EmberModule& module,
                                    const EmberSessionOptions& options,
                                    const std::shared_ptr<hal::Device>& device,
                                    const vm::NativePermission& permission,
                                    const Logger& logger, Progress* progress) {
  const auto find_provider = [&](const vm::CompileSettings& settings) {
    const vm::KernelLibraryOptions library = {
        .threads = settings.threads,
        .location = settings.location,
        .cache_folder = OrEmpty(options.kernel_cache_folder)};
    std::string message;
    auto provider =
        FindKernels(OrEmpty(options.library_folder), library, &message);
    if (provider.ok() && !message.empty()) {
      logger.Log(EMBER_LOG_WARNING,
                 Concat({"kernels are not kept in the cache: ", message}));
    }
    return provider;
  };
  EMBER_ASSIGN_OR_RETURN(
      vm::SessionKernels opened,
      vm::OpenSessionKernels(module.module,
                             {.tier = static_cast<vm::KernelTier>(options.tier),
                              .location = LocationOf(options.compile_in),
                              .device = device,
                              .permission = permission,
                              .find_provider = find_provider,
                              .natives = {.overlays = module.overlays,
                                          .tables = module.tables,
                                          .device_launcher = KernelLauncher(),
                                          .progress = progress}}));
  if (!opened.warning.empty()) logger.Log(EMBER_LOG_WARNING, opened.warning);
  SharedKernels kernels;
  kernels.is_made = true;
  kernels.tiering = std::move(opened.tiering);
  if (opened.compiles) kernels.tier = static_cast<EmberTier>(options.tier);
  if (!opened.natives) return kernels;
  EMBER_RETURN_IF_ERROR(opened.natives->status);
  std::string text = opened.natives->Text();
  for (const std::string& line : opened.natives->refused) text += "; " + line;
  kernels.native_text = OnOneLine(text);
  return kernels;
}

// Returns the kernels for a session. Sessions on the host share kernels; a
// session on a device has its own.
StatusOr<SharedKernels> FindKernelsOf(
    EmberModule& module, const EmberSessionOptions& options,
    const std::shared_ptr<hal::Device>& device,
    const vm::NativePermission& permission, const Logger& logger,
    Progress* progress) {
  if (!device->is_host())
    return MakeKernels(module, options, device, permission, logger, progress);
  const std::lock_guard<std::mutex> lock(module.mutex);
  SharedKernels& shared = module.kernels[options.tier][permission];
  if (!shared.is_made) {
    EMBER_ASSIGN_OR_RETURN(shared, MakeKernels(module, options, device,
                                               permission, logger, progress));
  }
  return shared;
}

Status CreateSession(EmberModule& module, const EmberSessionOptions* given,
                     EmberSession** out) {
  EMBER_ASSIGN_OR_RETURN(const EmberSessionOptions options, CopyOptions(given));
  {
    // Kernels can be added to the module only before this point, because
    // sessions use the kernels.
    const std::lock_guard<std::mutex> lock(module.mutex);
    module.has_sessions = true;
  }
  auto result = std::make_unique<EmberSession>();
  EMBER_ASSIGN_OR_RETURN(result->logger, Logger::Of(options.logger));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Progress> progress,
                         ProgressOf(options.progress));
  vm::SessionOptions session_options = FirstOptions();
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Device> device,
                         OpenSessionDevice(options, *result));
  const bool is_host = device->is_host();
  if (!is_host && (options.tier == EMBER_TIER_INTERPRETER ||
                   options.tier == EMBER_TIER_BASELINE)) {
    return InvalidArgumentError(
        Concat({"device '", device->driver(),
                "': expected tier OPTIMIZED or AUTO, found ", options.tier}));
  }
  const vm::NativePermission permission =
      PermissionOf(module, options, &result->native_text);
  EMBER_ASSIGN_OR_RETURN(const SharedKernels kernels,
                         FindKernelsOf(module, options, device, permission,
                                       result->logger, progress.get()));
  session_options.tiering = kernels.tiering;
  if (!kernels.native_text.empty()) result->native_text = kernels.native_text;
  if (HasNatives(module) || !module.tables.empty())
    result->logger.Log(EMBER_LOG_INFO, result->native_text);
  EMBER_ASSIGN_OR_RETURN(session_options.allocator,
                         AllocatorOf(options.allocator));
  if (HasStrings(*module.module)) {
    EMBER_ASSIGN_OR_RETURN(session_options.strings,
                           FindStrings(OrEmpty(options.library_folder)));
  }
  result->device_name = std::string(device->driver());
  result->target = std::string(device->target());
  result->tier = kernels.tier;
  result->is_profiled = options.profile != 0 || options.trace != 0;
  session_options.device = device;
  session_options.device_support = DeviceSupport();
  session_options.memory_limit = options.memory_limit;
  session_options.work_limit = options.work_limit;
  session_options.step_limit = options.step_limit;
  session_options.max_seconds = options.max_seconds;
  session_options.profile = options.profile != 0;
  session_options.trace = options.trace != 0;
  session_options.begins_cancelled = &result->cancels;
  EMBER_ASSIGN_OR_RETURN(
      result->session,
      vm::Session::Create(module.module, std::move(session_options)));
  result->inputs.resize(module.inputs.size());
  result->result_buffers.resize(module.results.size());
  result->strings.resize(module.results.size());
  result->expected_dispatches =
      static_cast<int64_t>(module.module->sites().size());
  *out = result.release();
  return OkStatus();
}

}  // namespace

EmberStatus SessionCreate(EmberModule* module,
                          const EmberSessionOptions* options,
                          EmberSession** session) {
  if (module == nullptr || session == nullptr)
    return Report(NullError("session_create"));
  *session = nullptr;
  return Report(CreateSession(*module, options, session));
}

void SessionRelease(EmberSession* session) {
  if (session == nullptr) return;
  {
    // Releasing a session cancels its run, whether its thread already executes
    // the run or not.
    const std::lock_guard<std::mutex> lock(session->mutex);
    session->is_closing = true;
    session->cancels = true;
    session->session->Cancel();
  }
  session->thread.reset();
  delete session;
}

EmberStatus SessionInfo(EmberSession* session, EmberSessionInfo* info) {
  if (session == nullptr || info == nullptr)
    return Report(NullError("session_info"));
  const Status idle = session->CheckIdle();
  if (!idle.ok()) return Report(idle);
  const vm::SessionMemory memory = session->session->memory();
  EmberSessionInfo all = {};
  all.device = session->device_name.c_str();
  all.target = session->target.c_str();
  all.tier = session->tier;
  all.arena_bytes = memory.arena_bytes;
  all.pool_bytes = memory.pool_bytes;
  all.peak_bytes = memory.peak_bytes;
  Fill(all, info);
  return EMBER_OK;
}

const char* SessionNativeKernels(const EmberSession* session) {
  return session->native_text.c_str();
}

EmberStatus DeviceInfo(int32_t index, EmberDeviceInfo* info) {
  thread_local hal::DeviceDescription device;
  if (info == nullptr) return Report(NullError("device_info"));
  std::vector<hal::DeviceDescription> devices = ListDevices();
  const Status found = CheckIndex("device", index, devices.size());
  if (!found.ok()) return Report(found);
  device = std::move(devices[static_cast<size_t>(index)]);
  EmberDeviceInfo all = {};
  all.name = device.name.c_str();
  all.text = device.text.c_str();
  all.target = device.target.c_str();
  all.memory_bytes = device.memory_bytes;
  Fill(all, info);
  return EMBER_OK;
}

}  // namespace ember::api
