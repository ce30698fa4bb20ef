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
// Ownership: results own their memory, or share it with the session's pool, to
// which it is returned later; they stay valid after the session is destroyed.
// Thread-safety: one Run at a time per session; sessions of one module run in
// parallel; Cancel may be called on any thread.
//
// Errors: a wrong number, type or shape of the inputs (the message names input,
// expected and found); a failed check of the program; a data-dependent index
// out of range; operands of a dispatch that share memory although MayAlias of
// vm/interpreter/plan.h does not allow it; a limit; Cancel. After an error the
// session can be used again; results are unspecified.
//
// On the host no run reads contents that another run has left in memory: memory
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
#include "vm/runtime/image_support.h"
#include "vm/runtime/library_caller.h"
#include "vm/runtime/module.h"
#include "vm/runtime/steady_clock.h"
#include "vm/runtime/string_support.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

class DispatchRunner;
class ResultBuffers;
class Tiering;

struct SessionOptions {
  std::shared_ptr<hal::Device>
      // The device on which the programs run. It is required and must have
      // host-visible memory.
      device;
  // Support for devices that are not the host: NewDeviceSupport of
  // vm/runtime/devices/session.h. If it is null, a session on such a device is
  // refused.
  DeviceSupportFactory device_support = nullptr;
  // Support for strings: NewStringSupport of
  // vm/runtime/library/string_functions.h. If it is null, the session refuses
  // modules with strings and calls of string functions.
  StringSupportFactory strings = nullptr;
  // Decoder of picture files: DecodeImage of tools/lib/media/image_decoder.h.
  // If it is null, calls of decode_image are refused.
  ImageDecoder images = nullptr;
  // The interpreter of tier 0. PointwiseInterpreter of
  // vm/interpreter/pointwise_plan.h is for programs that must be small. Only
  // the interpreter to which this field is set is linked.
  const Interpreter* interpreter = &StripInterpreter();
  // The function that executes calls of library functions. If it is null, the
  // session refuses such calls, and the program is smaller.
  LibraryCaller library = CallLibraryFunction;
  // Kernels and counters that sessions of a module share, all of them on the
  // host or all on one device. If it is null, the host runs all dispatches at
  // tier 0.
  std::shared_ptr<Tiering> tiering;
  // True: kernels that do not depend on each other may run concurrently, each
  // on one worker, if that is measured to be faster
  // (vm/runtime/dispatch/side_by_side.h). It has no effect with profile or
  // trace.
  bool side_by_side = true;
  // The clock with which calls are timed, in nanoseconds since a fixed moment.
  // Tests pass other clocks.
  int64_t (*clock)() = SteadyNanoseconds;
  // Limits that protect the host from an untrusted module. A run that exceeds a
  // limit returns ResourceExhausted, with one line that names the limit; limits
  // are checked before memory is allocated.
  //
  // memory_limit is the largest number of bytes of the arena, allocations,
  // results, and memory of tier 0: temporary results, packed and padded
  // operands, workers' scratch. 0: the memory of the machine or of its control
  // group (vm/runtime/default_limits.h); negative: no limit. The strings of a
  // run may use the same number of bytes in addition, but at most 1 GiB if
  // memory_limit is not set.
  int64_t memory_limit = 0;
  // Largest number of points that one Run may evaluate: for each stage of a
  // dispatch the product of its axes' extents, for a library call the bytes of
  // its operands. 0: kDefaultWorkLimit; negative: no limit.
  int64_t work_limit = 0;
  // Largest number of steps of one Run: backward jumps and calls of programs.
  // 0: kDefaultStepLimit; negative: no limit.
  int64_t step_limit = 0;
  // Largest number of seconds of one Run; 0: no limit. A run that takes longer
  // stops at the same points as after Cancel.
  double max_seconds = 0;
  // Allocator of tier 0's working memory. Buffers are allocated by the device.
  HostAllocator allocator;
  // A flag that cancels a Run if it is true when the Run begins; may be null.
  // It is for callers that call Run on another thread and must not lose a
  // Cancel that is called before the Run begins. The flag must outlive the
  // session.
  const std::atomic<bool>* begins_cancelled = nullptr;
  // True: the time of every dispatch is measured. Dispatches of a device are
  // then submitted one by one, and the host waits for each of them.
  bool profile = false;
  bool trace = false;  // True: an event per dispatch is recorded. This implies
                       // `profile`.
  int plans_per_site =
      // Number of parameter tuples per dispatch whose plans are kept. When
      // there are more, the least recently used plan is dropped.
      8;
};

// Counters of one dispatch instruction of a program. They count since the
// session was created or ResetProfile was called.
struct SiteProfile {
  // Texts of the module, which are valid as long as the module exists. They are
  // not copied, because a file may use one long text in a million instructions.
  // A zero byte follows each text. `dispatch` is the name of the dispatch.
  std::string_view dispatch = "";  // name of the dispatch that the instruction
                                   // calls
  std::string_view origin = "";    // names of the model's nodes in the dispatch
  std::string_view program = "";
  uint32_t instruction = 0;  // number of the instruction within the program
  int64_t calls = 0;
  // total nanoseconds of the timed calls; with SessionOptions::profile, all
  // calls are timed
  int64_t total_ns = 0;
  int tier = 0;                       // tier of the last call
  int64_t tier_calls[3] = {0, 0, 0};  // number of calls by each tier
  int64_t device_calls = 0;  // number of calls on a device that is not the host
  std::vector<int64_t> parameters;  // values of the dispatch's parameters in
                                    // the last call
  // Calls of the site by the dispatch's parameters, for the first
  // kMaxProfileShapes different parameters. It is filled only with
  // SessionOptions::profile, on the host.
  std::vector<DispatchProfile::Shape> shapes;
  // Describes how the last call was executed: the text of Plan::Describe or
  // Kernel::Describe.
  std::string plan;
};

// An event of a Chrome trace. Times are those of the steady clock.
struct TraceEvent {
  // number of the site: its index in Session::Profile; Session::SiteName
  // returns the name
  uint32_t site = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t thread = 0;
};

// Reports the work of a session on a device that is not the host.
struct DeviceReport {
  DeviceWork work;
  // Work that the host did in between: dispatches, calls of library functions,
  // loads of integers …
  std::vector<HostInstruction> host;
};

// The caller's memory for one result.
struct ResultBuffer {
  // Memory for the result; null: the session's own memory is used.
  void* data = nullptr;
  int64_t byte_size = 0;
};

struct SessionMemory {
  int64_t arena_bytes = 0;
  int64_t pool_bytes =
      // Bytes of the program's allocations (in use or kept for reuse), of
      // results, and of memory of plans of tier 0.
      0;
  int64_t peak_bytes = 0;  // largest sum of arena_bytes and pool_bytes so far
};

class Session {
 public:
  static StatusOr<std::unique_ptr<Session>> Create(
      std::shared_ptr<const Module> module, SessionOptions options);
  virtual ~Session() = default;

  // Runs the entry program. `inputs` has one tensor per input, in order;
  // `results` gets one per result.
  virtual Status Run(std::span<const Tensor> inputs,
                     std::vector<Tensor>* results) = 0;

  // Sets memory of the caller, called result buffers, for results. From the
  // next Run on, each result with a buffer is written to its buffer, and the
  // result's tensor refers to this memory without owning it. Buffers must be
  // aligned for their elements, must not overlap each other or inputs, and must
  // be large enough, or Run returns an error. `buffers` has one item for each
  // result, or is empty. Results of strings cannot have buffers.
  Status SetResultBuffers(std::vector<ResultBuffer> buffers);
  // Allows runs to overwrite the memory of inputs, from the next Run on; one
  // flag for each input, or none. Where the program computes a result from an
  // input that nothing else reads, such as the state of a decoder, the result
  // is then computed in the input's memory: the tensors of both refer to the
  // same memory, and elements that do not change are not copied. A result with
  // a buffer is copied to it from there. Such inputs must not share memory with
  // other inputs. After a failed Run their contents are unspecified. It has no
  // effect on inputs that are not 16-byte aligned, and on devices other than
  // the host.
  void AllowOverwriting(const std::vector<bool>& inputs);
  // Sets a new value of SessionOptions::max_seconds, which applies from the
  // next Run on.
  virtual void SetMaxSeconds(double seconds) = 0;
  // Returns the number of dispatches that the current or last Run has begun.
  // Thread-safe.
  virtual int64_t progress() const = 0;

  // Stops the current Run, if there is one; it then returns kCancelled. Tier 0
  // stops within milliseconds. In other cases the Run ends when the chunks of
  // kernels, the library function or the device's commands that are running
  // have ended. The session can be used again. Thread-safe.
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
  // True if, for every dispatch that has run, the choice of its kernel is final
  // for the parameters of the last call. Benchmarks use this function. It is
  // never true with `profile` or `trace`.
  virtual bool IsSettled() const = 0;
  // Returns the number of batches of dispatches that are run concurrently
  // (SessionOptions::side_by_side).
  virtual int side_by_side_count() const = 0;
  virtual SessionMemory memory() const = 0;
  // Returns the device's work since the session was created or since
  // ResetProfile.
  virtual DeviceReport device_report() const = 0;

 private:
  // Returns the object that runs the session's dispatches. The non-virtual
  // functions use it. They are not virtual, so that a program which does not
  // call them does not link their code.
  virtual const DispatchRunner& dispatches() const = 0;
  virtual ResultBuffers& result_buffers() = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_SESSION_H_
