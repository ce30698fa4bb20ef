// The nests that a process has built, so that equal dispatches are scheduled
// and proved once: the layers of a language model, for example, have equal
// dispatches.
//
//   EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest,
//                          store.Build(request, {}, &error_growth));
//
// Thread-safe. Two threads that build equal nests at the same time both build
// them.
#ifndef EMBER_JIT_KERNEL_NEST_STORE_H_
#define EMBER_JIT_KERNEL_NEST_STORE_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "base/status.h"
#include "jit/kernel/build_nest.h"
#include "jit/loops/loop_nest.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

class NestStore {
 public:
  // Returns the nest as BuildNest does, without texts. options.log gets the
  // passes only if the nest is built now. A schedule that is given must have
  // canonical names, and options.cpu must be null.
  StatusOr<loops::LoopNest> Build(const vm::KernelRequest& request,
                                  const NestOptions& options,
                                  double* error_growth);

 private:
  // Limit on the number of instructions of all stored dispatches together;
  // their nests then take some tens of megabytes. When the limit is exceeded,
  // the store is emptied.
  static constexpr size_t kMaxInstructions = size_t{1} << 16;

  struct Entry {
    loops::LoopNest nest;  // a nest with canonical names
    double error_growth = 1;
  };

  std::mutex mutex_;  // guards the members below
  std::map<std::string, Entry> entries_;
  // number of instructions of the dispatches of all entries
  size_t instructions_ = 0;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_NEST_STORE_H_
