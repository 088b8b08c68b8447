"""Where sparse hGAO's time goes: its parts alone, and beside them the layer as a whole, in native kernels too."""

from .graphs import GraphSpec
from .rounds import Contender, measure

STAGES = (
    ("stage transforms", "forward"),
    ("stage lists", "forward"),
    ("stage lists and selection", "forward"),
    ("stage attention", "forward"),
    ("hgao sparse", "forward"),
    ("hgao", "forward"),
    ("stage transforms", "forward+backward"),
    ("stage attention", "forward+backward"),
    ("hgao sparse", "forward+backward"),
    ("hgao", "forward+backward"),
)
# Milliseconds of a fused kernel on two cores at 20,000 nodes, without the matrix products: the limit to compare with.
FUSED = {
    8: {"selection": 1.1, "attention": 1.9, "backward": 4.3},
    32: {"selection": 4.4, "attention": 1.8, "backward": 4.5},
}


def run(side, folder, plan, nodes=20_000, degrees=(8, 32), watch=None, note=print):
    """The stages at one size: a list of dicts, one for each degree, times in milliseconds."""
    found = []
    for degree in degrees:
        spec = GraphSpec(nodes, degree)
        note(f"stages of hGAO: {spec.name}")
        path, edges = spec.write(folder)
        contenders = [Contender(side, operator, mode) for operator, mode in STAGES]
        measure(contenders, path, plan.budget / 2, plan.least, plan.most, watch=watch)
        path.unlink()
        milliseconds = {
            (c.operator.removeprefix("stage "), c.mode): c.row()["seconds"]["median"] * 1e3
            for c in contenders
            if c.seconds
        }
        parts = split(milliseconds)
        fused = FUSED.get(degree) if nodes == 20_000 else None
        found.append({"graph": spec.name, "degree": degree, "edges": edges, "ms": parts, "fused_ms": fused})
    return found


def split(ms):
    """The stages as parts that add up: {part: milliseconds}.

    Args:
        ms: {(stage, mode): milliseconds}, "lists and selection" including "lists".
    """
    modes = ("forward", "forward+backward")
    whole = {mode: ms["hgao sparse", mode] for mode in modes}
    chosen = {f"{mode}, as chosen by itself": ms["hgao", mode] for mode in modes}
    attention = ms["attention", "forward"]
    parts = {
        "matrix products": ms["transforms", "forward"],
        "neighbour lists": ms["lists", "forward"],
        "selection": max(ms["lists and selection", "forward"] - ms["lists", "forward"], 0.0),
        "attention": attention,
        "matrix products, backward": max(ms["transforms", "forward+backward"] - ms["transforms", "forward"], 0.0),
        "attention, backward": max(ms["attention", "forward+backward"] - attention, 0.0),
    }
    return {**parts, **whole, **chosen}
