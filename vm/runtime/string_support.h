// What a session needs to run modules with strings, which a program sees as i64
// handles. An interface, so that a runtime without strings does not carry it:
//
//   #include "vm/runtime/string_functions.h"
//   Session::Create(module, {.device = device, .strings = NewStringSupport});
//
// One per session. Not thread-safe.
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

  // At the beginning of a run: only the module's strings have handles, 0, 1, …;
  // the caller keeps them alive. interrupt, which may be null, is asked here,
  // by Intern and by Resolve, which return what it says; it lives as long as
  // the run.
  virtual Status Start(std::span<const std::string> module_strings,
                       const Interrupt* interrupt) = 0;
  // The handles of strings. ResourceExhausted past the limit.
  virtual Status Intern(std::span<const std::string> strings,
                        int64_t* handles) = 0;
  // The strings of handles. InvalidArgument for one that is not of this run,
  // ResourceExhausted past the limit.
  virtual Status Resolve(
      std::span<const int64_t> handles,
      std::shared_ptr<const std::vector<std::string>>* strings) = 0;
  // A library function of the kind String.
  virtual Status Call(LibraryFunction function, const LibraryCall& call) = 0;
};

// byte_limit: of all strings that come up in a run, and once more of those that
// are its results, with 128 bytes for each.
using StringSupportFactory =
    std::unique_ptr<StringSupport> (*)(int64_t byte_limit);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_STRING_SUPPORT_H_
