// Memory of the caller to which results are written. Internal to sessions.
//
//   ResultBuffers buffers(module);
//   EMBER_RETURN_IF_ERROR(buffers.Set({{data, bytes}, {}}));
//   EMBER_RETURN_IF_ERROR(buffers.Check(inputs));       // a run begins
//   if (buffers.Has(0)) EMBER_RETURN_IF_ERROR(buffers.Put(0, data, result));
//
// Not thread-safe. Errors name the result, what was expected and what was
// found.
#ifndef EMBER_VM_RUNTIME_PROGRAM_RESULT_BUFFERS_H_
#define EMBER_VM_RUNTIME_PROGRAM_RESULT_BUFFERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"
#include "vm/runtime/program/in_place.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

class ResultBuffers {
 public:
  // Makes an object in which no result has a buffer. The module must outlive
  // it.
  explicit ResultBuffers(const Module& module) : module_(module) {}

  // Sets the caller's memory for results, as Session::SetResultBuffers
  // describes.
  Status Set(std::vector<ResultBuffer> buffers);
  // Checks that the buffers do not overlap the inputs, because a dispatch may
  // read an input after a result has been written.
  Status Check(std::span<const Tensor> inputs) const;

  // Allows runs to overwrite inputs, as Session::AllowOverwriting describes.
  void AllowOverwriting(const std::vector<bool>& inputs);
  // Returns the number of the input whose memory an Allocate instruction of the
  // entry program may take; -1: none.
  int64_t InputFor(size_t instruction) const {
    for (const InPlaceAllocation& allocation : in_place_) {
      if (allocation.instruction == instruction) return allocation.input;
    }
    return -1;
  }
  bool has_in_place() const { return !in_place_.empty(); }
  std::span<const InPlaceAllocation> in_place() const { return in_place_; }

  bool Has(size_t result) const {
    return result < buffers_.size() && buffers_[result].data != nullptr;
  }
  // Copies `data`, of result.byte_size bytes, to the buffer of result number
  // `index`. The tensor `result` then refers to the buffer.
  Status Put(size_t index, const void* data, Tensor& result) const;

 private:
  const Module& module_;
  // for each result, the caller's memory for it, or an empty buffer; the list
  // may be empty
  std::vector<ResultBuffer> buffers_;
  std::vector<InPlaceAllocation> in_place_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_RESULT_BUFFERS_H_
