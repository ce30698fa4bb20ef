// Runs a module. A session owns what changes while running: the arena,
// registers, the plans of each dispatch, a pool of memory for dynamic shapes,
// counters.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateCpuDevice({.threads = 2}));
//   EMBER_ASSIGN_OR_RETURN(auto session,
//                          Session::Create(module, {.device = device}));
//   std::vector<Tensor> results;
//   EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
//
// Ownership: results own their memory (or share it with the session's pool, to
// which it returns); they stay valid after the session is gone. Thread-safety:
// one Run at a time per session; sessions of one module run in parallel; Cancel
// may be called on any thread.
// Errors: a wrong number, type or shape of the inputs (the message names input,
// expected and found), a failed check of the program, a data-dependent index
// out of range, operands of a dispatch that share memory as MayAlias of
// vm/interpreter/plan.h does not allow, a limit, Cancel. After an error the
// session can be used again; results are unspecified.
//
// On the host no run sees what another one has left in memory: what a program
// reads without having written it is zero.
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
      device;  // required; must have host-visible memory
  // NewDeviceSupport of vm/runtime/device_session.h for devices that are not
  // the host; null: the session refuses such a device.
  DeviceSupportFactory device_support = nullptr;
  // NewStringSupport of vm/runtime/string_functions.h for modules with strings;
  // null: the session refuses such a module, or the call of a string function.
  StringSupportFactory strings = nullptr;
  // Tier 0. PointwiseInterpreter of vm/interpreter/pointwise_plan.h for
  // programs that must be small. What is named instead of it is all that is
  // linked.
  const Interpreter* interpreter = &StripInterpreter();
  // The library functions of programs; null: the session refuses their calls,
  // and the program is smaller.
  LibraryCaller library = CallLibraryFunction;
  // Kernels and counters shared by the sessions of one module, on one device if
  // that is not the host; null: tier 0 only, which the host runs.
  std::shared_ptr<Tiering> tiering;
  // Kernels that do not depend on each other may run at once, each on one
  // worker, where that is measured to be faster (vm/runtime/side_by_side.h).
  // Not with profile or trace.
  bool side_by_side = true;
  // What calls are timed with: nanoseconds since some moment. Tests say what
  // time it is.
  int64_t (*clock)() = SteadyNanoseconds;
  // Limits that a stranger's module runs into instead of hurting its host; what
  // is over one is a ResourceExhausted of one line that names it, and comes
  // before memory is allocated.
  //
  // Bytes of arena, allocations, results, and what tier 0 plans with: temporary
  // results, packed and padded operands, workers' scratch. 0: what the machine
  // or its control group has (vm/runtime/default_limits.h); negative: no limit.
  // Strings of one run come on top, up to as many bytes, at most 1 GiB without
  // a limit of one's own.
  int64_t memory_limit = 0;
  // Points that one Run may evaluate: of each stage of a dispatch, the product
  // of its axes' extents; of a library call, the bytes of its operands. 0:
  // kDefaultWorkLimit; negative: no limit.
  int64_t work_limit = 0;
  // Steps of one Run: jumps back and calls of programs. 0: kDefaultStepLimit;
  // negative: no limit.
  int64_t step_limit = 0;
  // Of one Run, from its beginning; 0: none. Seen as Cancel is.
  double max_seconds = 0;
  // Where tier 0 gets what it works with; buffers are the device's.
  HostAllocator allocator;
  // True when a Run begins: it is cancelled. For those who run in a thread of
  // their own, and want no Cancel to be lost that comes before it begins. Must
  // outlive the session.
  const std::atomic<bool>* begins_cancelled = nullptr;
  // Times every dispatch. Those of a device are then submitted and waited for
  // one by one.
  bool profile = false;
  bool trace = false;  // records an event per dispatch; implies profile
  int plans_per_site =
      8;  // parameter tuples whose plan is kept, least recently used dropped
};

// Counters of one dispatch instruction of a program since the session was made.
struct SiteProfile {
  // Of the module, as long as that lives: a file may name a long text once, and
  // use it in a million instructions. A byte 0 follows each.
  std::string_view dispatch = "";  // name
  std::string_view origin = "";    // the model's node names
  std::string_view program = "";
  uint32_t instruction = 0;  // within the program
  int64_t calls = 0;
  int64_t total_ns = 0;  // of timed calls: all with SessionOptions::profile
  int tier = 0;          // of the last call
  int64_t tier_calls[3] = {0, 0, 0};  // how many of the calls each tier ran
  int64_t device_calls = 0;  // how many ran on a device that is not the host
  std::vector<int64_t> parameters;  // of the last call's dispatch
  // With SessionOptions::profile, on the host: the calls by the dispatch's
  // parameters, of the first kMaxProfileShapes that came up.
  std::vector<DispatchProfile::Shape> shapes;
  std::string plan;  // how the last call was executed (Plan::Describe or
                     // Kernel::Describe)
};

// For a Chrome trace. Times are of the steady clock.
struct TraceEvent {
  uint32_t site = 0;  // index in Session::Profile; its name: Session::SiteName
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t thread = 0;
};

// Of a session on a device that is not the host.
struct DeviceReport {
  DeviceWork work;
  // What the host did between: dispatches, calls of library functions, integers
  // that were loaded …
  std::vector<HostInstruction> host;
};

// Memory of the caller's for a result.
struct ResultPlace {
  void* data = nullptr;  // null: the session's own
  int64_t byte_size = 0;
};

struct SessionMemory {
  int64_t arena_bytes = 0;
  int64_t pool_bytes =
      0;  // allocations of the program, in use or kept for reuse, results, and
          // what plans of tier 0 are charged
  int64_t peak_bytes = 0;  // of the sum of both
};

class Session {
 public:
  static StatusOr<std::unique_ptr<Session>> Create(
      std::shared_ptr<const Module> module, SessionOptions options);
  virtual ~Session() = default;

  // One tensor per input of the entry program, in order; gives one per result.
  virtual Status Run(std::span<const Tensor> inputs,
                     std::vector<Tensor>* results) = 0;

  // From the next Run on each result with a place is written there, and its
  // tensor borrows that memory. Places must be as aligned as their elements
  // are, must not overlap each other or inputs, and must be large enough: Run
  // refuses what does not fit. One for each result, or none at all. Not for
  // strings.
  Status PlaceResults(std::vector<ResultPlace> places);
  // From the next Run on instead of SessionOptions::max_seconds.
  virtual void SetMaxSeconds(double seconds) = 0;
  // Thread-safe. Dispatches that the Run that goes on, or the last one, has
  // begun.
  virtual int64_t progress() const = 0;

  // Thread-safe. Ends the Run that goes on with kCancelled, if there is one: at
  // tier 0 within milliseconds, elsewhere when the kernels' chunks, the library
  // function or the device's commands that are running have ended. The session
  // can be used again.
  virtual void Cancel() = 0;

  virtual const Module& module() const = 0;
  // The dispatch instructions of all programs, in the order of Module::sites.
  std::vector<SiteProfile> Profile() const;
  // The name of its dispatch.
  virtual std::string_view SiteName(uint32_t site) const = 0;
  virtual std::span<const TraceEvent> trace() const = 0;
  // Forgets counters and trace events.
  virtual void ResetProfile() = 0;
  // Every dispatch that ran has, for its last parameters, what it will be run
  // with from now on, and how: for those who measure. Never with profile or
  // trace.
  virtual bool IsSettled() const = 0;
  // Batches of dispatches that run at once (SessionOptions::side_by_side).
  virtual int side_by_side_count() const = 0;
  virtual SessionMemory memory() const = 0;
  // Since the session was made, or ResetProfile.
  virtual DeviceReport device_report() const = 0;

 private:
  // For what is no virtual function, so that programs which do not call it do
  // not carry it.
  virtual const DispatchRunner& dispatches() const = 0;
  virtual ResultPlaces& places() = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_SESSION_H_
