#include "tools/lib/calls/shadow.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "jit/backend/decline_reasons.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/calls/repro.h"

namespace ember::tools {

// Counts the checks of all kernels and keeps their findings. Thread-safe.
class ShadowRecord {
 public:
  void CountCall(bool is_first_of_kernel) {
    std::lock_guard<std::mutex> lock(mutex_);
    kernels_ += is_first_of_kernel;
    ++calls_;
  }
  void CountUnchecked() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++unchecked_;
  }
  void Add(ShadowFinding finding) {
    std::lock_guard<std::mutex> lock(mutex_);
    findings_.push_back(std::move(finding));
  }
  std::vector<ShadowFinding> findings() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return findings_;
  }
  int64_t kernels() const { return Locked(kernels_); }
  int64_t calls() const { return Locked(calls_); }
  int64_t unchecked() const { return Locked(unchecked_); }

 private:
  int64_t Locked(const int64_t& count) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return count;
  }

  mutable std::mutex mutex_;  // guards the fields below
  int64_t kernels_ = 0, calls_ = 0, unchecked_ = 0;
  std::vector<ShadowFinding> findings_;
};

namespace {

class ShadowKernel final : public vm::HostKernel {
 public:
  ShadowKernel(const ShadowOptions& options,
               std::shared_ptr<ShadowRecord> record,
               const vm::KernelRequest& request, vm::KernelSlot& slot,
               jit::KernelText text, std::unique_ptr<vm::Kernel> kernel)
      : options_(options),
        record_(std::move(record)),
        request_(request),
        slot_(slot),
        text_(std::move(text)),
        kernel_(std::move(kernel)) {
    // `constant_data` is cleared, because the request's pointers to constants
    // are valid only while the kernel is made.
    request_.constant_data.clear();
  }

  int tier() const override { return kernel_->tier(); }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return !is_withdrawn_.load() && kernel_->Accepts(parameters);
  }
  std::string Describe() const override { return kernel_->Describe(); }

  Status Run(const vm::KernelCall& call) const override {
    // Another session may have withdrawn the kernel since this call began. Then
    // tier 0 runs the call.
    if (is_withdrawn_.load()) {
      return RunTierZero(*request_.dispatch, call.parameters, call.buffers,
                         call.runner);
    }
    if (!TakeCheck(call.parameters)) return vm::RunOnHost(*kernel_, call);
    return Check(call);
  }

 private:
  // Returns true if this call must be checked. Only the first
  // ShadowOptions::runs calls with each tuple of parameters are checked, and
  // they are counted. If `runs` is 0, all calls are checked and none is
  // counted.
  bool TakeCheck(std::span<const int64_t> parameters) const {
    if (options_.runs == 0) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    int64_t& checked = checks_[{parameters.begin(), parameters.end()}];
    if (checked >= options_.runs) return false;
    ++checked;
    return true;
  }

  Status Check(const vm::KernelCall& call) const {
    const tensor::Dispatch& dispatch = *request_.dispatch;
    StatusOr<CallOperands> borrowed = CallOperands::Borrow(dispatch, call);
    StatusOr<CallOperands> copied =
        CallOperands::Copy(dispatch, call, request_.constant_inputs);
    if (!borrowed.ok() || !copied.ok()) {
      record_->CountUnchecked();
      return vm::RunOnHost(*kernel_, call);
    }
    CallOperands& real = *borrowed;
    CallOperands& copy = *copied;
    const Status want =
        RunTierZero(dispatch, call.parameters, copy.Buffers(), call.runner);
    const Status got = vm::RunOnHost(*kernel_, call);
    // A run that was interrupted has incomplete results, so they are not
    // compared.
    const Interrupt* const interrupt = call.runner.interrupt();
    if (interrupt != nullptr && interrupt->ShouldStop())
      return interrupt->status();
    record_->CountCall(!is_checked_.exchange(true));
    std::optional<std::string> difference =
        DifferenceOf(dispatch, {got, real.outputs}, {want, copy.outputs});
    const std::optional<size_t> changed = ChangedInput(copy, real);
    if (changed && !difference) {
      difference =
          "its input %" + dispatch.buffers[*changed].name + " was changed";
    }
    if (!difference) return got;
    // The first call with wrong results withdraws the kernel; later ones find
    // it withdrawn.
    if (!is_withdrawn_.exchange(true))
      Withdraw(call, *difference, got.ok(), real, copy);
    if (changed) CopyElements(copy.inputs[*changed], real.inputs[*changed]);
    if (want.ok()) {
      for (size_t i = 0; i < real.outputs.size(); ++i)
        CopyElements(copy.outputs[i], real.outputs[i]);
    }
    return want;
  }

  void Withdraw(const vm::KernelCall& call, const std::string& difference,
                bool got_results, const CallOperands& real,
                const CallOperands& copy) const {
    ShadowFinding finding{.dispatch = request_.dispatch->name,
                          .tier = tier(),
                          .difference = difference,
                          .folder = "",
                          .folder_status = {}};
    if (!options_.folder.empty()) {
      StatusOr<std::string> folder =
          NewReproFolder(options_.folder, finding.dispatch + ".tier" +
                                              std::to_string(finding.tier));
      finding.folder_status =
          folder.ok()
              ? WriteRepro(ReproOf(call, difference, got_results, real, copy),
                           *folder)
              : folder.status();
      if (finding.folder_status.ok()) finding.folder = *folder;
    }
    std::string what = "tier " + std::to_string(finding.tier) + " with " +
                       ParametersText(*request_.dispatch, call.parameters) +
                       ": " + difference;
    if (!finding.folder.empty()) what += "; see " + finding.folder;
    slot_.Withdraw(this,
                   jit::Decline(jit::DeclineReason::kDiffers, what).ToString());
    record_->Add(std::move(finding));
  }

  Repro ReproOf(const vm::KernelCall& call, const std::string& difference,
                bool got_results, const CallOperands& real,
                const CallOperands& copy) const {
    Repro repro;
    repro.difference = difference;
    repro.dispatch = *request_.dispatch;
    repro.tier = tier();
    repro.target = request_.target;
    repro.threads = call.runner.worker_count();
    repro.parameters.assign(call.parameters.begin(), call.parameters.end());
    repro.is_specialised = !request_.parameters.empty();
    repro.constant_inputs = request_.constant_inputs;
    repro.shared = real.shared;
    repro.inputs = copy.inputs;
    repro.want = copy.outputs;
    if (got_results) repro.got = real.outputs;
    repro.schedule = text_.schedule;
    repro.nest = text_.nest;
    return repro;
  }

  const ShadowOptions options_;
  const std::shared_ptr<ShadowRecord> record_;
  vm::KernelRequest request_;
  vm::KernelSlot& slot_;
  const jit::KernelText text_;
  const std::unique_ptr<vm::Kernel> kernel_;
  mutable std::atomic<bool> is_withdrawn_{false};
  mutable std::atomic<bool> is_checked_{false};
  mutable std::mutex mutex_;  // guards checks_
  mutable std::map<std::vector<int64_t>, int64_t> checks_;
};

}  // namespace

Shadow::Shadow(ShadowOptions options)
    : options_(std::move(options)), record_(std::make_shared<ShadowRecord>()) {}

std::unique_ptr<vm::Kernel> Shadow::Wrap(const vm::KernelRequest& request,
                                         vm::KernelSlot& slot,
                                         jit::KernelText text,
                                         std::unique_ptr<vm::Kernel> kernel) {
  return std::make_unique<ShadowKernel>(options_, record_, request, slot,
                                        std::move(text), std::move(kernel));
}

std::vector<ShadowFinding> Shadow::findings() const {
  return record_->findings();
}
int64_t Shadow::checked_kernels() const { return record_->kernels(); }
int64_t Shadow::checked_calls() const { return record_->calls(); }

std::string Shadow::Text() const {
  const std::vector<ShadowFinding> findings = record_->findings();
  std::string text = "shadow: " + std::to_string(record_->kernels()) +
                     " kernels checked in " + std::to_string(record_->calls()) +
                     " calls, " + std::to_string(findings.size()) +
                     " withdrawn";
  if (record_->unchecked() > 0) {
    text += "; " + std::to_string(record_->unchecked()) +
            " calls not checked for want of memory";
  }
  text += "\n";
  for (const ShadowFinding& finding : findings) {
    text += "shadow: @" + finding.dispatch + ", tier " +
            std::to_string(finding.tier) + ": " + finding.difference;
    if (!finding.folder.empty()) text += "; vm-diff --repro=" + finding.folder;
    if (!finding.folder_status.ok())
      text += "; no repro: " + std::string(finding.folder_status.message());
    text += "\n";
  }
  return text;
}

}  // namespace ember::tools
