#include "tools/lib/benchmark/peer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "tools/lib/benchmark/peer_script.h"
#include "tools/lib/benchmark/program.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/report/statistics.h"

namespace ember::tools {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the folder in which ./dev installs the package of ONNX Runtime.
std::string OwnFolder() {
  const std::string cache = Environment("XDG_CACHE_HOME");
  return (cache.empty() ? Environment("HOME") + "/.cache" : cache) +
         "/ember/ort";
}

std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  if (const std::string given = Environment("ORT_DIR"); !given.empty())
    folders.push_back(given);
  folders.push_back(OwnFolder());
  std::error_code error;
  folders.push_back(std::filesystem::current_path(error).string());
  return folders;
}

Status NotInstalled() {
  const std::string folder = OwnFolder();
  std::string message =
      "--peer=onnxruntime: expected the package onnxruntime-node in "
      "$ORT_DIR, " +
      folder + " or this folder, found none; ";
  message += "npm install --ignore-scripts --prefix " + folder +
             " onnxruntime-node installs it";
  return FailedPreconditionError(message);
}

// Runs peer_ort.mjs in node with these options. Returns the JSON that it
// printed.
StatusOr<nlohmann::json> RunScript(const nlohmann::json& options) {
  const StatusOr<std::string> text = RunProgram(
      {"node", "--input-type=module", "-e", kPeerScript, "--", options.dump()});
  if (text.status().code() == StatusCode::kNotFound) {
    return FailedPreconditionError(
        "--peer=onnxruntime: expected node in $PATH, found none; on Debian: "
        "apt install nodejs npm");
  }
  if (!text.ok()) return text.status().WithContext("--peer=onnxruntime");
  // The script's JSON is on the last line, because the package may print other
  // lines before it.
  std::string_view line = *text;
  while (line.ends_with('\n')) line.remove_suffix(1);
  line = line.substr(line.rfind('\n') + 1);
  nlohmann::json result = nlohmann::json::parse(line, nullptr, false);
  if (!result.is_object()) {
    return InternalError(
        Concat({"--peer=onnxruntime: expected a line of JSON from node, found ",
                line.empty() ? "nothing" : line.substr(0, 80)}));
  }
  const auto error = result.find("error");
  if (error == result.end()) return result;
  const std::string message = error->get<std::string>();
  if (message == "not installed") return NotInstalled();
  return InvalidArgumentError("ONNX Runtime: " + message);
}

Status Empty(int file) {
  if (::ftruncate(file, 0) == 0) return OkStatus();
  return InternalError(Concat({"ftruncate: ", std::strerror(errno)}));
}

Status WriteAll(int file, int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return InternalError(Concat({"pwrite: ", std::strerror(errno)}));
    bytes.remove_prefix(static_cast<size_t>(count));
    offset += count;
  }
  return OkStatus();
}

}  // namespace

StatusOr<PeerInputs> PeerInputs::Create() {
  PeerInputs inputs;
  inputs.list_ = ::memfd_create("ember-peer-list", 0);
  inputs.bytes_ = ::memfd_create("ember-peer-inputs", 0);
  if (inputs.list_ < 0 || inputs.bytes_ < 0)
    return InternalError(Concat({"memfd_create: ", std::strerror(errno)}));
  return inputs;
}

PeerInputs::~PeerInputs() {
  if (list_ >= 0) ::close(list_);
  if (bytes_ >= 0) ::close(bytes_);
}

Status PeerInputs::Write(const vm::Module& module,
                         std::span<const vm::Tensor> inputs) const {
  nlohmann::json list = nlohmann::json::array();
  EMBER_RETURN_IF_ERROR(Empty(bytes_));
  int64_t offset = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const vm::Tensor& input = inputs[i];
    const std::string& name = module.inputs()[i].name;
    if (input.strings != nullptr) {
      return UnimplementedError(Concat(
          {"input '", name, "': expected numbers for a peer, found strings"}));
    }
    EMBER_RETURN_IF_ERROR(WriteAll(bytes_, offset,
                                   {static_cast<const char*>(input.data),
                                    static_cast<size_t>(input.byte_size)}));
    list.push_back({{"name", name},
                    {"type", std::string(DTypeName(input.type))},
                    {"dims", input.dims},
                    {"file", Concat({"/proc/self/fd/", bytes_})},
                    {"offset", offset},
                    {"size", input.byte_size}});
    offset += input.byte_size;
  }
  EMBER_RETURN_IF_ERROR(Empty(list_));
  return WriteAll(list_, 0, list.dump());
}

StatusOr<std::string> PeerInputs::List() const {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count =
        ::pread(list_, buffer, sizeof buffer, static_cast<off_t>(text.size()));
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  if (text.empty()) return InternalError("no inputs for a peer");
  return text;
}

Status CheckPeer() {
  // The script is run without a model, so it always fails. InvalidArgument
  // means that it has found the package before.
  const StatusOr<nlohmann::json> result =
      RunScript({{"folders", Folders()},
                 {"model", ""},
                 {"inputs", nlohmann::json::array()},
                 {"threads", 1}});
  return result.status().code() == StatusCode::kInvalidArgument
             ? OkStatus()
             : result.status();
}

StatusOr<PeerMeasurement> MeasurePeer(const PeerOptions& options,
                                      const PeerInputs& inputs) {
  EMBER_ASSIGN_OR_RETURN(const std::string list, inputs.List());
  const StatusOr<nlohmann::json> result =
      RunScript({{"model", UserPath(options.model)},
                 {"inputs", nlohmann::json::parse(list, nullptr, false)},
                 {"threads", options.threads},
                 {"warmup", options.warmup},
                 {"runs", options.runs},
                 {"seconds", options.seconds},
                 {"folders", Folders()}});
  if (!result.ok()) return result.status().WithContext(options.model);
  PeerMeasurement peer;
  peer.version = result->value("version", "");
  peer.load_ms = result->value("load_ms", 0.0);
  peer.first_ms = result->value("first_ms", 0.0);
  peer.rss_mb = result->value("rss_mb", 0.0);
  std::vector<double> times = result->value("runs_ms", std::vector<double>());
  if (times.empty()) {
    return InternalError(options.model +
                         ": expected times from ONNX Runtime, found none");
  }
  peer.runs = static_cast<int64_t>(times.size());
  peer.median_ms = Quantiles(std::move(times)).At(0.5);
  return peer;
}

}  // namespace ember::tools
