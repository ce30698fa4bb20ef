// Describes a machine to LLVM: the machine that this code runs on, an older
// machine of its kind, or a machine of another kind.
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
  // features to add to or remove from those of the CPU:
  // "+amx-tile,-avx512vp2intersect"
  std::string features;
  bool has_512_bits = false;
  // True if masks of lanes are the signs of elements, as in AVX, instead of
  // registers of their own.
  bool has_sign_masks = false;
  bool has_sign_masks_of_integers = false;
  TargetTraits traits;
};

// Returns the description of a machine. cpu: a name that LLVM knows, or empty
// for this machine with all its features. Further features may follow:
// "x86-64-v4+avx512vnni". "+sve=256" gives the bits of SVE's vectors; without
// it SVE is not used. A triple and a colon before the name mean a machine of
// another kind, whose back end has to be initialized and whose code can be
// looked at: "arm-linux-gnueabihf:cortex-a9". Thread-safe. Fails if LLVM has no
// back end or the CPU is too old.
StatusOr<Host> DetectHost(const std::string& cpu);

// Returns the features of the host that this machine lacks, "avx512f,
// avx512bw", or the host's architecture if it differs; empty if code for the
// host runs here.
StatusOr<std::string> MissingHere(const Host& host);

// Returns a target machine of LLVM. It must not be shared between threads.
StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateMachine(const Host& host,
                                                             Effort effort);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_HOST_H_
