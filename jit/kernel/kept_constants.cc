#include "jit/kernel/kept_constants.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file_writer.h"
#include "base/build_id.h"
#include "base/concat.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/private_folder.h"
#include "base/rounding.h"
#include "base/sha256.h"

namespace ember::jit {
namespace {

constexpr std::string_view kFolderEnd = ".packed", kRanges = "/ranges";
// Least number of bytes of contents that are kept on disk: smaller contents are
// packed in microseconds.
constexpr uint64_t kMinBytes = uint64_t{64} << 10;
constexpr size_t kMaxBuffers = 256;
constexpr uint64_t kAlignment = 64;

// The header at the begin of a file of packed constants. The contents begin at
// byte kContents, each at a multiple of 64 bytes.
struct Header {
  char magic[8] = {'E', 'm', 'b', 'P', 'a', 'c', 'k', '1'};
  // Identity of the system's boot during which the file was written or
  // verified: a file of the current boot need not be verified again.
  char boot[36] = {};
  uint32_t count = 0;
  uint64_t hash = 0;  // hash of `sizes` and of the contents
  uint64_t sizes[kMaxBuffers] = {};
};
constexpr uint64_t kContents = 4096;
static_assert(sizeof(Header) <= kContents);

// Reads the identity of the system's current boot; zeros if it is not known.
void ReadBoot(char (&boot)[36]) {
  std::memset(boot, 0, sizeof boot);
  const StatusOr<std::string> text =
      ReadFile("/proc/sys/kernel/random/boot_id");
  if (text.ok() && text->size() >= sizeof boot)
    std::memcpy(boot, text->data(), sizeof boot);
}

uint64_t HashOf(const Header& header,
                std::span<const std::span<const uint8_t>> contents) {
  uint64_t hash = HashBytes(header.sizes, sizeof header.sizes, header.count);
  for (const std::span<const uint8_t> bytes : contents)
    hash = HashBytes(bytes, hash);
  return hash;
}

// Returns the contents that the header describes, as parts of `file`; an empty
// list if the file's size does not fit the header.
std::vector<std::span<const uint8_t>> ContentsOf(
    const Header& header, std::span<const uint8_t> file) {
  std::vector<std::span<const uint8_t>> contents;
  uint64_t offset = kContents;
  for (uint32_t i = 0; i < header.count; ++i) {
    const uint64_t size = header.sizes[i];
    if (offset > file.size() || size > file.size() - offset) return {};
    contents.push_back(file.subspan(offset, size));
    offset += RoundUp(size, kAlignment);
  }
  if (offset != file.size()) return {};
  return contents;
}

// Records in the file that its contents were verified during the current boot.
void MarkVerified(const std::string& path, const Header& header) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  // A failure of this write does no harm: the next process then verifies the
  // contents again.
  const ssize_t written =
      ::pwrite(file, header.boot, sizeof header.boot, offsetof(Header, boot));
  static_cast<void>(written);
  ::close(file);
}

std::string_view BytesOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status Write(const std::string& path, const Header& header,
             std::span<const std::span<const uint8_t>> contents) {
  EMBER_ASSIGN_OR_RETURN(AtomicFileWriter writer,
                         AtomicFileWriter::Create(path));
  std::string head(kContents, '\0');
  std::memcpy(head.data(), &header, sizeof header);
  EMBER_RETURN_IF_ERROR(writer.Write(head));
  for (const std::span<const uint8_t> bytes : contents) {
    EMBER_RETURN_IF_ERROR(writer.Write(BytesOf(bytes)));
    const size_t padding = RoundUp(bytes.size(), kAlignment) - bytes.size();
    EMBER_RETURN_IF_ERROR(writer.Write(std::string(padding, '\0')));
  }
  // The file need not be flushed to the disk: if power fails, the hash shows
  // that the contents are damaged.
  return writer.Commit(Durability::kSurvivesWriter);
}

tensor::Interval RangeOfBytes(std::span<const uint8_t> data) {
  int8_t low = 0, high = 0;
  for (const uint8_t element : data) {
    low = std::min(low, static_cast<int8_t>(element));
    high = std::max(high, static_cast<int8_t>(element));
  }
  return {low, high};
}

const std::string& OwnBuild() {
  static const std::string& build =
      *new std::string(BuildIdAt(reinterpret_cast<const void*>(&ReadBoot)));
  return build;
}

}  // namespace

KeptConstants::Module* KeptConstants::ModuleOf(const vm::KernelRequest& request,
                                               std::span<const uint8_t> data) {
  if (request.owner == nullptr) return nullptr;
  const auto found = modules_.find(request.owner.get());
  if (found != modules_.end() && !found->second.owner.expired()) {
    Module& module = found->second;
    return module.mapping.Contains(data) ? &module : nullptr;
  }
  std::erase_if(modules_,
                [](const auto& entry) { return entry.second.owner.expired(); });
  std::optional<FileMapping> mapping = FindMapping(data);
  if (!mapping) return nullptr;
  Module& module = modules_[request.owner.get()];
  module = {request.owner, *std::move(mapping), "", "", {}};
  struct stat file = {}, folder = {};
  const std::string path = module.mapping.path + std::string(kFolderEnd);
  if (OwnBuild().empty() || ::stat(module.mapping.path.c_str(), &file) != 0 ||
      file.st_ino != module.mapping.inode ||
      ::stat(path.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode) ||
      !PrivateFolder::Open(path).ok())
    return &module;
  module.folder = path;
  module.identity = Concat({module.mapping.inode, " ", int64_t{file.st_size},
                            " ", int64_t{file.st_mtim.tv_sec}, ".",
                            int64_t{file.st_mtim.tv_nsec}, " ", OwnBuild()});
  ReadRanges(module);
  return &module;
}

std::string KeptConstants::PathOf(const vm::KernelRequest& request,
                                  const loops::LoopNest& nest) {
  const std::scoped_lock lock(mutex_);
  Module* module = nullptr;
  for (const std::span<const uint8_t> data : request.constant_data) {
    if (data.empty()) continue;
    module = ModuleOf(request, data);
    if (module == nullptr || module->folder.empty()) return "";
  }
  if (module == nullptr) return "";
  const FileMapping& mapping = module->mapping;
  const std::string key =
      PackingKey(request, nest, mapping.begin - mapping.offset);
  if (key.empty()) return "";
  return Concat({module->folder, "/", ToHex(Sha256({module->identity, key})),
                 kFolderEnd});
}

std::optional<PackedBuffers> KeptConstants::Load(const std::string& path) {
  if (path.empty() || ::access(path.c_str(), R_OK) != 0) return std::nullopt;
  StatusOr<MappedFile> opened = MappedFile::Open(path);
  if (!opened.ok()) return std::nullopt;
  const auto file = std::make_shared<MappedFile>(*std::move(opened));
  Header header;
  if (file->bytes().size() > kContents) {
    std::memcpy(static_cast<void*>(&header), file->bytes().data(),
                sizeof header);
  }
  const bool is_header =
      header.count > 0 && header.count <= kMaxBuffers &&
      std::memcmp(header.magic, Header().magic, sizeof header.magic) == 0;
  PackedBuffers packed;
  if (is_header) packed.contents = ContentsOf(header, file->bytes());
  char boot[sizeof header.boot];
  ReadBoot(boot);
  const bool is_of_this_start =
      boot[0] != '\0' && std::memcmp(boot, header.boot, sizeof boot) == 0;
  if (packed.contents.empty() ||
      (!is_of_this_start && HashOf(header, packed.contents) != header.hash)) {
    ::unlink(path.c_str());
    return std::nullopt;
  }
  if (!is_of_this_start) {
    std::memcpy(header.boot, boot, sizeof boot);
    MarkVerified(path, header);
  }
  packed.owner = file;
  return packed;
}

std::optional<PackedBuffers> KeptConstants::Keep(
    const std::string& path,
    std::span<const std::span<const uint8_t>> contents) {
  if (path.empty() || contents.empty() || contents.size() > kMaxBuffers)
    return std::nullopt;
  Header header;
  header.count = static_cast<uint32_t>(contents.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < contents.size(); ++i)
    bytes += header.sizes[i] = contents[i].size();
  if (bytes < kMinBytes) return std::nullopt;
  ReadBoot(header.boot);
  header.hash = HashOf(header, contents);
  if (!Write(path, header, contents).ok()) return std::nullopt;
  return Load(path);
}

tensor::Interval KeptConstants::RangeOf(const vm::KernelRequest& request,
                                        size_t input) {
  const std::span<const uint8_t> data = request.constant_data[input];
  uint64_t offset = 0;
  std::string folder;
  {
    const std::scoped_lock lock(mutex_);
    const Module* const module = ModuleOf(request, data);
    if (module == nullptr) return RangeOfBytes(data);
    offset = module->mapping.offset + reinterpret_cast<uintptr_t>(data.data()) -
             module->mapping.begin;
    const auto known = module->ranges.find({offset, data.size()});
    if (known != module->ranges.end()) return known->second;
    folder = module->folder;
  }
  const tensor::Interval range = RangeOfBytes(data);
  const std::scoped_lock lock(mutex_);
  Module* const module = ModuleOf(request, data);
  if (module == nullptr) return range;
  module->ranges.emplace(std::pair{offset, data.size()}, range);
  if (folder.empty()) return range;
  const int file =
      ::open((folder + std::string(kRanges)).c_str(),
             O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return range;
  // The line is written by one call: the system then appends it as a whole,
  // even if other processes append lines too.
  const std::string line =
      Concat({ToHex(Sha256({module->identity})), " ", offset, " ", data.size(),
              " ", range.low, " ", range.high, " .\n"});
  const ssize_t written = ::write(file, line.data(), line.size());
  static_cast<void>(written);
  ::close(file);
  return range;
}

// Reads the file of ranges. Each line holds the digest of the module's
// identity, offset, size, lowest and highest value of a constant, and a dot.
// Other lines are ignored.
void KeptConstants::ReadRanges(Module& module) {
  const StatusOr<std::string> text =
      ReadFile(module.folder + std::string(kRanges));
  if (!text.ok()) return;
  const std::string identity = ToHex(Sha256({module.identity}));
  std::string_view rest = *text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return;
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    uint64_t offset = 0;
    size_t size = 0;
    int low = 0, high = 0;
    char dot = 0;
    if (!line.starts_with(identity) ||
        std::sscanf(line.c_str() + identity.size(), " %" SCNu64 " %zu %d %d %c",
                    &offset, &size, &low, &high, &dot) != 5 ||
        dot != '.' || low < INT8_MIN || low > 0 || high < 0 || high > INT8_MAX)
      continue;
    module.ranges[{offset, size}] = {low, high};
  }
}

}  // namespace ember::jit
