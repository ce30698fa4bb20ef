// Describes the machine that LLVM makes code for: this machine, an older one of
// the same architecture, or one of another architecture.
#ifndef EMBER_JIT_LLVM_PASSES_HOST_H_
#define EMBER_JIT_LLVM_PASSES_HOST_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/compile_options.h"
#include "jit/llvm/emit/ir.h"
#include "llvm/Target/TargetMachine.h"

namespace ember::jit::llvm_ir {

struct Host {
  std::string triple;
  std::string cpu;
  // the CPU's features that are switched on or off:
  // "+amx-tile,-avx512vp2intersect"
  std::string features;
  bool has_512_bits = false;
  // True if the machine has no mask registers, but masked accesses whose masks
  // are the sign bits of vector elements, as in AVX.
  bool has_sign_masks = false;
  bool has_sign_masks_of_integers = false;
  TargetTraits traits;
};

// Returns the description of a machine. `cpu` is a CPU's name that LLVM knows,
// or empty for this machine with all its features. Features may follow the
// name: "x86-64-v4+avx512vnni". "+sve=256" says how many bits SVE's vectors
// have; without it SVE is not used. A triple and a colon may come before the
// name: "arm-linux-gnueabihf:cortex-a9". LLVM's back end for another
// architecture must have been initialised (UseAllTargets). Errors: a reason to
// decline if LLVM has no such back end or does not know the CPU, or if the CPU
// is too old. Thread-safe.
StatusOr<Host> DetectHost(const std::string& cpu);

// Returns the features of the host that this machine lacks, such as "avx512f,
// avx512bw", or the name of its architecture if this machine has another one;
// empty if code for the host runs here.
StatusOr<std::string> MissingHere(const Host& host);

// Returns an LLVM target machine for the host. Only one thread at a time may
// use it.
StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateMachine(const Host& host,
                                                             Effort effort);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_HOST_H_
