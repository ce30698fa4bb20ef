// The options of building a kernel, and a report on the building, for people.
//
//   KernelReport report;
//   BuildKernel(request, compiler, {.keeps_text = true}, &report);
//   report.schedule;   // "split %y i 8 -> …"
//
// Plain values.
#ifndef EMBER_JIT_BACKEND_KERNEL_REPORT_H_
#define EMBER_JIT_BACKEND_KERNEL_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "jit/backend/code_origin.h"
#include "jit/backend/pass_log.h"

namespace ember::jit {

// One textual form of a kernel's code: LLVM IR, assembly, PTX or disassembled
// SPIR-V.
struct CodeText {
  // extension of a file with this text: ".ll", ".s", ".ptx", ".spvasm"
  std::string extension;
  std::string text;
};

// The options of building a kernel.
struct KernelOptions {
  // If true, the report gets the text of the schedule, and of the nest after
  // each pass. The nest is then verified after each pass.
  bool keeps_text = false;
  // If true, the report gets the texts of the code.
  bool keeps_code_text = false;
  // A schedule to replay instead of the default one; empty: the default one.
  std::string given_schedule;
  // The value of NestOptions::has_canonical_names (jit/kernel/build_nest.h).
  bool has_canonical_names = false;
  // True if the default schedule must keep rounding (ScheduleOptions).
  bool is_exact = false;
  // The passes to leave out (PassOptions::disabled).
  std::set<std::string, std::less<>> disabled_passes;
};

// A report on the building of a kernel.
struct KernelReport {
  std::string schedule, nest;  // empty without KernelOptions::keeps_text
  // Texts of the code in the order in which they were made; empty without
  // KernelOptions::keeps_code_text.
  std::vector<CodeText> code;
  // The passes that ran, up to the first that failed. If the code is from a
  // cache, the passes that make code of the nest did not run and are missing.
  std::vector<PassRecord> passes;
  double schedule_ms = 0;  // time for the schedule and the loop nest
  double optimize_ms = 0;
  // time for making the code, including the compilation by the device's driver
  double codegen_ms = 0;
  double pack_ms = 0;
  int64_t code_bytes = 0;
  double error_growth = 1;  // as vm::Kernel::error_growth
  CodeOrigin origin = CodeOrigin::kCompiled;
};

// Returns the begin of the text that vm::Kernel::Describe returns: "compiled in
// 12.3 ms, 2 phases, 4.5 kB of code".
std::string Summary(const KernelReport& report, size_t phases);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_KERNEL_REPORT_H_
