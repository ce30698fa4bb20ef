/* The part of the Python package that is written in C: loading the libraries,
 * running a session with one call, and stopping it when the user presses
 * Ctrl-C.
 *
 * The file is compiled as part of the module that cffi makes, after ember.h,
 * ember_compiler.h and ember_te.h. cffi releases the interpreter's lock around
 * each call. */
#ifndef EMBER_PYTHON_NATIVE_EMBER_PYTHON_H_
#define EMBER_PYTHON_NATIVE_EMBER_PYTHON_H_

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The version of Ember whose headers the module was built with. */
static const char ember_python_version[] = EMBER_VERSION;

static const EmberApi* ember_table;
static const EmberCompilerApi* compiler_table;
static const EmberTeApi* te_table;

/* Loads a library that stays loaded. Returns NULL if that succeeds, otherwise
 * the reason. */
static const char* ember_python_preload(const char* path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL ? dlerror() : NULL;
}

static void* ember_python_symbol(const char* path, const char* name,
                                 const char** reason) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == NULL ? NULL : dlsym(library, name);
  if (symbol == NULL) *reason = dlerror();
  return symbol;
}

/* Loads libember.so. Returns NULL if that succeeds, otherwise the reason. */
static const char* ember_python_load_runtime(const char* path) {
  const char* reason = NULL;
  const EmberApi* (*get)(uint32_t) = NULL;
  *(void**)&get = ember_python_symbol(path, "ember_get_api", &reason);
  if (get == NULL) return reason;
  ember_table = get(EMBER_API_VERSION);
  return ember_table == NULL ? "its version of the API is too old" : NULL;
}

/* Loads libember_compiler.so. Returns NULL if that succeeds, otherwise the
 * reason. */
static const char* ember_python_load_compiler(const char* path) {
  const char* reason = NULL;
  const EmberCompilerApi* (*get)(uint32_t) = NULL;
  *(void**)&get = ember_python_symbol(path, "ember_get_compiler_api", &reason);
  if (get == NULL) return reason;
  compiler_table = get(EMBER_COMPILER_API_VERSION);
  return compiler_table == NULL ? "its version of the API is too old" : NULL;
}

/* Loads the C API for kernels (ember.te) from libember_jit.so. Returns NULL if
 * that succeeds, otherwise the reason. */
static const char* ember_python_load_te(const char* path) {
  const char* reason = NULL;
  const EmberTeApi* (*get)(uint32_t) = NULL;
  *(void**)&get = ember_python_symbol(path, "ember_get_te_api", &reason);
  if (get == NULL) return reason;
  te_table = get(EMBER_TE_API_VERSION);
  return te_table == NULL ? "its version of the API is too old" : NULL;
}

/* --- Ctrl-C -------------------------------------------------------------
 *
 * Python's own handler of SIGINT only sets a flag, which the interpreter reads
 * once the run has returned. So the handler below is put before Python's. While
 * a run is in progress on the main thread, it wakes a thread that cancels the
 * session, because session_cancel takes a lock and must not be called in a
 * handler. */
static struct {
  pthread_mutex_t mutex; /* guards session and has_thread */
  EmberSession* session; /* the session that runs, or NULL */
  int has_thread;        /* true if this process has the cancelling thread */
  sem_t wake;            /* posted by the handler to wake the thread */
  volatile sig_atomic_t is_running, is_interrupted;
  EmberTeStop* volatile te_stop; /* flag that stops an ember.te call; or NULL */
  int is_installed;              /* true if the last check found the handler */
  int64_t checked_ns;      /* time of the last check of SIGINT's handler */
  struct sigaction former; /* the handler that this one calls at its end */
} ember_watch = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void ember_python_on_interrupt(int signal, siginfo_t* info,
                                      void* context) {
  const int error = errno;
  if (ember_watch.is_running) {
    ember_watch.is_interrupted = 1;
    sem_post(&ember_watch.wake);
  }
  if (ember_watch.te_stop != NULL) te_table->stop_request(ember_watch.te_stop);
  if (ember_watch.former.sa_flags & SA_SIGINFO) {
    ember_watch.former.sa_sigaction(signal, info, context);
  } else {
    ember_watch.former.sa_handler(signal);
  }
  errno = error;
}

static void* ember_python_watch(void* unused) {
  (void)unused;
  for (;;) {
    while (sem_wait(&ember_watch.wake) != 0) {
    }
    /* A run that has not yet begun is not cancelled by session_cancel, so the
     * thread calls it until the run has ended. */
    for (;;) {
      const struct timespec pause = {0, 5000000};
      int runs;
      pthread_mutex_lock(&ember_watch.mutex);
      runs = ember_watch.session != NULL && ember_watch.is_interrupted;
      if (runs) ember_table->session_cancel(ember_watch.session);
      pthread_mutex_unlock(&ember_watch.mutex);
      if (!runs) break;
      nanosleep(&pause, NULL);
    }
  }
  return NULL;
}

/* Resets the state in the child process after a fork, because the child has no
 * copy of the thread. */
static void ember_python_after_fork(void) {
  pthread_mutex_init(&ember_watch.mutex, NULL);
  ember_watch.session = NULL;
  ember_watch.is_running = 0;
  ember_watch.has_thread = 0;
}

/* Starts the thread that cancels runs, unless it exists. Returns 0 if it cannot
 * be started. */
static int ember_python_start_watch(void) {
  static int has_fork_handler;
  pthread_t thread;
  sigset_t all, before;
  if (ember_watch.has_thread) return 1;
  if (!has_fork_handler) {
    has_fork_handler = 1;
    pthread_atfork(NULL, NULL, ember_python_after_fork);
  }
  sem_init(&ember_watch.wake, 0, 0);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ember_watch.has_thread =
      pthread_create(&thread, NULL, ember_python_watch, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (ember_watch.has_thread) pthread_detach(thread);
  return ember_watch.has_thread;
}

/* Installs the handler, which calls the present one at its end, unless SIGINT
 * is ignored or ends the process. A program may set its own handler at any
 * time, so runs look again, but at most once a millisecond: a system call takes
 * as long as a short run. */
static void ember_python_install(void) {
  struct timespec now;
  struct sigaction found, own;
  int64_t now_ns;
  clock_gettime(CLOCK_MONOTONIC, &now);
  now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  if (ember_watch.checked_ns != 0 && now_ns - ember_watch.checked_ns < 1000000)
    return;
  ember_watch.checked_ns = now_ns;
  ember_watch.is_installed = 0;
  if (sigaction(SIGINT, NULL, &found) != 0) return;
  if ((found.sa_flags & SA_SIGINFO) &&
      found.sa_sigaction == ember_python_on_interrupt) {
    ember_watch.is_installed = 1;
    return;
  }
  if (!(found.sa_flags & SA_SIGINFO) &&
      (found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN))
    return;
  own = found;
  own.sa_flags |= SA_SIGINFO;
  own.sa_sigaction = ember_python_on_interrupt;
  ember_watch.former = found;
  ember_watch.is_installed = sigaction(SIGINT, &own, NULL) == 0;
}

/* Sets the flag `stop` that SIGINT raises to stop a call of ember.te; NULL:
 * none. Only the main thread calls it. */
static void ember_python_watch_te(EmberTeStop* stop) {
  if (stop != NULL) ember_python_install();
  ember_watch.te_stop = stop;
}

/* Runs the session; SIGINT cancels the run. Only the main thread calls it. */
static EmberStatus ember_python_run_watched(EmberSession* session) {
  EmberStatus status;
  int is_watched;
  pthread_mutex_lock(&ember_watch.mutex);
  /* If a callback of a run starts another run, SIGINT cancels only the outer
   * one. */
  is_watched = ember_watch.session == NULL && ember_python_start_watch();
  if (is_watched) ember_python_install();
  is_watched = is_watched && ember_watch.is_installed;
  if (is_watched) {
    ember_watch.session = session;
    ember_watch.is_interrupted = 0;
    ember_watch.is_running = 1;
  }
  pthread_mutex_unlock(&ember_watch.mutex);
  status = ember_table->session_run(session);
  if (!is_watched) return status;
  ember_watch.is_running = 0;
  pthread_mutex_lock(&ember_watch.mutex);
  ember_watch.session = NULL;
  pthread_mutex_unlock(&ember_watch.mutex);
  return status;
}

/* --- runs --------------------------------------------------------------- */

/* Sets all inputs and outputs and runs the session. An input whose data is NULL
 * and whose size is not 0 is skipped: it holds strings, which have been set. An
 * output whose data is NULL is in the session's memory. */
static EmberStatus ember_python_run(EmberSession* session, int32_t input_count,
                                    const EmberTensor* inputs,
                                    int32_t output_count, void* const* outputs,
                                    const size_t* sizes, int32_t is_watched) {
  int32_t i;
  for (i = 0; i < input_count; ++i) {
    EmberStatus status;
    if (inputs[i].data == NULL && inputs[i].byte_size != 0) continue;
    status = ember_table->session_set_input(session, i, &inputs[i]);
    if (status != EMBER_OK) return status;
  }
  /* All arrays of the last run are unset first: a new array may be at the
   * address of another result's old array. */
  for (i = 0; output_count > 1 && i < output_count; ++i) {
    const EmberStatus status =
        ember_table->session_set_output(session, i, NULL, 0);
    if (status != EMBER_OK) return status;
  }
  for (i = 0; i < output_count; ++i) {
    const EmberStatus status =
        ember_table->session_set_output(session, i, outputs[i], sizes[i]);
    if (status != EMBER_OK) return status;
  }
  return is_watched ? ember_python_run_watched(session)
                    : ember_table->session_run(session);
}

/* Does the same as ember_python_run for a session with one input and one
 * result. */
static EmberStatus ember_python_run_one(EmberSession* session,
                                        EmberTensor* input, const void* data,
                                        void* output, size_t size,
                                        int32_t is_watched) {
  void* outputs[1];
  input->data = data;
  outputs[0] = output;
  return ember_python_run(session, 1, input, 1, outputs, &size, is_watched);
}

/* --- DLPack (https://dmlc.github.io/dlpack/latest/c_api.html) ------------ */

typedef struct {
  int32_t device_type;
  int32_t device_id;
} EmberDLDevice;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} EmberDLDataType;

typedef struct {
  void* data;
  EmberDLDevice device;
  int32_t ndim;
  EmberDLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} EmberDLTensor;

typedef struct EmberDLManagedTensor {
  EmberDLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct EmberDLManagedTensor* self);
} EmberDLManagedTensor;

/* The destructor of a DLPack capsule. It releases a tensor that no consumer
 * took over. */
static void ember_python_capsule_destructor(PyObject* capsule) {
  EmberDLManagedTensor* tensor;
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  tensor = (EmberDLManagedTensor*)PyCapsule_GetPointer(capsule, "dltensor");
  if (tensor != NULL && tensor->deleter != NULL) tensor->deleter(tensor);
}

static void* ember_python_destructor_address(void) {
  return (void*)ember_python_capsule_destructor;
}

#endif /* EMBER_PYTHON_NATIVE_EMBER_PYTHON_H_ */
