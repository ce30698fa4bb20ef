// Shadow mode: runs tier 0 beside each new kernel on the real operands, and
// withdraws a kernel that differs.
//
//   ShadowOptions options{.folder = "shadow"};
//   auto shadow = std::make_shared<Shadow>(options);
//   OpenTier({.tier = "2", .wrapper = shadow}, device, module);
//   session->Run(...);
//   std::fputs(shadow->Text().c_str(), stdout);
//
// The first calls of each kernel with each tuple of parameters are checked;
// CompareTiers says what counts as different. Once a kernel differs, the call
// gives tier 0's results, the slot withdraws the kernel (the reason is a row of
// jit/decline_reasons.h, and what it found), no session uses it any more, and a
// folder is written that replays the call (tools/lib/repro.h). Checked calls
// take as long as tier 0 and the kernel together, and memory for a second copy
// of the operands; without that memory a call is not checked.
//
// Thread-safe. Kernels keep what they need of it alive.
#ifndef EMBER_TOOLS_LIB_SHADOW_H_
#define EMBER_TOOLS_LIB_SHADOW_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/jit.h"
#include "vm/runtime/tiering.h"

namespace ember::tools {

struct ShadowOptions {
  // Gets a folder for each kernel that differs. Empty: none is written.
  std::string folder;
  // Calls of a kernel that are checked, for each tuple of parameters; 0: all.
  int64_t runs = 3;
};

struct ShadowFinding {
  std::string dispatch;
  int tier = 0;
  std::string difference;  // one line
  std::string folder;      // "" if there is none, and why:
  Status folder_status;
};

class ShadowRecord;

class Shadow final : public jit::KernelWrapper {
 public:
  explicit Shadow(ShadowOptions options);
  std::unique_ptr<vm::Kernel> Wrap(const vm::KernelRequest& request,
                                   vm::KernelSlot& slot, jit::KernelText text,
                                   std::unique_ptr<vm::Kernel> kernel) override;

  std::vector<ShadowFinding> findings() const;
  int64_t checked_kernels() const;
  int64_t checked_calls() const;
  // For people: a line that counts, and one per finding.
  std::string Text() const;

 private:
  const ShadowOptions options_;
  const std::shared_ptr<ShadowRecord> record_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_SHADOW_H_
