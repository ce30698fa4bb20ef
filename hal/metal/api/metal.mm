// The functions of Metal on Apple's systems (macOS 11, iOS 14 or newer), in
// Objective-C++ with ARC. Each function is a call or two of the documented API;
// nothing here decides anything. Objects that leave a function are retained
// once, and Release gives that up. Every function has an autorelease pool,
// because the driver's threads have none.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <TargetConditionals.h>

#include "hal/metal/api/system.h"

namespace ember::hal::metal {
namespace {

// Gives an object to the driver, which must release it. The result is null for
// nil.
template <typename Ref>
Ref Give(id object) {
  return static_cast<Ref>((__bridge_retained void*)object);
}

id<MTLDevice> Of(DeviceRef ref) { return (__bridge id<MTLDevice>)(void*)ref; }
id<MTLCommandQueue> Of(QueueRef ref) {
  return (__bridge id<MTLCommandQueue>)(void*)ref;
}
id<MTLBuffer> Of(BufferRef ref) { return (__bridge id<MTLBuffer>)(void*)ref; }
id<MTLLibrary> Of(LibraryRef ref) {
  return (__bridge id<MTLLibrary>)(void*)ref;
}
id<MTLFunction> Of(FunctionRef ref) {
  return (__bridge id<MTLFunction>)(void*)ref;
}
id<MTLComputePipelineState> Of(PipelineRef ref) {
  return (__bridge id<MTLComputePipelineState>)(void*)ref;
}
id<MTLCommandBuffer> Of(CommandBufferRef ref) {
  return (__bridge id<MTLCommandBuffer>)(void*)ref;
}
id<MTLComputeCommandEncoder> Of(ComputeRef ref) {
  return (__bridge id<MTLComputeCommandEncoder>)(void*)ref;
}
id<MTLBlitCommandEncoder> Of(BlitRef ref) {
  return (__bridge id<MTLBlitCommandEncoder>)(void*)ref;
}

Error ErrorFrom(NSError* error) {
  if (error == nil) return {};
  const char* const text = error.localizedDescription.UTF8String;
  return {.code = error.code, .text = text != nullptr ? text : ""};
}

MTLSize SizeFrom(const Extent& extent) {
  return MTLSizeMake(extent[0], extent[1], extent[2]);
}

std::vector<DeviceRef> Devices() {
  @autoreleasepool {
    std::vector<DeviceRef> devices;
#if TARGET_OS_OSX
    for (id<MTLDevice> device in MTLCopyAllDevices())
      devices.push_back(Give<DeviceRef>(device));
#else
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    if (device != nil) devices.push_back(Give<DeviceRef>(device));
#endif
    return devices;
  }
}

DeviceFacts FactsOf(DeviceRef ref) {
  @autoreleasepool {
    id<MTLDevice> device = Of(ref);
    const MTLSize threads = device.maxThreadsPerThreadgroup;
    DeviceFacts facts;
    facts.name = device.name.UTF8String;
    facts.is_unified = device.hasUnifiedMemory;
    facts.buffer_bytes = device.maxBufferLength;
    facts.threadgroup_bytes = device.maxThreadgroupMemoryLength;
    facts.threads = {threads.width, threads.height, threads.depth};
    // By default options have the newest version of the language.
    facts.language =
        static_cast<uint32_t>([[MTLCompileOptions alloc] init].languageVersion);
#if TARGET_OS_OSX
    facts.is_low_power = device.lowPower;
    facts.memory_bytes = device.recommendedMaxWorkingSetSize;
#endif
    return facts;
  }
}

QueueRef NewQueue(DeviceRef device) {
  @autoreleasepool {
    return Give<QueueRef>([Of(device) newCommandQueue]);
  }
}

BufferRef NewBuffer(DeviceRef device, uint64_t bytes, Storage storage) {
  @autoreleasepool {
    return Give<BufferRef>([Of(device)
        newBufferWithLength:bytes
                    options:storage == Storage::kShared
                                ? MTLResourceStorageModeShared
                                : MTLResourceStorageModePrivate]);
  }
}

void* ContentsOf(BufferRef buffer) {
  @autoreleasepool {
    return [Of(buffer) contents];
  }
}

LibraryRef NewLibrary(DeviceRef device, std::string_view source, Error* error) {
  @autoreleasepool {
    NSString* const text =
        [[NSString alloc] initWithBytes:source.data()
                                 length:source.size()
                               encoding:NSUTF8StringEncoding];
    if (text == nil) {
      *error = {.text = "error: the program is no text of UTF-8"};
      return nullptr;
    }
    MTLCompileOptions* const options = [[MTLCompileOptions alloc] init];
// Newer systems have mathMode, too, but the property below works on all.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    options.fastMathEnabled = NO;
#pragma clang diagnostic pop
    NSError* problem = nil;
    id<MTLLibrary> library = [Of(device) newLibraryWithSource:text
                                                      options:options
                                                        error:&problem];
    *error = ErrorFrom(problem);
    return Give<LibraryRef>(library);
  }
}

FunctionRef NewFunction(LibraryRef library, const char* name) {
  @autoreleasepool {
    NSString* const text = [NSString stringWithUTF8String:name];
    if (text == nil) return nullptr;
    return Give<FunctionRef>([Of(library) newFunctionWithName:text]);
  }
}

PipelineRef NewPipeline(DeviceRef device, FunctionRef function, Error* error) {
  @autoreleasepool {
    NSError* problem = nil;
    id<MTLComputePipelineState> pipeline =
        [Of(device) newComputePipelineStateWithFunction:Of(function)
                                                  error:&problem];
    *error = ErrorFrom(problem);
    return Give<PipelineRef>(pipeline);
  }
}

PipelineFacts PipelineFactsOf(PipelineRef ref) {
  @autoreleasepool {
    id<MTLComputePipelineState> pipeline = Of(ref);
    return {.max_threads = pipeline.maxTotalThreadsPerThreadgroup,
            .execution_width = pipeline.threadExecutionWidth,
            .threadgroup_bytes = pipeline.staticThreadgroupMemoryLength};
  }
}

CommandBufferRef NewCommandBuffer(QueueRef queue) {
  @autoreleasepool {
    return Give<CommandBufferRef>([Of(queue) commandBuffer]);
  }
}

ComputeRef NewComputeEncoder(CommandBufferRef commands) {
  @autoreleasepool {
    return Give<ComputeRef>([Of(commands)
        computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent]);
  }
}

BlitRef NewBlitEncoder(CommandBufferRef commands) {
  @autoreleasepool {
    return Give<BlitRef>([Of(commands) blitCommandEncoder]);
  }
}

void SetPipeline(ComputeRef encoder, PipelineRef pipeline) {
  @autoreleasepool {
    [Of(encoder) setComputePipelineState:Of(pipeline)];
  }
}

void SetBuffer(ComputeRef encoder, BufferRef buffer, uint64_t offset,
               uint32_t index) {
  @autoreleasepool {
    [Of(encoder) setBuffer:Of(buffer) offset:offset atIndex:index];
  }
}

void SetBytes(ComputeRef encoder, const void* bytes, uint64_t size,
              uint32_t index) {
  @autoreleasepool {
    [Of(encoder) setBytes:bytes length:size atIndex:index];
  }
}

void SetThreadgroupMemory(ComputeRef encoder, uint64_t bytes, uint32_t index) {
  @autoreleasepool {
    [Of(encoder) setThreadgroupMemoryLength:bytes atIndex:index];
  }
}

void DispatchThreadgroups(ComputeRef encoder, const Extent& groups,
                          const Extent& threads) {
  @autoreleasepool {
    [Of(encoder) dispatchThreadgroups:SizeFrom(groups)
                threadsPerThreadgroup:SizeFrom(threads)];
  }
}

void BufferBarrier(ComputeRef encoder) {
  @autoreleasepool {
    [Of(encoder) memoryBarrierWithScope:MTLBarrierScopeBuffers];
  }
}

void CopyBuffer(BlitRef encoder, BufferRef source, uint64_t source_offset,
                BufferRef target, uint64_t target_offset, uint64_t size) {
  @autoreleasepool {
    [Of(encoder) copyFromBuffer:Of(source)
                   sourceOffset:source_offset
                       toBuffer:Of(target)
              destinationOffset:target_offset
                           size:size];
  }
}

void FillBuffer(BlitRef encoder, BufferRef buffer, uint64_t offset,
                uint64_t size, uint8_t value) {
  @autoreleasepool {
    [Of(encoder) fillBuffer:Of(buffer)
                      range:NSMakeRange(offset, size)
                      value:value];
  }
}

void EndEncoding(void* encoder) {
  @autoreleasepool {
    [(__bridge id<MTLCommandEncoder>)encoder endEncoding];
  }
}

void Commit(CommandBufferRef commands) {
  @autoreleasepool {
    [Of(commands) commit];
  }
}

void WaitUntilCompleted(CommandBufferRef commands) {
  @autoreleasepool {
    [Of(commands) waitUntilCompleted];
  }
}

CommandStatus StatusOf(CommandBufferRef commands) {
  @autoreleasepool {
    return static_cast<CommandStatus>(Of(commands).status);
  }
}

Error ErrorOf(CommandBufferRef commands) {
  @autoreleasepool {
    return ErrorFrom(Of(commands).error);
  }
}

double GpuSecondsOf(CommandBufferRef commands) {
  @autoreleasepool {
    return Of(commands).GPUEndTime - Of(commands).GPUStartTime;
  }
}

void Release(void* object) {
  @autoreleasepool {
    static_cast<void>((__bridge_transfer id)object);
  }
}

}  // namespace

const Functions* SystemFunctions() {
  static const Functions functions = {
#define EMBER_METAL_ROW(name, result, parameters) .name = name,
      EMBER_METAL_FUNCTIONS(EMBER_METAL_ROW)
#undef EMBER_METAL_ROW
  };
  return &functions;
}

}  // namespace ember::hal::metal
