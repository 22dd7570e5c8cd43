"""The plots of an inspection, as SVG: frontier, rules, query mass."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from memenvs.train.plots import COLOURS, INK, SLAB, STYLE
from memenvs.train.statistics import COINCIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RULE, BEST = COLOURS[0], COLOURS[2]
# Letters stay letters, in whatever font the reader has; equal input gives equal bytes.
SVG: dict[Any, Any] = STYLE | {"font.family": "sans-serif", "svg.hashsalt": "memenvs"}


def frontier_figure(found: dict[str, Any]) -> str:
    """Draw the frontier, the zone in which something must be given up, and the rules."""
    return _figure(lambda axes: _frontier(axes, found), (8.6, 3.2))


def rules_figure(play: dict[str, Any]) -> str:
    """Draw what rules of thumb reach, beside the optimum."""
    return _figure(lambda axes: _rules(axes, play), (4.1, 2.5))


def mass_figure(mass: dict[str, Any]) -> str:
    """Draw how much of the mass the largest queries have."""
    return _figure(lambda axes: _mass(axes, mass), (4.1, 2.5))


def _figure(draw: Callable[[Axes], None], size: tuple[float, float]) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(SVG):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    return text[text.index("<svg") :]  # the rest is for a file of its own


def _frontier(axes: Axes, found: dict[str, Any]) -> None:
    from matplotlib.ticker import MaxNLocator

    best, play = found["frontier"], found["heuristics"]
    whole = play is not None and play["claims"] == found["claims"]
    x, values, bounds = (np.array(best[key]) for key in ("capacities", "values", "upper_bounds"))
    full, last = best["full_context"], max(x[-1], play["capacity"]) if whole else x[-1]
    if last > x[-1]:  # more claims add nothing
        x = np.append(x, last)
        values, bounds = np.append(values, values[-1]), np.append(bounds, bounds[-1])
    zone = np.maximum(bounds, full)
    axes.fill_between(x, bounds, zone, color=SLAB, lw=0, label="cost of compression")
    axes.axhline(full, color=INK, lw=0.9, ls=(0, (5, 3)), label="full context")
    if (bounds - values > COINCIDE).any():
        axes.fill_between(x, values, bounds, color=INK, alpha=0.25, lw=0, label="not proved")
    axes.plot(x, values, color=INK, lw=1.4, marker=".", ms=5, label="best possible, U*(S)")
    if best["saturates"]:
        label = f"enough: S = {best['saturates']}"
        axes.axvline(best["saturates"], color=BEST, lw=1.0, label=label)
    if whole:
        reached = list(play["utility"].values())
        style: Any = {"color": RULE, "mec": "white", "ms": 7, "zorder": 3, "clip_on": False}
        axes.plot([play["capacity"]] * len(reached), reached, "o", label="rules of thumb", **style)
    axes.set_xlim(0, last * 1.02)
    axes.set_ylim(0, 1.04)
    axes.set_xlabel("capacity S (claims)")
    axes.set_ylabel(best["objective"])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def _rules(axes: Axes, play: dict[str, Any]) -> None:
    reached = dict(sorted(play["utility"].items(), key=lambda pair: pair[1]))
    reached["optimum"] = play["optimum"]
    bars = axes.barh(list(reached), list(reached.values()), color=RULE)
    bars[-1].set_color(BEST)
    axes.bar_label(bars, fmt="{:.2f}", padding=3)
    axes.set_xlim(0, 1.12)
    axes.set_xticks([0, 0.5, 1])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"{play['objective']} with S = {play['capacity']}")


def _mass(axes: Axes, mass: dict[str, Any]) -> None:
    from matplotlib.ticker import MaxNLocator

    x, y = zip(*([0, 0.0], *mass["cumulative"]), strict=True)
    axes.plot([0, x[-1]], [0, 1], color=INK, lw=0.9, ls=(0, (5, 3)), label="if all were equal")
    axes.plot(x, y, color=RULE, lw=1.6, label="as it is")
    axes.set_xlim(0, x[-1])
    axes.set_ylim(0, 1.04)
    axes.set_xlabel("queries, the largest first")
    axes.set_ylabel("share of the mass")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="lower right", frameon=False)
