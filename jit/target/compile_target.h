// The machines that kernels can be made for ahead of time, by the names that
// people use.
//
//   EMBER_ASSIGN_OR_RETURN(const CompileTarget target,
//                          FindCompileTarget("x86-64-v4+vnni"));
//   target.target;   // "x86_64-linux+v4+avx2+…+avx512vnni+cores=4"
//   NewLlvmCompiler(target.llvm);
//   CpuModel::Of(target.target);
//
// "c11" is C for any processor (jit/c). A device that is not a CPU is named by
// the text that it describes itself by
// ("vulkan1.3+subgroup32+shared49152", "sm_90a+subgroup32+shared232448"), with
// those of its features that code may use.
//
// A name is a base, features of it, and what schedules want to know of the
// machine: "x86-64-v4+vnni+l1=32K+l2=1024K+l3=32M+cores=16", of which what is
// not said is that of a common machine. "host" is the base that this machine
// fits best with all of its features that are known here, and its caches and
// cores. Code for a target uses no more than its text says, and
// hal::MissingFeatures tells of that text whether the code runs on a machine.
// Thread-safe.
#ifndef EMBER_JIT_TARGET_COMPILE_TARGET_H_
#define EMBER_JIT_TARGET_COMPILE_TARGET_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::jit {

struct CompileTarget {
  std::string name;    // "x86-64-v4+vnni"
  std::string target;  // base/target_text.h; what images ask of a machine
  std::string llvm;    // as jit/llvm/host.h reads it; empty: not LLVM's
};

// InvalidArgument for a name that is not known, with those that are.
StatusOr<CompileTarget> FindCompileTarget(std::string_view name);

// This machine by a name that means the same elsewhere: kernels for it can be
// made on another one. Unimplemented where there is no back end for it.
StatusOr<std::string> NameOfHost();

// "x86-64-v4 (+vnni, +bf16)", one for each base.
std::vector<std::string> CompileTargetNames();

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_COMPILE_TARGET_H_
