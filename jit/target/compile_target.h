// Lists the machines that kernels can be made for ahead of time, by the names
// that people use.
//
//   EMBER_ASSIGN_OR_RETURN(const CompileTarget target,
//                          FindCompileTarget("x86-64-v4+vnni"));
//   target.target;   // "x86_64-linux+v4+avx2+…+avx512vnni+cores=4"
//   NewLlvmCompiler(target.llvm);
//   CpuModel::Of(target.target);
//
// "c11" is C for any processor (jit/c). The name of a device that is not a CPU
// is the text with which it describes itself
// ("vulkan1.3+subgroup32+shared49152", "sm_90a+subgroup32+shared232448"), with
// those of its features that code may use.
//
// A name is a base, features of it, and facts about the machine for schedules:
// "x86-64-v4+vnni+l1=32K+l2=1024K+l3=32M+cores=16". Facts that are left out are
// those of a common machine. "host" is the base that fits this machine best,
// with all of its features that are known here, and its caches and cores. Code
// for a target uses no more features than its text has. hal::MissingFeatures
// checks with that text if the code runs on a machine. Thread-safe.
#ifndef EMBER_JIT_TARGET_COMPILE_TARGET_H_
#define EMBER_JIT_TARGET_COMPILE_TARGET_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::jit {

struct CompileTarget {
  // The name that was given, such as "x86-64-v4+vnni"; for "host", the base and
  // the features of this machine.
  std::string name;
  // text of the target (base/target_text.h); a machine must have its features
  // to run the code
  std::string target;
  // LLVM's name of the processor, in the form of jit/llvm/passes/host.h; empty
  // if LLVM does not make the target's code
  std::string llvm;
};

// Returns the target of the name. Returns InvalidArgument for an unknown name,
// with a list of the known ones, and Unimplemented for "host" if there is no
// back end for this machine.
StatusOr<CompileTarget> FindCompileTarget(std::string_view name);

// Returns a name for this machine that another machine understands too, unlike
// "host": it can then make kernels for this one. Returns Unimplemented if there
// is no back end for this machine.
StatusOr<std::string> NameOfHost();

// Returns the names that users may write, one line for each base: "x86-64-v4
// (+vnni, +bf16)".
std::vector<std::string> CompileTargetNames();

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_COMPILE_TARGET_H_
