#include "tests/random_models/ort_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/file.h"
#include "frontends/onnx/node/tensor_proto.h"

namespace ember::tests {
namespace {

// The descriptor for the script's replies. It is not standard output: ONNX
// Runtime prints there, too ("Warning: Model contains experimental ops:
// Affine"), and such a line must not be taken for a reply.
constexpr int kReplies = 3;

void Append(std::string& to, int64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void Append(std::string& to, const std::string& bytes) {
  Append(to, static_cast<int64_t>(bytes.size()));
  to += bytes;
}

std::string Encode(const RandomModel& model) {
  std::string text;
  Append(text, model.proto.SerializeAsString());
  Append(text, static_cast<int64_t>(model.inputs.size()));
  for (const auto& [name, tensor] : model.inputs) {
    Append(text, name);
    Append(text, tensor.strings ? int64_t{onnx::TensorProto::STRING}
                                : int64_t{onnx::DTypeToOnnx(tensor.type)});
    Append(text, static_cast<int64_t>(tensor.dims.size()));
    for (const int64_t dim : tensor.dims) Append(text, dim);
    if (tensor.strings) {
      Append(text, static_cast<int64_t>(tensor.strings->size()));
      for (const std::string& element : *tensor.strings) Append(text, element);
    } else {
      Append(text, std::string(static_cast<const char*>(tensor.data),
                               static_cast<size_t>(tensor.byte_size)));
    }
  }
  return text;
}

// Reads the files of ort_batch.mjs. A file that ends early leaves `ok` false.
class Decoder {
 public:
  explicit Decoder(const std::string& text) : text_(text) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == text_.size(); }
  int64_t Number() {
    int64_t number = 0;
    if (text_.size() - at_ < sizeof number) return Fail();
    std::memcpy(&number, text_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  std::string Bytes() {
    const int64_t size = Number();
    if (!ok_ || size < 0 || static_cast<size_t>(size) > text_.size() - at_) {
      Fail();
      return "";
    }
    at_ += static_cast<size_t>(size);
    return text_.substr(at_ - static_cast<size_t>(size),
                        static_cast<size_t>(size));
  }
  vm::Tensor Tensor() {
    const int64_t type = Number();
    std::vector<int64_t> dims;
    for (int64_t rank = Number(); ok_ && rank > 0; --rank)
      dims.push_back(Number());
    if (type == onnx::TensorProto::STRING) {
      std::vector<std::string> strings;
      for (int64_t count = Number(); ok_ && count > 0; --count)
        strings.push_back(Bytes());
      auto tensor = vm::Tensor::OfStrings(dims, std::move(strings));
      if (!tensor.ok()) Fail();
      return tensor.ok() ? *std::move(tensor) : vm::Tensor();
    }
    const std::string bytes = Bytes();
    const auto dtype = onnx::DTypeFromOnnx(static_cast<int32_t>(type));
    if (!ok_ || !dtype.ok()) {
      Fail();
      return {};
    }
    auto tensor = vm::Tensor::Allocate(*dtype, dims);
    if (!tensor.ok() ||
        tensor->byte_size != static_cast<int64_t>(bytes.size())) {
      Fail();
      return {};
    }
    std::memcpy(tensor->data, bytes.data(), bytes.size());
    return *std::move(tensor);
  }

 private:
  int64_t Fail() {
    ok_ = false;
    return 0;
  }

  const std::string& text_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

StatusOr<std::unique_ptr<OrtProcess>> OrtProcess::Start(OrtOptions options) {
  std::unique_ptr<OrtProcess> process(new OrtProcess(std::move(options)));
  const std::string base =
      process->options_.folder + "/ort_" + std::to_string(getpid());
  process->request_ = base + ".request";
  process->result_ = base + ".result";
  EMBER_RETURN_IF_ERROR(process->Spawn());
  return process;
}

OrtProcess::~OrtProcess() {
  Reap();
  unlink(request_.c_str());
  unlink(result_.c_str());
}

void OrtProcess::Reap() {
  if (process_ < 0) return;
  fclose(to_);
  fclose(from_);
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

Status OrtProcess::Spawn() {
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
    return InternalError("pipe: " + std::string(std::strerror(errno)));
  signal(SIGPIPE, SIG_IGN);
  process_ = fork();
  if (process_ < 0) return InternalError("fork failed");
  if (process_ == 0) {
    dup2(down[0], 0);
    if (up[1] == kReplies) {
      fcntl(kReplies, F_SETFD, 0);
    } else {
      dup2(up[1], kReplies);
    }
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 1);
    execlp("node", "node", options_.script.c_str(), nullptr);
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = fdopen(down[1], "w");
  from_ = fdopen(up[0], "r");
  if (ReadReply() != "ready\n") {
    Reap();
    return FailedPreconditionError("node with onnxruntime-node (ORT_DIR) and " +
                                   options_.script + ": it does not start");
  }
  return OkStatus();
}

std::string OrtProcess::ReadReply() {
  char line[16];
  return std::fgets(line, sizeof line, from_) == nullptr ? "" : line;
}

Status OrtProcess::WriteRequest(size_t first) {
  std::string text;
  Append(text, static_cast<int64_t>(encoded_.size() - first));
  for (size_t i = first; i < encoded_.size(); ++i) text += encoded_[i];
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(request_, text));
  unlink(result_.c_str());
  std::fprintf(to_, "%s %s %s\n", request_.c_str(), result_.c_str(),
               level_.c_str());
  std::fflush(to_);
  return OkStatus();
}

Status OrtProcess::Send(const std::vector<const RandomModel*>& models,
                        const std::string& level) {
  level_ = level;
  encoded_.clear();
  for (const RandomModel* model : models) encoded_.push_back(Encode(*model));
  return WriteRequest(0);
}

StatusOr<std::vector<OrtResult>> OrtProcess::ReadResults(size_t most) const {
  std::vector<OrtResult> results;
  const StatusOr<std::string> text = ReadFile(result_);
  if (!text.ok()) return results;
  Decoder decoder(*text);
  while (results.size() < most && !decoder.at_end()) {
    OrtResult result;
    result.outcome = static_cast<OrtResult::Outcome>(decoder.Number());
    if (result.outcome != OrtResult::kResults) {
      result.message = decoder.Bytes();
    } else {
      for (int64_t count = decoder.Number(); decoder.ok() && count > 0;
           --count) {
        std::string name = decoder.Bytes();
        result.results.emplace_back(std::move(name), decoder.Tensor());
      }
    }
    if (!decoder.ok()) break;
    results.push_back(std::move(result));
  }
  return results;
}

StatusOr<std::vector<OrtResult>> OrtProcess::Receive() {
  std::vector<OrtResult> all;
  while (all.size() < encoded_.size()) {
    const std::string reply = ReadReply();
    EMBER_ASSIGN_OR_RETURN(std::vector<OrtResult> results,
                           ReadResults(encoded_.size() - all.size()));
    for (OrtResult& result : results) all.push_back(std::move(result));
    if (!reply.empty()) {
      // If results are missing, that is an error: otherwise the models would
      // count as refused by ONNX Runtime and not be compared.
      if (reply == "done\n" && all.size() == encoded_.size()) break;
      return InternalError(
          "ONNX Runtime's process: expected 'done' and results of " +
          std::to_string(encoded_.size()) + " models, found '" +
          reply.substr(0, reply.find('\n')) + "' and " +
          std::to_string(all.size()));
    }
    if (all.size() < encoded_.size()) {
      all.push_back({.outcome = OrtResult::kCrash,
                     .message = "ONNX Runtime crashed",
                     .results = {}});
    }
    Reap();
    EMBER_RETURN_IF_ERROR(Spawn());
    if (all.size() < encoded_.size())
      EMBER_RETURN_IF_ERROR(WriteRequest(all.size()));
  }
  return all;
}

StatusOr<std::vector<OrtResult>> OrtProcess::Run(
    const std::vector<const RandomModel*>& models, const std::string& level) {
  EMBER_RETURN_IF_ERROR(Send(models, level));
  return Receive();
}

}  // namespace ember::tests
