/* Tests that a program without its own copy of the compiler can load
 * libember_compiler.so, get the table of functions, and compile with it. The
 * argument is the path of the library. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tools/compiler_api/ember_compiler.h"

static int Fail(const char* what, const char* found) {
  printf("libember_compiler.so: expected %s, found %s\n", what, found);
  return 1;
}

int main(int argc, char** argv) {
  static const char kModel[] =
      "module @m {\n"
      "  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
      "    return %x : tensor<2xf32>\n"
      "  }\n"
      "}\n";
  const EmberCompilerApi* (*get_api)(uint32_t);
  EmberCompileOptions options;
  EmberCompilation* compilation = NULL;
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL)
    return Fail("it to load", argc == 2 ? dlerror() : "no path");
  *(void**)&get_api = dlsym(library, "ember_get_compiler_api");
  if (get_api == NULL) return Fail("ember_get_compiler_api", "none");
  const EmberCompilerApi* api = get_api(EMBER_COMPILER_API_VERSION);
  if (api == NULL || api->version != EMBER_COMPILER_API_VERSION)
    return Fail("this version", "another");
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.data = kModel;
  options.data_size = strlen(kModel);
  if (api->compile(&options, &compilation) != EMBER_OK)
    return Fail("a module", api->error_message());
  api->compilation_release(compilation);
  return 0;
}
