// Adapters that give the runtime the application's logger, threads, memory and
// progress callback.
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
  // A logger that drops its lines.
  Logger() = default;
  // Returns a logger that calls `given`, or one that drops its lines if given
  // is null.
  static StatusOr<Logger> Of(const EmberLogger* given);

  // Logs the line with its line feeds escaped: names in an untrusted module may
  // contain some.
  void Log(EmberLogLevel level, std::string_view line) const;
  // Logs the message if status is an error. Returns status itself, which must
  // outlive the returned reference.
  const Status& Note(const Status& status) const;

 private:
  void (*log_)(void*, EmberLogLevel, const char*) = nullptr;
  void* context_ = nullptr;
};

// Returns an adapter for the application's progress callback. Null if given is
// null.
StatusOr<std::unique_ptr<Progress>> ProgressOf(const EmberProgress* given);

// Returns an allocator that calls the application's functions, or one without
// functions if given is null.
StatusOr<HostAllocator> AllocatorOf(const EmberAllocator* given);

// Returns a runner that uses the application's threads. Null if given is null.
StatusOr<std::unique_ptr<ParallelRunner>> RunnerOf(
    const EmberThreadPool* given);

}  // namespace ember::api

#endif  // EMBER_VM_API_CALLBACKS_H_
