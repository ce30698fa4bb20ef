// The structs behind the handles of the C API, and helpers that its functions
// share.
#ifndef EMBER_VM_API_HANDLES_H_
#define EMBER_VM_API_HANDLES_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "vm/api/callbacks.h"
#include "vm/api/ember.h"
#include "vm/api/run_thread.h"
#include "vm/format/overlay.h"
#include "vm/runtime/dispatch/session_kernels.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::api {

// The description of an input or result of the entry program that the C API
// returns.
struct TensorInfo {
  std::string name;
  EmberType type = EMBER_F32;
  std::vector<int64_t> dims;
  // The text of each dim. If it is empty, the dim's text is the name of its
  // symbol, which is not copied, because a file may use a long name many times.
  std::vector<std::string> dim_texts;
  bool is_string = false;
};

// Kernels and counters that sessions of a module with the same tier and
// permission share.
struct SharedKernels {
  std::shared_ptr<vm::Tiering> tiering;  // kernels of the module; null if only
                                         // tier 0 runs
  EmberTier tier = EMBER_TIER_INTERPRETER;
  std::string native_text;  // text of session_native_kernels
  bool is_made = false;
};

// Stores the status's message as the calling thread's error_message() and
// returns its code.
EmberStatus Report(const Status& status);
const char* ErrorMessage();

Status NullError(std::string_view function);
Status CheckIndex(std::string_view what, int64_t index, size_t count);

// Copies the fields that fit into the caller's struct, whose size is its first
// field, struct_size. That field itself is not changed.
template <typename Struct>
void Fill(const Struct& from, Struct* to) {
  const size_t size = std::min(to->struct_size, sizeof(Struct));
  if (size <= sizeof(size_t)) return;
  std::copy_n(reinterpret_cast<const char*>(&from) + sizeof(size_t),
              size - sizeof(size_t),
              reinterpret_cast<char*>(to) + sizeof(size_t));
}

}  // namespace ember::api

struct EmberModule {
  std::shared_ptr<const ember::vm::Module> module;
  std::vector<ember::api::TensorInfo> inputs;
  std::vector<ember::api::TensorInfo> results;
  std::mutex mutex;  // guards the fields below
  // Tables and overlays with kernels that were added before the first session;
  // they do not change afterwards.
  std::vector<const void*> tables;
  std::vector<ember::vm::Overlay> overlays;
  bool has_sessions = false;
  // Kernels that the module's sessions on the host share, by tier and by
  // permission. They differ by permission because a session must not use native
  // code that it may not run.
  std::map<ember::vm::NativePermission, ember::api::SharedKernels>
      kernels[EMBER_TIER_AUTO + 1];
};

struct EmberSession {
  // The objects that the caller passed to session_create. They are declared
  // before the session, which uses them, so that they are destroyed after it.
  ember::api::Logger logger;
  // runner on the application's threads; null if the device uses its own
  // threads
  std::unique_ptr<ember::ParallelRunner> runner;
  std::atomic<bool> cancels{false};
  std::string device_name;
  std::string target;
  EmberTier tier = EMBER_TIER_INTERPRETER;
  std::string native_text;
  bool is_profiled = false;
  std::unique_ptr<ember::vm::Session> session;

  std::vector<ember::vm::Tensor> inputs;
  std::vector<ember::vm::Tensor> results;
  bool has_results = false;
  std::vector<ember::vm::ResultBuffer> result_buffers;
  std::vector<ember::vm::SiteProfile> profile;
  // for each result, the strings that session_result_strings returned last
  std::vector<std::vector<EmberString>> strings;
  std::atomic<int64_t> expected_dispatches{0};

  std::mutex mutex;  // This mutex guards the fields below, and `cancels`.
  bool is_running = false;
  bool is_closing = false;
  // The thread that executes asynchronous runs; created by the first one.
  std::optional<ember::api::RunThread> thread;

  // Returns an error if a run of the session is in progress on any thread.
  ember::Status CheckIdle();
  // Like CheckIdle, but if no run is in progress, marks the session as running.
  ember::Status BeginRun();
  // Runs the program on the calling thread. BeginRun must have been called
  // before, and EndRun must be called afterwards.
  ember::Status Run();
  void EndRun();
};

// The functions of the API's table, grouped by the file that defines them.
namespace ember::api {

// The functions that module.cc defines.
EmberStatus ModuleLoad(const EmberModuleOptions* options, EmberModule** module);
EmberStatus ModuleLoadFile(const char* path, EmberModule** module);
EmberStatus ModuleLoadMemory(const void* data, size_t size,
                             EmberModule** module);
EmberStatus ModuleLoadReader(const EmberReader* reader, EmberModule** module);
void ModuleRelease(EmberModule* module);
int32_t ModuleInputCount(const EmberModule* module);
int32_t ModuleResultCount(const EmberModule* module);
EmberStatus ModuleInputInfo(const EmberModule* module, int32_t index,
                            EmberTensorInfo* info);
EmberStatus ModuleResultInfo(const EmberModule* module, int32_t index,
                             EmberTensorInfo* info);
const char* InputLogicalType(const EmberModule* module, int32_t index);
const char* ResultLogicalType(const EmberModule* module, int32_t index);
const char* InputDim(const EmberModule* module, int32_t index, int32_t dim);
const char* ResultDim(const EmberModule* module, int32_t index, int32_t dim);
EmberStatus ModuleResultShape(const EmberModule* module,
                              const EmberShape* inputs, int32_t input_count,
                              int32_t index, int64_t* dims);

int32_t ModuleMetadataCount(const EmberModule* module);
const char* ModuleMetadataKey(const EmberModule* module, int32_t index);
const char* ModuleMetadataValue(const EmberModule* module, int32_t index);
const char* ModuleMetadata(const EmberModule* module, const char* key);

// The functions that session_create.cc defines.
EmberStatus SessionCreate(EmberModule* module,
                          const EmberSessionOptions* options,
                          EmberSession** session);
void SessionRelease(EmberSession* session);
EmberStatus SessionInfo(EmberSession* session, EmberSessionInfo* info);
const char* SessionNativeKernels(const EmberSession* session);
EmberStatus DeviceInfo(int32_t index, EmberDeviceInfo* info);

// The functions that session.cc defines.
EmberStatus SessionSetInput(EmberSession* session, int32_t index,
                            const EmberTensor* tensor);
EmberStatus SessionSetInputStrings(EmberSession* session, int32_t index,
                                   const EmberStringTensor* tensor);
EmberStatus SessionSetOutput(EmberSession* session, int32_t index, void* data,
                             size_t byte_size);
EmberStatus SessionRun(EmberSession* session);
EmberStatus SessionResult(EmberSession* session, int32_t index,
                          EmberTensor* tensor);
EmberStatus SessionResultStrings(EmberSession* session, int32_t index,
                                 EmberStringTensor* tensor);

// The functions that session_control.cc defines.
EmberStatus SessionRunAsync(EmberSession* session, EmberRunDone done,
                            void* context, EmberFence** fence);
EmberStatus FenceWait(EmberFence* fence, double seconds);
int32_t FenceIsSignalled(const EmberFence* fence);
void FenceRelease(EmberFence* fence);
void SessionCancel(EmberSession* session);
EmberStatus SessionProgress(const EmberSession* session, int64_t* begun,
                            int64_t* expected);
EmberStatus SessionSetMaxSeconds(EmberSession* session, double seconds);

// The functions that module_kernels.cc defines.
EmberStatus ModuleAddKernels(EmberModule* module, const EmberKernels* kernels);
EmberStatus ModuleAddOverlay(EmberModule* module, const char* path);

// The functions that profile.cc defines.
int32_t SessionProfile(EmberSession* session);
EmberStatus SessionProfileRow(const EmberSession* session, int32_t index,
                              EmberProfileRow* row);
int64_t SessionTrace(EmberSession* session);
EmberStatus SessionTraceEvent(EmberSession* session, int64_t index,
                              EmberTraceEvent* event);
EmberStatus SessionProfileReset(EmberSession* session);

}  // namespace ember::api

#endif  // EMBER_VM_API_HANDLES_H_
