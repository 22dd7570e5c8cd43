"""The parts of a Word file: its XML, what belongs to it, and the styles of its headings."""

from __future__ import annotations

import posixpath
import re
import zipfile
from typing import Any

LONGEST = 2**25  # bytes of XML in one part: a long novel has a third of them
STYLES = "styles"
HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|nagłówek)\s*(\d)", re.I
)
TITLE = re.compile(r"(?:title|titel|titre|título|titolo)$", re.IGNORECASE)
CONTENTS = re.compile(r"(?:toc|verzeichnis|tm|tdc|sommario)\s*\d", re.IGNORECASE)


def parsed(archive: zipfile.ZipFile, path: str) -> Any:
    """Parse a part; raises ``ValueError`` for one that unpacks to too much."""
    from lxml import etree

    size = archive.getinfo(path).file_size
    if size > LONGEST:  # a small file can unpack to more than memory holds
        raise ValueError(f"'{path}' unpacks to {size:,} bytes; save the document in parts")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    return etree.fromstring(archive.read(path), parser)


def related(archive: zipfile.ZipFile, path: str) -> list[tuple[str, str]]:
    """Give kind and path of the parts that a part names, in the order of their names."""
    folder, name = posixpath.split(path)
    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    if relations not in archive.namelist():
        return []
    found = []
    for relation in parsed(archive, relations):
        if relation.get("TargetMode") != "External" and relation.get("Type"):
            target = posixpath.normpath(posixpath.join(folder, relation.get("Target")))
            if relation.get("Target").startswith("/"):
                target = relation.get("Target").lstrip("/")
            if target in archive.namelist():
                found.append((relation.get("Type").rsplit("/", 1)[-1], target))
    return sorted(found, key=lambda pair: pair[1])


def styles(archive: zipfile.ZipFile, main: str) -> tuple[dict[str, int], set[str]]:
    """Give the levels of the styles of headings, by their names or outlines, and of contents."""
    path = next((path for kind, path in related(archive, main) if kind == STYLES), None)
    levels: dict[str, int] = {}
    contents: set[str] = set()
    based: dict[str, str] = {}
    for style in parsed(archive, path) if path else ():
        identifier, name = value_of(style, "styleId"), ""
        for child in style:
            if tag_of(child) == "name":
                name = value_of(child) or ""
            elif tag_of(child) == "basedOn":
                based[identifier or ""] = value_of(child) or ""
            elif tag_of(child) == "pPr":
                for outline in (e for e in child if tag_of(e) == "outlineLvl"):
                    level = int(value_of(outline) or 9)
                    if level < 9:
                        levels[identifier or ""] = level + 1
        match = HEADING.match(name)
        if match:
            levels[identifier or ""] = int(match[1]) or 1
        elif TITLE.match(name):
            levels[identifier or ""] = 0
        elif CONTENTS.match(name):
            contents.add(identifier or "")
    for style in based:
        base, steps = style, 0
        while base not in levels and base in based and steps < 10:
            base, steps = based[base], steps + 1
        if base in levels and style not in contents:
            levels.setdefault(style, levels[base])
    return levels, contents


def tag_of(element: Any) -> str:
    """Give an element's name without its namespace, which the strict form has otherwise."""
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def value_of(element: Any, name: str = "val") -> str | None:
    """Give an attribute, whatever its namespace."""
    return next((v for k, v in element.attrib.items() if k.rsplit("}", 1)[-1] == name), None)
