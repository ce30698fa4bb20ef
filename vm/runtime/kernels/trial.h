// Decides if a kernel is worth using at a site. It compares the best of a few
// calls of the kernel with the best of the last few calls of tier 0, for one
// shape class. It uses the best times, because other work on the machine only
// makes a call slower. Of tier 0 only the last few calls count, because a
// processor is sometimes faster for some seconds, and the best time of hundreds
// of calls would come from such seconds.
//
//   trial.AddInterpreted(ns);  // while there is no kernel
//   trial.Restart();           // a kernel came
//   if (!trial.WantsInterpreter()) trial.AddCompiled(ns);
//   if (trial.verdict() == KernelTrial::Verdict::kSlower) ...
//
// Not thread-safe: each session measures for itself.
#ifndef EMBER_VM_RUNTIME_KERNELS_TRIAL_H_
#define EMBER_VM_RUNTIME_KERNELS_TRIAL_H_

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ember::vm {

class KernelTrial {
 public:
  enum class Verdict { kOpen, kKeep, kSlower };

  void AddInterpreted(int64_t ns) {
    if (is_rematch_) return rematch_interpreted_.Add(ns);
    interpreted_.Add(ns);
  }
  void AddCompiled(int64_t ns) {
    if (is_rematch_) return rematch_compiled_.Add(ns);
    compiled_.Add(ns);
    is_rematch_ = SeemsSlower();
  }
  // Begins the measurement of a new kernel.
  void Restart() {
    compiled_ = rematch_interpreted_ = rematch_compiled_ = {};
    is_rematch_ = false;
  }

  // Returns the choice so far. If tier 0 has made no calls, there is no time to
  // compare with, so a kernel that existed before the first call stays in use.
  Verdict verdict() const {
    if (interpreted_.calls() == 0) return Verdict::kKeep;
    if (!is_rematch_) {
      return compiled_.calls >= kSomeCalls && !IsSlower(kHardly)
                 ? Verdict::kKeep
                 : Verdict::kOpen;
    }
    if (IsSlower(kMuch) && compiled_.total_ns >= kLeastNs)
      return Verdict::kSlower;
    const bool are_short = rematch_compiled_.total_ns < kLeastNs;
    if (rematch_interpreted_.calls < (are_short ? kManyCalls : kRematchCalls))
      return Verdict::kOpen;
    return rematch_compiled_.ns * 100 > rematch_interpreted_.ns * kHardly
               ? Verdict::kSlower
               : Verdict::kKeep;
  }
  // True if tier 0 should make the next call: either tier 0 had made too few
  // calls when the kernel arrived and the kernel is not clearly faster, or the
  // kernel and tier 0 are called alternately.
  bool WantsInterpreter() const {
    if (is_rematch_)
      return rematch_interpreted_.calls < rematch_compiled_.calls;
    return interpreted_.calls() > 0 && interpreted_.calls() < kFewCalls &&
           compiled_.calls >= kFewCalls && IsSlower(kDoubtful);
  }

  int64_t interpreted_ns() const { return interpreted_.ns(); }
  int64_t compiled_ns() const { return compiled_.ns; }

 private:
  struct Best {
    int64_t calls = 0;
    int64_t ns = 0;
    int64_t total_ns = 0;
    void Add(int64_t sample) {
      ns = calls == 0 ? sample : std::min(ns, sample);
      total_ns += sample;
      ++calls;
    }
  };
  // The best time of the most recent calls: of the last kSomeCalls ones or
  // fewer, and of the kSomeCalls calls before them.
  class RecentBest {
   public:
    void Add(int64_t sample) {
      if (last_.calls == kSomeCalls) before_ = std::exchange(last_, {});
      last_.Add(sample);
      ++calls_;
    }
    int64_t calls() const { return calls_; }
    int64_t ns() const {
      return before_.calls == 0 ? last_.ns : std::min(last_.ns, before_.ns);
    }

   private:
    Best before_, last_;
    int64_t calls_ = 0;
  };
  static constexpr int64_t kFewCalls = 3;
  static constexpr int64_t kSomeCalls = 8;
  static constexpr int64_t kRematchCalls = 16;
  static constexpr int64_t kManyCalls = 64;
  // Shortest total time of a measurement in nanoseconds. In a shorter time all
  // calls might be slowed by other work.
  static constexpr int64_t kLeastNs = 2'000'000;
  // Limits for a kernel's time, as percentages of tier 0's time.
  static constexpr int64_t kDoubtful = 80;
  static constexpr int64_t kHardly = 103;
  static constexpr int64_t kMuch = 150;

  // True if the kernel seems slower than tier 0. Tier 0 was measured at other
  // times, when the machine may have done other work, such as compiling.
  // Therefore, unless the kernel is much slower, kernel and tier 0 are then
  // called alternately, and these times decide.
  bool SeemsSlower() const {
    if (interpreted_.calls() < kFewCalls) return false;
    return (compiled_.calls >= kFewCalls && IsSlower(kMuch)) ||
           (compiled_.calls >= kSomeCalls && IsSlower(kHardly));
  }
  bool IsSlower(int64_t percent) const {
    return compiled_.ns * 100 > interpreted_.ns() * percent;
  }

  RecentBest interpreted_;
  Best compiled_;
  bool is_rematch_ = false;
  Best rematch_interpreted_, rematch_compiled_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_TRIAL_H_
