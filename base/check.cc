#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ember {

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  message_ = std::string(file) + ":" + std::to_string(line) +
             ": check failed: " + condition + " ";
}

CheckFailure::~CheckFailure() {
  std::fprintf(stderr, "%s\n", message_.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace ember
