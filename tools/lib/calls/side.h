// One of the two sides that vm-diff compares: a tier on a device.
//
//   EMBER_ASSIGN_OR_RETURN(const Side side, ParseSide("--b", "tier:2"));
//   const SideKernel kernel = MakeSideKernel(side, jit.get(), request);
//   Status status = kernel.Run(*request.dispatch, call);
//
// A SideKernel may run in several threads at once.
#ifndef EMBER_TOOLS_LIB_CALLS_SIDE_H_
#define EMBER_TOOLS_LIB_CALLS_SIDE_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "hal/device.h"
#include "jit/jit.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::tools {

struct Side {
  std::string device = "cpu";
  int tier = 0;
  // The device on which the side runs; null for the host. The caller opens it
  // and sets this field.
  std::shared_ptr<hal::Device> opened;

  std::string Text() const {
    const std::string text = "tier " + std::to_string(tier);
    return device == "cpu" ? text : text + " on " + device;
  }
};

// Parses a side: "tier:N", "device:NAME", "device:NAME:INDEX", or a tier and a
// device with a comma between them. If no tier is given, it is 0 on cpu and 2
// on other devices. Errors name the flag, and list the tiers and devices that
// exist.
StatusOr<Side> ParseSide(std::string_view flag, std::string_view text);

// Runs one dispatch as a side does: by a kernel, or by the interpreter if there
// is none.
struct SideKernel {
  std::shared_ptr<vm::KernelSlot> slot;  // slot that owns the kernel
  // The kernel; null if the interpreter runs the dispatch.
  const vm::Kernel* kernel = nullptr;
  // Reason why there is no kernel although the side's tier is 1 or 2; empty
  // otherwise.
  std::string declined;
  // The device that runs the kernel; null for the host.
  std::shared_ptr<hal::Device> device;

  Status Run(const tensor::Dispatch& dispatch,
             const vm::KernelCall& call) const;
};

// Makes a tiering for sessions whose kernels come from `provider`. It requests
// the kernel of a dispatch just before the dispatch runs with a tuple of
// parameters for the first time. The provider must install the kernel before
// its function returns.
std::shared_ptr<vm::Tiering> EagerTiering(
    std::shared_ptr<const vm::Module> module,
    std::shared_ptr<vm::KernelProvider> provider);

// Compiles the kernel of a dispatch. `jit` must have threads = 0; it is null
// for tier 0.
SideKernel MakeSideKernel(const Side& side, jit::Jit* jit,
                          const vm::KernelRequest& request);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_SIDE_H_
