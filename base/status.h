// Status objects hold errors that a user can cause, which functions return as
// values. The runtime throws no exceptions.
//
//   StatusOr<Module> Load(std::string_view path);
//   EMBER_ASSIGN_OR_RETURN(Module module, Load(path));
//   return InvalidArgumentError("input 'x': expected shape 1x3, found 1x4");
//
// A message is one line that names the object, what was expected and what was
// found. An OK status is a null pointer; only errors allocate. The code for an
// OK status is inlined: it compares with null, or disappears where the compiler
// knows the status. The code for errors is not inlined. Thread-compatible.
#ifndef EMBER_BASE_STATUS_H_
#define EMBER_BASE_STATUS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace ember {

enum class StatusCode : uint8_t {
  kOk,
  kInvalidArgument,  // The caller passed a wrong input.
  kNotFound,         // A file, symbol or entry does not exist.
  // The input is valid but not supported; the message names the unsupported
  // thing.
  kUnimplemented,
  kDataLoss,           // A file is truncated or corrupt.
  kResourceExhausted,  // A limit was exceeded, or memory ran out.
  kFailedPrecondition,
  // A bug in Ember was found. It is reported as a status instead of a failed
  // check because the process must stay alive.
  kInternal,
  kCancelled,  // The caller requested that the work end.
};

std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  [[gnu::always_inline]] Status(Status&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  [[gnu::always_inline]] Status& operator=(Status&& other) noexcept {
    State* const taken = std::exchange(other.state_, nullptr);
    State* const old = std::exchange(state_, taken);
    if (old != nullptr) Delete(old);
    return *this;
  }
  [[gnu::always_inline]] ~Status() {
    if (state_ != nullptr) Delete(state_);
  }

  bool ok() const { return state_ == nullptr; }
  StatusCode code() const { return state_ ? state_->code : StatusCode::kOk; }
  std::string_view message() const {
    return state_ ? std::string_view(state_->message) : std::string_view();
  }
  // Returns a text such as "INVALID_ARGUMENT: message", or "OK".
  std::string ToString() const;
  // Returns an error with "prefix: " before its message and the same code. An
  // OK status stays OK.
  Status WithContext(std::string_view prefix) const;

 private:
  struct State {
    StatusCode code;
    std::string message;
  };
  static void Delete(State* state);
  State* state_ = nullptr;
};

inline Status OkStatus() { return Status(); }
Status InvalidArgumentError(std::string message);
Status NotFoundError(std::string message);
Status UnimplementedError(std::string message);
Status DataLossError(std::string message);
Status ResourceExhaustedError(std::string message);
Status FailedPreconditionError(std::string message);
Status InternalError(std::string message);
Status CancelledError(std::string message);

namespace internal {
// These functions abort with a message when StatusOr is used wrongly: made from
// an OK status, or read without a value. They are outside the template so that
// all value types share their code.
[[noreturn]] void FailWithoutError();
[[noreturn]] void FailWithoutValue(const Status& status);
}  // namespace internal

template <typename T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(Status status) : status_(std::move(status)) {
    if (status_.ok()) internal::FailWithoutError();
  }
  StatusOr(T value) : value_(std::move(value)) {}
  template <typename U>
    requires(std::is_convertible_v<U &&, T> &&
             !std::is_same_v<std::decay_t<U>, StatusOr> &&
             !std::is_same_v<std::decay_t<U>, Status> &&
             !std::is_same_v<std::decay_t<U>, T>)
  StatusOr(U&& value) : value_(std::forward<U>(value)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  T& value() & {
    CheckValue();
    return *value_;
  }
  const T& value() const& {
    CheckValue();
    return *value_;
  }
  T&& value() && {
    CheckValue();
    return *std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void CheckValue() const {
    if (!ok()) internal::FailWithoutValue(status_);
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace ember

#define EMBER_STATUS_CONCAT_INNER(x, y) x##y
#define EMBER_STATUS_CONCAT(x, y) EMBER_STATUS_CONCAT_INNER(x, y)

#define EMBER_RETURN_IF_ERROR(expression)                                \
  do {                                                                   \
    if (::ember::Status ember_status = (expression); !ember_status.ok()) \
      return ember_status;                                               \
  } while (false)

#define EMBER_ASSIGN_OR_RETURN(declaration, expression)                        \
  EMBER_ASSIGN_OR_RETURN_IMPL(EMBER_STATUS_CONCAT(ember_status_or_, __LINE__), \
                              declaration, expression)
#define EMBER_ASSIGN_OR_RETURN_IMPL(status_or, declaration, expression) \
  auto status_or = (expression);                                        \
  if (!status_or.ok()) return std::move(status_or).status();            \
  declaration = *std::move(status_or)

#endif  // EMBER_BASE_STATUS_H_
