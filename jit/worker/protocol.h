// The messages between a process that needs kernels and the compile worker,
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
//                          kBegun (the worker begins the job)
//                          kAnswer
//
// Both ends are built from the same sources: a peer that greets with another
// version is refused. Both check that the other is a process of the same user.
//
// Close is the only thread-safe member of Connection. Functions that are not
// members are thread-safe.
#ifndef EMBER_JIT_WORKER_PROTOCOL_H_
#define EMBER_JIT_WORKER_PROTOCOL_H_

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/status.h"
#include "jit/backend/compile_options.h"
#include "jit/backend/pass_log.h"
#include "vm/format/kernel_image.h"

namespace ember::jit {

// Version of the protocol. It changes whenever the format of any message
// changes.
inline constexpr uint32_t kWorkerProtocolVersion = 3;
// Time between a worker's signs of life while it has a job.
inline constexpr std::chrono::milliseconds kSignOfLife{1000};

enum class MessageKind : uint32_t { kGreeting, kJob, kAlive, kBegun, kAnswer };

struct Message {
  MessageKind kind = MessageKind::kAlive;
  std::string body;
};

// A job: a verified nest that the worker is to compile, and the options for it.
struct CompileJob {
  std::string nest;  // text of the nest (jit/loops/text/text.h)
  CompileOptions options;
};

struct CompileAnswer {
  Status status;
  // The compiled code; valid only if the status is ok.
  vm::KernelCode code;
  int64_t code_bytes = 0;
  double optimize_ms = 0;
  double codegen_ms = 0;
  std::string llvm;
  std::string assembly;
  std::vector<PassRecord> passes;
};

std::string WriteJob(const CompileJob& job);
StatusOr<CompileJob> ReadJob(std::string_view body);
std::string WriteAnswer(const CompileAnswer& answer);
// Parses the answer in a message. The result owns the code's bytes.
StatusOr<CompileAnswer> ReadAnswer(std::string_view body);
std::string WriteGreeting(const std::string& identity);
// Returns the compiler's identity from a greeting. Returns FailedPrecondition
// if the greeting has another version of the protocol or is cut off.
StatusOr<std::string> ReadGreeting(std::string_view body);

class Connection {
 public:
  // Makes a Connection that owns a connected stream socket.
  explicit Connection(FileDescriptor socket) : socket_(std::move(socket)) {}

  // Sends a message. Returns FailedPrecondition if the other end is gone, or
  // does not read for long; ResourceExhausted if the message is too large.
  Status Send(const Message& message);
  // Returns the next message. Errors: FailedPrecondition if the other end is
  // gone or Close was called, ResourceExhausted if no message came within
  // `patience`, and DataLoss for anything that violates this protocol.
  StatusOr<Message> Receive(std::chrono::milliseconds patience);
  // Ends waiting calls of Send and Receive; may be called from any thread.
  void Close();

  // True if a process of this user made the other end of the connection.
  bool is_own() const;

 private:
  FileDescriptor socket_;
  // locked while a message is sent, so that messages stay whole
  std::mutex send_mutex_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_PROTOCOL_H_
