#include "tools/lib/calls/lockstep.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/media/image_decoder.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/library/string_functions.h"

namespace ember::tools {

// A kernel that runs a dispatch on both sides and compares the results. It is
// made for one tuple of parameters.
class LockstepKernel final : public vm::HostKernel {
 public:
  LockstepKernel(const vm::KernelRequest& request,
                 std::shared_ptr<Lockstep::State> state)
      : request_(request), state_(std::move(state)) {
    const LockstepOptions& options = state_->options;
    a_ = MakeSideKernel(options.a, options.jit.get(), request);
    b_ = MakeSideKernel(options.b, options.jit.get(), request);
    for (const SideKernel* side : {&a_, &b_}) {
      if (!side->declined.empty()) {
        state_->report.declined.insert("@" + request.dispatch->name + ": " +
                                       side->declined);
      }
    }
    // `constant_data` is cleared, because the request's pointers to constants
    // are valid only while the kernel is made.
    request_.constant_data.clear();
  }

  int tier() const override { return 2; }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return std::ranges::equal(parameters, request_.parameters);
  }
  std::string Describe() const override { return "both sides"; }

  Status Run(const vm::KernelCall& call) const override {
    const tensor::Dispatch& dispatch = *request_.dispatch;
    if (state_->only_b) return b_.Run(dispatch, call);
    LockstepReport& report = state_->report;
    ++report.calls;
    if (a_.kernel == nullptr && b_.kernel == nullptr)
      return a_.Run(dispatch, call);
    // The operands are copied for side b before side a runs, because a dispatch
    // that computes in place overwrites them.
    EMBER_ASSIGN_OR_RETURN(
        CallOperands copy,
        CallOperands::Copy(dispatch, call, request_.constant_inputs));
    EMBER_ASSIGN_OR_RETURN(const CallOperands real,
                           CallOperands::Borrow(dispatch, call));
    copy.Share(real.shared);
    const Status want = a_.Run(dispatch, call);
    const Status got =
        b_.Run(dispatch, {call.parameters, copy.Buffers(), call.runner});
    ++report.compared;
    const std::optional<std::string> difference =
        DifferenceOf(dispatch, {got, copy.outputs}, {want, real.outputs},
                     state_->options.factor);
    if (difference) Record(call, *difference);
    return want;
  }

 private:
  void Record(const vm::KernelCall& call, const std::string& difference) const {
    LockstepReport& report = state_->report;
    ++report.differing;
    const tensor::Dispatch& dispatch = *request_.dispatch;
    const std::string parameters = ParametersText(dispatch, call.parameters);
    if (!state_->seen.insert(dispatch.name + " " + parameters).second) return;
    report.differences.push_back(
        {.call = report.calls,
         .dispatch = dispatch.name,
         .origin = OriginOf(state_->module->definition(), dispatch),
         .parameters = parameters,
         .difference = difference});
  }

  vm::KernelRequest request_;
  const std::shared_ptr<Lockstep::State> state_;
  SideKernel a_, b_;
};

class LockstepProvider final : public vm::KernelProvider {
 public:
  explicit LockstepProvider(std::shared_ptr<Lockstep::State> state)
      : state_(std::move(state)) {}
  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    slot->Install(std::make_unique<LockstepKernel>(request, state_));
  }

 private:
  const std::shared_ptr<Lockstep::State> state_;
};

StatusOr<std::unique_ptr<Lockstep>> Lockstep::Create(
    std::shared_ptr<const vm::Module> module, LockstepOptions options) {
  std::unique_ptr<Lockstep> lockstep(new Lockstep);
  lockstep->state_->module = module;
  lockstep->state_->options = std::move(options);
  const LockstepOptions& kept = lockstep->state_->options;
  vm::SessionOptions session = {
      .device = kept.device,
      .strings = vm::NewStringSupport,
      .images = DecodeImage,
      .tiering = EagerTiering(
          module, std::make_shared<LockstepProvider>(lockstep->state_))};
  EMBER_RETURN_IF_ERROR(SetLimits(kept.limits, session));
  EMBER_ASSIGN_OR_RETURN(lockstep->session_,
                         vm::Session::Create(module, session));
  if (kept.b.opened != nullptr) {
    session.device = kept.b.opened;
    session.device_support = vm::NewDeviceSupport;
    session.tiering = std::make_shared<vm::Tiering>(
        module, kept.jit, vm::Tiering::Eager(kept.b.tier));
    EMBER_ASSIGN_OR_RETURN(lockstep->session_b_,
                           vm::Session::Create(std::move(module), session));
  }
  return lockstep;
}

StatusOr<std::vector<vm::Tensor>> Lockstep::Run(
    std::span<const vm::Tensor> inputs) {
  state_->only_b = false;
  std::vector<vm::Tensor> results;
  EMBER_RETURN_IF_ERROR(session_->Run(inputs, &results));
  return results;
}

StatusOr<std::vector<vm::Tensor>> Lockstep::RunB(
    std::span<const vm::Tensor> inputs) {
  state_->only_b = true;
  std::vector<vm::Tensor> results;
  vm::Session& session = session_b_ != nullptr ? *session_b_ : *session_;
  EMBER_RETURN_IF_ERROR(session.Run(inputs, &results));
  return results;
}

std::string OriginOf(const vm::ModuleDefinition& module,
                     const tensor::Dispatch& dispatch) {
  for (size_t i = 0; i < module.dispatch_origins.size(); ++i) {
    if (&module.dispatches[i] == &dispatch) return module.dispatch_origins[i];
  }
  return "";
}

}  // namespace ember::tools
