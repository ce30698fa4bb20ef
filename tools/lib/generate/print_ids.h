// Chooses and prints the ids of a generation without a tokenizer.
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
  // Tokens that are chosen instead of the sampler's, from the first step on.
  std::vector<int32_t> forced;
  std::vector<int32_t> stop_ids;  // Tokens behind which the generation ends.
  int64_t top = 0;
};

class IdPrinter : public llm::TokenChooser {
 public:
  // The tokens of the prompt count for penalties.
  IdPrinter(IdPrinterOptions options, std::vector<int32_t> prompt);

  StatusOr<int32_t> Choose(std::span<const float> logits) override;
  StatusOr<std::optional<llm::EndReason>> Take(int32_t id) override;
  // Ends the line.
  void Finish();

 private:
  IdPrinterOptions options_;
  std::vector<int32_t> prompt_;
  // Created when the number of logits is known.
  std::optional<llm::Sampler> sampler_;
  size_t step_ = 0;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_PRINT_IDS_H_
