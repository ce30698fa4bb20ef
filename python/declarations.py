"""Turns the C API's headers into declarations for cffi, and into functions that call the API's table.

    text = Path("vm/api/ember.h").read_text()
    declarations(text)             # types and enums, without comments and preprocessor lines
    wrappers(text, "EmberApi", "ember_table", "ember_")   # "static EmberStatus ember_session_run(EmberSession* a0) …"

cffi calls a C function directly, but a pointer in a struct through libffi, which takes three times as long. So each
function of a table gets a C function. Nothing is written by hand: a function that a header appends appears here, too.
"""

import re

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*$", re.MULTILINE)
EXTERN_C = re.compile(r'extern "C" \{.*?(?=typedef)', re.DOTALL)
GETTER = re.compile(r"^EMBER_EXPORT [^;]*;", re.MULTILINE)
FUNCTION = re.compile(r"(?P<result>[\w \*]+?)\s*\(\*(?P<name>\w+)\)\((?P<parameters>[^;]*)\);", re.DOTALL)


def declarations(header):
    """Returns the header's typedefs in the form that cffi's parser reads."""
    text = COMMENT.sub("", header)
    text = DIRECTIVE.sub("", text)
    text = text.replace('extern "C" {', "")
    text = GETTER.sub("", text)
    # The brace that ends extern "C" is the only one alone on a line.
    text = re.sub(r"^\}\s*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n\s*\n+", "\n", text).strip() + "\n"


def functions(header, table):
    """Yields (result type, name, list of parameters without names) for each function of a table."""
    text = declarations(header)
    body = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (table, table), text, re.DOTALL)
    if body is None:
        raise ValueError(f"the header: expected a struct {table}, found none")
    for found in FUNCTION.finditer(body.group(1)):
        parameters = [" ".join(p.split()) for p in found["parameters"].split(",")]
        result = " ".join(found["result"].split())
        yield result, found["name"], [] if parameters == ["void"] else [_type_of(p) for p in parameters]


def _type_of(parameter):
    """Returns the type of "const EmberModule* module"."""
    return re.sub(r"(?<=[\s\*])\w+$", "", parameter).strip()


def wrappers(header, table, variable, prefix):
    """Returns (declarations for cffi, definitions in C) of a function per entry of the table."""
    declared, defined = [], []
    for result, name, types in functions(header, table):
        parameters = ", ".join(f"{t} a{i}" for i, t in enumerate(types)) or "void"
        arguments = ", ".join(f"a{i}" for i in range(len(types)))
        back = "" if result == "void" else "return "
        declared.append(f"{result} {prefix}{name}({parameters});")
        defined.append(f"static {result} {prefix}{name}({parameters}) {{ {back}{variable}->{name}({arguments}); }}")
    return "\n".join(declared) + "\n", "\n".join(defined) + "\n"
