"""Threads, Ctrl-C, forked processes, and leaks."""

import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

import ember
import numpy as np
import sample_models


def quick(model):
    return ember.Session(ember.compile(model), tier="interpreter", threads=1)


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class InterruptTest(unittest.TestCase):
    def interrupt(self, seconds, work):
        """Sends SIGINT after a time, and returns how long `work` went on after that."""
        sent = []

        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(seconds, send)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                work()
                time.sleep(5)
            return time.monotonic() - sent[0]
        finally:
            timer.join()

    def test_ctrl_c_cancels_runs_at_random_moments(self):
        session = quick(sample_models.slow())
        x = np.zeros((1200, 1200), np.float32)
        moments = random.Random(7)
        for _ in range(10):
            waited = self.interrupt(moments.uniform(0.001, 0.3), lambda: session(x))
            self.assertLess(waited, 2)
        small = quick(sample_models.DOUBLE)
        np.testing.assert_array_equal(small([[1, 2, 3]]), [[2, 4, 6]])

    def test_ctrl_c_cancels_compilations(self):
        model = sample_models.slow(8, 4000)
        start = time.monotonic()
        ember.compile(model)
        whole = time.monotonic() - start
        self.interrupt(whole / 4, lambda: ember.compile(model))

    def test_a_handler_of_the_program_is_called(self):
        called = []
        former = signal.signal(signal.SIGINT, lambda *_: called.append(1))
        try:
            session = quick(sample_models.slow())
            timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(ember.Cancelled):
                session(np.zeros((1200, 1200), np.float32))
            timer.join()
            self.assertEqual(called, [1])
        finally:
            signal.signal(signal.SIGINT, former)

    def test_cancel_from_another_thread(self):
        session = quick(sample_models.slow())
        timer = threading.Timer(0.1, session.cancel)
        timer.start()
        with self.assertRaises(ember.Cancelled):
            session(np.zeros((1200, 1200), np.float32))
        timer.join()


class ThreadsTest(unittest.TestCase):
    def run_threads(self, work, count=8):
        errors = []

        def guarded(number):
            try:
                work(number)
            except BaseException as error:  # Any error is kept, and the main thread raises it.
                errors.append(error)

        threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_one_session_serves_many_threads(self):
        session = quick(sample_models.DOUBLE)

        def work(number):
            x = np.full((number + 1, 3), number, np.float32)
            for _ in range(300):
                np.testing.assert_array_equal(session(x), 2 * x)

        self.run_threads(work)

    def test_one_module_serves_many_sessions_and_compilations(self):
        module = ember.compile(sample_models.TWO_RESULTS)
        a = np.ones((2, 2), np.float32)

        def work(number):
            for _ in range(20):
                session = module.session(tier="interpreter", threads=1)
                np.testing.assert_array_equal(session(a, number * a)[1], a - number * a)
                ember.compile(sample_models.DOUBLE)
                with self.assertRaises(ember.CompileError):
                    ember.compile(sample_models.WRONG)

        self.run_threads(work, 4)

    def test_other_threads_run_while_a_run_computes(self):
        session = quick(sample_models.slow())
        worker = threading.Thread(
            target=lambda: self.assertRaises(ember.Cancelled, session, np.zeros((1200, 1200), np.float32))
        )
        worker.start()
        start, steps = time.monotonic(), 0
        while time.monotonic() - start < 0.3:
            steps += 1
        session.cancel()
        while worker.is_alive():
            session.cancel()
            worker.join(0.01)
        self.assertGreater(steps, 1000)

    def test_fork(self):
        session = quick(sample_models.DOUBLE)
        session([[1, 2, 3]])
        child = os.fork()
        if child == 0:
            ok = (session([[1, 2, 3]]) == [[2, 4, 6]]).all() and len(ember.compile(sample_models.DOUBLE).inputs) == 1
            os._exit(0 if ok else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


class LeaksTest(unittest.TestCase):
    def grow(self, work, count):
        """Returns the bytes by which memory grows while `work` runs `count` times, after a tenth of that."""
        for _ in range(count // 10):
            work()
        before = resident_bytes()
        for _ in range(count):
            work()
        return resident_bytes() - before

    def test_calls(self):
        session = quick(sample_models.DOUBLE)
        x = np.ones((100, 3), np.float32)
        self.assertLess(self.grow(lambda: session(x), 100_000), 4 << 20)

    def test_sessions_and_modules(self):
        module = ember.compile(sample_models.DOUBLE)
        self.assertLess(self.grow(lambda: module.session(tier="interpreter", threads=1)([[1, 2, 3]]), 2000), 4 << 20)

        def compile_and_run():
            quick(sample_models.DOUBLE)([[1, 2, 3]])

        self.assertLess(self.grow(compile_and_run, 500), 4 << 20)

    def test_failures(self):
        def fail():
            with self.assertRaises(ember.CompileError):
                ember.compile(sample_models.WRONG)

        self.assertLess(self.grow(fail, 500), 4 << 20)


class ImportTest(unittest.TestCase):
    def test_messages_of_missing_parts(self):
        code = "import sys; sys.modules['_cffi_backend'] = None; import ember"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertIn("ember needs the module _cffi_backend", found.stderr)
        code = "import os; os.environ['EMBER_LIBRARY_FOLDER'] = '/nonexistent'; import ember"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertIn("libember.so: expected the library, found: /nonexistent/libember.so", found.stderr)

    def test_a_process_ends_while_a_thread_runs(self):
        code = (
            "import ember, numpy as np, sample_models, threading, time\n"
            "s = ember.Session(ember.compile(sample_models.slow()), tier='interpreter')\n"
            "t = threading.Thread(target=s, args=(np.zeros((1200, 1200), np.float32),), daemon=True)\n"
            "t.start(); time.sleep(0.2)\n"
        )
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((found.returncode, found.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
