// Kernels of the C API: compiling, running, measuring.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>

#include "hal/cpu/thread_pool.h"
#include "jit/backend/decline_reasons.h"
#include "jit/backend/describe_nest.h"
#include "jit/backend/host_kernel.h"
#include "jit/llvm/library/llvm_library.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/registry/backends.h"
#include "jit/target/peak.h"
#include "jit/te_api/objects.h"
#include "jit/te_api/targets.h"

namespace ember::te_api {
namespace {

constexpr size_t kLeastCompileOptions =
    offsetof(EmberTeCompileOptions, threads) + sizeof(int32_t);
constexpr size_t kLeastTimeOptions =
    offsetof(EmberTeTimeOptions, seconds) + sizeof(double);
constexpr int32_t kMaxThreads = 1024;

// --- compiling ---

// A compiler that loads LLVM's library in the first call of Compile. Back ends
// that do not need LLVM never call Compile.
class LlvmWhenNeeded final : public jit::Compiler {
 public:
  StatusOr<std::unique_ptr<jit::CompiledNest>> Compile(
      const loops::LoopNest& nest,
      const jit::CompileOptions& options) override {
    EMBER_ASSIGN_OR_RETURN(jit::Compiler* const compiler, Made());
    return compiler->Compile(nest, options);
  }

 private:
  // Returns the process's only compiler, which all kernels share; the first
  // call makes it.
  static StatusOr<jit::Compiler*> Made() {
    static std::mutex mutex;
    static std::unique_ptr<jit::ObjectCompiler>* const compiler =
        new std::unique_ptr<jit::ObjectCompiler>;
    const std::lock_guard<std::mutex> lock(mutex);
    if (*compiler == nullptr) {
      EMBER_ASSIGN_OR_RETURN(*compiler, jit::llvm_ir::LoadLlvmCompiler());
    }
    return compiler->get();
  }
};

StatusOr<std::unique_ptr<EmberTeKernel>> Compile(
    const EmberTeSchedule& schedule, const EmberTeCompileOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return InvalidArgumentError(Concat(
        {"threads: expected 0 to ", kMaxThreads, ", found ", options.threads}));
  }
  const std::string_view name =
      options.target == nullptr ? "host" : options.target;
  auto kernel = std::make_unique<EmberTeKernel>();
  kernel->data = schedule.data;
  EMBER_ASSIGN_OR_RETURN(kernel->target, TargetForCode(name));
  vm::KernelRequest request;
  request.dispatch = &schedule.data->dispatch;
  request.target = kernel->target;
  request.tier = 2;
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest,
                         schedule::Lower(schedule.schedule));
  if (const Status status = loops::Verify(nest); !status.ok())
    return jit::Decline(jit::DeclineReason::kNoProof, status.message());
  LlvmWhenNeeded compiler;
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<jit::CompiledNest> code,
      jit::BackendFor(request.target)
          .compile(request, nest, {.compiler = compiler}, &kernel->code));
  vm::KernelImage image =
      jit::ImageOf(request, nest, schedule.schedule.ErrorGrowth(), code->code);
  if (!image.code.is_machine_code()) return kernel;
  EMBER_ASSIGN_OR_RETURN(kernel->host,
                         vm::CpuKernel::Create(jit::DefineKernel(
                             std::move(image), std::move(code), {}, "")));
  if (options.threads > 1) {
    kernel->runner = std::make_unique<hal::ThreadPool>(options.threads);
  } else {
    kernel->runner = std::make_unique<SerialRunner>();
  }
  return kernel;
}

// --- running ---

Status CheckRuns(const EmberTeKernel& kernel) {
  if (kernel.host != nullptr) return OkStatus();
  return FailedPreconditionError(Concat(
      {"kernel @", kernel.data->dispatch.name,
       ": expected one for this machine, found one for ", kernel.target}));
}

Status RunBound(const EmberTeKernel& kernel, const BoundCall& bound) {
  if (bound.interrupt == nullptr) {
    return kernel.host->Run({.parameters = bound.parameters,
                             .buffers = bound.buffers,
                             .runner = *kernel.runner});
  }
  InterruptibleRunner runner(*kernel.runner, *bound.interrupt);
  EMBER_RETURN_IF_ERROR(kernel.host->Run({.parameters = bound.parameters,
                                          .buffers = bound.buffers,
                                          .runner = runner,
                                          .points = bound.points}));
  return bound.interrupt->status();
}

Status Run(const EmberTeKernel& kernel, const EmberTeCall& call) {
  EMBER_RETURN_IF_ERROR(CheckRuns(kernel));
  EMBER_ASSIGN_OR_RETURN(const BoundCall bound,
                         Bind(kernel.data->dispatch, call));
  return RunBound(kernel, bound);
}

// --- measuring ---

using Clock = std::chrono::steady_clock;

// Least duration of a measured sample in nanoseconds. A shorter call is
// repeated within the sample.
constexpr double kLeastSampleNs = 20'000;
// Least number of rounds, which is kept even if the time is over.
constexpr size_t kLeastRounds = 3;
constexpr size_t kMaxRounds = 1'000'000;

double NsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

struct Runner {
  const EmberTeKernel* kernel;
  BoundCall bound;
  int repeats = 1;
  std::vector<double> samples;  // measured times of one call, in ns

  Status Measure(double& ns) const {
    const auto start = Clock::now();
    for (int i = 0; i < repeats; ++i)
      EMBER_RETURN_IF_ERROR(RunBound(*kernel, bound));
    ns = NsSince(start) / repeats;
    return OkStatus();
  }

  // Calls the kernel twice, and sets how many calls a sample has.
  Status Prepare() {
    double ns = 0;
    EMBER_RETURN_IF_ERROR(Measure(ns));
    EMBER_RETURN_IF_ERROR(Measure(ns));
    repeats = static_cast<int>(
        std::clamp(kLeastSampleNs / std::max(ns, 1.0), 1.0, 10'000.0));
    return OkStatus();
  }
};

StatusOr<std::vector<Runner>> RunnersOf(const EmberTeKernel* const* kernels,
                                        const EmberTeCall* const* calls,
                                        int32_t count) {
  std::vector<Runner> runners;
  for (int32_t i = 0; i < count; ++i) {
    if (kernels[i] == nullptr || calls[i] == nullptr)
      return InvalidArgumentError("kernels: expected pointers, found NULL");
    EMBER_RETURN_IF_ERROR(CheckRuns(*kernels[i]));
    EMBER_ASSIGN_OR_RETURN(BoundCall bound,
                           Bind(kernels[i]->data->dispatch, *calls[i]));
    runners.push_back({kernels[i], std::move(bound), 1, {}});
    EMBER_RETURN_IF_ERROR(runners.back().Prepare());
  }
  return runners;
}

Status Time(const EmberTeKernel* const* kernels,
            const EmberTeCall* const* calls, int32_t count, double seconds,
            double* median, double* least) {
  EMBER_ASSIGN_OR_RETURN(std::vector<Runner> runners,
                         RunnersOf(kernels, calls, count));
  const auto start = Clock::now();
  for (size_t round = 0; round < kMaxRounds; ++round) {
    if (round >= kLeastRounds && NsSince(start) > seconds * 1e9) break;
    for (Runner& runner : runners)
      EMBER_RETURN_IF_ERROR(runner.Measure(runner.samples.emplace_back()));
  }
  for (size_t i = 0; i < runners.size(); ++i) {
    std::vector<double>& samples = runners[i].samples;
    std::ranges::sort(samples);
    if (median != nullptr) median[i] = samples[samples.size() / 2];
    if (least != nullptr) least[i] = samples.front();
  }
  return OkStatus();
}

}  // namespace

EmberStatus KernelCompile(const EmberTeSchedule* schedule,
                          const EmberTeCompileOptions* options,
                          EmberTeKernel** kernel) {
  if (kernel != nullptr) *kernel = nullptr;
  if (schedule == nullptr || kernel == nullptr)
    return ReportNull("kernel_compile");
  EmberTeCompileOptions read = {};
  if (options != nullptr) {
    const auto given = Read(*options, kLeastCompileOptions, "options");
    if (!given.ok()) return Report(given.status());
    read = *given;
  }
  auto compiled = Compile(*schedule, read);
  if (!compiled.ok()) return Report(compiled.status());
  *kernel = compiled->release();
  return EMBER_OK;
}

void KernelRelease(EmberTeKernel* kernel) { delete kernel; }

const char* KernelTarget(const EmberTeKernel* kernel) {
  return kernel == nullptr ? "" : kernel->target.c_str();
}

EmberStatus KernelCode(const EmberTeKernel* kernel, int32_t index,
                       const char** extension, const char** text) {
  if (kernel == nullptr || extension == nullptr || text == nullptr)
    return ReportNull("kernel_code");
  const auto at = static_cast<size_t>(index);
  if (index < 0 || at >= kernel->code.size()) {
    return Report(
        NotFoundError(Concat({"code: expected an index below ",
                              kernel->code.size(), ", found ", index})));
  }
  *extension = kernel->code[at].extension.c_str();
  *text = kernel->code[at].text.c_str();
  return EMBER_OK;
}

EmberStatus KernelRun(const EmberTeKernel* kernel, const EmberTeCall* call) {
  if (kernel == nullptr || call == nullptr) return ReportNull("kernel_run");
  return Report(Run(*kernel, *call));
}

EmberStatus KernelsTime(const EmberTeKernel* const* kernels,
                        const EmberTeCall* const* calls, int32_t count,
                        const EmberTeTimeOptions* options, double* median,
                        double* least) {
  if (kernels == nullptr || calls == nullptr || count < 1)
    return ReportNull("kernels_time");
  double seconds = 1;
  if (options != nullptr) {
    const auto given = Read(*options, kLeastTimeOptions, "options");
    if (!given.ok()) return Report(given.status());
    if (given->seconds > 0) seconds = std::min(given->seconds, 3600.0);
  }
  return Report(Time(kernels, calls, count, seconds, median, least));
}

EmberStatus MachinePeak(int32_t threads, double seconds, double* gflops) {
  if (gflops == nullptr) return ReportNull("machine_peak");
  *gflops = 0;
  if (threads < 1 || threads > kMaxThreads) {
    return Report(InvalidArgumentError(
        Concat({"threads: expected 1 to ", kMaxThreads, ", found ", threads})));
  }
  if (!(seconds >= 0 && seconds <= 60)) {
    return Report(InvalidArgumentError(
        "seconds: expected 0 to 60, found another number"));
  }
  *gflops = jit::MeasureFmaPeak(threads, seconds);
  return EMBER_OK;
}

}  // namespace ember::te_api
