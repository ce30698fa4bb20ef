// find_slow_kernels: looks for dispatches whose kernel of tier 2 takes longer
// than tier 0, among random dispatches and those of recorded models.
//
// Reports a dispatch if tier 0 takes at least --least-us for it and the kernel
// takes more than --ratio times as long as tier 0 in each of --laps laps
// (tools/lib/prejit/race.h). Both run on one thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "hal/cpu/target.h"
#include "jit/backend/kernel_report.h"
#include "jit/kernel/build_kernel.h"
#include "jit/llvm/library/full_compiler.h"
#include "jit/schedule/testing/random_model_dispatch.h"
#include "tensor/parameters_text.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"
#include "tools/lib/benchmark/child.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/models/corpus.h"
#include "tools/lib/models/golden.h"
#include "tools/lib/prejit/race.h"
#include "vm/interpreter/plan.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/kernels/slot.h"

namespace ember::tests {
namespace {

using tools::Lap;

struct Options {
  int64_t count = 0, first_seed = 1, largest_elements = 100'000;
  std::string corpus, seeded, folders, filter, dispatch;
  double least_us = 20, ratio = 1.1;
  int64_t laps = 3, timeout = 900;
  bool print = false;
};

void Declare(Options& options, tools::Flags& flags) {
  flags.Add("count", &options.count, "N",
            "Tries N random dispatches, whose seeds begin with "
            "--first-seed.");
  flags.Add("first-seed", &options.first_seed, "N", "The first seed.");
  flags.Add("largest-elements", &options.largest_elements, "N",
            "Limits a buffer of a random dispatch to about N elements.");
  flags.Add("corpus", &options.corpus, "DIR",
            "Tries the dispatches of the models in this folder, which has "
            "a manifest.json.");
  flags.Add("seeded", &options.seeded, "DIR",
            "The folder with the models of seeded weights; see "
            "golden_models.");
  flags.Add("folders", &options.folders, "LIST",
            "Tries only models whose paths in the corpus begin so, with "
            "commas between them. Default:\n"
            "all.");
  flags.Add("filter", &options.filter, "TEXT",
            "Tries only models whose id contains TEXT.");
  flags.Add("dispatch", &options.dispatch, "NAME",
            "Tries only the dispatch of this name.");
  flags.Add("least-us", &options.least_us, "US",
            "Does not compile dispatches that take tier 0 less than US "
            "microseconds.");
  flags.Add("ratio", &options.ratio, "R",
            "A kernel loses if it takes more than R times as long as tier "
            "0.");
  flags.Add("laps", &options.laps, "N",
            "Reports a kernel that has lost N laps.");
  flags.Add("timeout", &options.timeout, "S",
            "Gives each model at most S seconds.");
  flags.Add("print", &options.print,
            "Prints the dispatch and the schedule of each finding.");
  flags.Example("find_slow_kernels --count=20000 --first-seed=1");
  flags.Example("find_slow_kernels --corpus=../shared/corpus");
  flags.Example(
      "find_slow_kernels --corpus=../shared/corpus --filter=bert "
      "--dispatch=d3_contract --print");
}

struct Finding {
  double ratio = 0;
  // The line about this dispatch in the report, followed by the details that
  // --print adds.
  std::string text;
};

struct Counts {
  int64_t tried = 0;  // different dispatches
  // number of dispatches for which tier 0 takes less than --least-us
  int64_t small = 0;
  int64_t declined = 0;  // number of dispatches for which there is no kernel
  int64_t failed = 0;  // number of dispatches for which a tier returns an error
  int64_t measured = 0;
  std::vector<Finding> findings;

  void Add(Counts other) {
    tried += other.tried;
    small += other.small;
    declined += other.declined;
    failed += other.failed;
    measured += other.measured;
    for (Finding& finding : other.findings)
      findings.push_back(std::move(finding));
  }
};

jit::Compiler& SharedCompiler() {
  static jit::Compiler* const compiler = [] {
    auto created = jit::llvm_ir::NewFullCompiler();
    EMBER_CHECK(created.ok()) << created.status().ToString();
    return created->release();
  }();
  return *compiler;
}

// Measures a dispatch on tier 0 and with its kernel of tier 2, on the same
// operands, and compares the times.
class Contest {
 public:
  // `operands` makes operands for the dispatch. `name` is the dispatch's name
  // in the report. `replay` has the flags with which this program runs this
  // dispatch alone.
  Contest(const Options& options, const vm::KernelRequest& request,
          std::vector<int64_t> parameters,
          std::function<StatusOr<std::vector<void*>>()> operands,
          std::string name, std::string replay)
      : options_(options),
        request_(request),
        parameters_(std::move(parameters)),
        operands_(std::move(operands)),
        name_(std::move(name)),
        replay_(std::move(replay)) {}

  void Run(Counts& counts) {
    ++counts.tried;
    vm::Plan::Options plan_options;
    plan_options.constant_inputs = request_.constant_inputs;
    auto plan = vm::Plan::Make(*request_.dispatch, parameters_, plan_options);
    auto buffers = operands_();
    if (!plan.ok() || !buffers.ok() || !(*plan)->Run(*buffers, runner_).ok()) {
      ++counts.failed;
      return;
    }
    const double ns =
        tools::TimeOf([&] { (void)(*plan)->Run(*buffers, runner_); },
                      tools::LapOptions().least_ns, clock_);
    if (ns < options_.least_us * 1000) {
      ++counts.small;
      return;
    }
    jit::KernelReport report;
    vm::KernelRequest request = request_;
    request.tier = 2;
    request.parameters = parameters_;
    const auto kernel = jit::BuildKernel(
        request, SharedCompiler(), {.keeps_text = options_.print}, &report);
    if (!kernel.ok()) {
      ++counts.declined;
      return;
    }
    if (!RunKernel(**kernel, *buffers).ok()) {
      ++counts.failed;
      return;
    }
    ++counts.measured;
    std::vector<Lap> laps;
    for (int64_t i = 0; i < options_.laps; ++i) {
      if (i > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        buffers = operands_();
        if (!buffers.ok()) return;
      }
      laps.push_back(tools::RunLap(
          [&] { (void)(*plan)->Run(*buffers, runner_); },
          [&] { (void)RunKernel(**kernel, *buffers); }, {}, clock_));
      if (!tools::IsFinding(laps, options_.ratio)) return;
    }
    counts.findings.push_back(FindingOf(laps, **plan, report));
  }

 private:
  Status RunKernel(const vm::Kernel& kernel, std::span<void* const> buffers) {
    return vm::RunOnHost(kernel, {parameters_, buffers, runner_});
  }

  Finding FindingOf(std::span<const Lap> laps, const vm::Plan& plan,
                    const jit::KernelReport& report) const {
    const Lap lap = tools::MedianOf(laps);
    char times[96];
    std::snprintf(times, sizeof times,
                  "%.2f times as long: %.1f us at tier 0, %.1f at tier 2: ",
                  lap.ratio(), lap.first_ns / 1000, lap.second_ns / 1000);
    Finding finding{lap.ratio(),
                    times + name_ + "; find_slow_kernels " + replay_ + "\n"};
    if (!options_.print) return finding;
    finding.text += tensor::Print(*request_.dispatch) +
                    "tier 0: " + plan.Describe() + "\n" + report.schedule +
                    report.nest;
    return finding;
  }

  const Options& options_;
  const vm::KernelRequest& request_;
  const std::vector<int64_t> parameters_;
  const std::function<StatusOr<std::vector<void*>>()> operands_;
  const std::string name_, replay_;
  const tools::Clock clock_ = tools::ThreadClock();
  SerialRunner runner_;
};

// --- random dispatches ---

void TryRandom(const Options& options, uint64_t seed, Counts& counts) {
  tensor::RandomOptions random;
  random.largest_elements = options.largest_elements;
  const tensor::RandomCase random_case =
      seed % 2 == 0 ? tensor::MakeRandomCase(seed, random)
                    : schedule::MakeRandomModelDispatch(seed);
  vm::KernelRequest request;
  request.dispatch = &random_case.dispatch;
  request.target = hal::HostTarget();
  std::vector<std::vector<uint8_t>> memory;
  const auto operands = [&]() -> StatusOr<std::vector<void*>> {
    memory = random_case.MakeBuffers();
    std::vector<void*> buffers;
    for (std::vector<uint8_t>& bytes : memory) buffers.push_back(bytes.data());
    return buffers;
  };
  Contest(options, request, random_case.parameters, operands,
          "seed " + std::to_string(seed) + ", @" + random_case.dispatch.name,
          "--count=1 --first-seed=" + std::to_string(seed) +
              " --largest-elements=" +
              std::to_string(options.largest_elements) + " --print")
      .Run(counts);
}

// --- dispatches of models ---

// Returns a key of the dispatch that is the same for dispatches which differ
// only in their names.
uint64_t KeyOf(const vm::KernelRequest& request,
               std::span<const int64_t> parameters) {
  const std::string text = tensor::Print(*request.dispatch);
  std::string key = text.substr(text.find_first_of("(<"));
  for (const int64_t parameter : parameters)
    key += std::to_string(parameter) + ",";
  for (const bool is_constant : request.constant_inputs)
    key += is_constant ? 'c' : 'v';
  return HashString(key);
}

// A kernel that runs its dispatch on tier 0. In the first call it also compares
// the times of both tiers on the call's operands.
class ContestKernel final : public vm::HostKernel {
 public:
  ContestKernel(const Options& options, const vm::KernelRequest& request,
                std::string model, std::set<uint64_t>& seen, Counts& counts)
      : options_(options),
        request_(request),
        model_(std::move(model)),
        seen_(seen),
        counts_(counts) {}

  int tier() const override { return request_.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return request_.parameters.empty() ||
           std::ranges::equal(parameters, request_.parameters);
  }
  std::string Describe() const override { return "measured"; }

  Status Run(const vm::KernelCall& call) const override {
    const tensor::Dispatch& dispatch = *request_.dispatch;
    const bool is_meant =
        options_.dispatch.empty() || dispatch.name == options_.dispatch;
    if (is_meant && seen_.insert(KeyOf(request_, call.parameters)).second) {
      tools::CallOperands copy;
      const auto operands = [&]() -> StatusOr<std::vector<void*>> {
        EMBER_ASSIGN_OR_RETURN(
            copy, tools::CallOperands::Copy(dispatch, call,
                                            request_.constant_inputs));
        return copy.Buffers();
      };
      Contest(options_, request_,
              {call.parameters.begin(), call.parameters.end()}, operands,
              model_ + ", @" + dispatch.name + " with " +
                  tensor::ParametersText(dispatch, call.parameters),
              "--corpus=" + options_.corpus + " --filter=" + model_ +
                  " --dispatch=" + dispatch.name + " --print")
          .Run(counts_);
    }
    return tools::RunTierZero(dispatch, call.parameters, call.buffers,
                              call.runner);
  }

 private:
  const Options& options_;
  const vm::KernelRequest request_;
  const std::string model_;
  std::set<uint64_t>& seen_;
  Counts& counts_;
};

class ContestProvider final : public vm::KernelProvider {
 public:
  ContestProvider(const Options& options, std::string model,
                  std::set<uint64_t>& seen, Counts& counts)
      : options_(options),
        model_(std::move(model)),
        seen_(seen),
        counts_(counts) {}

  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    slot->Install(std::make_unique<ContestKernel>(options_, request, model_,
                                                  seen_, counts_));
  }

 private:
  const Options& options_;
  const std::string model_;
  std::set<uint64_t>& seen_;
  Counts& counts_;
};

// Returns the text that a child process sends to its parent: the counts, the
// keys of the dispatches that were tried, then the findings with their lengths.
std::string TextOf(const Counts& counts, const std::set<uint64_t>& keys) {
  std::ostringstream text;
  text << counts.tried << ' ' << counts.small << ' ' << counts.declined << ' '
       << counts.failed << ' ' << counts.measured << ' ' << keys.size() << ' ';
  for (const uint64_t key : keys) text << key << ' ';
  for (const Finding& finding : counts.findings) {
    text << finding.ratio << ' ' << finding.text.size() << ' ' << finding.text;
  }
  return text.str();
}

Counts CountsOf(const std::string& text, std::set<uint64_t>& keys) {
  Counts counts;
  std::istringstream in(text);
  size_t key_count = 0;
  in >> counts.tried >> counts.small >> counts.declined >> counts.failed >>
      counts.measured >> key_count;
  for (size_t i = 0; i < key_count && in; ++i) {
    uint64_t key = 0;
    in >> key;
    keys.insert(key);
  }
  Finding finding;
  size_t length = 0;
  while (in >> finding.ratio >> length) {
    in.get();
    finding.text.resize(length);
    in.read(finding.text.data(), static_cast<std::streamsize>(length));
    counts.findings.push_back(finding);
  }
  return counts;
}

// Runs a model in a child process, because models take memory, and a model may
// end its process.
StatusOr<Counts> TryModel(const Options& options,
                          const tools::GoldenCase& golden,
                          std::set<uint64_t>& seen) {
  const auto work = [&]() -> StatusOr<std::string> {
    Counts counts;
    std::set<uint64_t> all = seen;
    const auto provider =
        std::make_shared<ContestProvider>(options, golden.name, all, counts);
    tools::GoldenCase first = golden;
    if (first.data_sets.size() > 1) first.data_sets.resize(1);
    // Wrong results of a model are not reported here, because golden_models
    // compares them.
    EMBER_RETURN_IF_ERROR(
        tools::RunGolden(first, {.seconds = 0, .provider = provider}).status());
    for (const uint64_t key : seen) all.erase(key);
    return TextOf(counts, all);
  };
  EMBER_ASSIGN_OR_RETURN(
      const std::string text,
      tools::RunInChild(work, static_cast<unsigned>(options.timeout)));
  return CountsOf(text, seen);
}

// --- all ---

void PrintNew(const Counts& counts, size_t printed) {
  for (size_t i = printed; i < counts.findings.size(); ++i)
    std::printf("%s", counts.findings[i].text.c_str());
  std::fflush(stdout);
}

std::string Summary(const Counts& counts, const std::string& what) {
  std::ostringstream text;
  text << counts.tried << ' ' << what << ": " << counts.small << " too small, "
       << counts.measured << " measured, " << counts.declined << " declined, "
       << counts.failed << " failed; " << counts.findings.size()
       << " findings\n";
  return text.str();
}

void TryAllRandom(const Options& options, Counts& counts) {
  for (int64_t i = 0; i < options.count; ++i) {
    const size_t printed = counts.findings.size();
    TryRandom(options, static_cast<uint64_t>(options.first_seed + i), counts);
    PrintNew(counts, printed);
    if ((i + 1) % 1000 == 0)
      std::fprintf(stderr, "%s", Summary(counts, "random dispatches").c_str());
  }
}

Status TryModels(const Options& options, Counts& counts) {
  EMBER_ASSIGN_OR_RETURN(std::vector<tools::GoldenCase> cases,
                         tools::ReadCorpus({.folder = options.corpus,
                                            .seeded = options.seeded,
                                            .parts = options.folders}));
  std::set<uint64_t> seen;
  int64_t models = 0, failed = 0;
  for (const tools::GoldenCase& golden : cases) {
    if (golden.name.find(options.filter) == std::string::npos) continue;
    StatusOr<Counts> added = TryModel(options, golden, seen);
    ++models;
    if (!added.ok()) {
      ++failed;
      std::fprintf(stderr, "%s: %s\n", golden.name.c_str(),
                   added.status().ToString().c_str());
      continue;
    }
    const size_t printed = counts.findings.size();
    counts.Add(*std::move(added));
    PrintNew(counts, printed);
    if (models % 100 == 0)
      std::fprintf(stderr, "%s", Summary(counts, "model dispatches").c_str());
  }
  std::printf("%lld models, of which %lld did not run\n",
              static_cast<long long>(models), static_cast<long long>(failed));
  return models > 0 ? OkStatus()
                    : NotFoundError("--filter: expected the id of a model in " +
                                    options.corpus + ", found none");
}

Status Run(const Options& options) {
  if (options.count == 0 && options.corpus.empty()) {
    return InvalidArgumentError(
        "expected --count=N for random dispatches, --corpus=DIR for those of "
        "models, or both");
  }
  std::printf("tier 2 beside tier 0, on %s\n", hal::HostTarget().c_str());
  Counts models, random;
  if (!options.corpus.empty())
    EMBER_RETURN_IF_ERROR(TryModels(options, models));
  if (options.count > 0) {
    std::printf("seeds %lld to %lld\n",
                static_cast<long long>(options.first_seed),
                static_cast<long long>(options.first_seed + options.count - 1));
    TryAllRandom(options, random);
  }
  Counts all = models;
  all.Add(random);
  if (!all.findings.empty()) std::printf("\nThe worst first:\n");
  std::ranges::stable_sort(all.findings, std::ranges::greater(),
                           &Finding::ratio);
  for (const Finding& finding : all.findings)
    std::printf("%s",
                finding.text.substr(0, finding.text.find('\n') + 1).c_str());
  if (!options.corpus.empty())
    std::printf("%s", Summary(models, "model dispatches").c_str());
  if (options.count > 0)
    std::printf("%s", Summary(random, "random dispatches").c_str());
  if (all.findings.empty()) return OkStatus();
  return InternalError(std::to_string(all.findings.size()) +
                       " kernels take longer than tier 0");
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  ember::tools::Flags flags(
      "find_slow_kernels", "[flags]",
      "Looks for dispatches whose kernel of tier 2 takes longer than tier 0 "
      "does.");
  ember::tests::Declare(options, flags);
  return ember::tools::RunTool(
      argc, argv, flags, [&options] { return ember::tests::Run(options); });
}
