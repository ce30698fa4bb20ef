// A queue of trials between a tuner and workers on other machines. Engines
// implement it: a folder that machines share (folder_queue.h), NATS JetStream
// (tools/lib/tuning/nats/).
//
// The tuner's side, and that of a worker:
//
//   queue.PutTask(name, text);              // once per dispatch
//   queue.Submit({.channel = channel, .id = id, .message = trial});
//   for (Answer& answer : *queue.Answers(session, 100ms)) ...
//
//   StatusOr<std::optional<Job>> job = queue.Take(channel, 1s);
//   queue.Extend(**job);                    // the worker still lives
//   queue.Reply(**job, result);
//
// Delivery is at least once: a job whose worker neither replies nor extends it
// within the engine's lease goes to another worker, so an id may be answered
// twice. Messages are texts that may come from a stranger: readers verify them
// (messages.h). A channel holds the jobs of one target, so that a worker takes
// only trials that its machine can run.
//
// Names. Channels and names of tasks consist of letters, digits, '_' and '-';
// an id is SESSION-NUMBER (messages.h).
//
// Errors are one line that names the engine's address. A lost connection is no
// error while the engine tries to restore it. Not thread-safe.
#ifndef EMBER_TUNE_FLEET_JOB_QUEUE_H_
#define EMBER_TUNE_FLEET_JOB_QUEUE_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace ember::tune {

// Largest number of bytes of a message and of a task's text: NATS servers take
// 1 MB by default.
inline constexpr size_t kMaxMessageBytes = size_t{900} << 10;

struct Job {
  std::string channel;
  std::string id;
  std::string message;
  // The number of workers that have been given the job, this one included.
  int deliveries = 1;
  // The engine's own name of the delivery.
  std::string handle;
};

struct Answer {
  std::string id;
  std::string message;
};

class JobQueue {
 public:
  JobQueue() = default;
  virtual ~JobQueue() = default;
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // ---- The tuner's side.
  // Stores a text for the workers. Nothing happens if it is there.
  virtual Status PutTask(const std::string& name, const std::string& text) = 0;
  // Adds a job. A second job with the same id is ignored.
  virtual Status Submit(const Job& job) = 0;
  // Returns the answers to jobs of the session that arrived since the last
  // call. Waits until there is one, at most `patience`.
  virtual StatusOr<std::vector<Answer>> Answers(
      const std::string& session, std::chrono::milliseconds patience) = 0;
  // Removes the session's jobs that no worker has taken, and its answers.
  virtual Status Withdraw(const std::string& channel,
                          const std::string& session) = 0;

  // ---- A worker's side.
  // Returns the next job of a channel, which is then this worker's. Waits until
  // there is one, at most `patience`.
  virtual StatusOr<std::optional<Job>> Take(
      const std::string& channel, std::chrono::milliseconds patience) = 0;
  // Errors: kNotFound if no such text was stored.
  virtual StatusOr<std::string> Task(const std::string& name) = 0;
  // Renews the lease of a job.
  virtual Status Extend(const Job& job) = 0;
  // Answers a job and removes it.
  virtual Status Reply(const Job& job, const std::string& message) = 0;
  // Returns a job unanswered, for another worker.
  virtual Status GiveBack(const Job& job) = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_JOB_QUEUE_H_
