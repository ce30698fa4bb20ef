// Implements Jit: its threads build the kernel of each request. If building
// fails, the request is declined with the reason.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "base/hash.h"
#include "jit/backend/kernel_report.h"
#include "jit/compile_queue.h"
#include "jit/jit.h"
#include "jit/kernel/build_kernel.h"
#include "jit/kernel/content_key.h"
#include "jit/kernel/tuned_schedules.h"
#include "jit/late_compiler.h"
#include "jit/schedule_folder.h"
#include "jit/target/matrix_instructions.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/steady_clock.h"

namespace ember::jit {
namespace {

CompileQueue::Options QueueOptionsOf(const JitOptions& options) {
  if (options.threads > 0)
    return {.threads = options.threads,
            .niceness = NicenessOf(options.location)};
  // Without background threads, each run waits for its own kernels. Each such
  // run keeps a thread busy until the kernel is made, even if the run has
  // stopped waiting.
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
  return {.threads = static_cast<int>(cores), .niceness = 0};
}

// The tuned schedules that modules contain. Each module's text is parsed only
// once.
class ModuleSchedules {
 public:
  // Returns the steps of the schedule that was tuned for the request; empty if
  // its module has none.
  std::string Find(const vm::KernelRequest& request) {
    if (request.tuned_schedules.empty()) return "";
    const std::shared_ptr<const TunedSchedules> schedules =
        Parsed(request.tuned_schedules);
    if (schedules == nullptr) return "";
    const TunedSchedule* const found = schedules->Find(
        ContentKey(WithCanonicalNames(request)), request.target);
    return found == nullptr ? "" : found->steps;
  }

 private:
  // Returns the parsed schedules. Returns null if the text is wrong: the
  // module's dispatches then get default schedules.
  std::shared_ptr<const TunedSchedules> Parsed(std::string_view text) {
    const uint64_t hash = HashString(text);
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = parsed_.find(hash);
    if (found != parsed_.end()) return found->second;
    // The number of parsed texts is limited, so that a process that loads many
    // modules one after the other keeps few of them in memory.
    if (parsed_.size() >= kMax) parsed_.clear();
    StatusOr<TunedSchedules> schedules = TunedSchedules::Parse(text);
    auto& kept = parsed_[hash];
    if (schedules.ok())
      kept = std::make_shared<const TunedSchedules>(*std::move(schedules));
    return kept;
  }

  static constexpr size_t kMax = 64;
  std::mutex mutex_;  // guards parsed_
  std::map<uint64_t, std::shared_ptr<const TunedSchedules>> parsed_;
};

class BackgroundJit final : public Jit {
 public:
  BackgroundJit(JitOptions options, std::unique_ptr<LateCompiler> compiler);
  ~BackgroundJit() override { Stop(); }

  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override;
  void Wait() override { queue_.Wait(); }
  bool is_busy() const override { return queue_.is_busy(); }
  void Stop() override { compiler_->Stop(); }
  JitTotals totals() const override;
  std::string cache_problem() const override {
    return compiler_->cache_problem();
  }
  Status CheckSchedules(std::span<const std::string> dispatches,
                        bool has_others) const override {
    return schedules_.Check(dispatches, has_others);
  }
  std::string schedule_problem() const override;
  std::shared_ptr<vm::KernelJudge> judge() override { return oracle_; }

 private:
  void Run(const CompileQueue::Job& job);
  // Adds a request's outcome to the totals: a kernel, or the reason why there
  // is none.
  void Count(const KernelReport& report, const Status& status,
             const GivenSchedule& given);
  // Builds the kernel with the steps `tuned` if they are given and apply, and
  // otherwise with the schedule that the options ask for.
  StatusOr<std::unique_ptr<vm::Kernel>> BuildTuned(
      const vm::KernelRequest& request, const std::string& tuned,
      const KernelOptions& options, KernelReport& report);
  void Dump(const vm::KernelRequest& request, const KernelReport& report) const;

  const JitOptions options_;
  const ScheduleFolder schedules_;
  ModuleSchedules tuned_;
  const std::shared_ptr<Oracle> oracle_;
  const std::unique_ptr<LateCompiler> compiler_;
  KernelStores stores_;
  mutable std::mutex mutex_;  // guards totals_ and schedule_problem_
  JitTotals totals_;
  std::string schedule_problem_;
  // The queue is the last member, because its threads use the members above it.
  CompileQueue queue_;
};

BackgroundJit::BackgroundJit(JitOptions options,
                             std::unique_ptr<LateCompiler> compiler)
    : options_(std::move(options)),
      schedules_(options_.schedule_folder),
      oracle_(options_.oracle != nullptr
                  ? options_.oracle
                  : std::make_shared<Oracle>(OracleOptions{})),
      compiler_(std::move(compiler)),
      queue_(QueueOptionsOf(options_),
             [this](const CompileQueue::Job& job) { Run(job); }) {}

void BackgroundJit::RequestKernel(const vm::KernelRequest& request,
                                  std::shared_ptr<vm::KernelSlot> slot) {
  CompileQueue::Job job = {request, std::move(slot), vm::SteadyNanoseconds()};
  job.request.interrupt = nullptr;
  if (options_.threads > 0) return queue_.Add(std::move(job));
  // Only one thread at a time may use a device, so a kernel for a device is
  // compiled by the thread of the run, which uses the device. That thread also
  // compiles if the request has no interrupt, because then its wait could not
  // be interrupted.
  const bool is_of_host = request.device == nullptr;
  if (request.interrupt == nullptr || !is_of_host) return Run(job);
  queue_.AddAndWait(std::move(job), *request.interrupt);
}

JitTotals BackgroundJit::totals() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return totals_;
}

std::string BackgroundJit::schedule_problem() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return schedule_problem_;
}

void BackgroundJit::Run(const CompileQueue::Job& job) {
  const int64_t begin_ns = vm::SteadyNanoseconds();
  const bool dumps = !options_.dump_folder.empty();
  const bool is_observed_as_text =
      options_.observer != nullptr && options_.observer->wants_texts();
  const GivenSchedule given =
      schedules_.Find(job.request.dispatch->name, job.request.tier);
  const KernelOptions options = {
      .keeps_text = dumps || is_observed_as_text || options_.wrapper != nullptr,
      .keeps_code_text = dumps || is_observed_as_text,
      .given_schedule = given.text,
      .is_exact = options_.exact_schedules,
      .disabled_passes = options_.disabled_passes};
  KernelReport report;
  vm::KernelRequest request = job.request;
  if (options_.allow_tf32) request.target = WithTf32(request.target);
  StatusOr<std::unique_ptr<vm::Kernel>> kernel = BuildTuned(
      request, given.text.empty() ? tuned_.Find(request) : "", options, report);
  if (dumps) Dump(job.request, report);
  if (options_.observer != nullptr) {
    options_.observer->Observe(
        {.request = job.request,
         .slot = *job.slot,
         .requested_ns = job.requested_ns,
         .begin_ns = begin_ns,
         .end_ns = vm::SteadyNanoseconds(),
         .thread = std::hash<std::thread::id>()(std::this_thread::get_id()),
         .is_in_worker = compiler_->is_in_worker(),
         .report = report,
         .status = kernel.status()});
  }
  Count(report, kernel.status(), given);
  if (!kernel.ok()) return job.slot->Decline(kernel.status().ToString());
  if (options_.wrapper != nullptr) {
    kernel = options_.wrapper->Wrap(
        job.request, *job.slot,
        {std::move(report.schedule), std::move(report.nest)},
        *std::move(kernel));
  }
  job.slot->Install(*std::move(kernel));
}

void BackgroundJit::Count(const KernelReport& report, const Status& status,
                          const GivenSchedule& given) {
  std::lock_guard<std::mutex> lock(mutex_);
  totals_.kernels += status.ok();
  totals_.declined += !status.ok();
  if (!status.ok() && !given.text.empty() && schedule_problem_.empty())
    schedule_problem_ = status.WithContext(given.file).message();
  totals_.schedule_ms += report.schedule_ms;
  totals_.optimize_ms += report.optimize_ms;
  totals_.codegen_ms += report.codegen_ms;
  totals_.pack_ms += report.pack_ms;
  for (const PassRecord& pass : report.passes)
    totals_.pass_ms[pass.name] += pass.milliseconds;
  totals_.shared += report.origin == CodeOrigin::kShared;
  totals_.loaded += report.origin == CodeOrigin::kLoaded;
  if (report.origin != CodeOrigin::kShared)
    totals_.code_bytes += report.code_bytes;
}

StatusOr<std::unique_ptr<vm::Kernel>> BackgroundJit::BuildTuned(
    const vm::KernelRequest& request, const std::string& tuned,
    const KernelOptions& options, KernelReport& report) {
  if (!tuned.empty() && !options.is_exact) {
    KernelOptions with_tuned = options;
    with_tuned.given_schedule = tuned;
    with_tuned.has_canonical_names = true;
    StatusOr<std::unique_ptr<vm::Kernel>> kernel =
        BuildKernel(request, *compiler_, with_tuned, &report, &stores_);
    // A schedule that was tuned with another version of Ember may not apply;
    // the default schedule is used then.
    if (kernel.ok()) return kernel;
    report = {};
  }
  return BuildKernel(request, *compiler_, options, &report, &stores_);
}

void BackgroundJit::Dump(const vm::KernelRequest& request,
                         const KernelReport& report) const {
  const std::string base = options_.dump_folder + "/" + request.dispatch->name +
                           ".tier" + std::to_string(request.tier);
  // The files are only read by people, so failing to write them is no error.
  static_cast<void>(WriteFileAtomically(base + ".schedule", report.schedule));
  static_cast<void>(WriteFileAtomically(base + ".loops", report.nest));
  for (const PassRecord& pass : report.passes) {
    if (pass.text.empty() || pass.name == "schedule") continue;
    static_cast<void>(
        WriteFileAtomically(Concat({base, ".", pass.name, ".loops"}),
                            pass.is_unchanged ? "(unchanged)\n" : pass.text));
  }
  for (const CodeText& code : report.code)
    static_cast<void>(WriteFileAtomically(base + code.extension, code.text));
}

}  // namespace

StatusOr<std::shared_ptr<Jit>> NewJit(JitOptions options) {
  auto compiler = std::make_unique<LateCompiler>(
      options.location, options.cache, options.on_cache_problem);
  EMBER_RETURN_IF_ERROR(compiler->Check());
  if (options.threads == 0) compiler->OpenCache();
  return std::shared_ptr<Jit>(
      std::make_shared<BackgroundJit>(std::move(options), std::move(compiler)));
}

}  // namespace ember::jit
