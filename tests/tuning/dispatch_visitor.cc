#include "tests/tuning/dispatch_visitor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "tensor/text/text.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/models/bind.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/kernels/slot.h"
#include "vm/runtime/session.h"

namespace ember::tests {
namespace {

// Returns a key that is the same for dispatches which differ only in their
// names.
uint64_t KeyOf(const vm::KernelRequest& request) {
  const std::string text = tensor::Print(*request.dispatch);
  std::string key = text.substr(text.find_first_of("(<"));
  for (const int64_t parameter : request.parameters)
    key += std::to_string(parameter) + ",";
  for (const bool is_constant : request.constant_inputs)
    key += is_constant ? 'c' : 'v';
  return HashString(key);
}

}  // namespace

// A kernel that runs tier 0, and shows the first call of a dispatch.
class DispatchVisitor::VisitingKernel final : public vm::HostKernel {
 public:
  VisitingKernel(DispatchVisitor& visitor, vm::KernelRequest request)
      : visitor_(visitor), request_(std::move(request)) {}

  int tier() const override { return request_.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return request_.parameters.empty() ||
           std::ranges::equal(parameters, request_.parameters);
  }
  std::string Describe() const override { return "shown"; }

  Status Run(const vm::KernelCall& call) const override {
    vm::KernelRequest request = request_;
    request.parameters.assign(call.parameters.begin(), call.parameters.end());
    if (visitor_.seen_.insert(KeyOf(request)).second)
      visitor_.visit_(request, call);
    return tools::RunTierZero(*request.dispatch, call.parameters, call.buffers,
                              call.runner);
  }

 private:
  DispatchVisitor& visitor_;
  const vm::KernelRequest request_;
};

void DispatchVisitor::RequestKernel(const vm::KernelRequest& request,
                                    std::shared_ptr<vm::KernelSlot> slot) {
  slot->Install(std::make_unique<VisitingKernel>(*this, request));
}

Status VisitModel(const std::shared_ptr<const vm::Module>& module,
                  const std::shared_ptr<DispatchVisitor>& visitor) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Device> device,
                         tools::OpenDevice("cpu", 1));
  const auto tiering =
      std::make_shared<vm::Tiering>(module, visitor, vm::Tiering::Eager(2));
  EMBER_ASSIGN_OR_RETURN(
      const std::unique_ptr<vm::Session> session,
      vm::Session::Create(module, {.device = device, .tiering = tiering}));
  tools::RandomTensors random(0);
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> inputs,
                         tools::BindInputs(*module, {}, {}, random));
  std::vector<vm::Tensor> results;
  return session->Run(inputs, &results);
}

}  // namespace ember::tests
