"""An inspection as one HTML page that needs nothing besides itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from memenvs.train.inspect.figures import frontier_figure, mass_figure, rules_figure
from memenvs.train.inspect.inspection import summary_lines

SHOWN = 10  # groups of duplicates
STYLE = """
:root { --ink: #222; --soft: #666; --line: #ddd; --fault: #b3410a; --note: #0072b2; }
body { color: var(--ink); font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 54rem;
       padding: 0 1.5rem; }
h1 { font-size: 1.7rem; margin-bottom: 0; overflow-wrap: anywhere; }
h2 { border-top: 1px solid var(--line); font-size: 1.35rem; margin-top: 3rem; padding-top: 1.5rem;
     overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p.lead, figcaption { color: var(--soft); margin-top: .25rem; }
figure { margin: 0; } figcaption { font-size: .875rem; }
svg { height: auto; width: 100%; }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(3, 1fr); margin: 1.5rem 0; }
.figures div { border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; }
.figures b { display: block; font-size: 1.6rem; line-height: 1.2; }
.figures span { color: var(--soft); font-size: .875rem; }
.pair { display: grid; gap: 1.5rem; grid-template-columns: 1fr 1fr; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left;
         vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; } td.number { text-align: right; white-space: nowrap; }
ul.faults { list-style: none; padding: 0; }
ul.faults > li { border-left: .3rem solid var(--note); margin: .8rem 0; padding: .1rem .9rem; }
ul.faults > li.fault { border-color: var(--fault); }
ul.faults ul { color: var(--soft); font-size: .9rem; margin: .2rem 0; padding-left: 1.1rem; }
nav ul { columns: 3; }
@media (max-width: 40rem) { .pair, .figures { grid-template-columns: 1fr; } nav ul { columns: 1; } }
"""


def page(found: Sequence[dict[str, Any]], total: int) -> str:
    """Give the page of some inspections, of ``total`` materials in the file; needs matplotlib."""
    one = found[0]["material"] if len(found) == 1 else f"{len(found)} materials"
    left = f" The first {len(found)} of {total} materials." if total > len(found) else ""
    parts = [
        f"<h1>{_text(one)}</h1>",
        f'<p class="lead">What there is to remember, and what a memory can make of it.{left}</p>',
    ]
    if len(found) > 1:
        links = (f'<a href="#m{n}">{_text(each["material"])}</a>' for n, each in enumerate(found))
        parts.append(f"<nav>{_listed(links)}</nav>")
    for place, each in enumerate(found):
        if len(found) > 1:
            parts.append(f'<h2 id="m{place}">{_text(each["material"])}</h2>')
        parts += _sections(each)
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{_text(one)}: inspection</title><style>{STYLE}</style>"
    )
    body = "\n".join(["<body>", *parts, "</body>"])
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n{body}\n</html>\n'


def _sections(found: dict[str, Any]) -> list[str]:
    best, play = found["frontier"], found["heuristics"]
    parts = [_figures(found), "<h3>Likely faults, and notes</h3>", _faults(found["faults"])]
    parts += [
        "<h3>What a memory of S claims can be worth</h3>",
        _figure(frontier_figure(found), _zone(best)),
    ]
    pair = [_figure(mass_figure(found["mass"]), "How the query mass is spread.")]
    if play is not None:
        pair.insert(0, _figure(rules_figure(play), _played(found, play)))
    parts.append(f'<div class="pair">{"".join(pair)}</div>')
    parts += ["<h3>In detail</h3>", _table(summary_lines(found))]
    rows = [
        (each["query"], each["text"], f"{each['mass']:.1%}") for each in found["mass"]["largest"]
    ]
    parts += ["<h3>The largest queries</h3>", _table(rows)]
    spare = found["duplicates"]
    if spare["equal"] or spare["near"]:
        groups = [("equal", ", ".join(group)) for group in spare["equal"][:SHOWN]]
        groups += [("near", ", ".join(pair)) for pair in spare["near"][:SHOWN]]
        parts += ["<h3>Claims that say the same</h3>", _table(groups)]
    if found["links"]:
        rows = [
            (method, f"{each['queries']} questions", f"mean score {each['mean_score']:.2f}")
            for method, each in found["links"]["methods"].items()
        ]
        parts += ["<h3>How questions were linked</h3>", _table(rows)]
    return parts


def _figures(found: dict[str, Any]) -> str:
    """Six numbers that tell most."""
    best, play = found["frontier"], found["heuristics"]
    numbers = [
        (found["claims"], "claims"),
        (found["queries"], "queries"),
        (f"{found['compositional']['mass']:.0%}", "of the mass needs several claims"),
        (f"{best['full_context']:.2f}", f"{best['objective']} with everything kept"),
        ("–" if best["saturates"] is None else best["saturates"], "claims are enough for that"),
    ]
    if play is not None:
        name = max(play["utility"], key=lambda rule: play["utility"][rule])
        told = f"best rule ({name}) with S = {play['capacity']}, of {play['optimum']:.2f} possible"
        numbers.append((f"{play['utility'][name]:.2f}", told))
    cells = (
        f"<div><b>{_text(number)}</b><span>{_text(told)}</span></div>" for number, told in numbers
    )
    return f'<div class="figures">{"".join(cells)}</div>'


def _faults(faults: Sequence[dict[str, Any]]) -> str:
    if not faults:
        return "<p>None was found.</p>"
    listed = (
        f'<li class="{fault["severity"]}">{_text(fault["what"])}'
        f"{_listed(map(_text, fault['examples'])) if fault['examples'] else ''}</li>"
        for fault in faults
    )
    return f'<ul class="faults">{"".join(listed)}</ul>'


def _zone(best: dict[str, Any]) -> str:
    if best["saturates"] is None:
        return "No number of claims that was tried reaches what all claims together reach."
    if best["saturates"] == 0:
        return "All claims together are worth no more than an empty memory."
    return (
        f"Left of S = {best['saturates']} lies the compression zone: no memory so small is worth "
        "as much as all claims together, and what to keep has to be chosen."
    )


def _played(found: dict[str, Any], play: dict[str, Any]) -> str:
    part = (
        f"claims {play['start'] + 1} to {play['start'] + play['claims']}"
        if play["claims"] < found["claims"]
        else "the whole stream"
    )
    return f"Rules of thumb on {part}, a slot for every fourth claim; {play['episodes']} episodes."


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{_text(caption)}</figcaption></figure>"


def _table(rows: Iterable[Sequence[str]]) -> str:
    lines = []
    for name, *cells in rows:
        marked = (
            f'<td class="number">{_text(cell)}</td>'
            if cell.endswith("%") and place
            else f"<td>{_text(cell)}</td>"
            for place, cell in enumerate(cells)
        )
        lines.append(f"<tr><th>{_text(name)}</th>{''.join(marked)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _listed(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _text(value: Any) -> str:
    return escape(str(value))
