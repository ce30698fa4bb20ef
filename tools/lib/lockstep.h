// Runs a module with two tiers beside each other: every dispatch by both on the
// same operands, so that a difference is the dispatch's own, not what came
// before it.
//
//   EMBER_ASSIGN_OR_RETURN(auto lockstep, Lockstep::Create(module, options));
//   EMBER_ASSIGN_OR_RETURN(auto results_a, lockstep->Run(inputs));
//   EMBER_ASSIGN_OR_RETURN(auto results_b, lockstep->RunB(inputs));
//   const LockstepReport& report = lockstep->report();
//
// The program goes on with side a's results. Dispatches that both sides
// interpret are run once. Not thread-safe. Errors: those of the session; a
// kernel's error that tier 0 does not give is a difference.
#ifndef EMBER_TOOLS_LIB_LOCKSTEP_H_
#define EMBER_TOOLS_LIB_LOCKSTEP_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/jit.h"
#include "tools/lib/limits.h"
#include "tools/lib/side.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::tools {

// A call of a dispatch whose results differ.
struct DispatchDifference {
  int64_t call = 0;  // the first dispatch that ran is 1
  std::string dispatch;
  std::string origin;      // the model's nodes
  std::string parameters;  // "N=1"
  std::string difference;  // "%y[0, 3]: got 1.5, want …": got is b, want is a
};

struct LockstepReport {
  int64_t calls = 0;
  int64_t compared = 0;
  int64_t differing = 0;
  // In order of execution, the first of each dispatch and parameters.
  std::vector<DispatchDifference> differences;
  // "@name: reason" where side a or b wanted a kernel and has none.
  std::set<std::string> declined;
};

struct LockstepOptions {
  std::shared_ptr<hal::Device> device;
  Side a, b;
  std::shared_ptr<jit::Jit> jit;  // threads = 0; null if both are tier 0
  double factor = 1;              // of CompareTiers
  LimitFlags limits;              // of each session
};

class Lockstep {
 public:
  static StatusOr<std::unique_ptr<Lockstep>> Create(
      std::shared_ptr<const vm::Module> module, LockstepOptions options);

  // Side a's results.
  StatusOr<std::vector<vm::Tensor>> Run(std::span<const vm::Tensor> inputs);
  // Side b's, alone from input to result. Kernels are those of Run, or on a
  // device such ones.
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
    std::set<std::string> seen;  // dispatches and parameters that differ
  };

  Lockstep() = default;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::unique_ptr<vm::Session> session_;
  std::unique_ptr<vm::Session> session_b_;  // on its device; else null
};

// The model's nodes that a dispatch of the module is made of.
std::string OriginOf(const vm::ModuleDefinition& module,
                     const tensor::Dispatch& dispatch);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_LOCKSTEP_H_
