// Defines the table of the C API, and its error messages.
#include "vm/api/ember.h"

#include <string>

#include "base/dtype.h"
#include "base/one_line.h"
#include "vm/api/handles.h"

// Asserts at compile time that an enum value of ember.h equals the runtime's
// enum value.
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
EMBER_SAME(EMBER_F8E4M3FN, ember::DType::kF8E4M3FN);
EMBER_SAME(EMBER_F8E5M2, ember::DType::kF8E5M2);
static_assert(EMBER_F8E5M2 + 1 == ember::kDTypeCount,
              "a new dtype joins the header");

namespace ember::api {
namespace {

thread_local std::string last_error;

constexpr EmberApi kApi = {
    sizeof(EmberApi),
    EMBER_API_VERSION,
    ErrorMessage,
    ModuleLoadFile,
    ModuleLoadMemory,
    ModuleRelease,
    ModuleInputCount,
    ModuleResultCount,
    ModuleInputInfo,
    ModuleResultInfo,
    SessionCreate,
    SessionRelease,
    SessionSetInput,
    SessionRun,
    SessionResult,
    // Version 2 of the C API added the functions from here on.
    InputLogicalType,
    ResultLogicalType,
    // Version 3 of the C API added the functions from here on.
    SessionCancel,
    // Version 4 of the C API added the functions from here on.
    ModuleLoadReader,
    InputDim,
    ResultDim,
    ModuleResultShape,
    DeviceInfo,
    SessionInfo,
    SessionSetInputStrings,
    SessionResultStrings,
    SessionSetOutput,
    SessionRunAsync,
    FenceWait,
    FenceIsSignalled,
    FenceRelease,
    SessionProgress,
    SessionSetMaxSeconds,
    SessionProfile,
    SessionProfileRow,
    SessionTrace,
    SessionTraceEvent,
    SessionProfileReset,
    SessionNativeKernels,
    // Version 5 of the C API added the functions from here on.
    ModuleAddKernels,
    ModuleAddOverlay,
    // Version 6 of the C API added the functions from here on.
    ModuleMetadataCount,
    ModuleMetadataKey,
    ModuleMetadataValue,
    ModuleMetadata,
    // Version 7 of the C API added the functions from here on.
    ModuleLoad,
};

}  // namespace

EmberStatus Report(const Status& status) {
  // The message may contain names from an untrusted module, so its line feeds
  // are escaped.
  if (!status.ok()) last_error = OnOneLine(status.message());
  return static_cast<EmberStatus>(status.code());
}

const char* ErrorMessage() { return last_error.c_str(); }

Status NullError(std::string_view function) {
  return InvalidArgumentError(std::string(function) +
                              ": expected pointers, found NULL");
}

Status CheckIndex(std::string_view what, int64_t index, size_t count) {
  if (index >= 0 && static_cast<uint64_t>(index) < count) return OkStatus();
  return NotFoundError(std::string(what) + ": expected an index below " +
                       std::to_string(count) + ", found " +
                       std::to_string(index));
}

}  // namespace ember::api

const EmberApi* ember_get_api(uint32_t version) {
  return version >= 1 && version <= EMBER_API_VERSION ? &ember::api::kApi
                                                      : nullptr;
}
