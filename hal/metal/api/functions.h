// The part of Apple's Metal API that Ember's Metal driver uses, as a table of
// functions over opaque handles. All logic of the driver is C++ above this
// table. Two files implement it: metal.mm on Apple's systems, where each
// function is a call or two of the documented API, and testing/fake_metal.cc.
//
//   const QueueRef queue = functions.NewQueue(device);
//   functions.Release(queue);
//
// Ownership: functions whose names begin with New, and Devices, return objects
// that the caller releases. A null pointer means that the call failed, as nil
// does in Metal. A committed command buffer keeps the objects alive that its
// commands use. Thread-safety: all functions may be called from any thread; a
// command buffer and its encoders are used by one thread at a time until the
// buffer is committed.
//
// Source: the documentation of Metal, developer.apple.com/documentation/metal.
#ifndef EMBER_HAL_METAL_API_FUNCTIONS_H_
#define EMBER_HAL_METAL_API_FUNCTIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ember::hal::metal {

using DeviceRef = struct DeviceOfMetal*;                // id<MTLDevice>
using QueueRef = struct QueueOfMetal*;                  // id<MTLCommandQueue>
using BufferRef = struct BufferOfMetal*;                // id<MTLBuffer>
using LibraryRef = struct LibraryOfMetal*;              // id<MTLLibrary>
using FunctionRef = struct FunctionOfMetal*;            // id<MTLFunction>
using PipelineRef = struct PipelineOfMetal*;            // …ComputePipelineState
using CommandBufferRef = struct CommandBufferOfMetal*;  // id<MTLCommandBuffer>
using ComputeRef = struct ComputeOfMetal*;  // …ComputeCommandEncoder
using BlitRef = struct BlitOfMetal*;        // …BlitCommandEncoder

// The kinds of memory of buffers that the driver uses.
enum class Storage : uint8_t {
  kShared,   // MTLResourceStorageModeShared: host and device access it
  kPrivate,  // MTLResourceStorageModePrivate: only the device accesses it
};

// MTLCommandBufferStatus, with the numbers that the documentation gives.
enum class CommandStatus : uint8_t {
  kNotEnqueued = 0,
  kEnqueued = 1,
  kCommitted = 2,
  kScheduled = 3,
  kCompleted = 4,
  kError = 5,
};

// An NSError: its number, whose meaning depends on the call (result.h), and its
// localized description, which may have several lines.
struct Error {
  int64_t code = 0;
  std::string text;
};

// Properties of a device.
struct DeviceFacts {
  std::string name;
  bool is_unified = false;    // true if its memory is the host's
  bool is_low_power = false;  // true for the slower one of a Mac's two GPUs
  uint64_t buffer_bytes = 0;  // largest number of bytes of a buffer
  uint64_t memory_bytes = 0;  // recommendedMaxWorkingSetSize
  uint64_t threadgroup_bytes = 0;
  // largest numbers of threads of a threadgroup along x, y and z
  std::array<uint64_t, 3> threads = {};
  // The newest version of MSL that the system compiles, as MTLLanguageVersion
  // has it: 65536 * major + minor.
  uint32_t language = 0;
};

// Properties of a compiled kernel.
struct PipelineFacts {
  uint64_t max_threads = 0;        // largest number of threads of a threadgroup
  uint64_t execution_width = 0;    // threads that advance together
  uint64_t threadgroup_bytes = 0;  // threadgroup memory that the code declares
};

using Extent = std::array<uint64_t, 3>;

// Table of the functions. Columns: F(name, type of the result, parameters).
// Offsets and sizes are in bytes.
#define EMBER_METAL_FUNCTIONS(F)                                               \
  F(Devices, std::vector<DeviceRef>, ())                                       \
  F(FactsOf, DeviceFacts, (DeviceRef device))                                  \
  F(NewQueue, QueueRef, (DeviceRef device))                                    \
  /* The buffer's bytes are 0. */                                              \
  F(NewBuffer, BufferRef, (DeviceRef device, uint64_t bytes, Storage storage)) \
  /* Returns the host's address of a shared buffer. */                         \
  F(ContentsOf, void*, (BufferRef buffer))                                     \
  /* Compiles MSL without fast math. */                                        \
  F(NewLibrary, LibraryRef,                                                    \
    (DeviceRef device, std::string_view source, Error * error))                \
  F(NewFunction, FunctionRef, (LibraryRef library, const char* name))          \
  F(NewPipeline, PipelineRef,                                                  \
    (DeviceRef device, FunctionRef function, Error * error))                   \
  F(PipelineFactsOf, PipelineFacts, (PipelineRef pipeline))                    \
  F(NewCommandBuffer, CommandBufferRef, (QueueRef queue))                      \
  /* Commands of an encoder run concurrently except across barriers. */        \
  F(NewComputeEncoder, ComputeRef, (CommandBufferRef commands))                \
  F(NewBlitEncoder, BlitRef, (CommandBufferRef commands))                      \
  F(SetPipeline, void, (ComputeRef encoder, PipelineRef pipeline))             \
  F(SetBuffer, void,                                                           \
    (ComputeRef encoder, BufferRef buffer, uint64_t offset, uint32_t index))   \
  F(SetBytes, void,                                                            \
    (ComputeRef encoder, const void* bytes, uint64_t size, uint32_t index))    \
  F(SetThreadgroupMemory, void,                                                \
    (ComputeRef encoder, uint64_t bytes, uint32_t index))                      \
  F(DispatchThreadgroups, void,                                                \
    (ComputeRef encoder, const Extent& groups, const Extent& threads))         \
  F(BufferBarrier, void, (ComputeRef encoder))                                 \
  F(CopyBuffer, void,                                                          \
    (BlitRef encoder, BufferRef source, uint64_t source_offset,                \
     BufferRef target, uint64_t target_offset, uint64_t size))                 \
  F(FillBuffer, void,                                                          \
    (BlitRef encoder, BufferRef buffer, uint64_t offset, uint64_t size,        \
     uint8_t value))                                                           \
  /* Ends an encoder of either kind. */                                        \
  F(EndEncoding, void, (void* encoder))                                        \
  F(Commit, void, (CommandBufferRef commands))                                 \
  F(WaitUntilCompleted, void, (CommandBufferRef commands))                     \
  F(StatusOf, CommandStatus, (CommandBufferRef commands))                      \
  F(ErrorOf, Error, (CommandBufferRef commands))                               \
  /* Returns the seconds that the device took for completed commands. */       \
  F(GpuSecondsOf, double, (CommandBufferRef commands))                         \
  /* Releases an object of any kind. */                                        \
  F(Release, void, (void* object))

struct Functions {
#define EMBER_METAL_FUNCTION(name, result, parameters) \
  result(*name) parameters = nullptr;
  EMBER_METAL_FUNCTIONS(EMBER_METAL_FUNCTION)
#undef EMBER_METAL_FUNCTION
};

// Limits that the documentation states for every device that Metal supports.
inline constexpr uint32_t kBufferIndices = 31;
inline constexpr uint64_t kMaxSetBytes = 4096;
// Multiples that offsets and sizes of copies and fills need on macOS, and that
// sizes of threadgroup memory need everywhere.
inline constexpr uint64_t kBlitAlignment = 4;
inline constexpr uint64_t kThreadgroupMemoryAlignment = 16;

// The type of the function EmberMetalFunctions that a library exports which
// EMBER_METAL_LIBRARY names (library.h).
using GetFunctions = const Functions* (*)();

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_API_FUNCTIONS_H_
