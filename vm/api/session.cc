// Implements the functions for a session's inputs, runs and results.
#include <string>
#include <utility>

#include "base/concat.h"
#include "vm/api/handles.h"

using ember::FailedPreconditionError;
using ember::InvalidArgumentError;
using ember::OkStatus;
using ember::Status;

static Status CheckStands(bool is_running) {
  if (!is_running) return OkStatus();
  return FailedPreconditionError(
      "session: expected no unfinished run, found one");
}

Status EmberSession::CheckIdle() {
  const std::lock_guard<std::mutex> lock(mutex);
  return CheckStands(is_running);
}

Status EmberSession::BeginRun() {
  const std::lock_guard<std::mutex> lock(mutex);
  EMBER_RETURN_IF_ERROR(CheckStands(is_running));
  is_running = true;
  return OkStatus();
}

void EmberSession::EndRun() {
  const std::lock_guard<std::mutex> lock(mutex);
  is_running = false;
  cancels = is_closing;
}

Status EmberSession::Run() {
  Status status = session->Run(inputs, &results);
  has_results = status.ok();
  if (has_results) expected_dispatches = session->progress();
  return status;
}

namespace ember::api {
namespace {

using vm::Tensor;

const vm::TensorSignature& ResultSignature(const EmberSession& session,
                                           int32_t index) {
  return session.session->module().results()[static_cast<size_t>(index)];
}

Status SetInput(EmberSession& session, int32_t index,
                const EmberTensor* tensor) {
  EMBER_RETURN_IF_ERROR(session.CheckIdle());
  EMBER_RETURN_IF_ERROR(CheckIndex("input", index, session.inputs.size()));
  const std::string name = "input " + std::to_string(index);
  if (tensor == nullptr || tensor->type < 0 || tensor->type > EMBER_F64 ||
      tensor->rank < 0 || (tensor->rank > 0 && tensor->dims == nullptr)) {
    return InvalidArgumentError(
        name + ": expected a tensor with type, rank and dims, found none");
  }
  Tensor input =
      Tensor::Borrow(static_cast<DType>(tensor->type),
                     {tensor->dims, tensor->dims + tensor->rank}, tensor->data);
  if (input.byte_size < 0 ||
      static_cast<uint64_t>(input.byte_size) != tensor->byte_size) {
    return InvalidArgumentError(
        name + ": expected " + std::to_string(input.byte_size) + " bytes for " +
        input.TypeText() + ", found " + std::to_string(tensor->byte_size));
  }
  session.inputs[static_cast<size_t>(index)] = std::move(input);
  return OkStatus();
}

Status SetInputStrings(EmberSession& session, int32_t index,
                       const EmberStringTensor* tensor) {
  EMBER_RETURN_IF_ERROR(session.CheckIdle());
  EMBER_RETURN_IF_ERROR(CheckIndex("input", index, session.inputs.size()));
  if (tensor == nullptr || tensor->rank < 0 ||
      (tensor->rank > 0 && tensor->dims == nullptr) ||
      (tensor->count > 0 && tensor->strings == nullptr)) {
    return InvalidArgumentError(
        Concat({"input ", index,
                ": expected strings with rank and dims, found none"}));
  }
  std::vector<std::string> strings;
  strings.reserve(tensor->count);
  for (size_t i = 0; i < tensor->count; ++i) {
    const EmberString& string = tensor->strings[i];
    if (string.data == nullptr && string.size > 0) {
      return InvalidArgumentError(Concat(
          {"input ", index, ": string ", i, ": expected data, found NULL"}));
    }
    strings.emplace_back(string.data == nullptr ? "" : string.data,
                         string.size);
  }
  EMBER_ASSIGN_OR_RETURN(
      session.inputs[static_cast<size_t>(index)],
      Tensor::OfStrings({tensor->dims, tensor->dims + tensor->rank},
                        std::move(strings)));
  return OkStatus();
}

Status SetOutput(EmberSession& session, int32_t index, void* data,
                 size_t byte_size) {
  EMBER_RETURN_IF_ERROR(session.CheckIdle());
  EMBER_RETURN_IF_ERROR(
      CheckIndex("result", index, session.result_buffers.size()));
  std::vector<vm::ResultBuffer> result_buffers = session.result_buffers;
  const size_t most =
      INT64_MAX < SIZE_MAX ? static_cast<size_t>(INT64_MAX) : SIZE_MAX;
  result_buffers[static_cast<size_t>(index)] = {
      data,
      data == nullptr ? 0 : static_cast<int64_t>(std::min(byte_size, most))};
  EMBER_RETURN_IF_ERROR(session.session->SetResultBuffers(result_buffers));
  session.result_buffers = std::move(result_buffers);
  return OkStatus();
}

Status CheckResult(EmberSession& session, int32_t index) {
  EMBER_RETURN_IF_ERROR(session.CheckIdle());
  if (!session.has_results) {
    return FailedPreconditionError(
        "result: expected a successful run before, found none");
  }
  return CheckIndex("result", index, session.results.size());
}

Status GetResult(EmberSession& session, int32_t index, EmberTensor* out) {
  EMBER_RETURN_IF_ERROR(CheckResult(session, index));
  const Tensor& result = session.results[static_cast<size_t>(index)];
  if (result.strings != nullptr) {
    return InvalidArgumentError(
        Concat({"result '", ResultSignature(session, index).name,
                "': expected session_result_strings, as it is of strings"}));
  }
  *out = {static_cast<EmberType>(result.type),
          static_cast<int32_t>(result.dims.size()), result.dims.data(),
          result.data, static_cast<size_t>(result.byte_size)};
  return OkStatus();
}

Status GetStrings(EmberSession& session, int32_t index,
                  EmberStringTensor* out) {
  EMBER_RETURN_IF_ERROR(CheckResult(session, index));
  const Tensor& result = session.results[static_cast<size_t>(index)];
  if (result.strings == nullptr) {
    return InvalidArgumentError(
        Concat({"result '", ResultSignature(session, index).name,
                "': expected session_result, as it is not of strings"}));
  }
  std::vector<EmberString>& strings =
      session.strings[static_cast<size_t>(index)];
  strings.clear();
  for (const std::string& string : *result.strings)
    strings.push_back({string.data(), string.size()});
  *out = {static_cast<int32_t>(result.dims.size()), result.dims.data(),
          strings.data(), strings.size()};
  return OkStatus();
}

// Logs an error, stores it for error_message(), and returns its code.
EmberStatus Tell(const EmberSession& session, const Status& status) {
  return Report(session.logger.Note(status));
}

}  // namespace

EmberStatus SessionSetInput(EmberSession* session, int32_t index,
                            const EmberTensor* tensor) {
  if (session == nullptr) return Report(NullError("session_set_input"));
  return Tell(*session, SetInput(*session, index, tensor));
}

EmberStatus SessionSetInputStrings(EmberSession* session, int32_t index,
                                   const EmberStringTensor* tensor) {
  if (session == nullptr) return Report(NullError("session_set_input_strings"));
  return Tell(*session, SetInputStrings(*session, index, tensor));
}

EmberStatus SessionSetOutput(EmberSession* session, int32_t index, void* data,
                             size_t byte_size) {
  if (session == nullptr) return Report(NullError("session_set_output"));
  return Tell(*session, SetOutput(*session, index, data, byte_size));
}

EmberStatus SessionRun(EmberSession* session) {
  if (session == nullptr) return Report(NullError("session_run"));
  Status status = session->BeginRun();
  if (status.ok()) {
    status = session->Run();
    session->EndRun();
  }
  return Tell(*session, status);
}

EmberStatus SessionResult(EmberSession* session, int32_t index,
                          EmberTensor* tensor) {
  if (session == nullptr || tensor == nullptr)
    return Report(NullError("session_result"));
  return Tell(*session, GetResult(*session, index, tensor));
}

EmberStatus SessionResultStrings(EmberSession* session, int32_t index,
                                 EmberStringTensor* tensor) {
  if (session == nullptr || tensor == nullptr)
    return Report(NullError("session_result_strings"));
  return Tell(*session, GetStrings(*session, index, tensor));
}

}  // namespace ember::api
