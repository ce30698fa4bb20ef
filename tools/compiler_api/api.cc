// Defines the table of the compiler's C API, its error messages, and the
// functions that need no compilation.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/one_line.h"
#include "frontends/registry/formats.h"
#include "tools/compiler_api/compilation.h"

namespace ember::compiler_api {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free,
              "a signal handler may cancel");

thread_local std::string last_error;
// If `fixed_error` is not null, error_message() returns it instead of
// last_error.
thread_local const char* fixed_error = nullptr;

constexpr EmberCompilerApi kApi = {
    sizeof(EmberCompilerApi),
    EMBER_COMPILER_API_VERSION,
    ErrorMessage,
    FormatInfo,
    CancelTokenCreate,
    CancelTokenCancel,
    CancelTokenRelease,
    Compile,
    CompilationRelease,
    CompilationModule,
    CompilationWrite,
    CompilationDiagnosticCount,
    CompilationDiagnostic,
};

// Returns the file extensions of each format as one text, such as ".pt .pth".
// The texts live until the process ends, as the names of formats do.
const std::vector<std::string>& Extensions() {
  static const auto* const kExtensions = [] {
    auto* all = new std::vector<std::string>;
    for (const frontends::Format* format : frontends::Formats()) {
      std::string text;
      for (const std::string_view extension : format->extensions)
        text += (text.empty() ? "" : " ") + std::string(extension);
      all->push_back(std::move(text));
    }
    return all;
  }();
  return *kExtensions;
}

}  // namespace

EmberStatus ReportText(EmberStatus status, const char* text) noexcept {
  fixed_error = text;
  return status;
}

EmberStatus Report(const Status& status) noexcept {
  if (status.ok()) return EMBER_OK;
  try {
    // Names from an untrusted model may contain line feeds, which are escaped.
    last_error = OnOneLine(status.message());
    fixed_error = nullptr;
  } catch (const std::bad_alloc&) {
    fixed_error = "expected memory for a message, found none";
  }
  return static_cast<EmberStatus>(status.code());
}

const char* ErrorMessage() {
  return fixed_error != nullptr ? fixed_error : last_error.c_str();
}

void Fill(const void* from, size_t size, void* to) {
  size_t given = 0;
  std::memcpy(&given, to, sizeof(given));
  size = std::min(size, given);
  if (size <= sizeof(size_t)) return;
  std::memcpy(static_cast<char*>(to) + sizeof(size_t),
              static_cast<const char*>(from) + sizeof(size_t),
              size - sizeof(size_t));
}

EmberStatus FormatInfo(int32_t index, EmberFormatInfo* info) {
  return Guarded([&]() -> Status {
    if (info == nullptr)
      return InvalidArgumentError("format_info: expected pointers, found NULL");
    const auto formats = frontends::Formats();
    if (index < 0 || static_cast<size_t>(index) >= formats.size()) {
      return NotFoundError("format: expected an index below " +
                           std::to_string(formats.size()) + ", found " +
                           std::to_string(index));
    }
    const auto at = static_cast<size_t>(index);
    // Names and titles of formats are string literals, so they end with a zero
    // byte as the C API needs it.
    const EmberFormatInfo made = {sizeof(made), formats[at]->name.data(),
                                  formats[at]->title.data(),
                                  Extensions()[at].c_str()};
    Fill(&made, sizeof(made), info);
    return OkStatus();
  });
}

EmberStatus CancelTokenCreate(EmberCancelToken** token) {
  return Guarded([&]() -> Status {
    if (token == nullptr) {
      return InvalidArgumentError(
          "cancel_token_create: expected pointers, found NULL");
    }
    *token = nullptr;
    *token = new EmberCancelToken;
    return OkStatus();
  });
}

void CancelTokenCancel(EmberCancelToken* token) {
  if (token != nullptr) token->is_cancelled = true;
}

void CancelTokenRelease(EmberCancelToken* token) { delete token; }

}  // namespace ember::compiler_api

const EmberCompilerApi* ember_get_compiler_api(uint32_t version) {
  return version >= 1 && version <= EMBER_COMPILER_API_VERSION
             ? &ember::compiler_api::kApi
             : nullptr;
}
