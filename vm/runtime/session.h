// Runs a module. A session owns the state that changes while running: the
// arena, registers, the plans of each dispatch, a pool of memory for dynamic
// shapes, and counters.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateCpuDevice({.threads = 2}));
//   EMBER_ASSIGN_OR_RETURN(auto session,
//                          Session::Create(module, {.device = device}));
//   std::vector<Tensor> results;
//   EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
//
// Ownership: results own their memory (or share it with the session's pool, to
// which it returns); they stay valid after the session is destroyed.
// Thread-safety: one Run at a time per session; sessions of one module run in
// parallel; Cancel may be called on any thread.
//
// Errors: a wrong number, type or shape of the inputs (the message names input,
// expected and found); a failed check of the program; a data-dependent index
// out of range; operands of a dispatch that share memory although MayAlias of
// vm/interpreter/plan.h does not allow it; a limit; Cancel. After an error the
// session can be used again; results are unspecified.
//
// On the host no run sees contents that another run has left in memory: memory
// that a program reads without having written it is zero.
#ifndef EMBER_VM_RUNTIME_SESSION_H_
#define EMBER_VM_RUNTIME_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_allocator.h"
#include "base/status.h"
#include "hal/device.h"
#include "vm/interpreter/plan.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/library_caller.h"
#include "vm/runtime/module.h"
#include "vm/runtime/steady_clock.h"
#include "vm/runtime/string_support.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

class DispatchRunner;
class ResultPlaces;
class Tiering;

struct SessionOptions {
  std::shared_ptr<hal::Device>
      // the device that runs the programs; required; must have host-visible
      // memory
      device;
  // Support for devices that are not the host: NewDeviceSupport of
  // vm/runtime/devices/session.h. Null: the session refuses such a device.
  DeviceSupportFactory device_support = nullptr;
  // Support for strings: NewStringSupport of
  // vm/runtime/library/string_functions.h. Null: the session refuses a module
  // with strings, or the call of a string function.
  StringSupportFactory strings = nullptr;
  // The interpreter of tier 0. PointwiseInterpreter of
  // vm/interpreter/pointwise_plan.h is for programs that must be small. Only
  // the interpreter that is named here is linked.
  const Interpreter* interpreter = &StripInterpreter();
  // The function that calls library functions. Null: the session refuses such
  // calls, and the program is smaller.
  LibraryCaller library = CallLibraryFunction;
  // Kernels and counters that the sessions of one module share, on one device
  // if that is not the host. Null: the host runs everything at tier 0.
  std::shared_ptr<Tiering> tiering;
  // True: kernels that do not depend on each other may run concurrently, each
  // on one worker, if that is measured to be faster
  // (vm/runtime/dispatch/side_by_side.h). It has no effect with profile or
  // trace.
  bool side_by_side = true;
  // The clock that times calls, in nanoseconds since a fixed moment. Tests
  // supply their own.
  int64_t (*clock)() = SteadyNanoseconds;
  // Limits that protect the host from an untrusted module. Exceeding one is a
  // ResourceExhausted of one line that names the limit; it is checked before
  // memory is allocated.
  //
  // Bytes of arena, allocations, results, and memory of tier 0: temporary
  // results, packed and padded operands, workers' scratch. 0: the memory of the
  // machine or of its control group (vm/runtime/default_limits.h); negative: no
  // limit. Strings of one run may take as many bytes in addition, at most 1 GiB
  // unless a limit is given.
  int64_t memory_limit = 0;
  // Largest number of points that one Run may evaluate: for each stage of a
  // dispatch the product of its axes' extents, for a library call the bytes of
  // its operands. 0: kDefaultWorkLimit; negative: no limit.
  int64_t work_limit = 0;
  // Largest number of steps of one Run: backward jumps and calls of programs.
  // 0: kDefaultStepLimit; negative: no limit.
  int64_t step_limit = 0;
  // Largest number of seconds of one Run; 0: no limit. It takes effect at the
  // same places as Cancel.
  double max_seconds = 0;
  // Allocator of tier 0's working memory; buffers come from the device.
  HostAllocator allocator;
  // A flag; may be null. If it is true when a Run begins, the Run is cancelled.
  // It is for callers that run in a thread of their own and must not lose a
  // Cancel that comes before the Run begins. The flag must outlive the session.
  const std::atomic<bool>* begins_cancelled = nullptr;
  // True: times every dispatch. Dispatches of a device are then submitted one
  // by one, and each is waited for.
  bool profile = false;
  bool trace = false;  // records an event per dispatch; implies profile
  int plans_per_site =
      // number of parameter tuples whose plans are kept per dispatch; the least
      // recently used plan is dropped
      8;
};

// Counters of one dispatch instruction of a program since the session was
// created.
struct SiteProfile {
  // Texts of the module, valid as long as it lives. They are not copied,
  // because a file may use one long text in a million instructions. A zero byte
  // follows each.
  std::string_view dispatch = "";  // name of the dispatch
  std::string_view origin = "";    // the model's node names
  std::string_view program = "";
  uint32_t instruction = 0;  // number of the instruction within the program
  int64_t calls = 0;
  // total nanoseconds of timed calls; with SessionOptions::profile of all calls
  int64_t total_ns = 0;
  int tier = 0;                       // tier of the last call
  int64_t tier_calls[3] = {0, 0, 0};  // number of calls by each tier
  int64_t device_calls = 0;  // number of calls on a device that is not the host
  std::vector<int64_t> parameters;  // parameters of the last call
  // Filled with SessionOptions::profile, on the host: the calls by the
  // dispatch's parameters, for the first kMaxProfileShapes of them.
  std::vector<DispatchProfile::Shape> shapes;
  // Execution of the last call, as Plan::Describe or Kernel::Describe describes
  // it.
  std::string plan;
};

// An event of a Chrome trace. Times are those of the steady clock.
struct TraceEvent {
  // index in Session::Profile; Session::SiteName returns the name
  uint32_t site = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t thread = 0;
};

// The work of a session on a device that is not the host.
struct DeviceReport {
  DeviceWork work;
  // Work of the host between the device's: dispatches, calls of library
  // functions, integers that were loaded …
  std::vector<HostInstruction> host;
};

// Memory of the caller for a result.
struct ResultPlace {
  // memory for the result; null: the session's own memory
  void* data = nullptr;
  int64_t byte_size = 0;
};

struct SessionMemory {
  int64_t arena_bytes = 0;
  int64_t pool_bytes =
      // Bytes of the program's allocations (in use or kept for reuse), results,
      // and memory that plans of tier 0 are charged.
      0;
  int64_t peak_bytes = 0;  // largest sum of both numbers so far
};

class Session {
 public:
  static StatusOr<std::unique_ptr<Session>> Create(
      std::shared_ptr<const Module> module, SessionOptions options);
  virtual ~Session() = default;

  // Runs the entry program. Takes one tensor per input, in order; returns one
  // per result.
  virtual Status Run(std::span<const Tensor> inputs,
                     std::vector<Tensor>* results) = 0;

  // Sets places for results. From the next Run on each result with a place is
  // written there, and its tensor borrows that memory. Places must be aligned
  // for their elements, must not overlap each other or inputs, and must be
  // large enough, or Run returns an error. There is one place for each result,
  // or none at all. Not for strings.
  Status PlaceResults(std::vector<ResultPlace> places);
  // Replaces SessionOptions::max_seconds from the next Run on.
  virtual void SetMaxSeconds(double seconds) = 0;
  // Returns the number of dispatches that the current or last Run has begun.
  // Thread-safe.
  virtual int64_t progress() const = 0;

  // Ends the current Run with kCancelled, if there is one. Tier 0 stops within
  // milliseconds. Otherwise the Run ends when the running chunks of kernels,
  // the library function or the device's commands have ended. The session can
  // be used again. Thread-safe.
  virtual void Cancel() = 0;

  virtual const Module& module() const = 0;
  // Returns one row for each dispatch instruction of all programs, in the order
  // of Module::sites.
  std::vector<SiteProfile> Profile() const;
  // Returns the name of the site's dispatch.
  virtual std::string_view SiteName(uint32_t site) const = 0;
  virtual std::span<const TraceEvent> trace() const = 0;
  // Clears counters and trace events.
  virtual void ResetProfile() = 0;
  // True if the choice of kernel is final for every dispatch that ran, for its
  // last parameters. Benchmarks use it. Never true with profile or trace.
  virtual bool IsSettled() const = 0;
  // Returns the number of batches of dispatches that run concurrently
  // (SessionOptions::side_by_side).
  virtual int side_by_side_count() const = 0;
  virtual SessionMemory memory() const = 0;
  // Returns the device's work since the session was created or since
  // ResetProfile.
  virtual DeviceReport device_report() const = 0;

 private:
  // Returns the session's dispatches, for the functions that are not virtual.
  // Those are not virtual so that programs which do not call them do not link
  // their code.
  virtual const DispatchRunner& dispatches() const = 0;
  virtual ResultPlaces& places() = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_SESSION_H_
