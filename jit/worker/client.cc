#include "jit/worker/client.h"

#include <set>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/target_text.h"
#include "jit/llvm/library/llvm_library.h"
#include "jit/loops/text/text.h"
#include "jit/worker/protocol.h"
#include "jit/worker/socket.h"
#include "jit/worker/start_process.h"

namespace ember::jit {
namespace {

// Largest number of workers that may end after a job was sent and before they
// begin it. Another job may have ended the worker, but not so often.
constexpr int kMaxLosses = 8;

Status Stopped() { return CancelledError("no caller waits for this kernel"); }

class RemoteCompiler final : public ObjectCompiler {
 public:
  RemoteCompiler(WorkerOptions options, WorkerPaths paths)
      : options_(std::move(options)), paths_(std::move(paths)) {}

  // Makes the first connection to the worker, whose greeting contains the
  // compiler's identity.
  Status Start();

  const std::string& identity() const override { return identity_; }
  StatusOr<std::string> CompileToObject(const loops::LoopNest&,
                                        const CompileOptions&,
                                        CompiledNest*) override {
    return UnimplementedError("the compile worker makes no object files");
  }
  StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                         const CompileOptions& options,
                                         CompiledNest* figures) override;
  void Stop() override;

 private:
  // A connection to a worker. It is idle, or one thread uses it.
  struct Line {
    Line(FileDescriptor descriptor, SocketIdentity of)
        : connection(std::move(descriptor)), worker(of) {}
    Connection connection;
    const SocketIdentity worker;
    std::string identity;
  };
  // The outcome of one attempt: a job was sent to a worker on one connection.
  struct Outcome {
    StatusOr<CompileAnswer> answer;
    bool is_begun = false;
    // true if the worker gave no sign of life for too long
    bool is_silent = false;
  };

  StatusOr<std::unique_ptr<Line>> TakeLine();
  StatusOr<std::unique_ptr<Line>> Connect();
  void GiveBack(std::unique_ptr<Line> line);
  Outcome AskOn(Line& line, const std::string& job) const;
  StatusOr<CompileAnswer> Ask(const CompileJob& job);
  // Returns a compiler that runs in this process. It compiles code that is
  // valid in this process only.
  StatusOr<ObjectCompiler*> Local();
  bool is_stopped() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return is_stopped_;
  }

  const WorkerOptions options_;
  const WorkerPaths paths_;
  std::string identity_;
  mutable std::mutex mutex_;  // This mutex guards the members below it.
  std::vector<std::unique_ptr<Line>> idle_;
  std::set<Line*> used_;
  // Identity of the socket of a worker that gave no sign of life: the next
  // connection replaces that worker.
  SocketIdentity silent_;
  bool is_stopped_ = false;
  std::mutex loading_;  // guards local_
  // compiler of this process; null until a nest needs it
  std::unique_ptr<ObjectCompiler> local_;
};

StatusOr<std::unique_ptr<RemoteCompiler::Line>> RemoteCompiler::Connect() {
  SocketIdentity silent;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    silent = silent_;
  }
  EMBER_ASSIGN_OR_RETURN(
      ConnectedSocket connected,
      ConnectOrStart(paths_, silent, [&](const FileDescriptor& listener) {
        return StartProcess(
            options_.program,
            {"--socket=" + paths_.socket, "--lock=" + paths_.lock,
             "--idle-ms=" + std::to_string(options_.idle.count()),
             "--most-ms=" + std::to_string(options_.most_time.count())},
            listener.get());
      }));
  auto line = std::make_unique<Line>(std::move(connected.descriptor),
                                     connected.identity);
  if (!line->connection.is_own())
    return FailedPreconditionError(paths_.socket + ": is another user's");
  const StatusOr<Message> greeting =
      line->connection.Receive(options_.patience);
  if (!greeting.ok()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    silent_ = connected.identity;
    return greeting.status().WithContext(
        options_.program + ": expected a greeting of the compile worker");
  }
  if (greeting->kind != MessageKind::kGreeting)
    return DataLossError("expected a greeting, found another message");
  EMBER_ASSIGN_OR_RETURN(line->identity, ReadGreeting(greeting->body));
  return line;
}

Status RemoteCompiler::Start() {
  // If the first attempt to connect fails, the worker is about to end or gives
  // no sign of life. The second attempt then starts a new one.
  StatusOr<std::unique_ptr<Line>> line = Connect();
  if (!line.ok()) line = Connect();
  if (!line.ok()) return line.status();
  identity_ = (*line)->identity;
  idle_.push_back(*std::move(line));
  return OkStatus();
}

StatusOr<std::unique_ptr<RemoteCompiler::Line>> RemoteCompiler::TakeLine() {
  StatusOr<std::unique_ptr<Line>> line = std::unique_ptr<Line>();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_stopped_) return Stopped();
    if (!idle_.empty()) {
      line = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (*line == nullptr) line = Connect();
  if (!line.ok()) return line;
  if ((*line)->identity != identity_) {
    return FailedPreconditionError(
        "the compile worker was replaced: kernels of the two do not mix");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_stopped_) return Stopped();
  used_.insert(line->get());
  return line;
}

void RemoteCompiler::GiveBack(std::unique_ptr<Line> line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_.erase(line.get());
  if (!is_stopped_) idle_.push_back(std::move(line));
}

RemoteCompiler::Outcome RemoteCompiler::AskOn(Line& line,
                                              const std::string& job) const {
  const Status sent = line.connection.Send({MessageKind::kJob, job});
  if (!sent.ok()) return {.answer = sent};
  Outcome outcome{.answer = CompileAnswer()};
  while (true) {
    const StatusOr<Message> message =
        line.connection.Receive(options_.patience);
    if (!message.ok()) {
      outcome.answer = message.status();
      outcome.is_silent =
          message.status().code() == StatusCode::kResourceExhausted;
      return outcome;
    }
    outcome.is_begun |= message->kind == MessageKind::kBegun;
    if (message->kind != MessageKind::kAnswer) continue;
    outcome.answer = ReadAnswer(message->body);
    return outcome;
  }
}

StatusOr<CompileAnswer> RemoteCompiler::Ask(const CompileJob& job) {
  const std::string body = WriteJob(job);
  int deaths = 0, losses = 0;
  Status last;
  while (deaths < options_.most_deaths && losses < kMaxLosses) {
    StatusOr<std::unique_ptr<Line>> line = TakeLine();
    if (is_stopped()) return Stopped();
    if (!line.ok()) {
      ++losses;
      last = line.status();
      continue;
    }
    Outcome outcome = AskOn(**line, body);
    if (outcome.answer.ok()) {
      GiveBack(*std::move(line));
      return *std::move(outcome.answer);
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      used_.erase(line->get());
      // The worker has failed, so the idle connections to it are dropped.
      idle_.clear();
      if (outcome.is_silent) silent_ = (*line)->worker;
      if (is_stopped_) return Stopped();
    }
    ++(outcome.is_begun ? deaths : losses);
    last = outcome.answer.status();
  }
  return UnimplementedError(
      Concat({"code generation: ", std::to_string(deaths + losses),
              " compile workers ended before they had an answer (",
              last.message(), ")"}));
}

StatusOr<vm::KernelCode> RemoteCompiler::CompileToCode(
    const loops::LoopNest& nest, const CompileOptions& options,
    CompiledNest* figures) {
  // Code for the emulated grid is valid only in the process that runs it, so it
  // is compiled here.
  if (TargetText(options.target).Has("emulated")) {
    EMBER_ASSIGN_OR_RETURN(ObjectCompiler* const local, Local());
    return local->CompileToCode(nest, options, figures);
  }
  EMBER_ASSIGN_OR_RETURN(CompileAnswer answer, Ask({.nest = loops::ToText(nest),
                                                    .options = options}));
  EMBER_RETURN_IF_ERROR(answer.status);
  if (figures != nullptr) {
    figures->code_bytes = answer.code_bytes;
    figures->optimize_ms = answer.optimize_ms;
    figures->codegen_ms = answer.codegen_ms;
    figures->llvm = std::move(answer.llvm);
    figures->assembly = std::move(answer.assembly);
    figures->passes = std::move(answer.passes);
  }
  return std::move(answer.code);
}

StatusOr<ObjectCompiler*> RemoteCompiler::Local() {
  const std::lock_guard<std::mutex> lock(loading_);
  if (local_ == nullptr) {
    EMBER_ASSIGN_OR_RETURN(local_, llvm_ir::LoadLlvmCompiler());
  }
  return local_.get();
}

void RemoteCompiler::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_stopped_ = true;
  for (Line* const line : used_) line->connection.Close();
  idle_.clear();
}

}  // namespace

StatusOr<std::unique_ptr<ObjectCompiler>> NewRemoteCompiler(
    WorkerOptions options) {
  EMBER_ASSIGN_OR_RETURN(WorkerPaths paths,
                         FindWorkerPaths(options.program, options.folder));
  auto compiler =
      std::make_unique<RemoteCompiler>(std::move(options), std::move(paths));
  EMBER_RETURN_IF_ERROR(compiler->Start());
  return std::unique_ptr<ObjectCompiler>(std::move(compiler));
}

}  // namespace ember::jit
