"""Tests message_strings.py, and the rules of check_comments.py for messages."""

import unittest

from check_comments import has_messages, problems_of_message
from message_strings import message_strings


def literals(text):
    return [(literal.line, literal.text) for literal in message_strings(text)]


class MessageStringsTest(unittest.TestCase):
    def test_joins_adjacent_literals(self):
        self.assertEqual(literals('int x;\nf("expected a model, "  // why\n  "found \\"none\\"\\n");'),
                         [(2, 'expected a model, found "none"\n')])

    def test_ends_a_literal_at_code(self):
        self.assertEqual(literals('f("expected a model" + name + "and then another text")'),
                         [(1, "expected a model"), (1, "and then another text")])

    def test_joins_across_lines_of_a_macro(self):
        self.assertEqual(literals('row(A, "one two " \\\n  "three")'), [(1, "one two three")])

    def test_leaves_out_comments_raw_strings_and_names(self):
        self.assertEqual(literals('// "what goes on here"\nR"(what goes on here)" "NAME-0" "a, b"'), [])

    def test_knows_digit_separators_and_characters(self):
        self.assertEqual(literals("f(20'000, '\"', \"three plain words\")"), [(1, "three plain words")])


class ProblemsOfMessageTest(unittest.TestCase):
    def test_a_sentence_has_a_subject(self):
        for text in ("Of the result.", "Prints it. What is printed: all.", "The table.\nAs of vm-run."):
            self.assertNotEqual(list(problems_of_message(text)), [], text)

    def test_parts_of_sentences_may_begin_so(self):
        for text in (" of at most ", "With --runs: prints it.", "Prints it. By default it is short."):
            self.assertEqual(list(problems_of_message(text)), [], text)

    def test_refuses_words(self):
        self.assertEqual(list(problems_of_message("code that nobody signed")),
                         ['"nobody": name who acts: no caller, another thread, the user'])

    def test_names_of_flags_and_files_are_free(self):
        self.assertEqual(list(problems_of_message("see --turns and tools/turns.py")), [])

    def test_tests_are_free(self):
        self.assertTrue(has_messages("tools/vm_run.cc"))
        self.assertFalse(has_messages("tools/cli_test.cc"))
        self.assertFalse(has_messages("frontends/onnx/testing/samples.cc"))


if __name__ == "__main__":
    unittest.main()
