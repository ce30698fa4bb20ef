// What a process that wants kernels and the compile worker say to each other
// over a stream socket.
//
//   Connection connection(std::move(socket));
//   EMBER_RETURN_IF_ERROR(connection.Send({MessageKind::kJob, WriteJob(job)}));
//   EMBER_ASSIGN_OR_RETURN(Message message, connection.Receive(kPatience));
//
// The worker greets first (kGreeting: the identity of its compiler). Then jobs
// and answers follow each other, one at a time on a connection:
//
//   process                worker
//                          kGreeting
//   kJob                   kAlive (every second until the answer)
//                          kBegun (the job's turn has come)
//                          kAnswer
//
// Both ends are built from the same sources: who greets with another version is
// not talked to. Both check that the other is a process of the same user.
//
// A Connection is not thread-safe but for Close; the functions are.
#ifndef EMBER_JIT_WORKER_PROTOCOL_H_
#define EMBER_JIT_WORKER_PROTOCOL_H_

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_descriptor.h"
#include "base/status.h"
#include "jit/backend/compile_options.h"
#include "vm/format/kernel_image.h"

namespace ember::jit {

// Changes with everything that is sent.
inline constexpr uint32_t kWorkerProtocolVersion = 2;
// How often a worker says that it lives while it has a job.
inline constexpr std::chrono::milliseconds kSignOfLife{1000};

enum class MessageKind : uint32_t { kGreeting, kJob, kAlive, kBegun, kAnswer };

struct Message {
  MessageKind kind = MessageKind::kAlive;
  std::string body;
};

// What the worker compiles: a verified nest.
struct CompileJob {
  std::string nest;  // jit/loops/text.h
  CompileOptions options;
};

struct CompileAnswer {
  Status status;
  // If that is ok.
  vm::KernelCode code;
  int64_t code_bytes = 0;
  double optimize_ms = 0;
  double codegen_ms = 0;
  std::string llvm;
  std::string assembly;
};

std::string WriteJob(const CompileJob& job);
StatusOr<CompileJob> ReadJob(std::string_view body);
std::string WriteAnswer(const CompileAnswer& answer);
// The code's bytes are the answer's own.
StatusOr<CompileAnswer> ReadAnswer(std::string_view body);
std::string WriteGreeting(const std::string& identity);
// The identity. FailedPrecondition: another version.
StatusOr<std::string> ReadGreeting(std::string_view body);

class Connection {
 public:
  // Of a connected stream socket.
  explicit Connection(FileDescriptor socket) : socket_(std::move(socket)) {}

  // FailedPrecondition: the other end is gone, or does not read for long.
  Status Send(const Message& message);
  // FailedPrecondition: it is gone, or Close was called; ResourceExhausted:
  // nothing came for so long; DataLoss: not what this protocol says.
  StatusOr<Message> Receive(std::chrono::milliseconds patience);
  // Ends what Send and Receive wait for; from any thread.
  void Close();

  // Whether the other end was made by a process of this user.
  bool is_own() const;

 private:
  FileDescriptor socket_;
  std::mutex send_mutex_;  // messages are sent whole
};

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_PROTOCOL_H_
