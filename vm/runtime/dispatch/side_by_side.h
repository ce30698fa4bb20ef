// Runs consecutive calls of kernels that do not depend on each other
// concurrently, each on one worker, if that is faster than running them one
// after another on all workers. It is faster for small calls, whose work does
// not fill all workers or is not worth splitting.
//
//   SideBySide side_by_side(runner, site_count);
//   side_by_side.StartRun(/*is_settled=*/true);
//   side_by_side.Call(site, {parameters, buffers, runner}, kernel, bytes, inputs);
//   side_by_side.Synchronize();   // before anything that depends on earlier calls
//   side_by_side.EndRun();
//
// Batches of such calls are found in the first run in which all dispatches have
// their kernels. Each batch is then timed alternately in both ways,
// concurrently and one after another, and the faster way is kept. If a batch of
// more calls than workers is not faster as a whole, parts with as many calls as
// workers are tried. Trials take at most a tenth of a run's time, so that users
// do not notice them. Results are the same either way, because they do not
// depend on the number of workers.
//
// In every run the memory of each call is compared with that of the kept calls:
// that the calls of a batch were independent once does not guarantee that they
// are in a later run.
//
// Not thread-safe: the object belongs to one session.
#ifndef EMBER_VM_RUNTIME_DISPATCH_SIDE_BY_SIDE_H_
#define EMBER_VM_RUNTIME_DISPATCH_SIDE_BY_SIDE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/steady_clock.h"

namespace ember::vm {

class SideBySide {
 public:
  // A function that returns nanoseconds since a fixed moment.
  using Clock = int64_t (*)();

  // Makes an object without batches. Numbers of sites are below `site_count`.
  // The runner must outlive the object.
  SideBySide(ParallelRunner& runner, size_t site_count,
             Clock clock = SteadyNanoseconds);

  // Begins a run. `is_settled` is true if the choice of the kernel is final at
  // every site.
  void StartRun(bool is_settled);
  void EndRun();

  // Runs a call of the site's kernel, or keeps the call and runs it at the
  // latest in the next Synchronize. `bytes` are the lengths of the call's
  // buffers: the first `input_count` are read, the others are written. The
  // returned error may be that of an earlier call that was kept.
  Status Call(size_t site, const KernelCall& call, const Kernel& kernel,
              std::span<const int64_t> bytes, size_t input_count);
  // Runs the kept calls and returns the first error, in the order of the calls.
  // It takes little time if there are none.
  Status Synchronize() {
    ++synchronizations_;
    return kept_count_ == 0 ? OkStatus() : RunKept();
  }

  // True while no run's calls have been recorded to find batches. Only then
  // does StartRun need is_settled.
  bool is_waiting() const { return state_ == State::kWaits; }
  // True if all batches have been found and the faster way is known for each of
  // them.
  bool is_decided() const { return state_ == State::kDecided; }
  // Returns the number of batches whose calls run concurrently.
  int batch_count() const;

 private:
  enum class State { kWaits, kSees, kTries, kDecided };

  struct Range {
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
  };
  // A call that is recorded in the first run to find batches, or that is kept
  // to run later with others of its batch.
  struct KeptCall {
    size_t site = 0;
    const Kernel* kernel = nullptr;
    std::span<const int64_t> parameters;
    int64_t points = 0;
    MemoryBudget* budget = nullptr;
    std::vector<void*> buffers;
    std::vector<Range> ranges;
    size_t input_count = 0;
    // number of calls of Synchronize in this run before the call
    int64_t synchronizations = 0;
    Status status;
  };

  enum class Verdict { kOpen, kTogether, kApart };
  struct Samples {
    int64_t count = 0;
    int64_t best_ns = 0;
    void Add(int64_t ns);
  };
  struct Batch {
    std::vector<size_t> sites;  // numbers of the sites whose calls form the
                                // batch, in order
    Verdict verdict = Verdict::kOpen;
    Samples apart, together;
    // number of runs in which the batch was selected to run its calls
    // concurrently
    int64_t tries = 0;
    // State in the current run. is_together: the batch runs concurrently.
    // calls: number of its calls so far, which have run or are kept. begin_ns:
    // time at which the first of them began.
    bool is_together = false;
    size_t calls = 0;
    int64_t synchronizations = 0;
    int64_t begin_ns = 0;
  };

  static void Describe(size_t site, const KernelCall& call,
                       const Kernel& kernel, std::span<const int64_t> bytes,
                       size_t input_count, KeptCall& kept);
  static bool Conflict(const KeptCall& a, const KeptCall& b);
  bool ConflictsWithKept(const KeptCall& call) const;
  Status CallInBatch(Batch& batch, size_t site, const KernelCall& call,
                     const Kernel& kernel, std::span<const int64_t> bytes,
                     size_t input_count);
  Status RunKept();
  void FormBatches();
  void AddBatch(std::span<const size_t> sites);
  void ChooseTries();
  void Decide(Batch& batch);

  ParallelRunner& runner_;
  const Clock clock_;
  State state_ = State::kWaits;
  std::vector<KeptCall> seen_;  // the first call of each site in the run that
                                // was recorded to find batches
  std::vector<bool> is_seen_;
  std::vector<Batch> batches_;
  // for each site, the number of its batch; -1: it is in no batch
  std::vector<int> batch_of_site_;
  // the calls that wait for the rest of their batch; only the first kept_count_
  // are valid
  std::vector<KeptCall> kept_;
  size_t kept_count_ = 0;
  int64_t synchronizations_ = 0;
  size_t next_try_ = 0;  // index of the batch at which the next search for
                         // batches to try begins
  int64_t run_begin_ns_ = 0;
  int64_t run_ns_ = 0;  // duration of the last run in nanoseconds
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_SIDE_BY_SIDE_H_
