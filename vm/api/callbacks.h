// What an application gives: its logger, threads and memory, and whom to tell
// of progress, as the runtime knows them.
//
// Thread-safe.
#ifndef EMBER_VM_API_CALLBACKS_H_
#define EMBER_VM_API_CALLBACKS_H_

#include <memory>
#include <string_view>

#include "base/host_allocator.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "vm/api/ember.h"

namespace ember::api {

class Logger {
 public:
  // Tells nobody.
  Logger() = default;
  // given may be null.
  static StatusOr<Logger> Of(const EmberLogger* given);

  // Names of a stranger's module may have line feeds; the line has none.
  void Log(EmberLogLevel level, std::string_view line) const;
  // Of an error its message; of OK nothing. The status itself, which has to
  // live as long as what is done with that.
  const Status& Note(const Status& status) const;

 private:
  void (*log_)(void*, EmberLogLevel, const char*) = nullptr;
  void* context_ = nullptr;
};

// Null if given is null.
StatusOr<std::unique_ptr<Progress>> ProgressOf(const EmberProgress* given);

// Without functions if given is null.
StatusOr<HostAllocator> AllocatorOf(const EmberAllocator* given);

// Null if given is null.
StatusOr<std::unique_ptr<ParallelRunner>> RunnerOf(
    const EmberThreadPool* given);

}  // namespace ember::api

#endif  // EMBER_VM_API_CALLBACKS_H_
