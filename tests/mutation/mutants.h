// Damaged copies of a module file, numbered, so that all or every n-th of them
// can be tried, in several processes, and one of them made again.
//
//   const MutantList mutants(file, {});
//   for (int64_t i = 0; i < mutants.size(); ++i) {
//     const Mutant mutant = mutants.Make(i);
//     if (!mutant.is_original) Try(mutant.file);
//   }
//
// What is damaged is the part that is not constants: header and metadata. In
// this order: every word of 32 bits gets each of kValuesPerWord values; the
// file is cut off behind each byte, as it is and with a header that fits; the
// metadata ends behind each byte; in small files every bit is flipped. But for
// files that are cut off as they are, and words that are hashes themselves, the
// hashes and sizes of the header are made to fit, so that a reader at default
// options gets to what lies behind them.
//
// Thread-safe: a list never changes.
#ifndef EMBER_TESTS_MUTATION_MUTANTS_H_
#define EMBER_TESTS_MUTATION_MUTANTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ember::tests {

inline constexpr int64_t kValuesPerWord = 8;

struct Mutant {
  std::vector<uint8_t> file;
  // "word at 0x48: 0x7 became 0x0", for people.
  std::string description;
  // The change made no difference (a zero that becomes zero).
  bool is_original = false;
};

class MutantList {
 public:
  // `file` is a whole, valid module file; it is copied. Every bit is flipped
  // where header and metadata have at most `most_bytes_for_bits`.
  explicit MutantList(std::span<const uint8_t> file,
                      int64_t most_bytes_for_bits = 4096);

  int64_t size() const { return words_ + cuts_ + shortened_ + bits_; }
  Mutant Make(int64_t number) const;

 private:
  Mutant ChangeWord(int64_t word, int64_t value) const;
  Mutant Cut(int64_t length, bool fits) const;
  Mutant ShortenMetadata(int64_t size) const;
  Mutant FlipBit(int64_t bit) const;
  uint32_t WordAt(int64_t word) const;
  void SetWord(int64_t word, uint32_t value, Mutant& mutant) const;

  std::vector<uint8_t> file_;
  int64_t structure_bytes_ = 0;  // header and metadata
  int64_t words_ = 0, cuts_ = 0, shortened_ = 0, bits_ = 0;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_MUTATION_MUTANTS_H_
