/* Tests that a program without its own copy of the runtime can load libember.so
 * and get the table of functions. The argument is the path of the library. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "vm/api/ember.h"

int main(int argc, char** argv) {
  const EmberApi* (*get_api)(uint32_t);
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    printf("libember.so: %s\n", argc == 2 ? dlerror() : "expected its path");
    return 1;
  }
  *(void**)&get_api = dlsym(library, "ember_get_api");
  if (get_api == NULL) {
    printf("libember.so: expected ember_get_api, found none\n");
    return 1;
  }
  const EmberApi* api = get_api(EMBER_API_VERSION);
  if (api == NULL || api->version != EMBER_API_VERSION) {
    printf("libember.so: expected version %d, found another\n",
           EMBER_API_VERSION);
    return 1;
  }
  return 0;
}
