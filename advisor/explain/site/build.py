"""`kafka-advisor docs DIR`: the whole site, written as files that need no server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ...catalog import COMPONENTS, Version, keys
from ...hookspecs import ModelSpec
from ...output.files import write_file
from ...packs.pack import Rule
from ..scenarios import scenario_names
from .layout import Page, assets, text_of_page
from .pages import (
    Site,
    first_page,
    glossary_page,
    guarantee_page,
    guarantees_page,
    rule_page,
    rules_page,
    scenario_page,
    scenarios_page,
    setting_page,
    settings_page,
)
from .plugin_pages import plugin_pages
from .real_kafka import real_page


def build_site(
    folder: str,
    version: Version,
    rules: tuple[Rule, ...],
    guarantees: dict[str, ModelSpec],
    progress: Callable[[str], None],
) -> int:
    """How many pages were written."""
    names = {key for component in COMPONENTS for key in keys(component, version)}
    site = Site(version, rules, guarantees, tuple(sorted(names)))
    pages = list(_pages(site, progress))
    files = {page.path: text_of_page(page) for page in pages} | assets(pages)
    progress(f"writing {len(files)} files")
    for path, text in files.items():
        target = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        write_file(target, text)
    return len(pages)


def _pages(site: Site, progress: Callable[[str], None]) -> Iterator[Page]:
    yield first_page(site)
    yield rules_page(site)
    for number, rule in enumerate(site.rules, 1):
        progress(f"playing the examples of rules: {number} of {len(site.rules)}")
        yield rule_page(site, rule)
    yield guarantees_page(site)
    for name in sorted(site.guarantees):
        yield guarantee_page(site, name)
    yield settings_page(site)
    for number, name in enumerate(site.settings, 1):
        progress(f"trying the values of settings: {number} of {len(site.settings)}")
        yield setting_page(site, name)
    progress("playing scenarios")
    scenarios = [scenario_page(site, name) for name in scenario_names()]
    yield scenarios_page(scenarios)
    yield from scenarios
    yield from plugin_pages()
    yield real_page(site)
    yield glossary_page(site)
