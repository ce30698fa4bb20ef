#include "tests/oracle/miscompiled_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "compiler/compile.h"
#include "jit/backend/describe_nest.h"
#include "jit/backend/host_kernel.h"
#include "jit/kernel/build_nest.h"
#include "jit/loops/verifier/verifier.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/tensors/elements.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::tests {
namespace {

// Largest number of calls for which the operands of a dispatch are kept,
// because a dispatch in a loop is called many times.
constexpr size_t kMaxCalls = 3;

bool AreEqual(const std::vector<vm::Tensor>& a,
              const std::vector<vm::Tensor>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.byte_size == y.byte_size &&
           std::memcmp(x.data, y.data, static_cast<size_t>(x.byte_size)) == 0;
  });
}

// Returns the largest difference of two elements, relative to the sum of the
// element's magnitude and the root mean square of its tensor. It is infinite if
// an element is a number on one side only.
double Error(const std::vector<vm::Tensor>& got,
             const std::vector<vm::Tensor>& want) {
  double largest = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    double squares = 0;
    const int64_t count = want[i].element_count();
    for (int64_t e = 0; e < count; ++e)
      squares += std::pow(tools::FloatElement(want[i], e), 2);
    const double size = std::sqrt(squares / std::max<double>(1, double(count)));
    for (int64_t e = 0; e < count; ++e) {
      const double x = tools::FloatElement(got[i], e);
      const double y = tools::FloatElement(want[i], e);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double error = std::abs(x - y) / (std::abs(y) + size);
      largest = std::max(largest, std::isnan(error) ? INFINITY : error);
    }
  }
  return largest;
}

// A provider through which sessions get the oracle. It makes no kernels,
// because the test installs them itself.
class NoProvider : public vm::KernelProvider {
 public:
  void RequestKernel(const vm::KernelRequest&,
                     std::shared_ptr<vm::KernelSlot>) override {}
  std::shared_ptr<vm::KernelJudge> judge() override { return oracle_; }

 private:
  const std::shared_ptr<jit::Oracle> oracle_ =
      std::make_shared<jit::Oracle>(jit::OracleOptions{});
};

}  // namespace

// A provider that records the requests for kernels. Its kernels run tier 0, and
// keep the operands of the first calls.
class MiscompiledModel::Capture final : public vm::KernelProvider {
 public:
  explicit Capture(std::vector<Subject>& subjects) : subjects_(subjects) {}
  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    Subject& subject = subjects_.emplace_back();
    subject.request = request;
    slots.push_back(slot.get());
    slot->Install(std::make_unique<Keeper>(subjects_, subjects_.size() - 1));
  }
  std::vector<const vm::KernelSlot*> slots;

 private:
  class Keeper final : public vm::HostKernel {
   public:
    Keeper(std::vector<Subject>& subjects, size_t number)
        : subjects_(subjects), number_(number) {}
    int tier() const override { return 2; }
    bool Accepts(std::span<const int64_t> parameters) const override {
      return std::ranges::equal(parameters,
                                subjects_[number_].request.parameters);
    }
    Status Run(const vm::KernelCall& call) const override {
      Subject& subject = subjects_[number_];
      const tensor::Dispatch& dispatch = *subject.request.dispatch;
      if (subject.calls.size() < kMaxCalls) {
        EMBER_ASSIGN_OR_RETURN(
            tools::CallOperands copy,
            tools::CallOperands::Copy(dispatch, call,
                                      subject.request.constant_inputs));
        subject.calls.push_back(std::move(copy));
        subject.parameters.emplace_back(call.parameters.begin(),
                                        call.parameters.end());
      }
      return tools::RunTierZero(dispatch, call.parameters, call.buffers,
                                call.runner);
    }
    std::string Describe() const override { return "keeps"; }

   private:
    std::vector<Subject>& subjects_;
    const size_t number_;
  };

  std::vector<Subject>& subjects_;
};

StatusOr<std::unique_ptr<MiscompiledModel>> MiscompiledModel::Make(
    std::string name, onnx::ModelBuilder builder) {
  auto model = std::make_unique<MiscompiledModel>();
  model->name_ = std::move(name);
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, builder.Import());
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         compiler::Compile(std::move(graph), {}));
  EMBER_ASSIGN_OR_RETURN(model->module_,
                         vm::Module::FromDefinition(std::move(definition)));
  EMBER_ASSIGN_OR_RETURN(model->device_, tools::OpenDevice("cpu", 1));
  EMBER_ASSIGN_OR_RETURN(model->compiler_, jit::llvm_ir::NewLlvmCompiler());
  tools::RandomTensors random(0);
  EMBER_ASSIGN_OR_RETURN(model->inputs_,
                         tools::BindInputs(*model->module_, {}, {}, random));
  const auto capture = std::make_shared<Capture>(model->subjects_);
  const auto tiering = std::make_shared<vm::Tiering>(model->module_, capture,
                                                     vm::Tiering::Eager(2));
  EMBER_ASSIGN_OR_RETURN(
      const std::unique_ptr<vm::Session> session,
      vm::Session::Create(model->module_,
                          {.device = model->device_, .tiering = tiering}));
  EMBER_RETURN_IF_ERROR(session->Run(model->inputs_, &model->want_));
  for (size_t i = 0; i < capture->slots.size(); ++i) {
    Subject& subject = model->subjects_[i];
    while (tiering->slot(subject.group).get() != capture->slots[i])
      ++subject.group;
    EMBER_RETURN_IF_ERROR(model->Prepare(subject));
  }
  std::erase_if(model->subjects_,
                [](const Subject& subject) { return subject.right.empty(); });
  return model;
}

Status MiscompiledModel::Prepare(Subject& subject) {
  StatusOr<loops::LoopNest> nest = jit::BuildNest(subject.request, {}, nullptr);
  // If no loop nest can be made for the dispatch, tier 0 runs it and nothing is
  // tested.
  if (!nest.ok()) return OkStatus();
  const auto kernel = Build(subject, *std::move(nest));
  if (!kernel.ok()) return OkStatus();
  for (size_t call = 0; call < subject.calls.size(); ++call) {
    EMBER_ASSIGN_OR_RETURN(std::vector<vm::Tensor> right,
                           RunOn(subject, call, kernel->get()));
    EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> tier_zero,
                           RunOn(subject, call, nullptr));
    subject.noise = std::max(subject.noise, Error(right, tier_zero));
    subject.right.push_back(std::move(right));
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<vm::Kernel>> MiscompiledModel::Build(
    const Subject& subject, const loops::LoopNest& nest) const {
  // The factor by which correct results may exceed a few roundings, which the
  // JIT computes from the nest without the mistake.
  double error_growth = 1;
  EMBER_RETURN_IF_ERROR(
      jit::BuildNest(subject.request, {}, nullptr, &error_growth).status());
  jit::CompileOptions options;
  options.effort = jit::Effort::kFast;
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<jit::CompiledNest> code,
                         compiler_->Compile(nest, options));
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<vm::CpuKernel> kernel,
      vm::CpuKernel::Create(jit::DefineKernel(
          jit::DescribeKernel(subject.request, nest, error_growth),
          std::move(code), subject.request.constant_data, "")));
  return std::unique_ptr<vm::Kernel>(std::move(kernel));
}

StatusOr<std::vector<vm::Tensor>> MiscompiledModel::RunOn(
    const Subject& subject, size_t call, const vm::Kernel* kernel) const {
  tools::CallOperands operands = subject.calls[call];
  for (vm::Tensor& input : operands.inputs) {
    EMBER_ASSIGN_OR_RETURN(input, tools::CopyOf(input));
  }
  for (vm::Tensor& output : operands.outputs) {
    EMBER_ASSIGN_OR_RETURN(output, tools::CopyOf(output));
    std::memset(output.data, IsFloat(output.type) ? 0xff : 0xa5,
                static_cast<size_t>(output.byte_size));
  }
  operands.Share(operands.shared);
  SerialRunner runner;
  const std::vector<void*> buffers = operands.Buffers();
  const std::vector<int64_t>& parameters = subject.parameters[call];
  EMBER_RETURN_IF_ERROR(
      kernel != nullptr ? vm::RunOnHost(*kernel, {parameters, buffers, runner})
                        : tools::RunTierZero(*subject.request.dispatch,
                                             parameters, buffers, runner));
  return operands.outputs;
}

MiscompiledModel::Visible MiscompiledModel::RunWith(
    size_t group, std::unique_ptr<vm::Kernel> kernel) {
  const auto provider = std::make_shared<NoProvider>();
  vm::Tiering::Options options;
  options.least_ns = 0;
  options.tier1_calls = 1;
  options.keeps_slow_kernels = true;
  const auto tiering =
      std::make_shared<vm::Tiering>(module_, provider, options);
  const auto session =
      *vm::Session::Create(module_, {.device = device_, .tiering = tiering});
  std::vector<vm::Tensor> results;
  Visible visible;
  const auto run = [&] {
    const Status status = session->Run(inputs_, &results);
    visible.is_right &= status.ok() && AreEqual(results, want_);
  };
  run();
  tiering->slot(group)->Install(std::move(kernel));
  constexpr int kRuns = 4;
  for (int i = 0; i < kRuns; ++i) {
    run();
    visible.reasons = tiering->slot(group)->decline_reasons();
    if (!visible.reasons.empty()) break;
  }
  return visible;
}

Trial MiscompiledModel::Try(size_t dispatch, loops::MutantKind kind,
                            uint64_t seed) {
  const Subject& subject = subjects_[dispatch];
  Trial trial;
  StatusOr<loops::LoopNest> nest = jit::BuildNest(subject.request, {}, nullptr);
  const auto what = loops::Mutate(*nest, kind, seed);
  if (!what.has_value()) return trial;
  trial.what = *what;
  trial.outcome = MiscompileOutcome::kRefused;
  if (!loops::Verify(*nest).ok()) return trial;
  StatusOr<std::unique_ptr<vm::Kernel>> kernel =
      Build(subject, *std::move(nest));
  if (!kernel.ok()) return trial;
  trial.outcome = MiscompileOutcome::kEquivalent;
  for (size_t call = 0; call < subject.calls.size(); ++call) {
    const auto wrong = RunOn(subject, call, kernel->get());
    if (wrong.ok() && AreEqual(*wrong, subject.right[call])) continue;
    trial.error =
        std::max(trial.error,
                 wrong.ok() ? Error(*wrong, subject.right[call]) : INFINITY);
  }
  if (trial.error == 0) return trial;
  // A wrong kernel's difference counts as rounding if it is at most this factor
  // larger than the difference between the correct kernel and tier 0.
  constexpr double kAsFar = 16;
  trial.outcome = MiscompileOutcome::kRounding;
  if (trial.error <= kAsFar * std::max(subject.noise, 0x1p-24)) return trial;
  const Visible visible = RunWith(subject.group, *std::move(kernel));
  if (!visible.reasons.empty()) trial.reason = visible.reasons[0];
  trial.outcome = visible.is_right && !visible.reasons.empty()
                      ? MiscompileOutcome::kCaught
                      : MiscompileOutcome::kMissed;
  return trial;
}

std::vector<std::string> MiscompiledModel::TryRightKernels() {
  std::vector<std::string> reasons;
  for (const Subject& subject : subjects_) {
    auto kernel = Build(subject, *jit::BuildNest(subject.request, {}, nullptr));
    if (!kernel.ok()) continue;
    for (std::string& reason :
         RunWith(subject.group, *std::move(kernel)).reasons)
      reasons.push_back(std::move(reason));
  }
  return reasons;
}

}  // namespace ember::tests
