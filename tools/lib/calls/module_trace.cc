#include "tools/lib/calls/module_trace.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/media/image_decoder.h"
#include "vm/runtime/library/string_functions.h"

namespace ember::tools {
namespace {

class TracingKernel final : public vm::HostKernel {
 public:
  TracingKernel(const vm::KernelRequest& request, SideKernel kernel,
                std::string origin, std::vector<TracedCall>* calls)
      : dispatch_(*request.dispatch),
        parameters_(request.parameters),
        kernel_(std::move(kernel)),
        origin_(std::move(origin)),
        calls_(calls) {}

  int tier() const override { return 2; }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return std::ranges::equal(parameters, parameters_);
  }
  std::string Describe() const override { return "traced"; }

  Status Run(const vm::KernelCall& call) const override {
    EMBER_RETURN_IF_ERROR(kernel_.Run(dispatch_, call));
    EMBER_ASSIGN_OR_RETURN(const CallOperands operands,
                           CallOperands::Borrow(dispatch_, call));
    TracedCall& traced = calls_->emplace_back();
    traced.dispatch = dispatch_.name;
    traced.origin = origin_;
    traced.parameters = ParametersText(dispatch_, call.parameters);
    for (const vm::Tensor& output : operands.outputs) {
      traced.output_names.push_back(
          dispatch_.buffers[operands.inputs.size() + traced.outputs.size()]
              .name);
      EMBER_ASSIGN_OR_RETURN(vm::Tensor copy, CopyOf(output));
      traced.outputs.push_back(std::move(copy));
    }
    return OkStatus();
  }

 private:
  const tensor::Dispatch& dispatch_;
  const std::vector<int64_t> parameters_;
  const SideKernel kernel_;
  const std::string origin_;
  std::vector<TracedCall>* const calls_;
};

class TracingProvider final : public vm::KernelProvider {
 public:
  TracingProvider(const vm::Module& module, const Side& side,
                  std::shared_ptr<jit::Jit> jit, std::vector<TracedCall>* calls)
      : module_(module), side_(side), jit_(std::move(jit)), calls_(calls) {}
  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    slot->Install(std::make_unique<TracingKernel>(
        request, MakeSideKernel(side_, jit_.get(), request),
        OriginOf(module_.definition(), *request.dispatch), calls_));
  }

 private:
  const vm::Module& module_;
  const Side side_;
  const std::shared_ptr<jit::Jit> jit_;
  std::vector<TracedCall>* const calls_;
};

// Returns the key by which calls of two traces are paired: the dispatch's name
// without its leading number ("d12_"), the nodes of the model, and the types of
// its results.
std::string KeyOf(const TracedCall& call) {
  std::string_view name = call.dispatch;
  size_t digits = 1;
  while (digits < name.size() && std::isdigit(name[digits]) != 0) ++digits;
  if (name.starts_with('d') && digits > 1 && digits < name.size() &&
      name[digits] == '_')
    name.remove_prefix(digits + 1);
  std::string key = std::string(name) + "\n" + call.origin;
  for (const vm::Tensor& output : call.outputs) key += "\n" + output.TypeText();
  return key;
}

// Describes the first result that differs, in the same words as DifferenceOf
// (tools/lib/calls/dispatch_call.h).
std::string DifferenceOf(const TracedCall& got, const TracedCall& want,
                         const Tolerance& tolerance) {
  for (size_t i = 0; i < got.outputs.size(); ++i) {
    const Comparison comparison =
        Compare(got.outputs[i], want.outputs[i], tolerance);
    if (!comparison.equal)
      return "%" + got.output_names[i] + comparison.message;
  }
  return "";
}

}  // namespace

StatusOr<ModuleTrace> ModuleTrace::Record(
    const std::shared_ptr<const vm::Module>& module, const Side& side,
    std::shared_ptr<jit::Jit> jit, std::shared_ptr<hal::Device> device,
    std::span<const vm::Tensor> inputs, const LimitFlags& limits) {
  ModuleTrace trace;
  auto provider = std::make_shared<TracingProvider>(
      *module, side, std::move(jit), &trace.calls);
  vm::SessionOptions options = {.device = std::move(device),
                                .strings = vm::NewStringSupport,
                                .images = DecodeImage,
                                .tiering = EagerTiering(module, provider)};
  EMBER_RETURN_IF_ERROR(SetLimits(limits, options));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         vm::Session::Create(module, options));
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &trace.results));
  return trace;
}

TraceComparison CompareTraces(const ModuleTrace& got, const ModuleTrace& want,
                              const Tolerance& tolerance) {
  std::map<std::string, std::vector<const TracedCall*>> partners;
  for (const TracedCall& call : want.calls)
    partners[KeyOf(call)].push_back(&call);
  TraceComparison result;
  std::map<std::string, size_t> runs;
  std::set<std::string> seen;
  for (size_t i = 0; i < got.calls.size(); ++i) {
    const TracedCall& call = got.calls[i];
    const std::string key = KeyOf(call);
    const std::vector<const TracedCall*>& list = partners[key];
    const size_t run = runs[key]++;
    if (run >= list.size()) continue;
    ++result.compared;
    std::string difference = DifferenceOf(call, *list[run], tolerance);
    if (difference.empty()) continue;
    ++result.differing;
    if (!seen.insert(key + "\n" + call.parameters).second) continue;
    result.differences.push_back({.call = static_cast<int64_t>(i) + 1,
                                  .dispatch = call.dispatch,
                                  .origin = call.origin,
                                  .parameters = call.parameters,
                                  .difference = std::move(difference)});
  }
  result.without_partner =
      static_cast<int64_t>(got.calls.size() + want.calls.size()) -
      2 * result.compared;
  return result;
}

}  // namespace ember::tools
