#include "frontends/archive/testing/zip_builder.h"

#include <zlib.h>

#include <vector>

namespace ember::archive {
namespace {

std::string Number(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

}  // namespace

void ZipBuilder::Add(const std::string& name, const std::string& contents) {
  AddPacked(name, contents, contents, 0);
}

void ZipBuilder::AddDeflated(const std::string& name,
                             const std::string& contents) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
               Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, contents.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(contents.data()));
  stream.avail_in = static_cast<uInt>(contents.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  AddPacked(name, contents, packed, 8);
}

void ZipBuilder::AddPacked(const std::string& name, const std::string& contents,
                           const std::string& packed, uint64_t method) {
  const uint64_t checksum = crc32_z(
      0, reinterpret_cast<const Bytef*>(contents.data()), contents.size());
  const std::string common =
      Number(20, 2) + Number(0, 2) + Number(method, 2) + Number(0, 4) +
      Number(checksum, 4) + Number(packed.size(), 4) +
      Number(contents.size(), 4) + Number(name.size(), 2) + Number(0, 2);
  directory_ += "PK\x01\x02" + Number(20, 2) + common + Number(0, 2) +
                Number(0, 2) + Number(0, 2) + Number(0, 4) +
                Number(before_ + entries_.size(), 4) + name;
  entries_ += "PK\x03\x04" + common + name + packed;
  ++count_;
}

std::string ZipBuilder::Finish() {
  return entries_ + directory_ + "PK\x05\x06" + Number(0, 4) +
         Number(count_, 2) + Number(count_, 2) + Number(directory_.size(), 4) +
         Number(before_ + entries_.size(), 4) + Number(0, 2);
}

}  // namespace ember::archive
