// Compiled programs of MSL. The kernels of one program, such as the phases of a
// dispatch, share it while it is in use.
//
//   Programs programs(context);
//   EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<Program> program,
//                          programs.Load(source));
//   program->get();   // LibraryRef
//
// Nothing is stored for later processes: the system has a cache of its own.
// Errors: those of Context::Compile. Thread-safe.
#ifndef EMBER_HAL_METAL_PROGRAMS_H_
#define EMBER_HAL_METAL_PROGRAMS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "hal/metal/api/functions.h"
#include "hal/metal/api/owned.h"
#include "hal/metal/context.h"

namespace ember::hal::metal {

using Program = Owned<LibraryRef>;

class Programs {
 public:
  // `context` must outlive this object and its programs.
  explicit Programs(const Context& context) : context_(context) {}

  StatusOr<std::shared_ptr<Program>> Load(std::string_view source);

 private:
  const Context& context_;
  std::mutex mutex_;  // guards programs_
  // The programs that are in use, by their sources.
  std::map<std::string, std::weak_ptr<Program>, std::less<>> programs_;
};

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_PROGRAMS_H_
