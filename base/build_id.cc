#include "base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <span>

namespace ember {
namespace {

struct Search {
  uintptr_t address;
  std::string id;
};

std::string ToHex(std::span<const unsigned char> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// Returns the build id that a list of ELF notes contains; empty if it contains
// none.
std::string FindBuildId(const unsigned char* note, size_t size) {
  const unsigned char* const end = note + size;
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) fields;
    std::memcpy(&fields, note, sizeof(fields));
    const unsigned char* const name = note + sizeof(fields);
    const unsigned char* const description =
        name + ((fields.n_namesz + 3) & ~3u);
    const bool is_gnu =
        fields.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0;
    if (is_gnu && fields.n_type == NT_GNU_BUILD_ID)
      return ToHex({description, fields.n_descsz});
    note = description + ((fields.n_descsz + 3) & ~3u);
  }
  return "";
}

int Visit(dl_phdr_info* info, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  bool is_here = false;
  std::string id;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && begin <= search.address &&
        search.address < begin + header.p_memsz)
      is_here = true;
    if (header.p_type == PT_NOTE && id.empty())
      id = FindBuildId(reinterpret_cast<const unsigned char*>(begin),
                       header.p_memsz);
  }
  if (is_here) search.id = id;
  return is_here;
}

}  // namespace

std::string BuildIdAt(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(Visit, &search);
  return search.id;
}

}  // namespace ember
