// The objects behind the handles of the C API for kernels, and the functions
// that its table has. The functions have C types and return a status; each
// checks its pointers.
#ifndef EMBER_JIT_TE_API_OBJECTS_H_
#define EMBER_JIT_TE_API_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/status.h"
#include "jit/backend/kernel_report.h"
#include "jit/schedule/core/schedule.h"
#include "jit/te_api/ember_te.h"
#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"
#include "vm/runtime/kernels/cpu_kernel.h"

namespace ember::te_api {

struct DispatchData {
  tensor::Dispatch dispatch;
  std::string text;
  // the dims of each buffer; -1 if a dim depends on the call
  std::vector<std::vector<int64_t>> dims;
};

}  // namespace ember::te_api

struct EmberTeStop {
  ember::Interrupt interrupt;
};

struct EmberTeDispatch {
  std::shared_ptr<const ember::te_api::DispatchData> data;
};

struct EmberTeSchedule {
  std::shared_ptr<const ember::te_api::DispatchData> data;
  ember::schedule::Schedule schedule;
  // The texts that the last calls of schedule_text and schedule_nest returned.
  std::string text, nest;
};

struct EmberTeKernel {
  std::shared_ptr<const ember::te_api::DispatchData> data;
  std::string target;
  std::vector<ember::jit::CodeText> code;
  // The kernel as it runs on this machine; null if it was compiled for another
  // target.
  std::unique_ptr<ember::vm::CpuKernel> host;
  std::unique_ptr<ember::ParallelRunner> runner;
};

namespace ember::te_api {

// Stores the status's message as the calling thread's error_message() and
// returns its code.
EmberStatus Report(const Status& status);
// Stores the error message that an argument of the function was a null pointer,
// and returns its code.
EmberStatus ReportNull(const char* function);

// Copies the library's struct to the caller's, but not beyond the caller's
// struct_size.
template <typename Info>
void Fill(const Info& made, Info* info) {
  size_t size = info->struct_size;
  if (size > sizeof(Info)) size = sizeof(Info);
  if (size <= sizeof(size_t)) return;
  std::memcpy(reinterpret_cast<char*>(info) + sizeof(size_t),
              reinterpret_cast<const char*>(&made) + sizeof(size_t),
              size - sizeof(size_t));
}

// Copies the caller's options. Fields beyond the caller's struct_size are 0.
// least: size of the struct in version 1, which the caller's must have.
template <typename Options>
StatusOr<Options> Read(const Options& given, size_t least,
                       std::string_view name) {
  if (given.struct_size < least) {
    return InvalidArgumentError(
        Concat({name, ": expected a struct_size of ", least, " or more, found ",
                given.struct_size}));
  }
  Options options = {};
  std::memcpy(&options, &given,
              given.struct_size < sizeof(Options) ? given.struct_size
                                                  : sizeof(Options));
  return options;
}

// A call whose inputs were checked to fit the dispatch.
struct BoundCall {
  std::vector<int64_t> parameters;
  tensor::ConcreteHeader header;
  std::vector<void*> buffers;  // inputs, then outputs
  const Interrupt* interrupt = nullptr;
  // Number of points that all stages evaluate; computed only if the call has an
  // interrupt.
  int64_t points = 0;
};

// Checks the inputs of the call, and reads the values of the dispatch's
// parameters from their dims. Errors name the input.
StatusOr<BoundCall> BindInputs(const tensor::Dispatch& dispatch,
                               const EmberTeCall& call);
// Does the same as BindInputs, and also checks the outputs.
StatusOr<BoundCall> Bind(const tensor::Dispatch& dispatch,
                         const EmberTeCall& call);

// --- the functions of the table ---
const char* ErrorMessage();
EmberStatus StopCreate(EmberTeStop** stop);
void StopRequest(EmberTeStop* stop);
void StopRelease(EmberTeStop* stop);
EmberStatus DispatchParse(const EmberTeParseOptions* options,
                          EmberTeDispatch** dispatch);
void DispatchRelease(EmberTeDispatch* dispatch);
const char* DispatchName(const EmberTeDispatch* dispatch);
const char* DispatchText(const EmberTeDispatch* dispatch);
EmberStatus DispatchBuffer(const EmberTeDispatch* dispatch, int32_t index,
                           EmberTeBufferInfo* info);
EmberStatus DispatchOutputDims(const EmberTeDispatch* dispatch,
                               const EmberTeCall* call, int32_t output,
                               int64_t* dims);
EmberStatus DispatchEvaluate(const EmberTeDispatch* dispatch,
                             const EmberTeCall* call, int32_t in_f64);
EmberStatus ScheduleCreate(const EmberTeDispatch* dispatch,
                           const char* default_target,
                           EmberTeSchedule** schedule);
EmberStatus ScheduleCopy(const EmberTeSchedule* schedule,
                         EmberTeSchedule** copy);
void ScheduleRelease(EmberTeSchedule* schedule);
EmberStatus ScheduleApply(EmberTeSchedule* schedule, const char* line);
EmberStatus ScheduleReplay(EmberTeSchedule* schedule, const char* text);
const char* ScheduleText(EmberTeSchedule* schedule);
EmberStatus ScheduleNest(EmberTeSchedule* schedule, const char** text);
EmberStatus ScheduleStage(EmberTeSchedule* schedule, int32_t index,
                          EmberTeStageInfo* info);
EmberStatus ScheduleLoop(EmberTeSchedule* schedule, int32_t stage,
                         int32_t index, EmberTeLoopInfo* info);
EmberStatus PrimitiveInfoAt(int32_t index, EmberTePrimitiveInfo* info);
EmberStatus PrimitiveOperand(int32_t index, int32_t operand,
                             EmberTeOperandInfo* info);
EmberStatus KernelCompile(const EmberTeSchedule* schedule,
                          const EmberTeCompileOptions* options,
                          EmberTeKernel** kernel);
void KernelRelease(EmberTeKernel* kernel);
const char* KernelTarget(const EmberTeKernel* kernel);
EmberStatus KernelCode(const EmberTeKernel* kernel, int32_t index,
                       const char** extension, const char** text);
EmberStatus KernelRun(const EmberTeKernel* kernel, const EmberTeCall* call);
EmberStatus KernelsTime(const EmberTeKernel* const* kernels,
                        const EmberTeCall* const* calls, int32_t count,
                        const EmberTeTimeOptions* options, double* median,
                        double* least);
EmberStatus MachinePeak(int32_t threads, double seconds, double* gflops);

}  // namespace ember::te_api

#endif  // EMBER_JIT_TE_API_OBJECTS_H_
