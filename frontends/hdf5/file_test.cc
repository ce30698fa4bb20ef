// Reads files that h5py 3.7 (libhdf5 1.10.8) has written, in testdata: x is 5 x
// 12 numbers 0, 0.25, 0.5 …
#include "frontends/hdf5/file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <string>

#include "base/file.h"
#include "frontends/hdf5/testing/file_builder.h"

namespace ember::hdf5 {
namespace {

std::string Contents(const std::string& name) {
  const auto text = ReadFile("frontends/hdf5/testdata/" + name);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  return text.ok() ? *text : "";
}

struct Opened {
  std::string contents;
  std::shared_ptr<File> file;
};

Opened Open(const std::string& contents) {
  Opened opened{contents, nullptr};
  auto file =
      File::Open({reinterpret_cast<const uint8_t*>(opened.contents.data()),
                  opened.contents.size()},
                 nullptr);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  if (file.ok()) opened.file = *file;
  return opened;
}

// The numbers of a dataset, or the error of reading it.
struct Numbers {
  std::string error;
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::vector<double> values;
};

Numbers Read(const Opened& opened, const std::string& path) {
  auto root = opened.file->Root();
  auto object = root->Find(path);
  if (!object.ok()) return {std::string(object.status().message())};
  if (!*object) return {"none"};
  auto dataset = (*object)->Read();
  if (!dataset.ok()) return {std::string(dataset.status().message())};
  Numbers numbers{"", dataset->dtype, dataset->dims, {}};
  const auto size = static_cast<size_t>(DTypeByteSize(dataset->dtype));
  for (size_t at = 0; at + size <= dataset->bytes.size(); at += size) {
    const uint8_t* bytes = dataset->bytes.data() + at;
    double value = 0;
    if (dataset->dtype == DType::kF32) {
      float narrow;
      std::memcpy(&narrow, bytes, sizeof(narrow));
      value = static_cast<double>(narrow);
    } else if (dataset->dtype == DType::kI64) {
      int64_t whole;
      std::memcpy(&whole, bytes, sizeof(whole));
      value = static_cast<double>(whole);
    } else {
      for (size_t i = size; i-- > 0;) value = value * 256 + bytes[i];
    }
    numbers.values.push_back(value);
  }
  return numbers;
}

std::vector<double> X() {
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i / 4.0);
  return values;
}

void ExpectX(const Opened& opened, const std::string& path) {
  const Numbers numbers = Read(opened, path);
  EXPECT_EQ(numbers.error, "") << path;
  EXPECT_EQ(numbers.dims, (std::vector<int64_t>{5, 12})) << path;
  EXPECT_EQ(numbers.values, X()) << path;
}

TEST(Hdf5File, OldAndNewStructures) {
  for (const std::string name : {"old.h5", "new.h5"}) {
    SCOPED_TRACE(name);
    const Opened opened = Open(Contents(name));
    ASSERT_NE(opened.file, nullptr);
    const auto root = opened.file->Root();
    const auto strings = [&](std::string_view attribute) {
      const auto found = root->Strings(attribute);
      return found.ok() && *found ? **found : std::vector<std::string>();
    };
    EXPECT_EQ(strings("text"), std::vector<std::string>{"variable"});
    EXPECT_EQ(strings("fixed"), std::vector<std::string>{"fixed"});
    EXPECT_EQ(strings("list"), (std::vector<std::string>{"one", "three"}));
    EXPECT_EQ(strings("nothing"), std::vector<std::string>());
    EXPECT_EQ(root->Strings("number").status().message(),
              "attribute 'number': expected strings, found an integer");
    ExpectX(opened, "g/contiguous");
    ExpectX(opened, "g/big_endian");
    EXPECT_EQ(Read(opened, "g/half").dtype, DType::kF16);
    EXPECT_EQ(Read(opened, "g/bool").dtype, DType::kBool);
    EXPECT_EQ(Read(opened, "g/bool").values, (std::vector<double>{1, 0, 1}));
    EXPECT_EQ(Read(opened, "g/i64").values, std::vector<double>{-7});
    EXPECT_EQ(Read(opened, "g/i64").dims, std::vector<int64_t>());
    EXPECT_EQ(Read(opened, "g/soft").error, "none");
    EXPECT_EQ(Read(opened, "g").error, "expected a dataset, found a group");
  }
}

TEST(Hdf5File, ContiguousDataStayInPlace) {
  const Opened opened = Open(Contents("old.h5"));
  const auto object = opened.file->Root()->Find("g/contiguous");
  const auto dataset = (*object)->Read();
  ASSERT_TRUE(dataset.ok());
  const auto* begin = reinterpret_cast<const uint8_t*>(opened.contents.data());
  EXPECT_GE(dataset->bytes.data(), begin);
  EXPECT_LT(dataset->bytes.data(), begin + opened.contents.size());
}

TEST(Hdf5File, ChunksAndFilters) {
  const Opened opened = Open(Contents("chunked.h5"));
  ExpectX(opened, "chunked");
  ExpectX(opened, "deflated");
  EXPECT_EQ(Read(opened, "lzf").error,
            "HDF5 filter 32000: expected deflate, shuffle or fletcher32 (save "
            "the model without compression)");
  const Opened single = Open(Contents("single_chunk.h5"));
  ExpectX(single, "deflated");
  EXPECT_EQ(Read(single, "indexed").error,
            "HDF5 dataset: chunks indexed as by libver='latest' (save the "
            "model without compression)");
}

// The file has more links and attributes than fit in an object header, so they
// are in dense storage.
TEST(Hdf5File, DenseStorage) {
  const Opened opened = Open(Contents("dense.h5"));
  const auto root = opened.file->Root();
  const auto names = root->Names();
  ASSERT_TRUE(names.ok()) << names.status().ToString();
  EXPECT_EQ(names->size(), 40u);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(Read(opened, "layer_" + std::to_string(i)).values,
              std::vector<double>(2, i));
  }
  for (int i = 0; i < 20; ++i) {
    const auto text = root->Strings("attribute_" + std::to_string(i));
    ASSERT_TRUE(text.ok()) << text.status().ToString();
    ASSERT_TRUE(text->has_value()) << i;
    EXPECT_EQ(**text, std::vector<std::string>{"value " + std::to_string(i)});
  }
}

// The group has so many links that its tree has several levels.
TEST(Hdf5File, ManyLinks) {
  const Opened opened = Open(Contents("many.h5"));
  EXPECT_EQ(opened.file->Root()->Names()->size(), 301u);
  ExpectX(opened, "link_000");
  ExpectX(opened, "link_299");
}

TEST(Hdf5File, UserBlock) { ExpectX(Open(Contents("user_block.h5")), "x"); }

TEST(Hdf5File, BuiltForTests) {
  FileBuilder builder;
  builder.Text("a", "text", "hello");
  builder.Dataset("a/b", DType::kI64, {1},
                  std::string("\x02\0\0\0\0\0\0\0", 8));
  const Opened opened = Open(builder.Finish());
  EXPECT_EQ(Read(opened, "a/b").values, std::vector<double>{2});
  EXPECT_EQ(**(*opened.file->Root()->Find("a"))->Strings("text"),
            std::vector<std::string>{"hello"});
}

std::string Deflated(const std::string& bytes) {
  std::string deflated(compressBound(bytes.size()), '\0');
  uLongf size = deflated.size();
  EXPECT_EQ(
      compress(reinterpret_cast<Bytef*>(deflated.data()), &size,
               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
      Z_OK);
  deflated.resize(size);
  return deflated;
}

// A filter that occurs twice is refused: undoing each filter writes a whole
// chunk, which may be a thousand times larger than the file.
TEST(Hdf5File, FiltersOnce) {
  const std::string stored = Deflated(std::string(8, '\0'));
  FileBuilder builder;
  builder.Chunk("a", DType::kF32, {2}, {2, 1}, stored);
  builder.Chunk("b", DType::kF32, {2}, {2, 2, 1}, stored);
  builder.Chunk("c", DType::kF32, {2}, std::vector<int>(250, 2), stored);
  const Opened opened = Open(builder.Finish());
  EXPECT_EQ(Read(opened, "a").values, (std::vector<double>{0, 0}));
  for (const std::string name : {"b", "c"}) {
    EXPECT_EQ(Read(opened, name).error,
              "HDF5 filters: expected each at most once, found number 2 twice");
  }
}

// Reads 300 datasets that share one chunk, which inflates to 2 MiB. The file's
// read budget must run out, so that the work is bounded by a multiple of the
// file's size.
TEST(Hdf5File, DatasetsOfOneChunk) {
  constexpr int kCount = 300;
  const std::string stored = Deflated(std::string(1 << 21, '\0'));
  FileBuilder builder;
  for (int i = 0; i < kCount; ++i) {
    builder.Chunk("d" + std::to_string(i), DType::kF32, {1 << 19}, {1}, stored);
  }
  const Opened opened = Open(builder.Finish());
  const auto object = opened.file->Root()->Find("d0");
  ASSERT_TRUE(object.ok() && *object);
  const auto first = (*object)->Read(), again = (*object)->Read();
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(first->bytes.data(), again->bytes.data());
  int read = 1;
  while (read < kCount) {
    const auto other = opened.file->Root()->Find("d" + std::to_string(read));
    ASSERT_TRUE(other.ok() && *other);
    if (!(*other)->Read().ok()) break;
    ++read;
  }
  EXPECT_GT(read, 10);
  EXPECT_LT(read, kCount);
}

TEST(Hdf5File, AttributesThatAreLookedForVeryOften) {
  FileBuilder builder;
  for (int i = 0; i < 2'000; ++i)
    builder.Texts("", "names" + std::to_string(i), {});
  const Opened opened = Open(builder.Finish());
  const auto root = opened.file->Root();
  int found = 0;
  for (; found < 200'000; ++found) {
    const auto names = root->Strings("names" + std::to_string(found % 2'000));
    if (!names.ok()) break;
    ASSERT_TRUE(names->has_value());
  }
  EXPECT_GT(found, 10'000);
  EXPECT_LT(found, 200'000);
}

// Visits all objects and reads them; any result is accepted, but no crash or
// hang.
void Visit(const Object& object, int depth, int& left) {
  if (--left < 0 || depth > 8) return;
  for (const std::string_view name : {"text", "list", "attribute_7"})
    (void)object.Strings(name).ok();
  const auto names = object.Names();
  (void)object.Read().ok();
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const auto child = object.Find(name);
    if (child.ok() && *child) Visit(**child, depth + 1, left);
  }
}

void Try(const std::string& contents) {
  const auto file = File::Open(
      {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()},
      nullptr);
  if (!file.ok()) return;
  int left = 200;
  Visit(*(*file)->Root(), 0, left);
}

TEST(Hdf5File, EveryByteChangedAndTruncations) {
  for (const std::string name : {"old.h5", "new.h5", "single_chunk.h5"}) {
    const std::string contents = Contents(name);
    for (size_t i = 0; i < contents.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string damaged = contents;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        Try(damaged);
      }
    }
    for (size_t size = 0; size < contents.size(); size += 7)
      Try(contents.substr(0, size));
  }
  // A file with dense storage, so that the damage also reaches fractal heaps
  // and B-trees.
  const std::string dense = Contents("dense.h5");
  for (size_t i = 0; i < dense.size(); i += 3) {
    std::string damaged = dense;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    Try(damaged);
  }
}

}  // namespace
}  // namespace ember::hdf5
