// Stores the results of tuning in an SQLite file: the trials and the best
// schedule of each dispatch. A later search continues from them, and equal
// dispatches of other models use them.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<RecordStore> store,
//                          RecordStore::Open("tuning.db", Access::kTune));
//   store->AddTrial(task, record);
//   store->SetBest(task, {.schedule = text, .ratio = 0.8, .seconds = 0.001});
//   store->Best(task);       // also in another process, after kill -9
//
// A task (one dispatch for one target) is identified by a hash of the
// dispatch's contents (jit/kernel/content_key.h) and the text of the target.
// Each call is a transaction, so a process that is killed loses at most the
// call that it was in.
//
// Only one process at a time may tune with a file; it locks the file, and the
// operating system frees the lock when the process ends. Others may read
// meanwhile. The file holds at most kMaxTrials trials: the oldest ones are
// removed, except for the best schedules.
//
// Only tools use this. Errors are one line that begins with the file's name.
// Not thread-safe.
#ifndef EMBER_TUNE_RECORDS_RECORD_STORE_H_
#define EMBER_TUNE_RECORDS_RECORD_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/status.h"
#include "jit/kernel/tuned_schedules.h"
#include "tune/measure/trial.h"
#include "tune/task/task.h"

struct sqlite3;

namespace ember::tune {

// Largest number of trials in a file. So many take about 200 MB.
inline constexpr int64_t kMaxTrials = 100'000;

struct TrialRecord {
  std::string schedule;  // steps of the schedule, one per line
  Outcome outcome = Outcome::kRefused;
  double ratio = 0;
  double seconds = 0;
  double compile_ms = 0;
  std::string origin;  // Point::origin
  std::string reason;  // TrialResult::reason
};

struct BestRecord {
  std::string schedule;
  double ratio = 1;
  double seconds = 0;
  // The build (BuildText) of the tool that measured the schedule.
  std::string build;
};

enum class Access : uint8_t {
  kRead,  // opens a file, which must exist, for reading only
  kTune   // opens a file, or makes it, and locks it against other tuners
};

class RecordStore {
 public:
  // Opens a file. Errors: the file cannot be opened, is no file of records, or
  // has a later version; kFailedPrecondition if another process tunes with it.
  static StatusOr<std::unique_ptr<RecordStore>> Open(const std::string& path,
                                                     Access access);
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  // Adds a trial. It replaces an earlier trial of the same schedule.
  Status AddTrial(const Task& task, const TrialRecord& trial);
  // Sets the best schedule of a task.
  Status SetBest(const Task& task, const BestRecord& best);

  StatusOr<std::optional<BestRecord>> Best(const Task& task) const;
  // Returns the trials of a task, the oldest first.
  StatusOr<std::vector<TrialRecord>> Trials(const Task& task) const;
  // Returns the best schedules of similar tasks: other dispatches for the same
  // target whose names say that they compute the same. The ones with the best
  // ratios come first, at most `most`. A search for a task without records
  // starts from them.
  StatusOr<std::vector<BestRecord>> Near(const Task& task, int most) const;
  StatusOr<int64_t> TrialCount() const;

  // Returns the best schedules of all tasks, to be written to a file or into a
  // module.
  StatusOr<jit::TunedSchedules> Export() const;
  // Adds the given schedules as best ones, each if it is faster than the best
  // one in this file. Returns the number of schedules that were added.
  StatusOr<int64_t> Import(const jit::TunedSchedules& schedules);
  // Adds the trials and the best schedules of another file of records. If both
  // files have a best schedule for a task, the faster one is kept.
  Status Merge(const std::string& other);

 private:
  class Statement;
  RecordStore(std::string path, sqlite3* database, FileDescriptor lock)
      : path_(std::move(path)), database_(database), lock_(std::move(lock)) {}

  Status Execute(const std::string& sql) const;
  Status Error() const;  // Returns an error with SQLite's last message.
  // Returns the number of the task's row in the table of tasks, which is added
  // if it is missing.
  StatusOr<int64_t> RowOf(const std::string& key, const std::string& target,
                          const std::string& name);
  Status SetBest(int64_t row, const BestRecord& best);
  Status Prune();

  const std::string path_;
  sqlite3* const database_;
  const FileDescriptor lock_;
  // Number of trials that were added since the last call of Prune.
  int64_t added_ = 0;
};

// Returns a text that identifies the build of this program; records contain it.
std::string BuildText();

}  // namespace ember::tune

#endif  // EMBER_TUNE_RECORDS_RECORD_STORE_H_
