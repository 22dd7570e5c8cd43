"""The utility-capacity plane: the frontier, the compression zone, and where policies stand."""

from __future__ import annotations

import io
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memenvs.storage.whole import write_whole
from memenvs.train.compare import Comparison
from memenvs.train.statistics import COINCIDE
from memenvs.train.summary import Record

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memenvs.train.optima import Curve

# Okabe and Ito's colours, told apart under every common colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p", "h")
INK, SLAB = "#222222", "#E9E9E4"
VISIBLE = 0.005  # coverage is drawn where it exceeds the value by more
SIZE = 5.0  # of a marker, in points
SPREAD = 0.4  # room of the points of one capacity, as a share of the step to the next,
CLOSE = 0.2  # but at most this share of the smallest: the picture must not mislead
SLABS = 60  # capacities up to which each has a slab of its own
STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "pdf.fonttype": 42,  # letters, not outlines: journals ask for it
    "svg.fonttype": "none",
}


def save_frontier_plot(comparison: Comparison, folder: Path) -> None:
    """Write frontier.png and frontier.pdf; needs a comparison with a curve, and matplotlib.

    Raises ``OSError`` where a file cannot be written.
    """
    import matplotlib
    from matplotlib.figure import Figure  # no pyplot: neither a display nor global state

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        draw_plane(figure, comparison)
        for suffix, metadata in (("png", None), ("pdf", {"CreationDate": None})):
            stream = io.BytesIO()
            figure.savefig(stream, format=suffix, dpi=200, metadata=metadata)
            write_whole(folder / f"frontier.{suffix}", stream.getvalue())


def draw_plane(figure: Figure, comparison: Comparison) -> Axes:
    """Draw the plane of one comparison into an empty figure."""
    from matplotlib.ticker import MaxNLocator

    axes = figure.subplots()
    assert comparison.curve is not None
    lines = _draw_curve(axes, comparison.curve)
    points = _draw_policies(axes, comparison)
    axes.set_xlabel("capacity S (claims)")
    axes.set_ylabel(f"{comparison.curve.objective} (share of the query mass)")
    axes.set_ylim(0, 1.04)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(
        handles=[*lines, *points], loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False
    )
    first = comparison.summary[0]
    unit = first["interval_over"]
    axes.set_title(
        f"means over {first[unit]} {unit}, 95% bootstrap intervals",
        loc="left",
        fontsize="small",
        color=INK,
    )
    return axes


def _draw_curve(axes: Axes, curve: Curve) -> list[Artist]:
    """Draw the frontier, what is above it, and the zone between; gives the legend's entries."""
    x = np.array(curve.capacities)
    slabs = len(x) <= SLABS and bool((np.diff(x) == 1).all())
    gap = np.maximum(curve.full - curve.bounds, 0.0)
    zone: Any
    if slabs:
        zone = axes.bar(x, gap, 0.86, curve.bounds, color=SLAB, zorder=0)
    else:
        zone = axes.fill_between(x, curve.bounds, curve.bounds + gap, color=SLAB, lw=0, zorder=0)
    axes.set_xlim(left=x[0] - 0.5 if slabs else 0)
    full = axes.axhline(curve.full, color=INK, lw=0.9, ls=(0, (5, 3)), zorder=1)
    marker = "." if slabs else None
    (line,) = axes.plot(x, curve.values, color=INK, lw=1.4, marker=marker, ms=5, zorder=2)
    entries = {"frontier": line, "full context": full, "cost of compression": zone}
    if (curve.bounds - curve.values > COINCIDE).any():
        band = axes.fill_between(x, curve.values, curve.bounds, color=INK, alpha=0.25, lw=0)
        entries["not proved"] = band
    for label, entry in entries.items():
        entry.set_label(label)
    return list(entries.values())


def _draw_policies(axes: Axes, comparison: Comparison) -> list[Artist]:
    """Draw each policy, the best first; gives the legend's entries."""
    names = dict.fromkeys(record["policy"] for record in comparison.summary)
    records = {n: [r for r in comparison.summary if r["policy"] == n] for n in names}
    order = sorted(names, key=lambda name: -records[name][-1]["utility"])
    oracles = [name for name in order if records[name][0]["privileged"]]
    others = [name for name in order if name not in oracles]
    capacities = sorted({record["capacity"] for record in comparison.summary})
    spread = min(SPREAD * min(np.diff(capacities), default=1), CLOSE * capacities[0])
    shifts = np.linspace(-spread / 2, spread / 2, len(others)) if len(others) > 1 else [0.0]
    entries: list[Artist] = []
    hollow = False
    for name, colour, marker in zip(order, cycle(COLOURS), cycle(MARKERS), strict=False):
        # Side by side, lest one hide another; oracles on the frontier, one around another.
        privileged = name in oracles
        shift = 0.0 if privileged else float(shifts[others.index(name)])
        size = SIZE + 3.0 * (len(oracles) - 1 - oracles.index(name)) if privileged else SIZE
        style = {"color": colour, "marker": marker, "ls": "", "clip_on": False}
        entry, inflated = _draw_policy(axes, records[name], shift, size, style)
        entries.append(entry)
        hollow |= inflated
    if hollow:
        entries += axes.plot([], [], "o", mfc="white", mec=INK, label="coverage, if higher")
    return entries


def _draw_policy(
    axes: Axes, records: list[Record], shift: float, size: float, style: dict[str, Any]
) -> tuple[Artist, bool]:
    """Draw values as points with intervals, and coverage as hollow points above them."""
    x = np.array([record["capacity"] for record in records]) + shift
    value = np.array([record["utility"] for record in records])
    coverage = np.array([record["coverage"] for record in records])
    lows, highs = (
        [record["utility"] if record[end] is None else record[end] for record in records]
        for end in ("low", "high")
    )
    name = records[0]["policy"] + (" (oracle)" if records[0]["privileged"] else "")
    colour = style["color"]
    if not records[0]["privileged"]:  # an oracle's line would lie on the frontier's
        axes.plot(x, value, color=colour, lw=0.7, alpha=0.5, zorder=3)
    axes.vlines(x, lows, highs, color=colour, lw=1.3, zorder=3)
    (points,) = axes.plot(x, value, ms=size, mec="white", mew=0.5, zorder=5, label=name, **style)
    higher = coverage - value > VISIBLE
    axes.vlines(x[higher], value[higher], coverage[higher], color=colour, lw=0.8, ls=":")
    open_points = {**style, "mfc": "white", "mec": colour, "mew": 1.0}
    (hollow,) = axes.plot(x[higher], coverage[higher], ms=size, zorder=4, **open_points)
    for unclipped in (points, hollow):
        unclipped.set_in_layout(False)  # else the margins grow to hold what might stick out
    return points, bool(higher.any())
