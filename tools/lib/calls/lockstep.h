// Runs a module on two sides (a tier on a device each) in lockstep: every
// dispatch runs on both sides with the same operands. So a difference is caused
// by the dispatch itself, not by an earlier one.
//
//   EMBER_ASSIGN_OR_RETURN(auto lockstep, Lockstep::Create(module, options));
//   EMBER_ASSIGN_OR_RETURN(auto results_a, lockstep->Run(inputs));
//   EMBER_ASSIGN_OR_RETURN(auto results_b, lockstep->RunB(inputs));
//   const LockstepReport& report = lockstep->report();
//
// The program continues with side a's results. Dispatches that both sides
// interpret are run once. Not thread-safe. Errors: those of the session. An
// error of a kernel that tier 0 does not return is a difference.
#ifndef EMBER_TOOLS_LIB_CALLS_LOCKSTEP_H_
#define EMBER_TOOLS_LIB_CALLS_LOCKSTEP_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/jit.h"
#include "tools/lib/calls/side.h"
#include "tools/lib/cli/limits.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::tools {

// Describes a call of a dispatch whose results differ between the two sides.
struct DispatchDifference {
  // Number of the call in the run, counted from 1.
  int64_t call = 0;
  std::string dispatch;
  // Names of the model's nodes that the dispatch computes, as text.
  std::string origin;
  std::string parameters;  // text of the parameters, such as "N=1"
  // Text about the first difference, such as "%y[0, 3]: got 1.5, want …". "got"
  // is the value of side b, "want" that of side a.
  std::string difference;
};

struct LockstepReport {
  int64_t calls = 0;
  int64_t compared = 0;
  int64_t differing = 0;
  // The first difference of each dispatch for each tuple of its parameters, in
  // order of execution.
  std::vector<DispatchDifference> differences;
  // Texts "@name: reason". There is one for each dispatch for which a side of
  // tier 1 or 2 got no kernel.
  std::set<std::string> declined;
};

struct LockstepOptions {
  std::shared_ptr<hal::Device> device;
  Side a, b;
  // The JIT that compiles the kernels. It must have been made with threads = 0.
  // It is null if both sides are tier 0.
  std::shared_ptr<jit::Jit> jit;
  double factor = 1;  // Factor by which CompareTiers multiplies its tolerance.
  LimitFlags limits;  // limits of memory and time of each session
};

class Lockstep {
 public:
  static StatusOr<std::unique_ptr<Lockstep>> Create(
      std::shared_ptr<const vm::Module> module, LockstepOptions options);

  // Runs the module in lockstep on both sides. Returns the results, which are
  // those of side a.
  StatusOr<std::vector<vm::Tensor>> Run(std::span<const vm::Tensor> inputs);
  // Runs the whole module on side b alone and returns its results. Side b uses
  // the kernels that Run has made; if side b is a device, it uses kernels made
  // in the same way.
  StatusOr<std::vector<vm::Tensor>> RunB(std::span<const vm::Tensor> inputs);

  const LockstepReport& report() const { return state_->report; }

 private:
  friend class LockstepKernel;
  friend class LockstepProvider;
  struct State {
    LockstepOptions options;
    std::shared_ptr<const vm::Module> module;
    bool only_b = false;
    LockstepReport report;
    // Texts of the dispatches and parameters for which a difference has been
    // recorded already.
    std::set<std::string> seen;
  };

  Lockstep() = default;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::unique_ptr<vm::Session> session_;
  // A session that runs the whole module on side b's device, for RunB; null if
  // that is the host.
  std::unique_ptr<vm::Session> session_b_;
};

// Returns the names of the model's nodes that a dispatch of the module
// computes.
std::string OriginOf(const vm::ModuleDefinition& module,
                     const tensor::Dispatch& dispatch);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_LOCKSTEP_H_
