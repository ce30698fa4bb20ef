// Shadow mode: runs tier 0 in addition to each new kernel on the real operands,
// and withdraws a kernel whose results differ.
//
//   ShadowOptions options{.folder = "shadow"};
//   auto shadow = std::make_shared<Shadow>(options);
//   OpenTier({.tier = "2", .wrapper = shadow}, device, module);
//   session->Run(...);
//   std::fputs(shadow->Text().c_str(), stdout);
//
// The first calls of each kernel with each tuple of parameters are checked;
// CompareTiers defines which results differ. When a kernel differs, the call
// returns tier 0's results, and the slot withdraws the kernel: the reason is a
// row of jit/backend/decline_reasons.h with the difference. No session uses the
// kernel any more, and a folder is written that replays the call
// (tools/lib/calls/repro.h). A checked call takes the time of tier 0 and of the
// kernel, and memory for a second copy of the operands; without that memory the
// call is not checked.
//
// Thread-safe. Kernels keep alive the parts of the object that they need.
#ifndef EMBER_TOOLS_LIB_CALLS_SHADOW_H_
#define EMBER_TOOLS_LIB_CALLS_SHADOW_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/jit.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::tools {

struct ShadowOptions {
  // Parent of the folders that are written, one for each kernel whose results
  // differ. If it is empty, none is written.
  std::string folder;
  // Number of calls that are checked for each kernel and each tuple of
  // parameters; 0: all calls.
  int64_t runs = 3;
};

struct ShadowFinding {
  std::string dispatch;
  int tier = 0;
  std::string difference;  // describes the first difference, in one line
  // Path of the folder with which the call can be replayed. If it could not be
  // written, the path is "" and folder_status has the reason.
  std::string folder;
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
  // Returns a text for people: one line with the numbers of checked kernels,
  // calls and withdrawn kernels, and one line for each finding.
  std::string Text() const;

 private:
  const ShadowOptions options_;
  const std::shared_ptr<ShadowRecord> record_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_SHADOW_H_
