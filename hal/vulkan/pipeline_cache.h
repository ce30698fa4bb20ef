// What the driver made of executables, kept for later processes: one file per
// kind of device and version of its driver (pipelineCacheUUID).
//
//   PipelineCache cache(context, "/home/me/.cache/ember/kernels");
//   … vk.CreateComputePipelines(device, cache.handle(), …) …
//   cache.NoteUse();
//
// Written beside and renamed, now and then (NoteUse) and when destroyed. A file
// that is damaged, from elsewhere or not this user's is as none; a cache that
// cannot be kept costs time, and is no error. Thread-safe.
#ifndef EMBER_HAL_VULKAN_PIPELINE_CACHE_H_
#define EMBER_HAL_VULKAN_PIPELINE_CACHE_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/private_folder.h"
#include "hal/vulkan/context.h"

namespace ember::hal::vulkan {

class PipelineCache {
 public:
  // folder: of all drivers; this one makes "vulkan" in it. Empty: in memory
  // only. context must outlive this.
  PipelineCache(Context& context, const std::string& folder);
  ~PipelineCache();

  // Null if the driver would not make one.
  VkPipelineCache handle() const { return cache_.get(); }

  // A pipeline was made with it. Saves after 1, 2, 4, … of them: a process that
  // is ended loses at most half.
  void NoteUse();

  // All files of the folder; those used last longest ago are removed beyond it.
  static constexpr int64_t kMostBytes = int64_t{128} << 20;

 private:
  void Make(const std::string& contents);
  void Save();
  void RemoveOldFiles();

  Context& context_;
  const std::string file_name_;
  std::optional<PrivateFolder> folder_;
  OwnedPipelineCache cache_;

  std::mutex mutex_;         // guards what follows
  uint64_t saved_hash_ = 0;  // of what is in the file
  int64_t uses_ = 0;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_PIPELINE_CACHE_H_
