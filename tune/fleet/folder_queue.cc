#include "tune/fleet/folder_queue.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "base/file_descriptor.h"
#include "tune/fleet/job_id.h"

namespace ember::tune {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// The name of a file in jobs/ or taken/, as its parts: ID.NUMBER, where NUMBER
// is how many workers were lost with the job.
struct JobFile {
  std::string id;
  int tries = 0;
};

std::optional<JobFile> ParseJobFile(const std::string& name) {
  const size_t dot = name.find('.');
  JobFile file;
  file.id = name.substr(0, dot);
  if (dot == std::string::npos || !SessionOf(file.id).ok()) return std::nullopt;
  const char* const end = name.data() + name.size();
  const auto [after, error] =
      std::from_chars(name.data() + dot + 1, end, file.tries);
  constexpr int kMaxTries = 1000;
  if (error != std::errc() || after != end || file.tries < 0 ||
      file.tries > kMaxTries)
    return std::nullopt;
  return file;
}

std::string NameOf(const JobFile& file) {
  return Concat({file.id, ".", file.tries});
}

// Reads a file that another machine wrote. Fails if it is not a regular file or
// has more than kMaxMessageBytes.
StatusOr<std::string> ReadMessage(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (!error && size > kMaxMessageBytes) {
    return ResourceExhaustedError(
        Concat({path, ": expected at most ", kMaxMessageBytes, " bytes, found ",
                uint64_t{size}}));
  }
  return ReadFile(path);
}

class FolderQueue final : public JobQueue {
 public:
  FolderQueue(std::string folder, const FolderQueueOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  Status PutTask(const std::string& name, const std::string& text) override;
  Status Submit(const Job& job) override;
  StatusOr<std::vector<Answer>> Answers(const std::string& session,
                                        milliseconds patience) override;
  Status Withdraw(const std::string& channel,
                  const std::string& session) override;
  StatusOr<std::optional<Job>> Take(const std::string& channel,
                                    milliseconds patience) override;
  StatusOr<std::string> Task(const std::string& name) override {
    return ReadMessage(Path("tasks", name));
  }
  Status Extend(const Job& job) override;
  Status Reply(const Job& job, const std::string& message) override;
  Status GiveBack(const Job& job) override;

  Status MakeFolder(const std::string& path) const;

 private:
  std::string Path(const char* kind, const std::string& name) const {
    return Concat({folder_, "/", kind, "/", name});
  }
  std::optional<Job> TakeOne(const std::string& channel);
  // Moves jobs whose lease has ended from taken/ back to jobs/. Does this at
  // most once per eighth of a lease.
  void Recover(const std::string& channel);
  // Returns the present time of the file system's clock, with which the times
  // of files are compared.
  std::optional<fs::file_time_type> Now() const;

  const std::string folder_;
  const FolderQueueOptions options_;
  SteadyClock::time_point last_recovery_;
  // The channel to which this tuner submits jobs; empty in a worker.
  std::string channel_;
};

Status FolderQueue::MakeFolder(const std::string& path) const {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return OkStatus();
  return InvalidArgumentError(
      Concat({"cannot make the folder '", path, "': ", error.message()}));
}

std::optional<fs::file_time_type> FolderQueue::Now() const {
  const std::string path = Concat({folder_, "/clock.", getpid()});
  const FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.is_open()) return std::nullopt;
  ::futimens(file.get(), nullptr);
  std::error_code error;
  const fs::file_time_type now = fs::last_write_time(path, error);
  ::unlink(path.c_str());
  if (error) return std::nullopt;
  return now;
}

Status FolderQueue::PutTask(const std::string& name, const std::string& text) {
  std::error_code error;
  if (fs::exists(Path("tasks", name), error)) return OkStatus();
  return WriteFileAtomically(Path("tasks", name), text);
}

Status FolderQueue::Submit(const Job& job) {
  channel_ = job.channel;
  EMBER_ASSIGN_OR_RETURN(const std::string session, SessionOf(job.id));
  EMBER_RETURN_IF_ERROR(MakeFolder(Path("jobs", job.channel)));
  EMBER_RETURN_IF_ERROR(MakeFolder(Path("answers", session)));
  return WriteFileAtomically(
      Path("jobs", job.channel + "/" + NameOf({job.id, 0})), job.message);
}

StatusOr<std::vector<Answer>> FolderQueue::Answers(const std::string& session,
                                                   milliseconds patience) {
  const auto end = SteadyClock::now() + patience;
  std::vector<Answer> answers;
  while (true) {
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(Path("answers", session), error)) {
      const std::string id = entry.path().filename().string();
      // A file whose name is not a job's id is skipped: answers that are still
      // being written have such temporary names.
      if (!SessionOf(id).ok()) continue;
      StatusOr<std::string> message = ReadMessage(entry.path().string());
      // If the message cannot be read, the answer is empty. The tuner refuses
      // empty answers.
      answers.push_back(
          {id, message.ok() ? *std::move(message) : std::string()});
      ::unlink(entry.path().c_str());
    }
    if (!answers.empty() || SteadyClock::now() >= end) return answers;
    if (!channel_.empty()) Recover(channel_);
    std::this_thread::sleep_for(std::min(options_.period, patience));
  }
}

Status FolderQueue::Withdraw(const std::string& channel,
                             const std::string& session) {
  std::error_code error;
  std::vector<fs::path> own;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(Path("jobs", channel), error)) {
    if (entry.path().filename().string().starts_with(session + "-"))
      own.push_back(entry.path());
  }
  for (const fs::path& path : own) ::unlink(path.c_str());
  fs::remove_all(Path("answers", session), error);
  return OkStatus();
}

void FolderQueue::Recover(const std::string& channel) {
  const auto now = SteadyClock::now();
  if (now - last_recovery_ < options_.lease / 8) return;
  last_recovery_ = now;
  const std::optional<fs::file_time_type> time = Now();
  if (!time) return;
  std::error_code error;
  std::vector<std::string> lost;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(Path("taken", channel), error)) {
    std::error_code gone;
    const fs::file_time_type renewed = entry.last_write_time(gone);
    if (!gone && *time - renewed > options_.lease)
      lost.push_back(entry.path().filename().string());
  }
  for (const std::string& name : lost) {
    std::optional<JobFile> file = ParseJobFile(name);
    if (!file) continue;
    ++file->tries;
    ::rename(Path("taken", channel + "/" + name).c_str(),
             Path("jobs", channel + "/" + NameOf(*file)).c_str());
  }
}

std::optional<Job> FolderQueue::TakeOne(const std::string& channel) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(Path("jobs", channel), error))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  for (const std::string& name : names) {
    const std::optional<JobFile> file = ParseJobFile(name);
    if (!file) continue;
    const std::string from = Path("jobs", channel + "/" + name);
    const std::string to = Path("taken", channel + "/" + name);
    // The lease begins at the file's time, so the time is set before the file
    // is renamed. If another worker has taken the job first, the rename fails.
    ::utimensat(AT_FDCWD, from.c_str(), nullptr, 0);
    if (::rename(from.c_str(), to.c_str()) != 0) continue;
    StatusOr<std::string> message = ReadMessage(to);
    Job job{.channel = channel,
            .id = file->id,
            .message = message.ok() ? *std::move(message) : std::string(),
            .deliveries = file->tries + 1,
            .handle = name};
    return job;
  }
  return std::nullopt;
}

StatusOr<std::optional<Job>> FolderQueue::Take(const std::string& channel,
                                               milliseconds patience) {
  const auto end = SteadyClock::now() + patience;
  EMBER_RETURN_IF_ERROR(MakeFolder(Path("jobs", channel)));
  EMBER_RETURN_IF_ERROR(MakeFolder(Path("taken", channel)));
  while (true) {
    std::optional<Job> job = TakeOne(channel);
    if (job || SteadyClock::now() >= end) return job;
    Recover(channel);
    std::this_thread::sleep_for(std::min(options_.period, patience));
  }
}

Status FolderQueue::Extend(const Job& job) {
  const std::string path = Path("taken", job.channel + "/" + job.handle);
  // The call fails if the file is gone, because another worker has the job by
  // now. That is no error.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return OkStatus();
}

Status FolderQueue::Reply(const Job& job, const std::string& message) {
  EMBER_ASSIGN_OR_RETURN(const std::string session, SessionOf(job.id));
  std::error_code error;
  // The tuner removes the folder of its session when it ends; answers that come
  // later are discarded.
  if (fs::exists(Path("answers", session), error)) {
    EMBER_RETURN_IF_ERROR(
        WriteFileAtomically(Path("answers", session + "/" + job.id), message));
  }
  ::unlink(Path("taken", job.channel + "/" + job.handle).c_str());
  return OkStatus();
}

Status FolderQueue::GiveBack(const Job& job) {
  const std::string name = job.channel + "/" + job.handle;
  ::rename(Path("taken", name).c_str(), Path("jobs", name).c_str());
  return OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<JobQueue>> OpenFolderQueue(
    const std::string& folder, const FolderQueueOptions& options) {
  std::error_code error;
  const bool is_new = !fs::exists(folder, error);
  auto queue = std::make_unique<FolderQueue>(folder, options);
  for (const char* part : {"/tasks", "/jobs", "/taken", "/answers"})
    EMBER_RETURN_IF_ERROR(queue->MakeFolder(folder + part));
  if (is_new) fs::permissions(folder, fs::perms::owner_all, error);
  if (::access(folder.c_str(), W_OK) != 0) {
    return InvalidArgumentError(Concat(
        {"cannot write to the folder '", folder, "': ", std::strerror(errno)}));
  }
  return std::unique_ptr<JobQueue>(std::move(queue));
}

}  // namespace ember::tune
