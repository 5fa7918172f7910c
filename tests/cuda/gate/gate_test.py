"""Tests of gate.py that need no compiler: it complains of what is worse, and of nothing else."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gate  # noqa: E402

GOOD = {"registers": 32, "stack": 0, "spills": 0, "loads128": 2, "shuffles": 0, "stores": 5}


class Gate(unittest.TestCase):
    def complaints(self, **changes):
        return list(gate.complaints({"kernel": GOOD}, {"kernel": {**GOOD, **changes}}))

    def test_what_is_as_good_passes(self):
        self.assertEqual(self.complaints(), [])
        self.assertEqual(self.complaints(registers=40, loads128=3, shuffles=0), [])

    def test_what_is_worse_is_named(self):
        for column, value in {"registers": 41, "stack": 8, "spills": 4, "loads128": 1, "shuffles": 1}.items():
            with self.subTest(column):
                self.assertEqual(self.complaints(**{column: value}), [f"kernel: {column}: {value}, of {GOOD[column]} in the table"])

    def test_a_trap_is_named(self):
        self.assertIn("kernel: stores nothing: it is a trap", self.complaints(stores=0))

    def test_other_kernels_are_named(self):
        self.assertEqual(len(list(gate.complaints({"old": GOOD}, {"new": GOOD}))), 2)

    def test_without_a_disassembler_resources_are_compared(self):
        found = {"kernel": {"registers": 60, "stack": 0, "spills": 0}}
        self.assertEqual(len(list(gate.complaints({"kernel": GOOD}, found))), 1)

    def test_names_lose_namespaces_and_parameters(self):
        body = "nax::x86_v1::cuda::TransposeTiles<4>"
        self.assertEqual(gate.short(f"void nax::x86_v1::cuda::run_blocks<{body} >({body}, long)"), "TransposeTiles<4>")

    def test_instructions_are_counted(self):
        text = "\n".join([".text._Z3runi:", "        /*0000*/   LDG.E.128 R4, desc[UR4][R2.64] ;", "        /*0010*/   PRMT R1, R2, 0x7 ;",
                          "        /*0020*/   STG.E.128 desc[UR4][R2.64], R4 ;", "        /*0030*/   STS [R2], R4 ;", "        /*0040*/   LDG.E R4 ;"])
        self.assertEqual(gate.instructions(text), {"run(int)": {"loads128": 1, "shuffles": 1, "stores": 1}})

    def test_the_table_is_read_back(self):
        self.assertEqual(gate.read_table(gate.write_table({"kernel": GOOD})), {"kernel": GOOD})


unittest.main()
