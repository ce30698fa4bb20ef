// The messages between a tuner and workers on other machines: tasks, jobs and
// answers, as texts.
//
//   EMBER_ASSIGN_OR_RETURN(std::string text, WriteTask(task));
//   EMBER_ASSIGN_OR_RETURN(Task same, ReadTask(text));   // elsewhere
//   same.key == task.key
//
//   ember task 1
//   name d0_conv
//   key 5f0c9a1e77d0b6425f0c9a1e77d0b642
//   target x86_64-linux+avx2+fma+l2=1024K+cores=8
//   parameters 1 64
//   constant 1 0000803f00000040
//   constant 2 random
//   dispatch
//   dispatch @d …
//
//   ember job 1
//   task 0d5e…                       name of the task's text
//   target x86_64-linux+avx2+…
//   trial
//   0 …                              WriteTrial
//
// A message has no machine code: a worker compiles the dispatch itself and
// checks the kernel against its own tier 0. Small constants, at most
// kMaxConstantBytes together, are sent with their values. For larger ones the
// worker draws random values, as it does for other operands; that changes
// neither the schedule nor its time.
//
// Texts may come from strangers: the functions that read them verify everything
// and return errors of one line. Functions are thread-safe.
#ifndef EMBER_TUNE_FLEET_MESSAGES_H_
#define EMBER_TUNE_FLEET_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tune/measure/trial.h"
#include "tune/task/task.h"

namespace ember::tune {

// Largest number of bytes of constants that are sent with a task.
inline constexpr size_t kMaxConstantBytes = size_t{128} << 10;
// Largest number of bytes of a task's operands. A worker refuses tasks with
// more.
inline constexpr int64_t kMaxOperandBytes = int64_t{1} << 31;

// Returns the channel for jobs of a target: the kind of processor and a hash of
// the target's text without the number of cores, "x86_64-linux-3f0c…".
std::string ChannelOf(std::string_view target);

// Returns the text of a task. Errors: kResourceExhausted if it has more than
// kMaxMessageBytes (job_queue.h).
StatusOr<std::string> WriteTask(const Task& task);
// Returns the name under which a task's text is stored in the queue: a hash of
// the text, 32 hexadecimal digits.
std::string NameOfTask(std::string_view text);

// Parses and verifies a task. The returned task owns its dispatch and
// constants. Errors: the text has another form, the dispatch is not valid, its
// operands are too large, or the key in the text is not the key of the
// dispatch.
StatusOr<Task> ReadTask(std::string_view text);

struct JobMessage {
  std::string task;    // NameOfTask
  std::string target;  // target of the task, as the tuner has it
  // Its member `task` is not used: the name `task` above identifies the task.
  Trial trial;
};
std::string WriteJob(const JobMessage& job);
StatusOr<JobMessage> ReadJob(std::string_view text);

// Parses a worker's answer. Returns an error if the text is no result or has
// impossible numbers.
StatusOr<TrialResult> ReadAnswer(std::string_view text);

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_MESSAGES_H_
