#include "llm/tokenizer/text_stream.h"

#include <utility>

#include "llm/text/utf8.h"

namespace ember::llm {

std::string TextStream::Push(int32_t id) {
  const Vocabulary& vocabulary = tokenizer_->vocabulary();
  const bool adds_text = vocabulary.Has(id) &&
                         (options_.render_special || !vocabulary.IsHidden(id));
  if (!adds_text) return {};
  DecodeOptions options = options_;
  options.is_start = options_.is_start && !has_text_;
  has_text_ = true;
  held_ += tokenizer_->Decode({&id, 1}, options);
  const size_t cut = CutUtf8Size(held_);
  std::string complete = held_.substr(0, held_.size() - cut);
  held_.erase(0, complete.size());
  return ToValidUtf8(complete);
}

std::string TextStream::Finish() {
  has_text_ = false;
  return ToValidUtf8(std::exchange(held_, {}));
}

}  // namespace ember::llm
