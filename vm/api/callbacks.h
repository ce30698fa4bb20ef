// Adapters that give the runtime the application's logger, threads, memory and
// progress callback. The functions that make them return kInvalidArgument for a
// struct of the application that is too small, lacks a function or has a worker
// count out of range.
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
  // Makes a logger that discards its lines.
  Logger() = default;
  // Returns a logger that calls `given`. If given is null, the logger discards
  // its lines.
  static StatusOr<Logger> Of(const EmberLogger* given);

  // Logs a line with its line feeds escaped, because names in an untrusted
  // module may contain line feeds.
  void Log(EmberLogLevel level, std::string_view line) const;
  // Logs the message if the status is an error. Returns a reference to the
  // argument, which must outlive the reference.
  const Status& Note(const Status& status) const;

 private:
  void (*log_)(void*, EmberLogLevel, const char*) = nullptr;
  void* context_ = nullptr;
};

// Returns an adapter for the application's progress callback; null if given is
// null.
StatusOr<std::unique_ptr<Progress>> ProgressOf(const EmberProgress* given);

// Returns an allocator that calls the application's functions. If given is
// null, the allocator has no functions, so the C library's allocation is used.
StatusOr<HostAllocator> AllocatorOf(const EmberAllocator* given);

// Returns a runner that uses the application's threads; null if given is null.
StatusOr<std::unique_ptr<ParallelRunner>> RunnerOf(
    const EmberThreadPool* given);

}  // namespace ember::api

#endif  // EMBER_VM_API_CALLBACKS_H_
