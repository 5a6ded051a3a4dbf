"""docs/beside.md: what it says of contact-fmu is what `benches/peers/beside/run` computes. That command, with the peers, runs
with CONTACT_FMU_LONG=1 (test_commands.py)."""

import os
import subprocess
import sys

from conftest import BUILDER, ROOT

PROGRAM = ROOT / "benches/peers/beside/compare.py"


def rows_of(text, head):
    """Cells of contact-fmu in the table with a head; none if there is no such table."""
    _, _, rest = text.partition(head + "\n")
    table = rest.split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table if " contact-fmu |" in line]


def test_rows_of_contact_fmu_are_current():
    # Round-off, and whether peers are installed here, differ from machine to machine.
    alone = f"import runpy, sys; sys.argv[0] = {str(PROGRAM)!r}; sys.path.insert(0, {str(PROGRAM.parent)!r})\n"
    alone += "names = runpy.run_path(sys.argv[0]); names['SIDES'].clear()\n"
    alone += "for case in ('bounce', 'incline', 'stack', 'rolling'): names['CASES'][case]()\n"
    environment = dict(os.environ, CONTACT_FMU=str(BUILDER))
    done = subprocess.run([sys.executable, "-c", alone], check=True, env=environment, capture_output=True, text=True)
    page = (ROOT / "docs/beside.md").read_text()
    heads = [line for line, rule in zip(done.stdout.splitlines(), done.stdout.splitlines()[1:]) if rule.startswith("|---")]
    assert len(heads) == 4
    for head in heads:
        computed, written = rows_of(done.stdout, head), rows_of(page, head)
        assert computed and len(computed) == len(written), head
        for ours, theirs in zip(computed, written):
            for one, other in zip(ours, theirs):
                if one != other:
                    assert max(abs(float(one)), abs(float(other))) < 1e-12, (ours, theirs)
