"""Sphinx's settings, for `make docs`.

Docstrings here are Markdown with Keras's sections, which `help()` shows as they are. Sphinx wants reStructuredText, so
`as_rst` turns backticks, fences, tables, indices and indented formulas into it; napoleon does the sections. Formulas
are written to the page as MathML, which browsers draw by themselves, in the STIX font that matplotlib brings along:
where DejaVu is all there is, indices would stand on the line (its table of such measures is all zeros). The site needs
no network.
"""

import inspect
import os
import re
import sys
from pathlib import Path

import matplotlib
from docutils import nodes
from docutils.utils.math import latex2mathml

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import keras  # noqa: E402
from formulas import FORMULAS  # noqa: E402

from ganet_tf import __version__  # noqa: E402

project = "ganet_tf"
release = version = __version__
author = copyright = "the ganet_tf authors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the tests run the notebooks; the site shows what is committed

html_theme = "furo"
html_title = f"ganet_tf {release}"
html_show_sphinx = False
html_static_path = ["static", str(Path(matplotlib.get_data_path(), "fonts", "ttf", "STIXGeneral.ttf"))]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
pygments_style = "default"
pygments_dark_style = "github-dark"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the text says what comes in; signatures stay readable
autodoc_default_options = {
    "members": True,
    # Keras's own, and what our classes share among themselves.
    "exclude-members": "build, call, get_config, from_config, compute_output_shape, compute_output_spec, compute_loss, "
    "train_step, build_layers, run_stack, key_width, project, project_gated, propagate, outputs, output_units, pooled, "
    "takes_sparse, from_neighbors, finish, check_inputs, branch_scores, context_vectors, move_vectors, plan, follow",
}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # "heads, concat: ..." stays one entry
napoleon_custom_sections = [("Call arguments", "params_style"), ("Attributes", "params_style")]

# x_i, Σ_{i in g}, softmax_j; D^-1
INDEX = re.compile(r"(?<![\w.])((?:softmax|max|mean|idx|[^\W\d_])[\u0300-\u036f]?[*']?)_(\{[^}]+\}|\w{1,2}|max)(?!\w)")
POWER = re.compile(r"(?<=\S)\^(-?[\d½]+)")
SECTION = re.compile(r"^(Args|Call arguments|Returns|Raises|Example|Examples|Attributes|Yields):")


def as_rst(app, what, name, obj, options, lines):
    """The lines of a docstring as reStructuredText."""
    formulas = FORMULAS.get(name, ())
    lines[:] = list(converted(list(lines), (formulas,) if isinstance(formulas, str) else formulas))


def converted(lines, formulas=()):
    """Fences, tables, formulas and backticks; `formulas` take the places of the first indented blocks."""
    place, before_sections, formulas = 0, True, list(formulas)
    while place < len(lines):
        line = lines[place]
        if SECTION.match(line):
            before_sections = False
        indent = re.match(r" *", line)[0]
        if line.strip().startswith("```"):
            end = next(i for i in range(place + 1, len(lines)) if lines[i].strip().startswith("```"))
            yield from ("", f"{indent}.. code-block:: python", "")
            yield from (f"   {text}" for text in lines[place + 1 : end])
            yield ""
            place = end + 1
        elif line.strip().startswith("|") and line.strip().endswith("|"):
            end = next((i for i in range(place, len(lines)) if not lines[i].strip().startswith("|")), len(lines))
            yield from table(lines[place:end], indent)
            place = end
        elif before_sections and line.startswith("    ") and (not place or not lines[place - 1].strip()):
            end = next(
                (i for i in range(place, len(lines)) if lines[i].strip() and not lines[i].startswith("    ")),
                len(lines),
            )
            if formulas:
                yield from ("", ".. math::", "", *(f"   {text}" for text in formulas.pop(0).strip().splitlines()), "")
            else:
                yield from ("", ".. code-block:: none", "   :class: formula", "", *lines[place:end], "")
            place = end
        else:
            yield ticks(line)
            place += 1


def ticks(line):
    """`code` as ``code``, and what would be a mark of reStructuredText as plain text."""
    made = ""
    for part in re.split(r"(`[^`]+`)", line):
        if part.startswith("`"):
            made += f"`{part}`"
        else:
            joint = "\\ " if made.endswith("``") and re.match(r"\w", part) else ""  # `Graph`s
            part = re.sub(r"\||(?<=\w)\*\*(?=\w)|(?<=, )\*\*", lambda found: "\\" + "\\".join(found[0]), part)
            part = INDEX.sub(lambda found: rf"{found[1]}\ :sub:`{found[2].strip('{}')}`\ ", part)
            made += joint + POWER.sub(r"\\ :sup:`\1`\\ ", part)
    return made


def table(rows, indent):
    """A Markdown table as a list-table."""
    cells = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows]
    yield from ("", f"{indent}.. list-table::", f"{indent}   :header-rows: 1", "")
    for row in (cells[0], *cells[2:]):
        for number, cell in enumerate(row):
            yield f"{indent}   {'* -' if not number else '  -'} {ticks(cell)}"
    yield ""


def signature(app, what, name, obj, options, arguments, returns):
    """The constructor's arguments: of a Keras class Sphinx would show those of Keras's own wrapper."""
    if what != "class" or not callable(getattr(obj, "__init__", None)):
        return arguments, returns
    try:
        parameters = list(inspect.signature(obj.__init__).parameters.values())[1:]
    except (TypeError, ValueError):
        return arguments, returns
    if issubclass(obj, tuple):
        return f"({', '.join(obj._fields)})", returns
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty, default=shown(parameter.default))
        for parameter in parameters
    ]
    return str(inspect.Signature(bare)), returns


class Text(str):
    """Text that is shown without quotes."""

    __repr__ = str.__str__


def shown(default):
    """A default as one would write it: a regularizer as its call, not as its address."""
    if isinstance(default, keras.Regularizer):
        given = ", ".join(f"{value:g}" for value in default.get_config().values())
        return Text(f"{type(default).__name__}({given})")
    return Text("...") if repr(default) == "<factory>" else default


def skip(app, what, name, obj, skipped, options):
    """A tuple's fields: the class says what they are."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def outside(app, name, content):
    """Links to Markdown files that are no pages of the site: the results have one, the others are downloads."""
    text = content[0].replace("](../RESULTS.md)", "](results/index.md)").replace("](results)", "](results/index.md)")
    content[0] = re.sub(r"\[`?([^]`]*)`?\]\((\.\./[^)]*\.md)\)", r"{download}`\1 <\2>`", text)


def inline_mathml(self, node):
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block_mathml(self, node):
    self.body.append(f'<div class="math">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def mathml(text, display):
    """LaTeX as MathML, by docutils's own converter."""
    return latex2mathml.tex2mathml(text, as_block=display == "block")


def setup(app):
    app.connect("autodoc-process-docstring", as_rst, priority=100)  # before napoleon
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-skip-member", skip)
    app.connect("source-read", outside)
    app.add_html_math_renderer("mathml", (inline_mathml, None), (block_mathml, None))
    return {"parallel_read_safe": True}
