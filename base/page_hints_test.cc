#include "base/page_hints.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "gtest/gtest.h"

namespace ember {
namespace {

// Returns the number of pages of the range that are in physical memory.
size_t ResidentPages(void* memory, size_t bytes) {
  std::vector<unsigned char> is_resident(
      bytes / static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(mincore(memory, bytes, is_resident.data()), 0);
  size_t count = 0;
  for (const unsigned char one : is_resident) count += one & 1;
  return count;
}

TEST(PageHintsTest, TouchedPagesAreThereAndUnchanged) {
  constexpr size_t kBytes = size_t{1} << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(ResidentPages(memory, kBytes), 0u);
  auto* const bytes = static_cast<uint8_t*>(memory);
  bytes[5] = 7;
  // The range neither begins nor ends at a page boundary, so its first and last
  // page must not be touched.
  TouchPages(bytes + 100, kBytes - 200);
  const size_t pages = kBytes / static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // A system without MADV_POPULATE_WRITE ignores TouchPages: then only the page
  // that the test wrote is in memory. Otherwise all pages but the last are.
  const size_t resident = ResidentPages(memory, kBytes);
  EXPECT_TRUE(resident == 1 || resident == pages - 1) << resident;
  EXPECT_EQ(bytes[5], 7);
  EXPECT_EQ(bytes[kBytes / 2], 0);
  munmap(memory, kBytes);
}

TEST(PageHintsTest, LargeMemoryIsLeftAlone) {
  constexpr size_t kBytes = size_t{65} << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  TouchPages(memory, kBytes);
  EXPECT_EQ(ResidentPages(memory, kBytes), 0u);
  munmap(memory, kBytes);
}

TEST(PageHintsTest, FilesStayAsTheyAre) {
  const std::string path = testing::TempDir() + "/page_hints";
  const std::string text(100000, 'x');
  ASSERT_TRUE(WriteFileAtomically(path, text).ok());
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ReadAhead(file->bytes().subspan(3, 90000));
  ReadAhead({});
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file->bytes().data()),
                        file->bytes().size()),
            text);
}

}  // namespace
}  // namespace ember
