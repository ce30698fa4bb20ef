#include "vm/web/exports.h"

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "base/one_line.h"
#include "base/status.h"
#include "hal/cpu/serial_device.h"
#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/web/description.h"

namespace ember::web {

struct WebModule {
  std::shared_ptr<const vm::Module> module;
  std::string text;
};

struct WebSession {
  std::unique_ptr<vm::Session> session;
  vm::NativeReport report;
  std::vector<vm::Tensor> inputs, results;
  std::string text;
};

namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kAddressSpace = int64_t{4} << 30;

std::string& ErrorLine() {
  static std::string& line = *new std::string;
  return line;
}

uint32_t Report(const Status& status) {
  if (!status.ok()) ErrorLine() = OnOneLine(status.ToString());
  return status.ok() ? 1 : 0;
}

void* AllocateMemory(void*, size_t bytes, size_t alignment) {
  // The size is rounded up, because aligned_alloc accepts only multiples of the
  // alignment.
  if (bytes > SIZE_MAX - 2 * alignment) return nullptr;
  return std::aligned_alloc(alignment,
                            (bytes + alignment) / alignment * alignment);
}
void ReleaseMemory(void*, void* memory, size_t) { std::free(memory); }
constexpr HostAllocator kAllocator = {nullptr, AllocateMemory, ReleaseMemory};

StatusOr<WebModule*> Load(std::span<const uint8_t> bytes,
                          std::shared_ptr<const void> owner) {
  if (bytes.data() == nullptr) {
    return ResourceExhaustedError(
        Concat({"module: no memory for ", bytes.size(), " bytes"}));
  }
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const vm::Module> module,
                         vm::Module::Load(bytes, std::move(owner)));
  return new WebModule{std::move(module), {}};
}

StatusOr<std::unique_ptr<WebSession>> CreateSession(
    const std::shared_ptr<const vm::Module>& module,
    const WebSessionOptions& options) {
  auto result = std::make_unique<WebSession>();
  vm::SessionOptions session;
  EMBER_ASSIGN_OR_RETURN(session.device,
                         hal::CreateSerialDevice({}, kAllocator));
  session.allocator = kAllocator;
  session.memory_limit = options.memory_limit > 0
                             ? static_cast<int64_t>(options.memory_limit)
                             : kAddressSpace;
  session.max_seconds = options.max_seconds;
  session.profile = options.profile != 0;
  if (options.uses_kernels != 0 && !module->definition().natives.empty()) {
    session.tiering =
        std::make_shared<vm::Tiering>(module, nullptr, vm::Tiering::Options{});
    result->report = vm::InstallNativeKernels(*session.tiering);
  }
  EMBER_ASSIGN_OR_RETURN(result->session,
                         vm::Session::Create(module, std::move(session)));
  result->inputs.resize(module->inputs().size());
  return result;
}

Status SetInput(WebSession& session, uint32_t index, const WebTensor& tensor) {
  const std::span<const vm::TensorSignature> inputs =
      session.session->module().inputs();
  if (index >= inputs.size()) {
    return InvalidArgumentError(Concat(
        {"input ", index, ": expected less than ", inputs.size(), " inputs"}));
  }
  if (tensor.type >= static_cast<uint32_t>(kDTypeCount)) {
    return InvalidArgumentError(
        Concat({"input '", inputs[index].name,
                "': expected a type of base/dtype.h, found ", tensor.type}));
  }
  vm::Tensor input =
      vm::Tensor::Borrow(static_cast<DType>(tensor.type),
                         {tensor.dims, tensor.dims + tensor.rank}, tensor.data);
  if (input.byte_size != static_cast<int64_t>(tensor.byte_size)) {
    return InvalidArgumentError(Concat(
        {"input '", inputs[index].name, "': expected ", input.byte_size,
         " bytes for ", input.TypeText(), ", found ", tensor.byte_size}));
  }
  session.inputs[index] = std::move(input);
  return OkStatus();
}

Status GetResult(WebSession& session, uint32_t index, WebTensor& tensor) {
  if (index >= session.results.size()) {
    return FailedPreconditionError(
        Concat({"result ", index, ": expected a run with more than ", index,
                " results before, found ", session.results.size()}));
  }
  vm::Tensor& result = session.results[index];
  tensor = {.type = static_cast<uint32_t>(result.type),
            .rank = static_cast<uint32_t>(result.dims.size()),
            .dims = result.dims.data(),
            .data = result.data,
            .byte_size = static_cast<uint32_t>(result.byte_size)};
  return OkStatus();
}

}  // namespace

extern "C" {

void* ember_allocate(size_t bytes) {
  return AllocateMemory(nullptr, bytes, kAlignment);
}
void ember_free(void* memory) { std::free(memory); }
const char* ember_error() { return ErrorLine().c_str(); }

WebModule* ember_module_load(uint8_t* bytes, size_t size) {
  StatusOr<WebModule*> module =
      Load({bytes, size}, std::shared_ptr<const void>(bytes, std::free));
  if (module.ok()) return *module;
  Report(module.status());
  return nullptr;
}
void ember_module_release(WebModule* module) { delete module; }

const char* ember_module_text(WebModule* module) {
  if (module->text.empty()) module->text = DescribeModule(*module->module);
  return module->text.c_str();
}

void ember_module_find_kernels(WebModule* module) {
  if (module->module->definition().natives.empty()) return;
  vm::Tiering tiering(module->module, nullptr, vm::Tiering::Options{});
  vm::InstallNativeKernels(tiering);
}

WebSession* ember_session_create(WebModule* module,
                                 const WebSessionOptions* options) {
  StatusOr<std::unique_ptr<WebSession>> session =
      CreateSession(module->module, *options);
  if (session.ok()) return session->release();
  Report(session.status());
  return nullptr;
}
void ember_session_release(WebSession* session) { delete session; }

uint32_t ember_session_set_input(WebSession* session, uint32_t index,
                                 const WebTensor* tensor) {
  return Report(SetInput(*session, index, *tensor));
}

uint32_t ember_session_run(WebSession* session) {
  const Status status =
      session->session->Run(session->inputs, &session->results);
  if (!status.ok()) session->results.clear();
  return Report(status);
}

uint32_t ember_session_result(WebSession* session, uint32_t index,
                              WebTensor* tensor) {
  return Report(GetResult(*session, index, *tensor));
}

const char* ember_session_text(WebSession* session) {
  session->text = DescribeSession(*session->session, session->report);
  return session->text.c_str();
}

}  // extern "C"

}  // namespace ember::web
