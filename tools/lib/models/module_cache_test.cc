#include "tools/lib/models/module_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "frontends/gguf/testing/sample_models.h"

namespace ember::tools {
namespace {

namespace fs = std::filesystem;

class ModuleCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "/" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
    options_.folder = root_ + "/kept";
    options_.min_model_bytes = 0;
    model_ = AddModel("model.gguf", "llama");
  }

  std::string AddModel(const std::string& name, std::string_view sample) {
    const std::string path = root_ + "/" + name;
    EXPECT_TRUE(WriteFileAtomically(path, gguf::SampleModel(sample)).ok());
    return path;
  }

  ModuleCache CacheOf(const std::string& path, const LoadOptions& load = {}) {
    return ModuleCache(path, load, options_);
  }

  // Compiles a model and writes its module to the cache.
  void Keep(const std::string& path) {
    const ModuleCache cache = CacheOf(path);
    ASSERT_TRUE(cache.keeps());
    StatusOr<vm::ModuleDefinition> definition = CompileModel(path, {});
    ASSERT_TRUE(definition.ok()) << definition.status().message();
    const StatusOr<LoadedModel> model = cache.Keep(*std::move(definition));
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->module->inputs()[0].name, "tokens");
  }

  // Returns the paths of the modules in the cache's folder.
  std::vector<fs::path> Files() {
    std::vector<fs::path> files;
    if (!fs::exists(options_.folder)) return files;
    for (const auto& entry : fs::directory_iterator(options_.folder))
      if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
  }

  std::string root_, model_;
  ModuleCacheOptions options_;
};

TEST_F(ModuleCacheTest, FindsWhatWasKept) {
  EXPECT_FALSE(CacheOf(model_).Load().has_value());
  Keep(model_);
  const std::optional<LoadedModel> found = CacheOf(model_).Load();
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->compiled_here);
  EXPECT_EQ(found->module->inputs()[0].name, "tokens");
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(ModuleCacheTest, FindsNothingForAnotherModelOrOtherOptions) {
  Keep(model_);
  EXPECT_FALSE(CacheOf(model_, {.entry = "all"}).Load().has_value());
  EXPECT_FALSE(CacheOf(model_, {.state_type = DType::kF16}).Load().has_value());
  EXPECT_FALSE(CacheOf(model_, {.shapes = {{"tokens", {1, 4}, std::nullopt}}})
                   .Load()
                   .has_value());
  // A file that was changed later is another model, even if its name and size
  // are the same.
  fs::last_write_time(model_,
                      fs::last_write_time(model_) + std::chrono::seconds(1));
  EXPECT_FALSE(CacheOf(model_).Load().has_value());
}

TEST_F(ModuleCacheTest, ReplacesADamagedModule) {
  Keep(model_);
  ASSERT_EQ(Files().size(), 1u);
  fs::resize_file(Files()[0], fs::file_size(Files()[0]) / 2);
  EXPECT_FALSE(CacheOf(model_).Load().has_value());
  EXPECT_TRUE(Files().empty());
  Keep(model_);
  EXPECT_TRUE(CacheOf(model_).Load().has_value());
}

TEST_F(ModuleCacheTest, RemovesWhatWasNotUsedForLongest) {
  Keep(model_);
  const std::string second = AddModel("second.gguf", "llama");
  Keep(second);
  const auto bytes = static_cast<int64_t>(fs::file_size(Files()[0]));
  for (const fs::path& file : Files()) {
    const timespec times[2] = {{1'000'000, 0}, {1'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  // Loading marks a module as used (access time) but must not change its
  // modification time, which identifies it.
  EXPECT_TRUE(CacheOf(model_).Load().has_value());
  for (const fs::path& file : Files()) {
    struct stat info = {};
    ASSERT_EQ(::stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mtim.tv_sec, 1'000'000);
  }
  // The new module counts with twice its bytes, because its constants will be
  // packed later. So one older module must be removed.
  options_.max_bytes = 7 * bytes / 2;
  Keep(AddModel("third.gguf", "llama"));
  EXPECT_EQ(Files().size(), 2u);
  EXPECT_TRUE(CacheOf(model_).Load().has_value());
  EXPECT_FALSE(CacheOf(second).Load().has_value());
}

// Each module has a folder for packed constants beside it. The test shows that
// its bytes count towards the limit, and that it is removed with the module.
TEST_F(ModuleCacheTest, CountsAndRemovesPackedConstants) {
  Keep(model_);
  const std::string packed = Files()[0].string() + ".packed";
  ASSERT_TRUE(fs::is_directory(packed));
  const auto bytes = static_cast<int64_t>(fs::file_size(Files()[0]));
  options_.max_bytes = 4 * bytes;
  const std::string second = AddModel("second.gguf", "llama");
  Keep(second);
  EXPECT_TRUE(fs::exists(packed));
  ASSERT_TRUE(
      WriteFileAtomically(packed + "/constants",
                          std::string(static_cast<size_t>(3 * bytes), 'x'))
          .ok());
  Keep(AddModel("third.gguf", "llama"));
  EXPECT_FALSE(fs::exists(packed));
  EXPECT_FALSE(CacheOf(model_).Load().has_value());
  EXPECT_TRUE(CacheOf(second).Load().has_value());
}

TEST_F(ModuleCacheTest, KeepsNoModuleNorSmallModelNorModelWithValues) {
  Keep(model_);
  EXPECT_FALSE(CacheOf(Files()[0].string()).keeps());
  EXPECT_FALSE(CacheOf(root_ + "/missing.gguf").keeps());
  EXPECT_FALSE(CacheOf(model_, {.inputs = {"tokens=1x1xi32=1"}}).keeps());
  options_.min_model_bytes = int64_t{1} << 30;
  EXPECT_FALSE(CacheOf(model_).keeps());
  options_ = {};
  EXPECT_FALSE(CacheOf(model_).keeps());
}

TEST_F(ModuleCacheTest, RunsFromMemoryIfTheFolderCannotBeMade) {
  options_.folder = model_ + "/kept";
  Keep(model_);
  EXPECT_FALSE(CacheOf(model_).Load().has_value());
}

TEST_F(ModuleCacheTest, AnnouncesDiskAndTime) {
  EXPECT_EQ(CacheOf(model_).Announcement(),
            model_ + ": compiling once, about 1 s; the module is kept in " +
                options_.folder +
                ", about 1 MB (--model-cache=off keeps none)");
}

}  // namespace
}  // namespace ember::tools
