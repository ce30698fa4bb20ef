// Which calls of the emulated library there were, and which is to fail.
//
//   if (const CUresult fault = calls.Note("cuMemAlloc_v2")) return fault;
//
// Not thread-safe: whoever has it has a lock.
#ifndef EMBER_HAL_CUDA_EMULATED_FAULTS_H_
#define EMBER_HAL_CUDA_EMULATED_FAULTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "hal/cuda/functions.h"

namespace ember::hal::cuda {

class Calls {
 public:
  // Forgets all calls. fault: "FUNCTION:CALL:RESULT", "*" for any function, or
  // nothing.
  void Begin(std::string_view fault);
  // What the call is to give instead of doing anything; 0: it goes on.
  CUresult Note(std::string_view symbol);

  // Names one after another, each ended by a zero.
  const std::string& names() const { return names_; }
  int64_t faults() const { return faults_; }

 private:
  std::string names_;
  int64_t count_ = 0;
  std::map<std::string, int64_t, std::less<>> counts_;
  std::string fault_function_;
  int64_t fault_call_ = 0;  // 0: none
  CUresult fault_result_ = 0;
  int64_t faults_ = 0;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_FAULTS_H_
