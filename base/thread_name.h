// Names the calling thread for top, gdb and perf.
//
//   NameThisThread("ember-compile");
#ifndef EMBER_BASE_THREAD_NAME_H_
#define EMBER_BASE_THREAD_NAME_H_

namespace ember {

// Sets the name of the calling thread. Linux keeps the first 15 characters;
// other systems ignore the call.
void NameThisThread(const char* name);

}  // namespace ember

#endif  // EMBER_BASE_THREAD_NAME_H_
