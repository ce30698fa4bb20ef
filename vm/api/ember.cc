#include "vm/api/ember.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "hal/cpu/cpu_device.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

// The header's numbers are ours.
#define EMBER_SAME(theirs, ours) \
  static_assert(static_cast<int>(theirs) == static_cast<int>(ours))
EMBER_SAME(EMBER_INVALID_ARGUMENT, ember::StatusCode::kInvalidArgument);
EMBER_SAME(EMBER_NOT_FOUND, ember::StatusCode::kNotFound);
EMBER_SAME(EMBER_UNIMPLEMENTED, ember::StatusCode::kUnimplemented);
EMBER_SAME(EMBER_DATA_LOSS, ember::StatusCode::kDataLoss);
EMBER_SAME(EMBER_RESOURCE_EXHAUSTED, ember::StatusCode::kResourceExhausted);
EMBER_SAME(EMBER_FAILED_PRECONDITION, ember::StatusCode::kFailedPrecondition);
EMBER_SAME(EMBER_INTERNAL, ember::StatusCode::kInternal);
EMBER_SAME(EMBER_CANCELLED, ember::StatusCode::kCancelled);
EMBER_SAME(EMBER_BOOL, ember::DType::kBool);
EMBER_SAME(EMBER_I64, ember::DType::kI64);
EMBER_SAME(EMBER_U64, ember::DType::kU64);
EMBER_SAME(EMBER_BF16, ember::DType::kBF16);
EMBER_SAME(EMBER_F32, ember::DType::kF32);
EMBER_SAME(EMBER_F64, ember::DType::kF64);
static_assert(EMBER_F64 + 1 == ember::kDTypeCount,
              "a new dtype joins the header");

namespace {

// A signature with dims as C callers see them.
struct Info {
  std::string name;
  EmberType type;
  std::vector<int64_t> dims;
};

}  // namespace

struct EmberModule {
  std::shared_ptr<const ember::vm::Module> module;
  std::vector<Info> inputs;
  std::vector<Info> results;
};

struct EmberSession {
  std::unique_ptr<ember::vm::Session> session;
  std::vector<ember::vm::Tensor> inputs;
  std::vector<ember::vm::Tensor> results;
  bool has_results = false;
};

namespace {

using ember::InvalidArgumentError;
using ember::Status;
using ember::StatusOr;
using ember::vm::Module;
using ember::vm::Session;
using ember::vm::Tensor;
using ember::vm::TensorSignature;

thread_local std::string last_error;

EmberStatus Report(const Status& status) {
  if (!status.ok()) last_error = std::string(status.message());
  return static_cast<EmberStatus>(status.code());
}

const char* ErrorMessage() { return last_error.c_str(); }

std::vector<Info> MakeInfos(std::span<const TensorSignature> signatures) {
  std::vector<Info> infos;
  for (const TensorSignature& signature : signatures) {
    Info info{signature.name, static_cast<EmberType>(signature.type),
              signature.dims};
    for (int64_t& dim : info.dims) dim = std::max<int64_t>(dim, -1);
    infos.push_back(std::move(info));
  }
  return infos;
}

Status Publish(StatusOr<std::shared_ptr<const Module>> module,
               EmberModule** out) {
  if (!module.ok()) return module.status();
  auto result = std::make_unique<EmberModule>();
  result->module = *std::move(module);
  result->inputs = MakeInfos(result->module->inputs());
  result->results = MakeInfos(result->module->results());
  *out = result.release();
  return ember::OkStatus();
}

EmberStatus ModuleLoadFile(const char* path, EmberModule** module) {
  if (path == nullptr || module == nullptr) {
    return Report(InvalidArgumentError(
        "module_load_file: expected pointers, found NULL"));
  }
  *module = nullptr;
  return Report(Publish(Module::Load(path), module));
}

EmberStatus ModuleLoadMemory(const void* data, size_t size,
                             EmberModule** module) {
  if (data == nullptr || module == nullptr) {
    return Report(InvalidArgumentError(
        "module_load_memory: expected pointers, found NULL"));
  }
  *module = nullptr;
  return Report(
      Publish(Module::Load({static_cast<const uint8_t*>(data), size}, nullptr),
              module));
}

void ModuleRelease(EmberModule* module) { delete module; }

int32_t ModuleInputCount(const EmberModule* module) {
  return static_cast<int32_t>(module->inputs.size());
}
int32_t ModuleResultCount(const EmberModule* module) {
  return static_cast<int32_t>(module->results.size());
}

Status CheckIndex(const char* what, int32_t index, size_t count) {
  if (index >= 0 && static_cast<size_t>(index) < count)
    return ember::OkStatus();
  return ember::NotFoundError(std::string(what) + ": expected an index below " +
                              std::to_string(count) + ", found " +
                              std::to_string(index));
}

Status FindInfo(const char* what, const std::vector<Info>& infos, int32_t index,
                EmberTensorInfo* out) {
  EMBER_RETURN_IF_ERROR(CheckIndex(what, index, infos.size()));
  const Info& info = infos[static_cast<size_t>(index)];
  *out = {info.name.c_str(), info.type, static_cast<int32_t>(info.dims.size()),
          info.dims.data()};
  return ember::OkStatus();
}

EmberStatus ModuleInputInfo(const EmberModule* module, int32_t index,
                            EmberTensorInfo* info) {
  return Report(FindInfo("input", module->inputs, index, info));
}
EmberStatus ModuleResultInfo(const EmberModule* module, int32_t index,
                             EmberTensorInfo* info) {
  return Report(FindInfo("result", module->results, index, info));
}

const char* LogicalType(std::span<const TensorSignature> signatures,
                        int32_t index) {
  if (index < 0 || static_cast<size_t>(index) >= signatures.size())
    return nullptr;
  return signatures[static_cast<size_t>(index)].logical_type.c_str();
}

const char* InputLogicalType(const EmberModule* module, int32_t index) {
  return LogicalType(module->module->inputs(), index);
}
const char* ResultLogicalType(const EmberModule* module, int32_t index) {
  return LogicalType(module->module->results(), index);
}

Status CreateSession(EmberModule* module, const EmberSessionOptions* given,
                     EmberSession** out) {
  EmberSessionOptions options = {};
  if (given != nullptr) {
    // Fields that the caller's header did not have keep their defaults.
    const size_t size = std::min(given->struct_size, sizeof(options));
    std::copy_n(reinterpret_cast<const char*>(given), size,
                reinterpret_cast<char*>(&options));
  }
  ember::vm::SessionOptions session_options;
  EMBER_ASSIGN_OR_RETURN(
      session_options.device,
      ember::hal::CreateCpuDevice({.threads = options.threads}));
  session_options.memory_limit = options.memory_limit;
  session_options.work_limit = options.work_limit;
  session_options.step_limit = options.step_limit;
  session_options.max_seconds = options.max_seconds;
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<Session> session,
      Session::Create(module->module, std::move(session_options)));
  auto result = std::make_unique<EmberSession>();
  result->session = std::move(session);
  result->inputs.resize(module->inputs.size());
  *out = result.release();
  return ember::OkStatus();
}

EmberStatus SessionCreate(EmberModule* module,
                          const EmberSessionOptions* options,
                          EmberSession** session) {
  if (module == nullptr || session == nullptr) {
    return Report(
        InvalidArgumentError("session_create: expected pointers, found NULL"));
  }
  *session = nullptr;
  return Report(CreateSession(module, options, session));
}

void SessionRelease(EmberSession* session) { delete session; }

Status SetInput(EmberSession* session, int32_t index,
                const EmberTensor* tensor) {
  EMBER_RETURN_IF_ERROR(CheckIndex("input", index, session->inputs.size()));
  const std::string name = "input " + std::to_string(index);
  if (tensor == nullptr || tensor->type < 0 || tensor->type > EMBER_F64 ||
      tensor->rank < 0 || (tensor->rank > 0 && tensor->dims == nullptr)) {
    return InvalidArgumentError(
        name + ": expected a tensor with type, rank and dims, found none");
  }
  Tensor input =
      Tensor::Borrow(static_cast<ember::DType>(tensor->type),
                     {tensor->dims, tensor->dims + tensor->rank}, tensor->data);
  if (input.byte_size < 0 ||
      static_cast<uint64_t>(input.byte_size) != tensor->byte_size) {
    return InvalidArgumentError(
        name + ": expected " + std::to_string(input.byte_size) + " bytes for " +
        input.TypeText() + ", found " + std::to_string(tensor->byte_size));
  }
  session->inputs[static_cast<size_t>(index)] = std::move(input);
  return ember::OkStatus();
}

EmberStatus SessionSetInput(EmberSession* session, int32_t index,
                            const EmberTensor* tensor) {
  return Report(SetInput(session, index, tensor));
}

EmberStatus SessionRun(EmberSession* session) {
  const Status status =
      session->session->Run(session->inputs, &session->results);
  session->has_results = status.ok();
  return Report(status);
}

Status GetResult(EmberSession* session, int32_t index, EmberTensor* out) {
  if (!session->has_results) {
    return ember::FailedPreconditionError(
        "result: expected a successful run before, found none");
  }
  EMBER_RETURN_IF_ERROR(CheckIndex("result", index, session->results.size()));
  const Tensor& result = session->results[static_cast<size_t>(index)];
  *out = {static_cast<EmberType>(result.type),
          static_cast<int32_t>(result.dims.size()), result.dims.data(),
          result.data, static_cast<size_t>(result.byte_size)};
  return ember::OkStatus();
}

EmberStatus SessionResult(EmberSession* session, int32_t index,
                          EmberTensor* tensor) {
  return Report(GetResult(session, index, tensor));
}

void SessionCancel(EmberSession* session) {
  if (session != nullptr) session->session->Cancel();
}

constexpr EmberApi kApi = {
    sizeof(EmberApi),  EMBER_API_VERSION, ErrorMessage,     ModuleLoadFile,
    ModuleLoadMemory,  ModuleRelease,     ModuleInputCount, ModuleResultCount,
    ModuleInputInfo,   ModuleResultInfo,  SessionCreate,    SessionRelease,
    SessionSetInput,   SessionRun,        SessionResult,    InputLogicalType,
    ResultLogicalType, SessionCancel,
};

}  // namespace

const EmberApi* ember_get_api(uint32_t version) {
  return version >= 1 && version <= EMBER_API_VERSION ? &kApi : nullptr;
}
