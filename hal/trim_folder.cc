#include "hal/trim_folder.h"

#include <algorithm>
#include <vector>

namespace ember::hal {

void TrimFolder(const PrivateFolder& folder, int64_t max_bytes,
                std::string_view kept) {
  std::vector<PrivateFolder::File> files = folder.List();
  std::sort(files.begin(), files.end(),
            [](const PrivateFolder::File& a, const PrivateFolder::File& b) {
              return a.used_ns > b.used_ns;
            });
  int64_t total = 0;
  for (const PrivateFolder::File& file : files) {
    total += file.bytes;
    if (total > max_bytes && file.name != kept) folder.Remove(file.name);
  }
}

}  // namespace ember::hal
