// Tests paths of every kind at each place that accepts one: the location of
// external data (given by a stranger's model), the folder of the kernel cache,
// a file that a tool writes, and a module that is loaded (given by the user).
//
// Whatever the path is: no call waits for ever, no file outside of the folder
// changes or is read for a model, special files stay what they are, no
// temporary file is left, and an error is one line.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/sha256.h"
#include "frontends/onnx/node/external_data.h"
#include "gtest/gtest.h"
#include "jit/cache/disk_cache.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/module.h"

namespace ember::tests {
namespace {

namespace fs = std::filesystem;

// A path, and the expected answer at each place that accepts paths: 'y' means
// that the place accepts the path, 'n' that it refuses the path, '-' that the
// path is not tried there.
struct PathCase {
  std::string name;  // name of the case
  // The path. A "@" at the beginning is replaced by the folder.
  std::string path;
  // Expected answer if the path is the location of external data of a model in
  // the folder.
  char data;
  char cache;  // Expected answer if the path is the folder of the kernel cache.
  char write;  // expected answer if a tool writes a file to the path
  char load;   // expected answer if a module is loaded from the path
};

constexpr std::string_view kSecret = "nobody may read this";

// The files that the test makes:
//   outside/secret, outside/folder
//   top/a (a module), A (another module), empty, folder/b (a module)
//   links: near -> a, dangling, loop, out -> ../outside/secret, outdir, up, hop
//   hard links: hard (of a), hardout (of outside/secret)
//   pipe, socket
class PathsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::path(::testing::TempDir()) / "paths_test";
    fs::remove_all(base_);
    top_ = base_ / "top";
    fs::create_directories(top_ / "folder");
    fs::create_directories(base_ / "outside" / "folder");
    std::ofstream(base_ / "outside" / "secret") << kSecret;
    module_ = *vm::SerializeModule(vm::SampleNamed("static"));
    for (const char* const name :
         {"a", "A", "folder/b", kUtf8, kNotUtf8, "with space", "-dash",
          "new\nline", "*", "%s%n", "back\\slash", "C:\\a", "~", "..."})
      WriteModule(top_ / name);
    WriteModule(top_ / std::string(255, 'l'));
    std::ofstream(top_ / "empty").flush();
    fs::create_symlink("a", top_ / "near");
    fs::create_symlink("nothing", top_ / "dangling");
    fs::create_symlink("loop", top_ / "loop");
    fs::create_symlink("../outside/secret", top_ / "out");
    fs::create_symlink("out", top_ / "hop");
    fs::create_symlink("folder", top_ / "neardir");
    fs::create_symlink("../outside", top_ / "outdir");
    fs::create_symlink("..", top_ / "up");
    fs::create_symlink("/dev/zero", top_ / "zero");
    fs::create_hard_link(top_ / "a", top_ / "hard");
    ASSERT_EQ(::mkfifo((top_ / "pipe").c_str(), 0600), 0);
    // The length of a socket's path is limited, so the test changes to the
    // folder and gives only the socket's name.
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    const fs::path here = fs::current_path();
    fs::current_path(top_);
    const int bound = ::bind(
        server, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    fs::current_path(here);
    ::close(server);
    ASSERT_EQ(bound, 0);
  }
  void TearDown() override { fs::remove_all(base_); }

  void WriteModule(const fs::path& path) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(module_.data()),
               static_cast<std::streamsize>(module_.size()));
  }

  std::string PathOf(const PathCase& path_case) const {
    return path_case.path.starts_with('@')
               ? top_.string() + path_case.path.substr(1)
               : path_case.path;
  }

  static constexpr const char* kUtf8 = "\xc3\xa4.bin";
  static constexpr const char* kNotUtf8 = "\xff\xfe.bin";
  fs::path base_, top_;
  std::vector<uint8_t> module_;
};

std::vector<PathCase> Cases() {
  const std::string zero("@/a\0b", 5);
  const std::string deep = [] {
    std::string path = "@";
    for (int i = 0; i < 1000; ++i) path += "/folder/..";
    return path + "/a";
  }();
  return {
      // The next rows are plain paths.
      {"a file", "@/a", 'y', 'n', 'y', 'y'},
      {"below a folder", "@/folder/b", 'y', 'n', 'y', 'y'},
      {"an empty file", "@/empty", 'y', 'n', 'y', 'n'},
      {"another case", "@/A", 'y', 'n', 'y', 'y'},
      {"another case, not there", "@/FOLDER/b", 'n', '-', 'n', 'n'},
      {"a missing file", "@/missing", 'n', 'y', 'y', 'n'},
      {"a missing folder", "@/missing/a", 'n', 'y', 'n', 'n'},
      {"a folder", "@/folder", 'n', 'y', 'n', 'n'},
      {"the folder", "@", 'n', '-', 'n', 'n'},
      {"a file as a folder", "@/a/x", 'n', 'n', 'n', 'n'},
      // The next rows are paths with dots and slashes.
      {"one dot", "@/.", 'n', '-', 'n', 'n'},
      {"one dot in between", "@/./a", 'y', 'n', 'y', 'y'},
      {"two dots", "@/..", 'n', '-', 'n', 'n'},
      {"two dots and back", "@/folder/../a", 'n', 'n', 'y', 'y'},
      {"two dots from outside", "@/../top/a", 'n', 'n', 'y', 'y'},
      {"two dots to outside", "@/../outside/secret", 'n', 'n', '-', 'n'},
      {"two dots at the end", "@/folder/..", 'n', '-', 'n', 'n'},
      {"many dots", "@/../../../../../../../etc/passwd", 'n', 'n', '-', 'n'},
      {"three dots", "@/...", 'y', 'n', 'y', 'y'},
      {"two slashes", "@/.//a", 'y', 'n', 'y', 'y'},
      {"slashes in between", "@/folder////b", 'y', 'n', 'y', 'y'},
      {"a slash behind a file", "@/a/", 'n', 'n', 'n', 'n'},
      {"a slash behind a folder", "@/folder/", 'n', 'y', 'n', 'n'},
      {"a slash behind nothing", "@/missing/", 'n', 'y', 'n', 'n'},
      {"a dot behind a file", "@/a/.", 'n', 'n', 'n', 'n'},
      {"empty", "", 'n', 'n', 'n', 'n'},
      {"a thousand folders and back", deep, 'n', 'n', 'n', 'n'},
      // The next rows are absolute paths.
      {"the root", "/", 'n', '-', 'n', 'n'},
      {"a system's file", "/etc/passwd", 'n', 'n', '-', 'n'},
      {"two slashes at the root", "//etc/passwd", 'n', 'n', '-', 'n'},
      {"a file of /proc", "/proc/self/environ", 'n', 'n', 'n', 'n'},
      {"memory of a process", "/proc/self/mem", 'n', 'n', '-', 'n'},
      {"the working folder", "/proc/self/cwd/../../etc/passwd", 'n', '-', '-',
       'n'},
      {"a URL", "file:///etc/passwd", 'n', '-', 'n', 'n'},
      // The next rows are links.
      {"a link", "@/near", 'y', 'n', 'y', 'y'},
      {"a dangling link", "@/dangling", 'n', 'n', 'y', 'n'},
      {"a link to itself", "@/loop", 'n', 'n', 'y', 'n'},
      {"a link out", "@/out", 'n', 'n', 'y', 'n'},
      {"a link to a link out", "@/hop", 'n', 'n', 'y', 'n'},
      {"a link to a folder", "@/neardir/b", 'y', 'n', 'y', 'y'},
      {"a link to a folder outside", "@/outdir/secret", 'n', 'n', '-', 'n'},
      {"a folder outside", "@/outdir/folder", 'n', 'y', 'n', 'n'},
      {"a link up and back", "@/up/top/a", 'y', 'n', 'y', 'y'},
      {"a link to a device", "@/zero", 'n', 'n', 'y', 'n'},
      {"a hard link", "@/hard", 'y', 'n', 'y', 'y'},
      // The next rows are not regular files.
      {"a pipe", "@/pipe", 'n', 'n', '-', 'n'},
      {"a socket", "@/socket", 'n', 'n', 'n', 'n'},
      {"nothing", "/dev/null", 'n', 'n', 'y', 'n'},
      {"zeros", "/dev/zero", 'n', 'n', 'y', 'n'},
      {"a full device", "/dev/full", 'n', 'n', 'n', 'n'},
      {"a terminal", "/dev/tty", 'n', 'n', '-', 'n'},
      {"an open file", "/dev/fd/99", 'n', 'n', 'n', 'n'},
      {"a folder of devices", "/dev", 'n', '-', 'n', 'n'},
      // The next rows are unusual names.
      {"a zero byte", zero, 'n', 'n', 'n', 'n'},
      {"UTF-8", "@/\xc3\xa4.bin", 'y', 'n', 'y', 'y'},
      {"not UTF-8", "@/\xff\xfe.bin", 'y', 'n', 'y', 'y'},
      {"a space", "@/with space", 'y', 'n', 'y', 'y'},
      {"a dash", "@/-dash", 'y', 'n', 'y', 'y'},
      {"a line's end", "@/new\nline", 'y', 'n', 'y', 'y'},
      {"a line's end, missing", "@/no\nline\x1b[2J", 'n', '-', 'y', 'n'},
      {"a star", "@/*", 'y', 'n', 'y', 'y'},
      {"a format", "@/%s%n", 'y', 'n', 'y', 'y'},
      {"a backslash", "@/back\\slash", 'y', 'n', 'y', 'y'},
      {"backslashes up", "@/..\\outside\\secret", 'n', '-', 'y', 'n'},
      {"a drive", "@/C:\\a", 'y', 'n', 'y', 'y'},
      {"a home", "@/~", 'y', 'n', 'y', 'y'},
      {"a variable", "@/$HOME", 'n', '-', 'y', 'n'},
      {"a name of 255 bytes", "@/" + std::string(255, 'l'), 'y', 'n', 'y', 'y'},
      {"a name of 256 bytes", "@/" + std::string(256, 'l'), 'n', 'n', 'n', 'n'},
      {"a path of 5000 bytes", "@/" + std::string(5000, 'l'), 'n', 'n', 'n',
       'n'},
      {"a name of a megabyte", "@/" + std::string(1 << 20, 'l'), 'n', 'n', 'n',
       'n'},
  };
}

void ExpectOutcome(const PathCase& path_case, const char* place, char expected,
                   const Status& status) {
  EXPECT_EQ(status.ok() ? 'y' : 'n', expected)
      << place << ", " << path_case.name << ": " << status.ToString();
}

TEST_F(PathsTest, CasesAreMany) {
  std::set<std::string> names;
  for (const PathCase& path_case : Cases()) names.insert(path_case.name);
  EXPECT_GE(names.size(), 60u);
  EXPECT_EQ(names.size(), Cases().size());
}

TEST_F(PathsTest, ExternalData) {
  for (const PathCase& path_case : Cases()) {
    // A model gives the location of its external data relative to its own
    // folder.
    std::string location = path_case.path;
    if (location.starts_with("@/")) location = location.substr(2);
    if (location == "@") location = ".";
    onnx::ExternalFiles files(top_.string());
    const auto data = files.Read(location, 0, -1);
    ExpectOutcome(path_case, "external data", path_case.data, data.status());
    if (!data.ok()) {
      EXPECT_EQ(data.status().message().find_first_of("\n\x1b"),
                std::string_view::npos)
          << path_case.name;
      EXPECT_LT(data.status().message().size(), 1000u) << path_case.name;
      continue;
    }
    EXPECT_EQ(std::string(data->bytes.begin(), data->bytes.end()).find(kSecret),
              std::string::npos)
        << path_case.name;
    // An absolute path is refused, even to a file that may be read by its
    // relative path.
    EXPECT_FALSE(onnx::ExternalFiles(top_.string())
                     .Read(top_.string() + "/" + location, 0, -1)
                     .ok())
        << path_case.name;
  }
}

TEST_F(PathsTest, Modules) {
  for (const PathCase& path_case : Cases()) {
    ExpectOutcome(path_case, "module", path_case.load,
                  vm::Module::Load(PathOf(path_case)).status());
  }
}

TEST_F(PathsTest, CacheFolders) {
  for (const PathCase& path_case : Cases()) {
    if (path_case.cache == '-') continue;
    jit::CacheOptions options;
    options.folder = PathOf(path_case);
    options.secret_file = (base_ / "state" / "secret").string();
    const auto cache = jit::DiskCache::Open(options);
    ExpectOutcome(path_case, "cache", path_case.cache, cache.status());
    if (!cache.ok()) continue;
    const Sha256Digest key = Sha256({"key"});
    (*cache)->Store(key, "contents");
    EXPECT_EQ((*cache)->Load(key), "contents") << path_case.name;
    EXPECT_TRUE(
        fs::exists(options.folder + "/" + jit::DiskCache::FileName(key)))
        << path_case.name;
  }
}

TEST_F(PathsTest, WrittenFiles) {
  for (const PathCase& path_case : Cases()) {
    if (path_case.write == '-') continue;
    const std::string path = PathOf(path_case);
    struct stat before = {};
    const bool was_there = ::stat(path.c_str(), &before) == 0;
    const Status status = WriteFileAtomically(path, "written");
    ExpectOutcome(path_case, "written file", path_case.write, status);
    struct stat after = {};
    if (was_there && !S_ISREG(before.st_mode) && path[0] == '/' &&
        path.starts_with("/dev")) {
      EXPECT_EQ(::stat(path.c_str(), &after), 0) << path_case.name;
      EXPECT_EQ(after.st_mode, before.st_mode)
          << path_case.name << ": no longer what it was";
    } else if (status.ok() && !path.ends_with("/zero")) {
      EXPECT_EQ(*ReadFile(path), "written") << path_case.name;
    }
  }
  // The link "out" leads to outside/secret. Writing to it must have replaced
  // the link and left that file unchanged.
  EXPECT_EQ(*ReadFile(base_ / "outside" / "secret"), kSecret);
  EXPECT_FALSE(fs::is_symlink(top_ / "out"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(fs::is_symlink(top_ / "zero")) << "devices are written to";
  for (const auto& entry : fs::recursive_directory_iterator(base_)) {
    EXPECT_EQ(entry.path().string().find(".tmp."), std::string::npos)
        << entry.path();
  }
}

// Data is written to a pipe if another process reads it.
TEST_F(PathsTest, PipesAreWrittenTo) {
  const std::string path = (top_ / "pipe").string();
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  const Status status = WriteFileAtomically(path, "written");
  EXPECT_TRUE(status.ok()) << status.ToString();
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "written");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path));
}

}  // namespace
}  // namespace ember::tests
