// A folder with one call of a dispatch on which a kernel was wrong: all that is
// needed to look into it elsewhere, and to run it again.
//
//   EMBER_ASSIGN_OR_RETURN(std::string folder, NewReproFolder("shadow", name));
//   EMBER_RETURN_IF_ERROR(WriteRepro(repro, folder));
//   EMBER_ASSIGN_OR_RETURN(Repro same, ReadRepro(folder));
//
//   README.txt                      what differed, and how to run it again
//   dispatch.txt                    the dispatch (tensor/text.h)
//   call.txt                        tier, target, threads, parameters …
//   input_0.npy …                   the operands of the call
//   want_0.npy …, got_0.npy …       results of tier 0 and of the kernel
//   NAME.schedule, NAME.loops       what the kernel was made from, by the name
//                                   of the dispatch (JitOptions::schedule_folder)
//
// Errors: files that cannot be read or written, or are not what they should be.
#ifndef EMBER_TOOLS_LIB_REPRO_H_
#define EMBER_TOOLS_LIB_REPRO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

struct Repro {
  std::string difference;  // one line
  tensor::Dispatch dispatch;
  int tier = 2;
  std::string target;
  int threads = 1;
  std::vector<int64_t> parameters;  // of the call
  // The kernel was made for these parameters, not for all.
  bool is_specialised = false;
  std::vector<bool> constant_inputs;
  std::vector<int> shared;  // CallOperands::shared
  std::vector<vm::Tensor> inputs, want;
  std::vector<vm::Tensor> got;  // empty if the kernel gave an error
  std::string schedule, nest;   // empty if not known
};

// Makes PARENT/NAME, or PARENT/NAME.2 and so on if that exists.
StatusOr<std::string> NewReproFolder(const std::string& parent,
                                     std::string_view name);
// The README's command replays `folder` as it is written here.
Status WriteRepro(const Repro& repro, const std::string& folder);
StatusOr<Repro> ReadRepro(const std::string& folder);

// The request that gave the kernel, for this machine's target. Refers to the
// repro.
vm::KernelRequest RequestOf(const Repro& repro, std::string_view target);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPRO_H_
