package dev.ember.sample

import android.app.Activity
import android.os.Bundle
import android.widget.TextView
import dev.ember.Model
import java.nio.ByteBuffer
import java.nio.channels.FileChannel

/** Runs the model among the app's assets once, and shows what came out. */
class MainActivity : Activity() {
  override fun onCreate(state: Bundle?) {
    super.onCreate(state)
    val view = TextView(this)
    setContentView(view)
    // A model may take longer than a frame: never on the thread of the user interface.
    Thread {
      val text = try { recognise() } catch (e: Model.EmberException) { e.message }
      runOnUiThread { view.text = text }
    }.start()
  }

  private fun recognise(): String =
    Model(mapAsset("model.vmfb"), 0).use { model ->
      val dims = model.inputDims(0).map { if (it < 0) 1 else it }.toLongArray()
      val pixels = Model.bytes(4 * dims.fold(1L, Long::times).toInt())
      model.setInput(0, pixels, *dims)
      model.run()
      val scores = model.result(0).asFloatBuffer()
      (0 until scores.limit()).sortedByDescending { scores[it] }.take(5)
        .joinToString("\n") { "%d  %.4f".format(it, scores[it]) }
    }

  /** The file's pages, without a copy: see noCompress in build.gradle.kts. */
  private fun mapAsset(name: String): ByteBuffer =
    assets.openFd(name).use { asset ->
      asset.createInputStream().channel.use {
        it.map(FileChannel.MapMode.READ_ONLY, asset.startOffset, asset.declaredLength)
      }
    }
}
