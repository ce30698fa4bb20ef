// vm-generate: continues texts and sequences of tokens with a language model.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "llm/generate/generate.h"
#include "llm/grammar/vocabulary_trie.h"
#include "tools/lib/cli/compile_limits.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/kernel_cache.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/generate/generate_flags.h"
#include "tools/lib/generate/interrupt.h"
#include "tools/lib/generate/language_model.h"
#include "tools/lib/generate/load_tokenizer.h"
#include "tools/lib/generate/print_ids.h"
#include "tools/lib/generate/print_text.h"
#include "tools/lib/generate/run_prompts.h"
#include "tools/lib/generate/sequence_batch.h"
#include "tools/lib/generate/state_file.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/model_source.h"
#include "tools/lib/models/module_cache.h"
#include "tools/lib/models/tier.h"
#include "vm/format/module_identity.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/session.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Number of tokens for which memory is allocated at the beginning of a chat. A
// longer chat allocates more.
constexpr int64_t kFirstContext = 4096;

struct Options {
  std::vector<std::string> models;
  GenerateFlags generate;
  ImportFlags import;
  std::string device = "cpu", tier = "2", jit = "auto";
  KernelCacheFlags cache;
  ModuleCacheFlags module_cache;
  LimitFlags limits;
  int64_t threads = 0;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL", 1, 1, &options.models);
  AddGenerateFlags(flags, &options.generate);
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
  AddModuleCacheFlags(flags, &options.module_cache);
  AddLimitFlags(flags, &options.limits);
  flags.Example("vm-generate model.gguf -p \"Once upon a time\"");
  flags.Example("vm-generate model.gguf --chat --system=\"Answer briefly.\"");
  flags.Example(
      "vm-generate folder --chat -p \"List three rivers.\" --json "
      "--temperature=0.7 --seed=1");
  flags.Example("vm-generate model.vmfb --tokenizer=tokenizer.json -p Hello");
  flags.Example("vm-generate model.gguf --prompts=lines.txt --sequences=8");
  flags.Example("vm-generate model.gguf --ids=1,403,407 -n 32 --top=5");
}

// The parts of a language model that deal with text.
struct TextParts {
  llm::Tokenizer tokenizer;
  std::optional<llm::ChatTemplate> chat_template;
  std::vector<int32_t> prompt;  // the tokens of the prompt, for
                                // PromptKind::kText only
};

// Appends `advice`, which says what the user can do, to an error's message.
template <typename T>
StatusOr<T> Advised(StatusOr<T> value, const std::string& advice) {
  // No advice is added for a damaged file, because no flag can repair it.
  if (value.ok() || value.status().code() == StatusCode::kDataLoss)
    return value;
  return Status(value.status().code(),
                std::string(value.status().message()) + "; " + advice);
}

StatusOr<llm::Tokenizer> LoadTokenizer(const Options& options) {
  const std::string& file = options.generate.tokenizer;
  if (!file.empty()) {
    return Advised(TokenizerOfFile(ModelSource::OfUserPath(file)),
                   "--tokenizer needs a GGUF file, a tokenizer.json, or a "
                   "folder with one");
  }
  // The model is opened before its tokenizer is read, so that a missing file
  // gives the same error as with --ids.
  const ModelSource model = ModelSource::OfUserPath(options.models[0]);
  EMBER_RETURN_IF_ERROR(OpenModel(model).status());
  return Advised(TokenizerOfModel(model),
                 "give one with --tokenizer=FILE (a GGUF file or "
                 "tokenizer.json), or ids of tokens with --ids");
}

StatusOr<llm::ChatTemplate> LoadTemplate(const Options& options,
                                         const llm::Tokenizer& tokenizer) {
  const std::string& file = options.generate.template_file;
  if (!file.empty()) {
    EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(UserPath(file)));
    StatusOr<llm::ChatTemplate> parsed = llm::ChatTemplate::Parse(text);
    if (!parsed.ok()) return parsed.status().WithContext(file);
    return parsed;
  }
  StatusOr<llm::ChatTemplate> found = TemplateOf(tokenizer);
  if (found.ok()) return found;
  return Advised(StatusOr<llm::ChatTemplate>(
                     found.status().WithContext(options.models[0])),
                 "give one with --template=FILE, or continue a text without "
                 "--chat");
}

StatusOr<TextParts> LoadTextParts(const Options& options,
                                  const GenerateSettings& settings) {
  EMBER_ASSIGN_OR_RETURN(llm::Tokenizer tokenizer, LoadTokenizer(options));
  TextParts parts{std::move(tokenizer), std::nullopt, {}};
  if (options.generate.is_chat) {
    EMBER_ASSIGN_OR_RETURN(parts.chat_template,
                           LoadTemplate(options, parts.tokenizer));
  } else if (settings.kind == PromptKind::kText) {
    EMBER_ASSIGN_OR_RETURN(parts.prompt,
                           EncodePrompt(parts.tokenizer, settings.prompt));
  }
  return parts;
}

// A model that is ready to run. Its tier is kept elsewhere, until the process
// ends.
struct ReadyModel {
  std::unique_ptr<vm::Session> session;
  int64_t trained_context = 0;
};

// Loads the model's module: the one that an earlier process kept in the module
// cache, or a new one.
StatusOr<LoadedModel> LoadOrCompile(const Options& options,
                                    const LoadOptions& load) {
  const std::string& path = options.models[0];
  const ModuleCache cache(path, load,
                          ModuleCacheOptionsOf(options.module_cache));
  if (std::optional<LoadedModel> kept = cache.Load()) return *std::move(kept);
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompileLimits> limits,
                         CompileLimits::Start(options.limits, path));
  if (!cache.keeps()) return LoadModel(path, load);
  std::fprintf(stderr, "%s\n", cache.Announcement().c_str());
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         CompileModel(path, load));
  // The limits of time and memory end here. Otherwise they could end the
  // process while it writes the module.
  limits = nullptr;
  return cache.Keep(std::move(definition));
}

StatusOr<ReadyModel> Open(const Options& options) {
  const TierOptions tier_options{.tier = options.tier,
                                 .jit = options.jit,
                                 .cache = CacheOptionsOf(options.cache),
                                 .model = options.models[0]};
  EMBER_RETURN_IF_ERROR(CheckTierOptions(tier_options));
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         OpenDevice(options.device, options.threads,
                                    CacheOptionsOf(options.cache).folder));
  EMBER_ASSIGN_OR_RETURN(LoadOptions load, LoadOptionsOf(options.import));
  // Checking guesses needs the logits of all positions, which only the entry
  // "all" computes.
  if (load.entry.empty() && !options.models[0].ends_with(".vmfb")) {
    if (options.generate.guesses > 0) load.entry = "all";
    if (!options.generate.prompts_file.empty()) {
      load.entry = "sequences:" + std::to_string(options.generate.sequences);
    }
  }
  EMBER_ASSIGN_OR_RETURN(const LoadedModel loaded,
                         LoadOrCompile(options, load));
  EMBER_ASSIGN_OR_RETURN(Tier opened,
                         OpenTier(tier_options, device, loaded.module));
  const Tier& tier = KeepTier(std::move(opened));
  vm::SessionOptions session_options = {.device = device,
                                        .device_support = vm::NewDeviceSupport,
                                        .tiering = tier.tiering};
  EMBER_RETURN_IF_ERROR(SetLimits(options.limits, session_options));
  ReadyModel model;
  model.trained_context = TrainedContext(*loaded.module);
  EMBER_ASSIGN_OR_RETURN(model.session,
                         vm::Session::Create(loaded.module, session_options));
  return model;
}

// Number of tokens for which memory is allocated, at first and at most.
struct Context {
  int64_t first = 0, most = 0;
};

Context ContextOf(const Options& options, const GenerateSettings& settings,
                  int64_t prompt, int64_t trained) {
  const int64_t given = options.generate.context;
  if (given > 0) return {std::min(given, kFirstContext), given};
  const bool is_chat = options.generate.is_chat;
  if (!is_chat && settings.count >= 0)
    return {prompt + settings.count, prompt + settings.count};
  const int64_t most =
      std::max(trained > 0 ? trained : kFirstContext, is_chat ? 0 : prompt + 1);
  return {std::min(most, kFirstContext), most};
}

// Checks that the tokenizer belongs to this model, by the size of its
// vocabulary.
Status CheckVocabulary(const Options& options, const llm::Tokenizer& tokenizer,
                       const LanguageModel& model) {
  const int64_t logits = model.vocabulary();
  const int32_t tokens = tokenizer.vocabulary().size();
  if (logits < 0 || logits >= tokens) return OkStatus();
  return InvalidArgumentError(
      options.models[0] + ": expected a logit for each of the " +
      std::to_string(tokens) + " tokens of the tokenizer, found " +
      std::to_string(logits) + "; give the tokenizer of this model");
}

// Generates and prints ids. `prompt` are the tokens that are not in the model's
// state yet.
Status PrintIds(const Options& options, const GenerateSettings& settings,
                std::span<const int32_t> prompt, LanguageModel& model,
                GenerationTimes& times) {
  IdPrinter printer({.sampling = settings.sampling,
                     .forced = settings.forced,
                     .stop_ids = settings.stop_ids,
                     .top = options.generate.top},
                    settings.ids);
  EMBER_ASSIGN_OR_RETURN(
      const llm::TokenLoopResult result,
      llm::RunTokenLoop(
          model, prompt,
          {.max_tokens = settings.count,
           .prompt_chunk = options.generate.chunk,
           .guesses = options.generate.guesses,
           .is_cancelled = [] { return CatchInterrupt::is_requested(); }},
          printer));
  printer.Finish();
  times.Add(result);
  return OkStatus();
}

llm::GenerateOptions TextOptionsOf(const GenerateFlags& flags,
                                   const GenerateSettings& settings) {
  llm::GenerateOptions generate;
  generate.sampling = settings.sampling;
  generate.max_tokens = settings.count;
  generate.stop = flags.stop_texts;
  generate.stop_ids = settings.stop_ids;
  if (flags.is_json) generate.json = llm::JsonLimits{.is_object = true};
  generate.prompt_chunk = flags.chunk;
  generate.guesses = flags.guesses;
  return generate;
}

Status PrintText(const Options& options, const GenerateSettings& settings,
                 const TextParts& parts, std::span<const int32_t> prompt,
                 LanguageModel& model, GenerationTimes& times) {
  const GenerateFlags& flags = options.generate;
  TextPrinter printer(parts.tokenizer, model, TextOptionsOf(flags, settings),
                      times);
  if (settings.kind == PromptKind::kText) return printer.Continue(prompt);
  return printer.Chat(
      *parts.chat_template, flags.system,
      settings.kind == PromptKind::kMessage ? &settings.prompt : nullptr);
}

// Generates a text for each line of the file of --prompts, several at once.
Status PrintTexts(const Options& options, const GenerateSettings& settings,
                  const TextParts& parts, const ReadyModel& opened) {
  SharedSession session(*opened.session);
  const int64_t trained = opened.trained_context;
  const int64_t given = options.generate.context;
  EMBER_ASSIGN_OR_RETURN(
      SequenceBatch batch,
      SequenceBatch::Create(session, given > 0 ? given
                                     : trained > 0
                                         ? std::min(trained, kFirstContext)
                                         : kFirstContext));
  llm::GenerateOptions generate = TextOptionsOf(options.generate, settings);
  std::optional<llm::VocabularyTrie> trie;
  if (generate.json)
    generate.trie = &trie.emplace(parts.tokenizer.vocabulary());
  const CatchInterrupt interrupt(*opened.session);
  generate.is_cancelled = [] { return CatchInterrupt::is_requested(); };
  EMBER_ASSIGN_OR_RETURN(
      const PromptTotals totals,
      RunPrompts(parts.tokenizer, batch, settings.prompts, generate));
  std::fprintf(stderr,
               "%zu prompts of %lld tokens and %lld generated tokens in %.2f "
               "s: %.1f tokens/s\n",
               settings.prompts.size(),
               static_cast<long long>(totals.prompt_tokens),
               static_cast<long long>(totals.generated_tokens), totals.seconds,
               static_cast<double>(totals.generated_tokens) /
                   std::max(totals.seconds, 1e-9));
  return OkStatus();
}

Status Run(Options& options) {
  EMBER_ASSIGN_OR_RETURN(const GenerateSettings settings,
                         CheckGenerateFlags(options.generate));
  const bool is_ids = settings.kind == PromptKind::kIds;
  const Clock::time_point begin = Clock::now();
  std::optional<TextParts> parts;
  if (!is_ids) {
    EMBER_ASSIGN_OR_RETURN(parts, LoadTextParts(options, settings));
  }
  EMBER_ASSIGN_OR_RETURN(const ReadyModel opened, Open(options));
  if (settings.kind == PromptKind::kTexts)
    return PrintTexts(options, settings, *parts, opened);
  std::span<const int32_t> prompt = is_ids ? settings.ids : parts->prompt;
  const auto prompt_size = static_cast<int64_t>(prompt.size());
  SharedSession session(*opened.session);
  const Context context =
      ContextOf(options, settings, prompt_size, opened.trained_context);
  EMBER_ASSIGN_OR_RETURN(
      LanguageModel model,
      LanguageModel::Create(session, context.first, context.most));
  if (parts) {
    EMBER_RETURN_IF_ERROR(CheckVocabulary(options, parts->tokenizer, model));
    EMBER_RETURN_IF_ERROR(model.CheckRoom(prompt_size));
  }
  const vm::ModuleDefinition& module = opened.session->module().definition();
  const std::string& load = options.generate.load_state;
  const std::string& save = options.generate.save_state;
  if (!load.empty()) {
    EMBER_RETURN_IF_ERROR(
        RestoreState(UserPath(load), vm::IdentityOf(module), model));
    if (!prompt.empty()) {
      EMBER_ASSIGN_OR_RETURN(prompt, ReuseTokens(prompt, model));
    }
  }
  GenerationTimes times;
  times.load_seconds =
      std::chrono::duration<double>(Clock::now() - begin).count();
  const CatchInterrupt interrupt(*opened.session);
  EMBER_RETURN_IF_ERROR(
      is_ids ? PrintIds(options, settings, prompt, model, times)
             : PrintText(options, settings, *parts, prompt, model, times));
  Report(times, model);
  return save.empty()
             ? OkStatus()
             : SaveState(model, vm::IdentityOf(module), UserPath(save));
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-generate", "MODEL -p TEXT | --chat | --ids=ID,… [flags]",
              "Continues a text, a chat or a sequence of tokens with a "
              "language model: a GGUF file, a\n"
              "Hugging Face folder, or a module that vm-compile made of one. "
              "Times go to stderr. Ctrl-C ends\n"
              "a generation.");
  Declare(options, flags);
  return EndProcess(
      RunTool(argc, argv, flags, [&options] { return Run(options); }));
}
