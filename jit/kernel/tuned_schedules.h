// Schedules that were found by tuning, as a text that is a file of its own or a
// part of a module. The JIT looks them up by the contents of dispatches.
//
//   EMBER_ASSIGN_OR_RETURN(const TunedSchedules tuned,
//                          TunedSchedules::Parse(text));
//   if (const TunedSchedule* one = tuned.Find(key, target)) Replay(one->steps);
//
//   ember schedules 1
//   schedule 5f0c9a1e77d0b6425f0c9a1e77d0b642 x86_64-linux+avx2 0.83 0.0012 d0_conv
//     split %y0 i1 16 -> i1_o i1_l
//     vectorize %y0 i1_l
//   end
//
// A schedule has the key of its dispatch (content_key.h), the target that it
// was measured on, the time of a call divided by that with the default
// schedule, the seconds of a call, and the dispatch's name in the model for
// which it was found. Steps name stages and loops of the dispatch with
// canonical names.
//
// The text may come from a stranger. Parse checks its form; the primitives
// check that a schedule is legal, so a wrong one costs speed at most. A value;
// thread-compatible.
#ifndef EMBER_JIT_KERNEL_TUNED_SCHEDULES_H_
#define EMBER_JIT_KERNEL_TUNED_SCHEDULES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace ember::jit {

struct TunedSchedule {
  std::string key;
  std::string target;
  double ratio = 1;
  double seconds = 0;
  // name of the dispatch in the model that it was tuned for, for people to read
  std::string name;
  std::string steps;  // one per line
};

// Largest number of bytes of a text that Parse accepts.
inline constexpr size_t kMaxTunedBytes = size_t{64} << 20;

class TunedSchedules {
 public:
  // Parses the text. Errors: InvalidArgument if the text is too long, or with
  // the number of the line that is wrong.
  static StatusOr<TunedSchedules> Parse(std::string_view text);
  // Returns the text of all schedules, sorted by key and target.
  std::string Print() const;

  // Adds a schedule. If there already is one for the same dispatch and target,
  // the faster one is kept.
  void Add(TunedSchedule schedule);
  // Returns the schedule for a dispatch on a target, or null. Targets that
  // differ only in their number of cores are the same.
  const TunedSchedule* Find(std::string_view key,
                            std::string_view target) const;

  size_t size() const { return schedules_.size(); }
  // Calls visit(schedule) for each schedule.
  template <typename Visitor>
  void ForEach(Visitor&& visit) const {
    for (const auto& [key, schedule] : schedules_) visit(schedule);
  }

 private:
  // Schedules by the dispatch's key and the target's text without its number of
  // cores.
  std::map<std::pair<std::string, std::string>, TunedSchedule, std::less<>>
      schedules_;
};

// Returns the target's text without its number of cores.
std::string WithoutCores(std::string_view target);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_TUNED_SCHEDULES_H_
