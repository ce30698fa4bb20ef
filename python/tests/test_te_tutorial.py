"""The steps of the tutorial docs/tutorials/matrix-product.md: each computes the product."""

import unittest

from checks import te_tutorial


class TutorialTest(unittest.TestCase):
    def test_steps_compute_the_product(self):
        titles = []
        for title, s in te_tutorial.schedules(36, 192, 32):
            with self.subTest(title):
                self.assertLess(s.check(), 1e-6)
            titles.append(title)
        self.assertEqual([t.split(".")[0] for t in titles], [str(i + 1) for i in range(len(titles))])
        self.assertGreaterEqual(len(titles), 5)

    def test_the_page_has_a_row_for_each_step(self):
        page = te_tutorial.PAGE.read_text(encoding="utf-8")
        rows = te_tutorial.TABLE.search(page)[0]
        for title, _ in te_tutorial.steps():
            self.assertIn(f"| {title} |", rows)


if __name__ == "__main__":
    unittest.main()
