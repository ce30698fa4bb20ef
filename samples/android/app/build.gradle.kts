plugins {
  id("com.android.application")
  id("org.jetbrains.kotlin.android")
}

android {
  namespace = "dev.ember.sample"
  compileSdk = 34
  defaultConfig {
    applicationId = "dev.ember.sample"
    minSdk = 26
    targetSdk = 34
    versionCode = 1
    versionName = "1"
    ndk { abiFilters += listOf("arm64-v8a", "armeabi-v7a", "x86_64") }
    externalNativeBuild {
      cmake {
        // The runtime's sources: ./dev package --sources, unpacked (README.md).
        arguments += "-DEMBER_SOURCES=${rootDir}/ember-runtime"
      }
    }
  }
  externalNativeBuild { cmake { path = file("src/main/cpp/CMakeLists.txt") } }
  // A module is mapped where it lies in the APK, which works only if it is not compressed.
  androidResources { noCompress += "vmfb" }
  compileOptions {
    sourceCompatibility = JavaVersion.VERSION_1_8
    targetCompatibility = JavaVersion.VERSION_1_8
  }
  kotlinOptions { jvmTarget = "1.8" }
}
