#include "base/mapped_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"

namespace ember {
namespace {

// Returns how many of the range's pages are in physical memory.
size_t ResidentPages(std::span<const uint8_t> bytes) {
  // /proc/self/pagemap has an entry of 8 bytes for each page; bit 63 is set if
  // the page is in physical memory.
  FILE* const map = std::fopen("/proc/self/pagemap", "rb");
  if (map == nullptr) return 0;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  size_t present = 0;
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  for (uintptr_t at = begin; at < begin + bytes.size(); at += page) {
    uint64_t entry = 0;
    std::fseek(map, static_cast<long>(at / page * sizeof entry), SEEK_SET);
    if (std::fread(&entry, sizeof entry, 1, map) == 1) present += entry >> 63;
  }
  std::fclose(map);
  return present;
}

uint64_t SumOf(std::span<const uint8_t> bytes) {
  uint64_t sum = 0;
  for (const uint8_t byte : bytes) sum += byte;
  return sum;
}

TEST(MappedPages, FilesAreReadAgain) {
  const std::string path = testing::TempDir() + "/mapped_pages";
  std::string contents(1 << 20, 'x');
  contents[70'000] = 'y';
  ASSERT_TRUE(WriteFileAtomically(path, contents).ok());
  StatusOr<MappedFile> file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const std::span<const uint8_t> bytes = file->bytes();
  const uint64_t sum = SumOf(bytes);
  const size_t before = ResidentPages(bytes);
  ReleaseMappedPages(bytes.subspan(10, bytes.size() - 20));
  if (before > 2) {
    EXPECT_LE(ResidentPages(bytes), 2u);
  }
  EXPECT_EQ(SumOf(bytes), sum);
}

TEST(MappedPages, FindsTheFile) {
  // The parser of /proc/self/maps must accept file names with spaces.
  const std::string path = testing::TempDir() + "/mapped  pages of a file";
  ASSERT_TRUE(WriteFileAtomically(path, std::string(1 << 16, 'x')).ok());
  StatusOr<MappedFile> file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const std::optional<FileMapping> found =
      FindMapping(file->bytes().subspan(5000, 60));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->path.ends_with("/mapped  pages of a file")) << found->path;
  EXPECT_EQ(found->offset, 0u);
  EXPECT_EQ(found->begin, reinterpret_cast<uintptr_t>(file->bytes().data()));
  EXPECT_TRUE(found->Contains(file->bytes()));
  EXPECT_FALSE(found->Contains({file->bytes().data() + 1, size_t{1} << 40}));
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(found->inode, info.st_ino);
  const std::vector<uint8_t> memory(100);
  EXPECT_FALSE(FindMapping(memory).has_value());
}

// Memory that belongs to no file must not be released, because its contents
// would be lost.
TEST(MappedPages, OtherMemoryIsLeftAlone) {
  std::vector<uint8_t> memory(1 << 20, 7);
  ReleaseMappedPages(memory);
  EXPECT_EQ(SumOf(memory), memory.size() * 7);
  void* const anonymous = ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(anonymous, MAP_FAILED);
  auto* const data = static_cast<uint8_t*>(anonymous);
  std::fill(data, data + (1 << 20), 7);
  ReleaseMappedPages({data, 1 << 20});
  EXPECT_EQ(SumOf({data, 1 << 20}), (1u << 20) * 7);
  ::munmap(anonymous, 1 << 20);
}

// The range that is passed ends after the file's mapping; only the mapped part
// may be released.
TEST(MappedPages, OnlyWhatIsMapped) {
  const std::string path = testing::TempDir() + "/mapped_pages_end";
  ASSERT_TRUE(WriteFileAtomically(path, std::string(1 << 16, 'x')).ok());
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t size = (1 << 16) + 2 * page;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 7, size);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(
      ::mmap(memory, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0),
      memory);
  ::close(file);
  const std::span<const uint8_t> all(static_cast<const uint8_t*>(memory), size);
  ReleaseMappedPages(all);
  EXPECT_EQ(SumOf(all), (uint64_t{1} << 16) * 'x' + 2 * page * 7);
  ::munmap(memory, size);
}

}  // namespace
}  // namespace ember
