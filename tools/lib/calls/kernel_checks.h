// Declares the flags that say if the first calls of each kernel are compared
// with tier 0. Makes the oracle that does this, and that writes a folder with
// which a wrong call can be replayed.
//
//   KernelCheckFlags checks;
//   AddKernelCheckFlags(flags, &checks);
//   …
//   OpenTier({.tier = tier, .checks = checks}, device, module);
#ifndef EMBER_TOOLS_LIB_CALLS_KERNEL_CHECKS_H_
#define EMBER_TOOLS_LIB_CALLS_KERNEL_CHECKS_H_

#include <memory>
#include <string>

#include "jit/oracle/oracle.h"
#include "tools/lib/cli/flags.h"

namespace ember::tools {

struct KernelCheckFlags {
  // Says when kernels are checked: "on", "off", or "auto", which means "on"
  // with --tier=auto and "off" otherwise.
  std::string when = "auto";
  // Parent of the folders that are written, one for each wrong kernel. If it is
  // empty, none is written.
  std::string folder = "ember-shadow";
};

// Declares --check-kernels and its other flags. `values` must outlive the
// parsing.
void AddKernelCheckFlags(Flags& flags, KernelCheckFlags* values);

// True if the flags ask for checks of the kernels of this tier. `tier` is a
// name that OpenTier accepts.
bool ChecksKernels(const KernelCheckFlags& flags, const std::string& tier);

// Makes an oracle, which compares kernels with tier 0. For each wrong kernel it
// writes a folder (tools/lib/calls/repro.h) and a line to stderr.
std::shared_ptr<jit::Oracle> NewOracle(const std::string& folder);

// Returns a text for people that says what was checked, to print below a
// profile. Empty if nothing was checked.
std::string OracleText(const jit::OracleTotals& totals);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_KERNEL_CHECKS_H_
