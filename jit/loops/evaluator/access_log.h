// Remembers which agent accessed which element of a buffer, to detect data
// races. An agent is a thread of execution that may run concurrently with
// others: the tasks of a phase, the invocations of a loop, or the invocations
// and subgroups of a task between two barriers.
//
//   AccessLog log;
//   log.Note(memory, 64, /*position=*/3, /*agent=*/0, /*stores=*/true);   // -1
//   log.Note(memory, 64, /*position=*/3, /*agent=*/5, /*stores=*/false);  // 0
//
// Not thread-safe.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_ACCESS_LOG_H_
#define EMBER_JIT_LOOPS_EVALUATOR_ACCESS_LOG_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ember::loops {

class AccessLog {
 public:
  // Begins another phase or loop: earlier accesses are no longer compared with
  // later ones.
  void Begin() { ++round_; }

  // Notes an access. Returns another agent that has accessed the same element,
  // if one of the two accesses is a store; otherwise returns -1. Buffers that
  // begin at the same address count as one buffer.
  int64_t Note(const void* memory, size_t count, int64_t position,
               int64_t agent, bool stores) {
    std::vector<Access>& log = logs_[memory];
    if (log.size() < count) log.resize(count);
    Access& access = log[static_cast<size_t>(position)];
    if (access.round != round_) access = {round_, -1, -1, false};
    int64_t other = access.writer;
    if (stores && (other < 0 || other == agent)) {
      other = access.reader;
      if (access.is_read_by_several && other == agent) other = agent + 1;
    }
    if (stores)
      access.writer = agent;
    else if (access.reader < 0)
      access.reader = agent;
    else
      access.is_read_by_several |= access.reader != agent;
    return other == agent ? -1 : other;
  }

 private:
  struct Access {
    uint64_t round = 0;
    int64_t writer = -1;
    int64_t reader = -1;
    bool is_read_by_several = false;
  };
  uint64_t round_ = 0;
  std::unordered_map<const void*, std::vector<Access>> logs_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_ACCESS_LOG_H_
