# SPDX-License-Identifier: BSD-3-Clause
"""The links between the pages, and the navigation of the site: links_test.py SOURCE

Each link of README.md, CONTRIBUTING.md, CHANGELOG.md and docs/ leads to a file that is there and, with an anchor, to a
heading of it. Each page is linked to from another one, and stands in the navigation of packaging/site/mkdocs.yml once.
"""
import pathlib
import re
import sys

FENCE = re.compile(r"^ *```.*?^ *```$|^    .*?$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
NAVIGATION = re.compile(r"^ +- (?:[^:\n]+: )?([\w.]+\.md)$", re.MULTILINE)
MADE = {"reference.md"}  # by packaging/site/site.py


def anchors(text):
    """The names of its headings: small letters, digits and hyphens."""
    for heading in HEADING.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def main(source):
    root = pathlib.Path(source).resolve()
    pages = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted((root / "docs").glob("*.md"))
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    wrong, linked, count = [], set(), 0
    for page, text in texts.items():
        for link in LINK.findall(FENCE.sub("", text)):
            if re.match(r"https?:", link):
                continue
            count += 1
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if target != page:
                linked.add(target)
            if not target.exists():
                wrong.append(f"{page.name}: {link} is not there")
            elif anchor and (target not in texts or anchor not in anchors(texts[target])):
                wrong.append(f"{page.name}: {link}: the page has no such heading")
    wrong += [f"{page.name}: no page links to it" for page in pages if page not in linked and page.name != "README.md"]
    listed = sorted(NAVIGATION.findall((root / "packaging/site/mkdocs.yml").read_text(encoding="utf-8")))
    wanted = sorted({page.name if page.name != "README.md" else "index.md" for page in pages} | MADE)
    if listed != wanted:
        wrong.append(f"packaging/site/mkdocs.yml: the navigation has {listed}, the pages are {wanted}")
    if wrong:
        sys.exit("\n".join(wrong))
    if count < 50:
        sys.exit(f"only {count} links were found, there are more")
    print(f"{count} links between {len(pages)} pages")


if __name__ == "__main__":
    main(*sys.argv[1:])
