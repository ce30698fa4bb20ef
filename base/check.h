// Checks for our own bugs. A failed check prints one line and aborts; checks
// stay on in release builds because they are cheap and a wrong answer is worse
// than a stop. Errors that a user can cause are reported as a Status
// (base/status.h), never by a check.
//
//   EMBER_CHECK(index < size) << "register " << index;
#ifndef EMBER_BASE_CHECK_H_
#define EMBER_BASE_CHECK_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember {

// Collects the message of a failed check. Its destructor prints the message and
// aborts.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;

  CheckFailure& operator<<(std::string_view text) {
    message_ += text;
    return *this;
  }
  template <typename Integer>
    requires std::is_integral_v<Integer>
  CheckFailure& operator<<(Integer value) {
    if constexpr (std::is_signed_v<Integer>)
      AppendSigned(value);
    else
      AppendUnsigned(value);
    return *this;
  }

 private:
  void AppendSigned(int64_t value);
  void AppendUnsigned(uint64_t value);

  std::string message_;
};

// The operator & gives `CheckFailure << ...` the type void, so that both
// branches of the conditional expression in EMBER_CHECK have one type.
struct CheckVoidify {
  void operator&(const CheckFailure&) const {}
};

}  // namespace ember

#define EMBER_CHECK(condition)         \
  (__builtin_expect(!!(condition), 1)) \
      ? (void)0                        \
      : ::ember::CheckVoidify() &      \
            ::ember::CheckFailure(__FILE__, __LINE__, #condition)

#ifdef NDEBUG
#define EMBER_DCHECK(condition) EMBER_CHECK(true || (condition))
#else
#define EMBER_DCHECK(condition) EMBER_CHECK(condition)
#endif

#endif  // EMBER_BASE_CHECK_H_
