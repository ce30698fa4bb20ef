// A set of tokens, one bit each.
//
//   TokenMask mask(vocabulary.size());
//   mask.Add(5);
//   mask.Has(5);   // true
//
// Thread-compatible.
#ifndef EMBER_LLM_SAMPLING_TOKEN_MASK_H_
#define EMBER_LLM_SAMPLING_TOKEN_MASK_H_

#include <bit>
#include <cstdint>
#include <vector>

namespace ember::llm {

class TokenMask {
 public:
  explicit TokenMask(int32_t size = 0)
      : size_(size), words_((static_cast<size_t>(size) + 63) / 64) {}

  int32_t size() const { return size_; }
  // The ids of the functions must be at least 0 and below size().
  void Add(int32_t id) { words_[id / 64] |= uint64_t{1} << (id % 64); }
  bool Has(int32_t id) const { return words_[id / 64] >> (id % 64) & 1; }
  int32_t Count() const {
    int32_t count = 0;
    for (const uint64_t word : words_) count += std::popcount(word);
    return count;
  }

 private:
  int32_t size_;
  std::vector<uint64_t> words_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_SAMPLING_TOKEN_MASK_H_
