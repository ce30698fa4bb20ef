#include "tests/performance/model_nests.h"

#include <map>
#include <memory>
#include <utility>

#include "base/file.h"
#include "compiler/compile.h"
#include "jit/kernel/build_nest.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/models/bind.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::tests {
namespace {

// A kernel provider that records the nest of each requested kernel and makes no
// kernels, so that tier 0 runs the model.
class NestProvider final : public vm::KernelProvider {
 public:
  NestProvider(const GuardedCpu& cpu, std::string schedule_folder)
      : target_(cpu.target),
        cpu_(cpu.Model()),
        schedule_folder_(std::move(schedule_folder)) {}

  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    StatusOr<ModelNest> nest = NestFor(request);
    slot->Decline("only looked at");
    if (nest.ok()) {
      nests_.emplace(slot.get(), *std::move(nest));
    } else if (status_.ok()) {
      status_ = nest.status().WithContext(request.dispatch->name);
    }
  }

  const Status& status() const { return status_; }
  // Returns the nest for a slot. Null if none was requested.
  const ModelNest* Find(const vm::KernelSlot* slot) const {
    const auto found = nests_.find(slot);
    return found == nests_.end() ? nullptr : &found->second;
  }

 private:
  StatusOr<ModelNest> NestFor(vm::KernelRequest request) const {
    request.target = target_;
    jit::NestOptions options;
    options.cpu = &cpu_;
    if (!schedule_folder_.empty()) {
      StatusOr<std::string> given = ReadFile(
          schedule_folder_ + "/" + request.dispatch->name + ".schedule");
      if (given.ok()) options.given_schedule = *std::move(given);
    }
    jit::NestText text;
    ModelNest nest;
    EMBER_ASSIGN_OR_RETURN(nest.nest, jit::BuildNest(request, options, &text));
    nest.parameters = request.parameters;
    nest.schedule = std::move(text.schedule);
    return nest;
  }

  const std::string target_;
  const jit::CpuModel cpu_;
  const std::string schedule_folder_;
  std::map<const vm::KernelSlot*, ModelNest> nests_;
  Status status_;
};

}  // namespace

StatusOr<std::vector<ModelNest>> NestsOf(onnx::ModelBuilder& model,
                                         const GuardedCpu& cpu,
                                         const std::string& schedule_folder) {
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, model.Import());
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         compiler::Compile(std::move(graph), {}));
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const vm::Module> module,
                         vm::Module::FromDefinition(std::move(definition)));
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Device> device,
                         tools::OpenDevice("cpu", 1));
  const auto provider = std::make_shared<NestProvider>(cpu, schedule_folder);
  const auto tiering =
      std::make_shared<vm::Tiering>(module, provider, vm::Tiering::Eager(2));
  EMBER_ASSIGN_OR_RETURN(
      const std::unique_ptr<vm::Session> session,
      vm::Session::Create(module, {.device = device, .tiering = tiering}));
  tools::RandomTensors random(0);
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> inputs,
                         tools::BindInputs(*module, {}, {}, random));
  std::vector<vm::Tensor> results;
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  EMBER_RETURN_IF_ERROR(provider->status());
  std::vector<ModelNest> nests;
  const std::vector<vm::SiteProfile> profile = session->Profile();
  for (size_t i = 0; i < profile.size(); ++i) {
    const ModelNest* const made =
        provider->Find(tiering->slot(module->sites()[i].group).get());
    if (made == nullptr) continue;
    nests.push_back(*made);
    nests.back().dispatch = profile[i].dispatch;
    nests.back().calls = profile[i].calls;
  }
  return nests;
}

}  // namespace ember::tests
