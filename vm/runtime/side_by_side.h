// Calls of neighbouring kernels that touch none of each other's results, each
// on one worker at the same time, where that is faster than one after another
// on all workers: small ones, whose work does not fill all workers or is not
// worth sharing out.
//
//   SideBySide side_by_side(runner, site_count);
//   side_by_side.StartRun(/*is_settled=*/true);
//   side_by_side.Call(site, {parameters, buffers, runner}, kernel, bytes, inputs);
//   side_by_side.Synchronize();   // before anything that depends on earlier calls
//   side_by_side.EndRun();
//
// Which calls are neighbours is seen in the first run in which all dispatches
// have their kernels. Each such batch is then timed both ways in turns and
// keeps the faster one. One of more calls than workers that is not faster as a
// whole is tried in parts of as many. What a run tries takes a tenth of its
// time at most, so that nobody should notice. Results are the same either way:
// what kernels store does not depend on the workers.
//
// Memory is compared in every run, call by call, so that a batch is only what
// was seen to go together, never a promise that it does.
//
// Not thread-safe: one session's, as its executor is.
#ifndef EMBER_VM_RUNTIME_SIDE_BY_SIDE_H_
#define EMBER_VM_RUNTIME_SIDE_BY_SIDE_H_

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
  // Nanoseconds since some moment.
  using Clock = int64_t (*)();

  // Sites are numbered below `site_count`. The runner must outlive this.
  SideBySide(ParallelRunner& runner, size_t site_count,
             Clock clock = SteadyNanoseconds);

  // is_settled: every site has the kernel that it will have.
  void StartRun(bool is_settled);
  void EndRun();

  // A call of the site's kernel: runs it, or keeps it until the next
  // Synchronize at the latest. `bytes` are the lengths of the call's buffers,
  // of which the first `input_count` are read and the others written. An error
  // may be that of an earlier call which was kept.
  Status Call(size_t site, const KernelCall& call, const Kernel& kernel,
              std::span<const int64_t> bytes, size_t input_count);
  // Runs what was kept; the first error in order. Cheap if there is nothing.
  Status Synchronize() {
    ++synchronizations_;
    return kept_count_ == 0 ? OkStatus() : RunKept();
  }

  // Nothing was seen yet: StartRun asks whether sites are settled.
  bool is_waiting() const { return state_ == State::kWaits; }
  // Nothing is left to be seen or timed.
  bool is_decided() const { return state_ == State::kDecided; }
  // How many batches run side by side.
  int batch_count() const;

 private:
  enum class State { kWaits, kSees, kTries, kDecided };

  struct Range {
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
  };
  // A call that is seen, or kept.
  struct KeptCall {
    size_t site = 0;
    const Kernel* kernel = nullptr;
    std::span<const int64_t> parameters;
    int64_t points = 0;
    MemoryBudget* budget = nullptr;
    std::vector<void*> buffers;
    std::vector<Range> ranges;
    size_t input_count = 0;
    int64_t synchronizations = 0;  // before it
    Status status;
  };

  enum class Verdict { kOpen, kTogether, kApart };
  struct Samples {
    int64_t count = 0;
    int64_t best_ns = 0;
    void Add(int64_t ns);
  };
  struct Batch {
    std::vector<size_t> sites;  // in order
    Verdict verdict = Verdict::kOpen;
    Samples apart, together;
    int64_t tries = 0;  // runs in which it should have run together
    // Of this run: which way it goes, and how many of its calls came one after
    // another since when.
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
  std::vector<KeptCall> seen_;  // the first of each site
  std::vector<bool> is_seen_;
  std::vector<Batch> batches_;
  std::vector<int> batch_of_site_;  // -1: none
  std::vector<KeptCall> kept_;      // the first kept_count_ are
  size_t kept_count_ = 0;
  int64_t synchronizations_ = 0;
  size_t next_try_ = 0;  // batch
  int64_t run_begin_ns_ = 0;
  int64_t run_ns_ = 0;  // of the last run
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_SIDE_BY_SIDE_H_
