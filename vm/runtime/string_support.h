// The functions that a session needs to run modules with strings. Programs see
// strings as i64 handles. It is an interface, so that a runtime without strings
// does not link the implementation:
//
//   #include "vm/runtime/library/string_functions.h"
//   Session::Create(module, {.device = device, .strings = NewStringSupport});
//
// There is one object per session. Not thread-safe.
#ifndef EMBER_VM_RUNTIME_STRING_SUPPORT_H_
#define EMBER_VM_RUNTIME_STRING_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/status.h"
#include "vm/isa/library_functions.h"

namespace ember::vm {

struct LibraryCall;

class StringSupport {
 public:
  virtual ~StringSupport() = default;

  // Begins a run: only the module's strings have handles, 0, 1, …; the caller
  // keeps them alive. interrupt, which may be null, lives as long as the run.
  // It is checked here, by Intern and by Resolve; if it asks to stop, they
  // return its status.
  virtual Status Start(std::span<const std::string> module_strings,
                       const Interrupt* interrupt) = 0;
  // Returns the handles of strings. ResourceExhausted if the limit is exceeded.
  virtual Status Intern(std::span<const std::string> strings,
                        int64_t* handles) = 0;
  // Returns the strings of handles. InvalidArgument for a handle that is not of
  // this run, ResourceExhausted if the limit is exceeded.
  virtual Status Resolve(
      std::span<const int64_t> handles,
      std::shared_ptr<const std::vector<std::string>>* strings) = 0;
  // Calls a library function of the kind String.
  virtual Status Call(LibraryFunction function, const LibraryCall& call) = 0;
};

// Makes the support of a session. byte_limit: largest number of bytes of all
// strings that appear in a run, and again of those that are its results,
// counting 128 bytes more for each.
using StringSupportFactory =
    std::unique_ptr<StringSupport> (*)(int64_t byte_limit);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_STRING_SUPPORT_H_
