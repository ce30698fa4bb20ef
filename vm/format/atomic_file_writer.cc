#include "vm/format/atomic_file_writer.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace ember::vm {

StatusOr<AtomicFileWriter> AtomicFileWriter::Create(const std::string& path) {
  static std::atomic<uint32_t> counter{
      0};  // names differ between threads of this process
  AtomicFileWriter writer;
  writer.path_ = path;
  writer.temporary_ = path + ".tmp." + std::to_string(::getpid()) + "." +
                      std::to_string(counter.fetch_add(1));
  writer.file_ = std::fopen(writer.temporary_.c_str(), "wxb");
  if (writer.file_ == nullptr) return writer.Error("create");
  return writer;
}

AtomicFileWriter::~AtomicFileWriter() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink(temporary_.c_str());
}

Status AtomicFileWriter::Write(std::string_view bytes) {
  if (bytes.empty()) return OkStatus();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
    return Error("write");
  return OkStatus();
}

Status AtomicFileWriter::Commit() {
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  const bool renamed =
      closed && std::rename(temporary_.c_str(), path_.c_str()) == 0;
  if (renamed) return OkStatus();
  const Status status = Error(closed ? "replace" : "write");
  ::unlink(temporary_.c_str());
  return status;
}

Status AtomicFileWriter::Error(const char* what) const {
  return FailedPreconditionError(std::string("cannot ") + what + " file '" +
                                 path_ + "': " + std::strerror(errno));
}

}  // namespace ember::vm
