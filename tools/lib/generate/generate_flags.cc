#include "tools/lib/generate/generate_flags.h"

#include <cstdio>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "llm/sampling/stop_strings.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/generate/parse_ids.h"

namespace ember::tools {
namespace {

// Number of tokens to generate if -n is not given or 0. In chats, replies then
// have no limit.
constexpr int64_t kDefaultCount = 128;

Status CheckAtLeast(const char* flag, int64_t value, int64_t least) {
  if (value >= least && value <= std::numeric_limits<int32_t>::max())
    return OkStatus();
  return CommandLineError(
      std::string(flag) + ": expected at least " + std::to_string(least) +
      " and less than 2^31, found " + std::to_string(value));
}

Status CheckNumbers(const GenerateFlags& flags) {
  EMBER_RETURN_IF_ERROR(CheckAtLeast("-n", flags.count, 0));
  EMBER_RETURN_IF_ERROR(CheckAtLeast("--chunk", flags.chunk, 1));
  EMBER_RETURN_IF_ERROR(CheckAtLeast("--context", flags.context, 0));
  EMBER_RETURN_IF_ERROR(CheckAtLeast("--sequences", flags.sequences, 1));
  EMBER_RETURN_IF_ERROR(CheckAtLeast("--top", flags.top, 0));
  EMBER_RETURN_IF_ERROR(CheckAtLeast("--guesses", flags.guesses, 0));
  EMBER_RETURN_IF_ERROR(CheckAtLeast("--top-k", flags.top_k, 0));
  EMBER_RETURN_IF_ERROR(
      CheckAtLeast("--penalty-window", flags.penalty_window, 0));
  return CheckAtLeast("--seed", flags.seed, 0);
}

StatusOr<llm::SamplingOptions> SamplingOf(const GenerateFlags& flags) {
  llm::SamplingOptions sampling;
  sampling.temperature = static_cast<float>(flags.temperature);
  sampling.top_k = static_cast<int32_t>(flags.top_k);
  sampling.top_p = static_cast<float>(flags.top_p);
  sampling.min_p = static_cast<float>(flags.min_p);
  sampling.repetition_penalty = static_cast<float>(flags.repetition_penalty);
  sampling.frequency_penalty = static_cast<float>(flags.frequency_penalty);
  sampling.presence_penalty = static_cast<float>(flags.presence_penalty);
  sampling.penalty_window = flags.penalty_window == 0
                                ? -1
                                : static_cast<int32_t>(flags.penalty_window);
  sampling.seed = static_cast<uint64_t>(flags.seed);
  EMBER_RETURN_IF_ERROR(
      AsCommandLineError(llm::Sampler::Create(sampling, 1).status()));
  return sampling;
}

// Returns the lines of a text, without empty ones.
std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

StatusOr<PromptKind> KindOf(const GenerateFlags& flags) {
  const bool has_file = !flags.prompt_file.empty();
  const bool has_texts = !flags.prompts_file.empty();
  const size_t prompts = flags.prompts.size() + flags.long_prompts.size() +
                         (has_file ? 1 : 0) + (has_texts ? 1 : 0) +
                         (flags.ids.empty() ? 0 : 1);
  if (prompts > 1) {
    return CommandLineError(
        "expected one of -p, --prompt-file, --prompts and --ids, found " +
        std::to_string(prompts));
  }
  if (flags.is_chat && (has_texts || !flags.ids.empty())) {
    return CommandLineError(
        std::string("--chat: expected -p TEXT or no prompt, found --") +
        (has_texts ? "prompts" : "ids"));
  }
  if (flags.is_chat)
    return prompts == 0 ? PromptKind::kMessages : PromptKind::kMessage;
  if (prompts == 0) {
    return CommandLineError(
        "expected a prompt, found none: give -p TEXT, --prompt-file=FILE, "
        "--chat or --ids=ID,ID,… (see --help)");
  }
  if (has_texts) return PromptKind::kTexts;
  return flags.ids.empty() ? PromptKind::kText : PromptKind::kIds;
}

// Returns an error if a flag was given that has no effect on this kind of
// prompt (such as --system without --chat).
Status CheckUnused(const GenerateFlags& flags, PromptKind kind) {
  struct Use {
    const char* flag;
    bool is_given, is_used;
    const char* needs;
  };
  const bool is_ids = kind == PromptKind::kIds;
  const bool is_text = !is_ids;
  const bool is_single = kind != PromptKind::kTexts;
  const Use uses[] = {
      {"--system", !flags.system.empty(), flags.is_chat, "--chat"},
      {"--template", !flags.template_file.empty(), flags.is_chat, "--chat"},
      {"--forced", !flags.forced.empty(), is_ids, "--ids"},
      {"--top", flags.top > 0, is_ids, "--ids"},
      {"--tokenizer", !flags.tokenizer.empty(), is_text, "-p or --chat"},
      {"--stop-text", !flags.stop_texts.empty(), is_text, "-p or --chat"},
      {"--json", flags.is_json, is_text, "-p or --chat"},
      {"--guesses", flags.guesses > 0, is_single, "-p, --chat or --ids"},
      {"--save-state", !flags.save_state.empty(), is_single,
       "-p, --chat or --ids"},
      {"--load-state", !flags.load_state.empty(), is_single,
       "-p, --chat or --ids"},
  };
  for (const Use& use : uses) {
    if (!use.is_given || use.is_used) continue;
    return CommandLineError(std::string(use.flag) + ": expected " + use.needs +
                            " with it, found none");
  }
  return OkStatus();
}

StatusOr<std::string> ReadStdin() {
  std::string text;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof(buffer), stdin))
    text.append(buffer, count);
  if (std::ferror(stdin) != 0)
    return InvalidArgumentError("--prompt-file: expected stdin to be readable");
  return text;
}

}  // namespace

void AddGenerateFlags(Flags& flags, GenerateFlags* values) {
  flags.Add("p", &values->prompts, "TEXT",
            "Continues this text. With --chat it is the message that the model "
            "answers.");
  flags.Add("prompt", &values->long_prompts, "TEXT", "Does the same as -p.");
  flags.Add("prompt-file", &values->prompt_file, "FILE",
            "Reads the text of -p from a file; - is stdin.");
  flags.Add("prompts", &values->prompts_file, "FILE",
            "Continues each line of a file, several at once, and prints a line "
            "of JSON for each.\n"
            "- is stdin.");
  flags.Add("sequences", &values->sequences, "N",
            "Continues N lines of --prompts at once: a step reads the weights "
            "once for all of them.");
  flags.Add("chat", &values->is_chat,
            "Talks with the model by its chat template. Without -p each line "
            "of stdin is a message;\n"
            "the end of input (Ctrl-D) ends the chat.");
  flags.Add("system", &values->system, "TEXT",
            "Begins the chat with this message of the role system.");
  flags.Add("ids", &values->ids, "ID,ID,…",
            "Continues these ids of tokens, and prints ids instead of a text.");
  flags.Add("tokenizer", &values->tokenizer, "FILE",
            "Reads the tokenizer from a GGUF file, a tokenizer.json or a "
            "folder with one, instead of\n"
            "the model.");
  flags.Add("template", &values->template_file, "FILE",
            "Reads the chat template (Jinja) from a file.");
  flags.Add("n", &values->count, "N",
            "Generates at most N tokens. 0: 128; with --chat as many as the "
            "context has room for.");
  flags.Add("stop", &values->stop_ids, "ID",
            "Stops behind this token. May be repeated.");
  flags.Add("stop-text", &values->stop_texts, "TEXT",
            "Stops before this text. May be repeated.");
  flags.Add("json", &values->is_json,
            "Generates a JSON object: tokens that continue none are left out.");
  flags.Add("temperature", &values->temperature, "X",
            "Draws tokens at this temperature. 0: takes the likeliest token; "
            "top-k, top-p and min-p\n"
            "then have no effect.");
  flags.Add("top-k", &values->top_k, "N",
            "Draws from the N likeliest tokens only. 0: from all.");
  flags.Add("top-p", &values->top_p, "X",
            "Draws from the likeliest tokens that have this probability "
            "together. 1: from all.");
  flags.Add("min-p", &values->min_p, "X",
            "Draws from tokens that are at least X times as likely as the "
            "likeliest one.");
  flags.Add("repetition-penalty", &values->repetition_penalty, "X",
            "Makes tokens that occurred less likely, by this factor of their "
            "logits. 1: has no effect.");
  flags.Add("frequency-penalty", &values->frequency_penalty, "X",
            "Subtracts X from the logit of a token each time that it "
            "occurred.");
  flags.Add("presence-penalty", &values->presence_penalty, "X",
            "Subtracts X once from the logit of a token that occurred.");
  flags.Add("penalty-window", &values->penalty_window, "N",
            "Lets penalties look at the last N tokens. 0: at all tokens.");
  flags.Add("seed", &values->seed, "N",
            "Begins the random numbers with N: the same seed gives the same "
            "text.");
  flags.Add("guesses", &values->guesses, "N",
            "Guesses up to N tokens from the text so far and checks them in "
            "one step, which is faster\n"
            "where texts repeat. Results stay the same.");
  flags.Add("save-state", &values->save_state, "FILE",
            "Saves the tokens and their state to this file at the end.");
  flags.Add("load-state", &values->load_state, "FILE",
            "Begins with the state of this file. Tokens with which the prompt "
            "begins, too, are not\n"
            "computed again.");
  flags.Add("context", &values->context, "N",
            "Ends when there are N tokens. 0: the prompt and the tokens of -n; "
            "without a limit of tokens\n"
            "as many as the model was trained with. The state's memory grows "
            "from 4096 tokens.");
  flags.Add("chunk", &values->chunk, "N",
            "Runs the prompt in parts of at most N tokens.");
  flags.Add("top", &values->top, "N",
            "Prints the N likeliest tokens of each step with their "
            "probabilities, one line of JSON each;\n"
            "for --ids.");
  flags.Add("forced", &values->forced, "ID,ID,…",
            "Appends these tokens instead of the likeliest ones, for comparing "
            "with other programs; for\n"
            "--ids.");
}

StatusOr<GenerateSettings> CheckGenerateFlags(const GenerateFlags& flags) {
  GenerateSettings settings;
  EMBER_ASSIGN_OR_RETURN(settings.kind, KindOf(flags));
  EMBER_RETURN_IF_ERROR(CheckUnused(flags, settings.kind));
  if (!flags.ids.empty()) {
    EMBER_ASSIGN_OR_RETURN(settings.ids, ParseIds("--ids", flags.ids));
  }
  for (const std::string& id : flags.stop_ids) {
    EMBER_ASSIGN_OR_RETURN(const std::vector<int32_t> parsed,
                           ParseIds("--stop", id));
    settings.stop_ids.insert(settings.stop_ids.end(), parsed.begin(),
                             parsed.end());
  }
  if (!flags.forced.empty()) {
    EMBER_ASSIGN_OR_RETURN(settings.forced, ParseIds("--forced", flags.forced));
  }
  EMBER_RETURN_IF_ERROR(CheckNumbers(flags));
  EMBER_ASSIGN_OR_RETURN(settings.sampling, SamplingOf(flags));
  const Status stop = llm::StopStrings::Create(flags.stop_texts).status();
  if (!stop.ok())
    return CommandLineError("--stop-text: " + std::string(stop.message()));
  settings.count = flags.count;
  if (flags.count == 0) settings.count = flags.is_chat ? -1 : kDefaultCount;
  if (!flags.prompts.empty()) settings.prompt = flags.prompts[0];
  if (!flags.long_prompts.empty()) settings.prompt = flags.long_prompts[0];
  if (flags.prompt_file == "-") {
    EMBER_ASSIGN_OR_RETURN(settings.prompt, ReadStdin());
  } else if (!flags.prompt_file.empty()) {
    EMBER_ASSIGN_OR_RETURN(settings.prompt,
                           ReadFile(UserPath(flags.prompt_file)));
  }
  if (settings.kind == PromptKind::kTexts) {
    const std::string& file = flags.prompts_file;
    EMBER_ASSIGN_OR_RETURN(
        const std::string text,
        file == "-" ? ReadStdin() : ReadFile(UserPath(file)));
    settings.prompts = LinesOf(text);
    if (settings.prompts.empty())
      return InvalidArgumentError(file +
                                  ": expected a prompt in each line, "
                                  "found an empty file");
  }
  return settings;
}

}  // namespace ember::tools
