// The HTML page of vm-report without data. Bazel makes it from this folder's
// files and the libraries of third_party/report_page by assemble.py.
#ifndef EMBER_TOOLS_LIB_REPORT_PAGE_PAGE_SHELL_H_
#define EMBER_TOOLS_LIB_REPORT_PAGE_PAGE_SHELL_H_

#include <cstddef>

namespace ember::tools {

extern const unsigned char kPageShellBytes[];
extern const size_t kPageShellSize;

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_PAGE_PAGE_SHELL_H_
