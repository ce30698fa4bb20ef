// What a session does differently whose device is not the host: inputs and
// results lie elsewhere, library functions work on the host.
#include <cstring>

#include "base/concat.h"
#include "vm/runtime/program_runner.h"

namespace ember::vm {

Status ProgramRunner::BindOnDevice(size_t input, const Tensor& tensor) {
  MemoryReference& reference = frames_[0].inputs[input];
  EMBER_ASSIGN_OR_RETURN(
      reference, device_->InputPlace(input, tensor.byte_size, *memory_.pool()));
  if (tensor.strings != nullptr) {
    EMBER_RETURN_IF_ERROR(strings_->Intern(
        *tensor.strings, reinterpret_cast<int64_t*>(reference.data)));
  } else if (tensor.byte_size > 0) {
    std::memcpy(reference.data, tensor.data,
                static_cast<size_t>(tensor.byte_size));
  }
  memory_.AfterWrite(reference, tensor.byte_size);
  HostWork uncounted;
  const HostAccess access = {reference, true};
  return device_->EndHost({&access, 1}, uncounted);
}

// Functions write to working memory of the pool, which commands that wait may
// still use: all of them are waited for.
Status ProgramRunner::BeginLibraryCall(const ProgramInstruction& in) {
  const LibraryFunctionInfo info = LibraryInfoOf(in.a);
  const uint32_t* const operands = frame_->program->operands.data() + in.b;
  accesses_.clear();
  for (size_t i = 0; i < info.operands.size(); ++i) {
    const char kind = info.operands[i];
    if (kind != 'i' && kind != 'I' && kind != 'B')
      accesses_.push_back({buffers_[operands[i]], kind == 'w'});
  }
  const InstructionPlace place = PlaceOf(in);
  return device_->BeginHost(accesses_, true,
                            device_->WorkOf(place.program, place.instruction));
}

Status ProgramRunner::EndLibraryCall(const ProgramInstruction& in,
                                     const LibraryCall& call) {
  for (const LibraryMemory& made : call.allocated)
    accesses_.push_back({{made.data, made.length, made.block}, true});
  const InstructionPlace place = PlaceOf(in);
  return device_->EndHost(accesses_,
                          device_->WorkOf(place.program, place.instruction));
}

Status ProgramRunner::EndOnDevice(Status status, std::vector<Tensor>& results) {
  // What was appended comes before whatever has failed meanwhile.
  Status flushed = device_->Flush();
  if (!flushed.ok() && (status.ok() || device_->failed_site() >= 0))
    status = std::move(flushed);
  if (const int64_t failed = device_->failed_site(); failed >= 0) {
    const uint32_t program =
        dispatches_->site(static_cast<uint32_t>(failed)).program;
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
        device_->TakeResult(i, memory_.pool(), &result.data);
    if (memory.ok()) {
      result.memory = *std::move(memory);
      status = places_.Has(i)
                   ? places_.Put(i, result.data, result)
                   : ResolveStrings(frames_[0].program->results[i], result);
    } else {
      status = memory.status();
    }
  }
  device_->EndRun();
  return status;
}

}  // namespace ember::vm
