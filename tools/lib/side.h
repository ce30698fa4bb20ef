// One of the two things that vm-diff compares: a tier on a device.
//
//   EMBER_ASSIGN_OR_RETURN(const Side side, ParseSide("--b", "tier:2"));
//   const SideKernel kernel = MakeSideKernel(side, jit.get(), request);
//   Status status = kernel.Run(*request.dispatch, call);
//
// A SideKernel may run in several threads at once.
#ifndef EMBER_TOOLS_LIB_SIDE_H_
#define EMBER_TOOLS_LIB_SIDE_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "hal/device.h"
#include "jit/jit.h"
#include "vm/runtime/tiering.h"

namespace ember::tools {

struct Side {
  std::string device = "cpu";
  int tier = 0;
  // The device if it is not the host, set by who opens it.
  std::shared_ptr<hal::Device> opened;

  std::string Text() const {
    const std::string text = "tier " + std::to_string(tier);
    return device == "cpu" ? text : text + " on " + device;
  }
};

// "tier:N", "device:NAME", "device:NAME:INDEX", or a tier and a device with a
// comma; the tier is 0, of other devices than cpu 2. Errors name the flag, and
// the tiers and devices there are.
StatusOr<Side> ParseSide(std::string_view flag, std::string_view text);

// How a side runs one dispatch.
struct SideKernel {
  std::shared_ptr<vm::KernelSlot> slot;  // owns the kernel
  const vm::Kernel* kernel = nullptr;    // null: tier 0
  std::string declined;  // why there is no kernel although the tier wants one
  std::shared_ptr<hal::Device> device;  // that records the kernel

  Status Run(const tensor::Dispatch& dispatch,
             const vm::KernelCall& call) const;
};

// Asks the provider for a kernel of each dispatch and tuple of parameters
// before it runs first; the provider must answer at once.
std::shared_ptr<vm::Tiering> EagerTiering(
    std::shared_ptr<const vm::Module> module,
    std::shared_ptr<vm::KernelProvider> provider);

// Compiles. jit: with threads = 0; null for tier 0.
SideKernel MakeSideKernel(const Side& side, jit::Jit* jit,
                          const vm::KernelRequest& request);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_SIDE_H_
