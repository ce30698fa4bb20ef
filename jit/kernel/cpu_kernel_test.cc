// Tests kernels as the VM calls them: shapes, constants, threads, errors.
#include "vm/runtime/kernels/cpu_kernel.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/mapped_pages.h"
#include "base/private_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/target.h"
#include "hal/cpu/thread_pool.h"
#include "jit/kernel/build_kernel.h"
#include "jit/kernel/kept_constants.h"
#include "jit/llvm/compiler.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/open_parameter.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"

namespace ember::jit {
namespace {

using ::testing::HasSubstr;

class CpuKernelTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    compiler_ = llvm_ir::NewLlvmCompiler()->release();
  }
  static void TearDownTestSuite() { delete compiler_; }

  void Parse(std::string_view text, std::vector<int64_t> parameters) {
    auto dispatch = tensor::Parse(text);
    ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
    case_.seed = 3;
    case_.dispatch = *std::move(dispatch);
    case_.parameters = std::move(parameters);
    request_.dispatch = &case_.dispatch;
    request_.target = hal::HostTarget();
  }

  std::unique_ptr<vm::Kernel> Build() {
    auto kernel = BuildKernel(request_, *compiler_);
    EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
    return kernel.ok() ? *std::move(kernel) : nullptr;
  }

  // Compares the kernel's results with those of the definition. Returns a
  // description of the first difference; empty if they are equal.
  std::string Difference(const vm::Kernel& kernel, ParallelRunner& runner) {
    auto expected = case_.MakeBuffers(), actual = case_.MakeBuffers();
    const Status wanted = tensor::Evaluate(case_.dispatch, case_.parameters,
                                           tensor::Pointers(expected), {});
    EXPECT_TRUE(wanted.ok()) << wanted.ToString();
    std::vector<void*> pointers = tensor::Pointers(actual);
    const Status status =
        vm::RunOnHost(kernel, {case_.parameters, pointers, runner});
    if (!status.ok()) return status.ToString();
    return tensor::FirstDifference(case_, expected, actual, 1e-4, 1e-4);
  }

  static Compiler* compiler_;
  tensor::RandomCase case_;
  vm::KernelRequest request_;
  SerialRunner serial_;
};

Compiler* CpuKernelTest::compiler_ = nullptr;

constexpr std::string_view kProduct = R"(
  dispatch @product<M>(%a: f32[M, 70], %b: f32[70, 45], %c: f32[45]) -> (%y: f32[M, 45]) {
    temp %sum: f32[M, 45]
    %sum[i, j] = sum(k < 70) %a[i, k] * %b[k, j]
    %y[i, j] = max(%sum[i, j] + %c[j], 0.0)
  })";

TEST_F(CpuKernelTest, RunsAnyShapeOrOnlyItsOwn) {
  for (const int64_t rows : {0, 1, 5, 28, 61}) {
    Parse(kProduct, {rows});
    const auto any = Build();
    ASSERT_NE(any, nullptr);
    EXPECT_EQ(any->tier(), 1);
    EXPECT_TRUE(any->Accepts(std::vector<int64_t>{9}));
    EXPECT_EQ(Difference(*any, serial_), "") << rows;
    request_.tier = 2;
    request_.parameters = {rows};
    const auto one = Build();
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(one->tier(), 2);
    EXPECT_TRUE(one->Accepts(std::vector<int64_t>{rows}));
    EXPECT_FALSE(one->Accepts(std::vector<int64_t>{rows + 1}));
    EXPECT_EQ(Difference(*one, serial_), "") << rows;
    request_ = {};
  }
}

// Kernels of one site for different shapes pack its constants in the same way,
// so they share one packed copy. The copy lives as long as one of the kernels.
TEST_F(CpuKernelTest, KernelsShareAPackedCopy) {
  KernelStores stores;
  const auto packed = [](const vm::Kernel& kernel) {
    const auto buffers = static_cast<const vm::CpuKernel&>(kernel).packed();
    return buffers.empty() ? nullptr : buffers[0].data();
  };
  const auto build = [&](std::vector<int64_t> rows) {
    request_.tier = 2;
    request_.parameters = std::move(rows);
    auto kernel = BuildKernel(request_, *compiler_, {}, nullptr, &stores);
    EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
    return *std::move(kernel);
  };
  Parse(kProduct, {30});
  auto buffers = case_.MakeBuffers();
  request_.constant_inputs = {false, true, true};
  request_.constant_data = {{}, buffers[1], buffers[2]};
  auto first = build({30});
  const uint8_t* const memory = packed(*first);
  ASSERT_NE(memory, nullptr);
  auto second = build({60});
  EXPECT_EQ(packed(*second), memory);
  first.reset();
  auto third = build({30});
  EXPECT_EQ(packed(*third), memory);
  EXPECT_EQ(Difference(*third, serial_), "");
  // Constants at another address get a packed copy of their own, even if their
  // values are equal.
  auto others = case_.MakeBuffers();
  request_.constant_data = {{}, others[1], others[2]};
  const auto other = build({30});
  EXPECT_NE(packed(*other), memory);
}

// One process packs the constants of a mapped file and keeps them in the file's
// folder, if that exists; later processes map the packed constants.
class KeptConstantsTest : public CpuKernelTest {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "/" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = path_ + ".packed";
    std::filesystem::remove_all(folder_);
    Parse(kBlocks, {3});
    buffers_ = case_.MakeBuffers();
    Map();
  }

  // Writes the constant to the file, and maps the file.
  void Map() {
    const std::string_view bytes(
        reinterpret_cast<const char*>(buffers_[1].data()), buffers_[1].size());
    ASSERT_TRUE(WriteFileAtomically(path_, bytes).ok());
    StatusOr<MappedFile> file = MappedFile::Open(path_);
    ASSERT_TRUE(file.ok());
    const auto owned = std::make_shared<MappedFile>(*std::move(file));
    request_.owner = owned;
    request_.tier = 2;
    request_.constant_inputs = {false, true};
    request_.constant_data = {{}, owned->bytes()};
  }

  // Builds the kernel with new stores, like a new process. Checks its results
  // if the constant has the values for which the results were computed. Returns
  // the kernel's packed constant.
  std::vector<uint8_t> Packed(bool is_of_case = true) {
    KernelStores stores;
    auto kernel = BuildKernel(request_, *compiler_, {}, nullptr, &stores);
    EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
    if (!kernel.ok()) return {};
    if (is_of_case) {
      EXPECT_EQ(Difference(**kernel, serial_), "");
    }
    const auto packed = static_cast<const vm::CpuKernel&>(**kernel).packed();
    EXPECT_EQ(packed.size(), 1u);
    is_mapped_ = FindMapping(packed[0]).has_value();
    return {packed[0].begin(), packed[0].end()};
  }

  // Returns the files of packed constants in the folder.
  std::vector<std::filesystem::path> Files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().extension() == ".packed") files.push_back(entry.path());
    return files;
  }

  // A product whose weight is large enough that its packed copy is kept on
  // disk.
  static constexpr std::string_view kBlocks = R"(
    dispatch @product<M>(%a: u8[M, 512], %b: i8[512, 256]) -> (%y: i32[M, 256]) {
      %y[i, j] = sum(k < 512) i32(%a[i, k]) * i32(%b[k, j])
    })";

  std::string path_, folder_;
  std::vector<std::vector<uint8_t>> buffers_;
  // True if the constant that Packed() returned last is mapped from a file.
  bool is_mapped_ = false;
};

TEST_F(KeptConstantsTest, WithoutAFolderNothingIsKept) {
  EXPECT_FALSE(Packed().empty());
  EXPECT_FALSE(is_mapped_);
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(KeptConstantsTest, LaterProcessesMapThem) {
  ASSERT_TRUE(PrivateFolder::Open(folder_).ok());
  const std::vector<uint8_t> packed = Packed();
  EXPECT_TRUE(is_mapped_);
  ASSERT_EQ(Files().size(), 1u);
  const auto written = std::filesystem::last_write_time(Files()[0]);
  EXPECT_EQ(Packed(), packed);
  EXPECT_TRUE(is_mapped_);
  EXPECT_EQ(std::filesystem::last_write_time(Files()[0]), written);
}

TEST_F(KeptConstantsTest, AnotherFileHasItsOwn) {
  ASSERT_TRUE(PrivateFolder::Open(folder_).ok());
  const std::vector<uint8_t> packed = Packed();
  buffers_[1][0] ^= 1;
  Map();
  EXPECT_NE(Packed(/*is_of_case=*/false), packed);
  EXPECT_TRUE(is_mapped_);
}

TEST_F(KeptConstantsTest, DamagedFilesAreReplaced) {
  ASSERT_TRUE(PrivateFolder::Open(folder_).ok());
  const std::vector<uint8_t> packed = Packed();
  ASSERT_EQ(Files().size(), 1u);
  const std::string file = Files()[0].string();
  const StatusOr<std::string> whole = ReadFile(file);
  ASSERT_TRUE(whole.ok());
  // The eight bytes after the magic are part of the identity of the system's
  // start. With another identity the file seems to be from before the start, so
  // its contents are verified by their hash.
  std::string other = *whole;
  other.replace(8, 8, "somewhen");
  std::string wrong = other;
  wrong.back() ^= 1;
  for (const std::string& contents :
       {whole->substr(0, whole->size() / 2), whole->substr(0, 100),
        std::string(), std::string(whole->size(), '\0'), wrong, other}) {
    SCOPED_TRACE(contents.size());
    ASSERT_TRUE(WriteFileAtomically(file, contents).ok());
    EXPECT_EQ(Packed(), packed);
    EXPECT_TRUE(is_mapped_);
    EXPECT_EQ(*ReadFile(file), *whole);
  }
}

// The range of the values of an i8 constant, which decides how it is
// multiplied, is written to the folder. Later processes read it there.
TEST_F(KeptConstantsTest, RangesAreKept) {
  ASSERT_TRUE(PrivateFolder::Open(folder_).ok());
  for (uint8_t& byte : buffers_[1]) byte = static_cast<uint8_t>(byte % 8);
  buffers_[1][70'000] = static_cast<uint8_t>(-77);
  buffers_[1][5] = 99;
  Map();
  for (int i = 0; i < 3; ++i) {
    KeptConstants kept;
    EXPECT_EQ(kept.RangeOf(request_, 1).low, -77);
    EXPECT_EQ(kept.RangeOf(request_, 1).high, 99);
    StatusOr<std::string> text = ReadFile(folder_ + "/ranges");
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(std::ranges::count(*text, '\n'), i < 2 ? 1 : 2);
    // The range is computed anew if its line in the file is cut off.
    if (i != 1) continue;
    const size_t cut = text->find(" -77");
    ASSERT_TRUE(WriteFileAtomically(folder_ + "/ranges",
                                    text->substr(0, cut + 3) + "\n")
                    .ok());
  }
}

// When a call updates one row in place, it writes no other row: this test makes
// the pages of all other rows read-only.
TEST_F(CpuKernelTest, InPlaceOnlyTheNewRowIsWritten) {
  constexpr int64_t kRows = 5, kPast = 2, kColumns = 4096;
  Parse(R"(
  dispatch @write_row<n, p>(%x: f32[n, 4096], %row: f32[1, 4096]) -> (%y: f32[n, 4096]) {
    for (i < p, j < 4096) %y[i, j] = %x[i, j]
    for (i < 1, j < 4096) %y[i + p, j] = %row[i, j]
    for (i < n - p - 1, j < 4096) %y[i + p + 1, j] = %x[i + p + 1, j]
  })",
        {kRows, kPast});
  const size_t bytes = kColumns * sizeof(float);
  void* const memory = mmap(nullptr, kRows * bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const state = static_cast<float*>(memory);
  for (int64_t i = 0; i < kRows * kColumns; ++i)
    state[i] = static_cast<float>(i);
  auto* const begin = static_cast<char*>(memory);
  ASSERT_EQ(mprotect(begin, kPast * bytes, PROT_READ), 0);
  ASSERT_EQ(mprotect(begin + (kPast + 1) * bytes, (kRows - kPast - 1) * bytes,
                     PROT_READ),
            0);
  std::vector<float> row(kColumns, -1);
  const std::vector<void*> pointers = {state, row.data(), state};
  const auto check = [&](const Status& status) {
    ASSERT_TRUE(status.ok()) << status.ToString();
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      const bool is_new = i / kColumns == kPast;
      ASSERT_EQ(state[i], is_new ? row[0] : static_cast<float>(i));
    }
  };
  for (const bool is_open : {true, false}) {
    request_.tier = is_open ? 1 : 2;
    if (!is_open) request_.parameters = case_.parameters;
    const auto kernel = Build();
    ASSERT_NE(kernel, nullptr);
    row.assign(kColumns, is_open ? -1 : -2);
    check(vm::RunOnHost(*kernel, {case_.parameters, pointers, serial_}));
  }
  row.assign(kColumns, -3);
  const auto plan = vm::Plan::Make(case_.dispatch, case_.parameters, {});
  ASSERT_TRUE(plan.ok());
  check((*plan)->Run(pointers, serial_));
  munmap(memory, kRows * bytes);
}

constexpr std::string_view kKeys = R"(
  dispatch @scores<N, P>(%q: f32[N, 40], %k: f32[P + N, 40]) -> (%y: f32[N, P + N]) {
    %y[i, j] = sum(s < 40) %q[i, s] * %k[j, s]
  })";

TEST_F(CpuKernelTest, RunsAnyValueOfAnOpenParameter) {
  for (const int64_t past : {0, 1, 5, 61}) {
    Parse(kKeys, {1, past});
    request_.tier = 2;
    request_.parameters = {1, tensor::kOpenParameter};
    const auto kernel = Build();
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->open_parameters(), 1);
    EXPECT_TRUE(kernel->Accepts(std::vector<int64_t>{1, 9}));
    EXPECT_FALSE(kernel->Accepts(std::vector<int64_t>{2, 9}));
    EXPECT_EQ(Difference(*kernel, serial_), "") << past;
    request_ = {};
  }
}

TEST_F(CpuKernelTest, PacksConstantsOnce) {
  Parse(kProduct, {30});
  auto buffers = case_.MakeBuffers();
  request_.constant_inputs = {false, true, true};
  request_.constant_data = {{}, buffers[1], buffers[2]};
  const auto kernel = Build();
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(Difference(*kernel, serial_), "");
  // The kernel has its own copy of packed constants, so changing the original
  // constant does not change the results.
  std::memset(buffers[1].data(), 0, buffers[1].size());
  EXPECT_EQ(Difference(*kernel, serial_), "");
  request_.constant_data[1] = request_.constant_data[1].first(8);
  EXPECT_THAT(BuildKernel(request_, *compiler_).status().ToString(),
              HasSubstr("buffer 'b': expected at least 12600 bytes, found 8"));
}

TEST_F(CpuKernelTest, ResultsDoNotDependOnThreads) {
  Parse(kProduct, {200});
  const auto kernel = Build();
  ASSERT_NE(kernel, nullptr);
  hal::ThreadPool pool(4);
  EXPECT_EQ(Difference(*kernel, pool), "");
  auto one = case_.MakeBuffers(), four = case_.MakeBuffers();
  std::vector<void*> pointers = tensor::Pointers(one);
  ASSERT_TRUE(
      vm::RunOnHost(*kernel, {case_.parameters, pointers, serial_}).ok());
  pointers = tensor::Pointers(four);
  ASSERT_TRUE(vm::RunOnHost(*kernel, {case_.parameters, pointers, pool}).ok());
  EXPECT_EQ(one, four);
}

TEST_F(CpuKernelTest, IndicesFromDataAreChecked) {
  Parse(R"(
    dispatch @gather(%x: f32[5, 40], %i: i64[3]) -> (%y: f32[3, 40]) {
      %y[r, c] = %x[%i[r], c]
    })",
        {});
  const auto kernel = Build();
  ASSERT_NE(kernel, nullptr);
  auto buffers = case_.MakeBuffers();
  auto* const indices = reinterpret_cast<int64_t*>(buffers[1].data());
  std::vector<void*> pointers = tensor::Pointers(buffers);
  for (const int64_t wrong : {int64_t{5}, int64_t{-1}, INT64_MAX}) {
    indices[0] = 4;
    indices[1] = 0;
    indices[2] = wrong;
    EXPECT_EQ(vm::RunOnHost(*kernel, {{}, pointers, serial_}).ToString(),
              "INVALID_ARGUMENT: dispatch @gather: buffer %x: expected index 0 "
              "in 0..4, found " +
                  std::to_string(wrong));
  }
  indices[2] = 1;
  EXPECT_TRUE(vm::RunOnHost(*kernel, {{}, pointers, serial_}).ok());
}

}  // namespace
}  // namespace ember::jit
