"""report.html of a replay in a real Chromium."""

from __future__ import annotations

import pytest

from advisor.replay.tell.page import replay_page

from .axe import violations

BEGIN_MS, HOUR_MS = 1_794_787_200_000, 3_600_000
HOSTILE = '</script><img src=x onerror="document.title=1"><b>&amp;"\' \u2028'


def summary():
    totals = {"records": 12_000_000, "batches": 4_000_000, "requests": 90_000, "bytes": 3 << 30,
              "retained_bytes_max": 2 << 30}  # fmt: skip
    variants = [
        {"variant": f"linger.ms={value}" if value else "", "setting": "linger.ms" if value else "",
         "value": value, "records_a_batch": 3.0, "added_ms": 5.0, "files": 480, "retained_bytes": 1 << 30,
         "hottest_share": 0.04, "knee": value == "5", **totals}
        for value in ("", "0", "5", "100")
    ]  # fmt: skip
    return {
        "tool": {"version": "0"}, "at": "2027-01-01", "began": "2026-11-16T00:00:00+00:00",
        "ended": "2026-11-17T11:59:59+00:00", "records": {"in": 12_000_001, "replayed": 12_000_000,
        "quarantined": 1}, "totals": totals, "errors": 0, "warnings": 1, "notes": 0,
        "hours": [
            {"topic": topic, "hour": BEGIN_MS + n * HOUR_MS, "records": n * 123_456, "batches": n * 54_321,
             "bytes": n << 30, "retained_bytes": n << 30, "oldest_ms_max": n * HOUR_MS, "lag_max": n * 7}
            for topic in ("clicks", HOSTILE) for n in range(37)
        ],
        "broker_hours": [{"broker": n, "bytes_in": 5 << 30, "bytes_replicated": 9 << 30} for n in range(3)],
        "variants": variants,
        "topics": [{"topic": HOSTILE, "partitions": 24, "oldest_ms_max": HOUR_MS, "compression": "none",
                    "lag_max": None, **totals}],
        "findings": [{"severity": "warning", "code": "KA651", "name": "hot-partition", "message": HOSTILE,
                      "run": ["Monday"]}],
        "workload": {"values": {"record_bytes": 379}, "notes": [HOSTILE]}, "assumed": [HOSTILE],
        "quarantine": [{"records": 1, "topic": None, "reason": "no value size"}],
    }  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(replay_page(summary()), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1300, 360])
def test_every_plot_can_be_read(opened, path, scheme, width):
    page = opened(path, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    outside = page.evaluate(
        """() => [...document.querySelectorAll(".chart svg")].flatMap((svg) => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("text")].filter((text) => {
                const box = text.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1;
            }).map((text) => text.textContent);
        })"""
    )
    assert outside == []
    assert page.locator(".chart").count() == 8
    assert violations(page) == []
