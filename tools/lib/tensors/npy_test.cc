#include "tools/lib/tensors/npy.h"

#include <cstring>

#include "gtest/gtest.h"
#include "tools/lib/tensors/random.h"

namespace ember::tools {
namespace {

std::string Header(std::string_view dict) {
  std::string header(dict);
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header;
}

std::string Error(const std::string& contents) {
  const StatusOr<vm::Tensor> tensor = ParseNpy(contents, "x.npy");
  return tensor.ok() ? "" : std::string(tensor.status().message());
}

TEST(NpyTest, RoundTripOfEveryTypeAndRank) {
  RandomTensors random(1);
  for (int raw = 0; raw < kDTypeCount; ++raw) {
    const DType type = static_cast<DType>(raw);
    if (!IsNpyType(type)) continue;
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{}, {5}, {2, 3}, {1, 2, 3, 4}, {0, 7}}) {
      const vm::Tensor tensor = *random.Next(type, dims);
      const std::string contents = *SerializeNpy(tensor);
      EXPECT_EQ((contents.size() - static_cast<size_t>(tensor.byte_size)) % 64,
                0u);
      const StatusOr<vm::Tensor> read = ParseNpy(contents, "x.npy");
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      EXPECT_EQ(read->type, type);
      EXPECT_EQ(read->dims, dims);
      if (tensor.byte_size == 0) continue;
      EXPECT_EQ(std::memcmp(read->data, tensor.data,
                            static_cast<size_t>(tensor.byte_size)),
                0);
    }
  }
}

// The file's bytes are those that NumPy writes for
// numpy.asfortranarray(numpy.arange(24).reshape(2, 3, 4)) and similar arrays.
TEST(NpyTest, FortranOrderIsReadAsCOrder) {
  std::string data;
  for (char k = 0; k < 4; ++k) {
    for (char j = 0; j < 3; ++j) {
      for (char i = 0; i < 2; ++i)
        data += {static_cast<char>(12 * i + 4 * j + k), 0};
    }
  }
  const StatusOr<vm::Tensor> read = ParseNpy(
      Header("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }") +
          data,
      "x.npy");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->TypeText(), "2x3x4xi16");
  for (int16_t i = 0; i < 24; ++i) EXPECT_EQ(read->elements<int16_t>()[i], i);
  const StatusOr<vm::Tensor> scalar = ParseNpy(
      Header("{'descr': '|u1', 'fortran_order': True, 'shape': (), }") + "7",
      "x.npy");
  ASSERT_TRUE(scalar.ok()) << scalar.status().ToString();
  EXPECT_EQ(scalar->elements<uint8_t>()[0], '7');
  EXPECT_EQ(Error(Header(
                "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 5), }")),
            "");
  EXPECT_EQ(
      Error(Header("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }") +
            "1234"),
      "x.npy: expected 8 bytes of data for 2xf32, found 4");
}

TEST(NpyTest, Bfloat16BecomesF32) {
  vm::Tensor tensor = *vm::Tensor::Allocate(DType::kBF16, {1});
  tensor.elements<BFloat16>()[0] = ToBFloat16(1.5f);
  const vm::Tensor read = *ParseNpy(*SerializeNpy(tensor), "x.npy");
  EXPECT_EQ(read.type, DType::kF32);
  EXPECT_EQ(read.elements<float>()[0], 1.5f);
}

TEST(NpyTest, FloatsOf8BitsBecomeF32) {
  vm::Tensor tensor = *vm::Tensor::Allocate(DType::kF8E4M3FN, {2});
  tensor.elements<Float8E4M3FN>()[0] = {0x7e};
  tensor.elements<Float8E4M3FN>()[1] = {0x81};
  const vm::Tensor read = *ParseNpy(*SerializeNpy(tensor), "x.npy");
  EXPECT_EQ(read.type, DType::kF32);
  EXPECT_EQ(read.elements<float>()[0], 448.0f);
  EXPECT_EQ(read.elements<float>()[1], -0x1p-9f);
}

// The expected bytes are those that NumPy 1.24 writes for numpy.array([[1, 2]],
// dtype=numpy.int16).
TEST(NpyTest, ReadsAndWritesWhatNumpyWrites) {
  std::string file("\x93NUMPY\x01\x00v\x00", 10);
  file += "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2), }";
  file.append(127 - file.size(), ' ');
  file += '\n';
  file.append("\x01\x00\x02\x00", 4);
  const vm::Tensor tensor = *ParseNpy(file, "x.npy");
  EXPECT_EQ(tensor.TypeText(), "1x2xi16");
  EXPECT_EQ(tensor.elements<int16_t>()[1], 2);
  EXPECT_EQ(*SerializeNpy(tensor), file);
}

TEST(NpyTest, ErrorsAreOneLine) {
  EXPECT_EQ(Error("PK"), "x.npy: expected an .npy file, found something else");
  EXPECT_EQ(Error(std::string("\x93NUMPY\x01\x00\xff", 9)),
            "x.npy: expected a header, found the end of the file");
  EXPECT_EQ(Error(std::string("\x93NUMPY\x01\x00\xff\x00{}", 12)),
            "x.npy: expected a header, found the end of the file");
  EXPECT_EQ(
      Error(
          Header("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }") +
          "1234"),
      "x.npy: expected little-endian numbers or bools, found the NumPy type "
      "'>f4'");
  EXPECT_EQ(
      Error(
          Header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }") +
          "1234"),
      "x.npy: expected 8 bytes of data for 2xf32, found 4");
  EXPECT_EQ(
      Error(
          Header("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }") +
          "1234"),
      "x.npy: expected a tuple of numbers as 'shape', found something else");
  EXPECT_EQ(Error(Header("{'fortran_order': False}")),
            "x.npy: expected an array of numbers, found a structured type or "
            "no 'descr'");
}

// Files that are truncated or have flipped bits. Parsing one must return an
// error or a tensor and never crash, also under ASan.
TEST(NpyTest, SurvivesDamage) {
  RandomTensors random(2);
  const std::string file = *SerializeNpy(*random.Next(DType::kF32, {3, 5}));
  for (size_t length = 0; length < file.size(); ++length) {
    EXPECT_FALSE(ParseNpy(file.substr(0, length), "x.npy").ok()) << length;
  }
  for (size_t i = 0; i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x15);
    const StatusOr<vm::Tensor> tensor = ParseNpy(damaged, "x.npy");
    if (tensor.ok()) {
      EXPECT_LE(tensor->byte_size, 60);
    }
  }
}

}  // namespace
}  // namespace ember::tools
