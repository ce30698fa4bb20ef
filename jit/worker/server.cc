#include "jit/worker/server.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <ctime>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/thread_name.h"
#include "jit/loops/text/text.h"
#include "jit/worker/socket.h"

namespace ember::jit {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Time to wait for a client's next job: practically without limit, because a
// client may stay connected and send its next job after an hour.
constexpr milliseconds kForever{1 << 30};

// Returns the processor time that the thread has used.
milliseconds TimeOnCore(pthread_t thread) {
  clockid_t clock = 0;
  timespec time = {};
  if (pthread_getcpuclockid(thread, &clock) != 0 ||
      clock_gettime(clock, &time) != 0)
    return milliseconds(0);
  return milliseconds(time.tv_sec * 1000 + time.tv_nsec / 1'000'000);
}

class Server {
 public:
  Server(ObjectCompiler& compiler, const ServeOptions& options)
      : compiler_(compiler), options_(options) {}

  // Accepts clients until no job has arrived for the time ServeOptions::idle.
  void Accept(int listener);
  // The loop of a thread that sends signs of life to the clients of all jobs,
  // and ends the process if a job takes too long. Never returns.
  [[noreturn]] void Watch();

 private:
  // A job whose client waits for the answer.
  struct Work {
    std::shared_ptr<Connection> connection;
    bool is_begun = false;
    pthread_t thread = {};
    milliseconds core_at_begin{0};
    Clock::time_point begin;
  };

  void ServeClient(const std::shared_ptr<Connection>& connection);
  CompileAnswer Compile(std::string_view body);
  bool TakesTooLong(const Work& work) const;
  bool IsIdle() const;

  ObjectCompiler& compiler_;
  const ServeOptions& options_;
  mutable std::mutex mutex_;  // This mutex guards the members below it.
  std::condition_variable changed_;
  std::list<Work> works_;
  int compiling_ = 0;
  Clock::time_point last_job_ = Clock::now();
};

CompileAnswer Server::Compile(std::string_view body) {
  CompileAnswer answer;
  const StatusOr<CompileJob> job = ReadJob(body);
  if (!job.ok()) return {.status = job.status()};
  const StatusOr<loops::LoopNest> nest = loops::Parse(job->nest);
  if (!nest.ok()) return {.status = nest.status().WithContext("nest")};
  CompiledNest figures;
  StatusOr<vm::KernelCode> code =
      compiler_.CompileToCode(*nest, job->options, &figures);
  if (!code.ok()) return {.status = code.status()};
  answer.code = *std::move(code);
  answer.code_bytes = figures.code_bytes;
  answer.optimize_ms = figures.optimize_ms;
  answer.codegen_ms = figures.codegen_ms;
  answer.llvm = std::move(figures.llvm);
  answer.assembly = std::move(figures.assembly);
  answer.passes = std::move(figures.passes);
  return answer;
}

void Server::ServeClient(const std::shared_ptr<Connection>& connection) {
  NameThisThread("ember-compile");
  const Message greeting{MessageKind::kGreeting,
                         WriteGreeting(compiler_.identity())};
  if (!connection->is_own() || !connection->Send(greeting).ok()) return;
  while (true) {
    const StatusOr<Message> job = connection->Receive(kForever);
    if (!job.ok() || job->kind != MessageKind::kJob) return;
    std::list<Work>::iterator work;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      work = works_.insert(works_.end(), {.connection = connection});
      changed_.wait(lock, [&] { return compiling_ < options_.threads; });
      ++compiling_;
    }
    bool goes_on = connection->Send({MessageKind::kBegun, {}}).ok();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      work->is_begun = true;
      work->thread = pthread_self();
      work->core_at_begin = TimeOnCore(work->thread);
      work->begin = Clock::now();
    }
    CompileAnswer answer;
    if (goes_on) answer = Compile(job->body);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      works_.erase(work);
      --compiling_;
      last_job_ = Clock::now();
    }
    changed_.notify_all();
    goes_on =
        goes_on &&
        connection->Send({MessageKind::kAnswer, WriteAnswer(answer)}).ok();
    if (!goes_on) return;
  }
}

bool Server::IsIdle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return works_.empty() && Clock::now() - last_job_ >= options_.idle;
}

void Server::Accept(int listener) {
  const WorkerSocket socket(options_.socket, options_.lock);
  while (true) {
    const int client = AcceptFor(listener, kSignOfLife);
    if (client >= 0) {
      std::thread([this, connection = std::make_shared<Connection>(
                             FileDescriptor(client))] {
        ServeClient(connection);
      }).detach();
    } else if (IsIdle() && socket.RemoveIfUnused(listener)) {
      return;
    }
  }
}

bool Server::TakesTooLong(const Work& work) const {
  if (!work.is_begun) return false;
  return TimeOnCore(work.thread) - work.core_at_begin > options_.most_time ||
         Clock::now() - work.begin > 20 * options_.most_time;
}

void Server::Watch() {
  while (true) {
    std::this_thread::sleep_for(kSignOfLife);
    std::list<Work> works;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      works = works_;
      for (const Work& work : works_) {
        if (!TakesTooLong(work)) continue;
        // The job that takes too long is answered with an error. Then the
        // process ends, and the clients of other jobs ask another worker.
        static_cast<void>(work.connection->Send(
            {MessageKind::kAnswer,
             WriteAnswer(
                 {.status = ResourceExhaustedError(
                      "code generation: took more than " +
                      std::to_string(options_.most_time.count()) + " ms")})}));
        _exit(1);
      }
    }
    for (const Work& work : works)
      static_cast<void>(work.connection->Send({MessageKind::kAlive, {}}));
  }
}

}  // namespace

void Serve(FileDescriptor listener, ObjectCompiler& compiler,
           const ServeOptions& options) {
  // The server is never destroyed, because the threads that serve clients may
  // use it until the process ends.
  static Server* server = nullptr;
  server = new Server(compiler, options);
  std::thread([] { server->Watch(); }).detach();
  server->Accept(listener.get());
}

}  // namespace ember::jit
