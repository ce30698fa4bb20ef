#include "tests/performance/model_instructions.h"

#include <map>
#include <memory>
#include <utility>

#include "base/file.h"
#include "compiler/compile.h"
#include "jit/kernel/build_nest.h"
#include "jit/target/cpu_model.h"
#include "tests/performance/count_instructions.h"
#include "tools/lib/bind.h"
#include "tools/lib/device.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tiering.h"

namespace ember::tests {
namespace {

// The CPU that instructions are counted for, with the caches and cores that the
// model has where a machine says nothing.
constexpr char kTarget[] = "x86_64-linux+avx2+fma";
jit::CpuModel CountedCpu() {
  jit::CpuModel cpu = jit::CpuModel::Of(kTarget);
  const jit::CpuModel otherwise;
  cpu.l1_bytes = otherwise.l1_bytes;
  cpu.l2_bytes = otherwise.l2_bytes;
  cpu.l3_bytes = otherwise.l3_bytes;
  cpu.cores = otherwise.cores;
  return cpu;
}

// Counts what is asked for, and has no kernel for it.
class CountingProvider final : public vm::KernelProvider {
 public:
  explicit CountingProvider(std::string schedule_folder)
      : schedule_folder_(std::move(schedule_folder)), cpu_(CountedCpu()) {}

  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    StatusOr<InstructionCount> count = Count(request);
    slot->Decline("only counted");
    if (count.ok()) {
      counts_[slot.get()] = count->total();
    } else if (status_.ok()) {
      status_ = count.status().WithContext(request.dispatch->name);
    }
  }

  const Status& status() const { return status_; }
  // Of a call of the slot's kernel; none was asked for: 0.
  double InstructionsOf(const vm::KernelSlot* slot) const {
    const auto found = counts_.find(slot);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  StatusOr<InstructionCount> Count(vm::KernelRequest request) const {
    request.target = kTarget;
    jit::NestOptions options;
    options.cpu = &cpu_;
    if (!schedule_folder_.empty()) {
      StatusOr<std::string> given = ReadFile(
          schedule_folder_ + "/" + request.dispatch->name + ".schedule");
      if (given.ok()) options.given_schedule = *std::move(given);
    }
    EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest,
                           jit::BuildNest(request, options, nullptr));
    return CountInstructions(nest, request.parameters, cpu_.vector_bytes);
  }

  const std::string schedule_folder_;
  const jit::CpuModel cpu_;
  std::map<const vm::KernelSlot*, double> counts_;
  Status status_;
};

}  // namespace

StatusOr<ModelInstructions> CountModel(onnx::ModelBuilder& model,
                                       const std::string& schedule_folder) {
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, model.Import());
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         compiler::Compile(std::move(graph), {}));
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const vm::Module> module,
                         vm::Module::FromDefinition(std::move(definition)));
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Device> device,
                         tools::OpenDevice("cpu", 1));
  const auto provider = std::make_shared<CountingProvider>(schedule_folder);
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
  ModelInstructions count;
  const std::vector<vm::SiteProfile> profile = session->Profile();
  for (size_t i = 0; i < profile.size(); ++i) {
    const vm::KernelSlot* const slot =
        tiering->slot(module->sites()[i].group).get();
    const double instructions =
        provider->InstructionsOf(slot) * static_cast<double>(profile[i].calls);
    count.dispatches.push_back({profile[i].dispatch, instructions});
    count.total += instructions;
  }
  return count;
}

}  // namespace ember::tests
