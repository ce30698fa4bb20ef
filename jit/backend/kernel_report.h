// A report on how a kernel was built, for people.
//
//   KernelReport report;
//   report.keep_text = true;
//   BuildKernel(request, compiler, &report);
//   report.schedule;   // "split %y i 8 -> …"
//
// A plain value.
#ifndef EMBER_JIT_BACKEND_KERNEL_REPORT_H_
#define EMBER_JIT_BACKEND_KERNEL_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jit/backend/code_origin.h"

namespace ember::jit {

// The code at one of its stages: LLVM IR, assembly, PTX, disassembled SPIR-V.
struct CodeText {
  // extension of a file with this text: ".ll", ".s", ".ptx", ".spvasm"
  std::string extension;
  std::string text;
};

struct KernelReport {
  // Set by the caller. keep_text: true to keep schedule and nest;
  // keep_code_text: true to keep the texts of the code; given_schedule: a
  // schedule to replay instead of the default one (empty: the default one).
  bool keep_text = false;
  bool keep_code_text = false;
  std::string given_schedule;
  // Set by the caller: true if the default schedule must keep rounding
  // (ScheduleOptions).
  bool is_exact = false;

  std::string schedule, nest;
  // texts of the code in the order in which they were made
  std::vector<CodeText> code;
  double schedule_ms = 0;  // time for the schedule and the loop nest
  double optimize_ms = 0;
  double codegen_ms = 0;  // time for the code, including the device's driver
  double pack_ms = 0;
  int64_t code_bytes = 0;
  double error_growth = 1;  // as vm::Kernel::error_growth
  CodeOrigin origin = CodeOrigin::kCompiled;
};

// Returns the begin of vm::Kernel::Describe: "compiled in 12.3 ms, 2 phases,
// 4.5 kB of code".
std::string Summary(const KernelReport& report, size_t phases);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_KERNEL_REPORT_H_
