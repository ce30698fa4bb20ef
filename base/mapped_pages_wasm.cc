// Implements the release of pages for WebAssembly, which maps no files.
#include "base/mapped_pages.h"

namespace ember {

void ReleaseMappedPages(std::span<const uint8_t>) {}

}  // namespace ember
