#include "jit/worker/protocol.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/concat.h"
#include "vm/format/byte_stream.h"
#include "vm/format/kernel_image_bytes.h"

namespace ember::jit {
namespace {

// Largest size in bytes of a message: compiled code and its texts are far
// smaller.
constexpr uint32_t kMaxBytes = uint32_t{1} << 28;
// Longest time to wait for a receiver that does not read while its socket's
// buffer is full.
constexpr int kSendPatienceMs = 20'000;

struct Header {
  uint32_t kind = 0;
  uint32_t bytes = 0;
};

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Status Gone() { return FailedPreconditionError("the other end is gone"); }
Status Damaged(const char* what) {
  return DataLossError(Concat(
      {what, ": expected a message of this version, ", "found another"}));
}

// Waits until the socket is ready for `events`, such as reading or writing
// (poll). Returns 0 if that takes too long.
int Await(int socket, short events, int milliseconds) {
  pollfd entry = {.fd = socket, .events = events, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&entry, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready;
}

}  // namespace

std::string WriteJob(const CompileJob& job) {
  vm::ByteWriter writer;
  writer.Number(static_cast<uint8_t>(job.options.effort));
  writer.Number(static_cast<uint8_t>(job.options.keep_llvm));
  writer.Number(static_cast<uint8_t>(job.options.keep_assembly));
  writer.Number(static_cast<uint8_t>(job.options.keep_passes));
  writer.Text(job.options.target);
  writer.Text(job.nest);
  return std::move(writer).Take();
}

StatusOr<CompileJob> ReadJob(std::string_view body) {
  vm::ByteReader reader(BytesOf(body));
  CompileJob job;
  const auto effort = reader.Number<uint8_t>();
  job.options.effort = static_cast<Effort>(effort);
  job.options.keep_llvm = reader.Number<uint8_t>() != 0;
  job.options.keep_assembly = reader.Number<uint8_t>() != 0;
  job.options.keep_passes = reader.Number<uint8_t>() != 0;
  job.options.target = reader.Text();
  job.nest = reader.Text();
  if (!reader.ok() || !reader.at_end() ||
      effort > static_cast<uint8_t>(Effort::kFull)) {
    return Damaged("job");
  }
  return job;
}

std::string WriteAnswer(const CompileAnswer& answer) {
  vm::ByteWriter writer;
  writer.Number(static_cast<uint8_t>(answer.status.code()));
  writer.Text(answer.status.message());
  writer.Number(answer.code_bytes);
  writer.Number(answer.optimize_ms);
  writer.Number(answer.codegen_ms);
  writer.Text(answer.llvm);
  writer.Text(answer.assembly);
  writer.Number(static_cast<uint32_t>(answer.passes.size()));
  for (const PassRecord& pass : answer.passes) {
    writer.Text(pass.name);
    writer.Number(pass.milliseconds);
    writer.Text(pass.text);
    writer.Number(static_cast<uint8_t>(pass.is_unchanged));
  }
  if (answer.status.ok()) vm::WriteKernelCode(answer.code, writer);
  return std::move(writer).Take();
}

StatusOr<CompileAnswer> ReadAnswer(std::string_view body) {
  const auto bytes = std::make_shared<std::string>(body);
  vm::ByteReader reader(BytesOf(*bytes));
  CompileAnswer answer;
  const auto code = reader.Number<uint8_t>();
  std::string message = reader.Text();
  answer.code_bytes = reader.Number<int64_t>();
  answer.optimize_ms = reader.Number<double>();
  answer.codegen_ms = reader.Number<double>();
  answer.llvm = reader.Text();
  answer.assembly = reader.Text();
  const auto passes = reader.Number<uint32_t>();
  for (uint32_t i = 0; i < passes && reader.ok(); ++i) {
    PassRecord& pass = answer.passes.emplace_back();
    pass.name = reader.Text();
    pass.milliseconds = reader.Number<double>();
    pass.text = reader.Text();
    pass.is_unchanged = reader.Number<uint8_t>() != 0;
  }
  if (!reader.ok() || code > static_cast<uint8_t>(StatusCode::kCancelled))
    return Damaged("answer");
  if (code != static_cast<uint8_t>(StatusCode::kOk)) {
    answer.status = Status(static_cast<StatusCode>(code), std::move(message));
    return answer;
  }
  EMBER_ASSIGN_OR_RETURN(answer.code,
                         vm::ReadKernelCode(reader, bytes, SIZE_MAX));
  return answer;
}

std::string WriteGreeting(const std::string& identity) {
  vm::ByteWriter writer;
  writer.Number(kWorkerProtocolVersion);
  writer.Text(identity);
  return std::move(writer).Take();
}

StatusOr<std::string> ReadGreeting(std::string_view body) {
  vm::ByteReader reader(BytesOf(body));
  const auto version = reader.Number<uint32_t>();
  std::string identity = reader.Text();
  if (!reader.ok() || version != kWorkerProtocolVersion) {
    return FailedPreconditionError(
        Concat({"the compile worker: expected one of version ",
                std::to_string(kWorkerProtocolVersion), ", found ",
                std::to_string(version)}));
  }
  return identity;
}

Status Connection::Send(const Message& message) {
  if (message.body.size() > kMaxBytes)
    return ResourceExhaustedError("message: expected at most 256 MB");
  const Header header = {static_cast<uint32_t>(message.kind),
                         static_cast<uint32_t>(message.body.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += message.body;
  const std::lock_guard<std::mutex> lock(send_mutex_);
  for (size_t sent = 0; sent < bytes.size();) {
    if (Await(socket_.get(), POLLOUT, kSendPatienceMs) <= 0) return Gone();
    const ssize_t count =
        send(socket_.get(), bytes.data() + sent, bytes.size() - sent,
             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EINTR && errno != EAGAIN) return Gone();
    if (count > 0) sent += static_cast<size_t>(count);
  }
  return OkStatus();
}

StatusOr<Message> Connection::Receive(std::chrono::milliseconds patience) {
  const auto read = [&](char* to, size_t size) -> Status {
    while (size > 0) {
      const int ready =
          Await(socket_.get(), POLLIN, static_cast<int>(patience.count()));
      if (ready < 0) return Gone();
      if (ready == 0) {
        return ResourceExhaustedError(Concat(
            {"nothing came for ", std::to_string(patience.count()), " ms"}));
      }
      const ssize_t count = recv(socket_.get(), to, size, MSG_DONTWAIT);
      if (count == 0) return Gone();
      if (count < 0 && errno != EINTR && errno != EAGAIN) return Gone();
      if (count < 0) continue;
      to += count;
      size -= static_cast<size_t>(count);
    }
    return OkStatus();
  };
  Header header;
  EMBER_RETURN_IF_ERROR(read(reinterpret_cast<char*>(&header), sizeof header));
  if (header.kind > static_cast<uint32_t>(MessageKind::kAnswer) ||
      header.bytes > kMaxBytes) {
    return Damaged("message");
  }
  Message message{static_cast<MessageKind>(header.kind), {}};
  message.body.resize(header.bytes);
  EMBER_RETURN_IF_ERROR(read(message.body.data(), message.body.size()));
  return message;
}

void Connection::Close() { shutdown(socket_.get(), SHUT_RDWR); }

bool Connection::is_own() const {
  ucred credentials = {};
  socklen_t size = sizeof credentials;
  return getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials,
                    &size) == 0 &&
         credentials.uid == geteuid();
}

}  // namespace ember::jit
