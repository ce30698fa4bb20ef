#include "hal/cuda/emulated/machine.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "hal/cuda/api/result.h"

namespace ember::hal::cuda {
namespace {

constexpr EmulatedKind kKinds[] = {
    {"sm_70", 7, 0, 80, 98304},   {"sm_75", 7, 5, 40, 65536},
    {"sm_80", 8, 0, 108, 166912}, {"sm_86", 8, 6, 84, 101376},
    {"sm_89", 8, 9, 128, 101376}, {"sm_90a", 9, 0, 132, 232448},
};
constexpr std::string_view kDefaultKind = "sm_80";
// Largest number of bytes of memory of an emulated device.
constexpr size_t kMaxBytes = size_t{1} << 36;
constexpr size_t kAlignment = 256;

}  // namespace

Machine& Machine::Get() {
  // The object is never destroyed, because contexts may still be used after
  // main has ended.
  static Machine* const machine = new Machine;
  return *machine;
}

std::vector<CUcontext>& ContextStack() {
  static thread_local std::vector<CUcontext> stack;
  return stack;
}

CUresult Machine::Start() {
  const char* const fault = std::getenv("EMBER_CUDA_FAULT");
  calls.Begin(fault == nullptr ? "" : fault);
  if (const CUresult result = calls.Note("cuInit")) return result;
  const char* const given = std::getenv("EMBER_CUDA_EMULATE");
  std::string_view name =
      given == nullptr || *given == '\0' ? kDefaultKind : given;
  device_count = 1;
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), device_count);
    name = name.substr(0, colon);
  }
  for (const EmulatedKind& row : kKinds) {
    if (row.name != name) continue;
    kind = row;
    is_ready = true;
    return kSuccess;
  }
  std::fprintf(stderr,
               "EMBER_CUDA_EMULATE: expected one of sm_70, sm_75, sm_80, "
               "sm_86, sm_89, sm_90a, found %s\n",
               std::string(name).c_str());
  return kNoDevice;
}

CUcontext Machine::Current() const {
  const std::vector<CUcontext>& stack = ContextStack();
  return stack.empty() ? nullptr : stack.back();
}

CUresult Machine::Enter(const char* symbol) {
  if (const CUresult result = calls.Note(symbol)) return result;
  const CUcontext context = Current();
  return context == nullptr ? kInvalidContext : context->lost;
}

void Machine::End(CUcontext context) {
  leaks +=
      static_cast<int64_t>(std::erase_if(allocations, [&](const auto& entry) {
        return entry.second.context == context;
      }));
  leaks += streams.RemoveOf(context) + events.RemoveOf(context) +
           modules.RemoveOf(context) + pools.RemoveOf(context) +
           graphs.RemoveOf(context) + executables.RemoveOf(context);
  contexts.erase(context->device);
}

CUresult Machine::Allocate(size_t bytes, bool is_host, uint8_t** memory) {
  if (bytes == 0) return kInvalidValue;
  if (bytes > kMaxBytes) return kOutOfMemory;
  Allocation allocation;
  allocation.memory.reset(new (std::nothrow) uint8_t[bytes + kAlignment]);
  if (allocation.memory == nullptr) return kOutOfMemory;
  const auto address = reinterpret_cast<uintptr_t>(allocation.memory.get());
  allocation.begin =
      allocation.memory.get() + (kAlignment - address % kAlignment);
  allocation.bytes = bytes;
  allocation.is_host = is_host;
  allocation.context = Current();
  std::memset(allocation.begin, 0xcd, bytes);
  *memory = allocation.begin;
  allocations.emplace(reinterpret_cast<uintptr_t>(allocation.begin),
                      std::move(allocation));
  return kSuccess;
}

bool Machine::Has(CUdeviceptr begin, size_t bytes) const {
  auto found = allocations.upper_bound(static_cast<uintptr_t>(begin));
  if (found == allocations.begin()) return false;
  --found;
  const size_t offset = static_cast<size_t>(begin) - found->first;
  return offset <= found->second.bytes && bytes <= found->second.bytes - offset;
}

CUresult Machine::MakeLaunch(const CUDA_KERNEL_NODE_PARAMS& given,
                             Work& work) const {
  work.kind = Work::Kind::kLaunch;
  work.launch.kernel = given.func->entry;
  work.launch.blocks = {given.gridDimX, given.gridDimY, given.gridDimZ};
  work.launch.threads = {given.blockDimX, given.blockDimY, given.blockDimZ};
  work.launch.shared_bytes = given.sharedMemBytes;
  uint64_t threads = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (work.launch.blocks[i] == 0 || work.launch.threads[i] == 0)
      return kInvalidValue;
    threads *= work.launch.threads[i];
  }
  const uint64_t shared = given.func->entry.shared_bytes + given.sharedMemBytes;
  if (threads > 1024 || work.launch.threads[2] > 64 ||
      work.launch.blocks[1] > 65535 || work.launch.blocks[2] > 65535 ||
      given.sharedMemBytes > given.func->most_dynamic_bytes ||
      shared > static_cast<uint64_t>(kind.shared_bytes))
    return kInvalidValue;
  // cuLaunchKernel has no parameter for the number of arguments. It is known
  // from the kernel's entry, so exactly that many are read.
  const GridEntry& entry = given.func->entry;
  for (size_t i = 0; i < entry.argument_count; ++i) {
    uint64_t argument = 0;
    std::memcpy(&argument, given.kernelParams[i], sizeof argument);
    work.arguments.push_back(argument);
  }
  for (size_t i = 0; i < entry.map_count; ++i) {
    std::memcpy(work.maps.emplace_back().opaque,
                given.kernelParams[entry.argument_count + i],
                sizeof(CUtensorMap));
  }
  return kSuccess;
}

CUresult Machine::Do(const Work& work) {
  const auto at = [](CUdeviceptr address) {
    return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address));
  };
  switch (work.kind) {
    case Work::Kind::kEmpty:
      return kSuccess;
    case Work::Kind::kCopy:
      if (!Has(work.target, work.bytes) || !Has(work.source, work.bytes))
        return kInvalidValue;
      std::memcpy(at(work.target), at(work.source), work.bytes);
      return kSuccess;
    case Work::Kind::kFill:
      if (!Has(work.target, work.bytes)) return kInvalidValue;
      std::memset(at(work.target), work.value, work.bytes);
      return kSuccess;
    case Work::Kind::kLaunch:
      break;
  }
  std::vector<void*> arguments;
  for (const uint64_t& argument : work.arguments)
    arguments.push_back(const_cast<uint64_t*>(&argument));
  for (const CUtensorMap& map : work.maps)
    arguments.push_back(const_cast<CUtensorMap*>(&map));
  GridLaunch launch = work.launch;
  launch.arguments = arguments.data();
  problem = RunGrid(launch, [this](uintptr_t address) -> MemoryRange {
    auto found = allocations.upper_bound(address);
    if (found == allocations.begin()) return {};
    --found;
    return {found->first, found->first + found->second.bytes};
  });
  if (problem.empty()) return kSuccess;
  std::fprintf(stderr, "cuda-emulated: %s\n", problem.c_str());
  // A kernel that fails loses the context, as with CUDA: every later call
  // returns this error.
  return Current()->lost = kLaunchFailed;
}

}  // namespace ember::hal::cuda
