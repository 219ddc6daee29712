"""The rules that need no gateway."""

from __future__ import annotations

import unittest
from datetime import datetime, timezone

from vigil_client import connect, hash_of_args, hash_of_result, masked_hash_of_result
from vigil_client import _fields as fields
from vigil_client._calls import error_class
from vigil_client._hashes import UNKNOWN
from vigil_client._progress import Progress


class Hashes(unittest.TestCase):
    def test_the_order_of_keys_makes_no_difference(self) -> None:
        self.assertEqual(hash_of_args({"a": 1, "b": 2}), hash_of_args({"b": 2, "a": 1}))
        self.assertNotEqual(hash_of_args({"a": 1}), hash_of_args({"a": 2}))

    def test_times_and_ids_make_no_new_result(self) -> None:
        first = "2026-11-22T10:00:00Z 4b2f5a2c-1f6e-4f0e-9d1e-0a1b2c3d4e5f took 3.2 s"
        again = "2026-11-22T10:07:31Z 8c9d5a2c-1f6e-4f0e-9d1e-0a1b2c3d4e5f took 4.9 s"
        self.assertEqual(hash_of_result(first), hash_of_result(again))

    def test_a_figure_makes_a_new_result_and_the_masked_hash_leaves_it_out(self) -> None:
        self.assertNotEqual(hash_of_result("12 files"), hash_of_result("7 files"))
        self.assertEqual(masked_hash_of_result("12 files"), masked_hash_of_result("7 files"))
        self.assertEqual(masked_hash_of_result({"n": 12}), masked_hash_of_result({"n": 7}))

    def test_a_value_that_is_not_given_or_not_readable_has_no_hash(self) -> None:
        circle: list[object] = []
        circle.append(circle)
        self.assertIsNone(hash_of_result(UNKNOWN))
        self.assertIsNone(hash_of_args(circle))
        self.assertIsNotNone(hash_of_args(None))

    def test_arguments_and_results_never_compare_as_equal(self) -> None:
        self.assertNotEqual(hash_of_args("x"), hash_of_result("x"))


class Fields(unittest.TestCase):
    def test_an_id_has_1_to_128_characters(self) -> None:
        self.assertTrue(fields.is_id("a" * 128))
        self.assertFalse(fields.is_id("a" * 129))
        for bad in ("", "-a", "a b", "a\n", None, 7):
            self.assertFalse(fields.is_id(bad))

    def test_a_count_is_whole_and_not_below_zero(self) -> None:
        self.assertEqual([fields.count(one) for one in (-1, 2.6, True, "3", float("nan"))], [0, 3, None, None, None])

    def test_a_moment_is_a_number_a_text_or_a_datetime(self) -> None:
        moment = datetime(2026, 11, 22, tzinfo=timezone.utc)
        self.assertEqual(fields.time_ms(moment), fields.time_ms("2026-11-22T00:00:00Z"))
        self.assertEqual(fields.time_ms(1.4), 1)
        self.assertEqual([fields.time_ms(one) for one in ("soon", -1, None, True)], [None] * 4)

    def test_an_address_has_no_invisible_characters(self) -> None:
        self.assertTrue(fields.is_address("file:///a"))
        for bad in ("a#b", "a?b", "a\u200bb", "a\nb"):
            self.assertFalse(fields.is_address(bad))


class Errors(unittest.TestCase):
    def test_a_rate_limit_a_timeout_and_an_abort_have_the_same_class_for_every_client(self) -> None:
        limited = Exception("slow down")
        limited.status_code = 429  # type: ignore[attr-defined]
        self.assertEqual(error_class(limited), "rate_limit")
        self.assertEqual(error_class(TimeoutError()), "timeout")
        self.assertEqual(error_class(KeyboardInterrupt()), "aborted")
        self.assertEqual(error_class(KeyError("a")), "KeyError")


class Orders(unittest.TestCase):
    def test_progress_after_the_finding_overtakes_its_order(self) -> None:
        progress = Progress()
        progress.tokens(10, 5)
        self.assertTrue(progress.overtakes({"awaits": [["tokens", "change"]], "foldedSequence": 4}))
        self.assertFalse(progress.overtakes({"awaits": [["tokens", "change"]], "foldedSequence": 5}))
        self.assertFalse(progress.overtakes({"awaits": [["tokens"], ["change"]], "foldedSequence": 4}))
        self.assertFalse(progress.overtakes({"awaits": [["tokens"]], "foldedSequence": None}))

    def test_a_call_in_flight_at_the_finding_has_to_end(self) -> None:
        call = {"call_id": "1", "outcome": "running", "mutating": False}
        other = {"call_id": "2", "outcome": "ok", "mutating": False}
        progress = Progress()
        progress.call(call, 1)
        progress.call(other, 3)
        self.assertFalse(progress.overtakes({"awaits": [["answer"]], "foldedSequence": 2}))
        progress.call({**call, "outcome": "ok"}, 4)
        self.assertTrue(progress.overtakes({"awaits": [["answer"]], "foldedSequence": 2}))

    def test_the_same_mutation_with_the_same_result_is_no_change(self) -> None:
        edit = {
            "call_id": "1",
            "tool": "Edit",
            "outcome": "ok",
            "mutating": True,
            "args_hash": "a",
            "result_hash": "r",
        }
        progress = Progress()
        progress.call(edit, 1)
        progress.call(edit, 2)
        self.assertFalse(progress.overtakes({"awaits": [["change"]], "foldedSequence": 1}))


class WithoutAGateway(unittest.TestCase):
    def test_nothing_is_reported_and_everything_else_works(self) -> None:
        with connect("worker-1", env={}) as agent:
            with self.assertRaises(ValueError), agent.call("Read"):
                raise ValueError
            with agent.call("Read") as call:
                call.result = "text"
            agent.report(phase="build", tokens=3)
        self.assertEqual(agent.delivered, 0)

    def test_a_wrong_id_or_address_is_a_problem_and_no_exception(self) -> None:
        problems: list[str] = []
        connect("worker 1", env={}, on_problem=problems.append).close()
        connect("worker-1", env={"VIGIL_GATEWAY_URL": "file:///etc/passwd"}, on_problem=problems.append).close()
        self.assertRegex(problems[0], "agent_id is 'worker 1': use 1 to 128")
        self.assertRegex(problems[1], "'file:///etc/passwd' is not the address of a gateway")


if __name__ == "__main__":
    unittest.main()
