"""The pages as a book: all of them are in it, and every link leads somewhere."""

import html
import re
import shutil
import subprocess
import tomllib

import pytest
from conftest import ROOT, long_only

PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/*.md")),
         *sorted(ROOT.glob("models/*/README.md"))]
BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def prose(page):
    """A page without programs and inline code."""
    return re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text()))


def anchors(page):
    """As mdBook and GitHub make them of headings."""
    found, counts = set(), {}
    for heading in re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))
        count = counts.get(anchor, 0)
        counts[anchor] = count + 1
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in (one or other for one, other in LINK.findall(prose(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_is_in_the_book():
    listed = re.findall(r"\]\(([^)]+)\)", (ROOT / "docs/SUMMARY.md").read_text())
    assert len(listed) == len(set(listed))
    assert set(listed) == {page.name for page in ROOT.glob("docs/*.md")} - {"SUMMARY.md"}
    # And on its first page, which is read without the book too.
    first = re.findall(r"\]\(([^)]+\.md)\)", (ROOT / "docs/README.md").read_text())
    assert set(first) == set(listed) - {"README.md"}


@long_only
def test_book_builds(tmp_path):
    tools = ROOT / "target/tools"
    mdbook = shutil.which("mdbook") or tools / "bin/mdbook"
    if not shutil.which("mdbook") and not mdbook.exists():
        command = ["cargo", "install", "--locked", "--root", tools, "mdbook", "--version", "0.5.4", "--no-default-features",
                   "--features", "search"]
        subprocess.run(command, check=True)
    done = subprocess.run([mdbook, "build", ROOT / "docs", "--dest-dir", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not re.search("WARN|ERROR", done.stderr), done.stderr
    for page in ROOT.glob("docs/*.md"):
        if page.name not in ("SUMMARY.md", "README.md"):
            assert (tmp_path / page.name).with_suffix(".html").exists()
    # As the book has them: it turns names that end in `.md` into `.html`, also those of files that are not in it.
    texts = {page.name: page.read_text() for page in tmp_path.glob("*.html") if page.name not in ("print.html", "404.html")}
    built = (ROOT / "docs" / tomllib.loads((ROOT / "docs/book.toml").read_text())["build"]["build-dir"]).resolve()
    followed = 0
    for name, text in texts.items():
        main = text.partition("<main>")[2].partition("</main>")[0]
        for link in re.findall(r'(?:href|src)="(?![a-z]+:)([^"]+)"', main):
            path, _, anchor = html.unescape(link).partition("#")
            inside = tmp_path / (path or name)
            assert inside.exists() or (built / path).resolve().exists(), f"{name}: {link}"
            assert not anchor or f'id="{anchor}"' in texts[inside.name], f"{name}: {link}"
            followed += 1
    assert followed > 200
