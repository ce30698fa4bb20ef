#include "tools/lib/calls/replay.h"

#include <memory>
#include <utility>

#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/calls/side.h"
#include "tools/lib/cli/load_jit.h"
#include "tools/lib/report/dispatch_work.h"

namespace ember::tools {
namespace {

// Largest number of points (iterations of all loops) for which a loop nest is
// evaluated. The evaluator takes some hundred nanoseconds per point.
constexpr double kMaxPoints = 2e7;

// Receives each compiled kernel and keeps the texts of its schedule and loop
// nest. Returns the kernel unchanged.
class TextKeeper final : public jit::KernelWrapper {
 public:
  std::unique_ptr<vm::Kernel> Wrap(
      const vm::KernelRequest&, vm::KernelSlot&, jit::KernelText text,
      std::unique_ptr<vm::Kernel> kernel) override {
    text_ = std::move(text);
    return kernel;
  }
  const jit::KernelText& text() const { return text_; }

 private:
  jit::KernelText text_;
};

StatusOr<CallOperands> NewOperands(const Repro& repro) {
  std::vector<vm::Tensor> inputs;
  for (const vm::Tensor& input : repro.inputs) {
    EMBER_ASSIGN_OR_RETURN(vm::Tensor copy, CopyOf(input));
    inputs.push_back(std::move(copy));
  }
  return CallOperands::ForInputs(repro.dispatch, repro.parameters,
                                 std::move(inputs));
}

// Evaluates the loop nest from which the kernel was made. Returns a text that
// says whether the loop nest itself or the machine code made from it is wrong.
StatusOr<std::string> Blame(const Repro& repro, const std::string& nest_text,
                            const std::vector<vm::Tensor>& want) {
  EMBER_ASSIGN_OR_RETURN(const DispatchWork work,
                         WorkOf(repro.dispatch, repro.parameters));
  if (work.points > kMaxPoints)
    return std::string("the dispatch is too large to evaluate its loop nest");
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest, loops::Parse(nest_text));
  EMBER_RETURN_IF_ERROR(loops::Verify(nest));
  EMBER_ASSIGN_OR_RETURN(const CallOperands operands, NewOperands(repro));
  const std::span<const int64_t> parameters = repro.parameters;
  const Status status = loops::Evaluate(
      nest, repro.is_specialised ? parameters.first(0) : parameters,
      operands.Buffers());
  const Status ok;
  const auto difference =
      DifferenceOf(repro.dispatch, {status, operands.outputs}, {ok, want});
  return difference ? "its loop nest differs, too: schedule or lowering is "
                      "wrong: " +
                          *difference
                    : std::string(
                          "its loop nest gives tier 0's results: code "
                          "generation, or what calls it, is wrong");
}

struct KernelRun {
  // Describes the first difference between the kernel's results and tier 0's;
  // "" if there is none.
  std::string difference;
  jit::KernelText text;
};

// Compiles a kernel, runs the recorded call with it and compares the results.
// If schedule_folder is "", the kernel has the schedule that this build
// chooses; otherwise that of the folder.
StatusOr<KernelRun> RunKernel(const Repro& repro,
                              const std::string& schedule_folder,
                              hal::Device& device, const Status& want,
                              const CallOperands& reference) {
  const auto keeper = std::make_shared<TextKeeper>();
  jit::JitOptions options;
  options.threads = 0;
  options.wrapper = keeper;
  options.schedule_folder = schedule_folder;
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<jit::Jit> jit, LoadJit(options));
  const SideKernel kernel = MakeSideKernel({.tier = repro.tier}, jit.get(),
                                           RequestOf(repro, device.target()));
  if (kernel.kernel == nullptr) {
    return FailedPreconditionError(
        "dispatch @" + repro.dispatch.name +
        ": no kernel to run again: " + kernel.declined);
  }
  EMBER_ASSIGN_OR_RETURN(CallOperands operands, NewOperands(repro));
  operands.Share(repro.shared);
  const Status got =
      kernel.Run(repro.dispatch,
                 {repro.parameters, operands.Buffers(), device.host_runner()});
  KernelRun run;
  run.text = keeper->text();
  run.difference = DifferenceOf(repro.dispatch, {got, operands.outputs},
                                {want, reference.outputs})
                       .value_or("");
  if (const auto changed = ChangedInput(reference, operands);
      changed && run.difference.empty()) {
    run.difference =
        "its input %" + repro.dispatch.buffers[*changed].name + " was changed";
  }
  return run;
}

}  // namespace

StatusOr<Replay> ReplayRepro(const Repro& repro, const std::string& folder,
                             hal::Device& device) {
  Replay replay;
  const Status ok;
  EMBER_ASSIGN_OR_RETURN(const CallOperands reference, NewOperands(repro));
  const Status want = RunTierZero(repro.dispatch, repro.parameters,
                                  reference.Buffers(), device.host_runner());
  if (want.ok()) {
    replay.from_recorded =
        DifferenceOf(repro.dispatch, {want, reference.outputs},
                     {ok, repro.want})
            .value_or("");
  }
  EMBER_ASSIGN_OR_RETURN(KernelRun run,
                         RunKernel(repro, "", device, want, reference));
  if (run.difference.empty() && !repro.schedule.empty() &&
      repro.schedule != run.text.schedule) {
    StatusOr<KernelRun> recorded =
        RunKernel(repro, folder, device, want, reference);
    replay.has_recorded_schedule = recorded.ok();
    if (recorded.ok())
      run = *std::move(recorded);
    else
      replay.recorded_problem = recorded.status().message();
  }
  replay.difference = run.difference;
  if (run.difference.empty() || !want.ok()) return replay;
  const StatusOr<std::string> blame =
      Blame(repro, run.text.nest, reference.outputs);
  replay.blame = blame.ok() ? *blame : blame.status().ToString();
  return replay;
}

std::string Replay::Text() const {
  std::string text;
  if (!from_recorded.empty())
    text += "tier 0 differs from the recorded results: " + from_recorded + "\n";
  if (!recorded_problem.empty())
    text += "the recorded schedule was not tried: " + recorded_problem + "\n";
  if (difference.empty())
    return text + "the kernel's results do not differ from tier 0's\n";
  if (has_recorded_schedule)
    text +=
        "with the schedule that this build chooses nothing differs, but "
        "with the recorded one\n";
  text += "the kernel differs from tier 0: " + difference + "\n";
  return blame.empty() ? text : text + blame + "\n";
}

}  // namespace ember::tools
