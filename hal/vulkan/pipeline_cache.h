// Stores compiled pipelines of the Vulkan driver in a file for later processes.
// There is one file for each kind of device and version of its driver
// (pipelineCacheUUID).
//
//   PipelineCache cache(context, "/home/me/.cache/ember/kernels");
//   … vk.CreateComputePipelines(device, cache.handle(), …) …
//   cache.NoteUse();
//
// The file is written under a temporary name and renamed, from time to time
// (NoteUse) and in the destructor. A file is ignored if it is damaged, if
// another driver wrote it or if other users may have written it. If the cache
// cannot be stored, later processes only take longer; that is no error.
// Thread-safe.
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
  // Reads the cache's file. All drivers use `folder`; this driver creates the
  // folder "vulkan" in it. If `folder` is empty, the cache is in memory only.
  // `context` must outlive this object.
  PipelineCache(Context& context, const std::string& folder);
  ~PipelineCache();

  // Returns Vulkan's handle of the cache. It is null if the driver could not
  // make a cache.
  VkPipelineCache handle() const { return cache_.get(); }

  // Counts a pipeline that was made with the cache. Saves the cache after 1, 2,
  // 4, … pipelines, so that a process that is killed loses at most half of
  // them.
  void NoteUse();

  // Largest number of bytes of all files in the folder together. If there are
  // more, the files that were not used for the longest time are removed.
  static constexpr int64_t kMaxBytes = int64_t{128} << 20;

 private:
  void Make(const std::string& contents);
  void Save();

  Context& context_;
  const std::string file_name_;
  std::optional<PrivateFolder> folder_;
  OwnedPipelineCache cache_;

  std::mutex mutex_;  // guards saved_hash_ and uses_
  // Hash of the file's contents when they were last read or written.
  uint64_t saved_hash_ = 0;
  int64_t uses_ = 0;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_PIPELINE_CACHE_H_
