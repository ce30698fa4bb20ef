// The live oracle on a command line: which first calls of kernels are checked,
// and the folder that replays one which was wrong.
//
//   KernelCheckFlags checks;
//   AddKernelCheckFlags(flags, &checks);
//   …
//   OpenTier({.tier = tier, .checks = checks}, device, module);
#ifndef EMBER_TOOLS_LIB_KERNEL_CHECKS_H_
#define EMBER_TOOLS_LIB_KERNEL_CHECKS_H_

#include <memory>
#include <string>

#include "jit/oracle/oracle.h"
#include "tools/lib/flags.h"

namespace ember::tools {

struct KernelCheckFlags {
  std::string when = "auto";  // "auto": with --tier=auto; "on", "off"
  // Gets a folder for each kernel that is wrong. Empty: none is written.
  std::string folder = "ember-shadow";
};

// `values` must outlive the parsing.
void AddKernelCheckFlags(Flags& flags, KernelCheckFlags* values);

// Whether kernels of a tier (OpenTier's name) are checked.
bool ChecksKernels(const KernelCheckFlags& flags, const std::string& tier);

// One that writes a folder (tools/lib/repro.h) and a line to stderr for each
// kernel that is wrong.
std::shared_ptr<jit::Oracle> NewOracle(const std::string& folder);

// For people, below a profile: what was checked. Empty if nothing was.
std::string OracleText(const jit::OracleTotals& totals);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_KERNEL_CHECKS_H_
