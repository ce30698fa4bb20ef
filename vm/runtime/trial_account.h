// What trying kernels may cost the callers of a session. Nobody should notice
// that kernels are tried: a run may lose a small part of what the last one
// would have taken at tier 0, by its dispatches' best times. What faster
// kernels have saved in it counts. The first run has no bound.
//
//   account.StartRun();
//   account.AddCall(trial.interpreted_ns(), ns);      // of each call
//   if (account.has_lost_enough()) ...                // use what is known
//
// Not thread-safe.
#ifndef EMBER_VM_RUNTIME_TRIAL_ACCOUNT_H_
#define EMBER_VM_RUNTIME_TRIAL_ACCOUNT_H_

#include <cstdint>
#include <limits>

namespace ember::vm {

class TrialAccount {
 public:
  void StartRun() {
    constexpr int64_t kMayLose = 32;  // one of so many nanoseconds
    if (interpreted_ns_ > 0) may_lose_ns_ = interpreted_ns_ / kMayLose;
    interpreted_ns_ = lost_ns_ = 0;
    is_open_ = has_measured_;
    has_measured_ = false;
  }
  // A call that took ns; interpreted_ns: the best time at tier 0 of others like
  // it, 0 if there is none.
  void AddCall(int64_t interpreted_ns, int64_t ns) {
    interpreted_ns_ += interpreted_ns;
    if (interpreted_ns > 0) lost_ns_ += ns - interpreted_ns;
  }
  // What came on top of a call.
  void AddLoss(int64_t ns) { lost_ns_ += ns; }
  // The run has measured something, so that the next one is interested in its
  // times.
  void NoteMeasured() { has_measured_ = true; }

  bool has_lost_enough() const { return lost_ns_ > may_lose_ns_; }
  // Whether anything in this run depends on its times.
  bool is_open() const { return is_open_; }

 private:
  int64_t interpreted_ns_ = 0;
  int64_t lost_ns_ = 0;
  bool has_measured_ = true;  // something in this run
  bool is_open_ = true;       // as the last run measured something
  int64_t may_lose_ns_ = std::numeric_limits<int64_t>::max();
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TRIAL_ACCOUNT_H_
