"""The pages: one for every rule, guarantee, setting and scenario, the glossary, and what leads to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...catalog import Version
from ...hookspecs import ModelSpec
from ...packs.pack import Rule
from ...simulate.page import simulated_part
from ...tell.explain import readers, setting_facts
from ...tell.html.markup import Child, Markup, join, tag, wide
from ...tell.html.player import Played, player
from ...tuples import NamedTuple
from ..examples import example_of
from ..glossary import Term, terms
from ..scenarios import scenario, scenario_names
from ..text import asked_with, outcome_words
from ..values import Tested, says, tried_values
from .layout import PARTS, Page, code, heading


class Site(NamedTuple):
    """All that there is to tell of."""

    version: Version
    rules: tuple[Rule, ...]
    guarantees: Mapping[str, ModelSpec]
    settings: tuple[str, ...]

    def link(self, name: str, root: str = "../") -> Markup:
        """To a rule, a guarantee, a setting, a word or a scenario; what has no page is only named."""
        rule = next((one for one in self.rules if name in (one.code, one.name)), None)
        if rule is not None:
            return tag("a", rule.code, href=f"{root}rules/{rule.code}.html")
        if name in self.settings:
            return tag("a", code(name), href=f"{root}settings/{file_name(name)}.html")
        if name in self.guarantees:
            return tag("a", name, href=f"{root}guarantees/{name}.html")
        term = next((one for one in terms() if name in (one.name, *one.aliases)), None)
        if term is not None:
            return tag("a", term.title, href=f"{root}glossary/index.html#{term.id}")
        if name in scenario_names():
            return tag("a", name, href=f"{root}scenarios/{name}.html")
        return tag("span", name)

    def links(self, names: Sequence[str], root: str = "../") -> list[Child]:
        made: list[Child] = []
        for place, name in enumerate(names):
            made += [", " if place else None, self.link(name, root)]
        return made


def file_name(setting: str) -> str:
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in setting)


def severity(rule: Rule) -> Markup:
    tone = "toned-note" if rule.severity == "note" else rule.severity
    return tag("span", rule.severity, class_=f"severity {tone}")


# -- rules -------------------------------------------------------------------------------------------------


def rule_page(site: Site, rule: Rule) -> Page:
    runs: dict[str, Any] = {}
    body = join(
        heading(f"{rule.code} · {rule.severity}", _sentence(rule.title)),
        tag("p", rule.why, class_="lead"),
        _example(rule, runs),
        _facts(site, rule),
    )
    words = " ".join((rule.name, rule.code, rule.why, rule.guarantee or ""))
    return Page(f"rules/{rule.code}.html", f"{rule.code} {rule.title}", "rule", rule.why, body, runs, words)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _example(rule: Rule, runs: dict[str, Any]) -> Markup | None:
    example = example_of(rule)
    if example is None:
        return None
    finding = example.finding
    parts: list[Child] = [tag("h2", "How it happens")]
    parts.append(tag("p", finding["message"]))
    if finding["evidence"]["trace"]:
        versions = [Played("As configured", finding["evidence"]["trace"])]
        if example.fixed is not None:
            changes = ", ".join(f"{one['key']}={one['to']}" for one in finding["fixes"][0]["changes"])
            ending = example.fixed["ending"]
            tone = "good" if ending else ""
            versions.append(Played(f"With {changes}", example.fixed["trace"], tone, ending or None))
        parts.append(player(rule.code, rule.guarantee, versions, runs))
    bad, good = _settings(example.bad), _settings(example.good)
    sides = [
        tag("div", tag("h3", word), tag("pre", _differing(side, other)))
        for word, side, other in (("Found in", bad, good), ("Not found in", good, bad))
    ]
    return join(parts, tag("div", sides, class_="sides"))


def _settings(side: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        f"{component}: {key}={value}" for component, table in side.items() for key, value in table.items()
    ]


def _differing(lines: Sequence[str], others: Sequence[str]) -> list[Child]:
    """What the other side has not is marked."""
    return [[line if line in others else tag("mark", line), "\n"] for line in lines]


def _facts(site: Site, rule: Rule) -> Markup:
    about = [name for name in site.settings if rule in readers(name, (rule,))]
    pairs: list[tuple[str, Child]] = [
        ("Name", code(rule.name)),
        ("Fine when", rule.fine_when),
        ("Guarantee", site.link(rule.guarantee) if rule.guarantee else None),
        ("Asked with", asked_with(rule)),
        ("Settings", site.links(about)),
        ("Also covers", site.links(rule.covers)),
        ("Parameters", ", ".join(f"{name} = {value}" for name, value in rule.params.items())),
        ("Sources", ", ".join(rule.sources)),
        ("Accept it", code(f"# kafka-advisor: ignore[{rule.code}] why it is fine here")),
    ]
    rows = [[tag("dt", label), tag("dd", value)] for label, value in pairs if value]
    return join(tag("h2", "About this rule"), tag("dl", rows, class_="facts"))


def rules_page(site: Site) -> Page:
    packs: dict[str, list[Rule]] = {}
    for rule in site.rules:
        packs.setdefault(rule.pack, []).append(rule)
    parts: list[Child] = [heading("Rules", f"{len(site.rules)} rules")]
    parts.append(tag("p", "What ", code("kafka-advisor audit"), " looks for, by pack.", class_="lead"))
    for pack, rules in packs.items():
        parts.append(tag("h2", _sentence(pack), id=pack))
        items = [
            tag(
                "li",
                tag("a", rule.code, href=f"{rule.code}.html", class_="code"),
                tag("span", _sentence(rule.title)),
                tag("span", severity(rule), f" · {rule.name}", class_="about"),
            )
            for rule in rules
        ]
        parts.append(tag("ul", items, class_="list"))
    return Page("rules/index.html", "Rules", "list", "every rule", join(parts), {})


# -- guarantees --------------------------------------------------------------------------------------------


def guarantee_page(site: Site, name: str) -> Page:
    runs: dict[str, Any] = {}
    spec = site.guarantees[name]
    asking = [rule for rule in site.rules if rule.guarantee == name]
    parts: list[Child] = [
        heading("Guarantee", name),
        tag("p", _sentence(spec.says or name), ".", class_="lead"),
    ]
    if spec.broken:
        parts.append(tag("p", f"Broken: {spec.broken}."))
    for rule in asking:
        example = example_of(rule)
        if example is not None and example.finding["evidence"]["trace"]:
            parts.append(tag("h2", "How it breaks: ", site.link(rule.code)))
            versions = [Played("As configured", example.finding["evidence"]["trace"])]
            parts.append(player(f"{name}-{rule.code}", name, versions, runs))
            break
    items = [
        tag("li", tag("span", site.link(rule.code), class_="code"), tag("span", _sentence(rule.title)))
        for rule in asking
    ]
    parts.append(tag("h2", "Asked by"))
    parts.append(
        tag("ul", items, class_="list") if items else tag("p", "No rule: ", code("simulate"), " asks it.")
    )
    words = f"{spec.says} {spec.broken}"
    return Page(f"guarantees/{name}.html", name, "guarantee", spec.says or "", join(parts), runs, words)


def guarantees_page(site: Site) -> Page:
    items = [
        tag("li", tag("span", site.link(name)), tag("span", spec.says or "", class_="about"))
        for name, spec in sorted(site.guarantees.items())
    ]
    body = join(
        heading("Guarantees", "What must stay true"),
        tag("p", "A rule names one of these and the faults that it must survive.", class_="lead"),
        tag("ul", items, class_="list plain"),
    )
    return Page("guarantees/index.html", "Guarantees", "list", "what must stay true", body, {})


# -- settings ----------------------------------------------------------------------------------------------


def setting_page(site: Site, name: str) -> Page:
    runs: dict[str, Any] = {}
    told = says(name)
    found = readers(name, site.rules)
    values = tried_values(name, site.version)
    parts: list[Child] = [heading("Setting", name)]
    parts.append(tag("p", told, class_="lead") if told else None)
    if values is not None:
        parts += _values(site, name, values, runs)
    parts += _setting_facts(site, name)
    if found:
        items = [
            tag("li", tag("span", site.link(rule.code), class_="code"), tag("span", _sentence(rule.title)))
            for rule in found
        ]
        parts += [tag("h2", "Rules that read it"), tag("ul", items, class_="list")]
    words = " ".join((told, *(facts.component for facts in setting_facts(name, site.version))))
    return Page(f"settings/{file_name(name)}.html", name, "setting", told, join(parts), runs, words)


def _values(site: Site, name: str, values: Tested, runs: dict[str, Any]) -> Iterator[Child]:
    yield tag("h2", "What each value costs and gains")
    beside = f", with {', '.join(values.beside)}" if values.beside else ""
    yield tag("p", f"Played on Kafka {site.version.asked}: {values.about}{beside}.")
    titles = {rule.code: rule.title for rule in site.rules}
    rows = []
    for one in values.tried:
        lines = [tag("span", line, class_=tone) for line, tone in outcome_words(one, titles)]
        rows.append(tag("tr", tag("td", code(f"{name}={one.value}")), tag("td", lines)))
    yield wide("values", tag("table", tag("tbody", rows), class_="plain tried"))
    now = tuple(one.mark for one in values.tried)
    same = [(a, b) for a, b, tried in values.spans if tuple(one.mark for one in tried) == now]
    if same:
        yield tag(
            "p", "The same in Kafka " + ", ".join(a if a == b else f"{a} to {b}" for a, b in same) + "."
        )
    for number, one in enumerate(values.tried):
        drawn = next((finding for finding in one.findings if finding["evidence"]["trace"]), None)
        if drawn is not None:
            yield tag("h3", f"{name}={one.value}: ", titles.get(drawn["code"], drawn["name"]))
            versions = [Played("As configured", drawn["evidence"]["trace"])]
            yield player(f"value-{number}", drawn["evidence"]["guarantee"], versions, runs)


def _setting_facts(site: Site, name: str) -> Iterator[Child]:
    for facts in setting_facts(name, site.version):
        release = "" if facts.component == "librdkafka" else f", Kafka {site.version.asked}"
        yield tag("h2", f"In {facts.component}{release}")
        if facts.absent:
            yield tag("p", _sentence(facts.absent), ".")
            continue
        rows = [[tag("dt", _sentence(label)), tag("dd", text)] for label, text in facts.rows]
        yield tag("dl", rows, class_="facts")


def settings_page(site: Site) -> Page:
    told = [name for name in site.settings if says(name)]
    items = [
        tag("li", tag("span", site.link(name)), tag("span", says(name), class_="about")) for name in told
    ]
    rest = [tag("li", site.link(name)) for name in site.settings]
    body = join(
        heading("Settings", "Settings"),
        tag("p", f"Of Kafka {site.version.asked}: those that decide most, then all.", class_="lead"),
        tag("ul", items, class_="list plain"),
        tag("h2", f"All {len(site.settings)}"),
        tag("ul", rest, class_="letters"),
    )
    return Page("settings/index.html", "Settings", "list", "every setting", body, {})


# -- scenarios and words -----------------------------------------------------------------------------------


def scenario_page(site: Site, name: str) -> Page:
    runs: dict[str, Any] = {}
    data = scenario(name)
    body = join(
        tag("p", f"Scenario · Kafka {data['kafka_version']}", class_="kind"),
        simulated_part(data, 0, runs, True),
    )
    title, story = data["scenario"]["title"], data["scenario"]["story"]
    return Page(f"scenarios/{name}.html", title, "scenario", story, body, runs, f"{name} {story}")


def scenarios_page(pages: Sequence[Page]) -> Page:
    items = [
        tag(
            "li",
            tag("a", page.title, href=page.path.partition("/")[2]),
            tag("span", page.about.partition(". ")[0].replace("\n", " "), ".", class_="about"),
        )
        for page in pages
    ]
    body = join(
        heading("Scenarios", "The classic accidents, to play"),
        tag("p", "Each was played by the simulator when this page was made.", class_="lead"),
        tag("ul", items, class_="list plain"),
    )
    return Page("scenarios/index.html", "Scenarios", "list", "runs to play", body, {})


def glossary_page(site: Site) -> Page:
    items = [_term(site, term) for term in terms()]
    body = join(heading("Glossary", "Words"), items)
    return Page("glossary/index.html", "Glossary", "list", "words that reports use", body, {})


def _term(site: Site, term: Term) -> Markup:
    see = [*term.see, *([term.scenario] if term.scenario else [])]
    return join(
        tag("h2", term.title, id=term.id),
        tag("p", term.says),
        tag("p", "See ", site.links(see), ".", class_="soft") if see else None,
    )


# -- the first page ----------------------------------------------------------------------------------------

_ABOUT = {
    "rules": "What an audit looks for, each with the run that needs it.",
    "guarantees": "What must stay true, and how it breaks.",
    "settings": "What each setting does, and what its values cost and gain by runs.",
    "scenarios": "The classic accidents of Kafka, to play step by step.",
    "plugins": "Rules, formats and guarantees of your own, in ten minutes.",
    "real": "Which findings were played on real clusters, and what came of it.",
    "glossary": "ISR, high watermark, leader epoch: the words in reports.",
}


def first_page(site: Site) -> Page:
    runs: dict[str, Any] = {}
    cards = [
        tag("a", tag("b", name), _ABOUT[part], href=f"{part}/index.html") for part, name in PARTS.items()
    ]
    shown = next((rule for rule in site.rules if rule.code == "KA101"), None)
    body = join(
        tag("h1", "Does your Kafka configuration lose records?"),
        tag(
            "p",
            "kafka-advisor reads the settings in your repository, runs them through a simulator of Kafka and "
            "shows the shortest run in which a confirmed record is lost, stored twice or skipped, with the "
            "smallest change after which no such run is found.",
            class_="lead",
        ),
        tag("pre", "kafka-advisor audit .\nkafka-advisor explain acks"),
        _first_run(shown, runs) if shown is not None else None,
        tag("div", cards, class_="cards"),
    )
    return Page("index.html", "kafka-advisor", "start", "", body, runs)


def _first_run(rule: Rule, runs: dict[str, Any]) -> Markup | None:
    example = example_of(rule)
    if example is None or example.fixed is None:
        return None
    trace, fixed = example.finding["evidence"]["trace"], example.fixed
    versions = [Played("acks=1", trace), Played("acks=all", fixed["trace"], "good", fixed["ending"])]
    return player("first", rule.guarantee, versions, runs)
