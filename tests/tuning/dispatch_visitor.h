// Shows each dispatch that a model calls, with the operands of its first call.
//
//   auto visitor = std::make_shared<DispatchVisitor>(
//       [&](const vm::KernelRequest& request, const vm::KernelCall& call) {});
//   EMBER_RETURN_IF_ERROR(VisitModel(module, visitor));
//
// Dispatches that differ only in their names are shown once. The model itself
// is run by tier 0.
#ifndef EMBER_TESTS_TUNING_DISPATCH_VISITOR_H_
#define EMBER_TESTS_TUNING_DISPATCH_VISITOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "base/status.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/module.h"

namespace ember::tests {

class DispatchVisitor final : public vm::KernelProvider {
 public:
  // A function that receives a dispatch and its first call. request.parameters
  // are those of the call.
  using Visit = std::function<void(const vm::KernelRequest& request,
                                   const vm::KernelCall& call)>;

  explicit DispatchVisitor(Visit visit) : visit_(std::move(visit)) {}

  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override;

 private:
  class VisitingKernel;

  const Visit visit_;
  std::set<uint64_t> seen_;
};

// Runs the model once on tier 0 with random inputs, and calls the visitor's
// function for each of its dispatches.
Status VisitModel(const std::shared_ptr<const vm::Module>& module,
                  const std::shared_ptr<DispatchVisitor>& visitor);

}  // namespace ember::tests

#endif  // EMBER_TESTS_TUNING_DISPATCH_VISITOR_H_
