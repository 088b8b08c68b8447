"""The paper's efficiency table, measured here: MAdd, memory and CPU time of the operators.

python profile_ops.py                     the whole table: 1000, 10000 and 20000 nodes x 48 features
python profile_ops.py --nodes 20000       one size
python profile_ops.py --nodes 1000000 --implementation sparse
"""

import argparse
import os
import signal
import sys
from pathlib import Path

PLOT_ENDINGS = ("png", "svg", "pdf")


class Parser(argparse.ArgumentParser):
    """Answers a bad flag with one sentence and exit status 2."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (--help lists all flags)\n")


def number(kind, least):
    """An argument type: a number of a kind, not below `least`."""

    def parse(text):
        try:
            value = kind(text.replace("_", "") if kind is int else text)
        except ValueError:
            value = None
        if value is None or not least <= value < float("inf"):
            wanted = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"got {text!r}, expected {wanted} of at least {least}")
        return value

    return parse


def one_of(names):
    """An argument type: one of the names, the nearest one named otherwise."""
    from ganet_tf.spelling import closest

    def parse(text):
        if text not in names:
            near = closest(text, names, 0.4)
            hint = f"; did you mean {near}?" if near else ""
            raise argparse.ArgumentTypeError(f"got {text!r}, expected some of {' '.join(names)}{hint}")
        return text

    return parse


def output(*endings):
    """An argument type: a file that can be written, with one of the endings if there are any."""

    def parse(text):
        path = Path(text)
        if path.is_dir() or not text:
            raise argparse.ArgumentTypeError(f"got {text!r}, which is a folder, expected the name of a file to write")
        if endings and path.suffix[1:].lower() not in endings:
            raise argparse.ArgumentTypeError(f"got {text!r}, expected a file name that ends in {', '.join(endings)}")
        return path

    return parse


def folder(text):
    """An argument type: a folder that is there or can be made."""
    if Path(text).exists() and not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"got {text!r}, which is a file, expected a folder")
    return Path(text)


def parse(arguments, operators):
    """The command line, which may name these operators."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    size = number(int, 1)
    add = parser.add_argument
    add("--nodes", type=size, nargs="+", default=[1000, 10000, 20000], metavar="N", help="sizes (1000 10000 20000)")
    add("--features", type=size, nargs="+", default=[48], metavar="F", help="channels in and out (48)")
    add("--k", type=size, nargs="+", default=[8], metavar="K", help="neighbours that hgao and topk keep (8)")
    add("--degree", type=number(float, 0), nargs="+", default=[8.0], metavar="D", help="mean degrees (8)")
    add("--operators", type=one_of(operators), nargs="+", default=operators, metavar="OP", help=" ".join(operators))
    ways = ("dense", "sparse", "native", "both")
    add("--implementation", choices=ways, default="both", help="(both: dense and sparse)")
    add("--gradients", action="store_true", help="also time forward + backward")
    add("--threads", type=size, metavar="N", help="TensorFlow's threads (one a core)")
    add("--seed", type=number(int, 0), default=0, metavar="N", help="of the simulated graphs (0)")
    add("--budget", type=number(float, 0), default=2.0, metavar="S", help="seconds of repeats a row (2)")
    add("--memory", type=number(float, 0), metavar="GB", help="refuse rows that need more (the memory at hand)")
    add("--no-baseline", action="store_true", help="don't measure dense gao where it is not asked for")
    add("--json", type=output(), metavar="FILE", help="write the rows as JSON")
    add("--csv", type=output(), metavar="FILE", help="write the rows as CSV")
    add(
        "--markdown",
        type=output(),
        metavar="FILE",
        help="write the table as Markdown, between its marks if the file has them",
    )
    add("--plot", type=output(*PLOT_ENDINGS), metavar="FILE", help="time and memory over nodes (png, svg, pdf)")
    add("--trace", type=folder, metavar="DIR", help="tf.profiler traces for TensorBoard or XProf, a folder a row")
    return parser.parse_args(arguments)


def progress(done, total, text):
    """A line on the error stream that says what is being measured: rewritten in place on a terminal."""
    line = f"[{done:>{len(str(total))}}/{total}] {text}"
    if sys.stderr.isatty():
        print(f"\r{line:<78}", end="\r\n"[done == total], file=sys.stderr, flush=True)
    elif done < total:
        print(line, file=sys.stderr, flush=True)


def main(arguments=None):
    """Measures the table and writes it wherever it was asked for."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if sys.stderr.isatty():
        print("loading TensorFlow ...", end="\r", file=sys.stderr, flush=True)
    from train import silence

    with silence():
        from experiments.efficiency import measure, requests, text
        from experiments.efficiency.plot import write_plot
        from ganet_tf.errors import GANetError
        from ganet_tf.layers.operators import profiled_operators

    args = parse(arguments, list(profiled_operators()))
    try:
        wanted = requests(
            args.nodes,
            args.features,
            args.degree,
            args.k,
            args.operators,
            args.implementation,
            seed=args.seed,
            threads=args.threads,
            gradients=args.gradients,
            budget=args.budget,
            trace=None if args.trace is None else str(args.trace),
            memory_limit=None if args.memory is None else int(args.memory * 1e9),
        )
    except GANetError as error:
        print(f"profile_ops.py: {error}", file=sys.stderr)
        return 2
    try:
        remark = text.environment()
        rows = measure(wanted, progress, compare=not args.no_baseline)
        text.print_table(rows, remark)
        for kind, write in {"json": text.write_json, "csv": text.write_csv, "plot": write_plot}.items():
            if getattr(args, kind) is not None:
                write(rows, getattr(args, kind))
        if args.markdown is not None:
            text.write_markdown(rows, args.markdown, remark)
    except (GANetError, OSError) as error:
        print(f"profile_ops.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nprofile_ops.py: interrupted, nothing was written", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exit that also ends the measuring process
    sys.exit(main())
