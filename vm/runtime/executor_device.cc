// How a session runs on a device that is not the host: what becomes commands,
// and what the host does between them.
#include <cstring>

#include "base/concat.h"
#include "vm/runtime/executor.h"

namespace ember::vm {
Status Executor::BindOnDevice(size_t input, const Tensor& tensor) {
  MemoryReference& reference = frames_[0].inputs[input];
  EMBER_ASSIGN_OR_RETURN(reference,
                         device_->InputPlace(input, tensor.byte_size, *pool_));
  if (tensor.strings != nullptr) {
    EMBER_RETURN_IF_ERROR(strings_->Intern(
        *tensor.strings, reinterpret_cast<int64_t*>(reference.data)));
  } else if (tensor.byte_size > 0) {
    std::memcpy(reference.data, tensor.data,
                static_cast<size_t>(tensor.byte_size));
  }
  AfterWrite(reference, tensor.byte_size);
  HostWork uncounted;
  const HostAccess access = {reference, true};
  return device_->EndHost({&access, 1}, uncounted);
}

Status Executor::RunOnDevice(SiteState& site) {
  PlanEntry& entry = *site.entry;
  if (site.slot != nullptr) {
    RequestKernels(site);
    if (site.slot->kernels() != entry.seen) ChooseKernel(site);
  }
  ++entry.calls;
  int64_t begin = 0;
  if (is_profiled_) {
    EMBER_RETURN_IF_ERROR(device_->Flush());
    begin = options_.clock();
  }
  const uint32_t* const registers = site.operands + site.parameter_count;
  references_.resize(site.buffer_count);
  for (uint32_t i = 0; i < site.buffer_count; ++i)
    references_[i] = buffers_[registers[i]];
  bool is_appended = false;
  const char* reason = "";
  if (entry.kernel != nullptr && entry.kernel->is_recorded()) {
    const tensor::Dispatch& dispatch =
        module_->definition().dispatches[site.dispatch];
    EMBER_ASSIGN_OR_RETURN(
        is_appended,
        device_->Append(
            {.site = site.number,
             .kernel = entry.kernel,
             .parameters = entry.parameters,
             .buffers = references_,
             .input_count = static_cast<uint32_t>(dispatch.input_count()),
             .required_bytes = entry.required_bytes.data()},
            &reason));
  }
  if (is_appended) {
    ++site.device_calls;
    ++site.kernel_calls[entry.kernel_tier - 1];
    site.last_tier = entry.kernel_tier;
    entry.plan.reset();
    if (is_profiled_) EMBER_RETURN_IF_ERROR(device_->Flush());
  } else {
    EMBER_RETURN_IF_ERROR(RunOnHost(site, reason));
  }
  if (!is_profiled_) return OkStatus();
  const int64_t end = options_.clock();
  site.total_ns += end - begin;
  if (options_.trace) Trace(site, begin, end);
  return OkStatus();
}

Status Executor::RunOnHost(SiteState& site, const char* reason) {
  PlanEntry& entry = *site.entry;
  const size_t inputs =
      module_->definition().dispatches[site.dispatch].input_count();
  accesses_.resize(references_.size());
  for (size_t i = 0; i < accesses_.size(); ++i) {
    accesses_[i] = {references_[i], i >= inputs};
    accesses_[i].memory.length = entry.required_bytes[i];
  }
  HostWork& work = device_->WorkOf(site.program, site.instruction);
  const bool has_host_kernel =
      entry.kernel != nullptr && !entry.kernel->is_recorded();
  work.reason = has_host_kernel ? "its kernel is for the host" : reason;
  EMBER_RETURN_IF_ERROR(device_->BeginHost(accesses_, false, work));
  site.last_tier = has_host_kernel ? entry.kernel_tier : 0;
  EMBER_RETURN_IF_ERROR(
      RunWith(site, has_host_kernel ? entry.kernel : nullptr));
  return device_->EndHost(accesses_, work);
}

HostWork& Executor::WorkOf(const ProgramInstruction& in) {
  return device_->WorkOf(static_cast<uint32_t>(frame_ - frames_.get()),
                         static_cast<uint32_t>(&in - frame_->code.data()));
}

Status Executor::BeginHost(const ProgramInstruction& in,
                           const MemoryReference& memory, bool writes) {
  const HostAccess access = {memory, writes};
  return device_->BeginHost({&access, 1}, false, WorkOf(in));
}

Status Executor::EndHost(const ProgramInstruction& in,
                         const MemoryReference& memory) {
  const HostAccess access = {memory, true};
  return device_->EndHost({&access, 1}, WorkOf(in));
}

// Functions write to working memory of the pool, which commands that wait may
// still use: all of them are waited for.
Status Executor::BeginLibraryCall(const ProgramInstruction& in,
                                  const LibraryCall& call) {
  const LibraryFunctionInfo info = LibraryInfoOf(in.a);
  const uint32_t* const operands = frame_->program->operands.data() + in.b;
  accesses_.clear();
  for (size_t i = 0; i < info.operands.size(); ++i) {
    const char kind = info.operands[i];
    if (kind != 'i' && kind != 'I' && kind != 'B')
      accesses_.push_back({buffers_[operands[i]], kind == 'w'});
  }
  return device_->BeginHost(accesses_, true, WorkOf(in));
}

Status Executor::EndLibraryCall(const ProgramInstruction& in,
                                const LibraryCall& call) {
  for (const LibraryMemory& made : call.allocated)
    accesses_.push_back({{made.data, made.length, made.block}, true});
  return device_->EndHost(accesses_, WorkOf(in));
}

Status Executor::CopyOnDevice(const ProgramInstruction& in,
                              const MemoryReference& source,
                              const MemoryReference& target) {
  const bool overlaps = source.data < target.data + target.length &&
                        target.data < source.data + source.length;
  if (!overlaps) return device_->Copy(source, target);
  const HostAccess accesses[2] = {{source, false}, {target, true}};
  EMBER_RETURN_IF_ERROR(device_->BeginHost(accesses, false, WorkOf(in)));
  std::memmove(target.data, source.data, static_cast<size_t>(source.length));
  return device_->EndHost(accesses, WorkOf(in));
}

Status Executor::EndOnDevice(Status status, std::vector<Tensor>& results) {
  // What was appended comes before whatever has failed meanwhile.
  Status flushed = device_->Flush();
  if (!flushed.ok() && (status.ok() || device_->failed_site() >= 0))
    status = std::move(flushed);
  if (const int64_t failed = device_->failed_site(); failed >= 0) {
    const uint32_t program = sites_[static_cast<size_t>(failed)].program;
    if (program > 0) {
      status = status.WithContext(
          Concat({"program ", frames_[program].program->name}));
    }
    // The program that runs now is not the one to be named.
    for (; frame_ != &frames_[0]; frame_ = frame_->caller)
      DropRegisters(*frame_);
  }
  for (size_t i = 0; status.ok() && i < results.size(); ++i) {
    Tensor& result = results[i];
    StatusOr<std::shared_ptr<void>> memory =
        device_->TakeResult(i, pool_, &result.data);
    if (memory.ok()) {
      result.memory = *std::move(memory);
      status = HasPlace(i)
                   ? PutInPlace(i, result.data, result)
                   : ResolveStrings(frames_[0].program->results[i], result);
    } else {
      status = memory.status();
    }
  }
  device_->EndRun();
  return status;
}

}  // namespace ember::vm
