// golden_dispatches: runs recorded models at tier 0. It also runs each of their
// dispatches, on the model's operands, as a kernel for the processor that
// EMBER_TEST_PROCESSOR names (jit/target/testing/processors.h), with that
// processor's default schedules. `./dev processors` calls it.
#include <dirent.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jit/backend/testing/nest_layout.h"
#include "jit/kernel/build_nest.h"
#include "jit/llvm/testing/run_counts.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/text/text.h"
#include "jit/oracle/oracle.h"
#include "jit/target/testing/processors.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/models/golden.h"
#include "tools/lib/report/dispatch_work.h"
#include "tools/lib/tensors/elements.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/kernel_judge.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tests {
namespace {

struct Options {
  bool list = false;
  std::vector<std::string> folders;
  int64_t operations = 50'000'000;
  int64_t bytes = 64 << 20;
};

void Declare(Options& options, tools::Flags& flags) {
  flags.Positional("FOLDER...", 1, 1000, &options.folders);
  flags.AddStandalone("list", &options.list, "Prints the processors' names.");
  flags.Add("operations", &options.operations, "N",
            "Skips calls of dispatches with more than N operations.");
  flags.Add("bytes", &options.bytes, "N",
            "Skips calls whose operands and temporaries take more than N "
            "bytes.");
  flags.Example(
      "EMBER_TEST_PROCESSOR=x86-64-v2 golden_dispatches "
      "../shared/corpus/models/onnx/classification/mnist_cntk");
}

// Options and counts of the check, for all models together.
struct Check {
  Options options;
  jit::CpuModel cpu;
  jit::llvm_ir::RunCounts counts;
  // Number of results whose difference may be caused by rounding or by a bug.
  int64_t suspects = 0;
  // Number of suspects for which the check could not decide whether rounding
  // explains the difference.
  int64_t untold = 0;
  // The nests that have already run, as text with their parameters: equal nests
  // run once.
  std::set<std::string> seen;
  std::string model;
};

std::vector<const void*> PointersTo(const std::vector<vm::Tensor>& tensors) {
  std::vector<const void*> pointers;
  for (const vm::Tensor& tensor : tensors) pointers.push_back(tensor.data);
  return pointers;
}

// Returns the largest magnitude of all elements except fill values such as a
// mask's -3e38.
double LargestElement(const std::vector<vm::Tensor>& tensors) {
  double largest = 0;
  for (const vm::Tensor& tensor : tensors) {
    if (!IsFloat(tensor.type)) continue;
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      const double element = std::abs(tools::FloatElement(tensor, i));
      if (element < 0x1p40) largest = std::max(largest, element);
    }
  }
  return largest;
}

// Makes an element of `got` equal to the element of `want` if they differ by so
// little that a processor that treats subnormal numbers as zero explains the
// difference. The limit grows with the inputs, because recorded models multiply
// such numbers by operands of 10^10.
void IgnoreFlushed(const std::vector<vm::Tensor>& inputs,
                   const std::vector<vm::Tensor>& want,
                   std::vector<vm::Tensor>& got) {
  const double most = 0x1p-106 * std::max(1.0, LargestElement(inputs));
  for (size_t output = 0; output < want.size(); ++output) {
    if (!IsFloat(want[output].type)) continue;
    for (int64_t i = 0; i < want[output].element_count(); ++i) {
      const double w = tools::FloatElement(want[output], i);
      if (std::abs(w - tools::FloatElement(got[output], i)) < most)
        tools::SetFloatElement(got[output], i, w);
    }
  }
}

// Returns tier 0's results, after it has compared a kernel for the processor
// with them.
class CheckedKernel final : public vm::HostKernel {
 public:
  CheckedKernel(const vm::KernelRequest& request, loops::LoopNest nest,
                Check& check)
      : request_(request), nest_(std::move(nest)), check_(check) {
    request_.constant_data.clear();
  }

  int tier() const override { return request_.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return request_.parameters.empty() ||
           std::ranges::equal(parameters, request_.parameters);
  }
  std::string Describe() const override { return "compared"; }

  Status Run(const vm::KernelCall& call) const override {
    const tensor::Dispatch& dispatch = *request_.dispatch;
    if (!IsNew(call) || IsTooLarge(call)) {
      return tools::RunTierZero(dispatch, call.parameters, call.buffers,
                                call.runner);
    }
    EMBER_ASSIGN_OR_RETURN(
        tools::CallOperands copy,
        tools::CallOperands::Copy(dispatch, call, request_.constant_inputs));
    EMBER_ASSIGN_OR_RETURN(const tools::CallOperands real,
                           tools::CallOperands::Borrow(dispatch, call));
    const Status want = tools::RunTierZero(dispatch, call.parameters,
                                           call.buffers, call.runner);
    const Status got = RunOnProcessor(call, copy);
    if (got.code() == StatusCode::kUnimplemented) {
      check_.counts.Refuse(got.message());
      return want;
    }
    ++check_.counts.run;
    if (!jit::llvm_ir::KeepsSubnormals())
      IgnoreFlushed(copy.inputs, real.outputs, copy.outputs);
    const jit::Finding finding =
        jit::Compare({.dispatch = dispatch,
                      .kernel = *this,
                      .parameters = call.parameters,
                      .target = request_.target,
                      .constant_inputs = request_.constant_inputs,
                      .inputs = PointersTo(copy.inputs),
                      .want = PointersTo(real.outputs),
                      .got = PointersTo(copy.outputs),
                      .shared = copy.shared,
                      .want_status = want,
                      .got_status = got},
                     /*most_steps=*/int64_t{1} << 24);
    check_.suspects += finding.has_suspects;
    check_.untold += finding.is_untold;
    if (!finding.difference.empty()) {
      ++check_.counts.wrong;
      std::printf("wrong: %s: @%s with %s: %s\n", check_.model.c_str(),
                  dispatch.name.c_str(),
                  tools::ParametersText(dispatch, call.parameters).c_str(),
                  finding.difference.c_str());
    }
    return want;
  }

 private:
  bool IsNew(const vm::KernelCall& call) const {
    // The key leaves out the nest's name, so that equal nests with different
    // names run only once.
    const std::string text = loops::ToText(nest_);
    std::string key = text.substr(text.find_first_of("(<"));
    for (const int64_t parameter : call.parameters)
      key += std::to_string(parameter) + ",";
    return check_.seen.insert(std::move(key)).second;
  }

  bool IsTooLarge(const vm::KernelCall& call) const {
    const auto work = tools::WorkOf(*request_.dispatch, call.parameters);
    const auto layout = jit::NestHeader(nest_).LayoutFor(Parameters(call));
    bool is_too_large =
        !work.ok() || !layout.ok() ||
        work->operations > static_cast<double>(check_.options.operations);
    if (!is_too_large) {
      int64_t bytes = 0;
      for (const int64_t one : layout->bytes) bytes += one;
      is_too_large = bytes > check_.options.bytes;
    }
    if (is_too_large)
      ++check_.counts.refused["larger than --operations, --bytes"];
    return is_too_large;
  }

  std::span<const int64_t> Parameters(const vm::KernelCall& call) const {
    return nest_.parameters.empty() ? std::span<const int64_t>()
                                    : call.parameters;
  }

  Status RunOnProcessor(const vm::KernelCall& call,
                        tools::CallOperands& operands) const {
    EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<jit::CompiledNest> code,
                           jit::llvm_ir::TestCompiler().Compile(
                               nest_, {.effort = jit::Effort::kFull}));
    EMBER_ASSIGN_OR_RETURN(const jit::NestLayout layout,
                           jit::NestHeader(nest_).LayoutFor(Parameters(call)));
    jit::llvm_ir::Buffers buffers;
    for (const int64_t bytes : layout.bytes)
      buffers.push_back(
          std::make_unique<jit::llvm_ir::GuardedMemory>(bytes, true));
    const std::vector<void*> given = operands.Buffers();
    for (size_t i = 0; i < given.size(); ++i)
      std::memcpy(buffers[i]->data(), given[i],
                  static_cast<size_t>(buffers[i]->bytes()));
    const std::span<const int64_t> parameters = Parameters(call);
    const std::string error = jit::llvm_ir::RunCompiled(
        nest_, *code, {parameters.begin(), parameters.end()}, buffers);
    if (!error.empty()) return FailedPreconditionError(error);
    for (size_t i = request_.dispatch->input_count(); i < given.size(); ++i)
      std::memcpy(given[i], buffers[i]->data(),
                  static_cast<size_t>(buffers[i]->bytes()));
    return OkStatus();
  }

  vm::KernelRequest request_;
  const loops::LoopNest nest_;
  Check& check_;
};

class CheckingProvider final : public vm::KernelProvider {
 public:
  explicit CheckingProvider(Check& check) : check_(check) {}

  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    StatusOr<loops::LoopNest> nest =
        jit::BuildNest(request, {.cpu = &check_.cpu}, nullptr);
    if (nest.ok()) {
      slot->Install(
          std::make_unique<CheckedKernel>(request, *std::move(nest), check_));
      return;
    }
    check_.counts.Refuse(nest.status().message());
    slot->Decline(nest.status().ToString());
  }

 private:
  Check& check_;
};

// Returns the data sets that are recorded for the model.
std::vector<std::string> DataSetsOf(const std::string& folder) {
  std::vector<std::string> sets;
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) return sets;
  while (const dirent* const entry = readdir(directory)) {
    if (std::strncmp(entry->d_name, "test_data_set_", 14) == 0)
      sets.push_back(folder + "/" + entry->d_name);
  }
  closedir(directory);
  std::sort(sets.begin(), sets.end());
  return sets;
}

Status Run(const Options& options) {
  if (options.list) {
    for (const jit::Processor& processor : jit::Processors())
      std::printf("%s\n", std::string(processor.name).c_str());
    return OkStatus();
  }
  const std::string missing = jit::llvm_ir::TestMissingHere();
  if (!missing.empty()) {
    std::printf("NOT RUN: %s\n", missing.c_str());
    return OkStatus();
  }
  Check check{.options = options, .cpu = jit::llvm_ir::TestCpuModel()};
  const auto provider = std::make_shared<CheckingProvider>(check);
  int failed = 0;
  for (const std::string& name : options.folders) {
    const std::string folder = tools::UserPath(name);
    check.model = name;
    tools::GoldenCase golden{
        name, folder + "/model.onnx", DataSetsOf(folder), {}};
    if (golden.data_sets.size() > 1) golden.data_sets.resize(1);
    const auto result =
        tools::RunGolden(golden, {.seconds = 0, .provider = provider});
    // Wrong results of a model do not count here, because golden_models
    // compares them; only errors do.
    if (result.ok()) continue;
    ++failed;
    std::printf("%s: %s\n", name.c_str(), result.status().ToString().c_str());
  }
  check.counts.Print(jit::llvm_ir::TestMachineName(),
                     "dispatches of " + std::to_string(options.folders.size()) +
                         " recorded models");
  std::printf(
      "%s: of these kernels' results %lld needed a closer comparison, %lld "
      "could not be judged\n",
      std::string(jit::llvm_ir::TestProcessor() == nullptr
                      ? "this machine"
                      : jit::llvm_ir::TestProcessor()->name)
          .c_str(),
      static_cast<long long>(check.suspects),
      static_cast<long long>(check.untold));
  if (check.counts.wrong == 0 && check.counts.run > 0 && failed == 0)
    return OkStatus();
  return InternalError(std::to_string(check.counts.wrong) + " kernels of " +
                       std::to_string(check.counts.run) + " are wrong, " +
                       std::to_string(failed) + " models did not run");
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  ember::tools::Flags flags("golden_dispatches", "FOLDER... [flags]",
                            "Compares kernels of recorded models' dispatches "
                            "for a processor with tier 0. A folder has "
                            "model.onnx and test_data_set_0.");
  ember::tests::Declare(options, flags);
  return ember::tools::RunTool(
      argc, argv, flags, [&options] { return ember::tests::Run(options); });
}
