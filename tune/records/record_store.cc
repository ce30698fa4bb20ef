#include "tune/records/record_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "base/build_id.h"
#include "base/concat.h"

namespace ember::tune {
namespace {

// Version of the tables in the file, raised when they change. A file with a
// later version is refused.
constexpr int64_t kVersion = 1;
// Milliseconds to wait while another process writes to the file.
constexpr int kPatience = 5000;
// Number of added trials after which the size of the file is checked.
constexpr int64_t kPruneInterval = 256;
// Largest number of bytes of the file: enough for kMaxTrials trials of 2000
// bytes, and for everything else.
constexpr int64_t kMaxBytes = int64_t{256} << 20;
constexpr int64_t kPageBytes = 4096;

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS tasks(
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, target TEXT NOT NULL,
  name TEXT NOT NULL, UNIQUE(key, target));
CREATE TABLE IF NOT EXISTS trials(
  id INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES tasks(id),
  schedule TEXT NOT NULL, outcome INTEGER NOT NULL, ratio REAL NOT NULL,
  seconds REAL NOT NULL, compile_ms REAL NOT NULL, origin TEXT NOT NULL,
  reason TEXT NOT NULL, UNIQUE(task, schedule));
CREATE TABLE IF NOT EXISTS best(
  task INTEGER PRIMARY KEY REFERENCES tasks(id), schedule TEXT NOT NULL,
  ratio REAL NOT NULL, seconds REAL NOT NULL, build TEXT NOT NULL);
)";

// Locks the file for this process. Retries for two seconds: the worker
// processes of a tuner that was killed inherited its lock and have it until
// they end.
bool Lock(const FileDescriptor& file) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{100};
  for (int i = 0; i < kTries; ++i) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace

// A prepared SQL statement. Bind sets its values one after another, and columns
// are read by number.
class RecordStore::Statement {
 public:
  Statement(sqlite3* database, const std::string& sql) {
    sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(),
                      static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& Bind(int64_t number) {
    sqlite3_bind_int64(statement_, ++bound_, number);
    return *this;
  }
  Statement& Bind(double number) {
    sqlite3_bind_double(statement_, ++bound_, number);
    return *this;
  }
  // Reads the next row of the statement's result. Returns false at the end and
  // after an error.
  bool Next() {
    result_ = statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_);
    return result_ == SQLITE_ROW;
  }
  // True if the last call of Next reached the end without an error.
  bool is_done() const { return result_ == SQLITE_DONE; }

  std::string Text(int column) const {
    const unsigned char* const text = sqlite3_column_text(statement_, column);
    if (text == nullptr) return "";
    return {reinterpret_cast<const char*>(text),
            static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
  }
  int64_t Integer(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  double Real(int column) const {
    return sqlite3_column_double(statement_, column);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  int result_ = SQLITE_OK;
};

std::string BuildText() {
  const std::string id = BuildIdAt(reinterpret_cast<const void*>(&BuildText));
  return id.empty() ? "unknown" : id.substr(0, 12);
}

Status RecordStore::Error() const {
  return InternalError(Concat({path_, ": ", sqlite3_errmsg(database_)}));
}

Status RecordStore::Execute(const std::string& sql) const {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) ==
      SQLITE_OK) {
    return OkStatus();
  }
  return Error();
}

StatusOr<std::unique_ptr<RecordStore>> RecordStore::Open(
    const std::string& path, Access access) {
  FileDescriptor lock;
  if (access == Access::kTune) {
    const std::string file = path + ".lock";
    lock = FileDescriptor(
        ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.is_open())
      return NotFoundError(
          Concat({path, ": expected a file that can be made"}));
    if (!Lock(lock)) {
      return FailedPreconditionError(
          Concat({path,
                  ": another tuner uses these records; wait for it, or "
                  "give other records with --records"}));
    }
  }
  sqlite3* database = nullptr;
  const int flags = access == Access::kTune
                        ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                        : SQLITE_OPEN_READONLY;
  const int opened = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  std::unique_ptr<RecordStore> store(
      new RecordStore(path, database, std::move(lock)));
  if (opened != SQLITE_OK) {
    return NotFoundError(Concat(
        {path, ": expected a file of records: ", sqlite3_errmsg(database)}));
  }
  sqlite3_busy_timeout(database, kPatience);
  if (access == Access::kTune) {
    EMBER_RETURN_IF_ERROR(store->Execute(
        Concat({"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                "PRAGMA max_page_count=",
                kMaxBytes / kPageBytes, ";"})));
  }
  Statement version(database, "PRAGMA user_version");
  if (!version.Next()) return store->Error();
  if (version.Integer(0) > kVersion) {
    return FailedPreconditionError(
        Concat({path, ": expected records of version ", kVersion, ", found ",
                version.Integer(0), "; use a newer vm-tune"}));
  }
  if (access == Access::kTune) {
    EMBER_RETURN_IF_ERROR(store->Execute(
        Concat({kTables, "PRAGMA user_version=", kVersion, ";"})));
  } else if (version.Integer(0) == 0) {
    return DataLossError(Concat(
        {path, ": expected records of vm-tune, found another database"}));
  }
  return store;
}

RecordStore::~RecordStore() { sqlite3_close_v2(database_); }

StatusOr<int64_t> RecordStore::RowOf(const std::string& key,
                                     const std::string& target,
                                     const std::string& name) {
  Statement insert(database_,
                   "INSERT OR IGNORE INTO tasks(key, target, name) "
                   "VALUES(?, ?, ?)");
  insert.Bind(key).Bind(target).Bind(name).Next();
  if (!insert.is_done()) return Error();
  Statement find(database_, "SELECT id FROM tasks WHERE key=? AND target=?");
  if (!find.Bind(key).Bind(target).Next()) return Error();
  return find.Integer(0);
}

Status RecordStore::AddTrial(const Task& task, const TrialRecord& trial) {
  EMBER_ASSIGN_OR_RETURN(const int64_t row,
                         RowOf(task.key, task.request.target, task.name));
  Statement insert(
      database_,
      "INSERT OR REPLACE INTO trials(task, schedule, outcome, ratio, seconds, "
      "compile_ms, origin, reason) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  insert.Bind(row)
      .Bind(trial.schedule)
      .Bind(static_cast<int64_t>(trial.outcome))
      .Bind(trial.ratio)
      .Bind(trial.seconds)
      .Bind(trial.compile_ms)
      .Bind(trial.origin)
      .Bind(trial.reason)
      .Next();
  if (!insert.is_done()) return Error();
  return ++added_ % kPruneInterval == 0 ? Prune() : OkStatus();
}

Status RecordStore::Prune() {
  EMBER_ASSIGN_OR_RETURN(const int64_t count, TrialCount());
  if (count <= kMaxTrials) return OkStatus();
  return Execute(
      Concat({"DELETE FROM trials WHERE id IN (SELECT id FROM trials ORDER BY "
              "id LIMIT ",
              count - kMaxTrials, ")"}));
}

Status RecordStore::SetBest(int64_t row, const BestRecord& best) {
  Statement insert(database_,
                   "INSERT OR REPLACE INTO best(task, schedule, ratio, "
                   "seconds, build) VALUES(?, ?, ?, ?, ?)");
  insert.Bind(row)
      .Bind(best.schedule)
      .Bind(best.ratio)
      .Bind(best.seconds)
      .Bind(best.build)
      .Next();
  return insert.is_done() ? OkStatus() : Error();
}

Status RecordStore::SetBest(const Task& task, const BestRecord& best) {
  EMBER_ASSIGN_OR_RETURN(const int64_t row,
                         RowOf(task.key, task.request.target, task.name));
  return SetBest(row, best);
}

StatusOr<std::optional<BestRecord>> RecordStore::Best(const Task& task) const {
  Statement find(database_,
                 "SELECT schedule, ratio, seconds, build FROM best JOIN tasks "
                 "ON best.task=tasks.id WHERE key=? AND target=?");
  find.Bind(task.key).Bind(task.request.target);
  if (find.Next()) {
    return std::optional(BestRecord{.schedule = find.Text(0),
                                    .ratio = find.Real(1),
                                    .seconds = find.Real(2),
                                    .build = find.Text(3)});
  }
  if (!find.is_done()) return Error();
  return std::optional<BestRecord>();
}

StatusOr<std::vector<TrialRecord>> RecordStore::Trials(const Task& task) const {
  Statement find(
      database_,
      "SELECT schedule, outcome, ratio, seconds, compile_ms, origin, "
      "reason FROM trials JOIN tasks ON trials.task=tasks.id WHERE key=? "
      "AND target=? ORDER BY trials.id");
  find.Bind(task.key).Bind(task.request.target);
  std::vector<TrialRecord> trials;
  while (find.Next()) {
    const int64_t outcome = find.Integer(1);
    if (outcome < 0 || outcome > static_cast<int64_t>(Outcome::kHung)) continue;
    trials.push_back({.schedule = find.Text(0),
                      .outcome = static_cast<Outcome>(outcome),
                      .ratio = find.Real(2),
                      .seconds = find.Real(3),
                      .compile_ms = find.Real(4),
                      .origin = find.Text(5),
                      .reason = find.Text(6)});
  }
  if (!find.is_done()) return Error();
  return trials;
}

StatusOr<std::vector<BestRecord>> RecordStore::Near(const Task& task,
                                                    int most) const {
  // The name of a dispatch is its number and what it computes: d7_conv_max and
  // d12_conv_max are alike. The search is for names with the same end.
  const std::string kind =
      "%" + task.name.substr(std::min(task.name.find('_'), task.name.size()));
  Statement find(database_,
                 "SELECT schedule, ratio, seconds, build FROM best JOIN tasks "
                 "ON best.task=tasks.id WHERE target=? AND key<>? AND name "
                 "LIKE ? ORDER BY ratio LIMIT ?");
  find.Bind(task.request.target).Bind(task.key).Bind(kind).Bind(int64_t{most});
  std::vector<BestRecord> found;
  while (find.Next()) {
    found.push_back({.schedule = find.Text(0),
                     .ratio = find.Real(1),
                     .seconds = find.Real(2),
                     .build = find.Text(3)});
  }
  if (!find.is_done()) return Error();
  return found;
}

StatusOr<int64_t> RecordStore::TrialCount() const {
  Statement count(database_, "SELECT count(*) FROM trials");
  if (!count.Next()) return Error();
  return count.Integer(0);
}

StatusOr<jit::TunedSchedules> RecordStore::Export() const {
  Statement find(database_,
                 "SELECT key, target, ratio, seconds, name, schedule FROM best "
                 "JOIN tasks ON best.task=tasks.id");
  jit::TunedSchedules schedules;
  while (find.Next()) {
    schedules.Add({.key = find.Text(0),
                   .target = find.Text(1),
                   .ratio = find.Real(2),
                   .seconds = find.Real(3),
                   .name = find.Text(4),
                   .steps = find.Text(5)});
  }
  if (!find.is_done()) return Error();
  return schedules;
}

StatusOr<int64_t> RecordStore::Import(const jit::TunedSchedules& schedules) {
  int64_t taken = 0;
  Status failed;
  schedules.ForEach([&](const jit::TunedSchedule& schedule) {
    if (!failed.ok()) return;
    const StatusOr<int64_t> row =
        RowOf(schedule.key, schedule.target, schedule.name);
    if (!row.ok()) {
      failed = row.status();
      return;
    }
    Statement known(database_, "SELECT ratio FROM best WHERE task=?");
    if (known.Bind(*row).Next() && known.Real(0) <= schedule.ratio) return;
    failed = SetBest(*row, {.schedule = schedule.steps,
                            .ratio = schedule.ratio,
                            .seconds = schedule.seconds,
                            .build = "imported"});
    taken += failed.ok();
  });
  EMBER_RETURN_IF_ERROR(failed);
  return taken;
}

Status RecordStore::Merge(const std::string& other) {
  // The other file is opened once as a store, only to check that it is a file
  // of records.
  EMBER_RETURN_IF_ERROR(Open(other, Access::kRead).status());
  Statement attach(database_, "ATTACH DATABASE ? AS other");
  attach.Bind(other).Next();
  if (!attach.is_done()) return Error();
  const Status merged = Execute(R"(
      BEGIN IMMEDIATE;
      INSERT OR IGNORE INTO tasks(key, target, name)
        SELECT key, target, name FROM other.tasks;
      INSERT OR IGNORE INTO trials(task, schedule, outcome, ratio, seconds,
                                   compile_ms, origin, reason)
        SELECT own.id, t.schedule, t.outcome, t.ratio, t.seconds, t.compile_ms,
               t.origin, t.reason
        FROM other.trials t JOIN other.tasks o ON t.task=o.id
        JOIN main.tasks own ON own.key=o.key AND own.target=o.target
        ORDER BY t.id;
      INSERT OR REPLACE INTO best(task, schedule, ratio, seconds, build)
        SELECT own.id, b.schedule, b.ratio, b.seconds, b.build
        FROM other.best b JOIN other.tasks o ON b.task=o.id
        JOIN main.tasks own ON own.key=o.key AND own.target=o.target
        LEFT JOIN main.best known ON known.task=own.id
        WHERE known.ratio IS NULL OR b.ratio < known.ratio;
      COMMIT;
      )");
  if (!merged.ok()) {
    const Status error = Error();
    static_cast<void>(Execute("ROLLBACK"));
    static_cast<void>(Execute("DETACH DATABASE other"));
    return error;
  }
  EMBER_RETURN_IF_ERROR(Execute("DETACH DATABASE other"));
  return Prune();
}

}  // namespace ember::tune
