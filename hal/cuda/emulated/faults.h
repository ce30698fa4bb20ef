// Records the calls of the emulated library and makes one of them fail.
//
//   if (const CUresult fault = calls.Note("cuMemAlloc_v2")) return fault;
//
// Not thread-safe: the caller holds a lock.
#ifndef EMBER_HAL_CUDA_EMULATED_FAULTS_H_
#define EMBER_HAL_CUDA_EMULATED_FAULTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "hal/cuda/api/functions.h"

namespace ember::hal::cuda {

class Calls {
 public:
  // Forgets all recorded calls and sets the call that will fail. `fault` is
  // "FUNCTION:CALL:RESULT", where "*" as the function means any function. If it
  // is empty, no call will fail.
  void Begin(std::string_view fault);
  // Records a call of a CUDA function. Returns 0, or the error that the call
  // must return without doing anything.
  CUresult Note(std::string_view symbol);

  // Returns the names of the recorded calls one after another, each followed by
  // a zero byte.
  const std::string& names() const { return names_; }
  int64_t faults() const { return faults_; }

 private:
  std::string names_;
  int64_t count_ = 0;
  std::map<std::string, int64_t, std::less<>> counts_;
  std::string fault_function_;
  // The number of the call of fault_function_ that must fail, counted from 1; 0
  // if none must.
  int64_t fault_call_ = 0;
  CUresult fault_result_ = 0;
  int64_t faults_ = 0;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_FAULTS_H_
