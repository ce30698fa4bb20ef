#include "hal/opencl/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/concat.h"
#include "base/rounding.h"
#include "hal/opencl/api/result.h"

namespace ember::hal::opencl {
namespace {

// Alignment of Buffer::host_data() in bytes.
constexpr size_t kHostAlignment = 64;
// Memory of the host is allocated in whole pages, because drivers can pin it,
// or share it with the device, only page by page.
constexpr size_t kPage = 4096;

Status OutOfMemory(int64_t bytes, const Status& status) {
  return status.WithContext(
      Concat({"buffer: a request for ", bytes, " bytes"}));
}

}  // namespace

StatusOr<OpenClBuffer::Memory> OpenClBuffer::AllocateHidden(Context& context,
                                                            size_t bytes) {
  cl_int result = kSuccess;
  const cl_mem handle = context.cl().CreateBuffer(
      context.handle(), kMemReadWrite, bytes, nullptr, &result);
  EMBER_RETURN_IF_ERROR(context.Check("clCreateBuffer", result));
  return Memory{.handle = handle};
}

StatusOr<OpenClBuffer::Memory> OpenClBuffer::AllocateShared(Context& context,
                                                            size_t bytes) {
  void* const host = context.cl().SVMAlloc(
      context.handle(), kMemReadWrite | kMemSvmFineGrainBuffer, bytes,
      kHostAlignment);
  // clSVMAlloc returns null for every kind of failure, so a result code is
  // chosen here.
  if (host == nullptr) {
    EMBER_RETURN_IF_ERROR(context.Check("clSVMAlloc", kOutOfResources));
  }
  std::memset(host, 0, bytes);
  return Memory{.host = host};
}

StatusOr<OpenClBuffer::Memory> OpenClBuffer::AllocatePinned(Context& context,
                                                            size_t bytes) {
  const size_t rounded = RoundUp(bytes, kPage);
  void* const host =
      rounded < bytes ? nullptr : std::aligned_alloc(kPage, rounded);
  if (host == nullptr) {
    return ResourceExhaustedError(
        "opencl device: the host has too little memory");
  }
  std::memset(host, 0, rounded);
  cl_int result = kSuccess;
  const cl_mem handle = context.cl().CreateBuffer(
      context.handle(), kMemReadWrite | kMemUseHostPtr, rounded, host, &result);
  const Status status = context.Check("clCreateBuffer", result);
  if (!status.ok()) {
    std::free(host);
    return status;
  }
  return Memory{.handle = handle, .host = host};
}

StatusOr<std::unique_ptr<OpenClBuffer>> OpenClBuffer::Create(Context& context,
                                                             int64_t size,
                                                             bool shows_host) {
  const DeviceProperties& properties = context.properties();
  if (size > properties.allocation_bytes) {
    return ResourceExhaustedError(
        Concat({"buffer: expected at most ", properties.allocation_bytes,
                " bytes, the most of one buffer on opencl device '",
                properties.name, "', found a request for ", size}));
  }
  const size_t bytes = std::max<size_t>(static_cast<size_t>(size), 1);
  StatusOr<Memory> memory = !shows_host ? AllocateHidden(context, bytes)
                            : properties.has_shared_addresses
                                ? AllocateShared(context, bytes)
                                : AllocatePinned(context, bytes);
  if (!memory.ok()) return OutOfMemory(size, memory.status());
  std::unique_ptr<OpenClBuffer> buffer(
      new OpenClBuffer(context, size, *memory));
  if (shows_host) {
    if (buffer->handle() != nullptr)
      EMBER_RETURN_IF_ERROR(buffer->Map(/*waits=*/1));
    return buffer;
  }
  // The fill is not awaited: the queue runs work in order, so later submissions
  // see the zeros.
  const uint8_t zero = 0;
  EMBER_RETURN_IF_ERROR(context.Check(
      "clEnqueueFillBuffer", context.cl().EnqueueFillBuffer(
                                 context.queue(), buffer->handle(), &zero,
                                 sizeof zero, 0, bytes, 0, nullptr, nullptr)));
  return buffer;
}

OpenClBuffer::~OpenClBuffer() {
  const Functions& cl = context_.cl();
  if (has_shared_address()) {
    cl.SVMFree(context_.handle(), host_data());
  } else {
    if (is_pinned()) {
      // The driver may access the pinned memory until the memory object is
      // gone, so the object is released before the memory is freed.
      static_cast<void>(Lend());
      context_.Finish();
    }
    cl.ReleaseMemObject(handle());
    std::free(memory_.host);
  }
  if (counter_ != nullptr)
    counter_->Give(size(), /*is_hidden=*/host_data() == nullptr);
}

Status OpenClBuffer::Lend() {
  if (!memory_.is_mapped) return OkStatus();
  memory_.is_mapped = false;
  return context_.Check(
      "clEnqueueUnmapMemObject",
      context_.cl().EnqueueUnmapMemObject(context_.queue(), handle(),
                                          memory_.host, 0, nullptr, nullptr));
}

Status OpenClBuffer::TakeBack() { return Map(/*waits=*/0); }

Status OpenClBuffer::Map(cl_bool waits) {
  cl_int result = kSuccess;
  const auto bytes = std::max<size_t>(static_cast<size_t>(size()), 1);
  void* const mapped = context_.cl().EnqueueMapBuffer(
      context_.queue(), handle(), waits, kMapRead | kMapWrite, 0, bytes, 0,
      nullptr, nullptr, &result);
  EMBER_RETURN_IF_ERROR(context_.Check("clEnqueueMapBuffer", result));
  memory_.is_mapped = true;
  if (mapped == memory_.host) return OkStatus();
  return InternalError(
      "opencl device: expected clEnqueueMapBuffer to map memory of the host "
      "where it is, found another address");
}

}  // namespace ember::hal::opencl
