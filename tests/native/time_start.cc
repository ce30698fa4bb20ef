// Measures the time from the start of a process to its first result, for an
// application that has a module with kernels and no compiler.
//
//   time_start MODEL.vmfb [--allow-native] [--inputs=DIR] [--runs=N]
//       [--cpu]
//
// One thread. Prints one JSON object as soon as the first result is there,
// {"map_ms", "verify_ms", "kernels_ms", "session_ms", "inputs_ms", "run_ms",
// "first_ms", "calls", "kernel_calls", "run_faults"}: mapping the file; reading
// and verifying the module; installing kernels, and packing weights that are
// not packed in the file; making the session; making the inputs, which are the
// caller's and not in first_ms; the first run. After N more runs (20) it prints
// another: {"median_ms"}. With --cpu the times are CPU times of the process,
// which other programs on the machine change less. tools/start_times.py
// compares it with ONNX Runtime.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "hal/cpu/device.h"
#include "tests/native/inputs.h"
#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

struct Arguments {
  std::string path, inputs;
  bool allow_native = false, of_processor = false;
  int runs = 20;
};

bool ParseArguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--allow-native") {
      arguments.allow_native = true;
    } else if (argument == "--cpu") {
      arguments.of_processor = true;
    } else if (argument.starts_with("--inputs=")) {
      arguments.inputs = argument.substr(std::strlen("--inputs="));
    } else if (argument.starts_with("--runs=")) {
      arguments.runs = std::atoi(argv[i] + std::strlen("--runs="));
    } else if (argument.starts_with("-") || !arguments.path.empty()) {
      return false;
    } else {
      arguments.path = argument;
    }
  }
  return !arguments.path.empty() && arguments.runs > 0;
}

// A stopwatch. It returns the milliseconds since it was made or since its last
// lap, as wall time or as CPU time of this process.
class Watch {
 public:
  explicit Watch(bool of_processor)
      : clock_(of_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC),
        last_(Now()) {}
  double Lap() {
    const double now = Now();
    return now - std::exchange(last_, now);
  }

 private:
  double Now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) * 1e3 +
           static_cast<double>(time.tv_nsec) * 1e-6;
  }
  clockid_t clock_;
  double last_;
};

// Returns the number of page faults so far: pages of memory that the system
// provided at their first use.
int64_t PageFaults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

Status Run(const Arguments& arguments) {
  Watch watch(arguments.of_processor);
  EMBER_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(arguments.path));
  const auto file = std::make_shared<MappedFile>(std::move(mapped));
  const double map = watch.Lap();
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Module> module,
                         Module::Load(file->bytes(), file));
  const double verify = watch.Lap();
  SessionOptions options;
  EMBER_ASSIGN_OR_RETURN(options.device, hal::CreateCpuDevice({.threads = 1}));
  if (arguments.allow_native) {
    options.tiering =
        std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
    const NativeReport report = InstallNativeKernels(*options.tiering);
    if (report.kernels == 0) return FailedPreconditionError(report.Text());
  }
  const double kernels = watch.Lap();
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(module, options));
  const double create = watch.Lap();
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         InputsOf(*module, arguments.inputs, 0));
  const double make_inputs = watch.Lap();
  std::vector<Tensor> results;
  const int64_t faults_before = PageFaults();
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  const double run = watch.Lap();
  const int64_t faults = PageFaults() - faults_before;
  int64_t calls = 0, kernel_calls = 0;
  for (const SiteProfile& site : session->Profile()) {
    calls += site.calls;
    kernel_calls += site.tier_calls[2];
  }
  std::printf(
      "{\"map_ms\": %.4f, \"verify_ms\": %.4f, \"kernels_ms\": %.4f, "
      "\"session_ms\": %.4f, \"inputs_ms\": %.4f, \"run_ms\": %.4f, "
      "\"first_ms\": %.4f, \"calls\": %lld, \"kernel_calls\": %lld, "
      "\"run_faults\": %lld}\n",
      map, verify, kernels, create, make_inputs, run,
      map + verify + kernels + create + run, static_cast<long long>(calls),
      static_cast<long long>(kernel_calls), static_cast<long long>(faults));
  std::fflush(stdout);
  std::vector<double> times;
  for (int i = 0; i < arguments.runs; ++i) {
    watch.Lap();
    EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
    times.push_back(watch.Lap());
  }
  std::ranges::nth_element(times, times.begin() + arguments.runs / 2);
  std::printf("{\"median_ms\": %.4f}\n",
              times[static_cast<size_t>(arguments.runs) / 2]);
  return OkStatus();
}

}  // namespace
}  // namespace ember::vm

int main(int argc, char** argv) {
  ember::vm::Arguments arguments;
  if (!ember::vm::ParseArguments(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: %s MODEL.vmfb [--allow-native] [--inputs=DIR] "
                 "[--runs=N] [--cpu]\n",
                 argv[0]);
    return 2;
  }
  const ember::Status status = ember::vm::Run(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
