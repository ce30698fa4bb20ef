// The state of the emulated CUDA library: devices, their contexts, and the
// objects of these contexts. The functions in emulated_cuda.cc operate on this
// state.
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

#include "hal/cuda/api/functions.h"
#include "hal/cuda/emulated/faults.h"
#include "hal/cuda/emulated/grid.h"

namespace ember::hal::cuda {

// The properties of a model of GPU that can be emulated.
struct EmulatedKind {
  const char* name;  // name of the architecture, such as "sm_80"
  int major;
  int minor;
  int processors;
  int shared_bytes;  // largest number of bytes of shared memory of a block
};

// A piece of memory that a device can access: its own, or pinned memory of the
// host. Its initial contents are arbitrary.
struct Allocation {
  // The allocated memory, which has additional bytes so that `begin` can be
  // aligned.
  std::unique_ptr<uint8_t[]> memory;
  uint8_t* begin = nullptr;
  size_t bytes = 0;
  bool is_host = false;
  CUcontext context = nullptr;
};

// A piece of work: a node of a graph, or a call that puts work on a stream.
struct Work {
  enum class Kind : uint8_t { kEmpty, kCopy, kFill, kLaunch };
  Kind kind = Kind::kEmpty;
  CUdeviceptr target = 0, source = 0;
  size_t bytes = 0;
  uint8_t value = 0;
  GridLaunch launch = {};
  std::vector<uint64_t> arguments = {};
  // Tensor maps of the launch, which are further arguments.
  std::vector<CUtensorMap> maps = {};
};

// The following structures are the objects to which CUDA's handles (CUcontext,
// CUstream, …) point.
struct CUctx_st {
  int device = 0;
  int references = 0;
  // Error that every call returns because the context is lost; 0 if it is not
  // lost.
  CUresult lost = 0;
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
  // The nodes of the graph in the order in which they were added. Every edge
  // leads from an earlier node to a later one.
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  CUcontext context = nullptr;
  std::vector<Work> works;
};

// Owns all existing objects of one type, such as events, so that wrong handles
// and leaks are found.
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
  // Destroys all objects of a context when it ends, and returns how many there
  // were.
  int64_t RemoveOf(CUcontext context) {
    return static_cast<int64_t>(std::erase_if(
        objects_, [&](const auto& o) { return o.second->context == context; }));
  }

 private:
  std::map<Object*, std::unique_ptr<Object>> objects_;
};

struct Machine {
  std::mutex mutex;  // guards all members
  Calls calls;
  bool is_ready = false;
  EmulatedKind kind = {};
  int device_count = 1;
  std::map<int, std::unique_ptr<CUctx_st>> contexts;  // contexts by device
  std::map<uintptr_t, Allocation> allocations;        // allocations by address
  Objects<CUstream_st> streams;
  Objects<CUevent_st> events;
  Objects<CUmod_st> modules;
  Objects<CUmemPoolHandle_st> pools;
  Objects<CUgraph_st> graphs;
  Objects<CUgraphExec_st> executables;
  int64_t leaks = 0;
  std::string problem;  // message of the last kernel that failed

  static Machine& Get();

  // Resets all devices and counts, and reads the environment variables. cuInit
  // calls it.
  CUresult Start();
  // Returns the current context of this thread, or null.
  CUcontext Current() const;
  // Records a call in the current context. Returns the error that the call must
  // return, or 0.
  CUresult Enter(const char* symbol);
  // Ends a context: destroys its objects and counts them as leaked.
  void End(CUcontext context);

  CUresult Allocate(size_t bytes, bool is_host, uint8_t** memory);
  // True if the range of addresses is within a single allocation of the device.
  bool Has(CUdeviceptr begin, size_t bytes) const;
  // Makes the work for a kernel launch with its arguments. Returns an error if
  // the device does not accept the launch.
  CUresult MakeLaunch(const CUDA_KERNEL_NODE_PARAMS& given, Work& work) const;
  CUresult Do(const Work& work);
};

// Returns the calling thread's stack of contexts, whose top is the current one.
std::vector<CUcontext>& ContextStack();

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_MACHINE_H_
