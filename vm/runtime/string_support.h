// The functions that a session needs to run modules with strings. In programs
// strings are i64 handles. These functions form an interface, so that a runtime
// without strings does not link the implementation:
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

  // Begins a run: the module's strings get the handles 0, 1, …, and all other
  // handles become invalid. The caller keeps the module's strings alive.
  // `interrupt`, which may be null, must exist as long as the run. Start,
  // Intern and Resolve check it and return its status if it requests to stop.
  virtual Status Start(std::span<const std::string> module_strings,
                       const Interrupt* interrupt) = 0;
  // Returns handles for strings. Returns ResourceExhausted if the limit on
  // bytes is exceeded.
  virtual Status Intern(std::span<const std::string> strings,
                        int64_t* handles) = 0;
  // Returns the strings for handles. Returns InvalidArgument for a handle that
  // does not belong to this run, and ResourceExhausted if the limit on bytes is
  // exceeded.
  virtual Status Resolve(
      std::span<const int64_t> handles,
      std::shared_ptr<const std::vector<std::string>>* strings) = 0;
  // Calls one of the library functions on strings (kind String in
  // vm/isa/library_functions.h).
  virtual Status Call(LibraryFunction function, const LibraryCall& call) = 0;
};

// The type of a function that makes the support of a session. byte_limit is the
// largest number of bytes of all strings that are created in a run, and
// separately of all strings in its results. Each string counts 128 bytes more
// than it has.
using StringSupportFactory =
    std::unique_ptr<StringSupport> (*)(int64_t byte_limit);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_STRING_SUPPORT_H_
