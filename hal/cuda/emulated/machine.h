// The state of the emulated library: devices, their contexts, and the objects
// of those. What the calls of emulated_cuda.cc work on.
#ifndef EMBER_HAL_CUDA_EMULATED_MACHINE_H_
#define EMBER_HAL_CUDA_EMULATED_MACHINE_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "hal/cuda/emulated/faults.h"
#include "hal/cuda/emulated/grid.h"
#include "hal/cuda/functions.h"

namespace ember::hal::cuda {

// What a kind of GPU has.
struct EmulatedKind {
  const char* name;  // "sm_80"
  int major;
  int minor;
  int processors;
  int shared_bytes;  // most of a block
};

// Memory of a device, or of the host that it reaches. What it holds at first is
// nothing to rely on.
struct Allocation {
  std::unique_ptr<uint8_t[]> memory;  // with room to align
  uint8_t* begin = nullptr;
  size_t bytes = 0;
  bool is_host = false;
  CUcontext context = nullptr;
};

// A node of a graph, or a call that puts work on a stream.
struct Work {
  enum class Kind : uint8_t { kEmpty, kCopy, kFill, kLaunch };
  Kind kind = Kind::kEmpty;
  CUdeviceptr target = 0, source = 0;
  size_t bytes = 0;
  uint8_t value = 0;
  GridLaunch launch = {};
  std::vector<uint64_t> arguments = {};
  std::vector<CUtensorMap> maps = {};  // arguments behind those
};

// CUDA's handles point to these.
struct CUctx_st {
  int device = 0;
  int references = 0;
  CUresult lost = 0;  // what every call gives
};
struct CUstream_st {
  CUcontext context = nullptr;
};
struct CUevent_st {
  CUcontext context = nullptr;
  bool has_time = false;
  bool is_recorded = false;
  std::chrono::steady_clock::time_point time = {};
};
struct CUfunc_st {
  CUcontext context = nullptr;
  GridEntry entry;
  uint64_t most_dynamic_bytes = 48 << 10;
};
struct CUmod_st {
  CUcontext context = nullptr;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};
struct CUmemPoolHandle_st {
  CUcontext context = nullptr;
};
struct CUgraphNode_st {
  Work work;
};
struct CUgraph_st {
  CUcontext context = nullptr;
  // In the order in which they were added, which no edge goes against.
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  CUcontext context = nullptr;
  std::vector<Work> works;
};

// All objects of one kind that there are.
template <typename Object>
class Objects {
 public:
  Object* Add(Object object) {
    auto owned = std::make_unique<Object>(std::move(object));
    Object* const handle = owned.get();
    objects_.emplace(handle, std::move(owned));
    return handle;
  }
  bool Has(Object* handle) const { return objects_.contains(handle); }
  bool Remove(Object* handle) { return objects_.erase(handle) > 0; }
  // Of a context that ends: how many there were.
  int64_t RemoveOf(CUcontext context) {
    return static_cast<int64_t>(std::erase_if(
        objects_, [&](const auto& o) { return o.second->context == context; }));
  }

 private:
  std::map<Object*, std::unique_ptr<Object>> objects_;
};

struct Machine {
  std::mutex mutex;  // guards all
  Calls calls;
  bool is_ready = false;
  EmulatedKind kind = {};
  int device_count = 1;
  std::map<int, std::unique_ptr<CUctx_st>> contexts;  // by device
  std::map<uintptr_t, Allocation> allocations;        // by address
  Objects<CUstream_st> streams;
  Objects<CUevent_st> events;
  Objects<CUmod_st> modules;
  Objects<CUmemPoolHandle_st> pools;
  Objects<CUgraph_st> graphs;
  Objects<CUgraphExec_st> executables;
  int64_t leaks = 0;
  std::string problem;  // of the last kernel that went wrong

  static Machine& Get();

  // Reads the environment.
  CUresult Start();
  // The context of this thread, or null.
  CUcontext Current() const;
  // What a call in the current context gives before it does anything.
  CUresult Enter(const char* symbol);
  // Destroys the context's objects, and counts those that there were.
  void End(CUcontext context);

  CUresult Allocate(size_t bytes, bool is_host, uint8_t** memory);
  // Whether the range is within one allocation.
  bool Has(CUdeviceptr begin, size_t bytes) const;
  // Of a kernel with its arguments, if the device takes such a launch.
  CUresult MakeLaunch(const CUDA_KERNEL_NODE_PARAMS& given, Work& work) const;
  CUresult Do(const Work& work);
};

// The context stack of this thread.
std::vector<CUcontext>& ContextStack();

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_MACHINE_H_
