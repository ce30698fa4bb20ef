/* The C API of language models: load, encode, generate, chat.
 *
 *   const EmberLlmApi* llm = ember_llm_get_api(EMBER_LLM_API_VERSION);
 *   EmberLlm* model;
 *   EmberLlmChat* chat;
 *   if (llm->load("model.gguf", NULL, &model) != EMBER_OK ||
 *       llm->chat_create(model, NULL, &chat) != EMBER_OK) {
 *     puts(llm->error_message());
 *     return 1;
 *   }
 *   llm->chat_add(chat, "user", "Hello");
 *   llm->chat_generate(chat, NULL, PrintText, NULL, NULL);
 *
 * The rules are those of ember.h: one table of functions to which later
 * versions append; structs that begin with their size; release functions that
 * accept NULL. The library is libember_llm.so. It compiles models itself and
 * loads libember_jit.so as libember.so does.
 *
 * Ownership: an object that a function returns is released with the release
 * function for its type. A model lives until it and all its chats and sequences
 * are released. Texts that functions return belong to the object that they are
 * passed, and are valid until the next call with this object.
 *
 * Threads: any number of threads may share a model. Only one thread at a time
 * may use a chat or a sequence, except for functions that say "on any thread".
 * The model computes one step at a time: sequences of several threads wait for
 * each other's steps.
 *
 * Trust: files, templates and texts need not be trusted. Templates have limits
 * on steps, memory, output and depth; the names of control tokens in messages
 * are text. Memory and time of the model are limited by the options of its
 * session, but not the time and memory of its compilation.
 *
 * Errors: every function that can fail returns a status. error_message() then
 * returns one line that says what was wrong. Each thread has its own line,
 * which is valid until the next failing call on this thread. No exception
 * leaves the library. */
#ifndef EMBER_TOOLS_LLM_API_EMBER_LLM_H_
#define EMBER_TOOLS_LLM_API_EMBER_LLM_H_

#include <stddef.h>
#include <stdint.h>

/* ember.h is in the same folder in an installed package. */
#include "ember.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EMBER_LLM_API_VERSION 2

/* A loaded model with its tokenizer and chat template. */
typedef struct EmberLlm EmberLlm;
/* A sequence of tokens, and the model's state after them. */
typedef struct EmberLlmSequence EmberLlmSequence;
/* A chat: messages, and the sequence of their tokens. */
typedef struct EmberLlmChat EmberLlmChat;

typedef struct EmberLlmOptions {
  size_t struct_size; /* sizeof(EmberLlmOptions) */
  /* Options of the session that runs the model: threads, memory, device, tier,
   * native code, folder of compiled kernels. NULL: EMBER_TIER_AUTO on all
   * cores. */
  const EmberSessionOptions* session;
  /* Largest number of tokens of a sequence; 0: as many as the model was trained
   * with, at most 4096. A sequence's memory grows with its tokens. */
  int64_t context;
  /* Path of the tokenizer: a GGUF file, a tokenizer.json or a folder with one.
   * NULL: the model's own file, folder or metadata has it. */
  const char* tokenizer;
  /* Text of a chat template that replaces the tokenizer's; or NULL. */
  const char* chat_template;
  /* Not 0: sequences can check guesses (EmberLlmGenerateOptions). Prompts then
   * cost more, because logits of all positions are computed. A module must have
   * been compiled with --entry=all. */
  int32_t guesses;
  const EmberProgress* progress; /* receives the progress of loading; or NULL */
  /* Folder in which modules are kept: a model that is not a module is compiled
   * once, and later processes map its module, whose constants are in the order
   * of the kernels. That takes about twice as much disk as the model. The
   * folder is made if it does not exist, and must be one that other users
   * cannot write to. If a module cannot be kept, the model runs from memory.
   * NULL: nothing is kept. */
  const char* model_cache;
  /* Largest total size of the folder's files in bytes; 0: 32 GB. When it is
   * exceeded, the modules that have not been used for longest are removed. */
  int64_t model_cache_bytes;
} EmberLlmOptions;

/* Options of the sampler, which chooses tokens. A field that is 0 means its
 * default, except the temperature. */
typedef struct EmberLlmSampling {
  size_t struct_size;       /* sizeof(EmberLlmSampling) */
  float temperature;        /* 0: always the likeliest token */
  int32_t top_k;            /* likeliest tokens that are kept; 0: 40; negative:
                             * all */
  float top_p;              /* 0: 0.95 */
  float min_p;              /* least probability relative to the likeliest
                             * token; 0: 0.05; negative: none */
  float repetition_penalty; /* 0: 1, which is no penalty */
  float frequency_penalty;
  float presence_penalty;
  int32_t penalty_window; /* last tokens that the penalties look at; 0: 64;
                           * negative: all */
  uint64_t seed;
  const int32_t* bias_ids; /* ids of tokens whose logits are changed; or NULL */
  const float* biases;
  size_t bias_count;
} EmberLlmSampling;

typedef enum EmberLlmFormat {
  EMBER_LLM_TEXT = 0,
  EMBER_LLM_JSON = 1,       /* the text must be a JSON value */
  EMBER_LLM_JSON_OBJECT = 2 /* the text must be a JSON object */
} EmberLlmFormat;

typedef struct EmberLlmGenerateOptions {
  size_t struct_size;               /* sizeof(EmberLlmGenerateOptions) */
  const EmberLlmSampling* sampling; /* NULL: defaults with temperature 0.8 */
  int64_t max_tokens;               /* most tokens to generate; 0: until the
                                     * context is full */
  const char* const* stop;          /* strings that end the text; or NULL */
  size_t stop_count;
  int32_t format; /* an EmberLlmFormat */
  /* Largest number of tokens that are guessed from the text so far and checked
   * in one step (which can be faster); 0: none. Guesses change no result. They
   * need EmberLlmOptions::guesses. */
  int32_t guesses;
} EmberLlmGenerateOptions;

typedef enum EmberLlmEnd {
  EMBER_LLM_END_TOKEN = 0,   /* The model chose a token that ends its text. */
  EMBER_LLM_END_STOP = 1,    /* The text contained a stop string. */
  EMBER_LLM_END_LENGTH = 2,  /* max_tokens were generated. */
  EMBER_LLM_END_NO_ROOM = 3, /* The sequence has reached its largest number of
                              * tokens. */
  EMBER_LLM_END_CANCELLED = 4
} EmberLlmEnd;

/* The result of a generation. The library fills it; the caller sets struct_size
 * before. */
typedef struct EmberLlmGeneration {
  size_t struct_size;
  const char* text; /* the generated text in UTF-8, with a terminating zero */
  size_t text_size;
  EmberLlmEnd end;
  int64_t prompt_tokens; /* tokens of the prompt whose state was computed */
  int64_t generated_tokens;
  double prompt_seconds; /* time until the first token */
  double generate_seconds;
} EmberLlmGeneration;

/* Receives the next part of the generated text, in valid UTF-8 and without a
 * terminating zero. Returns 0 to end the generation. */
typedef int32_t (*EmberLlmOnText)(void* context, const char* text, size_t size);

typedef struct EmberLlmApi {
  size_t struct_size; /* size of the library's table in bytes */
  uint32_t version;   /* EMBER_LLM_API_VERSION of the library */

  const char* (*error_message)(void);

  /* Loads a model: a GGUF file, a Hugging Face folder, or a module that
   * vm-compile made of one. options may be NULL. Files are mapped, and must not
   * change while the model lives. */
  EmberStatus (*load)(const char* path, const EmberLlmOptions* options,
                      EmberLlm** model);
  void (*release)(EmberLlm* model);
  int32_t (*vocabulary_size)(const EmberLlm* model);
  int64_t (*context)(const EmberLlm* model);

  /* Encodes a text as token ids. *ids is released with ids_release. If
   * add_special is not 0, the tokens that begin and end texts are put around
   * it. If parse_special is not 0, the names of control tokens in the text
   * become these tokens. */
  EmberStatus (*encode)(const EmberLlm* model, const char* text, size_t size,
                        int32_t add_special, int32_t parse_special,
                        int32_t** ids, size_t* count);
  void (*ids_release)(int32_t* ids);
  /* Decodes tokens: writes at most `capacity` bytes of their text to buffer,
   * and sets *size to the number of all bytes. The text may end inside a
   * character. Control tokens have no text. */
  EmberStatus (*decode)(const EmberLlm* model, const int32_t* ids, size_t count,
                        char* buffer, size_t capacity, size_t* size);

  /* Creates an empty sequence. */
  EmberStatus (*sequence_create)(EmberLlm* model, EmberLlmSequence** sequence);
  /* Creates a copy of a sequence and its state. */
  EmberStatus (*sequence_fork)(const EmberLlmSequence* sequence,
                               EmberLlmSequence** fork);
  void (*sequence_release)(EmberLlmSequence* sequence);
  /* Appends tokens and computes their state. logits, which may be NULL,
   * receives vocabulary_size floats, the logits of the next token. */
  EmberStatus (*sequence_append)(EmberLlmSequence* sequence, const int32_t* ids,
                                 size_t count, float* logits);
  /* Removes all tokens of a sequence except the first `length`. The sequence of
   * a model with short convolutions (LFM2) can only be emptied; another length
   * returns EMBER_UNIMPLEMENTED. */
  EmberStatus (*sequence_truncate)(EmberLlmSequence* sequence, int64_t length);
  /* Returns the number of tokens of the sequence. */
  int64_t (*sequence_length)(const EmberLlmSequence* sequence);
  /* Generates a text that continues the sequence, which must not be empty, and
   * appends its tokens. on_text, options and generation may be NULL. */
  EmberStatus (*sequence_generate)(EmberLlmSequence* sequence,
                                   const EmberLlmGenerateOptions* options,
                                   EmberLlmOnText on_text, void* context,
                                   EmberLlmGeneration* generation);
  /* Ends the sequence's generation that is in progress. May be called on any
   * thread. */
  void (*sequence_cancel)(EmberLlmSequence* sequence);

  /* Renders messages by the chat template. messages and tools are JSON arrays;
   * tools may be NULL. *text is released with text_release. */
  EmberStatus (*apply_template)(const EmberLlm* model, const char* messages,
                                const char* tools,
                                int32_t add_generation_prompt, char** text);
  void (*text_release)(char* text);

  /* Creates a chat. tools is a JSON array of tool descriptions, or NULL. */
  EmberStatus (*chat_create)(EmberLlm* model, const char* tools,
                             EmberLlmChat** chat);
  void (*chat_release)(EmberLlmChat* chat);
  EmberStatus (*chat_add)(EmberLlmChat* chat, const char* role,
                          const char* content);
  /* Adds a message given as a JSON object, which may have tool calls or several
   * parts. */
  EmberStatus (*chat_add_json)(EmberLlmChat* chat, const char* message);
  /* Generates the assistant's message and adds it to the chat. Only tokens that
   * are not in the sequence's state yet are computed. */
  EmberStatus (*chat_generate)(EmberLlmChat* chat,
                               const EmberLlmGenerateOptions* options,
                               EmberLlmOnText on_text, void* context,
                               EmberLlmGeneration* generation);
  /* Ends the chat's generation that is in progress. May be called on any
   * thread. */
  void (*chat_cancel)(EmberLlmChat* chat);

  /* Version 2. */

  /* Writes the tokens of the sequence and their state to a file. */
  EmberStatus (*sequence_save)(EmberLlmSequence* sequence, const char* path);
  /* Replaces the sequence by one that sequence_save has written with the same
   * model. Nothing is computed. After an error the sequence is empty. */
  EmberStatus (*sequence_restore)(EmberLlmSequence* sequence, const char* path);
} EmberLlmApi;

/* Returns the table, or NULL if the library is older than the version. */
EMBER_EXPORT const EmberLlmApi* ember_llm_get_api(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif /* EMBER_TOOLS_LLM_API_EMBER_LLM_H_ */
