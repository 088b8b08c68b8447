"""Runs the contests that are not finished: `python -m experiments.study [--only PART ...]`.

A rival takes one process on one core, so as many compete side by side as there are cores: first its settings, then the
chosen one, each of which is what its own command gives. Whatever is cut off resumes with the same command. Finished
summaries go from runs/ to results/, and with them how even their attention is (see entropy.py).
"""

import sys

from experiments.report.results import finished
from experiments.report.run import asked, parser, side_by_side
from experiments.study.compete import apart, compete
from experiments.study.plan import contests


def main(argv=None):
    """Trains what is asked for; returns the number of rivals that failed."""
    arguments = parser("python -m experiments.study", __doc__, "rival").parse_args(argv)
    entries = [(contest, rival) for contest in contests() for rival in contest.rivals]
    entries = asked(entries, arguments, "rival", lambda entry: f"{entry[0].name}/{entry[1].name}")
    if not entries:
        return 2
    if arguments.list:
        for contest, rival in entries:
            done = "done" if finished(arguments.results / contest.folder(rival)) else "    "
            print(f"{done}  {contest.name}/{rival.name}: {len(rival.grid)} settings, then {contest.runs} runs")
        return 0
    went_well = side_by_side(lambda entry: apart(compete, *entry, arguments), entries, arguments.jobs, "rival")
    failed = [contest.folder(rival) for (contest, rival), well in zip(entries, went_well, strict=True) if not well]
    print(f"failed: {', '.join(failed)}" if failed else f"{len(entries)} rivals: nothing failed")
    return len(failed)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command resumes.")
