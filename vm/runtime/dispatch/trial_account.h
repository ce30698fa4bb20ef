// Limits the time that trying kernels costs the callers of a session, so that
// trials are not noticeable. A run may lose a small part of the time that the
// last run would have taken at tier 0, estimated from the best times of its
// dispatches. Time that faster kernels have saved in the run is subtracted from
// the loss. The first run has no limit.
//
//   account.StartRun();
//   account.AddCall(trial.interpreted_ns(), ns);      // of each call
//   if (account.has_lost_enough()) ...                // use what is known
//
// Not thread-safe.
#ifndef EMBER_VM_RUNTIME_DISPATCH_TRIAL_ACCOUNT_H_
#define EMBER_VM_RUNTIME_DISPATCH_TRIAL_ACCOUNT_H_

#include <cstdint>
#include <limits>

namespace ember::vm {

class TrialAccount {
 public:
  void StartRun() {
    // A run may lose one part in kMayLose of its time at tier 0 by trials.
    constexpr int64_t kMayLose = 32;
    if (interpreted_ns_ > 0) may_lose_ns_ = interpreted_ns_ / kMayLose;
    interpreted_ns_ = lost_ns_ = 0;
    is_open_ = has_measured_;
    has_measured_ = false;
  }
  // Adds a call that took `ns` nanoseconds. interpreted_ns is the best time of
  // the same call at tier 0; 0 if it is not known.
  void AddCall(int64_t interpreted_ns, int64_t ns) {
    interpreted_ns_ += interpreted_ns;
    if (interpreted_ns > 0) lost_ns_ += ns - interpreted_ns;
  }
  // Adds a time in nanoseconds that was spent in addition to calls, such as for
  // checks.
  void AddLoss(int64_t ns) { lost_ns_ += ns; }
  // Records that a measurement was made in this run. The choice may then still
  // be open, so that the times of the next run are needed.
  void NoteMeasured() { has_measured_ = true; }

  bool has_lost_enough() const { return lost_ns_ > may_lose_ns_; }
  // True if a decision depends on the times of this run.
  bool is_open() const { return is_open_; }

 private:
  int64_t interpreted_ns_ = 0;
  int64_t lost_ns_ = 0;
  bool has_measured_ = true;  // true if a measurement was made in this run
  bool is_open_ = true;       // true if a measurement was made in the last run
  int64_t may_lose_ns_ = std::numeric_limits<int64_t>::max();
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_TRIAL_ACCOUNT_H_
