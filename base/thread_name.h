// What a thread is called in top, gdb and perf.
//
//   NameThisThread("ember-compile");
#ifndef EMBER_BASE_THREAD_NAME_H_
#define EMBER_BASE_THREAD_NAME_H_

namespace ember {

// Linux keeps the first 15 characters; elsewhere nothing happens.
void NameThisThread(const char* name);

}  // namespace ember

#endif  // EMBER_BASE_THREAD_NAME_H_
