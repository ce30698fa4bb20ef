/* The native side of dev.ember.Model: the C API, as Java calls it.
 *
 * A handle is the address of a Model. Java checks that it is not 0, keeps the
 * buffers alive that are read in place, and calls on one thread at a time. What
 * the API refuses becomes a pending EmberException; the value that is returned
 * then is never seen. */
#include <dlfcn.h>
#include <ember.h>
#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxDims = 32 };

typedef struct Model {
  EmberModule* module;
  EmberSession* session;
} Model;

#define METHOD(type, name) JNIEXPORT type JNICALL Java_dev_ember_Model_##name

static const EmberApi* Api(void) {
  /* This file was written for version 5 of the API, which newer libraries
   * provide, too. */
  return ember_get_api(5);
}

static void Throw(JNIEnv* env, const char* message) {
  jclass type = (*env)->FindClass(env, "dev/ember/Model$EmberException");
  if (type != NULL) (*env)->ThrowNew(env, type, message);
}

/* Returns 1 for EMBER_OK. For other statuses, throws an exception with the
 * error message and returns 0. */
static int Succeeded(JNIEnv* env, EmberStatus status) {
  if (status == EMBER_OK) return 1;
  Throw(env, Api()->error_message());
  return 0;
}

static Model* ModelOf(jlong handle) { return (Model*)(intptr_t)handle; }

static void Release(Model* model) {
  Api()->session_release(model->session);
  Api()->module_release(model->module);
  free(model);
}

/* Adds kernels from a shared object (vm-prejit --emit=shared), which stays
 * loaded. Kernels for Android are in such a library, because an app may load
 * code from its jniLibs only. */
static int AddKernels(JNIEnv* env, Model* model, const char* library) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  const void* const table =
      handle == NULL ? NULL : dlsym(handle, "ember_kernels");
  if (table == NULL) {
    Throw(env, dlerror());
    return 0;
  }
  return Succeeded(env, Api()->module_add_kernels(model->module, table));
}

METHOD(jlong, create)
(JNIEnv* env, jclass type, jobject module, jlong size, jint threads,
 jstring kernels) {
  const char* library = NULL;
  int is_ready;
  EmberSessionOptions options;
  Model* model;
  const void* data = (*env)->GetDirectBufferAddress(env, module);
  (void)type;
  if (Api() == NULL) {
    Throw(env, "expected a library of version 5 or later of its API");
    return 0;
  }
  model = calloc(1, sizeof(*model));
  if (model == NULL || data == NULL) {
    Throw(env, "there is no memory for the module");
    free(model);
    return 0;
  }
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.threads = threads;
  if (kernels != NULL) library = (*env)->GetStringUTFChars(env, kernels, NULL);
  is_ready =
      (kernels == NULL || library != NULL) &&
      Succeeded(
          env, Api()->module_load_memory(data, (size_t)size, &model->module)) &&
      (library == NULL || AddKernels(env, model, library)) &&
      Succeeded(
          env, Api()->session_create(model->module, &options, &model->session));
  if (library != NULL) (*env)->ReleaseStringUTFChars(env, kernels, library);
  if (is_ready) return (jlong)(intptr_t)model;
  Release(model);
  return 0;
}

METHOD(jstring, nativeKernels)(JNIEnv* env, jclass type, jlong handle) {
  (void)type;
  return (*env)->NewStringUTF(
      env, Api()->session_native_kernels(ModelOf(handle)->session));
}

METHOD(void, release)(JNIEnv* env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  Release(ModelOf(handle));
}

METHOD(jint, inputCount)(JNIEnv* env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  return Api()->module_input_count(ModelOf(handle)->module);
}

METHOD(jint, resultCount)(JNIEnv* env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  return Api()->module_result_count(ModelOf(handle)->module);
}

METHOD(jstring, inputName)
(JNIEnv* env, jclass type, jlong handle, jint index) {
  EmberTensorInfo info;
  (void)type;
  if (!Succeeded(env, Api()->module_input_info(ModelOf(handle)->module, index,
                                               &info))) {
    return NULL;
  }
  return (*env)->NewStringUTF(env, info.name);
}

static jlongArray LongArray(JNIEnv* env, const int64_t* dims, int32_t rank) {
  jlong values[kMaxDims];
  jlongArray array;
  int32_t d;
  if (rank > kMaxDims) {
    Throw(env, "expected at most 32 dims");
    return NULL;
  }
  for (d = 0; d < rank; ++d) values[d] = dims[d];
  array = (*env)->NewLongArray(env, rank);
  if (array != NULL) (*env)->SetLongArrayRegion(env, array, 0, rank, values);
  return array;
}

METHOD(jlongArray, inputDims)
(JNIEnv* env, jclass type, jlong handle, jint index) {
  EmberTensorInfo info;
  (void)type;
  if (!Succeeded(env, Api()->module_input_info(ModelOf(handle)->module, index,
                                               &info))) {
    return NULL;
  }
  return LongArray(env, info.dims, info.rank);
}

METHOD(void, setInput)
(JNIEnv* env, jclass type, jlong handle, jint index, jobject elements,
 jlong size, jlongArray dims) {
  Model* model = ModelOf(handle);
  EmberTensorInfo info;
  EmberTensor tensor;
  jlong values[kMaxDims];
  int64_t extents[kMaxDims];
  const jsize rank = (*env)->GetArrayLength(env, dims);
  jsize d;
  (void)type;
  if (rank > kMaxDims) {
    Throw(env, "expected at most 32 dims");
    return;
  }
  if (!Succeeded(env, Api()->module_input_info(model->module, index, &info)))
    return;
  (*env)->GetLongArrayRegion(env, dims, 0, rank, values);
  for (d = 0; d < rank; ++d) extents[d] = values[d];
  tensor.type = info.type;
  tensor.rank = rank;
  tensor.dims = extents;
  tensor.data = (*env)->GetDirectBufferAddress(env, elements);
  /* A wrong byte_size needs no check here: session_set_input compares it with
   * the type and the dims. */
  tensor.byte_size = (size_t)size;
  Succeeded(env, Api()->session_set_input(model->session, index, &tensor));
}

METHOD(void, run)(JNIEnv* env, jclass type, jlong handle) {
  (void)type;
  Succeeded(env, Api()->session_run(ModelOf(handle)->session));
}

METHOD(jobject, result)
(JNIEnv* env, jclass type, jlong handle, jint index) {
  EmberTensor tensor;
  (void)type;
  if (!Succeeded(env, Api()->session_result(ModelOf(handle)->session, index,
                                            &tensor))) {
    return NULL;
  }
  /* The buffer is the session's memory. Model.java returns a read-only view of
   * it. */
  return (*env)->NewDirectByteBuffer(env, (void*)tensor.data,
                                     (jlong)tensor.byte_size);
}

METHOD(jlongArray, resultDims)
(JNIEnv* env, jclass type, jlong handle, jint index) {
  EmberTensor tensor;
  (void)type;
  if (!Succeeded(env, Api()->session_result(ModelOf(handle)->session, index,
                                            &tensor))) {
    return NULL;
  }
  return LongArray(env, tensor.dims, tensor.rank);
}

METHOD(void, cancel)(JNIEnv* env, jclass type, jlong handle) {
  (void)env;
  (void)type;
  Api()->session_cancel(ModelOf(handle)->session);
}
