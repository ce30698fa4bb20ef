// Continues several texts at once.
//
//   EMBER_ASSIGN_OR_RETURN(
//       PromptTotals totals,
//       RunPrompts(tokenizer, batch, {"Hello", "Once upon"}, options));
//
// Prints a line of JSON for each prompt to stdout, in the order of the prompts:
// {"prompt": 0, "text": " there"}. When a text ends, the next prompt takes its
// sequence. Errors: those of a prompt are in its line, "error" instead of
// "text"; the first one is also returned, after all lines. For the main thread
// of a tool.
#ifndef EMBER_TOOLS_LIB_GENERATE_RUN_PROMPTS_H_
#define EMBER_TOOLS_LIB_GENERATE_RUN_PROMPTS_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "llm/generate/generate.h"
#include "llm/tokenizer/tokenizer.h"
#include "tools/lib/generate/sequence_batch.h"

namespace ember::tools {

struct PromptTotals {
  int64_t prompt_tokens = 0, generated_tokens = 0;
  double seconds = 0;
};

// Generates for each prompt with the same options; options.on_text is ignored.
StatusOr<PromptTotals> RunPrompts(const llm::Tokenizer& tokenizer,
                                  SequenceBatch& batch,
                                  std::span<const std::string> prompts,
                                  const llm::GenerateOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_RUN_PROMPTS_H_
