// kernel_replay: prints a hash of the schedule, the loop nest and the code of
// each kernel, so that two versions of the JIT can be compared.
//
//   kernel_replay --corpus=../shared/corpus --output=before.txt
//   ... change the JIT ...
//   kernel_replay --corpus=../shared/corpus --output=after.txt
//   diff before.txt after.txt
//
// The dispatches are those of models, for shapes that are not known, and random
// ones of the forms that models have (--count), each for every target.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/hash.h"
#include "jit/backend/object_compiler.h"
#include "jit/kernel/build_image.h"
#include "jit/kernel/build_nest.h"
#include "jit/llvm/all_targets.h"
#include "jit/llvm/compiler.h"
#include "jit/llvm/library/full_compiler.h"
#include "jit/schedule/testing/random_model_dispatch.h"
#include "jit/target/compile_target.h"
#include "tensor/text/text.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/models/corpus.h"
#include "tools/lib/models/golden.h"
#include "tools/lib/models/load_model.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::tests {
namespace {

// The targets for which kernels are made by default: one for each set of rules
// and instructions that default schedules distinguish.
constexpr std::string_view kDefaultTargets =
    "x86-64-v3,x86-64-v4+vnni,aarch64+dotprod,c11,"
    "vulkan1.3+subgroup32+shared49152,sm_80+subgroup32+shared166912,"
    "sm_90a+subgroup32+shared232448";

struct Options {
  std::string corpus, seeded, folders, filter, output, print;
  std::string targets = std::string(kDefaultTargets);
  int64_t count = 0, first_seed = 1;
  bool code = false;
};

void Declare(Options& options, tools::Flags& flags) {
  flags.Add("corpus", &options.corpus, "DIR",
            "Takes the dispatches of the models in this folder, which has a "
            "manifest.json.");
  flags.Add("seeded", &options.seeded, "DIR",
            "The folder with the models of seeded weights; see "
            "golden_models.");
  flags.Add("folders", &options.folders, "LIST",
            "Takes only models whose paths in the corpus begin so, with "
            "commas between them. Default:\nall.");
  flags.Add("filter", &options.filter, "TEXT",
            "Takes only models whose id contains TEXT.");
  flags.Add("count", &options.count, "N",
            "Takes N random dispatches, whose seeds begin with --first-seed.");
  flags.Add("first-seed", &options.first_seed, "N", "The first seed.");
  flags.Add("targets", &options.targets, "LIST",
            "The targets, with commas between them (vm-prejit --help).");
  flags.Add("code", &options.code,
            "Also compiles each kernel, and adds a hash of its code.");
  flags.Add("output", &options.output, "FILE",
            "Writes the lines to FILE instead of standard output.");
  flags.Add("print", &options.print, "LINE",
            "Prints schedules and nests of the kernels whose lines begin so.");
  flags.Example("kernel_replay --corpus=../shared/corpus --output=before.txt");
  flags.Example("kernel_replay --count=2000 --code --output=before.txt");
}

class Replayer {
 public:
  Replayer(const Options& options, std::FILE* output)
      : options_(options), output_(output) {}

  Status AddTargets() {
    std::string_view left = options_.targets;
    while (!left.empty()) {
      const size_t end = std::min(left.find(','), left.size());
      EMBER_ASSIGN_OR_RETURN(jit::CompileTarget target,
                             jit::FindCompileTarget(left.substr(0, end)));
      left.remove_prefix(std::min(end + 1, left.size()));
      auto compiler = target.llvm.empty()
                          ? jit::llvm_ir::NewFullCompiler()
                          : jit::llvm_ir::NewLlvmCompiler(target.llvm);
      EMBER_RETURN_IF_ERROR(compiler.status().WithContext(target.name));
      targets_.push_back({std::move(target), *std::move(compiler)});
    }
    return OkStatus();
  }

  // Replays a dispatch for each target, unless an equal one has been replayed.
  void Replay(const std::string& from, vm::KernelRequest request) {
    const std::string text = tensor::Print(*request.dispatch);
    std::string key = text.substr(text.find_first_of("(<"));
    for (const bool is_constant : request.constant_inputs)
      key += is_constant ? 'c' : 'v';
    if (!seen_.insert(HashString(key)).second) return;
    request.tier = 2;
    for (Target& target : targets_) {
      request.target = target.target.target;
      const std::string line =
          Concat({from, " @", request.dispatch->name, " ", target.target.name});
      jit::NestText made;
      const auto nest = jit::BuildNest(request, {}, &made);
      std::string hashes = nest.ok() ? Hashes(request, target, made)
                                     : std::string(nest.status().message());
      std::fprintf(output_, "%s %s\n", line.c_str(), hashes.c_str());
      if (!options_.print.empty() && line.starts_with(options_.print))
        std::printf("%s%s%s", text.c_str(), made.schedule.c_str(),
                    made.nest.c_str());
      ++(nest.ok() ? kernels_ : declined_);
    }
  }

  std::string Summary() const {
    return Concat({seen_.size(), " dispatches, ", targets_.size(), " targets: ",
                   kernels_, " kernels, ", declined_, " declined\n"});
  }

 private:
  struct Target {
    jit::CompileTarget target;
    std::unique_ptr<jit::ObjectCompiler> compiler;
  };

  static std::string Hex(std::string_view text) {
    char hex[20];
    std::snprintf(hex, sizeof hex, "%016llx",
                  static_cast<unsigned long long>(HashString(text)));
    return hex;
  }

  std::string Hashes(const vm::KernelRequest& request, Target& target,
                     const jit::NestText& made) const {
    std::string hashes =
        "schedule " + Hex(made.schedule) + " nest " + Hex(made.nest);
    if (!options_.code) return hashes;
    const auto image = jit::BuildImage(request, *target.compiler, {});
    if (!image.ok())
      return Concat({hashes, " code: ", image.status().message()});
    const auto& bytes = image->code.bytes;
    return hashes + " code " +
           Hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  const Options& options_;
  std::FILE* output_;
  std::vector<Target> targets_;
  std::set<uint64_t> seen_;
  int64_t kernels_ = 0, declined_ = 0;
};

Status ReplayModels(const Options& options, Replayer& replayer) {
  EMBER_ASSIGN_OR_RETURN(std::vector<tools::GoldenCase> cases,
                         tools::ReadCorpus({.folder = options.corpus,
                                            .seeded = options.seeded,
                                            .parts = options.folders}));
  for (const tools::GoldenCase& golden : cases) {
    if (golden.name.find(options.filter) == std::string::npos) continue;
    tools::LoadOptions load;
    load.entry = golden.entry;
    const auto model = tools::LoadModel(golden.model, load);
    if (!model.ok()) {
      std::fprintf(stderr, "%s: %s\n", golden.name.c_str(),
                   model.status().ToString().c_str());
      continue;
    }
    for (const vm::DispatchSite& site : model->module->sites())
      replayer.Replay(golden.name, vm::RequestFor(model->module, site.group));
  }
  return OkStatus();
}

void ReplayRandom(const Options& options, Replayer& replayer) {
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = static_cast<uint64_t>(options.first_seed + i);
    const tensor::RandomCase random = schedule::MakeRandomModelDispatch(seed);
    vm::KernelRequest request;
    request.dispatch = &random.dispatch;
    request.parameters = random.parameters;
    replayer.Replay("seed " + std::to_string(seed), std::move(request));
  }
}

Status Run(const Options& options) {
  if (options.count == 0 && options.corpus.empty()) {
    return InvalidArgumentError(
        "expected --count=N for random dispatches, --corpus=DIR for those of "
        "models, or both");
  }
  std::FILE* output = stdout;
  if (!options.output.empty()) {
    output = std::fopen(options.output.c_str(), "w");
    if (output == nullptr)
      return NotFoundError("cannot write to '" + options.output + "'");
  }
  jit::llvm_ir::UseAllTargets();
  Replayer replayer(options, output);
  EMBER_RETURN_IF_ERROR(replayer.AddTargets());
  if (!options.corpus.empty())
    EMBER_RETURN_IF_ERROR(ReplayModels(options, replayer));
  ReplayRandom(options, replayer);
  if (output != stdout) std::fclose(output);
  std::fprintf(stderr, "%s", replayer.Summary().c_str());
  return OkStatus();
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  ember::tools::Flags flags(
      "kernel_replay", "[flags]",
      "Prints a hash of the schedule and the loop nest of each kernel.");
  ember::tests::Declare(options, flags);
  return ember::tools::RunTool(
      argc, argv, flags, [&options] { return ember::tests::Run(options); });
}
