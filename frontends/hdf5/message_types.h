// The type numbers of the header messages that the HDF5 reader reads.
#ifndef EMBER_FRONTENDS_HDF5_MESSAGE_TYPES_H_
#define EMBER_FRONTENDS_HDF5_MESSAGE_TYPES_H_

#include <cstdint>

namespace ember::hdf5 {

inline constexpr uint64_t kDataspace = 0x01;
inline constexpr uint64_t kLinkInfo = 0x02;
inline constexpr uint64_t kDatatype = 0x03;
inline constexpr uint64_t kLinkMessage = 0x06;
inline constexpr uint64_t kExternalFiles = 0x07;
inline constexpr uint64_t kLayout = 0x08;
inline constexpr uint64_t kFilters = 0x0b;
inline constexpr uint64_t kAttribute = 0x0c;
inline constexpr uint64_t kContinuation = 0x10;
inline constexpr uint64_t kSymbolTable = 0x11;
inline constexpr uint64_t kAttributeInfo = 0x15;

}  // namespace ember::hdf5

#endif  // EMBER_FRONTENDS_HDF5_MESSAGE_TYPES_H_
