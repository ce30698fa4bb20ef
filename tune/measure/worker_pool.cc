#include "tune/measure/worker_pool.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/concat.h"

namespace ember::tune {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Largest number of bytes of a message between the pool and a worker. Most of
// it is the schedule, which has some thousand bytes.
constexpr size_t kMaxBytes = size_t{128} << 10;
// Milliseconds between two calls of PoolOptions::should_stop.
constexpr int kPatience = 100;

// Sends one message. The socket keeps messages apart (SOCK_SEQPACKET), so no
// length is sent.
bool Send(int socket, const std::string& message) {
  return message.size() <= kMaxBytes &&
         send(socket, message.data(), message.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(message.size());
}

// Returns the next message from the socket. Returns an empty text if the other
// process has ended.
std::string Receive(int socket) {
  std::string message(kMaxBytes, '\0');
  ssize_t count = 0;
  do {
    count = recv(socket, message.data(), message.size(), 0);
  } while (count < 0 && errno == EINTR);
  message.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return message;
}

// Returns the processor time that a process has used so far.
std::chrono::nanoseconds ProcessorTime(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 ||
      clock_gettime(clock, &time) != 0)
    return std::chrono::nanoseconds(0);
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::nanoseconds(time.tv_nsec);
}

// Waits until a child process has ended and returns a readable text of how it
// ended.
std::string ReasonOfEnd(pid_t process) {
  int state = 0;
  while (waitpid(process, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(state))
    return Concat({"the worker died: ", strsignal(WTERMSIG(state))});
  return Concat({"the worker ended with exit status ", WEXITSTATUS(state)});
}

}  // namespace

// A mutex in memory that the pool's processes share. If the process that has
// locked it dies, the next process gets the lock.
class WorkerPool::TimingLock {
 public:
  TimingLock() {
    void* const memory =
        mmap(nullptr, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EMBER_CHECK(memory != MAP_FAILED) << "no memory for a lock";
    mutex_ = new (memory) pthread_mutex_t;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~TimingLock() { munmap(mutex_, sizeof(pthread_mutex_t)); }
  TimingLock(const TimingLock&) = delete;
  TimingLock& operator=(const TimingLock&) = delete;

  void Lock() {
    if (pthread_mutex_lock(mutex_) == EOWNERDEAD)
      pthread_mutex_consistent(mutex_);
  }
  void Unlock() { pthread_mutex_unlock(mutex_); }

 private:
  pthread_mutex_t* mutex_;
};

WorkerPool::WorkerPool(PoolOptions options, MakeServe make_serve)
    : options_(std::move(options)),
      make_serve_(std::move(make_serve)),
      lock_(std::make_unique<TimingLock>()),
      workers_(static_cast<size_t>(std::max(options_.workers, 1))) {}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) Kill(worker);
}

void WorkerPool::Kill(Worker& worker) {
  worker.socket = FileDescriptor();
  if (worker.process < 0) return;
  kill(worker.process, SIGKILL);
  ReasonOfEnd(worker.process);
  worker.process = -1;
}

void WorkerPool::RunWorker(int socket, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent ended before prctl was called, no signal would come, so this
  // is checked once.
  if (getppid() != parent) _exit(1);
  // Ctrl-C sends SIGINT to the workers too. They ignore it, because the tuner
  // ends them.
  signal(SIGINT, SIG_IGN);
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  // The fork copied the pool's sockets to other workers. They are closed,
  // because otherwise those workers would not see that the pool has closed its
  // own ends.
  for (Worker& other : workers_) other.socket = FileDescriptor();
  const Serve serve = make_serve_({.lock = [this] { lock_->Lock(); },
                                   .unlock = [this] { lock_->Unlock(); }});
  while (true) {
    const std::string message = ember::tune::Receive(socket);
    if (message.empty()) _exit(0);
    const StatusOr<Trial> trial = ReadTrial(message);
    TrialResult result;
    if (trial.ok()) {
      result = serve(*trial);
    } else {
      result.reason = trial.status().message();
    }
    constexpr size_t kMaxReason = 2000;
    if (result.reason.size() > kMaxReason) result.reason.resize(kMaxReason);
    if (!Send(socket, WriteResult(result))) _exit(1);
  }
}

Status WorkerPool::Start(Worker& worker) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return InternalError(Concat({"socketpair: ", std::strerror(errno)}));
  FileDescriptor own(ends[0]), other(ends[1]);
  // Standard output is flushed before the fork. Otherwise the worker would
  // print the buffered text a second time.
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process < 0)
    return InternalError(Concat({"fork: ", std::strerror(errno)}));
  if (process == 0) {
    own = FileDescriptor();
    RunWorker(other.get(), parent);
  }
  ++started_;
  worker.process = process;
  worker.socket = std::move(own);
  worker.trial = -1;
  return OkStatus();
}

void WorkerPool::Receive(Worker& worker,
                         const std::function<void(size_t, TrialResult)>& done) {
  const auto trial = static_cast<size_t>(worker.trial);
  worker.trial = -1;
  const std::string message = ember::tune::Receive(worker.socket.get());
  StatusOr<TrialResult> result = ReadResult(message);
  if (!message.empty() && result.ok()) return done(trial, *std::move(result));
  TrialResult crashed;
  crashed.outcome = Outcome::kCrashed;
  worker.socket = FileDescriptor();
  kill(worker.process, SIGKILL);
  crashed.reason = ReasonOfEnd(worker.process);
  worker.process = -1;
  done(trial, std::move(crashed));
}

bool WorkerPool::IsHung(const Worker& worker) const {
  const auto waited = SteadyClock::now() - worker.start;
  if (waited <= options_.most_time) return false;
  return waited > options_.most_time * kMaxWait ||
         ProcessorTime(worker.process) - worker.used_before >
             options_.most_time;
}

Status WorkerPool::Run(std::span<const Trial> trials,
                       const std::function<void(size_t, TrialResult)>& done) {
  size_t next = 0, ended = 0;
  const auto count_done = [&](size_t trial, TrialResult result) {
    ++ended;
    done(trial, std::move(result));
  };
  while (ended < trials.size()) {
    if (options_.should_stop && options_.should_stop()) {
      // Workers whose trials are abandoned are killed, so that the next Run
      // does not take their late answers for answers to its own trials.
      for (Worker& worker : workers_) {
        if (worker.trial >= 0) Kill(worker);
        worker.trial = -1;
      }
      return CancelledError("stopped");
    }
    std::vector<pollfd> polled;
    std::vector<Worker*> busy;
    for (Worker& worker : workers_) {
      while (worker.trial < 0 && next < trials.size()) {
        if (worker.process < 0) EMBER_RETURN_IF_ERROR(Start(worker));
        // Sending fails if the worker was killed while it was idle. A new
        // worker then replaces it.
        if (!Send(worker.socket.get(), WriteTrial(trials[next]))) {
          Kill(worker);
          continue;
        }
        worker.trial = static_cast<int>(next++);
        worker.start = SteadyClock::now();
        worker.used_before = ProcessorTime(worker.process);
      }
      if (worker.trial < 0) continue;
      polled.push_back({worker.socket.get(), POLLIN, 0});
      busy.push_back(&worker);
    }
    poll(polled.data(), polled.size(), kPatience);
    for (size_t i = 0; i < polled.size(); ++i) {
      Worker& worker = *busy[i];
      if (polled[i].revents != 0) {
        Receive(worker, count_done);
      } else if (IsHung(worker)) {
        const auto trial = static_cast<size_t>(worker.trial);
        worker.trial = -1;
        Kill(worker);
        TrialResult hung;
        hung.outcome = Outcome::kHung;
        hung.reason =
            Concat({"took longer than ", options_.most_time.count(), " ms"});
        count_done(trial, std::move(hung));
      }
    }
  }
  return OkStatus();
}

}  // namespace ember::tune
