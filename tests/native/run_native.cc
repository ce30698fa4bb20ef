// Runs a module with its native kernels and without them, in a process that has
// no compiler. Each kernel's first call with each shape is compared with tier
// 0, as the JIT's kernels are (jit/oracle), and so are the results of whole
// runs. The program is compiled for this machine, and cross-compiled for
// aarch64 and armhf, where an emulator runs it.
//
//   run_native MODEL.vmfb [--runs=N] [--expect-all] [--expect-target=T]
//   run_native MODEL.vmfb --inputs=DIR …             DIR/0.bin … are the inputs
//   run_native MODEL.vmfb --library=libmodel.so …    kernels of a shared object
//
// Exit status 0: as expected.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "hal/cpu/device.h"
#include "jit/oracle/oracle.h"
#include "tests/native/inputs.h"
#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

struct Arguments {
  std::string path, target, library, inputs;
  int runs = 3;
  // True (--expect-all) if a dispatch without a kernel is an error.
  bool expects_all = false;
};

bool ParseArguments(int argc, char** argv, Arguments& arguments) {
  const auto value_of = [](const char* argument, const char* flag) {
    const size_t size = std::strlen(flag);
    return std::strncmp(argument, flag, size) == 0 ? argument + size : nullptr;
  };
  for (int i = 1; i < argc; ++i) {
    if (const char* runs = value_of(argv[i], "--runs=")) {
      arguments.runs = std::atoi(runs);
    } else if (std::strcmp(argv[i], "--expect-all") == 0) {
      arguments.expects_all = true;
    } else if (const char* target = value_of(argv[i], "--expect-target=")) {
      arguments.target = target;
    } else if (const char* library = value_of(argv[i], "--library=")) {
      arguments.library = library;
    } else if (const char* inputs = value_of(argv[i], "--inputs=")) {
      arguments.inputs = inputs;
    } else if (argv[i][0] == '-' || !arguments.path.empty()) {
      return false;
    } else {
      arguments.path = argv[i];
    }
  }
  return !arguments.path.empty();
}

constexpr const char* kNoCompiler = "there is no compiler";

// A kernel provider that makes no kernels. It only compares the module's
// kernels with tier 0.
class JudgeOnly final : public KernelProvider {
 public:
  void RequestKernel(const KernelRequest&,
                     std::shared_ptr<KernelSlot> slot) override {
    slot->Decline(kNoCompiler);
  }
  std::shared_ptr<KernelJudge> judge() override { return judge_; }

 private:
  const std::shared_ptr<KernelJudge> judge_ =
      std::make_shared<jit::Oracle>(jit::OracleOptions{});
};

// Returns the largest difference of float results, relative to the largest
// magnitude. Infinite if results of other types differ at all.
double DifferenceOf(const Tensor& want, const Tensor& got) {
  if (want.type != DType::kF32) {
    const bool is_same = std::memcmp(want.data, got.data,
                                     static_cast<size_t>(want.byte_size)) == 0;
    return is_same ? 0 : INFINITY;
  }
  double difference = 0, magnitude = 0;
  for (size_t i = 0; i < want.elements<float>().size(); ++i) {
    const double a = want.elements<float>()[i], b = got.elements<float>()[i];
    if (std::isnan(a) != std::isnan(b)) return INFINITY;
    if (std::isnan(a)) continue;
    difference = std::max(difference, std::fabs(a - b));
    magnitude = std::max(magnitude, std::fabs(a));
  }
  return magnitude == 0 ? difference : difference / magnitude;
}

Status Differ(const std::string& what, const std::string& expected,
              const std::string& found) {
  return FailedPreconditionError(what + ": expected " + expected + ", found " +
                                 found);
}

bool HasCompilerInMemory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("LLVM") != std::string::npos) return true;
  }
  return false;
}

// Chooses the kernels that run: those in the module or, with --library, those
// of a shared object, which stays loaded.
StatusOr<NativeOptions> OptionsOf(const Arguments& arguments,
                                  const Module& module) {
  NativeOptions options;
  if (arguments.library.empty()) return options;
  options.uses_module = false;
  void* const library =
      dlopen(("./" + arguments.library).c_str(), RTLD_NOW | RTLD_LOCAL);
  const void* const table =
      library == nullptr ? nullptr : dlsym(library, "ember_kernels");
  if (table == nullptr) return Differ(arguments.library, "kernels", dlerror());
  EMBER_RETURN_IF_ERROR(CheckNativeTable(module, table));
  options.tables.push_back(table);
  return options;
}

// Returns an error if a slot reports that a kernel of the module was declined
// or withdrawn. A missing compiler is not an error.
Status CheckSlots(const Tiering& tiering) {
  for (const DispatchSite& site : tiering.module().sites()) {
    const KernelSlot& slot = *tiering.slot(site.group);
    const std::string& name =
        tiering.module().definition().dispatches[site.dispatch].name;
    for (const std::string& reason : slot.decline_reasons()) {
      if (reason == kNoCompiler) continue;
      return Differ("dispatch @" + name, "a kernel that is right", reason);
    }
  }
  return OkStatus();
}

Status Compare(const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Module> module,
                         Module::Load(arguments.path));
  SessionOptions options;
  EMBER_ASSIGN_OR_RETURN(options.device, hal::CreateCpuDevice({}));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Session> portable,
                         Session::Create(module, options));
  Tiering::Options policy;
  policy.keeps_slow_kernels = true;
  options.tiering =
      std::make_shared<Tiering>(module, std::make_shared<JudgeOnly>(), policy);
  EMBER_ASSIGN_OR_RETURN(NativeOptions natives, OptionsOf(arguments, *module));
  natives.checks_kernels = true;
  const NativeReport report = InstallNativeKernels(*options.tiering, natives);
  std::printf("%s\n", report.Text().c_str());
  for (const std::string& line : report.refused)
    std::printf("%s\n", line.c_str());
  if (arguments.expects_all && report.dispatches != report.all_dispatches) {
    return Differ("dispatches with kernels",
                  std::to_string(report.all_dispatches),
                  std::to_string(report.dispatches));
  }
  if (!arguments.target.empty() &&
      (report.targets.empty() || report.targets[0] != arguments.target)) {
    return Differ("target", arguments.target,
                  report.targets.empty() ? "none" : report.targets[0]);
  }
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Session> native,
                         Session::Create(module, options));
  // In so many runs the oracle compares each kernel's results with tier 0's. A
  // compared call returns tier 0's results, so the runs after them show the
  // kernels' own.
  constexpr int kChecked = 4;
  double largest = 0;
  uint64_t hash = 0;  // Hash of the results that tier 0 computes.
  for (int run = 0; run < kChecked + arguments.runs; ++run) {
    EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                           InputsOf(*module, arguments.inputs, run));
    std::vector<Tensor> want, got;
    EMBER_RETURN_IF_ERROR(portable->Run(inputs, &want));
    EMBER_RETURN_IF_ERROR(native->Run(inputs, &got));
    for (size_t i = 0; i < want.size(); ++i) {
      largest = std::max(largest, DifferenceOf(want[i], got[i]));
      hash =
          HashBytes(want[i].data, static_cast<size_t>(want[i].byte_size), hash);
    }
  }
  EMBER_RETURN_IF_ERROR(CheckSlots(*options.tiering));
  int64_t calls = 0;
  for (const SiteProfile& site : native->Profile()) calls += site.tier_calls[2];
  std::printf(
      "%lld calls of kernels; largest difference %.3g; tier 0's results "
      "%016llx\n",
      static_cast<long long>(calls), largest,
      static_cast<unsigned long long>(hash));
  if (report.kernels > 0 && calls == 0)
    return Differ("calls of kernels", "some", "none");
  // Largest allowed difference of the results of a whole run. Each dispatch has
  // its own tolerance; this one is for all dispatches one after the other.
  constexpr double kLargest = 1e-3;
  if (!(largest <= kLargest)) return Differ("results", "tier 0's", "others");
  if (HasCompilerInMemory())
    return Differ("memory", "no compiler", "LLVM's library");
  return OkStatus();
}

}  // namespace
}  // namespace ember::vm

int main(int argc, char** argv) {
  using namespace ember::vm;
  Arguments arguments;
  if (!ParseArguments(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: %s MODEL.vmfb [--runs=N] [--expect-all] "
                 "[--expect-target=T] [--library=FILE.so] [--inputs=DIR]\n",
                 argv[0]);
    return 2;
  }
  const ember::Status status = Compare(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
