// The machine that this runs on, for LLVM; or one that is like it, but older.
#ifndef EMBER_JIT_LLVM_HOST_H_
#define EMBER_JIT_LLVM_HOST_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/compile_options.h"
#include "jit/llvm/ir.h"
#include "llvm/Target/TargetMachine.h"

namespace ember::jit {

struct Host {
  std::string triple;
  std::string cpu;
  std::string features;  // beside the CPU's: "+amx-tile,-avx512vp2intersect"
  bool has_512_bits = false;
  // Masks are signs of elements, not registers of their own.
  bool has_sign_masks = false;
  bool has_sign_masks_of_integers = false;
  TargetTraits traits;
};

// cpu: a name that LLVM has, or empty for this machine with all it can do. With
// more features behind it: "x86-64-v4+avx512vnni"; "+sve=256" says how long
// vectors of SVE are, without it they are not used. With a triple and a colon
// before it, of a machine of another kind, whose code can be looked at (its
// back end has to be initialized): "arm-linux-gnueabihf:cortex-a9".
// Thread-safe. Fails where LLVM has no back end or the CPU is too old.
StatusOr<Host> DetectHost(const std::string& cpu);

// What this machine lacks of it: "avx512f, avx512bw", or its architecture;
// empty if its code runs here.
StatusOr<std::string> MissingHere(const Host& host);

// One machine serves one thread.
StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateMachine(const Host& host,
                                                             Effort effort);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_HOST_H_
