"""Results as Markdown: the same words on the terminal and in docs/performance.md."""

import importlib

from harness.case import Measure

LEGEND = """\
Each cell: the median over the rounds (the best of all calls) · how many times as much as firstlayer it takes, the
median of the quotients within a round."""


def render_task(results: list[dict]) -> str:
    """The results of one task, each from another machine."""
    task = importlib.import_module(f"{results[0]['task'].replace('-', '_')}.task")
    return "\n\n".join([f"## {task.TITLE}", task.NOTES, *map(_render_result, results)])


def _render_result(result: dict) -> str:
    machine = result["machine"]
    bounds = [f"- {'kept' if bound['kept'] else '**MISSED**'}: {bound['text']}" for bound in result["bounds"]]
    parts = [
        f"### {machine['processor']}, {machine['cores']} cores",
        *map(render_case, result["cases"]),
        *(["Bounds:", "\n".join(bounds)] if bounds else []),
        f"Measured on {_render_machine(machine)}",
    ]
    return "\n\n".join(parts)


def _render_machine(machine: dict) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['vectors']}; {machine['caches']}; "
        f"{machine['memory']}; {machine['system']}, huge pages: {machine['huge_pages']}. {machine['compiler']}, "
        f"release build of commit {machine['commit']}, {machine['date']}. {_render_load(machine)}"
    )


def _render_load(machine: dict) -> str:
    load = f"Load when it began: {machine['load']:.2f}"
    return f"**{load}, so other work took part of the machine.**" if machine["load"] > 0.5 else f"{load}."


def render_case(case: dict) -> str:
    """A title, the input and a table."""
    measures = [Measure(**measure) for measure in case["measures"]]
    rows = [["contender", "version", *(f"{measure.title}, {measure.unit}" for measure in measures)]]
    for contender in case["contenders"]:
        cells = [_cell(measure, contender, case) for measure in measures]
        rows.append([contender["name"], contender["version"], *cells])
    source = f" SHA-256 {case['sha256'][:16]}…" if case["sha256"] else ""
    cores = ", ".join(map(str, case["cores"]))
    return f"**{case['name']}**: {case['title']}.{source} Core {cores}.\n\n{_markdown_table(rows)}"


def _cell(measure: Measure, contender: dict, case: dict) -> str:
    measured = contender["measured"][measure.key]
    median = _number(measure.in_unit(measured["median"], case["work"]))
    best = _number(measure.in_unit(measured["least"], case["work"]))
    compared = measure.compared and contender is not case["contenders"][0]
    return f"{median} ({best})" + (f" · {_number(measured['times_ours'])}x" if compared else "")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _markdown_table(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])
