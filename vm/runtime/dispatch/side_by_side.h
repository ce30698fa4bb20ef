// Runs calls of neighbouring kernels that do not touch each other's results
// concurrently, each on one worker, if that is faster than one after another on
// all workers. It is faster for small calls, whose work does not fill all
// workers or is not worth splitting.
//
//   SideBySide side_by_side(runner, site_count);
//   side_by_side.StartRun(/*is_settled=*/true);
//   side_by_side.Call(site, {parameters, buffers, runner}, kernel, bytes, inputs);
//   side_by_side.Synchronize();   // before anything that depends on earlier calls
//   side_by_side.EndRun();
//
// Neighbouring calls are found in the first run in which all dispatches have
// their kernels. Each batch of them is then timed both ways alternately, and
// the faster way is kept. If a batch of more calls than workers is not faster
// as a whole, parts with as many calls as workers are tried. Tries take at most
// a tenth of a run's time, so that users do not notice them. Results are the
// same either way, because they do not depend on the number of workers.
//
// Memory is compared in every run, call by call. A batch only records that its
// calls were independent once; it does not guarantee it.
//
// Not thread-safe: it belongs to one session, like its executor.
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
  // Returns nanoseconds since a fixed moment.
  using Clock = int64_t (*)();

  // Makes an object without batches. Sites are numbered below `site_count`. The
  // runner must outlive the object.
  SideBySide(ParallelRunner& runner, size_t site_count,
             Clock clock = SteadyNanoseconds);

  // Begins a run. is_settled: true if every site's choice of kernel is final.
  void StartRun(bool is_settled);
  void EndRun();

  // Runs a call of the site's kernel, or keeps it until the next Synchronize at
  // the latest. `bytes` are the lengths of the call's buffers: the first
  // `input_count` are read, the others are written. An error may come from an
  // earlier call that was kept.
  Status Call(size_t site, const KernelCall& call, const Kernel& kernel,
              std::span<const int64_t> bytes, size_t input_count);
  // Runs the kept calls and returns the first error in their order. Cheap if
  // there are none.
  Status Synchronize() {
    ++synchronizations_;
    return kept_count_ == 0 ? OkStatus() : RunKept();
  }

  // True if no calls were recorded yet: StartRun needs to know if sites are
  // settled.
  bool is_waiting() const { return state_ == State::kWaits; }
  // True if nothing is left to be found or timed.
  bool is_decided() const { return state_ == State::kDecided; }
  // Returns the number of batches that run side by side.
  int batch_count() const;

 private:
  enum class State { kWaits, kSees, kTries, kDecided };

  struct Range {
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
  };
  // A call that is recorded or kept.
  struct KeptCall {
    size_t site = 0;
    const Kernel* kernel = nullptr;
    std::span<const int64_t> parameters;
    int64_t points = 0;
    MemoryBudget* budget = nullptr;
    std::vector<void*> buffers;
    std::vector<Range> ranges;
    size_t input_count = 0;
    // number of calls of Synchronize before this call
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
    std::vector<size_t> sites;  // sites of the batch's calls, in order
    Verdict verdict = Verdict::kOpen;
    Samples apart, together;
    // number of runs in which the batch should have run together
    int64_t tries = 0;
    // State of this run: true if the batch runs together, the number of its
    // calls that came one after another, and when that began.
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
  std::vector<KeptCall> seen_;  // the first call of each site
  std::vector<bool> is_seen_;
  std::vector<Batch> batches_;
  // number of the batch of each site; -1: none
  std::vector<int> batch_of_site_;
  // calls that are kept; the first kept_count_ are valid
  std::vector<KeptCall> kept_;
  size_t kept_count_ = 0;
  int64_t synchronizations_ = 0;
  size_t next_try_ = 0;  // number of the batch that is tried next
  int64_t run_begin_ns_ = 0;
  int64_t run_ns_ = 0;  // nanoseconds of the last run
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_SIDE_BY_SIDE_H_
