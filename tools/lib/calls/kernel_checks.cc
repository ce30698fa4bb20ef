#include "tools/lib/calls/kernel_checks.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "tensor/analysis/index_algebra.h"
#include "tools/lib/calls/repro.h"
#include "tools/lib/cli/paths.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tools {
namespace {

// Describes a call on which a kernel was wrong as a Repro, which can be written
// to a folder. The Repro borrows the call's memory.
StatusOr<Repro> ReproOf(const vm::ComparedCall& call,
                        const std::string& difference) {
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(call.dispatch, call.parameters));
  Repro repro;
  repro.difference = difference;
  repro.dispatch = call.dispatch;
  repro.tier = call.kernel.tier();
  repro.target = std::string(call.target);
  repro.threads = call.threads;
  repro.parameters.assign(call.parameters.begin(), call.parameters.end());
  // Tiering requests each kernel of tier 2 for the parameters of one call, so a
  // kernel of tier 2 is specialised if the dispatch has parameters.
  repro.is_specialised = repro.tier >= 2 && !repro.parameters.empty();
  repro.constant_inputs = call.constant_inputs;
  repro.shared.assign(call.shared.begin(), call.shared.end());
  const auto borrow = [&](size_t buffer, const void* data) {
    const tensor::Buffer& declared = call.dispatch.buffers[buffer];
    return vm::Tensor::Borrow(declared.type, header.Extents(declared), data);
  };
  for (size_t i = 0; i < call.inputs.size(); ++i)
    repro.inputs.push_back(borrow(i, call.inputs[i]));
  for (size_t i = 0; i < call.want.size(); ++i) {
    const size_t buffer = call.inputs.size() + i;
    repro.want.push_back(borrow(buffer, call.want[i]));
    if (call.got_status.ok()) repro.got.push_back(borrow(buffer, call.got[i]));
  }
  return repro;
}

StatusOr<std::string> WriteReproOf(const vm::ComparedCall& call,
                                   const std::string& difference,
                                   const std::string& parent) {
  EMBER_ASSIGN_OR_RETURN(const Repro repro, ReproOf(call, difference));
  EMBER_ASSIGN_OR_RETURN(
      std::string folder,
      NewReproFolder(
          parent, repro.dispatch.name + ".tier" + std::to_string(repro.tier)));
  EMBER_RETURN_IF_ERROR(WriteRepro(repro, folder));
  return folder;
}

}  // namespace

void AddKernelCheckFlags(Flags& flags, KernelCheckFlags* values) {
  flags.AddChoice(
      "check-kernels", &values->when, {"auto", "on", "off"},
      "Compares the first call of each kernel with the interpreter's "
      "before its results are used. A\n"
      "wrong kernel is not used, and its call is written to "
      "--wrong-kernels for vm-diff --repro.\n"
      "auto: only with --tier=auto.");
  flags.Add("wrong-kernels", &values->folder, "FOLDER",
            "The folder for calls of wrong kernels. If it is empty, none "
            "is written.");
}

bool ChecksKernels(const KernelCheckFlags& flags, const std::string& tier) {
  return flags.when == "auto" ? tier == "auto" : flags.when == "on";
}

std::shared_ptr<jit::Oracle> NewOracle(const std::string& folder) {
  const std::string parent = folder.empty() ? "" : UserPath(folder);
  const auto report = [parent](const vm::ComparedCall& call,
                               const std::string& difference) -> std::string {
    std::string more;
    if (!parent.empty()) {
      const StatusOr<std::string> written =
          WriteReproOf(call, difference, parent);
      more = written.ok() ? "see vm-diff --repro=" + *written
                          : "no repro: " + written.status().ToString();
    }
    std::fprintf(stderr, "a kernel of @%s was wrong and is not used: %s%s%s\n",
                 call.dispatch.name.c_str(), difference.c_str(),
                 more.empty() ? "" : "; ", more.c_str());
    return more;
  };
  return std::make_shared<jit::Oracle>(jit::OracleOptions{.report = report});
}

std::string OracleText(const jit::OracleTotals& totals) {
  if (totals.calls == 0) return "";
  char line[160];
  std::snprintf(line, sizeof line,
                "%lld first calls of kernels were checked: %lld were wrong, "
                "and %lld needed a closer comparison.\n",
                static_cast<long long>(totals.calls),
                static_cast<long long>(totals.wrong),
                static_cast<long long>(totals.suspects));
  return line;
}

}  // namespace ember::tools
