// Fuzzes module files: loading them and running them under limits must not
// crash or access memory out of bounds. The hashes are not compared and the
// sizes in the header are corrected, so that mutations reach the later checks.
#include <cstring>
#include <memory>

#include "vm/format/container.h"
#include "vm/runtime/testing/run_anything.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember::vm;
  if (size < sizeof(ContainerHeader)) return 0;
  std::vector<uint8_t> file(data, data + size);
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  const ContainerHeader good;
  std::memcpy(header.magic, good.magic, sizeof(header.magic));
  header.major = good.major;
  header.metadata_offset = good.metadata_offset;
  header.metadata_size =
      std::min<uint64_t>(header.metadata_size, size - sizeof(header));
  header.file_size = size;
  std::memcpy(file.data(), &header, sizeof(header));
  const auto module = Module::Load(file, nullptr, {.verify_checksum = false});
  if (!module.ok()) return 0;
  (void)RunAnything(*module, ember::vm::HashOfHeader(header)).ok();
  return 0;
}
