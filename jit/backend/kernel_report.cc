#include "jit/backend/kernel_report.h"

#include <cstdio>

namespace ember::jit {
namespace {

const char* OriginText(CodeOrigin origin) {
  switch (origin) {
    case CodeOrigin::kCompiled:
      return "compiled";
    case CodeOrigin::kShared:
      return "shared code, made";
    case CodeOrigin::kLoaded:
      return "code from the cache, made";
  }
  return "";
}

}  // namespace

std::string Summary(const KernelReport& report, size_t phases) {
  char text[128];
  std::snprintf(text, sizeof text, "%s in %.1f ms, %zu phases, %.1f kB of code",
                OriginText(report.origin),
                report.schedule_ms + report.optimize_ms + report.codegen_ms,
                phases, static_cast<double>(report.code_bytes) / 1000);
  return text;
}

}  // namespace ember::jit
