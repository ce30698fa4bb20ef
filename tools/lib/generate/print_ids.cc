#include "tools/lib/generate/print_ids.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "tools/lib/generate/language_model.h"

namespace ember::tools {
namespace {

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

}  // namespace

IdPrinter::IdPrinter(IdPrinterOptions options, std::vector<int32_t> prompt)
    : options_(std::move(options)), prompt_(std::move(prompt)) {}

StatusOr<int32_t> IdPrinter::Choose(std::span<const float> logits) {
  if (!sampler_) {
    EMBER_ASSIGN_OR_RETURN(
        sampler_, llm::Sampler::Create(options_.sampling,
                                       static_cast<int32_t>(logits.size())));
    for (const int32_t id : prompt_) sampler_->Accept(id);
  }
  if (options_.top > 0) PrintTop(logits, options_.top);
  if (step_ < options_.forced.size()) return options_.forced[step_];
  return sampler_->Sample(logits, nullptr);
}

StatusOr<std::optional<llm::EndReason>> IdPrinter::Take(int32_t id) {
  sampler_->Accept(id);
  if (options_.top == 0) std::printf("%s%d", step_ == 0 ? "" : ",", id);
  std::fflush(stdout);
  ++step_;
  if (std::ranges::count(options_.stop_ids, id) > 0)
    return std::optional(llm::EndReason::kEndToken);
  return std::optional<llm::EndReason>();
}

void IdPrinter::Finish() {
  if (options_.top == 0) std::printf("\n");
  std::fflush(stdout);
}

}  // namespace ember::tools
