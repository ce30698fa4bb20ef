// Reads the file that holds a checkpoint's index: sorted keys with values, in
// blocks (LevelDB's table format, doc/table_format.md there; TensorFlow's copy
// is tensorflow/core/lib/io).
//
//   EMBER_ASSIGN_OR_RETURN(auto entries, ReadSortedTable(file.bytes()));
//   entries["layer/kernel"]   // the value's bytes
//
// Checked are the footer's magic number, offsets and sizes, the blocks'
// checksums, and the order of keys. Blocks are stored or compressed by Snappy.
// Errors are one line. Thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_SORTED_TABLE_H_
#define EMBER_FRONTENDS_TENSORFLOW_SORTED_TABLE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "base/status.h"

namespace ember::tensorflow {

// Largest number of bytes of all blocks, keys and values together, far more
// than any index of a checkpoint has. The size is also limited to a multiple of
// the file's size.
inline constexpr int64_t kMaxTableBytes = int64_t{1} << 30;

StatusOr<std::map<std::string, std::string, std::less<>>> ReadSortedTable(
    std::span<const uint8_t> bytes);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_SORTED_TABLE_H_
