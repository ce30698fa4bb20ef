// vm-generate: continues a sequence of tokens with a language model.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/compile_limits.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/kernel_cache.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/generate/language_model.h"
#include "tools/lib/generate/parse_ids.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/tier.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/session.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> models, stop;
  ImportFlags import;
  std::string ids, forced, device = "cpu", tier = "2", jit = "auto";
  KernelCacheFlags cache;
  LimitFlags limits;
  int64_t threads = 0, count = 128, context = 0, top = 0, chunk = 512;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL.gguf or a module", 1, 1, &options.models);
  flags.Add("ids", &options.ids, "ID,ID,…",
            "Gives the ids of the prompt's tokens.");
  flags.Add("n", &options.count, "N", "Generates at most N tokens.");
  flags.Add("stop", &options.stop, "ID",
            "Stops behind this token. May be repeated.");
  flags.Add("context", &options.context, "N",
            "Gives the state memory for N tokens. 0: for the prompt and the "
            "tokens of -n.");
  flags.Add("chunk", &options.chunk, "N",
            "Runs the prompt in parts of at most N tokens.");
  flags.Add("top", &options.top, "N",
            "Prints the N likeliest tokens of each step with their "
            "probabilities, one line of JSON each.");
  flags.Add("forced", &options.forced, "ID,ID,…",
            "Appends these tokens instead of the likeliest ones, for comparing "
            "with other programs.");
  flags.AddChoice("tier", &options.tier, {"0", "1", "2", "auto"},
                  "Runs the model as the flag of vm-run says. A language model "
                  "has few different kernels, so\n"
                  "waiting for them (2) takes less time until the first token "
                  "than the interpreter (0) does.");
  AddJitFlag(flags, &options.jit);
  flags.Add("threads", &options.threads, "N",
            "Computes with N threads. 0: one per core.");
  flags.Add("device", &options.device, "NAME",
            "Runs on this device; see vm-run --list-devices.");
  AddImportFlags(flags, &options.import);
  AddKernelCacheFlags(flags, &options.cache);
  AddLimitFlags(flags, &options.limits);
  flags.Example("vm-generate model.gguf --ids=1,403,407 -n 32");
  flags.Example("vm-generate model.gguf --ids=1 --tier=2 --threads=2 --top=5");
}

// The times of a run, in seconds.
struct Times {
  double load = 0, prompt = 0, generation = 0;
  int64_t generated = 0;
};

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void PrintTop(std::span<const float> logits, int64_t count) {
  std::string text;
  for (const TokenProbability& token :
       LikeliestTokens(logits, static_cast<size_t>(count))) {
    char item[64];
    std::snprintf(item, sizeof item, "%s[%d, %.6g]", text.empty() ? "" : ", ",
                  token.token, token.probability);
    text += item;
  }
  std::printf("[%s]\n", text.c_str());
}

// Runs the prompt in chunks. Returns the logits after it.
StatusOr<std::span<const float>> RunPrompt(LanguageModel& model,
                                           const std::vector<int32_t>& prompt,
                                           int64_t chunk) {
  std::span<const int32_t> rest(prompt);
  std::span<const float> logits;
  while (!rest.empty()) {
    const size_t size = std::min(rest.size(), static_cast<size_t>(chunk));
    EMBER_ASSIGN_OR_RETURN(logits, model.Append(rest.first(size)));
    rest = rest.subspan(size);
  }
  return logits;
}

StatusOr<Times> Generate(const Options& options,
                         const std::vector<int32_t>& prompt,
                         const std::vector<int32_t>& stop,
                         const std::vector<int32_t>& forced,
                         LanguageModel& model) {
  Times times;
  Clock::time_point begin = Clock::now();
  EMBER_ASSIGN_OR_RETURN(std::span<const float> logits,
                         RunPrompt(model, prompt, options.chunk));
  times.prompt = SecondsSince(begin);
  begin = Clock::now();
  for (int64_t i = 0; i < options.count; ++i) {
    if (options.top > 0) PrintTop(logits, options.top);
    const std::vector<TokenProbability> next = LikeliestTokens(logits, 1);
    if (next.empty())
      return InvalidArgumentError("logits: expected one or more");
    const auto step = static_cast<size_t>(i);
    const int32_t token = step < forced.size() ? forced[step] : next[0].token;
    if (options.top == 0) std::printf("%s%d", i == 0 ? "" : ",", token);
    std::fflush(stdout);
    const bool is_last =
        i + 1 == options.count || std::ranges::count(stop, token) > 0;
    if (is_last) break;
    EMBER_ASSIGN_OR_RETURN(logits, model.Append({&token, 1}));
    ++times.generated;
  }
  times.generation = SecondsSince(begin);
  if (options.top == 0) std::printf("\n");
  std::fflush(stdout);
  return times;
}

void Report(const Times& times, size_t prompt, const LanguageModel& model) {
  std::fprintf(
      stderr,
      "loaded in %.2f s; prompt of %zu tokens: %.1f tokens/s (%.3f s); "
      "generated: %.1f tokens/s; state: %.1f MB for %lld tokens\n",
      times.load, prompt, static_cast<double>(prompt) / times.prompt,
      times.prompt,
      times.generated > 0
          ? static_cast<double>(times.generated) / times.generation
          : 0,
      static_cast<double>(model.state_bytes()) / 1e6,
      static_cast<long long>(model.context()));
}

Status Run(Options& options) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<int32_t> prompt,
                         ParseIds("--ids", options.ids));
  std::vector<int32_t> stop;
  for (const std::string& id : options.stop) {
    EMBER_ASSIGN_OR_RETURN(const std::vector<int32_t> parsed,
                           ParseIds("--stop", id));
    stop.insert(stop.end(), parsed.begin(), parsed.end());
  }
  std::vector<int32_t> forced;
  if (!options.forced.empty()) {
    EMBER_ASSIGN_OR_RETURN(forced, ParseIds("--forced", options.forced));
  }
  if (options.count < 1 || options.chunk < 1 || options.context < 0)
    return CommandLineError("-n, --chunk: expected at least 1");
  const TierOptions tier_options{.tier = options.tier,
                                 .jit = options.jit,
                                 .cache = CacheOptionsOf(options.cache),
                                 .model = options.models[0]};
  EMBER_RETURN_IF_ERROR(CheckTierOptions(tier_options));
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         OpenDevice(options.device, options.threads,
                                    CacheOptionsOf(options.cache).folder));
  const Clock::time_point begin = Clock::now();
  EMBER_ASSIGN_OR_RETURN(const LoadOptions load, LoadOptionsOf(options.import));
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<CompileLimits> compile_limits,
      CompileLimits::Start(options.limits, options.models[0]));
  EMBER_ASSIGN_OR_RETURN(const LoadedModel loaded,
                         LoadModel(options.models[0], load));
  compile_limits = nullptr;
  EMBER_ASSIGN_OR_RETURN(Tier opened,
                         OpenTier(tier_options, device, loaded.module));
  const Tier& tier = KeepTier(std::move(opened));
  vm::SessionOptions session_options = {.device = device,
                                        .device_support = vm::NewDeviceSupport,
                                        .tiering = tier.tiering};
  EMBER_RETURN_IF_ERROR(SetLimits(options.limits, session_options));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         vm::Session::Create(loaded.module, session_options));
  const int64_t context =
      options.context > 0 ? options.context
                          : static_cast<int64_t>(prompt.size()) + options.count;
  EMBER_ASSIGN_OR_RETURN(LanguageModel model,
                         LanguageModel::Create(*session, context));
  const double load_seconds = SecondsSince(begin);
  EMBER_ASSIGN_OR_RETURN(Times times,
                         Generate(options, prompt, stop, forced, model));
  times.load = load_seconds;
  Report(times, prompt.size(), model);
  return OkStatus();
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-generate", "MODEL --ids=ID,ID,… [flags]",
              "Continues a sequence of tokens with a language model, always "
              "with the likeliest token, and\n"
              "prints the ids. Tokens per second go to stderr.");
  Declare(options, flags);
  return EndProcess(
      RunTool(argc, argv, flags, [&options] { return Run(options); }));
}
