"""Our operators and training side by side with PyG, DGL, Spektral, tf_geometric and k3-node: one command.

    python benchmarks/run.py                       everything; about fifteen minutes on two cores
    python benchmarks/run.py --quick               a smoke run of a minute or two, into benchmarks/.quick
    python benchmarks/run.py --sections training --data-dir DIR
    python benchmarks/run.py --sections            only the tables and plots, from the saved results

Have the machine to yourself: a turn in which somebody else was running is repeated, as long as --patience lasts.
PyTorch's threads spin while they wait for each other: best on idle cores, but with one
other busy process its operators take ten times as long. With --busy they sleep, which costs them a third on idle cores.

The first run makes a virtual environment for each library under benchmarks/.venv-peers, or in the folder that the
environment variable GANET_PEERS names, so that clones can share them. Results go to results/benchmarks: a JSON file
for each section, tables.md, and plots.
"""

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))  # the clone's own packages

from peers import environments, operators, plot, record, report, rivals, stages, training
from peers.quiet import Watch
from peers.side import Side, SideError

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "benchmarks"

SECTIONS = ("operators", "growth", "stages", "training", "rivals")


def parse(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    add = parser.add_argument
    add("--quick", action="store_true", help="tiny graphs and few epochs: does everything run?")
    add("--sections", nargs="*", choices=SECTIONS, default=list(SECTIONS), help="(all)")
    add("--sides", nargs="+", choices=[n for n in environments.LIBRARIES if n != "ours"], help="peers (all)")
    add("--datasets", nargs="+", default=list(training.DATASETS), help="of the training section (all three)")
    add("--data-dir", type=Path, help="where the data sets are (GANET_DATA)")
    add("--threads", type=int, default=cores, help=f"for every side ({cores})")
    add("--busy", action="store_true", help="the machine has other work: let PyTorch's threads sleep while they wait")
    add("--nodes", type=int, nargs="+", help="only graphs of these sizes (all)")
    add(
        "--keep",
        action="store_true",
        help="keep what earlier runs have saved, measure what --nodes or --datasets name, or is missing",
    )
    add("--budget", type=float, default=20.0, help="seconds of rounds for each graph (20)")
    add("--training-budget", type=float, default=60.0, help="seconds of epochs for each data set (60)")
    add("--patience", type=float, default=600.0, help="seconds to wait, in all, for other work to stop (600)")
    add("--output", type=Path, help="folder for results (results/benchmarks)")
    args = parser.parse_args(arguments)
    if args.output is None:
        args.output = HERE / ".quick" if args.quick else RESULTS
    return args


def note(text):
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def start_sides(names, threads):
    """The sides that can be had: ({name: Side}, {name: hello}); why another cannot is said."""
    sides, hellos = {}, {}
    for name in ("ours", *names):
        library = environments.LIBRARIES[name]
        problem = environments.make(library.environment, note)
        side = Side(name, threads)
        try:
            hellos[name] = side.hello() if problem is None else None
        except SideError as error:
            problem = str(error)
        if problem is None:
            sides[name] = side
            continue
        side.stop(kill=True)
        note(f"{library.title} does not take part: {problem}")
        if name == "ours":
            sys.exit(1)
    return sides, hellos


def run_sections(args, sides, hellos, folder):
    """Measures the sections that were asked for and saves each as soon as it is done."""
    plan = operators.quick_plan() if args.quick else operators.full_plan(args.budget)
    if args.nodes:
        plan = plan.only(args.nodes)
    watch = Watch(0.0 if args.quick else args.patience)
    benchmark = operators.OperatorBenchmark(sides, folder, plan, watch, note)

    saved = record.read(args.output, "operators") if args.keep else None
    if saved is not None:
        again = args.nodes if "operators" in args.sections and args.nodes else ()
        benchmark.keep([graph for graph in saved["graphs"] if graph["nodes"] not in again])

    def save(section, **content):
        record.write(args.output, section, circumstances, content)

    for section in args.sections:
        circumstances = record.record(hellos, args.threads)
        if section == "operators":
            same = benchmark.same_results()
            for _ in benchmark.run(plan.graphs):  # saved after each, should the run be broken off
                save(section, graphs=benchmark.all(), same_gcn_results=same)
        elif section == "growth":
            for graphs in benchmark.run(plan.growth, main_only=True):
                sizes = [graph["nodes"] for graph in graphs]
                save(section, series=operators.growth(graphs), nodes=sizes, graphs=graphs)
        elif section == "stages":
            size = {"nodes": 2_000, "degrees": (8,)} if args.quick else {}
            save(section, stages=stages.run(sides["ours"], folder, plan, watch=watch, note=note, **size))
        elif section == "training":
            rounds = {"budget": 1.0, "least": 2, "most": 2} if args.quick else {"budget": args.training_budget}
            results = training.run(sides, folder, args.datasets, quick=args.quick, watch=watch, note=note, **rounds)
            before = (record.read(args.output, section) or {"datasets": []}) if args.keep else {"datasets": []}
            kept = [d for d in before["datasets"] if d["dataset"] not in args.datasets]
            save(section, datasets=sorted(kept + results, key=lambda d: d["nodes"]))
        elif section == "rivals":
            rounds = {"budget": 1.0, "least": 2, "most": 2} if args.quick else {"budget": args.training_budget}
            save(section, models=rivals.run(sides, folder, quick=args.quick, watch=watch, note=note, **rounds))


def main(arguments=None):
    """Makes the environments, measures, and writes tables and plots."""
    args = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the workers are ended too
    args.output.mkdir(parents=True, exist_ok=True)
    if args.busy:
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    if args.data_dir is not None:
        os.environ["GANET_DATA"] = str(args.data_dir.resolve())
    if args.sections:
        sides, hellos = start_sides(args.sides or [n for n in environments.LIBRARIES if n != "ours"], args.threads)
        try:
            with tempfile.TemporaryDirectory() as folder:
                run_sections(args, sides, hellos, Path(folder))
        finally:
            for side in sides.values():
                side.stop(kill=True)
    tables = report.write_report(args.output)
    if args.output == RESULTS:
        report.write_goals(args.output, HERE.parent / "docs" / "performance.md")
        report.write_speed(args.output, HERE.parent / "README.md")
    plots = plot.write_plots(args.output)
    print(tables.read_text(encoding="utf-8"))
    note(f"written: {', '.join(path.name for path in (tables, *plots))} in {args.output}")


if __name__ == "__main__":
    main()
