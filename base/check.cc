#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include "base/concat.h"

namespace ember {

CheckFailure::CheckFailure(const char* file, int line, const char* condition)
    : message_(Concat({file, ":", line, ": check failed: ", condition, " "})) {}

void CheckFailure::AppendSigned(int64_t value) { message_ += Concat({value}); }
void CheckFailure::AppendUnsigned(uint64_t value) {
  message_ += Concat({value});
}

CheckFailure::~CheckFailure() {
  std::fprintf(stderr, "%s\n", message_.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace ember
