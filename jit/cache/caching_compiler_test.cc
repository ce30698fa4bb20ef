// Tests where code comes from (compiled, shared or loaded), and that a nest
// never gets the code of another one.
#include "jit/cache/caching_compiler.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "gtest/gtest.h"
#include "jit/llvm/library/full_compiler.h"
#include "jit/llvm/testing/run_nest.h"

namespace ember::jit {
namespace {

namespace fs = std::filesystem;

// Returns a nest that computes y = x * factor, for `elements` elements.
std::string Scale(const std::string& factor, const std::string& name = "scale",
                  int elements = 32) {
  const std::string count = std::to_string(elements);
  return "loops @" + name + "(%x: input f32[" + count + "], %" + name +
         "_y: output f32[" + count + "]) { phase i < " + count + " { %" + name +
         "_y[i] = %x[i] * " + factor + " } }";
}

float ValueOf(const CompiledNest& code, float x) {
  std::vector<float> input(32, x), output(32);
  void* const buffers[] = {input.data(), output.data()};
  vm::IndexFailure failure;
  EXPECT_EQ(code.phases[0](nullptr, buffers, 0, 32, &failure), 0);
  return output[31];
}

class CachingCompilerTest : public ::testing::Test {
 protected:
  CachingCompilerTest() {
    const std::string name =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    base_ = fs::path(::testing::TempDir()) / name;
    fs::remove_all(base_);
    fs::create_directories(base_);
    options_.folder = base_ / "kernels";
    options_.secret_file = base_ / "secret";
  }

  std::unique_ptr<CachingCompiler> NewCompiler(bool has_disk,
                                               const std::string& cpu = "") {
    auto compiler = llvm_ir::NewLlvmCompiler(cpu);
    EXPECT_TRUE(compiler.ok()) << compiler.status().ToString();
    std::unique_ptr<DiskCache> disk;
    if (has_disk) disk = *DiskCache::Open(options_);
    return std::make_unique<CachingCompiler>(*std::move(compiler),
                                             std::move(disk));
  }
  static std::unique_ptr<CompiledNest> Compile(
      CachingCompiler& compiler, const std::string& text,
      const CompileOptions& options = {}) {
    auto code = compiler.Compile(llvm_ir::ParseOrDie(text), options);
    EXPECT_TRUE(code.ok()) << code.status().ToString();
    return *std::move(code);
  }
  std::vector<std::string> Entries() {
    std::vector<std::string> entries;
    for (const auto& entry : fs::directory_iterator(options_.folder))
      entries.push_back(entry.path());
    return entries;
  }

  fs::path base_;
  CacheOptions options_;
};

TEST_F(CachingCompilerTest, EqualNestsShareCode) {
  const auto compiler = NewCompiler(false);
  auto first = Compile(*compiler, Scale("2.0"));
  EXPECT_EQ(first->origin, CodeOrigin::kCompiled);
  EXPECT_GT(first->optimize_ms, 0);
  EXPECT_GT(first->codegen_ms, 0);
  auto second = Compile(*compiler, Scale("2.0", "another_name"));
  EXPECT_EQ(second->origin, CodeOrigin::kShared);
  EXPECT_EQ(second->optimize_ms + second->codegen_ms, 0);
  EXPECT_EQ(second->code_bytes, first->code_bytes);
  EXPECT_EQ(second->phases, first->phases);
  const auto other = Compile(*compiler, Scale("3.0"));
  EXPECT_EQ(other->origin, CodeOrigin::kCompiled);
  const auto fast = Compile(*compiler, Scale("2.0"), {.effort = Effort::kFast});
  EXPECT_EQ(fast->origin, CodeOrigin::kCompiled);
  // The code of an entry must live until the last of its owners is destroyed,
  // and no longer.
  first.reset();
  EXPECT_EQ(ValueOf(*second, 4), 8);
  EXPECT_EQ(ValueOf(*other, 4), 12);
  EXPECT_EQ(ValueOf(*fast, 4), 8);
  EXPECT_EQ(Compile(*compiler, Scale("2.0"))->origin, CodeOrigin::kShared);
  second.reset();
  EXPECT_EQ(Compile(*compiler, Scale("2.0"))->origin, CodeOrigin::kCompiled);
}

// Code for a device stays as it is, without being loaded into the process. The
// device's target is part of the key.
TEST_F(CachingCompilerTest, CodeOfDevices) {
  const CompileOptions options = {
      .target = "sm_80+subgroup32+shared166912+invocations1024"};
  const auto new_compiler = [&] {
    return std::make_unique<CachingCompiler>(*llvm_ir::NewFullCompiler(),
                                             *DiskCache::Open(options_));
  };
  std::unique_ptr<CompiledNest> first;
  {
    const auto compiler = new_compiler();
    first = Compile(*compiler, Scale("2.0"), options);
    EXPECT_EQ(first->origin, CodeOrigin::kCompiled);
    EXPECT_EQ(first->code.format, vm::KernelFormat::kPtx);
    ASSERT_EQ(first->code.device.size(), 1u);
    EXPECT_TRUE(first->phases.empty());
    EXPECT_EQ(Compile(*compiler, Scale("2.0"), options)->origin,
              CodeOrigin::kShared);
    // The same nest for another target has another key, so it is compiled
    // again.
    EXPECT_EQ(Compile(*compiler, Scale("2.0"))->origin, CodeOrigin::kCompiled);
    EXPECT_EQ(Compile(*compiler, Scale("2.0"),
                      {.target = "sm_90+subgroup32+shared232448"})
                  ->origin,
              CodeOrigin::kCompiled);
  }
  const auto compiler = new_compiler();
  const auto second = Compile(*compiler, Scale("2.0"), options);
  EXPECT_EQ(second->origin, CodeOrigin::kLoaded);
  EXPECT_EQ(second->code, first->code);
}

TEST_F(CachingCompilerTest, CodeOutlivesTheProcessOnDisk) {
  {
    const auto compiler = NewCompiler(true);
    EXPECT_EQ(Compile(*compiler, Scale("2.0"))->origin, CodeOrigin::kCompiled);
    EXPECT_EQ(Compile(*compiler, Scale("2.0"))->origin, CodeOrigin::kLoaded);
  }
  EXPECT_EQ(Entries().size(), 1u);
  const auto compiler = NewCompiler(true);
  const auto code = Compile(*compiler, Scale("2.0", "another_name"));
  EXPECT_EQ(code->origin, CodeOrigin::kLoaded);
  EXPECT_EQ(code->optimize_ms, 0);
  EXPECT_GT(code->codegen_ms, 0);
  EXPECT_GT(code->code_bytes, 0);
  EXPECT_EQ(ValueOf(*code, 5), 10);
  EXPECT_EQ(Compile(*compiler, Scale("2.0"))->origin, CodeOrigin::kShared);
  EXPECT_EQ(Compile(*compiler, Scale("2.5"))->origin, CodeOrigin::kCompiled);
}

TEST_F(CachingCompilerTest, DamagedEntriesAreCompiledAgain) {
  std::string good;
  {
    const auto compiler = NewCompiler(true);
    Compile(*compiler, Scale("2.0"));
    ASSERT_EQ(Entries().size(), 1u);
    good = *ReadFile(Entries()[0]);
  }
  const auto compiler = NewCompiler(true);
  for (const size_t at :
       {size_t{0}, size_t{20}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] ^= 1;
    std::ofstream(Entries()[0], std::ios::trunc) << bad;
    const auto code = Compile(*compiler, Scale("2.0"));
    EXPECT_EQ(code->origin, CodeOrigin::kCompiled) << at;
    EXPECT_EQ(ValueOf(*code, 3), 6);
    EXPECT_EQ(*ReadFile(Entries()[0]), good) << at;
  }
}

// Code that was compiled for one CPU must not be used by a compiler for another
// CPU: its key contains the CPU.
TEST_F(CachingCompilerTest, CodeOfAnotherTargetIsNotUsed) {
#if defined(__x86_64__)
  const auto host = NewCompiler(true);
  Compile(*host, Scale("2.0"));
  const auto other = NewCompiler(true, "x86-64-v2");
  EXPECT_EQ(Compile(*other, Scale("2.0"))->origin, CodeOrigin::kCompiled);
  EXPECT_EQ(Entries().size(), 2u);
  EXPECT_EQ(Compile(*other, Scale("2.0"))->origin, CodeOrigin::kLoaded);
  EXPECT_NE(host->KeyOf(llvm_ir::ParseOrDie(Scale("2.0")), {}),
            other->KeyOf(llvm_ir::ParseOrDie(Scale("2.0")), {}));
#endif
}

TEST_F(CachingCompilerTest, IdentityNamesCompilerAndTarget) {
  auto compiler = llvm_ir::NewLlvmCompiler();
  ASSERT_TRUE(compiler.ok());
  const std::string& identity = (*compiler)->identity();
  EXPECT_NE(identity.find("compiler "), std::string::npos) << identity;
  EXPECT_NE(identity.find("LLVM 19."), std::string::npos) << identity;
  EXPECT_NE(identity.find("target "), std::string::npos) << identity;
}

TEST_F(CachingCompilerTest, TextsAreOfCodeThatIsCompiled) {
  const auto compiler = NewCompiler(true);
  const auto first = Compile(*compiler, Scale("2.0"));
  const auto code = Compile(*compiler, Scale("2.0"), {.keep_assembly = true});
  EXPECT_EQ(code->origin, CodeOrigin::kCompiled);
  EXPECT_NE(code->assembly, "");
}

TEST_F(CachingCompilerTest, ErrorsAreOfEachRequest) {
  const auto compiler = NewCompiler(true);
  // The code generator declines this nest. Failures are not cached, so the
  // second call asks the code generator again.
  const loops::LoopNest nest = llvm_ir::ParseOrDie(
      "loops @f(%x: input f32[4], %y: output f32[4]) { phase i < 4 { "
      "%y[i] = rem(%x[i], 3.0) } }");
  const auto first = compiler->Compile(nest, {});
  const auto second = compiler->Compile(nest, {});
  EXPECT_EQ(first.status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(first.status().ToString(), second.status().ToString());
  EXPECT_EQ(Entries().size(), 0u);
}

// Several threads compile the same nest at once: all must share one piece of
// code.
TEST_F(CachingCompilerTest, ConcurrentRequestsCompileOnce) {
  constexpr size_t kThreads = 8;
  constexpr int kNests = 6;
  const auto compiler = NewCompiler(true);
  std::atomic<int> compiled{0}, loaded{0}, wrong{0};
  std::vector<std::unique_ptr<CompiledNest>> codes(kThreads * kNests);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < kNests; ++n) {
        auto code = compiler->Compile(
            llvm_ir::ParseOrDie(Scale(std::to_string(n + 1) + ".0")), {});
        if (!code.ok() || ValueOf(**code, 2) != float(2 * n + 2)) {
          ++wrong;
          continue;
        }
        compiled += (*code)->origin == CodeOrigin::kCompiled;
        loaded += (*code)->origin == CodeOrigin::kLoaded;
        codes[t * kNests + static_cast<size_t>(n)] = *std::move(code);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(compiled.load(), kNests);
  EXPECT_EQ(loaded.load(), 0);
}

}  // namespace
}  // namespace ember::jit
