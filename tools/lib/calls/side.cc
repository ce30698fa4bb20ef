#include "tools/lib/calls/side.h"

#include <algorithm>

#include "hal/registry/drivers.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/calls/run_recorded.h"

namespace ember::tools {
namespace {

Status SetPart(std::string_view part, Side& side) {
  if (part == "tier:0" || part == "tier:1" || part == "tier:2") {
    side.tier = part.back() - '0';
    return OkStatus();
  }
  std::string devices;
  for (const hal::Driver& driver : hal::AllDrivers()) {
    const std::string name = "device:" + std::string(driver.name);
    if (part == name || part.starts_with(name + ":")) {
      side.device = std::string(part.substr(part.find(':') + 1));
      return OkStatus();
    }
    devices += ", device:" + std::string(driver.name);
  }
  return InvalidArgumentError("expected one of tier:0, tier:1, tier:2" +
                              devices + ", found '" + std::string(part) + "'");
}

}  // namespace

StatusOr<Side> ParseSide(std::string_view flag, std::string_view text) {
  Side side;
  if (text.find("device:") != std::string_view::npos &&
      text.find("device:cpu") == std::string_view::npos)
    side.tier = 2;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const Status status = SetPart(text.substr(begin, end - begin), side);
    if (!status.ok()) return status.WithContext(flag);
    begin = end + 1;
  }
  return side;
}

Status SideKernel::Run(const tensor::Dispatch& dispatch,
                       const vm::KernelCall& call) const {
  if (kernel != nullptr && kernel->recorded() != nullptr)
    return RunRecorded(*device, *kernel->recorded(), dispatch, call);
  if (kernel != nullptr) return vm::RunOnHost(*kernel, call);
  return RunTierZero(dispatch, call.parameters, call.buffers, call.runner);
}

std::shared_ptr<vm::Tiering> EagerTiering(
    std::shared_ptr<const vm::Module> module,
    std::shared_ptr<vm::KernelProvider> provider) {
  return std::make_shared<vm::Tiering>(std::move(module), std::move(provider),
                                       vm::Tiering::Eager(2));
}

SideKernel MakeSideKernel(const Side& side, jit::Jit* jit,
                          const vm::KernelRequest& request) {
  SideKernel result;
  if (side.tier == 0) return result;
  vm::KernelRequest own = request;
  own.tier = side.tier;
  own.device = side.opened;
  if (side.opened != nullptr) own.target = side.opened->target();
  result.device = side.opened;
  // A kernel of tier 1 is made for all shapes, as it is in sessions.
  if (side.tier == 1) own.parameters.clear();
  result.slot = std::make_shared<vm::KernelSlot>();
  jit->RequestKernel(own, result.slot);
  const vm::KernelSlot::Kernels* const kernels = result.slot->kernels();
  if (kernels != nullptr && !kernels->list.empty()) {
    result.kernel = kernels->list.front();
  } else {
    for (const std::string& reason : result.slot->decline_reasons())
      result.declined += reason;
  }
  return result;
}

}  // namespace ember::tools
