#include "base/thread_name.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace ember {

void NameThisThread([[maybe_unused]] const char* name) {
#ifdef __linux__
  prctl(PR_SET_NAME, name);
#endif
}

}  // namespace ember
