// Writes and reads a folder with one call of a dispatch on which a kernel was
// wrong. It has all that is needed to examine and repeat the call elsewhere.
//
//   EMBER_ASSIGN_OR_RETURN(std::string folder, NewReproFolder("shadow", name));
//   EMBER_RETURN_IF_ERROR(WriteRepro(repro, folder));
//   EMBER_ASSIGN_OR_RETURN(Repro same, ReadRepro(folder));
//
//   README.txt                      what differed, and how to run it again
//   dispatch.txt                    the dispatch (tensor/text/text.h)
//   call.txt                        tier, target, threads, parameters …
//   input_0.npy …                   the operands of the call
//   want_0.npy …, got_0.npy …       results of tier 0 and of the kernel
//   NAME.schedule, NAME.loops       what the kernel was made from, by the name
//                                   of the dispatch (JitOptions::schedule_folder)
//
// Errors: a file cannot be read or written, or has unexpected contents.
#ifndef EMBER_TOOLS_LIB_CALLS_REPRO_H_
#define EMBER_TOOLS_LIB_CALLS_REPRO_H_

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
  // One line that describes the first difference of the kernel's results.
  std::string difference;
  tensor::Dispatch dispatch;
  int tier = 2;
  std::string target;
  int threads = 1;
  // Values of the dispatch's parameters in the recorded call.
  std::vector<int64_t> parameters;
  // True if the kernel was specialised: made for these values of the parameters
  // only.
  bool is_specialised = false;
  std::vector<bool> constant_inputs;
  // For each output, the number of the input whose memory it shares, or -1 (see
  // CallOperands::shared).
  std::vector<int> shared;
  std::vector<vm::Tensor> inputs, want;
  // results of the kernel; empty if the kernel returned an error
  std::vector<vm::Tensor> got;
  // texts of the schedule and the loop nest; empty if not known
  std::string schedule, nest;
};

// Makes the folder PARENT/NAME. If it exists, makes PARENT/NAME.2 instead, and
// so on. Returns its path.
StatusOr<std::string> NewReproFolder(const std::string& parent,
                                     std::string_view name);
// Writes the files of the repro to the folder. Its README has a command that
// replays the call from this path.
Status WriteRepro(const Repro& repro, const std::string& folder);
StatusOr<Repro> ReadRepro(const std::string& folder);

// Returns a request for a kernel like the recorded one, for this machine's
// target. The request points into the Repro, which must outlive it.
vm::KernelRequest RequestOf(const Repro& repro, std::string_view target);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_REPRO_H_
