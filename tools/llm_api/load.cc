// Implements the loading of a model: tokenizer, template, module, session.
#include <optional>
#include <utility>

#include "tools/lib/generate/load_tokenizer.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/model_source.h"
#include "tools/lib/models/module_cache.h"
#include "tools/llm_api/objects.h"
#include "vm/api/callbacks.h"

namespace ember::llm_api {
namespace {

// Largest context that is used if the caller gives none, and largest number of
// tokens for which a sequence first allocates memory.
constexpr int64_t kMaxDefaultContext = 4096;

tools::ModelSource SourceOf(const char* path) {
  tools::ModelSource source;
  source.name = path;
  source.path = path;
  return source;
}

StatusOr<llm::Tokenizer> LoadTokenizer(const char* path,
                                       const EmberLlmOptions& options) {
  if (options.tokenizer != nullptr)
    return tools::TokenizerOfFile(SourceOf(options.tokenizer));
  StatusOr<llm::Tokenizer> found = tools::TokenizerOfModel(SourceOf(path));
  if (found.ok()) return found;
  return Status(found.status().code(),
                std::string(found.status().message()) +
                    "; give one with EmberLlmOptions::tokenizer");
}

// Reads the chat template. If the template was not given by the caller, its
// errors are kept and reported only when it is used.
Status LoadTemplate(const EmberLlmOptions& options, Model& model) {
  if (options.chat_template != nullptr) {
    EMBER_ASSIGN_OR_RETURN(model.chat_template,
                           llm::ChatTemplate::Parse(options.chat_template));
    return OkStatus();
  }
  StatusOr<llm::ChatTemplate> found = tools::TemplateOf(model.tokenizer);
  if (found.ok()) {
    model.chat_template = *std::move(found);
  } else {
    model.template_status =
        Status(found.status().code(),
               std::string(found.status().message()) +
                   "; give one with EmberLlmOptions::chat_template");
  }
  return OkStatus();
}

Status OpenSession(const EmberLlmOptions& options, Model& model) {
  EmberSessionOptions defaults = {};
  defaults.struct_size = sizeof(defaults);
  defaults.tier = EMBER_TIER_AUTO;
  EmberSession* session = nullptr;
  const EmberStatus status = api::SessionCreate(
      &model.module, options.session == nullptr ? &defaults : options.session,
      &session);
  if (status != EMBER_OK)
    return Status(static_cast<StatusCode>(status), api::ErrorMessage());
  model.session.reset(session);
  model.shared.emplace(*session->session);
  return OkStatus();
}

// Loads the model's module. If the options name a cache of modules, the module
// comes from there, or is kept there after compiling.
StatusOr<tools::LoadedModel> LoadModule(const char* path,
                                        const EmberLlmOptions& options,
                                        const tools::LoadOptions& load) {
  const tools::ModelSource source = SourceOf(path);
  if (options.model_cache == nullptr || options.model_cache[0] == '\0')
    return tools::LoadModel(source, load);
  tools::ModuleCacheOptions cache_options;
  cache_options.folder = options.model_cache;
  cache_options.min_model_bytes = 0;
  cache_options.is_quiet = true;
  if (options.model_cache_bytes > 0)
    cache_options.max_bytes = options.model_cache_bytes;
  const tools::ModuleCache cache(source, load, cache_options);
  if (std::optional<tools::LoadedModel> kept = cache.Load())
    return *std::move(kept);
  if (!cache.keeps()) return tools::LoadModel(source, load);
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         tools::CompileModel(source, load));
  return cache.Keep(std::move(definition));
}

StatusOr<std::shared_ptr<Model>> LoadModel(const char* path,
                                           const EmberLlmOptions& options) {
  if (options.context < 0) {
    return InvalidArgumentError("context: expected at least 0, found " +
                                std::to_string(options.context));
  }
  if (options.model_cache_bytes < 0) {
    return InvalidArgumentError(
        "model_cache_bytes: expected at least 0, found " +
        std::to_string(options.model_cache_bytes));
  }
  const tools::ModelSource source = SourceOf(path);
  EMBER_ASSIGN_OR_RETURN(const tools::OpenedModel opened,
                         tools::OpenModel(source));
  EMBER_ASSIGN_OR_RETURN(llm::Tokenizer tokenizer,
                         LoadTokenizer(path, options));
  auto model = std::make_shared<Model>(std::move(tokenizer));
  EMBER_RETURN_IF_ERROR(LoadTemplate(options, *model));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Progress> progress,
                         api::ProgressOf(options.progress));
  tools::LoadOptions load;
  load.compile.progress = progress.get();
  load.note = [](std::string_view) {};
  if (options.guesses != 0 && !opened.kind.is_module) load.entry = "all";
  EMBER_ASSIGN_OR_RETURN(const tools::LoadedModel loaded,
                         LoadModule(path, options, load));
  model->module.module = loaded.module;
  model->context = options.context;
  if (model->context == 0) {
    const int64_t trained = tools::TrainedContext(*loaded.module);
    model->context = trained > 0 ? std::min(trained, kMaxDefaultContext)
                                 : kMaxDefaultContext;
  }
  EMBER_RETURN_IF_ERROR(OpenSession(options, *model));
  // Creating a first sequence checks that the module is a language model. It
  // also shows the context, if the module has a fixed one.
  EMBER_ASSIGN_OR_RETURN(const tools::LanguageModel first, CreateState(*model));
  model->context = first.max_context();
  const int64_t logits = first.vocabulary();
  const int32_t tokens = model->tokenizer.vocabulary().size();
  if (logits >= 0 && logits < tokens) {
    return InvalidArgumentError(
        source.name + ": expected a logit for each of the " +
        std::to_string(tokens) + " tokens of the tokenizer, found " +
        std::to_string(logits) + "; give the tokenizer of this model");
  }
  return model;
}

}  // namespace

StatusOr<tools::LanguageModel> CreateState(Model& model) {
  return tools::LanguageModel::Create(
      *model.shared, std::min(model.context, kMaxDefaultContext),
      model.context);
}

const llm::VocabularyTrie& Model::Trie() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!trie_) trie_.emplace(tokenizer.vocabulary());
  return *trie_;
}

EmberStatus Load(const char* path, const EmberLlmOptions* options,
                 EmberLlm** model) {
  return Guarded([&]() -> Status {
    if (path == nullptr || model == nullptr) return api::NullError("load");
    *model = nullptr;
    EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Model> loaded,
                           LoadModel(path, CopyOptions(options)));
    *model = new EmberLlm{std::move(loaded)};
    return OkStatus();
  });
}

void Release(EmberLlm* model) { delete model; }

}  // namespace ember::llm_api
