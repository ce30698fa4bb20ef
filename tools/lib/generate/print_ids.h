// Generates tokens for a model without a tokenizer: chooses ids and prints
// them.
//
//   IdPrinter printer({.forced = {5, 6}, .stop_ids = {2}});
//   llm::RunTokenLoop(model, prompt, options, printer);   // 5,6,17
//   printer.Finish();
//
// Prints the ids to stdout as they are chosen, one line in all; or with `top`
// for each step a line of JSON with the likeliest tokens and their
// probabilities: [[17, 0.331], [4, 0.12]]. Errors are those of the sampler. For
// the main thread of a tool.
#ifndef EMBER_TOOLS_LIB_GENERATE_PRINT_IDS_H_
#define EMBER_TOOLS_LIB_GENERATE_PRINT_IDS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "llm/generate/token_loop.h"
#include "llm/sampling/sampler.h"

namespace ember::tools {

struct IdPrinterOptions {
  llm::SamplingOptions sampling;
  // Ids that are chosen in the first steps instead of the sampler's, for tests.
  std::vector<int32_t> forced;
  std::vector<int32_t> stop_ids;  // The generation ends after one of these
                                  // tokens.
  int64_t top = 0;
};

class IdPrinter : public llm::TokenChooser {
 public:
  // `prompt`: the tokens of the prompt, which the sampler's penalties count,
  // too.
  IdPrinter(IdPrinterOptions options, std::vector<int32_t> prompt);

  StatusOr<int32_t> Choose(std::span<const float> logits) override;
  StatusOr<std::optional<llm::EndReason>> Take(int32_t id) override;
  // Ends the line of printed ids.
  void Finish();

 private:
  IdPrinterOptions options_;
  std::vector<int32_t> prompt_;
  // Created in the first step, when the number of logits is known.
  std::optional<llm::Sampler> sampler_;
  size_t step_ = 0;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_PRINT_IDS_H_
