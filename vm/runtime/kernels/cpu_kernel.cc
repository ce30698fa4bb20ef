#include "vm/runtime/kernels/cpu_kernel.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "base/concat.h"
#include "base/mapped_pages.h"
#include "base/page_hints.h"
#include "vm/runtime/memory/packed_memory.h"

namespace ember::vm {
namespace {

// Smallest size in bytes of a constant whose pages in the file are worth
// releasing after the kernel has packed it.
constexpr size_t kLargeConstant = size_t{1} << 20;

constexpr int64_t kAlignment = 64;
// Number of pieces per worker into which tasks are split. Workers that begin
// late or are slow then run fewer pieces.
constexpr int64_t kChunksPerWorker = 4;
// Largest number of points in a piece of a call. A piece of this size takes a
// few milliseconds. A call of more points is split into more pieces, because a
// run can be stopped between two pieces.
constexpr int64_t kPointsPerChunk = int64_t{1} << 24;
constexpr int64_t kMaxChunks = int64_t{1} << 20;

// Largest number of bytes of temporaries that a call keeps on the stack. With
// blocks from ScratchBlocks, taking and returning them under a lock took a
// tenth of a small model's run.
constexpr int64_t kStackBytes = 4096;

// An array that is used during one call. Up to kFew elements are stored in the
// object itself, so that calls of small kernels allocate no memory.
template <typename T, size_t kFew>
class CallArray {
 public:
  explicit CallArray(size_t size) {
    if (size > kFew) {
      many_.resize(size);
      data_ = many_.data();
    }
  }
  CallArray(const CallArray&) = delete;
  CallArray& operator=(const CallArray&) = delete;
  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }

 private:
  T few_[kFew] = {};
  std::vector<T> many_;
  T* data_ = few_;
};

// Charges the caller's memory budget with the temporaries of a call, as long as
// this object exists.
class Charge {
 public:
  Charge(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {
    if (budget_ != nullptr) status_ = budget_->Charge(bytes_);
  }
  ~Charge() {
    if (budget_ != nullptr && status_.ok()) budget_->Discharge(bytes_);
  }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  const Status& status() const { return status_; }

 private:
  MemoryBudget* const budget_;
  const int64_t bytes_;
  Status status_;
};

// Returns whole * part / parts, rounded down. The product may not fit 64 bits,
// because there may be 2^40 tasks.
int64_t PartOf(int64_t whole, int64_t part, int64_t parts) {
  return whole / parts * part + whole % parts * part / parts;
}

// Selects the next chunk for a worker. A worker first gets the chunks of its
// own part, whose data is in its cache from the previous dispatch, and then
// those of other workers' parts. Thread-safe.
class ChunkRanges {
 public:
  ChunkRanges(int64_t chunks, int workers)
      : parts_(static_cast<size_t>(workers)) {
    for (int64_t i = 0; i < workers; ++i) {
      parts_[static_cast<size_t>(i)].next = chunks * i / workers;
      parts_[static_cast<size_t>(i)].end = chunks * (i + 1) / workers;
    }
  }

  // Returns the number of the worker's next chunk. The function may be called
  // at most once per chunk.
  int64_t Take(int worker) {
    for (size_t i = static_cast<size_t>(worker);; i = (i + 1) % parts_.size()) {
      Part& part = parts_[i];
      if (part.next.load(std::memory_order_relaxed) >= part.end) continue;
      const int64_t chunk = part.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk < part.end) return chunk;
    }
  }

 private:
  struct alignas(kAlignment) Part {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  std::vector<Part> parts_;
};

}  // namespace

CpuKernel::CpuKernel(CpuKernelDefinition definition)
    : definition_(std::move(definition)),
      packed_pointers_(definition_.image.buffers.size()),
      packed_bytes_(definition_.image.buffers.size()) {}

StatusOr<std::unique_ptr<CpuKernel>> CpuKernel::Create(
    CpuKernelDefinition definition) {
  std::unique_ptr<CpuKernel> kernel(new CpuKernel(std::move(definition)));
  const KernelImage& image = kernel->definition_.image;
  if (image.parameter_count == 0) {
    EMBER_ASSIGN_OR_RETURN(kernel->constant_layout_,
                           LayOutKernel(image, {}, kAlignment));
  }
  EMBER_RETURN_IF_ERROR(kernel->Pack());
  kernel->definition_.constants.clear();
  return kernel;
}

bool CpuKernel::Accepts(std::span<const int64_t> parameters) const {
  return ShapeAccepts(definition_.image.shape, parameters);
}

Status CpuKernel::Pack() {
  const KernelImage& image = definition_.image;
  if (image.prologue_count == 0) return OkStatus();
  // Parameters are left at 0 while constants are packed, because the extents of
  // packed buffers depend on constants only.
  const std::vector<int64_t> parameters(image.parameter_count);
  EMBER_ASSIGN_OR_RETURN(const KernelLayout layout,
                         LayOutKernel(image, parameters, kAlignment));
  if (!definition_.packed.empty()) return TakePacked(layout);
  EMBER_RETURN_IF_ERROR(CheckConstants(image, layout, definition_.constants));
  std::vector<void*> arguments(image.buffers.size());
  for (size_t i = 0; i < definition_.constants.size(); ++i) {
    const std::span<const uint8_t> data = definition_.constants[i];
    if (data.empty()) continue;
    arguments[i] = const_cast<uint8_t*>(data.data());  // NOLINT: only read
  }
  auto blocks = std::make_shared<std::vector<std::shared_ptr<void>>>();
  packed_owner_ = blocks;
  for (size_t i = 0; i < image.buffers.size(); ++i) {
    if (image.buffers[i].scope != KernelScope::kPacked) continue;
    std::shared_ptr<void> memory = AllocatePacked(layout.bytes[i]);
    if (memory == nullptr) {
      return ResourceExhaustedError(
          Concat({"dispatch @", image.dispatch, ": no memory for constants of ",
                  layout.bytes[i], " bytes"}));
    }
    packed_pointers_[i] = memory.get();
    packed_bytes_[i] = static_cast<size_t>(layout.bytes[i]);
    blocks->push_back(std::move(memory));
  }
  SerialRunner runner;
  EMBER_RETURN_IF_ERROR(RunPhases(0, image.prologue_count, layout,
                                  {parameters, arguments, runner}, arguments));
  // The pages of large constants in the module's file are released, because the
  // kernel has packed copies of the constants.
  for (const std::span<const uint8_t> constant : definition_.constants) {
    if (constant.size() >= kLargeConstant) ReleaseMappedPages(constant);
  }
  return OkStatus();
}

Status CpuKernel::TakePacked(const KernelLayout& layout) {
  const KernelImage& image = definition_.image;
  packed_owner_ = definition_.packed_owner;
  size_t next = 0;
  for (size_t i = 0; i < image.buffers.size(); ++i) {
    const KernelBuffer& buffer = image.buffers[i];
    if (buffer.scope != KernelScope::kPacked) continue;
    const std::span<const uint8_t> data = next < definition_.packed.size()
                                              ? definition_.packed[next]
                                              : std::span<const uint8_t>();
    ++next;
    if (static_cast<uint64_t>(layout.bytes[i]) != data.size() ||
        reinterpret_cast<uintptr_t>(data.data()) % kAlignment != 0) {
      return InvalidArgumentError(Concat(
          {"dispatch @", image.dispatch, ": buffer %", buffer.name,
           ": expected ", layout.bytes[i], " packed bytes at a multiple of ",
           kAlignment, ", found ", data.size(), " or another address"}));
    }
    packed_pointers_[i] = const_cast<uint8_t*>(data.data());  // NOLINT: read
    packed_bytes_[i] = data.size();
    ReadAhead(data);
  }
  return OkStatus();
}

std::vector<std::span<const uint8_t>> CpuKernel::packed() const {
  std::vector<std::span<const uint8_t>> packed;
  for (size_t i = 0; i < packed_pointers_.size(); ++i) {
    if (definition_.image.buffers[i].scope == KernelScope::kPacked) {
      packed.emplace_back(static_cast<const uint8_t*>(packed_pointers_[i]),
                          packed_bytes_[i]);
    }
  }
  return packed;
}

Status CpuKernel::CheckAlignment(std::span<void* const> arguments) const {
  const KernelImage& image = definition_.image;
  for (size_t i = 0; i < arguments.size() && i < image.buffers.size(); ++i) {
    const KernelBuffer& buffer = image.buffers[i];
    const auto address = reinterpret_cast<uintptr_t>(arguments[i]);
    if ((address & (buffer.alignment - 1)) == 0) continue;
    return InvalidArgumentError(
        Concat({"dispatch @", image.dispatch, ": buffer %", buffer.name,
                ": expected an address that is a multiple of ",
                buffer.alignment, ", found another"}));
  }
  return OkStatus();
}

int64_t CpuKernel::TemporaryBytes(int workers) const {
  return constant_layout_.call_bytes + constant_layout_.task_bytes * workers;
}

Status CpuKernel::Run(const KernelCall& call) const {
  const KernelImage& image = definition_.image;
  KernelLayout open_layout;
  if (image.parameter_count > 0) {
    EMBER_ASSIGN_OR_RETURN(open_layout,
                           LayOutKernel(image, call.parameters, kAlignment));
  }
  EMBER_RETURN_IF_ERROR(CheckAlignment(call.buffers));
  return RunPhases(image.prologue_count, image.phases.size(),
                   image.parameter_count == 0 ? constant_layout_ : open_layout,
                   call, call.buffers);
}

Status CpuKernel::RunPhases(size_t first, size_t end,
                            const KernelLayout& layout, const KernelCall& call,
                            std::span<void* const> arguments) const {
  const std::vector<KernelBuffer>& buffers = definition_.image.buffers;
  const int workers = call.runner.worker_count();
  alignas(kAlignment) uint8_t small[kStackBytes];
  ScratchBlocks::Block block;
  const int64_t bytes = layout.call_bytes + layout.task_bytes * workers;
  const bool is_small = bytes <= kStackBytes;
  const Charge charge(is_small ? nullptr : call.budget, bytes);
  if (!charge.status().ok()) {
    return charge.status().WithContext(
        Concat({"dispatch @", definition_.image.dispatch, ": temporaries"}));
  }
  if (!is_small) {
    block = scratch_->Take(bytes);
    if (block.memory == nullptr) {
      return ResourceExhaustedError(
          Concat({"dispatch @", definition_.image.dispatch,
                  ": no memory for temporaries of ", bytes, " bytes"}));
    }
  }
  // Each worker has its own array of pointers to the kernel's buffers, because
  // the kTask buffers (temporaries of one task) are at a different address for
  // each worker.
  const size_t count = buffers.size();
  CallArray<void*, 32> pointers(count * static_cast<size_t>(workers));
  auto* const base =
      is_small ? small : static_cast<uint8_t*>(block.memory.get());
  for (int worker = 0; worker < workers; ++worker) {
    void** const row = pointers.data() + count * static_cast<size_t>(worker);
    for (size_t i = 0; i < count; ++i) {
      switch (buffers[i].scope) {
        case KernelScope::kInput:
        case KernelScope::kOutput:
          row[i] = i < arguments.size() ? arguments[i] : nullptr;
          break;
        case KernelScope::kPacked:
          row[i] = packed_pointers_[i];
          break;
        case KernelScope::kCall:
          row[i] = base + layout.offsets[i];
          break;
        case KernelScope::kTask:
          row[i] = base + layout.call_bytes + layout.task_bytes * worker +
                   layout.offsets[i];
          break;
        case KernelScope::kRegister:
          row[i] = nullptr;
          break;
      }
    }
  }
  CallArray<IndexFailure, 4> failures(static_cast<size_t>(workers));
  std::atomic<int> failed{-1};
  const Interrupt* const interrupt = call.runner.interrupt();
  for (size_t i = first; i < end && failed.load() < 0; ++i) {
    if (interrupt != nullptr && interrupt->ShouldStop()) break;
    const PhaseFunction run = definition_.functions[i];
    const int64_t tasks = layout.phase_tasks[i];
    const int64_t chunks = std::min(
        tasks,
        std::max<int64_t>(workers == 1 ? 1 : workers * kChunksPerWorker,
                          std::min(call.points / kPointsPerChunk, kMaxChunks)));
    const auto run_chunk = [&](int64_t chunk, int worker) {
      const size_t w = static_cast<size_t>(worker);
      if (run(call.parameters.data(), pointers.data() + count * w,
              PartOf(tasks, chunk, chunks), PartOf(tasks, chunk + 1, chunks),
              &failures[w]) != 0) {
        failed.store(worker);
      }
    };
    if (chunks == 1) {
      run_chunk(0, 0);
    } else if (workers == 1) {
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        if (interrupt != nullptr && interrupt->ShouldStop()) break;
        run_chunk(chunk, 0);
      }
    } else if (chunks > 1) {
      ChunkRanges ranges(chunks, workers);
      call.runner.Run(chunks, [&](int64_t, int worker) {
        run_chunk(ranges.Take(worker), worker);
      });
    }
  }
  if (block.memory != nullptr) scratch_->Return(std::move(block));
  const int worker = failed.load();
  if (worker < 0) return OkStatus();
  const IndexFailure& failure = failures[static_cast<size_t>(worker)];
  return FailedCheck(
      definition_.image.dispatch,
      failure.buffer < count ? buffers[failure.buffer].name : std::string(),
      failure.dim, failure.index, failure.extent);
}

}  // namespace ember::vm
