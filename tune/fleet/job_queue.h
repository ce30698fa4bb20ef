// A queue of trials between a tuner and workers on other machines. It is an
// interface with two implementations ("engines"): a folder that machines share
// (folder_queue.h) and NATS JetStream (tools/lib/tuning/nats/).
//
// The first calls are a tuner's, the last ones a worker's:
//
//   queue.PutTask(name, text);              // once per dispatch
//   queue.Submit({.channel = channel, .id = id, .message = trial});
//   for (Answer& answer : *queue.Answers(session, 100ms)) ...
//
//   StatusOr<std::optional<Job>> job = queue.Take(channel, 1s);
//   queue.Extend(**job);                    // the worker still lives
//   queue.Reply(**job, result);
//
// Delivery is at least once: if a worker neither replies to a job nor extends
// its lease before the lease ends, the job goes to another worker, so an id may
// be answered twice. Messages may come from strangers, so readers verify them
// (messages.h). A channel holds the jobs of one target, so that a worker takes
// only trials that its machine can run.
//
// Names of channels and of tasks consist of letters, digits, '_' and '-'; an id
// is SESSION-NUMBER (job_id.h).
//
// Errors are one line that names the engine's address (a folder or a server). A
// lost connection is no error while the engine tries to restore it. Not
// thread-safe.
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

// Largest number of bytes of a message and of a task's text. It is below 1 MB,
// the default limit of NATS servers.
inline constexpr size_t kMaxMessageBytes = size_t{900} << 10;

struct Job {
  std::string channel;
  std::string id;
  std::string message;
  // Number of workers to which the job has been delivered so far, including
  // this one.
  int deliveries = 1;
  // Identifies this delivery of the job in the engine: for a folder, the name
  // of the job's file.
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

  // ---- The tuner's side. Stores a task's text under its name, for the
  // workers. Does nothing if the name is stored already.
  virtual Status PutTask(const std::string& name, const std::string& text) = 0;
  // Adds a job for the workers of its channel. A second job with the same id is
  // ignored.
  virtual Status Submit(const Job& job) = 0;
  // Returns the answers to jobs of the session that arrived since the last
  // call. If there are none, waits for the first one, at most `patience`.
  virtual StatusOr<std::vector<Answer>> Answers(
      const std::string& session, std::chrono::milliseconds patience) = 0;
  // Removes the session's jobs that no worker has taken, and all answers of the
  // session.
  virtual Status Withdraw(const std::string& channel,
                          const std::string& session) = 0;

  // ---- A worker's side. Takes the next job of a channel for this worker. If
  // there is none, waits for at most `patience`, and then returns nullopt.
  virtual StatusOr<std::optional<Job>> Take(
      const std::string& channel, std::chrono::milliseconds patience) = 0;
  // Returns the task's text that PutTask stored under this name. Errors:
  // kNotFound if there is none.
  virtual StatusOr<std::string> Task(const std::string& name) = 0;
  // Renews the lease of a job, so that it is not given to another worker.
  virtual Status Extend(const Job& job) = 0;
  // Sends the result of a job to the tuner and removes the job.
  virtual Status Reply(const Job& job, const std::string& message) = 0;
  // Puts a job back without an answer, so that another worker can take it.
  virtual Status GiveBack(const Job& job) = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_JOB_QUEUE_H_
