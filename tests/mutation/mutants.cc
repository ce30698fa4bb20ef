#include "tests/mutation/mutants.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"
#include "vm/format/container.h"

namespace ember::tests {
namespace {

using vm::ContainerHeader;

constexpr int64_t kHeaderBytes = sizeof(ContainerHeader);

ContainerHeader HeaderOf(std::span<const uint8_t> file) {
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

void Write(const ContainerHeader& header, std::vector<uint8_t>& file) {
  std::memcpy(file.data(), &header, sizeof(header));
}

// Updates the header's hashes and sizes for the file's contents. A size beyond
// the end of the file is left for the reader to detect.
void Seal(std::vector<uint8_t>& file) {
  ContainerHeader header = HeaderOf(file);
  if (header.metadata_size <= file.size() - sizeof(header)) {
    header.metadata_hash = HashBytes(std::span<const uint8_t>(file).subspan(
        sizeof(header), static_cast<size_t>(header.metadata_size)));
  }
  header.header_hash = vm::HashOfHeader(header);
  Write(header, file);
}

template <typename... Values>
std::string Format(const char* format, Values... values) {
  char text[128];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

long long Long(int64_t value) { return static_cast<long long>(value); }

}  // namespace

MutantList::MutantList(std::span<const uint8_t> file,
                       int64_t most_bytes_for_bits)
    : file_(file.begin(), file.end()) {
  EMBER_CHECK(file.size() >= sizeof(ContainerHeader)) << "no module file";
  const ContainerHeader header = HeaderOf(file_);
  EMBER_CHECK(header.metadata_size <= file.size() - sizeof(header))
      << "no valid module file";
  structure_bytes_ = kHeaderBytes + static_cast<int64_t>(header.metadata_size);
  words_ = structure_bytes_ / 4 * kValuesPerWord;
  cuts_ = 2 * structure_bytes_;
  shortened_ = structure_bytes_ - kHeaderBytes;
  bits_ = structure_bytes_ <= most_bytes_for_bits ? 8 * structure_bytes_ : 0;
}

Mutant MutantList::Make(int64_t number) const {
  EMBER_CHECK(number >= 0 && number < size());
  if (number < words_)
    return ChangeWord(number / kValuesPerWord, number % kValuesPerWord);
  number -= words_;
  if (number < cuts_) return Cut(number / 2, number % 2 == 1);
  number -= cuts_;
  if (number < shortened_) return ShortenMetadata(number);
  return FlipBit(number - shortened_);
}

uint32_t MutantList::WordAt(int64_t word) const {
  uint32_t value;
  std::memcpy(&value, file_.data() + 4 * word, sizeof value);
  return value;
}

void MutantList::SetWord(int64_t word, uint32_t value, Mutant& mutant) const {
  const uint32_t before = WordAt(word);
  mutant.file = file_;
  mutant.is_original = value == before;
  mutant.description =
      Format("word at 0x%llx: 0x%x became 0x%x", Long(4 * word), before, value);
  std::memcpy(mutant.file.data() + 4 * word, &value, sizeof value);
  // Numbers of the 32-bit words that hold hashes. If one of these words was
  // changed, the hashes are not made to fit.
  constexpr int64_t kHash = offsetof(ContainerHeader, metadata_hash) / 4;
  constexpr int64_t kHeaderHash = offsetof(ContainerHeader, header_hash) / 4;
  if (word / 2 != kHash / 2 && word / 2 != kHeaderHash / 2) Seal(mutant.file);
}

Mutant MutantList::ChangeWord(int64_t word, int64_t value) const {
  const uint32_t before = WordAt(word);
  // The word also gets the value of another word of the file: a size, offset or
  // opcode that is valid there may be accepted here, too.
  const int64_t elsewhere =
      (word * 7919 + 13) % std::max<int64_t>(structure_bytes_ / 4, 1);
  const uint32_t values[kValuesPerWord] = {
      0,          1,          before + 1,          before - 1,
      0x7fffffff, 0xffffffff, before ^ 0x80000000, WordAt(elsewhere)};
  Mutant mutant;
  SetWord(word, values[value], mutant);
  return mutant;
}

Mutant MutantList::Cut(int64_t length, bool fits) const {
  Mutant mutant;
  mutant.file.assign(file_.begin(), file_.begin() + length);
  mutant.description = Format("cut off behind byte %lld%s", Long(length),
                              fits ? ", with a header that fits" : "");
  if (!fits) return mutant;
  // No header fits a file that ends inside its header, so this mutant is
  // skipped: it counts as the original.
  if (length < kHeaderBytes) {
    mutant.is_original = true;
    return mutant;
  }
  ContainerHeader header = HeaderOf(mutant.file);
  header.file_size = static_cast<uint64_t>(length);
  header.metadata_size = static_cast<uint64_t>(length - kHeaderBytes);
  Write(header, mutant.file);
  Seal(mutant.file);
  return mutant;
}

Mutant MutantList::ShortenMetadata(int64_t size) const {
  Mutant mutant;
  mutant.file = file_;
  mutant.description = Format("metadata of %lld bytes", Long(size));
  ContainerHeader header = HeaderOf(mutant.file);
  header.metadata_size = static_cast<uint64_t>(size);
  Write(header, mutant.file);
  Seal(mutant.file);
  return mutant;
}

Mutant MutantList::FlipBit(int64_t bit) const {
  const int64_t word = bit / 32;
  Mutant mutant;
  if (word < structure_bytes_ / 4) {
    SetWord(word, WordAt(word) ^ (uint32_t{1} << bit % 32), mutant);
    return mutant;
  }
  // This bit is behind the last whole word, so SetWord cannot flip it.
  mutant.file = file_;
  mutant.description = Format("bit %lld", Long(bit));
  mutant.file[static_cast<size_t>(bit / 8)] ^=
      static_cast<uint8_t>(1 << bit % 8);
  Seal(mutant.file);
  return mutant;
}

}  // namespace ember::tests
