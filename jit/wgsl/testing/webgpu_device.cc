#include "jit/wgsl/testing/webgpu_device.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/parallel.h"
#include "jit/wgsl/testing/node_process.h"
#include "jit/wgsl/testing/runner_texts.h"

namespace ember::jit::wgsl {
namespace {

using hal::BufferRange;

// The limit of workgroups along x and y that every adapter has.
constexpr int64_t kMaxGroups = 65535;
constexpr std::string_view kRunner = "jit/wgsl/testing/runner.mjs";

// Memory of the host, of which the alignment is 64 bytes.
class HostBuffer final : public hal::Buffer {
 public:
  HostBuffer(int64_t size, void* data) : Buffer(size, data) {}
  ~HostBuffer() override { std::free(host_data()); }
};

class Module final : public hal::Executable {
 public:
  explicit Module(const hal::ExecutableDefinition& definition)
      : Executable(definition),
        text(definition.code.begin(), definition.code.end()),
        entry(definition.entry_point) {}

  const std::string text;
  const std::string entry;
};

struct Command {
  const Module* module = nullptr;   // null: a copy or a fill
  std::vector<BufferRange> ranges;  // bindings; source and target of a copy
  std::vector<int64_t> parameters;
  std::array<int64_t, 3> groups = {};
  uint8_t value = 0;  // a fill has one range and this value
};

class Commands final : public hal::CommandList {
 public:
  explicit Commands(const hal::DeviceLimits& limits) : limits_(limits) {}

  Status Copy(const BufferRange& source, const BufferRange& target) override {
    EMBER_RETURN_IF_ERROR(hal::CheckCopy(source, target));
    commands.push_back({.ranges = {source, target}});
    return OkStatus();
  }
  Status Fill(const BufferRange& target, uint8_t value) override {
    EMBER_RETURN_IF_ERROR(hal::CheckRange("target of a fill", target));
    commands.push_back({.ranges = {target}, .value = value});
    return OkStatus();
  }
  Status Dispatch(const hal::Executable& executable,
                  const hal::DispatchArguments& arguments) override {
    EMBER_RETURN_IF_ERROR(hal::CheckDispatch(executable, arguments, limits_));
    commands.push_back(
        {.module = static_cast<const Module*>(&executable),
         .ranges = {arguments.bindings.begin(), arguments.bindings.end()},
         .parameters = {arguments.parameters.begin(),
                        arguments.parameters.end()},
         .groups = arguments.chunks});
    return OkStatus();
  }
  Status Barrier() override { return OkStatus(); }

  std::vector<Command> commands;

 private:
  const hal::DeviceLimits limits_;
};

class DoneFence final : public hal::Fence {
 public:
  explicit DoneFence(Status status) : status_(std::move(status)) {}
  Status Wait() override { return status_; }
  bool done() const override { return true; }

 private:
  const Status status_;
};

std::span<uint8_t> BytesOf(const BufferRange& range) {
  if (range.length == 0) return {};
  return {static_cast<uint8_t*>(range.buffer->host_data()) + range.offset,
          static_cast<size_t>(range.length)};
}

bool Overlap(const BufferRange& a, const BufferRange& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.length &&
         b.offset < a.offset + a.length;
}

// --- the process

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

struct Session {
  std::unique_ptr<NodeProcess> node;
  std::string target;
};

StatusOr<Session> StartNode() {
  const std::string folder = Variable("EMBER_WEBGPU");
  if (folder.empty()) {
    return NotFoundError(
        "EMBER_WEBGPU: expected a folder with the npm package webgpu, found no "
        "such variable; ./dev web shaders sets it");
  }
  std::vector<std::string> command = {"node", std::string(kRunner), folder};
  const std::string driver = Variable("EMBER_WEBGPU_ICD");
  if (!driver.empty()) command.push_back(driver);
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<NodeProcess> node,
                         NodeProcess::Start(command));
  const StatusOr<std::string> line = node->ReadLine();
  constexpr std::string_view kTarget = "target ";
  if (!line.ok() || !line->starts_with(kTarget))
    return InternalError(
        Concat({"WebGPU: ", line.ok() ? *line : line.status().ToString()}));
  return Session{std::move(node), line->substr(kTarget.size())};
}

// --- the device

class WebGpuDevice final : public hal::Device {
 public:
  WebGpuDevice(std::unique_ptr<NodeProcess> node, std::string target)
      : node_(std::move(node)), target_(std::move(target)) {}

  std::string_view driver() const override { return "webgpu-test"; }
  std::string_view target() const override { return target_; }
  hal::DeviceLimits limits() const override {
    return {.chunks = {kMaxGroups, kMaxGroups, 1}};
  }

  StatusOr<std::unique_ptr<hal::Buffer>> Allocate(int64_t size,
                                                  hal::MemoryKind) override {
    constexpr size_t kAlignment = 64;
    const size_t bytes =
        (static_cast<size_t>(size) / kAlignment + 1) * kAlignment;
    void* const data = std::aligned_alloc(kAlignment, bytes);
    std::memset(data, 0, bytes);
    return std::unique_ptr<hal::Buffer>(
        std::make_unique<HostBuffer>(size, data));
  }
  hal::MemoryStatistics memory_statistics() const override { return {}; }

  StatusOr<std::unique_ptr<hal::Executable>> LoadExecutable(
      const hal::ExecutableDefinition& definition) override {
    if (definition.format != kTestFormat) {
      return UnimplementedError(
          Concat({"executable '", definition.name, "': expected the format '",
                  kTestFormat, "', found '", definition.format, "'"}));
    }
    return std::unique_ptr<hal::Executable>(
        std::make_unique<Module>(definition));
  }
  StatusOr<std::unique_ptr<hal::CommandList>> CreateCommandList() override {
    return std::unique_ptr<hal::CommandList>(
        std::make_unique<Commands>(limits()));
  }
  StatusOr<std::unique_ptr<hal::Fence>> Submit(
      const hal::CommandList& list) override {
    Status status = OkStatus();
    for (const Command& command : static_cast<const Commands&>(list).commands) {
      status = Run(command);
      if (!status.ok()) break;
    }
    return std::unique_ptr<hal::Fence>(std::make_unique<DoneFence>(status));
  }
  ParallelRunner& host_runner() override { return runner_; }

 private:
  Status Run(const Command& command) {
    if (command.module != nullptr) return RunDispatch(command);
    const std::span<uint8_t> first = BytesOf(command.ranges[0]);
    if (first.empty()) return OkStatus();
    if (command.ranges.size() == 1) {
      std::memset(first.data(), command.value, first.size());
    } else {
      std::memcpy(BytesOf(command.ranges[1]).data(), first.data(),
                  first.size());
    }
    return OkStatus();
  }

  std::string RequestOf(const Command& command) {
    std::string request = "{";
    if (command.module->text != sent_) {
      sent_ = command.module->text;
      request += Concat({"\"module\":", Quoted(sent_), ","});
    }
    const std::span<const uint8_t> parameters(
        reinterpret_cast<const uint8_t*>(command.parameters.data()),
        sizeof(int64_t) * command.parameters.size());
    request +=
        Concat({"\"entry\":", Quoted(command.module->entry), ",\"groups\":[",
                command.groups[0], ",", command.groups[1],
                "],\"parameters\":\"", Hex(parameters), "\",\"bindings\":["});
    for (size_t i = 0; i < command.ranges.size(); ++i) {
      request += Concat(
          {i == 0 ? "\"" : ",\"", Hex(BytesOf(command.ranges[i])), "\""});
    }
    return request + "]}";
  }

  // Returns the runner's answer. Dawn for Node may end with an error of its own
  // after a few hundred modules, so that a dispatch whose process ends is run
  // again once, in a new one.
  StatusOr<std::string> Ask(const Command& command) {
    StatusOr<std::string> answer = node_->Ask(RequestOf(command));
    if (answer.ok()) return answer;
    EMBER_ASSIGN_OR_RETURN(Session session, StartNode());
    node_ = std::move(session.node);
    sent_.clear();
    return node_->Ask(RequestOf(command));
  }

  Status RunDispatch(const Command& command) {
    EMBER_ASSIGN_OR_RETURN(const std::string answer, Ask(command));
    std::string_view rest = answer;
    if (!rest.starts_with("ok")) {
      sent_.clear();
      return InternalError(Concat({"WebGPU: ", rest}));
    }
    while (true) {
      const size_t space = rest.find(' ');
      if (space == std::string_view::npos) return OkStatus();
      rest.remove_prefix(space + 1);
      const std::string_view item = rest.substr(0, rest.find(' '));
      EMBER_RETURN_IF_ERROR(TakeResult(command, item));
    }
  }

  // Stores the bytes of a written binding, "NUMBER:HEX".
  static Status TakeResult(const Command& command, std::string_view item) {
    const size_t colon = item.find(':');
    const size_t number = static_cast<size_t>(
        std::strtoul(std::string(item.substr(0, colon)).c_str(), nullptr, 10));
    if (colon == std::string_view::npos || number >= command.ranges.size())
      return InternalError(Concat({"WebGPU: unexpected answer ", item}));
    const BufferRange& range = command.ranges[number];
    for (size_t i = 0; i < command.ranges.size(); ++i) {
      if (i != number && Overlap(range, command.ranges[i])) {
        constexpr std::string_view kTwice =
            "device-limit: WebGPU binds no memory twice that a kernel writes: "
            "bindings ";
        return UnimplementedError(Concat(
            {kTwice, number, " and ", i, " of ", command.module->entry}));
      }
    }
    return FromHex(item.substr(colon + 1), BytesOf(range));
  }

  std::unique_ptr<NodeProcess> node_;
  const std::string target_;
  SerialRunner runner_;
  std::string sent_;  // the module that the runner has
};

}  // namespace

StatusOr<std::shared_ptr<hal::Device>> CreateWebGpuDevice() {
  EMBER_ASSIGN_OR_RETURN(Session session, StartNode());
  return std::shared_ptr<hal::Device>(std::make_shared<WebGpuDevice>(
      std::move(session.node), std::move(session.target)));
}

}  // namespace ember::jit::wgsl
