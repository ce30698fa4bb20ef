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
// A message has no machine code: a worker compiles the dispatch itself, checks
// it against its own tier 0, and knows it by its key. Constants of at most
// kMaxConstantBytes together keep their values; larger ones are drawn at random
// by the worker, as other operands are, which changes neither the schedule nor
// its time.
//
// Readers take texts from strangers: each error is one line, and what is read
// is verified. Functions are thread-safe.
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

// Bytes of a task's constants that travel with it.
inline constexpr size_t kMaxConstantBytes = size_t{128} << 10;
// Bytes of the operands of a task that a worker accepts.
inline constexpr int64_t kMaxOperandBytes = int64_t{1} << 31;

// Returns the channel of a target: its kind and a hash of its text without the
// number of cores, "x86_64-linux-3f0c…".
std::string ChannelOf(std::string_view target);

// Returns the text of a task. Errors: kResourceExhausted if it has more than
// kMaxMessageBytes (job_queue.h).
StatusOr<std::string> WriteTask(const Task& task);
// Returns the name under which a text is stored, 32 hexadecimal digits.
std::string NameOfTask(std::string_view text);

// Reads a task. The result owns what its request refers to. Errors: the text
// has another form, the dispatch is refused, its operands are too large, or its
// key is not the one that the text has.
StatusOr<Task> ReadTask(std::string_view text);

struct JobMessage {
  std::string task;    // NameOfTask
  std::string target;  // the target of the tuner's task
  Trial trial;         // its task's number is not used
};
std::string WriteJob(const JobMessage& job);
StatusOr<JobMessage> ReadJob(std::string_view text);

// Reads an answer. Errors: the text is no result, or has impossible numbers.
StatusOr<TrialResult> ReadAnswer(std::string_view text);

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_MESSAGES_H_
