#include "tools/lib/generate/run_prompts.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tools/lib/cli/json.h"
#include "tools/lib/generate/batched_sequences.h"
#include "tools/lib/generate/print_text.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

std::string LineOf(size_t number, const StatusOr<llm::Generation>& made) {
  return "{\"prompt\": " + std::to_string(number) +
         (made.ok() ? ", \"text\": " + JsonString(made->text)
                    : ", \"error\": " + JsonString(made.status().message())) +
         "}\n";
}

class PromptRunner {
 public:
  PromptRunner(const llm::Tokenizer& tokenizer, SequenceBatch& batch,
               std::span<const std::string> prompts,
               const llm::GenerateOptions& options)
      : tokenizer_(tokenizer),
        prompts_(prompts),
        options_(options),
        batched_(batch),
        made_(prompts.size()),
        threads_(std::min(batch.size(), prompts.size())) {}

  // Generates for all prompts. Returns the first prompt's error, if any failed.
  StatusOr<PromptTotals> Run();

 private:
  void Work();
  StatusOr<llm::Generation> Generate(const std::string& prompt);
  void PrintThose();

  const llm::Tokenizer& tokenizer_;
  const std::span<const std::string> prompts_;
  const llm::GenerateOptions& options_;
  BatchedSequences batched_;
  std::atomic<size_t> next_ = 0;  // index of the next prompt that no thread has
                                  // taken yet
  std::mutex mutex_;              // guards made_ and printed_
  std::vector<std::optional<StatusOr<llm::Generation>>> made_;
  size_t printed_ = 0;
  const size_t threads_;
};

StatusOr<llm::Generation> PromptRunner::Generate(const std::string& prompt) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                         EncodePrompt(tokenizer_, prompt));
  BatchedSequences::Member member(batched_);
  return llm::Generate(tokenizer_, member, ids, options_);
}

// Prints the texts that are finished, in the order of the prompts: a text waits
// until all earlier ones are printed. The caller must hold mutex_.
void PromptRunner::PrintThose() {
  for (; printed_ < made_.size() && made_[printed_]; ++printed_)
    std::fputs(LineOf(printed_, *made_[printed_]).c_str(), stdout);
  std::fflush(stdout);
}

void PromptRunner::Work() {
  for (size_t i = next_++; i < prompts_.size(); i = next_++) {
    StatusOr<llm::Generation> made = Generate(prompts_[i]);
    const std::scoped_lock lock(mutex_);
    made_[i] = std::move(made);
    PrintThose();
  }
}

StatusOr<PromptTotals> PromptRunner::Run() {
  const Clock::time_point begin = Clock::now();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < threads_; ++i)
    threads.emplace_back([this] { Work(); });
  for (std::thread& thread : threads) thread.join();
  PromptTotals totals;
  totals.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (const auto& made : made_) {
    EMBER_RETURN_IF_ERROR(made->status());
    totals.prompt_tokens += (*made)->loop.prompt_tokens;
    totals.generated_tokens += (*made)->loop.generated_tokens;
  }
  return totals;
}

}  // namespace

StatusOr<PromptTotals> RunPrompts(const llm::Tokenizer& tokenizer,
                                  SequenceBatch& batch,
                                  std::span<const std::string> prompts,
                                  const llm::GenerateOptions& options) {
  return PromptRunner(tokenizer, batch, prompts, options).Run();
}

}  // namespace ember::tools
