// Tests the cache: Load finds only entries that are exactly as they were
// stored, and ignores those of other users; the folder stays small; processes
// can share it.
#include "jit/cache/disk_cache.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "gtest/gtest.h"
#include "jit/cache/secret.h"

namespace ember::jit {
namespace {

namespace fs = std::filesystem;

class DiskCacheTest : public ::testing::Test {
 protected:
  DiskCacheTest() {
    const std::string name =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    base_ = fs::path(::testing::TempDir()) / name;
    fs::remove_all(base_);
    fs::create_directories(base_);
    options_.folder = base_ / "a" / "kernels";
    options_.secret_file = base_ / "state" / "secret";
  }
  ~DiskCacheTest() override {
    for (const auto& entry : fs::recursive_directory_iterator(base_))
      if (entry.is_directory()) ::chmod(entry.path().c_str(), 0700);
    fs::remove_all(base_);
  }

  std::unique_ptr<DiskCache> OpenOrDie() {
    auto cache = DiskCache::Open(options_);
    EXPECT_TRUE(cache.ok()) << cache.status().ToString();
    return *std::move(cache);
  }
  std::string OpenError() {
    const auto cache = DiskCache::Open(options_);
    EXPECT_FALSE(cache.ok());
    return cache.status().ToString();
  }
  static Sha256Digest Key(int number) {
    return Sha256({std::to_string(number)});
  }
  std::string PathOf(const Sha256Digest& key) {
    return options_.folder + "/" + DiskCache::FileName(key);
  }
  static std::string Read(const std::string& path) { return *ReadFile(path); }
  static void Write(const std::string& path, const std::string& contents) {
    std::ofstream(path, std::ios::trunc) << contents;
  }
  int64_t BytesInFolder() {
    int64_t total = 0;
    for (const auto& entry : fs::directory_iterator(options_.folder))
      total += static_cast<int64_t>(entry.file_size());
    return total;
  }
  // Returns the path of a folder that belongs to another user.
  std::string FolderOfAnother() {
    for (const char* const path : {"/", "/usr", "/proc"}) {
      struct stat info{};
      if (::stat(path, &info) == 0 && info.st_uid != ::geteuid()) return path;
    }
    const fs::path made = base_ / "of_another";
    fs::create_directory(made);
    EXPECT_EQ(::chown(made.c_str(), 1234, 1234), 0);
    return made;
  }
  static unsigned ModeOf(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  fs::path base_;
  CacheOptions options_;
};

TEST_F(DiskCacheTest, KeepsWhatIsStored) {
  const std::string contents("code\0code", 9);
  {
    const auto cache = OpenOrDie();
    EXPECT_EQ(cache->Load(Key(1)), std::nullopt);
    cache->Store(Key(1), contents);
    cache->Store(Key(2), "");
    EXPECT_EQ(cache->Load(Key(1)), contents);
  }
  const auto cache = OpenOrDie();
  EXPECT_EQ(cache->Load(Key(1)), contents);
  EXPECT_EQ(cache->Load(Key(2)), "");
  EXPECT_EQ(cache->Load(Key(3)), std::nullopt);
  cache->Store(Key(1), "other");
  EXPECT_EQ(cache->Load(Key(1)), "other");
  EXPECT_EQ(cache->problem(), "");
  EXPECT_EQ(ModeOf(options_.folder), 0700u);
  EXPECT_EQ(ModeOf(base_ / "a"), 0700u);
  EXPECT_EQ(ModeOf(PathOf(Key(1))), 0600u);
  EXPECT_EQ(ModeOf(options_.secret_file), 0600u);
}

TEST_F(DiskCacheTest, EveryDamageIsAMissAndMended) {
  const auto cache = OpenOrDie();
  const std::string contents(200, 'c');
  cache->Store(Key(1), contents);
  const std::string good = Read(PathOf(Key(1)));
  int64_t damages = 0;
  const auto expect_miss = [&](const std::string& bad) {
    Write(PathOf(Key(1)), bad);
    EXPECT_EQ(cache->Load(Key(1)), std::nullopt) << damages;
    EXPECT_EQ(cache->rejected(), ++damages);
  };
  // Each single bit of an entry is flipped once, in the magic number, the
  // authentication code and the contents: the damage must be found.
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      expect_miss(bad);
    }
  }
  for (size_t size = 0; size < good.size(); ++size)
    expect_miss(good.substr(0, size));
  expect_miss(good + '\0');
  expect_miss(good + good);
  expect_miss(std::string(good.size(), '\0'));
  EXPECT_NE(cache->problem().find("were damaged"), std::string::npos);
  cache->Store(Key(1), contents);
  EXPECT_EQ(Read(PathOf(Key(1))), good);
  EXPECT_EQ(cache->Load(Key(1)), contents);
}

TEST_F(DiskCacheTest, EntriesOfOthersAreMisses) {
  auto cache = OpenOrDie();
  cache->Store(Key(1), "one");
  // The entry's file is copied to the name of another key. The authentication
  // code covers the key, so the copy is ignored.
  fs::copy_file(PathOf(Key(1)), PathOf(Key(2)));
  EXPECT_EQ(cache->Load(Key(2)), std::nullopt);
  EXPECT_EQ(cache->rejected(), 1);
  // The entry was written by a user with another secret, so its authentication
  // code is wrong and it is ignored.
  options_.secret_file = base_ / "state" / "another";
  const auto stranger = OpenOrDie();
  EXPECT_EQ(stranger->Load(Key(1)), std::nullopt);
  EXPECT_EQ(cache->Load(Key(1)), "one");
}

TEST_F(DiskCacheTest, WhatIsNoPlainFileOfThisUserIsAMiss) {
  const auto cache = OpenOrDie();
  for (int i = 0; i < 5; ++i) cache->Store(Key(i), "x");
  ::chmod(PathOf(Key(0)).c_str(), 0620);
  EXPECT_EQ(cache->Load(Key(0)), std::nullopt);
  fs::rename(PathOf(Key(1)), base_ / "elsewhere");
  fs::create_symlink(base_ / "elsewhere", PathOf(Key(1)));
  EXPECT_EQ(cache->Load(Key(1)), std::nullopt);
  fs::remove(PathOf(Key(2)));
  fs::create_directory(PathOf(Key(2)));
  EXPECT_EQ(cache->Load(Key(2)), std::nullopt);
  fs::remove(PathOf(Key(3)));
  ASSERT_EQ(::mkfifo(PathOf(Key(3)).c_str(), 0600), 0);
  EXPECT_EQ(cache->Load(Key(3)), std::nullopt);
  // Only root may give a file to another user, so this is tested if the test
  // runs as root.
  if (::chown(PathOf(Key(4)).c_str(), 1234, 1234) == 0) {
    EXPECT_EQ(cache->Load(Key(4)), std::nullopt);
  }
  cache->Store(Key(0), "mended");
  cache->Store(Key(1), "mended");
  EXPECT_EQ(cache->Load(Key(0)), "mended");
  EXPECT_EQ(cache->Load(Key(1)), "mended");
}

TEST_F(DiskCacheTest, FoldersThatOthersMayChangeAreNotUsed) {
  OpenOrDie();
  for (const mode_t mode : {0770, 0702, 0777}) {
    ::chmod(options_.folder.c_str(), mode);
    EXPECT_NE(OpenError().find("expected that others may not write to it"),
              std::string::npos);
  }
  ::chmod(options_.folder.c_str(), 0755);
  OpenOrDie();
  ::chmod((base_ / "state").c_str(), 0777);
  EXPECT_NE(OpenError().find("expected that others may not write to it"),
            std::string::npos);
  ::chmod((base_ / "state").c_str(), 0700);
  options_.folder = FolderOfAnother();
  EXPECT_NE(OpenError().find("as its owner, found "), std::string::npos)
      << options_.folder;
}

TEST_F(DiskCacheTest, NoFolderIsAnErrorThatSaysWhy) {
  Write(base_ / "file", "");
  options_.folder = base_ / "file";
  EXPECT_NE(OpenError().find("Not a directory"), std::string::npos);
  options_.folder = "/proc/no/such/folder";
  EXPECT_NE(OpenError().find("cannot open folder '/proc/no/such/folder'"),
            std::string::npos);
  options_.folder = base_ / "kernels";
  options_.secret_file = "/proc/secret";
  EXPECT_NE(OpenError().find("/proc"), std::string::npos);
  options_.secret_file = "";
  EXPECT_NE(OpenError().find("secret"), std::string::npos);
}

TEST_F(DiskCacheTest, ContinuesWhereNothingCanBeWritten) {
  auto cache = OpenOrDie();
  cache->Store(Key(1), "one");
  // The folder is removed, so nothing can be written to it. A full or read-only
  // disk has the same effect on the cache.
  fs::rename(options_.folder, base_ / "gone");
  fs::remove_all(base_ / "gone");
  cache->Store(Key(2), "two");
  EXPECT_NE(cache->problem().find("cannot write to folder"), std::string::npos);
  cache->Store(Key(2), "two");
  EXPECT_EQ(cache->Load(Key(2)), std::nullopt);
  EXPECT_EQ(cache->Load(Key(1)), std::nullopt);
}

TEST_F(DiskCacheTest, SecretsThatOthersMaySeeAreReplaced) {
  const std::string secret = *ReadOrMakeSecret(options_.secret_file);
  EXPECT_EQ(secret.size(), 32u);
  EXPECT_EQ(*ReadOrMakeSecret(options_.secret_file), secret);
  std::set<std::string> secrets = {secret};
  for (const mode_t mode : {0640, 0604, 0620}) {
    ::chmod(options_.secret_file.c_str(), mode);
    EXPECT_TRUE(secrets.insert(*ReadOrMakeSecret(options_.secret_file)).second);
  }
  // These contents of the secret's file are invalid: too short, or all zeros,
  // which a power loss may leave.
  for (const std::string& bad :
       {std::string(), std::string("short"), std::string(32, '\0')}) {
    Write(options_.secret_file, bad);
    EXPECT_TRUE(secrets.insert(*ReadOrMakeSecret(options_.secret_file)).second);
  }
  EXPECT_EQ(ModeOf(options_.secret_file), 0600u);
}

TEST_F(DiskCacheTest, RemovesWhatWasUsedLastLongestAgo) {
  options_.max_bytes = 100'000;
  const auto cache = OpenOrDie();
  const std::string contents(5'000, 'x');
  // Waits until the time of modification of a new file is a later one, so that
  // the order of the entries' times is certain. The file system decides how
  // long that takes.
  const auto pause = [&] {
    const std::string probe = base_ / "probe";
    Write(probe, "");
    const fs::file_time_type before = fs::last_write_time(probe);
    do {
      std::this_thread::yield();
      Write(probe, "");
    } while (fs::last_write_time(probe) == before);
  };
  cache->Store(Key(0), contents);
  for (int i = 1; i < 60; ++i) {
    pause();
    cache->Store(Key(i), contents);
    // Key 0 is loaded in each iteration, so it is never the least recently used
    // entry and must not be removed.
    EXPECT_EQ(cache->Load(Key(0)), contents) << i;
    EXPECT_LE(BytesInFolder(),
              options_.max_bytes + options_.max_bytes / 32 + 2 * 5'100)
        << i;
  }
  EXPECT_EQ(cache->Load(Key(59)), contents);
  EXPECT_EQ(cache->Load(Key(1)), std::nullopt);
  EXPECT_EQ(cache->rejected(), 0);
}

TEST_F(DiskCacheTest, LargeEntriesAreNotKept) {
  options_.max_bytes = 1000;
  const auto cache = OpenOrDie();
  cache->Store(Key(1), std::string(200, 'x'));
  EXPECT_EQ(cache->Load(Key(1)), std::nullopt);
  options_.max_bytes = 0;
  OpenOrDie()->Store(Key(2), "");
  EXPECT_EQ(BytesInFolder(), 0);
  EXPECT_EQ(cache->problem(), "");
}

TEST_F(DiskCacheTest, RemovesWhatKilledWritersLeft) {
  OpenOrDie();
  const std::string old_one = options_.folder + "/unfinished-0123456789abcdef";
  const std::string new_one = options_.folder + "/unfinished-0123456789abcdee";
  const std::string of_others = options_.folder + "/notes.txt";
  for (const std::string& path : {old_one, new_one, of_others}) {
    Write(path, "x");
    // The recent file must stay recent enough not to be removed, however long
    // the test takes.
    const auto now = fs::file_time_type::clock::now();
    fs::last_write_time(path, path == new_one ? now + std::chrono::hours(24)
                                              : now - std::chrono::minutes(2));
  }
  OpenOrDie()->Store(Key(1), "x");
  EXPECT_FALSE(fs::exists(old_one));
  EXPECT_TRUE(fs::exists(new_one));
  EXPECT_TRUE(fs::exists(of_others));
}

// Several processes write and read all keys at the same time while entries are
// evicted. The contents that Load returns must belong to the key.
TEST_F(DiskCacheTest, ProcessesShareIt) {
  constexpr int kProcesses = 4, kRounds = 300, kKeys = 20;
  options_.max_bytes = 30'000;
  const auto contents = [](int key) {
    return std::string(2'000 + static_cast<size_t>(key), 'a' + char(key));
  };
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    // There is no file of a secret yet, so the processes also race to make it.
    auto cache = DiskCache::Open(options_);
    if (!cache.ok()) ::_exit(2);
    int hits = 0;
    for (int i = 0; i < kRounds; ++i) {
      // Each key is used twice in a row: otherwise a process that runs alone
      // for a while would find no entry, since each is evicted before its next
      // use.
      const int key = (i / 2 * 7 + p * 3) % kKeys;
      const auto found = (*cache)->Load(Key(key));
      if (found && *found != contents(key)) ::_exit(3);
      hits += found.has_value();
      if (!found) (*cache)->Store(Key(key), contents(key));
    }
    if ((*cache)->rejected() != 0) ::_exit(4);
    if (!(*cache)->problem().empty()) ::_exit(5);
    ::_exit(hits > 0 ? 0 : 6);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_LE(
      BytesInFolder(),
      options_.max_bytes + kProcesses * (options_.max_bytes / 32 + 4'200));
}

}  // namespace
}  // namespace ember::jit
