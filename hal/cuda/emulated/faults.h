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
  // "FUNCTION:CALL:RESULT", with "*" for any function; empty: no call fails.
  void Begin(std::string_view fault);
  // Records a call. Returns the result that it must return without doing
  // anything; 0 means that it proceeds.
  CUresult Note(std::string_view symbol);

  // Returns the names of the recorded calls one after another, each ended by a
  // zero.
  const std::string& names() const { return names_; }
  int64_t faults() const { return faults_; }

 private:
  std::string names_;
  int64_t count_ = 0;
  std::map<std::string, int64_t, std::less<>> counts_;
  std::string fault_function_;
  int64_t fault_call_ = 0;  // number of the call that fails; 0: none
  CUresult fault_result_ = 0;
  int64_t faults_ = 0;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_FAULTS_H_
