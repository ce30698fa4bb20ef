// Numbers the damaged copies of a module file, so that all or every n-th of
// them can be tried, in several processes, and any one can be made again.
//
//   const MutantList mutants(file, {});
//   for (int64_t i = 0; i < mutants.size(); ++i) {
//     const Mutant mutant = mutants.Make(i);
//     if (!mutant.is_original) Try(mutant.file);
//   }
//
// The header and the metadata are damaged, not the constants. The order is:
// every 32-bit word gets each of kValuesPerWord values; the file is cut off
// after each byte, with the old header and with a header that fits; the
// metadata ends after each byte; in small files every bit is flipped. The
// header's hashes and sizes are made to fit, so that a reader with default
// options gets past them. Exceptions are files that are cut off with the old
// header, and words that are hashes themselves.
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
  // Text for people, such as "word at 0x48: 0x7 became 0x0".
  std::string description;
  // True if the mutant equals the original (for example, a zero became zero).
  bool is_original = false;
};

class MutantList {
 public:
  // Makes the list for a file. `file` is a whole, valid module file; it is
  // copied. Every bit is flipped if header and metadata have at most
  // `most_bytes_for_bits` bytes.
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
  int64_t structure_bytes_ = 0;  // number of bytes of header and metadata
  int64_t words_ = 0, cuts_ = 0, shortened_ = 0, bits_ = 0;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_MUTATION_MUTANTS_H_
