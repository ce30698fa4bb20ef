"""The declarations that are made from the headers, and the wheel."""

import base64
import hashlib
import tempfile
import unittest
import zipfile
from pathlib import Path

import build_native
import build_wheel
import declarations
import ember

HEADER = """
/* A header. */
#ifndef A_H_
#define A_H_
#ifdef __cplusplus
extern "C" {
#endif
typedef struct Thing Thing; /* opaque; not (*this) */
typedef struct ThingApi {
  size_t struct_size;
  /* Says (*something). */
  const char* (*error_message)(void);
  int (*count)(const Thing* thing, int32_t index,
               const char* const* names);
  void (*release)(Thing* thing);
} ThingApi;
EMBER_EXPORT const ThingApi* get(uint32_t version);
#ifdef __cplusplus
}
#endif
#endif
"""


class DeclarationsTest(unittest.TestCase):
    def test_comments_and_directives_are_left_out(self):
        text = declarations.declarations(HEADER)
        self.assertTrue(text.startswith("typedef struct Thing Thing;"), text)
        self.assertTrue(text.endswith("} ThingApi;\n"), text)

    def test_functions(self):
        self.assertEqual(
            list(declarations.functions(HEADER, "ThingApi")),
            [
                ("const char*", "error_message", []),
                ("int", "count", ["const Thing*", "int32_t", "const char* const*"]),
                ("void", "release", ["Thing*"]),
            ],
        )
        with self.assertRaisesRegex(ValueError, "expected a struct OtherApi, found none"):
            list(declarations.functions(HEADER, "OtherApi"))

    def test_wrappers(self):
        declared, defined = declarations.wrappers(HEADER, "ThingApi", "table", "x_")
        self.assertIn("void x_release(Thing* a0);", declared)
        self.assertIn("static void x_release(Thing* a0) { table->release(a0); }", defined)
        self.assertIn("static const char* x_error_message(void) { return table->error_message(); }", defined)

    def test_every_function_of_the_headers_has_a_wrapper(self):
        for header, table, prefix in (
            (build_native.RUNTIME_HEADER, "EmberApi", "ember_"),
            (build_native.COMPILER_HEADER, "EmberCompilerApi", "compiler_"),
            (build_native.TE_HEADER, "EmberTeApi", "te_"),
        ):
            text = (build_wheel.ROOT / header).read_text(encoding="utf-8")
            names = [name for _, name, _ in declarations.functions(text, table)]
            self.assertGreater(len(names), 10)
            for name in names:
                self.assertTrue(callable(getattr(ember._native.lib, prefix + name)), name)


class WheelTest(unittest.TestCase):
    def test_wheel_has_a_record_of_its_files(self):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "package/ember"
            package.mkdir(parents=True)
            (package / "__init__.py").write_text("", encoding="utf-8")
            wheel = build_wheel.write_wheel(Path(folder) / "package", Path(folder) / "out", "x86_64")
            again = build_wheel.write_wheel(Path(folder) / "package", Path(folder) / "again", "x86_64")
            self.assertEqual(wheel.read_bytes(), again.read_bytes())
            self.assertRegex(wheel.name, r"^ember-[\d.]+-cp311-abi3-manylinux_2_17_x86_64\.whl$")
            with zipfile.ZipFile(wheel) as archive:
                info = wheel.name.split("-cp311")[0] + ".dist-info"
                rows = archive.read(f"{info}/RECORD").decode().splitlines()
                self.assertEqual({r.split(",")[0] for r in rows}, set(archive.namelist()))
                for row in rows[:-1]:
                    name, digest, size = row.rsplit(",", 2)
                    data = archive.read(name)
                    self.assertEqual(int(size), len(data))
                    wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual(digest, f"sha256={wanted}")

    def test_version(self):
        self.assertEqual(build_wheel.version_of(build_wheel.ROOT), ember.__version__)


if __name__ == "__main__":
    unittest.main()
