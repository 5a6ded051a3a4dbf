"""The tables of docs/model-file.md: keys, types, defaults and meanings come from the schema, advice stays as it is on the
page. `python tests/validation/model_file_page.py` writes them anew."""

import json
import re

from conftest import ROOT, contact_fmu

PAGE = ROOT / "docs/model-file.md"
ROW = re.compile(r"^\| (`[^`]+`) \| .* \| .* \| (.*) \|$")


def cell(text):
    return text.replace("|", "\\|").strip()


def rows(schema, key):
    """Key, type with default, and meaning of all that may be written in a table."""
    for name, entry in schema.get("properties", {}).items():
        yield from key_rows(entry, f"{key}.{name}" if key else name)


def key_rows(entry, key):
    kind, _, meaning = entry.get("description", "").partition(": ")
    options = entry.get("oneOf", []) + entry.get("anyOf", [])
    if kind or meaning:
        # Without a colon it is all meaning.
        kind, meaning = (kind, meaning) if meaning else ("table", kind)
        values = [f'`{json.dumps(option["const"])}`: {option["description"]}'
                  for option in options if "const" in option and "description" in option]
        yield key, kind[0].lower() + kind[1:], "<br>".join([meaning[0].upper() + meaning[1:], *values])
    yield from rows(entry, key)
    for option in options:
        for name, table in option.get("properties", {}).items():
            description = option.get("description", "")
            own = table.get("description", "")
            yield from key_rows(table if own else {**table, "description": f"Table: {description}"}, f"{key}.{name}")
        if "oneOf" in option:
            yield from key_rows({**option, "description": ""}, key)


def sections(schema):
    for name, entry in schema["properties"].items():
        table = entry["items"] if entry["type"] == "array" else entry
        heading = f"[[{name}]]" if entry["type"] == "array" else f"[{name}]"
        yield heading, entry["description"], list(rows(table, ""))


def written(page, schema):
    """The page with tables as the schema has them."""
    head, *_ = page.split("\n## [")
    advice, section = {}, None
    for line in page.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif (row := ROW.match(line)) and section:
            advice[section, row[1]] = row[2]
    parts = [head.rstrip() + "\n"]
    for heading, description, entries in sections(schema):
        lines = [f"\n## {heading}\n", description + "\n", "| key | type, default | meaning | advice |", "|---|---|---|---|"]
        for key, kind, meaning in entries:
            told = advice.get((heading, f"`{key}`"), "")
            lines.append(f"| `{key}` | {cell(kind)} | {cell(meaning)} | {told} |".replace("|  |", "| |"))
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), json.loads(contact_fmu("schema"))))
