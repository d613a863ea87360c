# SPDX-License-Identifier: BSD-3-Clause
"""Draws which rank waited for which, from traces of WEFT_TRACE: who_waited.py TITLE=FILE... > FILE.svg

A row for each rank: grey where it computed, red where it waited, and a line from the end of each long wait to the rank that came last
into the operation, at the moment when it came. All traces are drawn on one scale, from the first post on.
"""
import html
import json
import sys

WIDTH, LEFT, ROW, GAP = 820, 70, 26, 64
# On white and on dark pages the ground is the page's own, so all that is drawn stands out from both.
INK, COMPUTES, WAITS, POSTS = "#7a7a7a", "#b8b8b8", "#d55e00", "#0072b2"
SHORT = 100  # µs: a shorter wait has no line


class Trace:
    def __init__(self, title, path):
        self.title = title
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        posts = [e for e in events if e["ph"] == "X" and e["name"].startswith("post ")]
        if not posts:
            sys.exit(f"{path}: nothing was posted, there is nothing to draw")
        # A rank computes before its first post, and the last wait for one ends the picture.
        waits = [e for e in events if e["ph"] == "X" and e["name"] == "wait"]
        first = min(e["ts"] for e in posts)
        before = [e["ts"] + e["dur"] for e in waits if e["ts"] + e["dur"] < first]
        self.begin = max(before, default=first)
        waits = [e for e in waits if e["ts"] >= self.begin and not e.get("args", {}).get("for", "").startswith("weft_")]
        self.end = max(e["ts"] + e["dur"] for e in waits + posts)
        self.waits = [e for e in waits if e["ts"] < self.end]
        self.posts = posts
        self.ranks = max(e["pid"] for e in events) + 1
        entries = {}  # of each operation: which rank came when
        for e in events:
            if e["ph"] == "s":
                entries.setdefault(e["id"].split(".", 1)[1], {})[e["pid"]] = e["ts"]
        self.arrows = []  # from which rank, when it came, to which rank, when its wait ended
        for e in events:
            if e["ph"] != "f" or e["ts"] <= self.begin:
                continue
            wait = [w for w in self.waits if w["pid"] == e["pid"] and abs(w["ts"] + w["dur"] - e["ts"]) < 1]
            came = {at: rank for rank, at in entries.get(e["id"].split(".", 1)[1], {}).items() if at < e["ts"]}
            if wait and wait[0]["dur"] >= SHORT and came and came[max(came)] != e["pid"]:
                self.arrows.append((came[max(came)], max(came), e["pid"], e["ts"]))

    def draw(self, top, scale):
        def x(at):
            return LEFT + (at - self.begin) * scale

        def y(rank):
            return top + rank * ROW

        waited = sum(e["dur"] for e in self.waits) / 1000
        yield (f'<text x="{LEFT}" y="{top - 12}" font-weight="bold">{html.escape(self.title)}: {(self.end - self.begin) / 1000:.1f} ms, '
               f'of which all ranks together waited {waited:.1f} ms</text>')
        for rank in range(self.ranks):
            yield f'<text x="{LEFT - 8}" y="{y(rank) + 14}" text-anchor="end">rank {rank}</text>'
            yield (f'<rect x="{LEFT}" y="{y(rank)}" width="{x(self.end) - LEFT:.1f}" height="{ROW - 8}" '
                   f'fill="{COMPUTES}"/>')
        for e in self.waits:
            yield (f'<rect x="{x(e["ts"]):.1f}" y="{y(e["pid"])}" width="{max(e["dur"] * scale, 0.5):.1f}" '
                   f'height="{ROW - 8}" fill="{WAITS}"/>')
        for e in self.posts:
            yield f'<rect x="{x(e["ts"]) - 1:.1f}" y="{y(e["pid"])}" width="2" height="{ROW - 8}" fill="{POSTS}"/>'
        for came_from, came, rank, at in self.arrows:
            yield (f'<line x1="{x(came):.1f}" y1="{y(came_from) + ROW / 2 - 4}" x2="{x(at):.1f}" '
                   f'y2="{y(rank) + ROW / 2 - 4}" stroke="{INK}" stroke-width="1"/>')


def picture(traces):
    scale = (WIDTH - LEFT - 20) / max(t.end - t.begin for t in traces)
    top, lines = GAP - 24, []
    for trace in traces:
        lines += trace.draw(top, scale)
        top += trace.ranks * ROW + GAP - 16
    at = LEFT
    for colour, meaning in ((COMPUTES, "computes"), (WAITS, "waits"), (POSTS, "posts"), (INK, "the rank that was waited for")):
        lines.append(f'<rect x="{at}" y="{top - 30}" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{at + 18}" y="{top - 20}">{meaning}</text>')
        at += 40 + 8 * len(meaning)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" viewBox="0 0 {WIDTH} {top}" '
           f'font-family="sans-serif" font-size="13" fill="{INK}">')
    yield "<title>Which rank waited for which</title>"
    yield from lines
    yield "</svg>"


if __name__ == "__main__":
    named = [argument.partition("=") for argument in sys.argv[1:]]
    if not named or not all(path for _, _, path in named):
        sys.exit(__doc__)
    print("\n".join(picture([Trace(title, path) for title, _, path in named])))
