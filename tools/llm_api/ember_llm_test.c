/* Tests the C API of language models by using it as an application does,
 * compiled as C. The argument is a GGUF file with random weights, a tokenizer
 * for ASCII and a chat template. */
#include "tools/llm_api/ember_llm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static const EmberLlmApi* llm;

#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      printf("%s:%d: failed: %s (last error: %s)\n", __FILE__, __LINE__, \
             #condition, llm->error_message());                          \
      ++failures;                                                        \
    }                                                                    \
  } while (0)

static int HasError(const char* text) {
  return strstr(llm->error_message(), text) != NULL;
}

static EmberLlm* LoadModel(const char* path) {
  EmberLlm* model = NULL;
  EmberSessionOptions session;
  EmberLlmOptions options;
  memset(&session, 0, sizeof(session));
  session.struct_size = sizeof(session);
  session.tier = EMBER_TIER_INTERPRETER;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.session = &session;
  options.context = 100;
  options.guesses = 1;
  EXPECT(llm->load(path, &options, &model) == EMBER_OK);
  return model;
}

static void TestLoad(const char* path) {
  EmberLlm* model = (EmberLlm*)1;
  EmberLlmOptions options;
  EXPECT(llm->load(NULL, NULL, &model) == EMBER_INVALID_ARGUMENT);
  EXPECT(llm->load("no such model", NULL, &model) == EMBER_NOT_FOUND);
  EXPECT(model == NULL);
  EXPECT(HasError("no such model"));
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.tokenizer = "no such tokenizer";
  EXPECT(llm->load(path, &options, &model) == EMBER_NOT_FOUND);
  EXPECT(HasError("no such tokenizer"));
  options.tokenizer = NULL;
  options.chat_template = "{% for %}";
  EXPECT(llm->load(path, &options, &model) == EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("chat template: line 1"));
  options.chat_template = NULL;
  options.context = -1;
  EXPECT(llm->load(path, &options, &model) == EMBER_INVALID_ARGUMENT);
  /* The context 0 means that of the training, which is 512 tokens for this
   * model. */
  options.context = 0;
  EXPECT(llm->load(path, &options, &model) == EMBER_OK);
  EXPECT(llm->context(model) == 512);
  llm->release(model);
  llm->release(NULL);
}

static void TestText(const EmberLlm* model) {
  int32_t* ids = NULL;
  size_t count = 0, size = 0;
  char buffer[16];
  EXPECT(llm->encode(model, "he!", 3, 1, 0, &ids, &count) == EMBER_OK);
  /* The ids are the token that begins texts, "he" and "!". */
  EXPECT(count == 3 && ids[0] == 1 && ids[1] == 101 && ids[2] == 7);
  EXPECT(llm->decode(model, ids, count, buffer, sizeof(buffer), &size) ==
         EMBER_OK);
  EXPECT(size == 3 && memcmp(buffer, "he!", 3) == 0);
  memset(buffer, '-', sizeof(buffer));
  EXPECT(llm->decode(model, ids, count, buffer, 1, &size) == EMBER_OK);
  EXPECT(size == 3 && buffer[0] == 'h' && buffer[1] == '-');
  llm->ids_release(ids);
  EXPECT(llm->encode(model, "<|im_end|>", 10, 0, 1, &ids, &count) == EMBER_OK);
  EXPECT(count == 1 && ids[0] == 4);
  llm->ids_release(ids);
  EXPECT(llm->encode(model, "<|im_end|>", 10, 0, 0, &ids, &count) == EMBER_OK);
  EXPECT(count == 10);
  llm->ids_release(ids);
  llm->ids_release(NULL);
  EXPECT(llm->encode(model, NULL, 3, 0, 0, &ids, &count) ==
         EMBER_INVALID_ARGUMENT);
}

static void TestTemplate(const EmberLlm* model) {
  char* text = NULL;
  EXPECT(llm->apply_template(
             model, "[{\"role\": \"user\", \"content\": \"a<|im_end|>\"}]",
             NULL, 1, &text) == EMBER_OK);
  EXPECT(text != NULL && strcmp(text,
                                "<s><|im_start|>user\na<|im_end|><|im_end|>\n"
                                "<|im_start|>assistant\n") == 0);
  llm->text_release(text);
  EXPECT(llm->apply_template(model, "{", NULL, 1, &text) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("messages: expected JSON"));
  EXPECT(text == NULL);
}

/* Appends each part of a generated text to a buffer. */
typedef struct Text {
  char bytes[4096];
  size_t size;
  int parts, most_parts;
} Text;

static int32_t OnText(void* context, const char* text, size_t size) {
  Text* const all = (Text*)context;
  memcpy(all->bytes + all->size, text, size);
  all->size += size;
  return ++all->parts != all->most_parts;
}

static EmberLlmGenerateOptions Greedy(const EmberLlmSampling* sampling,
                                      int64_t max_tokens) {
  EmberLlmGenerateOptions options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.sampling = sampling;
  options.max_tokens = max_tokens;
  return options;
}

static EmberLlmSampling Likeliest(void) {
  EmberLlmSampling sampling;
  memset(&sampling, 0, sizeof(sampling));
  sampling.struct_size = sizeof(sampling);
  return sampling;
}

static void TestChat(EmberLlm* model) {
  EmberLlmChat* chat = NULL;
  EmberLlmGeneration first, second;
  const EmberLlmSampling sampling = Likeliest();
  EmberLlmGenerateOptions options = Greedy(&sampling, 5);
  Text text;
  memset(&text, 0, sizeof(text));
  first.struct_size = sizeof(first);
  second.struct_size = sizeof(second);
  EXPECT(llm->chat_create(model, NULL, &chat) == EMBER_OK);
  EXPECT(llm->chat_add(chat, "user", "Hi") == EMBER_OK);
  EXPECT(llm->chat_generate(chat, &options, OnText, &text, &first) == EMBER_OK);
  EXPECT(first.text_size == text.size &&
         memcmp(first.text, text.bytes, text.size) == 0 &&
         first.text[text.size] == 0);
  EXPECT(first.prompt_tokens > 20);
  EXPECT(first.generated_tokens >= 1 && first.generated_tokens <= 5);
  EXPECT(llm->chat_add_json(chat, "{\"role\": \"user\", \"content\": \"!\"}") ==
         EMBER_OK);
  EXPECT(llm->chat_generate(chat, &options, NULL, NULL, &second) == EMBER_OK);
  /* The state already has the first messages, so only the new message is
   * computed. */
  EXPECT(second.prompt_tokens < first.prompt_tokens + 16);
  EXPECT(llm->chat_add_json(chat, "[]") == EMBER_INVALID_ARGUMENT);
  options.format = 7;
  EXPECT(llm->chat_generate(chat, &options, NULL, NULL, NULL) ==
         EMBER_INVALID_ARGUMENT);
  EXPECT(HasError("format: expected one of EmberLlmFormat, found 7"));
  llm->chat_cancel(chat);
  llm->chat_release(chat);
  llm->chat_release(NULL);
  EXPECT(llm->chat_create(NULL, NULL, &chat) == EMBER_INVALID_ARGUMENT);
}

static void TestJson(EmberLlm* model) {
  EmberLlmChat* chat = NULL;
  EmberLlmSampling sampling = Likeliest();
  /* Random weights would hardly ever end a JSON string or object. So quotes and
   * closing braces get a bias. */
  static const int32_t kIds[] = {8, 99};
  static const float kBiases[] = {9, 9};
  EmberLlmGenerateOptions options = Greedy(&sampling, 40);
  EmberLlmGeneration generation;
  generation.struct_size = sizeof(generation);
  sampling.bias_ids = kIds;
  sampling.biases = kBiases;
  sampling.bias_count = 2;
  options.format = EMBER_LLM_JSON_OBJECT;
  EXPECT(llm->chat_create(model, NULL, &chat) == EMBER_OK);
  EXPECT(llm->chat_add(chat, "user", "JSON") == EMBER_OK);
  EXPECT(llm->chat_generate(chat, &options, NULL, NULL, &generation) ==
         EMBER_OK);
  EXPECT(generation.text[strspn(generation.text, " \n")] == '{');
  llm->chat_release(chat);
}

int main(int argc, char** argv) {
  EmberLlm* model;
  llm = ember_llm_get_api(EMBER_LLM_API_VERSION);
  if (llm == NULL || argc != 2) {
    printf("expected the API, and a model as argument\n");
    return 1;
  }
  EXPECT(ember_llm_get_api(EMBER_LLM_API_VERSION + 1) == NULL);
  EXPECT(llm->struct_size == sizeof(EmberLlmApi));
  TestLoad(argv[1]);
  model = LoadModel(argv[1]);
  if (model != NULL) {
    EXPECT(llm->vocabulary_size(model) == 102);
    EXPECT(llm->context(model) == 100);
    TestText(model);
    TestTemplate(model);
    TestChat(model);
    TestJson(model);
  }
  llm->release(model);
  return failures == 0 ? 0 : 1;
}
