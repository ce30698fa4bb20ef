/* Tests that a program without its own copy of Ember can load libember_llm.so,
 * get the table of functions, and generate with it. The arguments are the paths
 * of the library and of a model. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tools/llm_api/ember_llm.h"

static int Fail(const char* what, const char* found) {
  printf("libember_llm.so: expected %s, found %s\n", what, found);
  return 1;
}

int main(int argc, char** argv) {
  const EmberLlmApi* (*get_api)(uint32_t);
  EmberLlm* model = NULL;
  EmberLlmSequence* sequence = NULL;
  EmberLlmGenerateOptions options;
  EmberLlmGeneration generation;
  const int32_t ids[] = {1, 101, 7};
  void* library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL)
    return Fail("it to load", argc == 3 ? dlerror() : "no path");
  *(void**)&get_api = dlsym(library, "ember_llm_get_api");
  if (get_api == NULL) return Fail("ember_llm_get_api", "none");
  const EmberLlmApi* api = get_api(EMBER_LLM_API_VERSION);
  if (api == NULL || api->version != EMBER_LLM_API_VERSION)
    return Fail("this version", "another");
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.max_tokens = 3;
  generation.struct_size = sizeof(generation);
  if (api->load(argv[2], NULL, &model) != EMBER_OK ||
      api->sequence_create(model, &sequence) != EMBER_OK ||
      api->sequence_append(sequence, ids, 3, NULL) != EMBER_OK ||
      api->sequence_generate(sequence, &options, NULL, NULL, &generation) !=
          EMBER_OK) {
    return Fail("a text", api->error_message());
  }
  api->sequence_release(sequence);
  api->release(model);
  return 0;
}
