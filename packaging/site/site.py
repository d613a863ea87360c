# SPDX-License-Identifier: BSD-3-Clause
"""The pages as a site: site.py FOLDER makes FOLDER/html of README.md, docs/ and the public headers, by mkdocs and doxygen.

site.py --comments HEADER prints a header as doxygen wants it: each comment that stands before a declaration or behind one
becomes one of its documentation. The sources stay as they are.
"""
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
# Pages that lie in the root, and what they are called on the site.
OF_ROOT = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}
LINK = re.compile(r"(\]\()([^)#\s:]+)([)#])")
FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def pages():
    """Of each page: its path in the source, and on the site."""
    yield from OF_ROOT.items()
    for page in sorted((ROOT / "docs").glob("*.md")):
        yield f"docs/{page.name}", page.name


def on_site(path):
    """Where a file of the source is on the site."""
    if path in OF_ROOT:
        return OF_ROOT[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}"


def page_of(path, linked):
    """The text of a page, its links as they are on the site; what it links to of the source is added to `linked`."""
    def follow(link):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[2]))
        if not (ROOT / target).exists():
            sys.exit(f"{path}: {link[2]} is not there")
        if not target.endswith(".md"):
            linked.add(target)
        return link[1] + on_site(target) + link[3]
    text = (ROOT / path).read_text(encoding="utf-8")
    return "".join(part if part.startswith("```") else LINK.sub(follow, part) for part in FENCE.split(text))


def as_documentation(text):
    text = re.sub(r"^( *)/\* ", r"\1/** ", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)// ", r"\1/// ", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)//$", r"\1///", text, flags=re.MULTILINE)
    text = re.sub(r"([;,]) */\* ", r"\1 /**< ", text)
    text = re.sub(r"([;,{]) +// ", r"\1 ///< ", text)
    return text.replace("/// SPDX", "// SPDX")


def build(folder):
    missing = [tool for tool in ("mkdocs", "doxygen") if not shutil.which(tool)]
    if missing:
        print(f"{' and '.join(missing)} are not on this machine: ./run site installs them")
        sys.exit(SKIPPED)
    pages_folder, html = folder / "pages", folder / "html"
    shutil.rmtree(folder, ignore_errors=True)
    pages_folder.mkdir(parents=True)
    linked = set()
    for path, name in pages():
        (pages_folder / name).write_text(page_of(path, linked), encoding="utf-8")
    for path in linked:
        target = pages_folder / on_site(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target)
    (pages_folder / "reference.md").write_text(
        "# Calls, types and classes\n\n- [Functions](reference/namespacemembers_func.html)\n- [Classes](reference/annotated.html)\n"
        "- [Headers](reference/files.html): each with all that it declares\n\n"
        "What each says is what `weft help CALL` and `man CALL` print.\n", encoding="utf-8")
    doxyfile = (HERE / "Doxyfile").read_text(encoding="utf-8")
    doxyfile += (f'INPUT = "{ROOT}/include" "{ROOT}/mpi/include"\nSTRIP_FROM_PATH = "{ROOT}/include" "{ROOT}/mpi/include"\n'
                 f'OUTPUT_DIRECTORY = "{pages_folder}"\nHTML_OUTPUT = reference\n'
                 f'INPUT_FILTER = "{sys.executable} {HERE}/site.py --comments"\n')
    subprocess.run(["doxygen", "-"], input=doxyfile, text=True, check=True)
    config = (HERE / "mkdocs.yml").read_text(encoding="utf-8") + f'docs_dir: "{pages_folder}"\nsite_dir: "{html}"\n'
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    subprocess.run(["mkdocs", "build", "--quiet", "--config-file", str(folder / "mkdocs.yml")], check=True)
    broken = [f"{page}: {link}" for page, link in links_in(html) if not resolves(html, page, link)]
    if broken:
        sys.exit("\n".join(["these links lead nowhere:", *broken]))
    print(html / "index.html")


def links_in(html):
    """Of each page of ours: the links that stay on the site."""
    for page in sorted(html.glob("*.html")):
        for link in re.findall(r'(?:href|src)="([^"]*)"', page.read_text(encoding="utf-8")):
            if link and not re.match(r"[a-z]+:|//|/", link):
                yield page.name, link


def resolves(html, page, link):
    path, _, anchor = link.partition("#")
    target = html / (path or page)
    if target.is_dir():
        target = target / "index.html"
    if not target.exists():
        return False
    return not anchor or f'id="{anchor}"' in target.read_text(encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--comments":
        print(as_documentation(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
    else:
        build(pathlib.Path(sys.argv[1]).resolve())
