// Keeps a driver's folder of files for later processes below a size.
//
//   if (folder.Replace(name, file).ok())
//     TrimFolder(folder, int64_t{128} << 20, name);
//
// Thread-safe.
#ifndef EMBER_HAL_TRIM_FOLDER_H_
#define EMBER_HAL_TRIM_FOLDER_H_

#include <cstdint>
#include <string_view>

#include "base/private_folder.h"

namespace ember::hal {

// Removes the files that were not used for the longest time, until all files
// together have at most max_bytes. The file `kept` is never removed.
void TrimFolder(const PrivateFolder& folder, int64_t max_bytes,
                std::string_view kept);

}  // namespace ember::hal

#endif  // EMBER_HAL_TRIM_FOLDER_H_
