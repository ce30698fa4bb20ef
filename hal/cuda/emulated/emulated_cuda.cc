#include "hal/cuda/emulated/emulated_cuda.h"

#include <cstdio>
#include <cstring>

#include "hal/cuda/api/result.h"
#include "hal/cuda/emulated/machine.h"
#include "hal/cuda/emulated/tensor_map.h"

// In the shared library the functions have CUDA's names. In other programs they
// are static functions with a prefix, because the program may load CUDA's own
// library too.
#ifdef EMBER_EMULATED_LIBRARY
#define EMBER_CALL(symbol) \
  extern "C" __attribute__((visibility("default"))) CUresult symbol
#define EMBER_SYMBOL(symbol) symbol
#else
#define EMBER_CALL(symbol) static CUresult Emulated_##symbol
#define EMBER_SYMBOL(symbol) Emulated_##symbol
#endif
// If EMBER_EMULATED_WITHOUT_MAPS is defined, the library behaves like a driver
// before CUDA 12, which has no tensor maps.

// EMBER_BEGIN begins a call that needs no context; EMBER_BEGIN_IN_CONTEXT
// begins a call in the current context. Both record the call and return its
// error if it must fail.
#define EMBER_BEGIN(symbol)                              \
  Machine& machine = Machine::Get();                     \
  const std::lock_guard<std::mutex> lock(machine.mutex); \
  if (const CUresult result = machine.calls.Note(symbol)) return result
#define EMBER_BEGIN_IN_CONTEXT(symbol)                   \
  Machine& machine = Machine::Get();                     \
  const std::lock_guard<std::mutex> lock(machine.mutex); \
  if (const CUresult result = machine.Enter(symbol)) return result
// Begins a call that destroys an object. Unlike other calls, it has its effect
// even if it must fail, because no caller could destroy the object later; the
// error is returned afterwards.
#define EMBER_BEGIN_DESTROY(symbol)                      \
  Machine& machine = Machine::Get();                     \
  const std::lock_guard<std::mutex> lock(machine.mutex); \
  const CUresult fault = machine.Enter(symbol)

namespace ember::hal::cuda {

static bool IsDevice(const Machine& machine, int device) {
  return machine.is_ready && device >= 0 && device < machine.device_count;
}

// --- functions for devices and contexts

EMBER_CALL(cuInit)(unsigned flags) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex);
  const CUresult result = machine.Start();
  return result != kSuccess || flags == 0 ? result : kInvalidValue;
}

EMBER_CALL(cuDriverGetVersion)(int* version) {
  EMBER_BEGIN("cuDriverGetVersion");
#ifdef EMBER_EMULATED_WITHOUT_MAPS
  *version = 11040;
#else
  *version = 12040;
#endif
  return kSuccess;
}

EMBER_CALL(cuDeviceGetCount)(int* count) {
  EMBER_BEGIN("cuDeviceGetCount");
  *count = machine.device_count;
  return kSuccess;
}

EMBER_CALL(cuDeviceGet)(CUdevice* device, int ordinal) {
  EMBER_BEGIN("cuDeviceGet");
  if (!IsDevice(machine, ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

EMBER_CALL(cuDeviceGetName)(char* name, int length, CUdevice device) {
  EMBER_BEGIN("cuDeviceGetName");
  if (!IsDevice(machine, device)) return kInvalidDevice;
  std::snprintf(name, static_cast<size_t>(length), "emulated %s",
                machine.kind.name);
  return kSuccess;
}

EMBER_CALL(cuDeviceGetAttribute)
(int* value, CUdevice_attribute attribute, CUdevice device) {
  EMBER_BEGIN("cuDeviceGetAttribute");
  if (!IsDevice(machine, device)) return kInvalidDevice;
  switch (attribute) {
    case kMaxThreadsPerBlock:
    case kMaxBlockDimX:
    case kMaxBlockDimX + 1:
      *value = 1024;
      return kSuccess;
    case kMaxBlockDimX + 2:
      *value = 64;
      return kSuccess;
    case kMaxGridDimX:
      *value = 2147483647;
      return kSuccess;
    case kMaxGridDimX + 1:
    case kMaxGridDimX + 2:
      *value = 65535;
      return kSuccess;
    case kMaxSharedMemoryPerBlock:
      *value = 48 << 10;
      return kSuccess;
    case kWarpSize:
      *value = static_cast<int>(kWarpThreads);
      return kSuccess;
    case kMultiprocessorCount:
      *value = machine.kind.processors;
      return kSuccess;
    case kL2CacheSize:
      *value = 40 << 20;
      return kSuccess;
    case kUnifiedAddressing:
    case kMemoryPoolsSupported:
      *value = 1;
      return kSuccess;
    case kComputeCapabilityMajor:
      *value = machine.kind.major;
      return kSuccess;
    case kComputeCapabilityMinor:
      *value = machine.kind.minor;
      return kSuccess;
    case kMaxSharedMemoryPerBlockOptin:
      *value = machine.kind.shared_bytes;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

EMBER_CALL(cuDeviceTotalMem_v2)(size_t* bytes, CUdevice device) {
  EMBER_BEGIN("cuDeviceTotalMem_v2");
  if (!IsDevice(machine, device)) return kInvalidDevice;
  *bytes = size_t{1} << 34;
  return kSuccess;
}

EMBER_CALL(cuDevicePrimaryCtxRetain)(CUcontext* context, CUdevice device) {
  EMBER_BEGIN("cuDevicePrimaryCtxRetain");
  if (!IsDevice(machine, device)) return kInvalidDevice;
  std::unique_ptr<CUctx_st>& own = machine.contexts[device];
  if (own == nullptr) own = std::make_unique<CUctx_st>();
  own->device = device;
  ++own->references;
  *context = own.get();
  return kSuccess;
}

EMBER_CALL(cuDevicePrimaryCtxRelease_v2)(CUdevice device) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex);
  const CUresult fault = machine.calls.Note("cuDevicePrimaryCtxRelease_v2");
  const auto found = machine.contexts.find(device);
  if (found == machine.contexts.end()) return kInvalidContext;
  if (--found->second->references == 0) machine.End(found->second.get());
  return fault;
}

EMBER_CALL(cuCtxPushCurrent_v2)(CUcontext context) {
  EMBER_BEGIN("cuCtxPushCurrent_v2");
  if (context == nullptr) return kInvalidContext;
  ContextStack().push_back(context);
  return kSuccess;
}

EMBER_CALL(cuCtxPopCurrent_v2)(CUcontext* context) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex);
  const CUresult fault = machine.calls.Note("cuCtxPopCurrent_v2");
  if (ContextStack().empty()) return kInvalidContext;
  *context = ContextStack().back();
  ContextStack().pop_back();
  return fault;
}

// --- memory

static CUresult Free(Machine& machine, CUdeviceptr address, bool is_host) {
  const auto found = machine.allocations.find(static_cast<uintptr_t>(address));
  if (found == machine.allocations.end() || found->second.is_host != is_host)
    return kInvalidValue;
  machine.allocations.erase(found);
  return kSuccess;
}

static CUresult AllocateOnDevice(Machine& machine, CUdeviceptr* address,
                                 size_t bytes) {
  uint8_t* memory = nullptr;
  const CUresult result = machine.Allocate(bytes, false, &memory);
  *address = reinterpret_cast<uintptr_t>(memory);
  return result;
}

EMBER_CALL(cuMemAlloc_v2)(CUdeviceptr* address, size_t bytes) {
  EMBER_BEGIN_IN_CONTEXT("cuMemAlloc_v2");
  return AllocateOnDevice(machine, address, bytes);
}

EMBER_CALL(cuMemFree_v2)(CUdeviceptr address) {
  EMBER_BEGIN_DESTROY("cuMemFree_v2");
  const CUresult result = Free(machine, address, false);
  return fault != kSuccess ? fault : result;
}

EMBER_CALL(cuMemPoolCreate)(CUmemoryPool* pool, const CUmemPoolProps* given) {
  EMBER_BEGIN_IN_CONTEXT("cuMemPoolCreate");
  if (given->allocType != kAllocationTypePinned ||
      given->location.type != kLocationTypeDevice ||
      !IsDevice(machine, given->location.id))
    return kInvalidValue;
  *pool = machine.pools.Add({machine.Current()});
  return kSuccess;
}

EMBER_CALL(cuMemPoolDestroy)(CUmemoryPool pool) {
  EMBER_BEGIN_DESTROY("cuMemPoolDestroy");
  if (!machine.pools.Remove(pool)) return kInvalidValue;
  return fault;
}

EMBER_CALL(cuMemPoolSetAttribute)
(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  EMBER_BEGIN_IN_CONTEXT("cuMemPoolSetAttribute");
  if (!machine.pools.Has(pool) || attribute != kPoolReleaseThreshold ||
      value == nullptr)
    return kInvalidValue;
  return kSuccess;
}

EMBER_CALL(cuMemAllocFromPoolAsync)
(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  EMBER_BEGIN_IN_CONTEXT("cuMemAllocFromPoolAsync");
  if (!machine.pools.Has(pool) || !machine.streams.Has(stream))
    return kInvalidHandle;
  return AllocateOnDevice(machine, address, bytes);
}

EMBER_CALL(cuMemFreeAsync)(CUdeviceptr address, CUstream stream) {
  EMBER_BEGIN_IN_CONTEXT("cuMemFreeAsync");
  if (!machine.streams.Has(stream)) return kInvalidHandle;
  return Free(machine, address, false);
}

EMBER_CALL(cuMemHostAlloc)(void** address, size_t bytes, unsigned) {
  EMBER_BEGIN_IN_CONTEXT("cuMemHostAlloc");
  uint8_t* memory = nullptr;
  const CUresult result = machine.Allocate(bytes, true, &memory);
  *address = memory;
  return result;
}

EMBER_CALL(cuMemFreeHost)(void* address) {
  EMBER_BEGIN_DESTROY("cuMemFreeHost");
  const CUresult result =
      Free(machine, reinterpret_cast<uintptr_t>(address), true);
  return fault != kSuccess ? fault : result;
}

EMBER_CALL(cuMemHostGetDevicePointer_v2)
(CUdeviceptr* address, void* host, unsigned flags) {
  EMBER_BEGIN_IN_CONTEXT("cuMemHostGetDevicePointer_v2");
  if (flags != 0 || !machine.Has(reinterpret_cast<uintptr_t>(host), 1))
    return kInvalidValue;
  *address = reinterpret_cast<uintptr_t>(host);
  return kSuccess;
}

// --- functions for streams and events

EMBER_CALL(cuStreamCreate)(CUstream* stream, unsigned) {
  EMBER_BEGIN_IN_CONTEXT("cuStreamCreate");
  *stream = machine.streams.Add({machine.Current()});
  return kSuccess;
}

EMBER_CALL(cuStreamDestroy_v2)(CUstream stream) {
  EMBER_BEGIN_DESTROY("cuStreamDestroy_v2");
  if (!machine.streams.Remove(stream)) return kInvalidHandle;
  return fault;
}

EMBER_CALL(cuStreamSynchronize)(CUstream stream) {
  EMBER_BEGIN_IN_CONTEXT("cuStreamSynchronize");
  return machine.streams.Has(stream) ? kSuccess : kInvalidHandle;
}

EMBER_CALL(cuEventCreate)(CUevent* event, unsigned flags) {
  EMBER_BEGIN_IN_CONTEXT("cuEventCreate");
  *event = machine.events.Add({.context = machine.Current(),
                               .has_time = (flags & kEventDisableTiming) == 0});
  return kSuccess;
}

EMBER_CALL(cuEventDestroy_v2)(CUevent event) {
  EMBER_BEGIN_DESTROY("cuEventDestroy_v2");
  if (!machine.events.Remove(event)) return kInvalidHandle;
  return fault;
}

EMBER_CALL(cuEventRecord)(CUevent event, CUstream stream) {
  EMBER_BEGIN_IN_CONTEXT("cuEventRecord");
  if (!machine.events.Has(event) || !machine.streams.Has(stream))
    return kInvalidHandle;
  event->is_recorded = true;
  event->time = std::chrono::steady_clock::now();
  return kSuccess;
}

EMBER_CALL(cuEventQuery)(CUevent event) {
  EMBER_BEGIN_IN_CONTEXT("cuEventQuery");
  return machine.events.Has(event) ? kSuccess : kInvalidHandle;
}

EMBER_CALL(cuEventSynchronize)(CUevent event) {
  EMBER_BEGIN_IN_CONTEXT("cuEventSynchronize");
  return machine.events.Has(event) ? kSuccess : kInvalidHandle;
}

EMBER_CALL(cuEventElapsedTime)(float* result, CUevent begin, CUevent end) {
  EMBER_BEGIN_IN_CONTEXT("cuEventElapsedTime");
  for (const CUevent event : {begin, end}) {
    if (!machine.events.Has(event) || !event->has_time || !event->is_recorded)
      return kInvalidHandle;
  }
  const std::chrono::duration<float, std::milli> took = end->time - begin->time;
  *result = took.count();
  return kSuccess;
}

// --- code

EMBER_CALL(cuModuleLoadDataEx)
(CUmodule* module, const void* image, unsigned count, CUjit_option* options,
 void** values) {
  EMBER_BEGIN_IN_CONTEXT("cuModuleLoadDataEx");
  const std::vector<GridEntry> entries = ReadGridImage(image);
  if (entries.empty()) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == kJitErrorLogBuffer)
        std::strcpy(static_cast<char*>(values[i]),
                    "expected an image of an emulated grid");
    }
    return kInvalidImage;
  }
  CUmod_st made;
  made.context = machine.Current();
  for (const GridEntry& entry : entries) {
    made.functions.push_back(std::make_unique<CUfunc_st>());
    made.functions.back()->context = made.context;
    made.functions.back()->entry = entry;
  }
  *module = machine.modules.Add(std::move(made));
  return kSuccess;
}

EMBER_CALL(cuModuleUnload)(CUmodule module) {
  EMBER_BEGIN_DESTROY("cuModuleUnload");
  if (!machine.modules.Remove(module)) return kInvalidHandle;
  return fault;
}

EMBER_CALL(cuModuleGetFunction)
(CUfunction* function, CUmodule module, const char* name) {
  EMBER_BEGIN_IN_CONTEXT("cuModuleGetFunction");
  if (!machine.modules.Has(module)) return kInvalidHandle;
  for (const std::unique_ptr<CUfunc_st>& one : module->functions) {
    if (one->entry.name != name) continue;
    *function = one.get();
    return kSuccess;
  }
  return kNotFound;
}

EMBER_CALL(cuFuncGetAttribute)
(int* value, CUfunction_attribute attribute, CUfunction function) {
  EMBER_BEGIN_IN_CONTEXT("cuFuncGetAttribute");
  switch (attribute) {
    case kFunctionMaxThreadsPerBlock:
      *value = 1024;
      return kSuccess;
    case kFunctionSharedSizeBytes:
      *value = static_cast<int>(function->entry.shared_bytes);
      return kSuccess;
    case kFunctionMaxDynamicSharedSizeBytes:
      *value = static_cast<int>(function->most_dynamic_bytes);
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

EMBER_CALL(cuFuncSetAttribute)
(CUfunction function, CUfunction_attribute attribute, int value) {
  EMBER_BEGIN_IN_CONTEXT("cuFuncSetAttribute");
  if (attribute != kFunctionMaxDynamicSharedSizeBytes || value < 0 ||
      value > machine.kind.shared_bytes)
    return kInvalidValue;
  function->most_dynamic_bytes = static_cast<uint64_t>(value);
  return kSuccess;
}

#ifndef EMBER_EMULATED_WITHOUT_MAPS
EMBER_CALL(cuTensorMapEncodeTiled)
(CUtensorMap* map, CUtensorMapDataType type, uint32_t rank, void* address,
 const uint64_t* extents, const uint64_t* strides, const uint32_t* box,
 const uint32_t* element_strides, CUtensorMapInterleave interleave,
 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
 CUtensorMapFloatOOBfill fill) {
  EMBER_BEGIN_IN_CONTEXT("cuTensorMapEncodeTiled");
  return EncodeTensorMap(map, type, rank, address, extents, strides, box,
                         element_strides, interleave, swizzle, promotion, fill);
}
#endif

// --- work

EMBER_CALL(cuLaunchKernel)
(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
 CUstream stream, void** arguments, void** extra) {
  EMBER_BEGIN_IN_CONTEXT("cuLaunchKernel");
  if (!machine.streams.Has(stream) || extra != nullptr) return kInvalidHandle;
  Work work;
  const CUresult result =
      machine.MakeLaunch({function, grid_x, grid_y, grid_z, block_x, block_y,
                          block_z, shared_bytes, arguments, extra},
                         work);
  return result != kSuccess ? result : machine.Do(work);
}

EMBER_CALL(cuMemcpyAsync)
(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  EMBER_BEGIN_IN_CONTEXT("cuMemcpyAsync");
  if (!machine.streams.Has(stream)) return kInvalidHandle;
  return machine.Do({.kind = Work::Kind::kCopy,
                     .target = target,
                     .source = source,
                     .bytes = bytes});
}

EMBER_CALL(cuMemsetD8Async)
(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream) {
  EMBER_BEGIN_IN_CONTEXT("cuMemsetD8Async");
  if (!machine.streams.Has(stream)) return kInvalidHandle;
  return machine.Do({.kind = Work::Kind::kFill,
                     .target = target,
                     .bytes = bytes,
                     .value = value});
}

// --- graphs

EMBER_CALL(cuGraphCreate)(CUgraph* graph, unsigned flags) {
  EMBER_BEGIN_IN_CONTEXT("cuGraphCreate");
  if (flags != 0) return kInvalidValue;
  CUgraph_st made;
  made.context = machine.Current();
  *graph = machine.graphs.Add(std::move(made));
  return kSuccess;
}

EMBER_CALL(cuGraphDestroy)(CUgraph graph) {
  EMBER_BEGIN_DESTROY("cuGraphDestroy");
  if (!machine.graphs.Remove(graph)) return kInvalidHandle;
  return fault;
}

static CUresult AddNode(Machine& machine, CUgraphNode* node, CUgraph graph,
                        const CUgraphNode* before, size_t count, Work work) {
  if (!machine.graphs.Has(graph)) return kInvalidHandle;
  for (size_t i = 0; i < count; ++i) {
    bool is_there = false;
    for (const auto& other : graph->nodes) is_there |= other.get() == before[i];
    if (!is_there) return kInvalidValue;
  }
  graph->nodes.push_back(std::make_unique<CUgraphNode_st>());
  graph->nodes.back()->work = std::move(work);
  *node = graph->nodes.back().get();
  return kSuccess;
}

EMBER_CALL(cuGraphAddKernelNode)
(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
 const CUDA_KERNEL_NODE_PARAMS* kernel) {
  EMBER_BEGIN_IN_CONTEXT("cuGraphAddKernelNode");
  Work work;
  const CUresult result = machine.MakeLaunch(*kernel, work);
  if (result != kSuccess) return result;
  return AddNode(machine, node, graph, before, count, std::move(work));
}

EMBER_CALL(cuGraphAddMemcpyNode)
(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
 const CUDA_MEMCPY3D* copy, CUcontext context) {
  EMBER_BEGIN_IN_CONTEXT("cuGraphAddMemcpyNode");
  if (context != machine.Current() || copy->Height != 1 || copy->Depth != 1 ||
      copy->srcMemoryType != kMemoryTypeUnified ||
      copy->dstMemoryType != kMemoryTypeUnified)
    return kInvalidValue;
  return AddNode(machine, node, graph, before, count,
                 {.kind = Work::Kind::kCopy,
                  .target = copy->dstDevice,
                  .source = copy->srcDevice,
                  .bytes = copy->WidthInBytes});
}

EMBER_CALL(cuGraphAddMemsetNode)
(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count,
 const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext context) {
  EMBER_BEGIN_IN_CONTEXT("cuGraphAddMemsetNode");
  if (context != machine.Current() || fill->height != 1 ||
      fill->elementSize != 1 || fill->value > 255)
    return kInvalidValue;
  return AddNode(machine, node, graph, before, count,
                 {.kind = Work::Kind::kFill,
                  .target = fill->dst,
                  .bytes = fill->width,
                  .value = static_cast<uint8_t>(fill->value)});
}

EMBER_CALL(cuGraphAddEmptyNode)
(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t count) {
  EMBER_BEGIN_IN_CONTEXT("cuGraphAddEmptyNode");
  return AddNode(machine, node, graph, before, count, {});
}

EMBER_CALL(cuGraphInstantiateWithFlags)
(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  EMBER_BEGIN_IN_CONTEXT("cuGraphInstantiateWithFlags");
  if (!machine.graphs.Has(graph) || flags != 0) return kInvalidValue;
  CUgraphExec_st made;
  made.context = machine.Current();
  for (const auto& node : graph->nodes) made.works.push_back(node->work);
  *executable = machine.executables.Add(std::move(made));
  return kSuccess;
}

EMBER_CALL(cuGraphLaunch)(CUgraphExec executable, CUstream stream) {
  EMBER_BEGIN_IN_CONTEXT("cuGraphLaunch");
  if (!machine.executables.Has(executable) || !machine.streams.Has(stream))
    return kInvalidHandle;
  for (const Work& work : executable->works) {
    if (const CUresult result = machine.Do(work)) return result;
  }
  return kSuccess;
}

EMBER_CALL(cuGraphExecDestroy)(CUgraphExec executable) {
  EMBER_BEGIN_DESTROY("cuGraphExecDestroy");
  if (!machine.executables.Remove(executable)) return kInvalidHandle;
  return fault;
}

Functions EmulatedFunctions() {
  Functions functions;
#define EMBER_SET(name, symbol, parameters) \
  functions.name = EMBER_SYMBOL(symbol);
  EMBER_CUDA_FUNCTIONS(EMBER_SET)
#ifndef EMBER_EMULATED_WITHOUT_MAPS
  EMBER_CUDA_OPTIONAL_FUNCTIONS(EMBER_SET)
#endif
#undef EMBER_SET
  return functions;
}

}  // namespace ember::hal::cuda

using ember::hal::cuda::Machine;

extern "C" {

__attribute__((visibility("default"))) const char* EmberEmulatedCalls(
    uint64_t* bytes) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex);
  *bytes = machine.calls.names().size();
  return machine.calls.names().data();
}

__attribute__((visibility("default"))) int64_t EmberEmulatedFaults() {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex);
  return machine.calls.faults();
}

__attribute__((visibility("default"))) int64_t EmberEmulatedLeaks() {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex);
  return machine.leaks + static_cast<int64_t>(machine.contexts.size());
}

__attribute__((visibility("default"))) const char* EmberEmulatedProblem() {
  return Machine::Get().problem.c_str();
}
}
