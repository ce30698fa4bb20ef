#include "hal/vulkan/pipeline_cache.h"

#include <cstring>
#include <utility>

#include "base/hash.h"
#include "hal/trim_folder.h"

namespace ember::hal::vulkan {
namespace {

constexpr std::string_view kSuffix = ".pipelines";

// The header of a file, which precedes the bytes that the driver gave. Drivers
// trust these bytes like their own memory. PrivateFolder ensures that no other
// user wrote the file; this header ensures that the file is complete.
struct FileHeader {
  char magic[8] = {'E', 'M', 'B', 'E', 'R', 'V', 'P', '1'};
  uint64_t hash = 0;  // hash of all bytes behind the header
};

std::string FileName(const VkPhysicalDeviceProperties& properties) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (uint8_t byte : properties.pipelineCacheUUID) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name.append(kSuffix);
}

// Returns the driver's bytes from a file's contents. Returns an empty text if
// the file is not complete or if another driver wrote it.
std::string Unpack(const VkPhysicalDeviceProperties& properties,
                   std::string_view file) {
  FileHeader header;
  if (file.size() < sizeof header) return "";
  std::memcpy(&header, file.data(), sizeof header);
  const std::string_view contents = file.substr(sizeof header);
  if (std::memcmp(header.magic, FileHeader().magic, sizeof header.magic) != 0 ||
      header.hash != HashString(contents))
    return "";
  // The driver's own header must be of this device and driver version. Vulkan
  // drivers should check that, but some do not.
  VkPipelineCacheHeaderVersionOne version;
  if (contents.size() < sizeof version) return "";
  std::memcpy(&version, contents.data(), sizeof version);
  const bool is_ours =
      version.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
      version.vendorID == properties.vendorID &&
      version.deviceID == properties.deviceID &&
      std::memcmp(version.pipelineCacheUUID, properties.pipelineCacheUUID,
                  VK_UUID_SIZE) == 0;
  return is_ours ? std::string(contents) : "";
}

}  // namespace

PipelineCache::PipelineCache(Context& context, const std::string& folder)
    : context_(context), file_name_(FileName(context.physical().properties())) {
  std::string contents;
  if (!folder.empty()) {
    StatusOr<PrivateFolder> opened = PrivateFolder::Open(folder + "/vulkan");
    if (opened.ok()) {
      folder_.emplace(*std::move(opened));
      contents = Unpack(context.physical().properties(),
                        folder_->Use(file_name_, kMaxBytes).value_or(""));
    }
  }
  Make(contents);
  if (cache_.get() == VK_NULL_HANDLE && !contents.empty()) {
    contents.clear();
    Make(contents);
  }
  saved_hash_ = HashString(contents);
}

PipelineCache::~PipelineCache() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (uses_ > 0) Save();
}

void PipelineCache::Make(const std::string& contents) {
  const VkPipelineCacheCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
      .initialDataSize = contents.size(),
      .pInitialData = contents.empty() ? nullptr : contents.data()};
  StatusOr<OwnedPipelineCache> made =
      Create<OwnedPipelineCache>(context_, "vkCreatePipelineCache",
                                 context_.vk().CreatePipelineCache, info);
  if (made.ok()) cache_ = *std::move(made);
}

void PipelineCache::NoteUse() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++uses_;
  if ((uses_ & (uses_ - 1)) == 0) Save();
}

void PipelineCache::Save() {
  if (!folder_.has_value() || cache_.get() == VK_NULL_HANDLE ||
      !context_.Alive().ok())
    return;
  const auto get = context_.vk().GetPipelineCacheData;
  size_t size = 0;
  if (get(context_.device(), cache_.get(), &size, nullptr) != VK_SUCCESS)
    return;
  FileHeader header;
  std::string file(sizeof header + size, '\0');
  // VK_INCOMPLETE is not an error here: it means that another thread has added
  // something to the cache meanwhile, and the bytes are valid.
  if (get(context_.device(), cache_.get(), &size, &file[sizeof header]) < 0)
    return;
  file.resize(sizeof header + size);
  header.hash = HashString(std::string_view(file).substr(sizeof header));
  if (header.hash == saved_hash_) return;
  std::memcpy(file.data(), &header, sizeof header);
  // If the cache has become too large, its file is removed instead of written,
  // so that the next process starts with an empty cache.
  if (static_cast<int64_t>(file.size()) > kMaxBytes) {
    folder_->Remove(file_name_);
    return;
  }
  if (folder_->Replace(file_name_, file).ok()) saved_hash_ = header.hash;
  TrimFolder(*folder_, kMaxBytes, file_name_);
}

}  // namespace ember::hal::vulkan
